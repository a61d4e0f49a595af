// hashes: hashes of pods' requirements, and of the engine's values, for lookup tables, over everything that equality
// compares, so that nobody can fill one bucket by varying a field that was left out. Valid within the process; those of
// objects of Kubernetes while their strings are alive.
#pragma once

#include <cstdint>

#include "kubeclient/objects.h"
#include "model/constraint.h"
#include "model/demand.h"
#include "model/gang.h"
#include "model/node.h"

namespace ashlar::kube {

std::uint64_t hash_of(const Labels& labels);
std::uint64_t hash_of(const PodAffinityTerm& term);
std::uint64_t hash_of(const PodRules& rules);
std::uint64_t hash_of(const LabelSelector& selector);
std::uint64_t hash_of(const std::vector<std::vector<NodeTerm>>& lists);
std::uint64_t hash_of(const Demand& demand);
std::uint64_t hash_of(const DeviceLayout& layout);
std::uint64_t hash_of(const GangSpec& spec);
std::uint64_t hash_of(const Constraint& constraint);

}  // namespace ashlar::kube
