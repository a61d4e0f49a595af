// Drawn worlds of racks, queues, quotas, singles and gangs, with more work than fits: whatever the rules are between and
// inside queues, each decision ends, and each job has its turn. `./dev bench easy` draws the same worlds.
#include "easy/worlds.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
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

/// The world with what its queues say about stopping jobs, and a third of its jobs of a higher priority.
std::string with_stops(std::string text, std::string_view stops) {
  const auto each = [&text](const std::string& what, const auto& by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
      const std::string after = by();
      text.replace(at, what.size(), after);
      at += after.size();
    }
  };
  each("- {name: ", [&] { return "- {" + std::string(stops) + ", name: "; });
  int shapes = 0;
  each("duration: {", [] { return std::string("estimate: {error: 1.5}, duration: {"); });
  each("- {weight: ",
       [&] { return std::string(++shapes % 3 == 0 ? "- {priority: 5" : "- {priority: 0") + ", weight: "; });
  return text;
}

struct Stopping {
  std::string_view order, victim, stops;
};

class DrawnWorldsThatStopJobs : public ::testing::TestWithParam<Stopping> {};

/// A decision that changes nothing is not made again at once.
TEST_P(DrawnWorldsThatStopJobs, DecideNoMoreOftenThanTheyChange) {
  constexpr int kAtOneTimeMax = 1000;
  Profile profile = *builtin_profile("ashlar");
  profile.order = find_order(GetParam().order);
  profile.victim = GetParam().victim == "priority" ? VictimRule::kPriority : VictimRule::kLostWork;
  profile.queue_order = find_queue_order("drf");
  for (std::uint64_t seed = 1000; seed < 1030; ++seed) {
    const std::string name = "world " + std::to_string(seed);
    const Watchdog watchdog(name, std::chrono::seconds(120));
    const Scenario world = scenario(with_stops(bench::drawn_world(seed), GetParam().stops));
    const Result<ScenarioRun> made = ScenarioRun::make(world);
    ASSERT_TRUE(made.ok()) << made.error().message;
    Millis at;
    int without_action = 0, most = 0;
    const QueueRun run = made->run(profile, {}, [&](State&, Engine&, const Plan& plan) {
      without_action = plan.at == at && plan.actions.empty() ? without_action + 1 : 0;
      at = plan.at;
      most = std::max(most, without_action);
      if (without_action > kAtOneTimeMax) throw std::runtime_error(name + " decides without end");
    });
    EXPECT_EQ(run.unfinished_jobs, 0) << name;
    EXPECT_LT(most, 100) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, DrawnWorldsThatStopJobs,
    ::testing::Values(Stopping{"priority-age", "priority", "stops: {own: lower}"},
                      Stopping{"priority-age", "lost-work", "guarantee: {gpus: 40}, stops: {own: lower-or-newer}"},
                      Stopping{"priority-remaining", "priority", "stops: {own: lower-or-longer}"},
                      Stopping{"priority-remaining", "priority",
                               "guarantee: {gpus: 40}, stops: {own: lower-or-longer, whileBorrowing: lower-or-longer}"},
                      Stopping{"priority-remaining", "lost-work",
                               "guarantee: {gpus: 8}, stops: {own: lower-or-longer}"}));

INSTANTIATE_TEST_SUITE_P(Rules, DrawnWorlds,
                         ::testing::Combine(::testing::Values(Blocking::kStrict, Blocking::kSkip, Blocking::kEasy),
                                            ::testing::Values("by-job", "least-share")));

}  // namespace
}  // namespace ashlar::sim
