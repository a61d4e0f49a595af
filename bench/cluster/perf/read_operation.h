// read_operation: one operation of a case from its YAML map. Internal to this folder (it pulls in yaml-cpp).
#pragma once

#include "case_file.h"
#include "config/yaml/reader.h"

namespace ashlar::bench::perf {

/// Failures are kept in the reader.
Operation operation_of(config::YamlReader& reader, const YAML::Node& node);

}  // namespace ashlar::bench::perf
