// node_gpus: the GPUs of a group of nodes in a scenario: a number, or a list of unlike ones, and how they are divided
// into islands, NUMA nodes and PCIe switches.
#pragma once

#include "sim/scenario/scenario.h"
#include "sim/scenario/yaml_map.h"

namespace ashlar::sim {

/// `gpu_memory` of a node, of GPUs of it, or of a member; that one if it is absent.
MiB read_gpu_memory(YamlMap& map, MiB otherwise = MiB(0));
/// `gpus`, `model`, `gpu_memory`, `islands`, `numa` and `switches`.
void read_gpus(YamlMap& map, YamlMistake& mistake, ScenarioNode& node);

}  // namespace ashlar::sim
