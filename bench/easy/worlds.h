// drawn_world: a small scenario drawn from a seed: a few racks, queues with and without quotas, singles and gangs, more
// work than fits at times.
#pragma once

#include <cstdint>
#include <string>

namespace ashlar::bench {

/// YAML of the scenario language.
std::string drawn_world(std::uint64_t seed);

}  // namespace ashlar::bench
