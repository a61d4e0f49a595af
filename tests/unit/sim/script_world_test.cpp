// A scripted world told of everything a script may hold: when jobs run and end, how many run and wait, a line for each
// instant.
#include <gtest/gtest.h>

#include "sim/results/load_series.h"
#include "sim/results/results.h"
#include "sim/world/world.h"

namespace ashlar::sim {
namespace {

Workload gang(std::uint32_t job, std::uint32_t first, std::uint32_t members, std::uint32_t min) {
  Workload w;
  w.job = JobId(job);
  w.members_min = min;
  for (std::uint32_t m = first; m < first + members; ++m)
    w.members.push_back({MemberId(m), DemandId(0u), ConstraintId(0u)});
  return w;
}

ScriptedEvent at(std::int64_t seconds, EventBody body) { return {Millis(seconds * 1000), std::move(body)}; }
ScriptedEvent runs(std::int64_t seconds, std::uint32_t job, std::int64_t for_seconds) {
  return {Millis(seconds * 1000), RunsFor{JobId(job), Millis(for_seconds * 1000)}};
}
Bound bound(std::uint32_t member, std::uint32_t node) { return {MemberId(member), NodeId(node), {1, 0}}; }

/// Plays a script in which nobody schedules: what is reported, and after it "present p" and the load if it changed.
std::string played(const std::vector<ScriptedEvent>& script, WorldRules rules = {}) {
  SimClock clock;
  World world(
      clock, script, [](const Action&) { return Fate{}; }, rules);
  std::string text;
  std::string load;
  world.listen(
      {.ended = [&](const JobOutcome& o) { text += "queued " + std::to_string(o.queued.value / 1000) + " "; },
       .load = [&](Millis, std::int64_t, std::int64_t waiting) { load = " waiting " + std::to_string(waiting); }});
  for (int k = 0; k < 40; ++k) {
    const Millis next = world.next_event();
    if (next == Millis::max()) break;
    clock.advance_to(next);
    std::vector<Event> events;
    world.take(events);
    for (const Event& e : events)
      text += std::string(kind_name(e.body)) + "@" + std::to_string(e.at.value / 1000) + " ";
    text += "present " + std::to_string(world.present()) + load + "; ";
  }
  return text;
}

TEST(ScriptWorld, AGangRunsFromItsLastNeededBindUntilItsTime) {
  EXPECT_EQ(played({at(0, NodeSeen{NodeId(0u), {}}), at(0, Submitted{gang(0, 0, 3, 2)}), runs(0, 0, 10),
                    at(1, bound(0, 0)), at(2, bound(1, 0)), at(3, bound(2, 0)), at(4, bound(2, 0))}),
            "NodeSeen@0 Submitted@0 present 1 waiting 1; Bound@1 present 1 waiting 1; Bound@2 present 1 waiting 0; "
            "Bound@3 present 1 waiting 0; "
            "Bound@4 present 1 waiting 0; queued 2 Ended@12 present 0 waiting 0; ");
  EXPECT_EQ(played({at(0, Submitted{gang(0, 0, 1, 0)}), runs(0, 0, 10), at(1, bound(0, 0)),
                    at(2, NodeSeen{NodeId(0u), {}}), at(3, bound(0, 0))}),
            "Submitted@0 present 1 waiting 1; Bound@1 present 1 waiting 1; NodeSeen@2 present 1 waiting 1; Bound@3 "
            "present 1 waiting 0; queued 3 "
            "Ended@13 present 0 waiting 0; ")
      << "not on a node that is not there";
  EXPECT_EQ(
      played({at(0, NodeSeen{NodeId(0u), {}}), at(0, Submitted{gang(0, 0, 1, 1)}), at(1, bound(0, 0)), runs(5, 0, 10)}),
      "NodeSeen@0 Submitted@0 present 1 waiting 1; Bound@1 present 1 waiting 1; present 1 waiting 0; queued 5 Ended@15 "
      "present 0 waiting 0; ")
      << "bound before anybody says how long it runs";
}

TEST(ScriptWorld, MoreMembersMayStartItAndFewerMayStopIt) {
  EXPECT_EQ(played({at(0, NodeSeen{NodeId(0u), {}}), at(0, Submitted{gang(0, 0, 2, 2)}), runs(0, 0, 10),
                    at(1, bound(0, 0)), at(2, MembersAdded{JobId(0u), 1, {}}), at(3, MembersAdded{JobId(9u), 1, {}})}),
            "NodeSeen@0 Submitted@0 present 1 waiting 1; Bound@1 present 1 waiting 1; MembersAdded@2 present 1 waiting "
            "0; MembersAdded@3 present 1 "
            "waiting 0; queued 2 Ended@12 present 0 waiting 0; ");
  EXPECT_EQ(played({at(0, NodeSeen{NodeId(0u), {}}), at(0, Submitted{gang(0, 0, 2, 2)}), runs(0, 0, 10),
                    at(1, bound(0, 0)), at(1, bound(1, 0)), at(4, MemberGone{MemberId(1u)}),
                    at(5, MemberGone{MemberId(1u)}), at(6, MemberGone{MemberId(7u)}),
                    at(7, MembersAdded{JobId(0u), 0, {{MemberId(5u), DemandId(0u), ConstraintId(0u)}}})}),
            "NodeSeen@0 Submitted@0 present 1 waiting 1; Bound@1 Bound@1 present 1 waiting 0; MemberGone@4 present 1 "
            "waiting 1; MemberGone@5 present "
            "1 waiting 1; MemberGone@6 present 1 waiting 1; MembersAdded@7 present 1 waiting 0; queued 4 Ended@14 "
            "present 0 waiting 0; ");
  EXPECT_EQ(played({at(0, NodeSeen{NodeId(0u), {}}), at(0, Submitted{gang(0, 0, 2, 2)}), runs(0, 0, 10),
                    at(1, bound(0, 0)), at(1, bound(1, 0)), at(4, MemberGone{MemberId(1u)})},
                   {.keeps_going = true}),
            "NodeSeen@0 Submitted@0 present 1 waiting 1; Bound@1 Bound@1 present 1 waiting 0; MemberGone@4 present 1 "
            "waiting 0; queued 1 Ended@11 "
            "present 0 waiting 0; ");
}

TEST(ScriptWorld, EndsEvictionsAndLostNodesStopIt) {
  const std::vector<ScriptedEvent> start = {at(0, NodeSeen{NodeId(0u), {}}),
                                            at(0, NodeSeen{NodeId(1u), {}}),
                                            at(0, Submitted{gang(0, 0, 1, 1)}),
                                            runs(0, 0, 10),
                                            at(0, Submitted{gang(1, 4, 1, 1)}),
                                            runs(0, 1, 30),
                                            at(1, bound(0, 0)),
                                            at(1, bound(4, 1))};
  const auto then = [&](std::vector<ScriptedEvent> more) {
    std::vector<ScriptedEvent> script = start;
    script.insert(script.end(), more.begin(), more.end());
    return played(script);
  };
  EXPECT_EQ(then({at(3, Ended{JobId(0u)}), at(4, Ended{JobId(0u)}), at(5, Ended{JobId(9u)}), at(6, bound(0, 0))}),
            "NodeSeen@0 NodeSeen@0 Submitted@0 Submitted@0 present 2 waiting 2; Bound@1 Bound@1 present 2 waiting 0; "
            "Ended@3 present 1 waiting 0; "
            "Ended@4 present 1 waiting 0; Ended@5 present 1 waiting 0; Bound@6 present 1 waiting 0; queued 1 Ended@31 "
            "present 0 waiting 0; ");
  EXPECT_EQ(then({at(3, Evicted{JobId(0u), Millis(0)}), at(4, bound(0, 1)), at(5, Evicted{JobId(9u), Millis(0)})}),
            "NodeSeen@0 NodeSeen@0 Submitted@0 Submitted@0 present 2 waiting 2; Bound@1 Bound@1 present 2 waiting 0; "
            "Evicted@3 present 2 waiting 1; "
            "Bound@4 present 2 waiting 0; Evicted@5 present 2 waiting 0; queued 2 Ended@12 present 1 waiting 0; queued "
            "1 Ended@31 present 0 waiting 0; ");
  EXPECT_EQ(then({at(3, NodeGone{NodeId(0u)}), at(4, NodeGone{NodeId(0u)}), at(4, NodeGone{NodeId(7u)}),
                  at(5, bound(0, 0)), at(6, bound(0, 1))}),
            "NodeSeen@0 NodeSeen@0 Submitted@0 Submitted@0 present 2 waiting 2; Bound@1 Bound@1 present 2 waiting 0; "
            "NodeGone@3 EstimateChanged@3 "
            "present 2 waiting 1; NodeGone@4 NodeGone@4 present 2 waiting 1; Bound@5 present 2 waiting 1; Bound@6 "
            "present 2 waiting 0; queued 4 "
            "Ended@16 present 1 waiting 0; queued 1 Ended@31 present 0 waiting 0; ");
  EXPECT_EQ(then({at(3, NodeGone{NodeId(0u)}), at(4, NodeSeen{NodeId(0u), {}}), at(5, bound(0, 0))}),
            "NodeSeen@0 NodeSeen@0 Submitted@0 Submitted@0 present 2 waiting 2; Bound@1 Bound@1 present 2 waiting 0; "
            "NodeGone@3 EstimateChanged@3 "
            "present 2 waiting 1; NodeSeen@4 present 2 waiting 1; Bound@5 present 2 waiting 0; queued 3 Ended@15 "
            "present 1 waiting 0; queued 1 "
            "Ended@31 present 0 waiting 0; ");
  EXPECT_EQ(then({at(3, Tick{}), at(40, PriorityChanged{JobId(0u), 3})}),
            "NodeSeen@0 NodeSeen@0 Submitted@0 Submitted@0 present 2 waiting 2; Bound@1 Bound@1 present 2 waiting 0; "
            "Tick@3 present 2 waiting 0; "
            "queued 1 Ended@11 present 1 waiting 0; queued 1 Ended@31 present 0 waiting 0; PriorityChanged@40 present "
            "0 waiting 0; ");
}

TEST(LoadSeries, ClustersAreAddedUp) {
  const std::vector<std::vector<LoadPoint>> clusters = {
      {{Millis(0), 4, 1}, {Millis(3'600'000), 8, 0}, {Millis(7'200'000), 0, 0}},
      {{Millis(0), 2, 5}, {Millis(3'600'000), 0, 3}, {Millis(7'200'000), 0, 0}}};
  QueueRun run;
  fill_series(clusters, 16, run);
  const auto text = [](const std::vector<SeriesPoint>& points) {
    std::string out;
    double before = -1;
    for (const SeriesPoint& p : points)
      if (p.value != before)
        out += std::to_string(p.hours).substr(0, 4) + "h " + std::to_string(before = p.value).substr(0, 5) + "; ";
    return out;
  };
  EXPECT_EQ(text(run.busy_percent), "0.00h 37.50; 1.00h 50.00; ");
  EXPECT_EQ(text(run.waiting_jobs), "0.00h 6.000; 1.00h 3.000; ");
  fill_series({}, 0, run);
  EXPECT_EQ(text(run.busy_percent) + text(run.waiting_jobs), "");
}

}  // namespace
}  // namespace ashlar::sim
