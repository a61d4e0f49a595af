// The fuzzer's decision logs: of today's format, so that a mutant of one gets as far as the engine.
// ASHLAR_RENEW_SEEDS=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>

#include "folders.h"
#include "log_folder.h"
#include "store/replay.h"

namespace ashlar::store {
namespace {

TEST(Seeds, OfTheFuzzerAreReplayedToTheirEnd) {
  for (const int steps : {12, 40}) {
    const std::string seed =
        std::string(ASHLAR_SOURCE_DIR) + "/tests/fuzz/seeds/decision_log/" + std::to_string(steps) + "-steps";
    if (std::getenv("ASHLAR_RENEW_SEEDS") != nullptr) {
      const Folder folder;
      record_life(folder.str(), "ashlar", 3, steps);
      write_bytes(seed, read_bytes(first_file(folder)));
    }
    const Result<ReplayReport> replayed = replay_file(seed);
    ASSERT_TRUE(replayed.ok()) << replayed.error().message << "; run this test with ASHLAR_RENEW_SEEDS=1";
    EXPECT_GE(replayed->steps, static_cast<std::uint64_t>(steps) / 2)
        << seed << "; run this test with ASHLAR_RENEW_SEEDS=1";
  }
}

}  // namespace
}  // namespace ashlar::store
