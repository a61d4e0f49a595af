// Columns that no state ever had are told from those that one had: each bound is crossed alone, by the smallest step.
#include "state/state_fields.h"

#include <gtest/gtest.h>

#include <functional>

#include "small_state.h"

namespace ashlar {
namespace {

/// A job of two members on two nodes in one rack, one that waits, an end, a nomination, two queues.
State whole_state() {
  State s;
  tell(s, LevelsDefined{1, 0});
  tell(s, DemandDefined{kOneDevice,
                        {.amounts = {{resource::kPods, 1}}, .devices = {1, MilliGpu(1000), MiB(1)}, .ports = {}}});
  tell(s, ConstraintDefined{kAnywhere, {.preferred = {{1, {}}}}});
  tell(s, QueueDefined{QueueId(1u), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
  for (std::uint32_t n = 0; n < 2; ++n) {
    NodeFacts f = eight_devices();
    f.devices.memory_each = MiB(80);
    f.domains = {DomainId(0u)};
    tell(s, NodeSeen{NodeId(n), f});
  }
  tell(s, Submitted{workload(0, 0, 2, kOneDevice)});
  tell(s, Submitted{workload(1, 2, 1, kOneDevice)});
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  tell(s, Bound{MemberId(1u), NodeId(1u), {}});
  return s;
}

/// Changes the only column, or the k-th, of a type.
template <class Column>
void change(State& s, int k, const std::function<void(Column&)>& by) {
  StateFields::each(s, [&](auto& column) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(column)>, Column>)
      if (k-- == 0) by(column);
  });
  EXPECT_LT(k, 0) << "there is no such column";
}

/// Is the state sound with this column changed so?
template <class Column>
bool is_sound_with(int k, const std::function<void(Column&)>& by) {
  State s = whole_state();
  EXPECT_TRUE(StateFields::are_sound(s));
  change<Column>(s, k, by);
  return StateFields::are_sound(s);
}
template <class Row>
bool is_sound_with_row(const std::function<void(Row&)>& by, std::size_t row = 0) {
  return is_sound_with<std::vector<Row>>(0, [&](std::vector<Row>& rows) { by(rows.at(row)); });
}

constexpr std::int64_t kNumberMax = std::int64_t{1} << 60;
constexpr std::int64_t kMibMax = std::int64_t{1} << 50;

TEST(StateFields, TimesAndRanksOfJobsStayFarFromOverflow) {
  const std::function<void(Job&, std::int64_t)> known[] = {
      [](Job& j, std::int64_t v) { j.order_hint = v; }, [](Job& j, std::int64_t v) { j.submitted = Millis(v); },
      [](Job& j, std::int64_t v) { j.started_at = Millis(v); }, [](Job& j, std::int64_t v) { j.served = Millis(v); },
      [](Job& j, std::int64_t v) { j.devices_total = v; }};
  const std::function<void(Job&, std::int64_t)> perhaps_unknown[] = {
      [](Job& j, std::int64_t v) { j.remaining = Millis(v); }, [](Job& j, std::int64_t v) { j.end_at = Millis(v); },
      [](Job& j, std::int64_t v) { j.estimate.p50 = Millis(v); },
      [](Job& j, std::int64_t v) { j.estimate.p90 = Millis(v); }};
  const auto is_sound = [](const auto& set, std::int64_t v) {
    return is_sound_with_row<Job>([&](Job& j) { set(j, v); }, 1);
  };
  for (std::size_t k = 0; k < std::size(known) + std::size(perhaps_unknown); ++k) {
    const auto& set = k < std::size(known) ? known[k] : perhaps_unknown[k - std::size(known)];
    EXPECT_TRUE(is_sound(set, kNumberMax)) << k;
    EXPECT_TRUE(is_sound(set, -kNumberMax)) << k;
    EXPECT_FALSE(is_sound(set, kNumberMax + 1)) << k;
    EXPECT_FALSE(is_sound(set, -kNumberMax - 1)) << k;
    EXPECT_EQ(is_sound(set, Millis::max().value), k >= std::size(known)) << k;
  }
}

TEST(StateFields, DemandsAskForWhatThereCanBe) {
  const auto is_sound = [](const std::function<void(Demand&)>& by) { return is_sound_with_row<Demand>(by); };
  EXPECT_TRUE(is_sound([](Demand& d) { d.devices.count = 0; }));
  EXPECT_FALSE(is_sound([](Demand& d) { d.devices.count = -1; }));
  EXPECT_TRUE(is_sound([](Demand& d) { d.devices.count = kDevicesPerNodeMax; }));
  EXPECT_FALSE(is_sound([](Demand& d) { d.devices.count = kDevicesPerNodeMax + 1; }));
  EXPECT_FALSE(is_sound([](Demand& d) { d.devices = {1, MilliGpu(0), MiB(0)}; })) << "nothing of its devices";
  EXPECT_TRUE(is_sound([](Demand& d) { d.devices = {0, MilliGpu(0), MiB(0)}; }));
  EXPECT_FALSE(is_sound([](Demand& d) { d.devices.milli_each = MilliGpu(-1); }));
  EXPECT_FALSE(is_sound([](Demand& d) { d.devices.milli_each = MilliGpu(kWholeDevice + 1); }));
  EXPECT_TRUE(is_sound([](Demand& d) { d.devices.memory_each = MiB(0); }));
  EXPECT_FALSE(is_sound([](Demand& d) { d.devices.memory_each = MiB(-1); }));
  EXPECT_TRUE(is_sound([](Demand& d) { d.devices.memory_each = MiB(kMibMax); }));
  EXPECT_FALSE(is_sound([](Demand& d) { d.devices.memory_each = MiB(kMibMax + 1); }));
  EXPECT_TRUE(is_sound([](Demand& d) { d.amounts[0].amount = INT64_MAX; })) << "more than there is anywhere";
  EXPECT_FALSE(is_sound([](Demand& d) { d.amounts[0].amount = INT64_MAX - 1; }));
  EXPECT_FALSE(is_sound([](Demand& d) { d.amounts[0].amount = -kNumberMax - 1; }));
  EXPECT_TRUE(is_sound([](Demand& d) { d.amounts[0].amount = 1; }));
  for (const std::int64_t nothing : {0, -1}) EXPECT_FALSE(is_sound([&](Demand& d) { d.amounts[0].amount = nothing; }));
  EXPECT_TRUE(is_sound([](Demand& d) { d.amounts[0].resource = ResourceId(resource::kRowsMax - 1); }));
  EXPECT_FALSE(is_sound([](Demand& d) { d.amounts[0].resource = ResourceId(resource::kRowsMax); }));
  EXPECT_FALSE(is_sound_with<std::vector<Demand>>(0, [](auto& rows) { rows.emplace_back(); }))
      << "as many demands as their quota";
}

TEST(StateFields, NodesAndTheirFacts) {
  const auto is_sound = [](const std::function<void(NodeFacts&)>& by) { return is_sound_with_row<NodeFacts>(by); };
  EXPECT_TRUE(is_sound([](NodeFacts& f) { f.devices.memory_each = MiB(kMibMax); }));
  EXPECT_FALSE(is_sound([](NodeFacts& f) { f.devices.memory_each = MiB(kMibMax + 1); }));
  EXPECT_FALSE(is_sound([](NodeFacts& f) { f.devices.memory_each = MiB(-kMibMax - 1); }));
  EXPECT_TRUE(is_sound([](NodeFacts& f) { f.allocatable[0] = kNumberMax; }));
  EXPECT_FALSE(is_sound([](NodeFacts& f) { f.allocatable[0] = kNumberMax + 1; }));
  EXPECT_FALSE(is_sound([](NodeFacts& f) { f.allocatable.resize(f.allocatable.size() + 1); }))
      << "of a resource without a column";
  EXPECT_FALSE(is_sound([](NodeFacts& f) { f.devices.count = 7; }));
  EXPECT_FALSE(is_sound_with<std::vector<NodeFacts>>(0, [](auto& rows) { rows.emplace_back(); }));
  EXPECT_FALSE(is_sound_with<std::vector<NodeFacts>>(0, [](auto& rows) { rows.pop_back(); }));
  const auto changes = [](std::uint64_t count) {
    return is_sound_with<std::uint64_t>(2, [&](std::uint64_t& changes_of_facts) { changes_of_facts = count; });
  };
  EXPECT_TRUE(changes(1) && changes(std::uint64_t{1} << 62));
  EXPECT_FALSE(changes(0)) << "no feasibility set would be worked out";
  EXPECT_FALSE(changes((std::uint64_t{1} << 62) + 1));
  const auto weight = [](std::int32_t w) {
    return is_sound_with_row<Constraint>([&](Constraint& c) { c.preferred[0].weight = w; });
  };
  EXPECT_TRUE(weight(1'000'000) && weight(-1'000'000));
  EXPECT_FALSE(weight(1'000'001) || weight(-1'000'001));
}

TEST(StateFields, MembersFormTheListsOfTheirJobs) {
  const auto is_sound = [](const std::function<void(Member&)>& by, std::size_t row = 0) {
    return is_sound_with_row<Member>(by, row);
  };
  EXPECT_TRUE(is_sound([](Member&) {}));
  EXPECT_FALSE(is_sound([](Member& m) { m.job = JobId(2u); }));
  EXPECT_FALSE(is_sound([](Member& m) { m.job = JobId(1u); }));
  EXPECT_FALSE(is_sound([](Member& m) { m.demand = DemandId(1u); }));
  EXPECT_FALSE(is_sound([](Member& m) { m.constraint = ConstraintId(1u); }));
  EXPECT_FALSE(is_sound([](Member& m) { m.next = MemberId(3u); }));
  EXPECT_FALSE(is_sound([](Member& m) { m.next = MemberId::none(); }));
  EXPECT_FALSE(is_sound([](Member& m) { m.next = MemberId(0u); })) << "a list that bends back on itself";
  EXPECT_FALSE(is_sound([](Member& m) { m.node = NodeId(2u); }));
  EXPECT_FALSE(is_sound_with<std::vector<Member>>(0, [](std::vector<Member>& rows) {
    rows.emplace_back();
    rows.back().node = NodeId(0u);
  })) << "nobody who is not there has a node";
  EXPECT_FALSE(is_sound([](Member& m) { m.next = MemberId(0u); }, 1));
  const auto is_job_sound = [](const std::function<void(Job&)>& by, std::size_t row = 0) {
    return is_sound_with_row<Job>(by, row);
  };
  EXPECT_FALSE(is_job_sound([](Job& j) { j.is_live = false; }));
  EXPECT_FALSE(is_job_sound([](Job& j) { j.members_present = 3; }));
  EXPECT_FALSE(is_job_sound([](Job& j) { j.members_present = 1; }));
  EXPECT_FALSE(is_job_sound([](Job& j) { j.queue = QueueId::none(); }));
  EXPECT_TRUE(is_job_sound([](Job& j) { j.within = LevelId(0u); }));
  EXPECT_FALSE(is_job_sound([](Job& j) { j.within = LevelId(1u); }));
  EXPECT_FALSE(is_job_sound([](Job& j) { j.first = MemberId(2u); }));
  EXPECT_FALSE(is_job_sound([](Job& j) { j.first = MemberId(9u); }));
}

TEST(StateFields, EachStartedJobHasOneEnd) {
  const auto end = [](const std::function<void(Timeline::End&)>& by) {
    return is_sound_with_row<Timeline::Block>([&](Timeline::Block& block) { by(block.at(0)); });
  };
  EXPECT_TRUE(end([](Timeline::End&) {}));
  EXPECT_FALSE(end([](Timeline::End& e) { --e.at.value; }));
  EXPECT_FALSE(end([](Timeline::End& e) { ++e.devices; }));
  EXPECT_FALSE(end([](Timeline::End& e) { e.job = JobId(1u); })) << "it waits";
  EXPECT_FALSE(end([](Timeline::End& e) { e.job = JobId(7u); }));
  using Blocks = std::vector<Timeline::Block>;
  EXPECT_FALSE(is_sound_with<Blocks>(0, [](Blocks& blocks) { blocks.clear(); }));
  EXPECT_FALSE(is_sound_with<Blocks>(0, [](Blocks& blocks) { blocks.push_back(blocks[0]); })) << "twice";
  EXPECT_FALSE(is_sound_with<Blocks>(0, [](Blocks& blocks) { blocks.emplace_back(); })) << "an empty block";
  EXPECT_FALSE(is_sound_with_row<Job>([](Job& j) { j.is_started = false; }));
  EXPECT_FALSE(is_sound_with_row<Job>([](Job& j) { j.is_started = true; }, 1));
  State two = whole_state();
  tell(two, Bound{MemberId(2u), NodeId(0u), {}});
  EXPECT_TRUE(StateFields::are_sound(two));
  State in_two_blocks = two;
  change<Blocks>(in_two_blocks, 0, [](Blocks& blocks) {
    blocks.push_back({blocks.at(0).back()});
    blocks[0].pop_back();
  });
  EXPECT_TRUE(StateFields::are_sound(in_two_blocks));
  change<Blocks>(in_two_blocks, 0, [](Blocks& blocks) { std::swap(blocks.at(0), blocks.at(1)); });
  EXPECT_FALSE(StateFields::are_sound(in_two_blocks)) << "blocks out of order";
  change<Blocks>(two, 0, [](Blocks& blocks) { std::swap(blocks.at(0).at(0), blocks[0].at(1)); });
  EXPECT_FALSE(StateFields::are_sound(two)) << "out of order";
}

TEST(StateFields, EndsAndQueues) {
  const auto of_both = [](Millis at, std::int64_t devices) {
    State s = whole_state();
    change<std::vector<Timeline::Block>>(
        s, 0, [&](auto& blocks) { blocks.at(0).at(0).at = at, blocks[0][0].devices = devices; });
    change<std::vector<Job>>(s, 0, [&](auto& jobs) { jobs.at(0).end_at = at, jobs[0].devices_total = devices; });
    return StateFields::are_sound(s);
  };
  EXPECT_TRUE(of_both(Millis(kNumberMax), kNumberMax));
  EXPECT_TRUE(of_both(Millis::max(), 2));
  EXPECT_FALSE(of_both(Millis(kNumberMax + 1), 2));
  EXPECT_FALSE(of_both(Millis(7), kNumberMax + 1));
  using Parents = std::vector<QueueId>;
  EXPECT_FALSE(is_sound_with<Parents>(0, [](Parents& p) { p.clear(); }));
  EXPECT_FALSE(is_sound_with<Parents>(0, [](Parents& p) { p.push_back(QueueId(0u)); }));
  EXPECT_FALSE(is_sound_with<Parents>(0, [](Parents& p) { p[1] = QueueId(2u); }));
  EXPECT_FALSE(is_sound_with<Parents>(0, [](Parents& p) { p[0] = QueueId(1u); })) << "a circle";
  EXPECT_FALSE(is_sound_with<Parents>(1, [](Parents& p) { p.pop_back(); }));
  EXPECT_FALSE(is_sound_with<Parents>(1, [](Parents& p) { p[0] = QueueId(1u); }));
  EXPECT_TRUE(is_sound_with<Parents>(1, [](Parents& p) { p[1] = QueueId(7u); })) << "not known yet";
  State three = whole_state();
  tell(three, QueueDefined{QueueId(2u), QueueId(1u), {kUnlimited, kUnlimited, kUnlimited}});
  EXPECT_TRUE(StateFields::are_sound(three));
  change<Parents>(three, 1, [](Parents& p) { p.at(2) = QueueId(0u); });
  EXPECT_FALSE(StateFields::are_sound(three)) << "below neither the root nor the defined parent";
  using Quotas = std::vector<QuotaVector>;
  EXPECT_FALSE(is_sound_with<Quotas>(1, [](Quotas& used) { used[0][2] = kNumberMax + 1; }));
  EXPECT_TRUE(is_sound_with<Millis>(0, [](Millis& now) { now = Millis(kNumberMax); }));
  EXPECT_FALSE(is_sound_with<Millis>(0, [](Millis& now) { now = Millis(kNumberMax + 1); }));
}

}  // namespace
}  // namespace ashlar
