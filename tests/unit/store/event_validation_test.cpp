// Which events of a file may be applied: the last one that may, the first that may not, and what is said of it.
#include "store/event_validation.h"

#include <gtest/gtest.h>

#include "state/state.h"
#include "store/fields.h"

namespace ashlar::store {
namespace {

constexpr std::uint32_t kLeap = 1u << 22;
constexpr std::int32_t kDevices = kDevicesPerNodeMax;

/// Two nested levels and a free-standing one; one row of each kind, job 0 running on node 0 with demand 0 and
/// constraint 0.
struct Guarded : ::testing::Test {
  State state;
  Guarded() {
    tell(LevelsDefined{2, 1});
    tell(DemandDefined{DemandId(0), {{{resource::kCpu, 100}}, {}, {}}});
    tell(ConstraintDefined{ConstraintId(0), {}});
    tell(NodeSeen{NodeId(0), {{1000}, {}, true, {}, {}, {}}});
    Workload job = workload(0);
    job.members = {{MemberId(0), DemandId(0), ConstraintId(0)}};
    tell(Submitted{job});
  }
  static Workload workload(std::uint32_t row) {
    Workload w;
    w.job = JobId(row);
    w.submitted = Millis(0);
    return w;
  }
  template <class Body>
  void tell(Body body) {
    apply(state, {Millis(0), std::move(body)});
  }
  template <class Body>
  std::string refusal(Body body) const {
    const char* why = refusal_of(state, {Millis(0), std::move(body)});
    return why == nullptr ? "" : why;
  }
  std::string refusal_of_node(const std::function<void(NodeFacts&)>& change) const {
    NodeSeen seen{NodeId(0), {}};
    change(seen.facts);
    return refusal(seen);
  }
  std::string refusal_of_job(const std::function<void(Workload&)>& change) const {
    Workload w = workload(1);
    change(w);
    return refusal(Submitted{w});
  }
  std::string refusal_of_ask(DeviceRequest ask) const { return refusal(DemandDefined{DemandId(1), {{}, ask, {}}}); }
  std::string refusal_of_amount(ResourceAmount amount) const {
    return refusal(DemandDefined{DemandId(1), {{{resource::kCpu, 1}, amount}, {}, {}}});
  }
  std::string refusal_of_weight(std::int32_t weight) const {
    Constraint constraint;
    constraint.preferred = {{1, {}}, {weight, {}}};
    return refusal(ConstraintDefined{ConstraintId(1), constraint});
  }
};

TEST_F(Guarded, times_are_amounts) {
  const auto at = [&](std::int64_t t) {
    const char* why = refusal_of(state, {Millis(t), Tick{}});
    return std::string(why == nullptr ? "" : why);
  };
  EXPECT_EQ(at(0), "");
  EXPECT_EQ(at(kNumberMax), "");
  for (const std::int64_t t : {std::int64_t{-1}, kNumberMax + 1, INT64_MAX, INT64_MIN})
    EXPECT_EQ(at(t), "its time is impossible") << t;
}

TEST_F(Guarded, levels_only_grow) {
  EXPECT_EQ(refusal(LevelsDefined{2, 1}), "");
  EXPECT_EQ(refusal(LevelsDefined{2, 14}), "");
  EXPECT_EQ(refusal(LevelsDefined{2, 15}), "more levels than allowed");
  EXPECT_EQ(refusal(LevelsDefined{17, 0}), "more levels than allowed");
  EXPECT_EQ(refusal(LevelsDefined{17, UINT32_MAX}), "more levels than allowed");
  EXPECT_EQ(refusal(LevelsDefined{3, 1}), "the nested levels change");
  EXPECT_EQ(refusal(LevelsDefined{2, 0}), "levels are removed");
  EXPECT_EQ(refusal_of(State(), {Millis(0), LevelsDefined{16, 0}}), nullptr);
}

TEST_F(Guarded, demands_are_possible_and_stay_while_used) {
  EXPECT_EQ(refusal(DemandDefined{DemandId(1 + kLeap - 1), {}}), "");
  EXPECT_EQ(refusal(DemandDefined{DemandId(1 + kLeap), {}}), "a demand's row is out of bounds");
  EXPECT_EQ(refusal(DemandDefined{DemandId::none(), {}}), "a demand's row is out of bounds");
  EXPECT_EQ(refusal(DemandDefined{DemandId(0), state.demand(DemandId(0))}), "");
  EXPECT_EQ(refusal(DemandDefined{DemandId(0), {}}), "a demand in use is redefined");
  EXPECT_EQ(refusal_of_ask({0, MilliGpu(0), MiB(0)}), "");
  EXPECT_EQ(refusal_of_ask({kDevices, MilliGpu(kWholeDevice), MiB(std::int64_t{1} << 40)}), "");
  const std::string devices = "a demand requests an impossible number of GPUs";
  EXPECT_EQ(refusal_of_ask({-1, MilliGpu(0), MiB(0)}), devices);
  EXPECT_EQ(refusal_of_ask({kDevices + 1, MilliGpu(0), MiB(0)}), devices);
  EXPECT_EQ(refusal_of_ask({1, MilliGpu(0), MiB(0)}), devices);
  EXPECT_EQ(refusal_of_ask({1, MilliGpu(-1), MiB(0)}), devices);
  EXPECT_EQ(refusal_of_ask({1, MilliGpu(kWholeDevice + 1), MiB(0)}), devices);
  EXPECT_EQ(refusal_of_ask({1, MilliGpu(1), MiB(-1)}), "a demand requests an impossible GPU memory");
  EXPECT_EQ(refusal_of_ask({1, MilliGpu(1), MiB((std::int64_t{1} << 40) + 1)}),
            "a demand requests an impossible GPU memory");
  const std::string amount = "a demand names a resource or an amount out of bounds";
  EXPECT_EQ(refusal_of_amount({ResourceId(resource::kRowsMax - 1), INT64_MAX}), "");
  EXPECT_EQ(refusal_of_amount({ResourceId(1), 0}), amount) << "how many fit is found by division";
  EXPECT_EQ(refusal_of_amount({ResourceId(1), -1}), amount);
  EXPECT_EQ(refusal_of_amount({ResourceId(resource::kRowsMax), 1}), amount);
}

TEST_F(Guarded, constraints_are_possible_and_stay_while_used) {
  Constraint other;
  other.models = {DeviceClassId(1)};
  EXPECT_EQ(refusal(ConstraintDefined{ConstraintId(0), {}}), "");
  EXPECT_EQ(refusal(ConstraintDefined{ConstraintId(0), other}), "a constraint in use is redefined");
  EXPECT_EQ(refusal(ConstraintDefined{ConstraintId(1), other}), "");
  EXPECT_EQ(refusal(ConstraintDefined{ConstraintId(kLeap), other}), "");
  EXPECT_EQ(refusal(ConstraintDefined{ConstraintId(1 + kLeap), other}), "a constraint's row is out of bounds");
  for (const std::int32_t weight : {-1'000'000, 0, 1'000'000}) EXPECT_EQ(refusal_of_weight(weight), "");
  for (const std::int32_t weight : {-1'000'001, 1'000'001})
    EXPECT_EQ(refusal_of_weight(weight), "a preference's weight is out of bounds") << weight;
  EXPECT_EQ(refusal(ConstraintChanged{MemberId(0), ConstraintId(0)}), "");
  EXPECT_EQ(refusal(ConstraintChanged{MemberId(0), ConstraintId(1)}), "a constraint that was never defined");
}

TEST_F(Guarded, label_sets_and_pod_selectors_are_ordered_and_stay_while_used) {
  const LabelSet set{NamespaceId(0), {{LabelKeyId(1), LabelId(2)}, {LabelKeyId(3), LabelId(4)}}};
  LabelSet twice = set, far = set;
  twice.labels[1].key = LabelKeyId(1);
  far.labels[1].id = LabelId(kLabelRowsMax);
  EXPECT_EQ(refusal(LabelSetDefined{LabelSetId(0), set}), "");
  EXPECT_EQ(refusal(LabelSetDefined{LabelSetId(kLeap), set}), "a label set's row is out of bounds");
  for (const LabelSet& bad : {twice, far})
    EXPECT_EQ(refusal(LabelSetDefined{LabelSetId(0), bad}), "a label set is out of order or out of bounds");
  PodSelector selector{.namespaces = {NamespaceId(0), NamespaceId(1)}, .of_namespace = {}, .all = {}};
  EXPECT_EQ(refusal(PodSelectorDefined{PodSelectorId(0), selector}), "");
  EXPECT_EQ(refusal(PodSelectorDefined{PodSelectorId(kLeap), selector}), "a pod selector's row is out of bounds");
  std::swap(selector.namespaces[0], selector.namespaces[1]);
  EXPECT_EQ(refusal(PodSelectorDefined{PodSelectorId(0), selector}), "a pod selector is out of order or out of bounds");
  EXPECT_EQ(refusal(NamespaceSeen{NamespaceId(0), {true, set.labels}}), "");
  EXPECT_EQ(refusal(NamespaceSeen{NamespaceId(kLeap), {}}), "a namespace's row is out of bounds");
  EXPECT_EQ(refusal(NamespaceSeen{NamespaceId(0), {true, twice.labels}}),
            "a namespace's labels are out of order or out of bounds");
  Constraint seen, loner;
  seen.seen_as = LabelSetId(0);
  loner.keeps_away = {{PodSelectorId(0), LabelKeyId(1)}};
  EXPECT_EQ(refusal(ConstraintDefined{ConstraintId(1), seen}), "a constraint names labels that were never defined");
  EXPECT_EQ(refusal(ConstraintDefined{ConstraintId(1), loner}),
            "a constraint names a pod selector that was never defined");
  EXPECT_EQ(refusal_of_job([](Workload& w) {
              w.members = {{MemberId(1), DemandId(0), ConstraintId(0), LabelSetId(0)}};
            }),
            "a label set that was never defined");
  tell(LabelSetDefined{LabelSetId(0), set});
  tell(PodSelectorDefined{PodSelectorId(0), {{NamespaceId(0)}, false, {}, {}}});
  for (const Constraint& c : {seen, loner}) {
    EXPECT_EQ(refusal(ConstraintDefined{ConstraintId(1), c}), "");
    tell(ConstraintDefined{ConstraintId(c.seen_as.is_none() ? 1 : 2), c});
  }
  EXPECT_EQ(refusal(LabelSetDefined{LabelSetId(0), {}}), "a label set in use is redefined");
  EXPECT_EQ(refusal(PodSelectorDefined{PodSelectorId(0), {}}), "a pod selector in use is redefined");
}

TEST_F(Guarded, images_have_rows_and_sizes_that_can_be) {
  EXPECT_EQ(refusal(ImageSeen{ImageId(0), Images::kBytesMax, {NodeId(3)}, {NodeId(4)}}), "");
  EXPECT_EQ(refusal(ImageSeen{ImageId(kLeap), 1, {}, {}}), "an image's row is out of bounds");
  for (const std::int64_t bytes : {std::int64_t{-1}, Images::kBytesMax + 1})
    EXPECT_EQ(refusal(ImageSeen{ImageId(0), bytes, {}, {}}), "an image's size is impossible");
  EXPECT_EQ(refusal(ImageSeen{ImageId(0), 1, {NodeId(1 + kLeap)}, {}}),
            "the row of a node with an image is out of bounds");
  EXPECT_EQ(refusal(ImageSeen{ImageId(0), 1, {}, {NodeId::none()}}),
            "the row of a node with an image is out of bounds");
  Constraint c;
  c.images = {{ImageId(0)}, 1};
  EXPECT_EQ(refusal(ConstraintDefined{ConstraintId(1), c}), "");
  const ContainerImages impossible[] = {
      {{ImageId(0)}, 0}, {{ImageId(kLeap)}, 1}, {{ImageId(0)}, ContainerImages::kCountMax + 1}};
  for (const ContainerImages& images : impossible) {
    c.images = images;
    EXPECT_EQ(refusal(ConstraintDefined{ConstraintId(1), c}), "a constraint's images are out of bounds");
  }
}

TEST_F(Guarded, jobs_name_groups_that_are_defined_and_members_groups_that_their_job_has) {
  const GangSpec two{{{1, {}, {}}, {1, LevelId(2), LevelId(0)}}};
  const auto with_group = [](std::uint32_t group) {
    return [group](Workload& w) {
      w.spec = GangSpecId(0);
      w.members = {{.member = MemberId(1), .demand = DemandId(0), .constraint = ConstraintId(0), .group = group}};
    };
  };
  EXPECT_EQ(refusal_of_job(with_group(0)), "a job's groups were never defined");
  EXPECT_EQ(refusal(GangSpecDefined{GangSpecId(kLeap - 1), two}), "");
  EXPECT_EQ(refusal(GangSpecDefined{GangSpecId(kLeap), two}), "a gang's groups have a row out of bounds");
  GangSpec many{std::vector<GangGroup>(GangSpec::kGroupsMax, {GangSpec::kMinimumMax, {}, {}})};
  EXPECT_EQ(refusal(GangSpecDefined{GangSpecId(0), many}), "a gang has an impossible minimum") << "2^32 in all";
  many.groups[1].members_min -= 1;
  EXPECT_EQ(refusal(GangSpecDefined{GangSpecId(0), many}), "");
  many.groups[0].members_min = GangSpec::kMinimumMax + 1;
  EXPECT_EQ(refusal(GangSpecDefined{GangSpecId(0), many}), "a group has an impossible minimum");
  many.groups.resize(GangSpec::kGroupsMax + 1);
  EXPECT_EQ(refusal(GangSpecDefined{GangSpecId(0), many}), "a gang has more groups than allowed");
  tell(GangSpecDefined{GangSpecId(0), {}});
  EXPECT_EQ(refusal_of_job(with_group(0)), "a job's groups were never defined");
  tell(GangSpecDefined{GangSpecId(0), {{{1, LevelId(3), {}}}}});
  EXPECT_EQ(refusal_of_job(with_group(0)), "a job's group names a level that does not exist");
  tell(GangSpecDefined{GangSpecId(0), two});
  EXPECT_EQ(refusal_of_job(with_group(1)), "");
  EXPECT_EQ(refusal_of_job(with_group(2)), "a member is of a group that its job does not have");
  Workload w = workload(1);
  with_group(1)(w);
  tell(Submitted{w});
  EXPECT_EQ(refusal(GangSpecDefined{GangSpecId(0), two}), "");
  EXPECT_EQ(refusal(GangSpecDefined{GangSpecId(0), {}}), "groups in use are redefined");
  const auto added = [&](std::uint32_t job, std::uint32_t group) {
    return refusal(
        MembersAdded{JobId(job),
                     1,
                     {{.member = MemberId(5), .demand = DemandId(0), .constraint = ConstraintId(0), .group = group}}});
  };
  EXPECT_EQ(added(1, 1), "");
  EXPECT_EQ(added(1, 2), "a member is of a group that its job does not have");
  EXPECT_EQ(added(0, 0), "");
  EXPECT_EQ(added(0, 1), "a member is of a group that its job does not have");
  EXPECT_EQ(added(7, 1), "") << "of a job that has ended meanwhile";
}

TEST_F(Guarded, times_that_are_left_or_expected_may_be_unknown) {
  for (const Millis t : {Millis(0), Millis(kNumberMax), Millis::max()}) {
    EXPECT_EQ(refusal(Evicted{JobId(0), t}), "");
    EXPECT_EQ(refusal(EstimateChanged{JobId(0), {t, t}}), "");
    EXPECT_EQ(refusal(CheckpointSaved{JobId(0), t}), "");
  }
  for (const Millis t : {Millis(-1), Millis(kNumberMax + 1)}) {
    EXPECT_EQ(refusal(Evicted{JobId(0), t}), "a remaining time is impossible");
    EXPECT_EQ(refusal(EstimateChanged{JobId(0), {t, Millis(1)}}), "an estimate is impossible");
    if (t.value > 0 || t.value < -kNumberMax) {
      EXPECT_EQ(refusal(CheckpointSaved{JobId(0), t}), "the time of a checkpoint is impossible");
    }
    EXPECT_EQ(refusal(EstimateChanged{JobId(0), {Millis(1), t}}), "an estimate is impossible");
  }
}

TEST_F(Guarded, queues_and_nodes_are_near_the_rows_there_are) {
  const auto queues = static_cast<std::uint32_t>(state.queues().rows());
  EXPECT_EQ(refusal(QueueDefined{QueueId(queues + kLeap - 1), QueueId(0), {}}), "");
  EXPECT_EQ(refusal(QueueDefined{QueueId(queues + kLeap), QueueId(0), {}}), "a queue's row is out of bounds");
  EXPECT_EQ(refusal(NodeSeen{NodeId(kLeap), {}}), "");
  EXPECT_EQ(refusal(NodeSeen{NodeId(1 + kLeap), {}}), "a node's row is out of bounds");
  EXPECT_EQ(refusal(NodeSeen{NodeId::none(), {}}), "a node's row is out of bounds");
}

TEST_F(Guarded, what_queues_share_is_possible) {
  const auto with = [&](const QuotaShare& share) {
    return refusal(QueueDefined{QueueId(1), QueueId(0), {}, {}, {share}});
  };
  const auto ranked = [&](std::int64_t weight) {
    return refusal(QueueDefined{QueueId(1), QueueId(0), {}, {}, {}, {weight, 0}});
  };
  const auto used = [&](const QueueUsage& usage) {
    return refusal(QueueDefined{QueueId(1), QueueId(0), {}, {}, {}, {}, {}, {usage}});
  };
  const auto with_rules = [&](const StopRules& rules) {
    return refusal(QueueDefined{QueueId(1), QueueId(0), {}, {}, {}, {}, {}, {}, rules});
  };
  EXPECT_EQ(with_rules({.protected_from_own = StopRules::kAsAbove, .protected_from_others = Millis(0)}), "");
  EXPECT_EQ(with_rules({.protected_from_own = StopRules::kProtectedMax}), "");
  for (const Millis time : {Millis(-2), StopRules::kProtectedMax + Millis(1)})
    EXPECT_EQ(with_rules({.protected_from_others = time}),
              "the time for which a queue's jobs are protected is impossible");
  const auto drained = [&](Millis since) {
    return refusal(QueueDefined{QueueId(1), QueueId(0), {}, {}, {}, {}, {QueueGate::Is::kDraining, since}});
  };
  EXPECT_EQ(drained(Millis(-7)), "");
  EXPECT_EQ(drained(Millis::max()), "the time since when a queue drains is impossible");
  const QuotaKey beyond{ResourceId(resource::kRowsMax), DeviceClassId::none()};
  EXPECT_EQ(with({.of = quota_key(0), .guarantee = 0, .borrows = 0, .lends = 0}), "");
  EXPECT_EQ(with({.of = quota_key(0), .guarantee = -2}), "a queue's guarantee is impossible");
  EXPECT_EQ(with({.of = quota_key(0), .borrows = -1}), "a queue's guarantee is impossible");
  EXPECT_EQ(with({.of = quota_key(0), .lends = INT64_MAX - 1}), "a queue's guarantee is impossible");
  EXPECT_EQ(with({.of = beyond}), "a queue's guarantee names a resource or a model out of bounds");
  EXPECT_EQ(ranked(1), "");
  EXPECT_EQ(ranked(0), "a queue's weight is impossible");
  EXPECT_EQ(ranked(QueueRank::kWeightMax + 1), "a queue's weight is impossible");
  EXPECT_EQ(used({quota_key(0), QueueUsage::kAmountMax}), "");
  EXPECT_EQ(used({quota_key(0), -1}), "a queue's usage is impossible");
  EXPECT_EQ(used({quota_key(0), QueueUsage::kAmountMax + 1}), "a queue's usage is impossible");
  EXPECT_EQ(used({beyond, 1}), "a queue's usage names a resource or a model out of bounds");
}

TEST_F(Guarded, facts_of_a_node_are_possible) {
  EXPECT_EQ(refusal_of_node([](NodeFacts& f) {
              f.devices.count = kDevices;
              f.allocatable.assign(resource::kColumnsMax, kNumberMax);
              f.devices.memory_each = MiB(std::int64_t{1} << 40);
              f.devices.device_class = DeviceClassId(kLeap - 1);
              f.domains = {DomainId::none(), DomainId(kLeap - 1)};
            }),
            "");
  for (const std::int32_t devices : {-1, kDevices + 1})
    EXPECT_EQ(refusal_of_node([&](NodeFacts& f) { f.devices.count = devices; }),
              "a node has an impossible number of GPUs");
  EXPECT_EQ(refusal_of_node([](NodeFacts& f) { f.allocatable.assign(resource::kColumnsMax + 1, 0); }),
            "a node has more resources than allowed");
  for (const std::int64_t amount : {std::int64_t{-1}, kNumberMax + 1})
    EXPECT_EQ(refusal_of_node([&](NodeFacts& f) {
                f.allocatable = {1, amount};
              }),
              "a node has an impossible amount of a resource");
  for (const std::int64_t memory : {std::int64_t{-1}, (std::int64_t{1} << 40) + 1})
    EXPECT_EQ(refusal_of_node([&](NodeFacts& f) { f.devices.memory_each = MiB(memory); }),
              "a node has an impossible GPU memory");
  EXPECT_EQ(refusal_of_node([](NodeFacts& f) { f.devices.device_class = DeviceClassId(kLeap); }),
            "a node's model is out of bounds");
  EXPECT_EQ(refusal_of_node([](NodeFacts& f) {
              f.domains = {DomainId(0), DomainId(kLeap)};
            }),
            "a node's domain is out of bounds");
  EXPECT_EQ(refusal_of_node([](NodeFacts& f) { f.domains.assign(4, DomainId::none()); }),
            "a node is in a domain of a level that does not exist");
}

TEST_F(Guarded, changes_of_a_node_are_possible) {
  const auto of_capacity = [&](std::vector<std::int64_t> allocatable) {
    return refusal(NodeCapacityChanged{NodeId(0), std::move(allocatable)});
  };
  EXPECT_EQ(of_capacity({0, kNumberMax}), "");
  EXPECT_EQ(of_capacity({1, -1}), "a node has an impossible amount of a resource");
  EXPECT_EQ(of_capacity(std::vector<std::int64_t>(resource::kColumnsMax + 1)),
            "a node has more resources than allowed");
  const auto of_devices = [&](std::int32_t count, std::int64_t memory, DeviceClassId device_class) {
    return refusal(NodeDevicesChanged{NodeId(0), {count, MiB(memory), device_class}});
  };
  EXPECT_EQ(of_devices(kDevices, 40'000, DeviceClassId(1)), "");
  EXPECT_EQ(of_devices(kDevices + 1, 0, DeviceClassId::none()), "a node has an impossible number of GPUs");
  EXPECT_EQ(of_devices(1, -1, DeviceClassId::none()), "a node has an impossible GPU memory");
  EXPECT_EQ(of_devices(1, 0, DeviceClassId(kLeap)), "a node's model is out of bounds");
}

TEST_F(Guarded, layouts_are_possible_and_nodes_agree_with_them) {
  const DeviceLayout unlike{{{.device_class = DeviceClassId(0)}, {.device_class = DeviceClassId(1)}}};
  const auto of_layout = [&](std::uint32_t id, const DeviceLayout& layout) {
    return refusal(DeviceLayoutDefined{DeviceLayoutId(id), layout});
  };
  EXPECT_EQ(of_layout(0, unlike), "");
  EXPECT_EQ(of_layout(kLeap, unlike), "a layout's row is out of bounds");
  EXPECT_EQ(of_layout(0, {std::vector<DeviceFacts>(kDevices + 1)}), "a layout has an impossible number of GPUs");
  EXPECT_EQ(of_layout(0, {{{.device_class = DeviceClassId(kLeap)}}}), "a layout has an impossible GPU");
  EXPECT_EQ(of_layout(0, {{{.device_class = {}, .memory = MiB(-1)}}}), "a layout has an impossible GPU");
  const auto of_node = [&](const NodeDevices& devices) { return refusal(NodeDevicesChanged{NodeId(0), devices}); };
  const NodeDevices two = devices_with(DeviceLayoutId(0), unlike);
  EXPECT_EQ(of_node(two), "a node's GPUs are not those of its layout") << "it is not defined";
  tell(DeviceLayoutDefined{DeviceLayoutId(0), unlike});
  EXPECT_EQ(of_node(two), "");
  NodeDevices more = two;
  more.count = 3;
  EXPECT_EQ(of_node(more), "a node's GPUs are not those of its layout");
  NodeDevices other = two;
  other.device_class = DeviceClassId(1);
  EXPECT_EQ(of_node(other), "a node's GPUs are not those of its layout");
  tell(NodeDevicesChanged{NodeId(0), two});
  EXPECT_EQ(of_layout(0, unlike), "");
  EXPECT_EQ(of_layout(0, {}), "a layout in use is redefined");
}

TEST_F(Guarded, classes_and_capabilities_are_possible) {
  const auto of_class = [&](std::uint32_t id, const DeviceClass& device_class) {
    return refusal(DeviceClassDefined{DeviceClassId(id), device_class});
  };
  const std::string models = "a device class lists impossible models";
  const std::string order = "a device class's capabilities are out of order or bounds";
  EXPECT_EQ(of_class(0, {{DeviceModelId(0)}, {CapabilityId(0), CapabilityId(kLeap - 1)}}), "");
  EXPECT_EQ(of_class(kLeap, {}), "a device class's row is out of bounds");
  EXPECT_EQ(of_class(0, {{DeviceModelId::none()}, {}}), models);
  EXPECT_EQ(of_class(0, {std::vector<DeviceModelId>(DeviceClass::kNamesMax, DeviceModelId(1)), {}}), "");
  EXPECT_EQ(of_class(0, {std::vector<DeviceModelId>(DeviceClass::kNamesMax + 1, DeviceModelId(1)), {}}), models);
  EXPECT_EQ(of_class(0, {{}, {CapabilityId(1), CapabilityId(1)}}), order);
  EXPECT_EQ(of_class(0, {{}, {CapabilityId(1), CapabilityId(0)}}), order);
  EXPECT_EQ(of_class(0, {{}, {CapabilityId::none()}}), order);
  EXPECT_EQ(of_class(0, {{}, {CapabilityId(kLeap)}}), order);
  const auto of_constraint = [&](std::vector<CapabilityId> capabilities) {
    return refusal(ConstraintDefined{ConstraintId(1), {.capabilities = std::move(capabilities)}});
  };
  EXPECT_EQ(of_constraint({CapabilityId(0), CapabilityId(2)}), "");
  EXPECT_EQ(of_constraint({CapabilityId(2), CapabilityId(0)}),
            "a constraint's capabilities are out of order or bounds");
}

TEST_F(Guarded, jobs_are_possible) {
  const auto queues = static_cast<std::uint32_t>(state.queues().rows());
  EXPECT_EQ(refusal_of_job([](Workload&) {}), "");
  EXPECT_EQ(refusal_of_job([](Workload& w) { w.job = JobId(kLeap); }), "");
  EXPECT_EQ(refusal_of_job([](Workload& w) { w.job = JobId(1 + kLeap); }), "a job's row is out of bounds");
  EXPECT_EQ(refusal_of_job([&](Workload& w) { w.queue = QueueId(queues + kLeap); }), "a job's queue is out of bounds");
  const std::string times = "a job's times are impossible";
  EXPECT_EQ(refusal_of_job([](Workload& w) { w.submitted = Millis(-kNumberMax - 1); }), times);
  EXPECT_EQ(refusal_of_job([](Workload& w) { w.submitted = w.runs_since = w.saved_at = Millis(-kNumberMax); }), "");
  EXPECT_EQ(refusal_of_job([](Workload& w) { w.submitted = Millis::max(); }), times);
  EXPECT_EQ(refusal_of_job([](Workload& w) { w.estimate.p50 = Millis(-1); }), times);
  EXPECT_EQ(refusal_of_job([](Workload& w) { w.estimate.p90 = Millis(-1); }), times);
  for (const std::int64_t rank : {kNumberMax, -kNumberMax - 1})
    EXPECT_EQ(refusal_of_job([&](Workload& w) { w.order_hint = rank; }), "") << rank;
  for (const std::int64_t rank : {kNumberMax + 1, -kNumberMax - 2, INT64_MAX, INT64_MIN})
    EXPECT_EQ(refusal_of_job([&](Workload& w) { w.order_hint = rank; }), times) << rank;
  const std::string stop = "what a job says about being stopped is impossible";
  for (Millis Workload::*since : {&Workload::runs_since, &Workload::saved_at}) {
    EXPECT_EQ(refusal_of_job([&](Workload& w) { w.*since = Millis(-kNumberMax - 1); }), stop);
    EXPECT_EQ(refusal_of_job([&](Workload& w) { w.*since = Millis(kNumberMax + 1); }), stop);
  }
  for (Millis StopTerms::*time : {&StopTerms::protected_for, &StopTerms::restart}) {
    EXPECT_EQ(refusal_of_job([&](Workload& w) { w.stopping.*time = StopTerms::kTimeMax; }), "");
    EXPECT_EQ(refusal_of_job([&](Workload& w) { w.stopping.*time = StopTerms::kTimeMax + Millis(1); }), stop);
    EXPECT_EQ(refusal_of_job([&](Workload& w) { w.stopping.*time = Millis(-1); }), stop);
  }
  for (LevelId Workload::*level : {&Workload::within, &Workload::prefer}) {
    EXPECT_EQ(refusal_of_job([&](Workload& w) { w.*level = LevelId(2); }), "");
    EXPECT_EQ(refusal_of_job([&](Workload& w) { w.*level = LevelId(3); }), "a job names a level that does not exist");
  }
}

TEST_F(Guarded, members_name_what_was_defined) {
  const auto both = [&](MemberSpec m) {
    const MemberSpec good{MemberId(1), DemandId(0), ConstraintId(0)};
    const std::string submitted = refusal_of_job([&](Workload& w) { w.members = {good, m}; });
    EXPECT_EQ(refusal(MembersAdded{JobId(0), 1, {good, m}}), submitted);
    return submitted;
  };
  EXPECT_EQ(both({MemberId(kLeap), DemandId(0), ConstraintId(0)}), "");
  EXPECT_EQ(both({MemberId(1 + kLeap), DemandId(0), ConstraintId(0)}), "a member's row is out of bounds");
  EXPECT_EQ(both({MemberId(2), DemandId(1), ConstraintId(0)}), "a demand that was never defined");
  EXPECT_EQ(both({MemberId(2), DemandId(0), ConstraintId(1)}), "a constraint that was never defined");
}

TEST_F(Guarded, an_endless_demand_is_never_placed) {
  tell(DemandDefined{DemandId(1), {{{resource::kCpu, 1}, {resource::kMemory, INT64_MAX}}, {}, {}}});
  Workload endless = workload(1);
  endless.members = {{MemberId(1), DemandId(1), ConstraintId(0)}};
  tell(Submitted{endless});
  EXPECT_EQ(refusal(Bound{MemberId(0), NodeId(0), {}}), "");
  EXPECT_EQ(refusal(Bound{MemberId(1), NodeId(0), {}}), "an unsatisfiable demand is placed");
  EXPECT_EQ(refusal(Nominated{MemberId(1), NodeId(0), 0}), "an unsatisfiable demand is placed");
  EXPECT_EQ(refusal(Bound{MemberId(2), NodeId(0), {}}), "") << "of nobody: applied to nothing";
  const MemberSpec spec = endless.members[0];
  EXPECT_EQ(refusal(HoldPlaced{{JobId(5), Millis(9), {{spec, NodeId(0), {}}}}}), "an unsatisfiable demand is placed");
}

TEST_F(Guarded, grants_are_of_the_devices_that_are_bound_and_can_be) {
  const auto bound = [&](std::uint64_t devices, DeviceGrants grants) {
    return refusal(Bound{MemberId(0), NodeId(0), {devices, 0}, std::move(grants)});
  };
  const std::string other = "a member is granted other GPUs than it is bound to";
  EXPECT_EQ(bound(5, {{0, {MilliGpu(1)}}, {2, {MilliGpu(1000), 7, MiB(5)}}}), "");
  EXPECT_EQ(bound(1, {{0, {MilliGpu(1)}}, {2, {MilliGpu(1)}}}), other);
  EXPECT_EQ(bound(5, {{2, {MilliGpu(1)}}, {0, {MilliGpu(1)}}}), other);
  EXPECT_EQ(bound(1, {{0, {MilliGpu(1)}}, {0, {MilliGpu(1)}}}), other);
  EXPECT_EQ(bound(1, {{0, {}}}), other) << "nothing is held of it";
  EXPECT_EQ(bound(1, {{0, {MilliGpu(0), 1, MiB(5)}}}), other) << "slices are counted by thousandths";
  EXPECT_EQ(bound(1, {{0, {MilliGpu(0), 0, MiB(5)}}}), "");
  EXPECT_EQ(bound(1, {{0, {MilliGpu(1001)}}}), other);
  EXPECT_EQ(bound(1, {{0, {MilliGpu(-1)}}}), other);
  EXPECT_EQ(bound(1, {{0, {MilliGpu(1), 0, MiB(-1)}}}), other);
  EXPECT_EQ(bound(1, {{0, {MilliGpu(1), 0, MiB(INT64_MAX)}}}), other);
  EXPECT_EQ(bound(0, {{128, {MilliGpu(1)}}}), other);
  EXPECT_EQ(bound(0, {{-1, {MilliGpu(1)}}}), other);
}

TEST_F(Guarded, holds_name_rows_within_bounds_and_what_was_defined) {
  EXPECT_EQ(refusal(HoldPlaced{}), "a hold's row is out of bounds");
  EXPECT_EQ(refusal(HoldPlaced{{.job = JobId(5), .parts = {}}}), "") << "without an end";
  EXPECT_EQ(refusal(HoldPlaced{{JobId(5), Millis(-1), {}}}), "a hold's end is impossible");
  const HoldPart part{{MemberId(7), DemandId(0), ConstraintId(0)}, NodeId(0), {}};
  EXPECT_EQ(refusal(HoldPlaced{{JobId(5), Millis(9), {part}}}), "");
  HoldPart other = part;
  other.node = NodeId::none();
  EXPECT_EQ(refusal(HoldPlaced{{JobId(5), Millis(9), {other}}}), "a held node's row is out of bounds");
  other = part;
  other.member.demand = DemandId(99);
  EXPECT_EQ(refusal(HoldPlaced{{JobId(5), Millis(9), {part, other}}}), "a demand that was never defined");
}

}  // namespace
}  // namespace ashlar::store
