// stop_rules: whom the jobs of a scenario's queue may stop, and for how long its own are protected.
#pragma once

#include "model/stop_rules.h"
#include "sim/scenario/yaml_map.h"

namespace ashlar::sim {

/// `stops` and `protected` of a queue.
StopRules read_stop_rules(YamlMap& queue, YamlMistake& mistake);

}  // namespace ashlar::sim
