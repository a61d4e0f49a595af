// scenario_parts: the parts of a scenario file, one function each; scenario.cpp puts them together. Each reads its map
// into the scenario and records mistakes in `mistake`; it may be called after a mistake happened, and then must only
// not crash.
#pragma once

#include "sim/scenario/scenario.h"
#include "sim/scenario/yaml_map.h"

namespace ashlar::sim {

void read_levels(YamlMap& root, YamlMistake& mistake, Scenario& scenario);
void read_classes(YamlMap& root, YamlMistake& mistake, Scenario& scenario);
void read_nodes(YamlMap& root, YamlMistake& mistake, Scenario& scenario);
void read_queues(YamlMap& root, YamlMistake& mistake, Scenario& scenario);
void read_failures(YamlMap& root, YamlMistake& mistake, Scenario& scenario);
void read_holds(YamlMap& root, YamlMistake& mistake, Scenario& scenario);
/// Needs levels, classes, nodes, queues, seed and horizon.
void read_arrival_streams(YamlMap& root, YamlMistake& mistake, Scenario& scenario);
/// Needs queues.
void read_traces(YamlMap& root, YamlMistake& mistake, Scenario& scenario);

std::vector<std::string> queue_names(const Scenario& scenario);
/// Index of a queue, or -1 with a mistake at `key` of `map`.
std::int32_t queue_index(const std::string& name, YamlMap& map, const std::string& key, const Scenario& scenario);

}  // namespace ashlar::sim
