// yaml_document: the one document of a YAML file, as a node. A second document would be ignored, so it is a mistake.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

namespace ashlar::config {

/// Null if the text is empty. Throws YAML::Exception, with its position, if the text is malformed or a second document begins. Reads at most two
/// documents: YAML::LoadAll finds documents without end in some malformed texts.
YAML::Node only_document(const std::string& text);

}  // namespace ashlar::config
