// queues: the tree of queues of ashlar.yaml, with their quotas and guarantees.
#pragma once

#include <string>
#include <string_view>

#include "config/scheduler_config.h"
#include "config/yaml/reader.h"

namespace ashlar::config {

/// A rule that the profile's order cannot follow would be another one. Empty: it can.
std::string stops_problem(const QueueConfig& queue, const Profile& profile);
bool has_queue(const SchedulerConfig& config, std::string_view name);
/// Adds the queues of the list, parents before their children; the device classes were read before.
void read_queues(YamlReader& reader, const YAML::Node& list, SchedulerConfig& config);

}  // namespace ashlar::config
