// Drawn worlds of racks, queues, quotas, singles and gangs, with more work than fits: whatever the rules are between and
// inside queues, each decision ends, and each job has its turn. `./dev bench easy` draws the same worlds.
#include "easy/worlds.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "policy/profile.h"
#include "policy/queue_order_policy.h"
#include "scenario_text.h"
#include "sim/scenario/run.h"

namespace ashlar::sim {
namespace {

/// Ends the process with the name of what does not end: a decision can't be interrupted.
class Watchdog {
 public:
  Watchdog(std::string what, std::chrono::seconds most)
      : thread_([this, what = std::move(what), most] {
          std::unique_lock lock(lock_);
          if (ended_.wait_for(lock, most, [this] { return is_over_; })) return;
          std::fprintf(stderr, "%s does not come to an end\n", what.c_str());
          std::abort();
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(lock_);
      is_over_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }

 private:
  std::mutex lock_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;
};

class DrawnWorlds : public ::testing::TestWithParam<std::tuple<Blocking, std::string_view>> {};

TEST_P(DrawnWorlds, ComeToAnEndWithEveryJobDone) {
  Profile profile = *builtin_profile("ashlar");
  profile.blocking = std::get<Blocking>(GetParam());
  profile.queue_order = find_queue_order(std::get<std::string_view>(GetParam()));
  ASSERT_NE(profile.queue_order, nullptr);
  for (std::uint64_t seed = 1000; seed < 1040; ++seed) {
    const std::string name = "world " + std::to_string(seed);
    const Watchdog watchdog(name, std::chrono::seconds(120));
    const Scenario world = scenario(bench::drawn_world(seed));
    const Result<ScenarioRun> made = ScenarioRun::make(world);
    ASSERT_TRUE(made.ok()) << made.error().message;
    const QueueRun run = made->run(profile);
    EXPECT_EQ(run.jobs, 1500) << name;
    EXPECT_EQ(run.unfinished_jobs, 0) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, DrawnWorlds,
                         ::testing::Combine(::testing::Values(Blocking::kStrict, Blocking::kSkip, Blocking::kEasy),
                                            ::testing::Values("by-job", "least-share")));

}  // namespace
}  // namespace ashlar::sim
