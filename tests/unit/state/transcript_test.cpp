// What each event leaves behind, whole: the news for the engine, the job's books, the timeline and the quota, a line
// for each event.
#include <gtest/gtest.h>

#include "small_state.h"

namespace ashlar {
namespace {

std::string text_of(Millis t) { return t == Millis::max() ? "?" : std::to_string(t.value); }

std::string text_of(const State& s, JobId id) {
  const Job& j = s.job(id);
  std::string text = "j" + std::to_string(id.value);
  if (!j.is_live) return text + " gone";
  text += " " + std::to_string(j.members_placed) + "/" + std::to_string(j.members_present) + " min " +
          std::to_string(j.members_min) + " cards " + std::to_string(j.devices_total) +
          (j.is_in_backlog ? " waits" : "") + " turn " + std::to_string(j.backlog_seq);
  if (j.is_started)
    text += " since " + text_of(j.started_at) + " until " + text_of(j.end_at) + " start " + std::to_string(j.start_seq);
  text += " served " + text_of(j.served) + " left " + text_of(j.remaining) + " queued " + text_of(j.queued_at);
  if (j.evictions > 0) text += " evicted " + std::to_string(j.evictions);
  if (j.priority != 0) text += " priority " + std::to_string(j.priority);
  s.each_member(id, [&](MemberId m, const Member& member) {
    text += " m" + std::to_string(m.value) + (member.is_placed() ? "@" + std::to_string(member.node.value) : "-");
    if (!member.devices.is_empty()) text += ":" + std::to_string(member.devices.low);
    if (member.phase == Member::Phase::kAssumed) text += "?";
  });
  return text;
}

/// Since the last call, and how the job stands.
std::string news(State& s, JobId job) {
  std::string text = text_of(s, job) + " |";
  for (const BacklogChange& c : s.backlog_changes())
    text += (c.has_entered ? " +j" : " -j") + std::to_string(c.job.value);
  for (const NodeId n : s.freed_nodes()) text += " up" + std::to_string(n.value);
  for (const NodeId n : s.changed_nodes()) text += " down" + std::to_string(n.value);
  text += " | gains " + std::to_string(s.unforeseen_frees()) + " backlog " + std::to_string(s.backlog_size()) +
          " used " + std::to_string(s.queues().used(QueueId(0u))[0]);
  for (const Timeline::End& e : s.timeline().ends())
    text += " j" + std::to_string(e.job.value) + " ends " + text_of(e.at) + " with " + std::to_string(e.devices);
  for (const MemberId m : s.nominations()) text += " nominated m" + std::to_string(m.value);
  Ledger(s).forget_backlog_changes();
  Ledger(s).forget_news_of_nodes();
  Ledger(s).forget_changed_nodes();
  EXPECT_TRUE(s.is_consistent()) << text;
  return text;
}

constexpr JobId kJob{0u};

struct Step {
  std::int64_t at;
  EventBody body;
};

/// A small state with one job of one device that waits, told the steps: a line each about job 0.
std::string told(const std::vector<Step>& steps) {
  State s = small_state();
  tell(s, ConstraintDefined{ConstraintId(1u), {.models = {DeviceClassId(5u)}}});
  tell(s, Submitted{workload(0, 0, 1, kOneDevice)});
  tell(s, Ended{kJob});
  news(s, kJob);
  std::string text;
  for (const Step& step : steps) {
    tell(s, step.body, Millis(step.at));
    text += news(s, kJob) + "\n";
  }
  return text;
}

Workload gang(std::uint32_t members, std::uint32_t min, Estimate estimate = {}) {
  Workload w = workload(0, 0, members, kOneDevice);
  w.members_min = min;
  w.estimate = estimate;
  return w;
}

Estimate expects(std::int64_t millis) { return {Millis(millis), Millis(millis)}; }

Bound bound(std::uint32_t member, std::uint32_t node, std::uint64_t low = 0) {
  return {MemberId(member), NodeId(node), devices(low)};
}

NodeFacts with_devices(std::int32_t count) {
  NodeFacts f = eight_devices();
  f.devices.count = count;
  return f;
}

TEST(Transcript, AJobFromItsSubmissionToItsEnd) {
  EXPECT_EQ(told({{10, Submitted{gang(2, 2, expects(100))}},
                  {11, Submitted{gang(3, 3)}},  // told twice
                  {20, bound(0, 0)},
                  {30, bound(1, 0, 2)},
                  {31, bound(1, 0, 2)},  // told twice
                  {130, Ended{kJob}},
                  {131, Ended{kJob}},
                  {140, Submitted{gang(1, 0)}}}),
            "j0 0/2 min 2 cards 2 waits turn 2 served 0 left 100 queued 0 m0- m1- | +j0 | gains 2 backlog 1 used 0\n"
            "j0 0/2 min 2 cards 2 waits turn 2 served 0 left 100 queued 0 m0- m1- | | gains 2 backlog 1 used 0\n"
            "j0 1/2 min 2 cards 2 waits turn 2 served 0 left 100 queued 0 m0@0:1 m1- | -j0 +j0 down0 | gains 2 backlog "
            "1 used 1000\n"
            "j0 2/2 min 2 cards 2 turn 2 since 30 until 130 start 3 served 0 left 100 queued 0 m0@0:1 m1@0:2 | -j0 "
            "down0 | gains 2 backlog 0 used "
            "2000 j0 ends 130 with 2\n"
            "j0 2/2 min 2 cards 2 turn 2 since 30 until 130 start 3 served 0 left 100 queued 0 m0@0:1 m1@0:2 | | gains "
            "2 backlog 0 used 2000 j0 ends "
            "130 with 2\n"
            "j0 gone | up0 up0 | gains 2 backlog 0 used 0\n"
            "j0 gone | | gains 2 backlog 0 used 0\n"
            "j0 0/1 min 1 cards 1 waits turn 4 served 0 left ? queued 0 m0- | +j0 | gains 2 backlog 1 used 0\n");
}

TEST(Transcript, EndsBeforeTheirTimeAreGains) {
  EXPECT_EQ(told({{10, Submitted{gang(1, 1, expects(100))}}, {20, bound(0, 0)}, {119, Ended{kJob}}}),
            "j0 0/1 min 1 cards 1 waits turn 2 served 0 left 100 queued 0 m0- | +j0 | gains 2 backlog 1 used 0\n"
            "j0 1/1 min 1 cards 1 turn 2 since 20 until 120 start 3 served 0 left 100 queued 0 m0@0:1 | -j0 down0 | "
            "gains 2 backlog 0 used 1000 j0 "
            "ends 120 with 1\n"
            "j0 gone | up0 | gains 3 backlog 0 used 0\n");
  EXPECT_EQ(told({{10, Submitted{gang(2, 2)}},
                  {20, bound(0, 0)},
                  {30, MemberGone{MemberId(0u)}},
                  {40, MemberGone{MemberId(1u)}}}),
            "j0 0/2 min 2 cards 2 waits turn 2 served 0 left ? queued 0 m0- m1- | +j0 | gains 2 backlog 1 used 0\n"
            "j0 1/2 min 2 cards 2 waits turn 2 served 0 left ? queued 0 m0@0:1 m1- | -j0 +j0 down0 | gains 2 backlog 1 "
            "used 1000\n"
            "j0 0/1 min 2 cards 1 turn 2 served 0 left ? queued 0 m1- | -j0 +j0 -j0 up0 | gains 3 backlog 0 used 0\n"
            "j0 0/0 min 2 cards 0 turn 2 served 0 left ? queued 0 | | gains 3 backlog 0 used 0\n");
}

TEST(Transcript, AnElasticJobStartsWithItsMinimumAndGrows) {
  EXPECT_EQ(
      told({{0, Submitted{gang(3, 1, expects(100))}},
            {10, bound(1, 1)},
            {20, bound(0, 0)},
            {30,
             MembersAdded{kJob, 2, {{MemberId(7u), kFourDevices, kAnywhere}, {MemberId(1u), kOneDevice, kAnywhere}}}},
            {40, MemberGone{MemberId(1u)}},
            {50, MemberGone{MemberId(0u)}},
            {60, MemberGone{MemberId(2u)}},
            {70, MemberGone{MemberId(2u)}}}),
      "j0 0/3 min 1 cards 3 waits turn 2 served 0 left 100 queued 0 m0- m1- m2- | +j0 | gains 2 backlog 1 used 0\n"
      "j0 1/3 min 1 cards 3 waits turn 2 since 10 until 110 start 3 served 0 left 100 queued 0 m0- m1@1:1 m2- | -j0 "
      "+j0 down1 | gains 2 "
      "backlog 1 used 1000 j0 ends 110 with 3\n"
      "j0 2/3 min 1 cards 3 waits turn 2 since 10 until 110 start 3 served 0 left 100 queued 0 m0@0:1 m1@1:1 m2- | -j0 "
      "+j0 down0 | gains 2 "
      "backlog 1 used 2000 j0 ends 110 with 3\n"
      "j0 2/4 min 2 cards 7 waits turn 2 since 10 until 110 start 3 served 0 left 100 queued 0 m0@0:1 m1@1:1 m2- m7- | "
      "-j0 +j0 | gains 2 "
      "backlog 1 used 2000 j0 ends 110 with 7\n"
      "j0 1/3 min 2 cards 6 waits turn 2 since 10 until 110 start 3 served 0 left 100 queued 0 m0@0:1 m2- m7- | -j0 "
      "+j0 up1 | gains 3 backlog "
      "1 used 1000 j0 ends 110 with 6\n"
      "j0 0/2 min 2 cards 5 waits turn 2 served 40 left 60 queued 0 m2- m7- | -j0 +j0 up0 | gains 4 backlog 1 used 0\n"
      "j0 0/1 min 2 cards 4 turn 2 served 40 left 60 queued 0 m7- | -j0 +j0 -j0 | gains 4 backlog 0 used 0\n"
      "j0 0/1 min 2 cards 4 turn 2 served 40 left 60 queued 0 m7- | | gains 4 backlog 0 used 0\n");
  EXPECT_EQ(told({{0, Submitted{gang(2, 2)}},
                  {10, bound(0, 0)},
                  {20, MembersAdded{kJob, 1, {}}},
                  {30, MembersAdded{kJob, 0, {}}}}),
            "j0 0/2 min 2 cards 2 waits turn 2 served 0 left ? queued 0 m0- m1- | +j0 | gains 2 backlog 1 used 0\n"
            "j0 1/2 min 2 cards 2 waits turn 2 served 0 left ? queued 0 m0@0:1 m1- | -j0 +j0 down0 | gains 2 backlog 1 "
            "used 1000\n"
            "j0 1/2 min 1 cards 2 waits turn 2 since 20 until ? start 3 served 0 left ? queued 0 m0@0:1 m1- | -j0 +j0 "
            "| gains 2 backlog 1 used 1000 "
            "j0 ends ? with 2\n"
            "j0 1/2 min 1 cards 2 waits turn 2 since 20 until ? start 3 served 0 left ? queued 0 m0@0:1 m1- | -j0 +j0 "
            "| gains 2 backlog 1 used 1000 "
            "j0 ends ? with 2\n");
}

TEST(Transcript, AnEvictionPutsItToTheTailWithWhatIsLeft) {
  EXPECT_EQ(told({{0, Submitted{gang(2, 1, expects(100))}},
                  {1, bound(0, 0)},
                  {2, bound(1, 1)},
                  {42, Evicted{kJob, Millis(70)}},
                  {43, Evicted{kJob, Millis(71)}},
                  {50, bound(0, 0)},
                  {60, NodeGone{NodeId(0u)}},
                  {70, bound(0, 1)},
                  {90, Evicted{JobId(9u), Millis(1)}}}),
            "j0 0/2 min 1 cards 2 waits turn 2 served 0 left 100 queued 0 m0- m1- | +j0 | gains 2 backlog 1 used 0\n"
            "j0 1/2 min 1 cards 2 waits turn 2 since 1 until 101 start 3 served 0 left 100 queued 0 m0@0:1 m1- | -j0 "
            "+j0 down0 | gains 2 backlog 1 "
            "used 1000 j0 ends 101 with 2\n"
            "j0 2/2 min 1 cards 2 turn 2 since 1 until 101 start 3 served 0 left 100 queued 0 m0@0:1 m1@1:1 | -j0 "
            "down1 | gains 2 backlog 0 used "
            "2000 j0 ends 101 with 2\n"
            "j0 0/2 min 1 cards 2 waits turn 4 served 41 left 70 queued 42 evicted 1 m0- m1- | +j0 up0 up1 | gains 3 "
            "backlog 1 used 0\n"
            "j0 0/2 min 1 cards 2 waits turn 5 served 41 left 71 queued 43 evicted 2 m0- m1- | -j0 +j0 | gains 3 "
            "backlog 1 used 0\n"
            "j0 1/2 min 1 cards 2 waits turn 5 since 50 until 121 start 6 served 41 left 71 queued 43 evicted 2 m0@0:1 "
            "m1- | -j0 +j0 down0 | gains 3 "
            "backlog 1 used 1000 j0 ends 121 with 2\n"
            "j0 0/2 min 1 cards 2 waits turn 5 served 51 left 61 queued 43 evicted 2 m0- m1- | -j0 +j0 up0 down0 | "
            "gains 4 backlog 1 used 0\n"
            "j0 1/2 min 1 cards 2 waits turn 5 since 70 until 131 start 7 served 51 left 61 queued 43 evicted 2 m0@1:1 "
            "m1- | -j0 +j0 down1 | gains 4 "
            "backlog 1 used 1000 j0 ends 131 with 2\n"
            "j0 1/2 min 1 cards 2 waits turn 5 since 70 until 131 start 7 served 51 left 61 queued 43 evicted 2 m0@1:1 "
            "m1- | | gains 4 backlog 1 "
            "used 1000 j0 ends 131 with 2\n");
}

TEST(Transcript, NodesThatComeChangeAndGo) {
  EXPECT_EQ(
      told({{0, Submitted{gang(2, 2, expects(100))}},
            {1, bound(0, 0, 128)},
            {2, bound(1, 0, 1)},
            {10, NodeSeen{NodeId(0u), with_devices(7)}},
            {20, NodeSeen{NodeId(0u), with_devices(8)}},
            {30, NodeGone{NodeId(0u)}},
            {31, NodeGone{NodeId(0u)}},
            {40, NodeSeen{NodeId(0u), with_devices(8)}},
            {41, bound(0, 7)},
            {50, bound(0, 1)},
            {60, bound(0, 0, 2)}}),
      "j0 0/2 min 2 cards 2 waits turn 2 served 0 left 100 queued 0 m0- m1- | +j0 | gains 2 backlog 1 used 0\n"
      "j0 1/2 min 2 cards 2 waits turn 2 served 0 left 100 queued 0 m0@0:128 m1- | -j0 +j0 down0 | gains 2 backlog 1 "
      "used 1000\n"
      "j0 2/2 min 2 cards 2 turn 2 since 2 until 102 start 3 served 0 left 100 queued 0 m0@0:128 m1@0:1 | -j0 down0 | "
      "gains 2 backlog 0 used "
      "2000 j0 ends 102 with 2\n"
      "j0 2/2 min 2 cards 2 turn 2 since 2 until 102 start 3 served 0 left 100 queued 0 m0@0 m1@0:1 | up0 down0 | "
      "gains 3 backlog 0 used 2000 "
      "j0 ends 102 with 2\n"
      "j0 2/2 min 2 cards 2 turn 2 since 2 until 102 start 3 served 0 left 100 queued 0 m0@0:128 m1@0:1 | up0 down0 | "
      "gains 4 backlog 0 used 2000 "
      "j0 ends 102 with 2\n"
      "j0 0/2 min 2 cards 2 waits turn 4 served 28 left 72 queued 0 m0- m1- | +j0 -j0 +j0 up0 up0 down0 | gains 6 "
      "backlog 1 used 0\n"
      "j0 0/2 min 2 cards 2 waits turn 4 served 28 left 72 queued 0 m0- m1- | | gains 6 backlog 1 used 0\n"
      "j0 0/2 min 2 cards 2 waits turn 4 served 28 left 72 queued 0 m0- m1- | up0 down0 | gains 7 backlog 1 used 0\n"
      "j0 0/2 min 2 cards 2 waits turn 4 served 28 left 72 queued 0 m0- m1- | | gains 7 backlog 1 used 0\n"
      "j0 1/2 min 2 cards 2 waits turn 4 served 28 left 72 queued 0 m0@1:1 m1- | -j0 +j0 down1 | gains 7 backlog 1 "
      "used 1000\n"
      "j0 1/2 min 2 cards 2 waits turn 4 served 28 left 72 queued 0 m0@0:2 m1- | -j0 +j0 up1 down0 | gains 7 backlog 1 "
      "used 1000\n");
}

TEST(Transcript, WhatIsAssumedIsConfirmedOrRejected) {
  State s = small_state();
  tell(s, Submitted{gang(2, 1, expects(100))});
  news(s, kJob);
  std::string text;
  const auto assume = [&](std::uint32_t member, std::uint32_t node, std::uint64_t low, std::int64_t at) {
    Ledger(s).place(MemberId(member), NodeId(node), devices(low), Member::Phase::kAssumed);
    Ledger(s).start(kJob, Millis(at));
    text += news(s, kJob) + "\n";
  };
  const auto then = [&](EventBody body, std::int64_t at) {
    tell(s, std::move(body), Millis(at));
    text += news(s, kJob) + "\n";
  };
  assume(0, 0, 1, 5);
  assume(1, 1, 1, 6);
  then(bound(0, 0), 7);
  then(BindRejected{MemberId(0u)}, 8);
  then(BindRejected{MemberId(1u)}, 9);
  then(BindRejected{MemberId(1u)}, 10);
  then(BindRejected{MemberId(99u)}, 11);
  assume(1, 1, 4, 12);
  then(bound(1, 1, 2), 13);
  then(Ended{kJob}, 14);
  EXPECT_EQ(text,
            "j0 1/2 min 1 cards 2 waits turn 1 since 5 until 105 start 2 served 0 left 100 queued 0 m0@0:1? m1- | | "
            "gains 2 backlog 1 used 1000 j0 "
            "ends 105 with 2\n"
            "j0 2/2 min 1 cards 2 turn 1 since 5 until 105 start 2 served 0 left 100 queued 0 m0@0:1? m1@1:1? | -j0 | "
            "gains 2 backlog 0 used 2000 j0 "
            "ends 105 with 2\n"
            "j0 2/2 min 1 cards 2 turn 1 since 5 until 105 start 2 served 0 left 100 queued 0 m0@0:1 m1@1:1? | | gains "
            "2 backlog 0 used 2000 j0 ends "
            "105 with 2\n"
            "j0 2/2 min 1 cards 2 turn 1 since 5 until 105 start 2 served 0 left 100 queued 0 m0@0:1 m1@1:1? | | gains "
            "2 backlog 0 used 2000 j0 ends "
            "105 with 2\n"
            "j0 1/2 min 1 cards 2 waits turn 3 since 5 until 105 start 2 served 0 left 100 queued 0 m0@0:1 m1- | +j0 "
            "up1 | gains 3 backlog 1 used "
            "1000 j0 ends 105 with 2\n"
            "j0 1/2 min 1 cards 2 waits turn 3 since 5 until 105 start 2 served 0 left 100 queued 0 m0@0:1 m1- | | "
            "gains 3 backlog 1 used 1000 j0 "
            "ends 105 with 2\n"
            "j0 1/2 min 1 cards 2 waits turn 3 since 5 until 105 start 2 served 0 left 100 queued 0 m0@0:1 m1- | | "
            "gains 3 backlog 1 used 1000 j0 "
            "ends 105 with 2\n"
            "j0 2/2 min 1 cards 2 turn 3 since 5 until 105 start 2 served 0 left 100 queued 0 m0@0:1 m1@1:4? | -j0 | "
            "gains 3 backlog 0 used 2000 j0 "
            "ends 105 with 2\n"
            "j0 2/2 min 1 cards 2 turn 3 since 5 until 105 start 2 served 0 left 100 queued 0 m0@0:1 m1@1:2 | up1 "
            "down1 | gains 3 backlog 0 used "
            "2000 j0 ends 105 with 2\n"
            "j0 gone | up0 up1 | gains 4 backlog 0 used 0\n");
}

TEST(Transcript, EstimatesPrioritiesAndConstraintsAreLookedAtAnew) {
  EXPECT_EQ(told({{0, Submitted{gang(1, 1, expects(100))}},
                  {1, EstimateChanged{kJob, expects(50)}},
                  {2, PriorityChanged{kJob, 7}},
                  {3, ConstraintChanged{MemberId(0u), ConstraintId(1u)}},
                  {10, bound(0, 0)},
                  {11, ConstraintChanged{MemberId(0u), kAnywhere}},
                  {20, EstimateChanged{kJob, expects(80)}},
                  {30, EstimateChanged{kJob, {}}},
                  {31, PriorityChanged{kJob, 8}},
                  {40, Ended{kJob}},
                  {41, EstimateChanged{kJob, expects(80)}},
                  {42, PriorityChanged{kJob, 9}},
                  {43, ConstraintChanged{MemberId(0u), kAnywhere}}}),
            "j0 0/1 min 1 cards 1 waits turn 2 served 0 left 100 queued 0 m0- | +j0 | gains 2 backlog 1 used 0\n"
            "j0 0/1 min 1 cards 1 waits turn 2 served 0 left 50 queued 0 m0- | -j0 +j0 | gains 2 backlog 1 used 0\n"
            "j0 0/1 min 1 cards 1 waits turn 2 served 0 left 50 queued 0 priority 7 m0- | -j0 +j0 | gains 2 backlog 1 "
            "used 0\n"
            "j0 0/1 min 1 cards 1 waits turn 2 served 0 left 50 queued 0 priority 7 m0- | -j0 +j0 | gains 2 backlog 1 "
            "used 0\n"
            "j0 1/1 min 1 cards 1 turn 2 since 10 until 60 start 3 served 0 left 50 queued 0 priority 7 m0@0:1 | -j0 "
            "down0 | gains 2 backlog 0 used "
            "1000 j0 ends 60 with 1\n"
            "j0 1/1 min 1 cards 1 turn 2 since 10 until 60 start 3 served 0 left 50 queued 0 priority 7 m0@0:1 | | "
            "gains 2 backlog 0 used 1000 j0 "
            "ends 60 with 1\n"
            "j0 1/1 min 1 cards 1 turn 2 since 10 until 90 start 3 served 0 left 80 queued 0 priority 7 m0@0:1 | | "
            "gains 3 backlog 0 used 1000 j0 "
            "ends 90 with 1\n"
            "j0 1/1 min 1 cards 1 turn 2 since 10 until ? start 3 served 0 left ? queued 0 priority 7 m0@0:1 | | gains "
            "4 backlog 0 used 1000 j0 ends "
            "? with 1\n"
            "j0 1/1 min 1 cards 1 turn 2 since 10 until ? start 3 served 0 left ? queued 0 priority 8 m0@0:1 | | gains "
            "4 backlog 0 used 1000 j0 ends "
            "? with 1\n"
            "j0 gone | up0 | gains 5 backlog 0 used 0\n"
            "j0 gone | | gains 5 backlog 0 used 0\n"
            "j0 gone | | gains 5 backlog 0 used 0\n"
            "j0 gone | | gains 5 backlog 0 used 0\n");
}

TEST(Transcript, ANominationHoldsTheNodeForAnotherSchedulersPod) {
  Workload foreign = gang(1, 1);
  foreign.is_ours = false;
  EXPECT_EQ(told({{0, Submitted{foreign}},
                  {1, Nominated{MemberId(0u), NodeId(1u), 5}},
                  {2, Nominated{MemberId(0u), NodeId(0u), 6}},
                  {3, Nominated{MemberId(0u), NodeId::none(), 6}},
                  {4, Nominated{MemberId(0u), NodeId(9u), 6}},
                  {5, Nominated{MemberId(0u), NodeId(1u), 7}},
                  {6, bound(0, 1)},
                  {7, Nominated{MemberId(0u), NodeId(0u), 8}},
                  {8, Nominated{MemberId(9u), NodeId(0u), 8}}}),
            "j0 0/1 min 1 cards 1 turn 0 served 0 left ? queued 0 m0- | | gains 2 backlog 0 used 0\n"
            "j0 1/1 min 1 cards 1 turn 0 served 0 left ? queued 0 priority 5 m0@1:1? | down1 | gains 2 backlog 0 used "
            "1000 nominated m0\n"
            "j0 1/1 min 1 cards 1 turn 0 served 0 left ? queued 0 priority 6 m0@0:1? | up1 down0 | gains 3 backlog 0 "
            "used 1000 nominated m0\n"
            "j0 0/1 min 1 cards 1 turn 0 served 0 left ? queued 0 priority 6 m0- | up0 | gains 4 backlog 0 used 0\n"
            "j0 0/1 min 1 cards 1 turn 0 served 0 left ? queued 0 priority 6 m0- | | gains 4 backlog 0 used 0\n"
            "j0 1/1 min 1 cards 1 turn 0 served 0 left ? queued 0 priority 7 m0@1:1? | down1 | gains 4 backlog 0 used "
            "1000 nominated m0\n"
            "j0 1/1 min 1 cards 1 turn 0 since 6 until ? start 2 served 0 left ? queued 0 priority 7 m0@1:1 | | gains "
            "4 backlog 0 used 1000 j0 ends "
            "? with 1\n"
            "j0 1/1 min 1 cards 1 turn 0 since 6 until ? start 2 served 0 left ? queued 0 priority 7 m0@1:1 | | gains "
            "4 backlog 0 used 1000 j0 ends "
            "? with 1\n"
            "j0 1/1 min 1 cards 1 turn 0 since 6 until ? start 2 served 0 left ? queued 0 priority 7 m0@1:1 | | gains "
            "4 backlog 0 used 1000 j0 ends "
            "? with 1\n");
  EXPECT_EQ(
      told({{0, Submitted{gang(2, 1)}},
            {1, Nominated{MemberId(0u), NodeId(1u), 5}},
            {2, Nominated{MemberId(0u), NodeId::none(), 5}}}),
      "j0 0/2 min 1 cards 2 waits turn 2 served 0 left ? queued 0 m0- m1- | +j0 | gains 2 backlog 1 used 0\n"
      "j0 1/2 min 1 cards 2 waits turn 2 served 0 left ? queued 0 m0@1:1? m1- | -j0 +j0 down1 | gains 2 backlog 1 used "
      "1000\n"
      "j0 0/2 min 1 cards 2 waits turn 2 served 0 left ? queued 0 m0- m1- | -j0 +j0 up1 | gains 3 backlog 1 used 0\n");
}

TEST(Transcript, TheDigestOfAStateIsTheSameOnEveryMachine) {
  // Logs of decisions carry digests: another way of reckoning them could not replay what was recorded.
  State s = small_state();
  EXPECT_EQ(s.digest(), 10462381525248289376u);
  tell(s, QueueDefined{QueueId(1u), QueueId(0u), {8000, kUnlimited, kUnlimited}});
  EXPECT_EQ(s.digest(), 10462381525248289376u);
  Workload w = gang(2, 2);
  w.queue = QueueId(1u);
  tell(s, Submitted{w});
  EXPECT_EQ(s.digest(), 10462381525248289376u);
  tell(s, bound(0, 0));
  tell(s, bound(1, 1, 6));
  EXPECT_EQ(s.digest(), 14396698118856628020u);
}

}  // namespace
}  // namespace ashlar
