// Decisions that only prove what could run are part of the log: a node that comes is followed by as many of them as
// there are classes found never to fit, without an event.
#include <gtest/gtest.h>

#include "engine/driver.h"
#include "log_folder.h"
#include "random_world.h"
#include "store/decision_log.h"
#include "store/replay.h"

namespace ashlar::store {
namespace {

struct StillClock final : Clock {
  Millis at{1'000'000};
  Millis now() override { return at; }
};
struct Events final : EventSource {
  std::vector<Event> events;
  void take(std::vector<Event>& out) override { out.swap(events); }
};
struct Binds final : Actuator {
  std::size_t count = 0;
  void submit(const Plan& plan) override { count += plan.actions.size(); }
};

class Proofs : public testing::Test {
 protected:
  void tell(EventBody body) { source_.events.push_back({clock_.at, std::move(body)}); }
  void add_node(std::uint32_t row, int devices) {
    NodeFacts facts;
    facts.allocatable = {64'000, std::int64_t{64} << 30, std::int64_t{100} << 30, 110};
    facts.devices.count = devices;
    tell(NodeSeen{NodeId(row), facts});
  }
  /// Members of 16 devices each, of a kind of its own.
  void submit(std::uint32_t job, std::uint32_t members) {
    tell(DemandDefined{DemandId(job),
                       {.amounts = {{resource::kCpu, 100 + std::int64_t{job}}, {resource::kPods, 1}},
                        .devices = {16, MilliGpu(1000), MiB(0)}}});
    Workload w;
    w.job = JobId(job);
    w.submitted = clock_.at;
    w.members_min = members;
    for (std::uint32_t m = 0; m < members; ++m)
      w.members.push_back({MemberId(next_member_++), DemandId(job), ConstraintId(0u)});
    tell(Submitted{w});
  }

  StillClock clock_;
  Events source_;
  Binds binds_;
  std::uint32_t next_member_ = 0;
};

TEST_F(Proofs, InStepsWithoutEventsAreRecorded) {
  const Folder folder;
  State state;
  Engine engine(profile_named("ashlar"));
  int steps_after = 0;
  {
    auto log = DecisionLog::open({.folder = folder.str()}, {state, engine, nullptr});
    ASSERT_TRUE(log.ok());
    Driver driver(state, engine, {clock_, source_, binds_, log->get()});
    tell(QueueDefined{QueueId(0u), QueueId::none(), {kUnlimited, kUnlimited, kUnlimited}});
    tell(ConstraintDefined{ConstraintId(0u), {}});
    add_node(0, 8);
    for (std::uint32_t job = 0; job < 60; ++job) submit(job, 2);
    driver.step();
    submit(60, 1);
    driver.step();
    clock_.at = clock_.at + Millis(1000);
    add_node(1, 16);
    for (bool goes_on = true; goes_on; ++steps_after) {
      const Plan& plan = driver.step();
      EXPECT_TRUE(has_news(driver.batch(), plan));
      goes_on = plan.look_again_at <= plan.at;
    }
    EXPECT_EQ(binds_.count, 1u) << "the single job runs on the new node";
  }
  EXPECT_GT(steps_after, 2) << "more classes than are proven in one decision";
  const auto report = replay_file(folder.str());
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->is_identical());
}

}  // namespace
}  // namespace ashlar::store
