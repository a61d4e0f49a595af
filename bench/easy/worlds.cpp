#include "worlds.h"

#include <cstdio>

#include "base/rng.h"

namespace ashlar::bench {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

std::string drawn_world(std::uint64_t seed) {
  Rng rng(seed);
  const std::uint64_t racks = 2 + rng.below(4), per_rack = 2 + rng.below(7), nodes = racks * per_rack;
  const std::uint64_t queues = 1 + rng.below(4);
  const bool has_quotas = rng.below(2) == 0;
  const std::uint64_t percent = 75 + rng.below(25);
  std::string text = "seed: " + number(seed) + "\ntopology: [rack]\nnodes:\n  - {count: " + number(nodes) +
                     ", cpu: 96, memory: 1Ti, gpus: 8, topology: {rack: \"r{i/" + number(per_rack) + "}\"}}\nqueues:\n";
  for (std::uint64_t q = 0; q < queues; ++q) {
    text += "  - {name: q" + number(q);
    if (has_quotas && (q > 0 || queues == 1))
      text += ", quota: {gpus: " + number(8 * nodes * (60 + rng.below(50)) / (queues * 100) + 8) + "}";
    text += "}\n";
  }
  text += "arrivals:\n  - load: " + number(percent / 100) + "." + (percent % 100 < 10 ? "0" : "") +
          number(percent % 100) + "\n    count: 1500\n    queues: {";
  for (std::uint64_t q = 0; q < queues; ++q)
    text += (q > 0 ? ", q" : "q") + number(q) + ": " + number(1 + rng.below(3));
  text += "}\n    jobs:\n";
  const auto shape = [&](std::uint64_t weight, std::uint64_t members, std::uint64_t gpus, const char* within) {
    text += "      - {weight: " + number(weight) + ", members: " + number(members) + ", gpus: " + number(gpus) +
            ", cpu: " + number(8 * gpus) + ", memory: " + number(64 * gpus) + "Gi" + within +
            ", duration: {lognormal: {median: " + number(5 + rng.below(60)) + "m, sigma: 1.2}, max: 1d}}\n";
  };
  shape(55, 1, 1, "");
  shape(15, 1, 2, "");
  shape(12, 1, 4, "");
  shape(8, 1, 8, "");
  shape(2 + rng.below(8), 2, 8, "");
  shape(1 + rng.below(4), per_rack > 2 ? per_rack / 2 : 2, 8, ", within: rack");
  return text;
}

}  // namespace ashlar::bench
