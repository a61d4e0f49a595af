// The simulated world by itself: what it tells the engine, and in which order.
#include "sim/world.h"

#include <gtest/gtest.h>

namespace ashlar::sim {
namespace {

class WorldTest : public ::testing::Test {
 protected:
  WorldTest() {
    const DemandId one = catalog_.demand(demand_of({.cards = {.count = 1}}));
    kind_ = catalog_.add_kind({.needs = {{one, catalog_.constraint({}), 1}}});
  }
  World world(std::vector<SimJob> jobs, WorldRules rules = {}) {
    for (SimJob& job : jobs) job.kind = kind_;
    auto next = std::make_shared<std::size_t>(0);
    return World(
        clock_, catalog_, [jobs = std::move(jobs), next](SimJob& out) { return *next < jobs.size() && (out = jobs[(*next)++], true); }, rules);
  }
  std::string kinds(World& w) {
    std::vector<Event> events;
    w.take(events);
    std::string text;
    for (const Event& e : events)
      text += std::string(text.empty() ? "" : " ") + std::string(kind_name(e.body)) + "@" + std::to_string(e.at.value / 1000);
    last_ = std::move(events);
    return text;
  }
  void bind(World& w, std::uint32_t job, std::uint32_t member) {
    Plan plan;
    plan.at = clock_.now();
    plan.actions.push_back(Bind{MemberId(member), JobId(job), NodeId(0u), {1, 0}});
    w.submit(plan);
  }

  SimClock clock_;
  Catalog catalog_;
  KindId kind_;
  std::vector<Event> last_;
};

TEST_F(WorldTest, EndsComeBeforeArrivalsOfTheSameInstant) {
  World w = world({{.submit = Millis(0), .duration = Millis(5000)}, {.submit = Millis(5000), .duration = Millis(1000)}});
  EXPECT_EQ(w.next_event(), Millis(0));
  EXPECT_EQ(kinds(w), "Submitted@0");
  bind(w, 0, 0);
  EXPECT_EQ(w.next_event(), Millis(5000));
  clock_.advance_to(Millis(5000));
  EXPECT_EQ(kinds(w), "Bound@0 Ended@5 Submitted@5");
  // The row of the ended job is used again.
  EXPECT_EQ(std::get<Submitted>(last_.back().body).workload.job, JobId(0u));
  EXPECT_EQ(w.present(), 1);
}

TEST_F(WorldTest, AStopIsAnsweredWithTheWorkThatIsLeftAndItsRestart) {
  World w = world({{.submit = Millis(0), .duration = Millis(10000)}}, {.end_lag = Millis(1000), .restart_of_one = Millis(7000)});
  kinds(w);
  bind(w, 0, 0);
  clock_.advance_to(Millis(4000));
  Plan stop;
  stop.at = clock_.now();
  stop.actions.push_back(Evict{JobId(0u), Millis(0)});
  w.submit(stop);
  EXPECT_EQ(w.preemptions(), 1);
  clock_.advance_to(w.next_event());
  EXPECT_EQ(kinds(w), "Bound@0 Evicted@4");
  EXPECT_EQ(std::get<Evicted>(last_.back().body).remaining, Millis(13000));
  EXPECT_EQ(w.next_event(), Millis::max()) << "the outdated end must not come";
  bind(w, 0, 0);
  EXPECT_EQ(w.next_event(), clock_.now() + Millis(14000)) << "13 s of work, seen a second late";
}

TEST_F(WorldTest, QueueTimeIsEveryWait) {
  World w = world({{.submit = Millis(1000), .duration = Millis(10000)}});
  JobOutcome outcome;
  w.listen({.ended = [&](const JobOutcome& o) { outcome = o; }, .load = {}});
  clock_.advance_to(Millis(1000));
  kinds(w);
  clock_.advance_to(Millis(3000));
  bind(w, 0, 0);
  clock_.advance_to(Millis(8000));
  Plan stop;
  stop.at = clock_.now();
  stop.actions.push_back(Evict{JobId(0u), Millis(0)});
  w.submit(stop);
  clock_.advance_to(Millis(12000));
  kinds(w);
  bind(w, 0, 0);
  clock_.advance_to(w.next_event());
  kinds(w);
  EXPECT_EQ(outcome.queued, Millis(2000 + 4000));
  EXPECT_EQ(outcome.end, Millis(17000));
}

}  // namespace
}  // namespace ashlar::sim
