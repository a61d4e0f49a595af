// hashes: hashes of pods' requirements for lookup tables, over everything that equality compares, so that nobody can
// fill one bucket by varying a field that was left out. Valid within the process and while the strings are alive.
#pragma once

#include <cstdint>

#include "kubeclient/objects.h"

namespace ashlar::kube {

std::uint64_t hash_of(const PodAffinityTerm& term);
std::uint64_t hash_of(const PodRules& rules);

}  // namespace ashlar::kube
