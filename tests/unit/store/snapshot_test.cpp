// A snapshot is the state and the engine's memory exactly: what goes on from it decides the same, byte for byte.
#include "store/snapshot.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>

#include "base/digest.h"
#include "engine/engine_fields.h"
#include "random_world.h"
#include "state/state_fields.h"
#include "store/codec.h"
#include "store/fields.h"

namespace ashlar::store {
namespace {

std::string snapshot_of(const State& state, const Engine& engine) {
  std::string bytes;
  append_snapshot(bytes, state, engine);
  return bytes;
}

/// `lived`: steps of another life that the state has behind it into which the snapshot is read.
void goes_on_the_same(std::string_view profile, std::uint64_t seed, int steps_before, int lived) {
  Life life(profile, seed), other(profile, seed + 1);
  life.open();
  life.run(steps_before);
  other.open();
  if (lived > 0) other.run(lived);
  State state = lived > 0 ? other.state : State();
  Engine engine(profile_named(profile));
  const auto read = read_snapshot(snapshot_of(life.state, life.engine), state, engine);
  RC_ASSERT(read.ok());
  RC_ASSERT(state.digest() == life.state.digest());
  RC_ASSERT(snapshot_of(state, engine) == snapshot_of(life.state, life.engine));
  for (int i = 0; i < 40; ++i) {
    const std::vector<Event> batch = life.world.next(life.state, life.plan);
    for (const Event& event : batch) apply(state, event);
    life.step(batch);
    const Plan plan = engine.decide(state, life.world.now());
    RC_ASSERT(bytes_of(plan) == bytes_of(life.plan));
    RC_ASSERT(state.digest() == life.state.digest());
  }
  RC_ASSERT(state.is_consistent());
}

class EveryProfile : public ::testing::TestWithParam<std::string_view> {};

TEST_P(EveryProfile, goes_on_byte_for_byte_from_a_snapshot) {
  const bool holds = rc::check(
      [&] { goes_on_the_same(GetParam(), *rc::gen::arbitrary<std::uint64_t>(), *rc::gen::inRange(0, 60), 0); });
  EXPECT_TRUE(holds);
}

TEST_P(EveryProfile, nothing_is_left_of_a_life_before_the_snapshot) {
  const bool holds = rc::check([&] {
    goes_on_the_same(GetParam(), *rc::gen::arbitrary<std::uint64_t>(), *rc::gen::inRange(0, 60),
                     *rc::gen::inRange(1, 60));
  });
  EXPECT_TRUE(holds);
}

INSTANTIATE_TEST_SUITE_P(Builtin, EveryProfile, ::testing::ValuesIn(every_profile()), [](const auto& info) {
  std::string name(info.param);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-'; }, '_');
  return name;
});

// The worlds of these tests are worth their name: jobs are placed, wait for many reasons, lose members and come back.
TEST(Snapshot, is_tested_on_lively_worlds) {
  std::size_t binds = 0, verdicts = 0, backlog = 0, members_evicted = 0, over_a_further_limit = 0;
  std::set<ReasonCode> reasons;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Life life("ashlar", seed);
    life.open();
    for (int i = 0; i < 100; ++i) {
      const std::vector<Event> batch = life.world.next(life.state, life.plan);
      for (const Event& event : batch)
        if (const auto* evicted = std::get_if<Evicted>(&event.body); evicted != nullptr && !evicted->member.is_none())
          members_evicted += life.state.member(evicted->member).is_placed() ? 1 : 0;
      life.step(batch);
      binds += life.plan.actions.size();
      verdicts += life.plan.verdicts.size();
      for (const VerdictChange& v : life.plan.verdicts)
        for (const Reason& r : v.verdict.reasons) {
          reasons.insert(r.code);
          const bool is_of_quota = r.code == ReasonCode::kQuotaExhausted || r.code == ReasonCode::kExceedsQuota;
          over_a_further_limit += is_of_quota && r.numbers[0] >= static_cast<std::int64_t>(kQuotaDimensions) ? 1 : 0;
        }
    }
    backlog += life.state.backlog_size();
  }
  EXPECT_GT(binds, 50u * 20);
  EXPECT_GT(verdicts, 50u * 20);
  EXPECT_GT(backlog, 50u);
  EXPECT_GT(reasons.size(), 8u);
  EXPECT_GT(members_evicted, 10u);
  EXPECT_GT(over_a_further_limit, 50u);
}

TEST(Snapshot, of_an_empty_state_is_an_empty_state) {
  State state, read;
  Engine engine(profile_named("ashlar")), read_engine(profile_named("ashlar"));
  ASSERT_TRUE(read_snapshot(snapshot_of(state, engine), read, read_engine).ok());
  EXPECT_EQ(read.digest(), state.digest());
  EXPECT_EQ(read.revision(), 0u);
}

// Damaged bytes that a check would catch are caught here too, or read as some other state that holds together; they
// never crash.
RC_GTEST_PROP(Snapshot, survives_any_change_of_its_bytes, ()) {
  Life life("ashlar", *rc::gen::arbitrary<std::uint64_t>());
  life.open();
  life.run(30);
  std::string bytes = snapshot_of(life.state, life.engine);
  const int changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i)
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
  if (*rc::gen::inRange(0, 4) == 0) bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size()));
  State state;
  Engine engine(profile_named("ashlar"));
  const auto read = read_snapshot(bytes, state, engine);
  if (read.ok())
    RC_ASSERT(state.is_consistent());
  else
    RC_ASSERT(!read.error().message.empty());
}

std::string varint_of(std::uint64_t value) {
  std::string text;
  ByteWriter(text).varint(value);
  return text;
}

// What an engine remembers is checked as far as it relies on it: it decides on from whatever is accepted.
TEST(Snapshot, whose_engine_is_forged_is_refused_or_can_be_decided_from) {
  Rng rng(42);
  int refused = 0, accepted = 0;
  for (std::uint64_t trial = 0; trial < 1500; ++trial) {
    Life life(trial % 2 == 0 ? "ashlar" : "easy", 1 + trial % 7);
    life.open();
    life.run(40);
    std::string bytes;
    ByteWriter writer(bytes);
    StateFields::each(life.state, [&](const auto& column) { encode(writer, column); });
    const std::size_t engine_at = bytes.size();
    EngineFields::each(life.engine, [&](const auto& column) { encode(writer, column); });
    const std::size_t at = engine_at + static_cast<std::size_t>(rng.below(bytes.size() - engine_at));
    const std::uint64_t values[] = {0, 1, 2, 3, 7, 60, 200, 5000, 1u << 20, 1u << 26};
    const std::string forged =
        bytes.substr(0, at) + varint_of(values[rng.below(std::size(values))]) + bytes.substr(at + 1);
    State state;
    Engine engine(life.engine.profile());
    if (!read_snapshot(forged, state, engine).ok()) {
      ++refused;
      continue;
    }
    ++accepted;
    Plan plan = life.plan;
    for (int step = 0; step < 30; ++step) {
      for (const Event& event : life.world.next(state, plan)) apply(state, event);
      plan = engine.decide(state, life.world.now());
    }
    ASSERT_TRUE(state.is_consistent()) << "trial " << trial;
  }
  EXPECT_GT(refused, 300);
  EXPECT_GT(accepted, 300);
}

// The limit that a waiting job's verdict names is looked up by its row.
TEST(Snapshot, whose_verdicts_name_an_unknown_queue_is_refused) {
  int refused = 0;
  for (std::uint64_t seed = 1; seed < 200 && refused == 0; ++seed) {
    Life life("ashlar", seed);
    life.open();
    life.run(60);
    bool is_spoilt = false;
    EngineFields::each(life.engine, [&](auto& column) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(column)>, std::vector<PendingQueue::Class>>)
        for (PendingQueue::Class& job_class : column) {
          if (job_class.is_active || job_class.is_empty() || job_class.verdict.wake_on != WakeOn::kQuota) continue;
          job_class.verdict.reasons.front().subject = 5000;
          is_spoilt = true;
        }
    });
    if (!is_spoilt) continue;
    EXPECT_FALSE(EngineFields::is_sound(life.engine, life.state));
    ++refused;
  }
  EXPECT_EQ(refused, 1);
}

using Spoil = std::function<void(std::vector<Job>& jobs, std::vector<Member>& members)>;

/// For what no single damaged byte brings about.
bool is_refused_with(const Spoil& spoil) {
  Life life("ashlar", 7);
  life.open();
  life.run(30);
  std::vector<Job>* jobs = nullptr;
  std::vector<Member>* members = nullptr;
  StateFields::each(life.state, [&](auto& column) {
    if constexpr (std::is_same_v<decltype(column), std::vector<Job>&>) jobs = &column;
    if constexpr (std::is_same_v<decltype(column), std::vector<Member>&>) members = &column;
  });
  spoil(*jobs, *members);
  State state;
  Engine engine(profile_named("ashlar"));
  return !read_snapshot(snapshot_of(life.state, life.engine), state, engine).ok();
}

bool is_refused_with_gang(const std::function<void(Job& gang)>& spoil) {
  return is_refused_with([&](std::vector<Job>& jobs, std::vector<Member>&) {
    spoil(*std::find_if(jobs.begin(), jobs.end(), [](const Job& j) { return j.is_live && j.members_present > 1; }));
  });
}

TEST(Snapshot, is_refused_if_a_jobs_members_are_not_one_list_or_its_queue_is_out_of_bounds) {
  EXPECT_FALSE(is_refused_with_gang([](Job&) {}));
  EXPECT_TRUE(is_refused_with_gang([](Job& gang) { gang.last = MemberId(); }));
  EXPECT_TRUE(is_refused_with_gang([](Job& gang) { gang.last = gang.first; }));
  EXPECT_TRUE(is_refused_with_gang([](Job& gang) { gang.last = MemberId(1u << 30); }));
  EXPECT_TRUE(is_refused_with_gang([](Job& gang) { gang.first = gang.last; }));
  EXPECT_TRUE(is_refused_with_gang([](Job& gang) { gang.queue = QueueId(0xfffffff0u); }));
  EXPECT_TRUE(is_refused_with_gang([](Job& gang) { gang.prefer = LevelId(200); }));
}

// The first member leaves the list, and the job's number of members says so, but the member still names its job.
TEST(Snapshot, is_refused_if_a_member_is_in_no_list) {
  EXPECT_TRUE(is_refused_with([](std::vector<Job>& jobs, std::vector<Member>& members) {
    const auto gang = std::find_if(jobs.begin(), jobs.end(), [&](const Job& j) {
      return j.is_live && j.members_present > 1 && !members[j.first.row()].is_placed();
    });
    ASSERT_NE(gang, jobs.end());
    gang->first = members[gang->first.row()].next;
    --gang->members_present;
  }));
}

TEST(Snapshot, is_refused_if_what_is_withheld_is_not_of_the_unhealthy_devices) {
  Life life("ashlar", 7);
  life.open();
  life.run(30);
  const Cluster& cluster = life.state.cluster();
  NodeId node(0u);
  while (!cluster.is_live(node) || cluster.devices()[node.row()] == 0) node = NodeId(node.row() + 1);
  apply(life.state, {life.world.now(), DeviceHealthChanged{node, {1, 0}}});
  const auto is_refused_with_rows = [&](const std::function<void(std::vector<WithheldDevice>&)>& spoil) {
    State spoiled = life.state;
    StateFields::each(spoiled, [&](auto& column) {
      if constexpr (std::is_same_v<decltype(column), std::vector<WithheldDevice>&>) spoil(column);
    });
    State state;
    Engine engine(profile_named("ashlar"));
    return !read_snapshot(snapshot_of(spoiled, life.engine), state, engine).ok();
  };
  EXPECT_FALSE(is_refused_with_rows([](std::vector<WithheldDevice>&) {}));
  EXPECT_TRUE(is_refused_with_rows([](std::vector<WithheldDevice>& rows) { rows.pop_back(); }));
  EXPECT_TRUE(is_refused_with_rows([](std::vector<WithheldDevice>& rows) { rows.push_back(rows.back()); }));
  EXPECT_TRUE(is_refused_with_rows([](std::vector<WithheldDevice>& rows) { rows.back().device = 1u << 26; }));
}

// How many members fit is found by division by what each requests.
TEST(Snapshot, is_refused_if_a_demand_requests_nothing_of_a_resource_or_of_its_devices) {
  const auto is_refused_with_demand = [](const std::function<void(Demand&)>& spoil) {
    Life life("ashlar", 7);
    life.open();
    StateFields::each(life.state, [&](auto& column) {
      if constexpr (std::is_same_v<decltype(column), std::vector<Demand>&>) spoil(column[2]);
    });
    State state;
    Engine engine(profile_named("ashlar"));
    return !read_snapshot(snapshot_of(life.state, life.engine), state, engine).ok();
  };
  EXPECT_FALSE(is_refused_with_demand([](Demand&) {}));
  EXPECT_FALSE(is_refused_with_demand([](Demand& d) { d.amounts.front().amount = 1; }));
  for (const std::int64_t amount : {std::int64_t{0}, std::int64_t{-1}})
    EXPECT_TRUE(is_refused_with_demand([&](Demand& d) { d.amounts.front().amount = amount; }));
  EXPECT_TRUE(is_refused_with_demand([](Demand& d) { d.devices.milli_each = MilliGpu(0); }));
}

/// A node of two devices with one member on the first.
State with_a_device_held() {
  State state;
  NodeFacts facts;
  facts.devices.count = 2;
  facts.allocatable.assign(resource::kFirstExtended, 1'000'000);
  Demand demand;
  demand.devices.count = 1;
  demand.devices.milli_each = MilliGpu(kWholeDevice);
  Workload w;
  w.job = JobId(0u);
  w.queue = QueueId(0u);
  w.members_min = 1;
  w.members = {{.member = MemberId(0u), .demand = DemandId(0u), .constraint = ConstraintId(0u)}};
  const Millis now(1);
  apply(state, {now, NodeSeen{NodeId(0u), facts}});
  apply(state, {now, DemandDefined{DemandId(0u), demand}});
  apply(state, {now, ConstraintDefined{ConstraintId(0u), Constraint{}}});
  apply(state, {now, Submitted{w}});
  apply(state, {now, Bound{MemberId(0u), NodeId(0u), {1, 0}, {}}});
  return state;
}

/// With this mask for what the member holds, and a digest of its place that agrees.
bool is_refused_with_devices(const DeviceMask& devices) {
  const auto digest_with = [](const DeviceMask& held) {
    return mix64(hash_combine(hash_combine(0, held.low), held.high));
  };
  State state = with_a_device_held();
  StateFields::each(state, [&](auto& column) {
    if constexpr (std::is_same_v<decltype(column), std::vector<Member>&>) column[0].devices = devices;
    if constexpr (std::is_same_v<decltype(column), std::uint64_t&>)
      if (column == digest_with({1, 0})) column = digest_with(devices);
  });
  State read;
  Engine engine(profile_named("ashlar"));
  return !read_snapshot(snapshot_of(state, Engine(profile_named("ashlar"))), read, engine).ok();
}

TEST(Snapshot, is_refused_if_a_member_holds_a_device_that_its_node_does_not_have) {
  EXPECT_FALSE(is_refused_with_devices({1, 0}));
  EXPECT_FALSE(is_refused_with_devices({2, 0})) << "only bounds are checked";
  EXPECT_TRUE(is_refused_with_devices({4, 0}));
  EXPECT_TRUE(is_refused_with_devices({0, std::uint64_t{1} << 56}));
}

// A column added to one of these classes must be listed in state/state_fields.h or engine/engine_fields.h (or be a
// cache that rebuilds itself); then adjust the size.
TEST(Snapshot, knows_every_column) {
  EXPECT_EQ(sizeof(Topology), 184u);
  EXPECT_EQ(sizeof(QueueTree), 520u);
  EXPECT_EQ(sizeof(Timeline), 56u);
  EXPECT_EQ(sizeof(Cluster), 2016u);
  EXPECT_EQ(sizeof(State), 3592u);
  EXPECT_EQ(sizeof(PendingQueue), 1136u);
  EXPECT_EQ(sizeof(EngineData), 2048u);
}

}  // namespace
}  // namespace ashlar::store
