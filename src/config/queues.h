// queues: the tree of queues of ashlar.yaml, with their quotas and guarantees.
#pragma once

#include <string_view>

#include "config/scheduler_config.h"
#include "config/yaml/reader.h"

namespace ashlar::config {

bool has_queue(const SchedulerConfig& config, std::string_view name);
/// Adds the queues of the list, parents before their children; the device classes were read before.
void read_queues(YamlReader& reader, const YAML::Node& list, SchedulerConfig& config);

}  // namespace ashlar::config
