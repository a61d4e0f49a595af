// Drawn simulations with failures, windows of nodes and jobs that stop others: `./dev bench simulations` plays many more
// of them. What is checked is in bench/simulations/checks.h.
#include "simulations/simulation.h"

#include <gtest/gtest.h>

namespace ashlar::bench {
namespace {

TEST(DrawnSimulations, DecideAsTheyMustAndTheSameTwice) {
  Sums sums;
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    for (const std::string& words : Simulation(seed).play(sums)) ADD_FAILURE() << "seed " << seed << ": " << words;
  EXPECT_GT(sums.starts, 20'000);
  EXPECT_GT(sums.stops, 1'000);
}

/// Of those that have found a fault once.
TEST(DrawnSimulations, ThatHaveFoundFaultsFindNone) {
  Sums sums;
  for (const std::uint64_t seed : {62u, 1841u})
    for (const std::string& words : Simulation(seed).play(sums)) ADD_FAILURE() << "seed " << seed << ": " << words;
}

}  // namespace
}  // namespace ashlar::bench
