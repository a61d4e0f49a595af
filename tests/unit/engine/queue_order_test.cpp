// The order in two levels: queues by their keys, jobs inside; and what a change of usage costs, counted by the keys
// computed and the jobs looked at.
#include <gtest/gtest.h>

#include <map>
#include <type_traits>
#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"
#include "engine/engine_fields.h"

namespace ashlar {
namespace {

constexpr DemandId kOneCore{30u};

Engine least_share_engine(Blocking blocking = Blocking::kSkip) {
  Profile profile = *builtin_profile("ashlar");
  profile.blocking = blocking;
  profile.queue_order = find_queue_order("least-share");
  return Engine(std::move(profile));
}

Workload in_queue(Workload w, std::uint32_t queue) {
  w.queue = QueueId(queue);
  return w;
}

void define_queue(State& state, std::uint32_t queue, std::uint32_t parent, std::int64_t gpus) {
  tell(state, QueueDefined{QueueId(queue), QueueId(parent), {1000 * gpus, kUnlimited, kUnlimited}}, state.now());
}

/// The queues of the jobs that start, in order.
std::vector<unsigned> queues_started(const State& state, const Plan& plan) {
  std::vector<unsigned> queues;
  for (const Action& action : plan.actions) queues.push_back(state.job(std::get<Bind>(action).job).queue.value);
  return queues;
}

TEST(QueueOrder, IsRenewedAfterEachStartInOneDecision) {
  State state = small_state(1);
  define_queue(state, 1, 0, 8);
  define_queue(state, 2, 0, 4);
  for (std::uint32_t j = 0; j < 8; ++j) tell(state, Submitted{in_queue(workload(j, j, 1, kOneDevice), 1)});
  for (std::uint32_t j = 8; j < 16; ++j) tell(state, Submitted{in_queue(workload(j, j, 1, kOneDevice), 2)});
  Engine engine = least_share_engine();
  EXPECT_EQ(queues_started(state, engine.decide(state, Millis(0))), (std::vector<unsigned>{1, 2, 1, 1, 2, 1, 1, 2}))
      << "shares of eighths and quarters; equal ones by the older job";
}

TEST(QueueOrder, ComparesSiblingsLevelByLevel) {
  State state = small_state(1);
  define_queue(state, 1, 0, 8);  // two organisations, the first with two teams
  define_queue(state, 2, 0, 8);
  define_queue(state, 3, 1, 8);
  define_queue(state, 4, 1, 8);
  std::uint32_t job = 0;
  for (const std::uint32_t queue : {3u, 3u, 3u, 4u, 4u, 4u, 2u, 2u, 2u, 2u, 2u}) {
    tell(state, Submitted{in_queue(workload(job, job, 1, kOneDevice), queue)});
    ++job;
  }
  Engine engine = least_share_engine();
  EXPECT_EQ(queues_started(state, engine.decide(state, Millis(0))), (std::vector<unsigned>{3, 2, 4, 2, 3, 2, 4, 2}))
      << "as siblings 3, 4 and 2 would have started 3, 3 and 2 jobs";
}

/// Hundreds of queues in organisations of ten, each with waiting jobs of four GPUs; a node without GPUs has cores. In
/// every queue a job of one core runs.
class ManyQueues : public testing::TestWithParam<Blocking> {
 protected:
  static constexpr std::uint32_t kOrgs = 30, kTeams = 10, kJobs = 10;

  ManyQueues() : state_(small_state(1)), engine_(least_share_engine(GetParam())) {
    NodeFacts cores;
    cores.allocatable = {1'000'000, std::int64_t{1} << 40, 0, 1000};
    tell(state_, NodeSeen{NodeId(1u), cores});
    tell(state_, DemandDefined{kOneCore, {.amounts = {{resource::kCpu, 1000}, {resource::kPods, 1}}}});
    std::uint32_t job = 0;
    for (std::uint32_t org = 1; org <= kOrgs; ++org) define_queue(state_, org, 0, 100);
    for (std::uint32_t team = kOrgs + 1; team <= kOrgs + kOrgs * kTeams; ++team) {
      define_queue(state_, team, 1 + team % kOrgs, 100);
      tell(state_, Submitted{in_queue(workload(job, job, 1, kOneCore), team)});
      tell(state_, Bound{MemberId(job), NodeId(1u), {}});
      running_[team] = JobId(job++);
      for (std::uint32_t j = 0; j < kJobs; ++j, ++job)
        tell(state_, Submitted{in_queue(workload(job, job, 1, kFourDevices), team)});
    }
    EXPECT_EQ(engine_.decide(state_, Millis(0)).actions.size(), 2u) << "eight GPUs";
    EXPECT_EQ(engine_.decide(state_, Millis(0)).examined, 0u);
  }

  State state_;
  Engine engine_;
  std::map<std::uint32_t, JobId> running_;
};

TEST_P(ManyQueues, AChangeOfUsageComputesOneKeyForEachLevelAndLooksAtNoJob) {
  const QueueKeys& keys = engine_.pending().queue_keys();
  for (const auto& [team, job] : running_) {
    const std::uint64_t before = keys.computed_count();
    tell(state_, Ended{job});
    EXPECT_EQ(engine_.decide(state_, Millis(0)).examined, 0u);
    EXPECT_EQ(keys.computed_count() - before, 3u) << "the team, its organisation, the root";
  }
  std::uint64_t before = keys.computed_count();
  for (const std::uint32_t team : {kOrgs + 1, 2 * kOrgs + 1}) {  // of the same organisation
    const auto head = engine_.pending().first_waiting(QueueId(team));
    ASSERT_NE(head, nullptr);
    tell(state_, Bound{MemberId(head->entry.job.value), NodeId(0u), {}});
  }
  engine_.decide(state_, Millis(0));
  EXPECT_EQ(keys.computed_count() - before, 4u) << "two teams, and what is above both once";
  before = keys.computed_count();
  tell(state_, NodeSeen{NodeId(1u), [&] {
                          NodeFacts facts = state_.cluster().facts(NodeId(1u));
                          facts.labels.push_back({LabelKeyId(5u), LabelId(5u)});
                          return facts;
                        }()});
  engine_.decide(state_, Millis(0));
  EXPECT_EQ(keys.computed_count(), before) << "the cluster has as much as before";
}

INSTANTIATE_TEST_SUITE_P(Blockings, ManyQueues, testing::Values(Blocking::kSkip, Blocking::kStrict, Blocking::kEasy));

TEST(QueueOrder, AnEngineThatComparesNoQueuesComputesNoKey) {
  State state = small_state(1);
  define_queue(state, 1, 0, 8);
  Engine engine(*builtin_profile("ashlar"));
  tell(state, Submitted{in_queue(workload(0, 0, 1, kOneDevice), 1)});
  EXPECT_EQ(engine.decide(state, Millis(0)).actions.size(), 1u);
  EXPECT_EQ(engine.pending().queue_keys().computed_count(), 0u);
}

/// A limit on one class counts what runs on its nodes: a node that is found to be of another class gives it back.
TEST(QueueOrder, FollowsTheClassOfNodes) {
  State state = small_state(1);
  tell(state, QueueDefined{QueueId(1u),
                           QueueId(0u),
                           {kUnlimited, kUnlimited, kUnlimited},
                           {{{ResourceId::none(), DeviceClassId(0u)}, 4'000}}});
  Engine engine = least_share_engine();
  tell(state, Submitted{in_queue(workload(0, 0, 1, kFourDevices), 1)});
  engine.decide(state, Millis(0));
  engine.decide(state, Millis(0));
  EXPECT_EQ(engine.pending().queue_keys().key(QueueId(1u)).major, 1'000'000'000) << "all of the limit";
  NodeDevices devices = eight_devices().devices;
  devices.device_class = DeviceClassId(1u);
  tell(state, NodeDevicesChanged{NodeId(0u), devices});
  engine.decide(state, Millis(0));
  EXPECT_EQ(engine.pending().queue_keys().key(QueueId(1u)).major, 500'000'000) << "half of the GPUs";
}

/// Half of a node is taken until 100 s by a queue of its own. A queue of a small share waits for the whole node; a job
/// of an hour of another is held for it.
class HeldByAShare : public testing::TestWithParam<std::int64_t> {};

TEST_P(HeldByAShare, JobsAreLookedAtWhenTheirQueuePassesTheHoldersQueue) {
  State state = small_state(1);
  const DemandId whole{20u};
  tell(state, DemandDefined{whole, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
  tell(state, DemandDefined{kOneCore, {.amounts = {{resource::kCpu, 1000}, {resource::kPods, 1}}}});
  for (const std::uint32_t queue : {1u, 2u, 3u})
    tell(state, QueueDefined{QueueId(queue), QueueId(0u), {GetParam(), kUnlimited, kUnlimited}});
  const auto submit = [&](std::uint32_t job, std::uint32_t queue, DemandId demand, Millis duration) {
    Workload w = in_queue(workload(job, job, 1, demand), queue);
    w.estimate = {duration, duration};
    tell(state, Submitted{w});
  };
  submit(0, 1, kFourDevices, Millis(100'000));
  tell(state, Bound{MemberId(0u), NodeId(0u), devices(0x0f)});
  submit(1, 3, kOneCore, Millis(1'000'000));  // the share of 3 is larger than that of 2
  tell(state, Bound{MemberId(1u), NodeId(0u), {}});
  submit(2, 2, whole, Millis(50'000));
  submit(3, 3, kOneDevice, Millis(3'600'000));
  Engine engine = least_share_engine(Blocking::kEasy);
  EXPECT_TRUE(engine.decide(state, Millis(0)).actions.empty());
  ASSERT_EQ(engine.pending().held_classes().size(), 1u);
  submit(4, 2, kOneCore, Millis(1'000'000));
  submit(5, 2, kOneCore, Millis(1'000'000));
  const Plan plan = engine.decide(state, Millis(0));  // 2 now uses more than 3
  std::vector<unsigned> jobs;
  for (const Action& action : plan.actions) jobs.push_back(std::get<Bind>(action).job.value);
  EXPECT_EQ(jobs, (std::vector<unsigned>{4, 5, 3}));
  EXPECT_TRUE(engine.pending().held_classes().empty());
}

// Without limits only the order of queues says that something has changed.
INSTANTIATE_TEST_SUITE_P(Limits, HeldByAShare, testing::Values(8'000, kUnlimited));

TEST(QueueOrder, IsThereAfterTheEngineWasReadBackThoughNothingHasChanged) {
  State state = small_state(1);
  const DemandId whole{20u};
  tell(state, DemandDefined{whole, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
  for (const std::uint32_t queue : {1u, 2u}) define_queue(state, queue, 0, 16);
  tell(state, Submitted{in_queue(workload(0, 0, 1, kFourDevices), 1)});
  tell(state, Bound{MemberId(0u), NodeId(0u), devices(0x0f)});
  tell(state, Submitted{in_queue(workload(1, 1, 1, whole), 1)});
  tell(state, Submitted{in_queue(workload(2, 2, 1, whole), 2)});
  Engine engine = least_share_engine(Blocking::kEasy), read_back = least_share_engine(Blocking::kEasy);
  EXPECT_TRUE(engine.decide(state, Millis(0)).actions.empty());
  std::vector<const void*> fields;
  EngineFields::each(engine, [&](auto& field) { fields.push_back(&field); });
  std::size_t at = 0;
  EngineFields::each(read_back, [&](auto& field) {
    field = *static_cast<const std::remove_reference_t<decltype(field)>*>(fields[at++]);
  });
  EngineFields::rebuild(read_back);
  EXPECT_EQ(read_back.decide(state, Millis(0)).examined, 0u);
  std::vector<unsigned> jobs;
  read_back.pending().each_first_head([&](const PendingQueue::Head& head) {
    jobs.push_back(head.entry.job.value);
    return true;
  });
  EXPECT_EQ(jobs, (std::vector<unsigned>{2, 1})) << "the younger one, whose queue uses nothing";
}

}  // namespace
}  // namespace ashlar
