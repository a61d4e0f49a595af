// yaml_document: the one document of a YAML file, as a node. A second document would be ignored, so it is a mistake.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

#include "base/result.h"

namespace ashlar::config {

/// "FILE:LINE:COLUMN: ", counted from 1.
std::string yaml_place(const std::string& file, const YAML::Mark& mark);
/// Text that yaml-cpp cannot read: "FILE:LINE:COLUMN: not valid YAML: ..." and what to check.
Error yaml_error(const std::string& file, const YAML::Exception& error);
/// Null if the text is empty. An Error with its position if the text is malformed or a second document begins. Reads at
/// most two documents: YAML::LoadAll finds documents without end in some malformed texts.
Result<YAML::Node> only_document(const std::string& text, const std::string& file);

}  // namespace ashlar::config
