// yaml_profile: a profile from a YAML node, for the two files that may hold one. Internal to this folder.
#pragma once

#include "config/profile_file.h"
#include "config/yaml/reader.h"

namespace ashlar::config {

/// `needs_kind`: a file of its own states apiVersion and kind, a profile inside ashlar.yaml does not.
ProfileSpec profile_of(YamlReader& reader, const YAML::Node& node, bool needs_kind);

}  // namespace ashlar::config
