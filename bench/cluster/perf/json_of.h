// json_of: a YAML node as JSON. Plain scalars keep the type that YAML gives them (null, true, a number), quoted ones are
// strings. Internal to this folder (it pulls in yaml-cpp).
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

namespace ashlar::bench::perf {

std::string json_of(const YAML::Node& node);
/// A scalar that is a string, whatever its text.
YAML::Node quoted(const std::string& text);

}  // namespace ashlar::bench::perf
