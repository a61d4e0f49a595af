#include "store/event_validation.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "state/state_fields.h"
#include "store/fields.h"

namespace ashlar::store {
namespace {

/// Rows may grow, but not by so much at once that a corrupt number creates columns of gigabytes.
constexpr std::size_t kLeapMax = 1u << 22;
constexpr std::int64_t kDeviceMemoryMax = std::int64_t{1} << 40;  ///< MiB
constexpr std::int32_t kWeightMax = 1'000'000;                    ///< of a preferred term; Kubernetes' are 1..100

constexpr std::size_t kQuotaKeysMax = 1024;  ///< distinct ones that queues limit

template <class Tag>
bool is_near(Id<Tag> id, std::size_t rows) {
  return !id.is_none() && id.row() < rows + kLeapMax;
}

/// Amounts are added up: the extremes, which mean "unlimited" and "unknown", are no amounts.
bool is_amount(std::int64_t v) { return v >= 0 && v <= kNumberMax; }
bool is_time_or_unknown(Millis t) { return t == Millis::max() || is_amount(t.value); }
/// Also one before the clock of a simulation begins.
bool is_moment(Millis t) { return t.value >= -kNumberMax && t.value <= kNumberMax; }
bool is_moment_or_none(Millis t) { return t == Millis::max() || is_moment(t); }
bool is_estimate(const Estimate& e) { return is_time_or_unknown(e.p50) && is_time_or_unknown(e.p90); }

struct Guard {
  const State& s;

  const char* operator()(const LevelsDefined& e) const {
    const Topology& t = s.cluster().topology();
    if (e.nested > Topology::kLevelsMax || e.orthogonal > Topology::kLevelsMax - e.nested)
      return "more levels than allowed";
    if (t.level_count() > 0 && e.nested != t.nested_count()) return "the nested levels change";
    return e.nested + e.orthogonal < t.level_count() ? "levels are removed" : nullptr;
  }
  const char* operator()(const DemandDefined& e) const {
    if (!is_near(e.id, s.demand_rows())) return "a demand's row is out of bounds";
    if (s.is_used(e.id) && s.demand(e.id) != e.demand) return "a demand in use is redefined";
    const DeviceRequest& request = e.demand.devices;
    if (request.count < 0 || request.count > kDevicesPerNodeMax || request.milli_each.value < 0 ||
        request.milli_each.value > kWholeDevice || (request.count > 0 && request.milli_each.value == 0))
      return "a demand requests an impossible number of GPUs";
    if (request.memory_each.value < 0 || request.memory_each.value > kDeviceMemoryMax)
      return "a demand requests an impossible GPU memory";
    const bool are_known = std::all_of(e.demand.amounts.begin(), e.demand.amounts.end(), [](const ResourceAmount& a) {
      // "more than exists" is an amount that waits forever
      return a.resource.row() < resource::kRowsMax && a.amount > 0;
    });
    return are_known ? nullptr : "a demand names a resource or an amount out of bounds";
  }
  const char* operator()(const ConstraintDefined& e) const {
    if (s.is_used(e.id) && s.cluster().constraint(e.id) != e.constraint) return "a constraint in use is redefined";
    for (const PreferredTerm& p : e.constraint.preferred)
      if (p.weight < -kWeightMax || p.weight > kWeightMax) return "a preference's weight is out of bounds";
    if (!are_capabilities(e.constraint.capabilities)) return "a constraint's capabilities are out of order or bounds";
    const SelectorIndex& index = s.cluster().counts().index();
    if (!e.constraint.seen_as.is_none() && e.constraint.seen_as.row() >= index.label_set_rows())
      return "a constraint names labels that were never defined";
    if (!has_known_selectors(e.constraint, index.selector_rows()))
      return "a constraint names a pod selector that was never defined";
    const auto is_row = [&](ImageId id) { return is_near(id, s.cluster().images().rows()); };
    if (!e.constraint.images.is_sound() || !std::ranges::all_of(e.constraint.images.on_nodes, is_row))
      return "a constraint's images are out of bounds";
    if (!is_sound_company(e.constraint)) return "a constraint's rules about pods are out of bounds";
    return is_near(e.id, StateFields::constraint_count(s)) ? nullptr : "a constraint's row is out of bounds";
  }
  const char* operator()(const LabelSetDefined& e) const {
    const Counts& counts = s.cluster().counts();
    if (!is_near(e.id, counts.index().label_set_rows())) return "a label set's row is out of bounds";
    if (counts.is_used(e.id) && counts.index().label_set(e.id) != e.set) return "a label set in use is redefined";
    return is_sound_label_set(e.set) ? nullptr : "a label set is out of order or out of bounds";
  }
  const char* operator()(const PodSelectorDefined& e) const {
    const Counts& counts = s.cluster().counts();
    if (!is_near(e.id, counts.index().selector_rows())) return "a pod selector's row is out of bounds";
    if (counts.is_used(e.id) && counts.index().selector(e.id) != e.selector)
      return "a pod selector in use is redefined";
    return is_sound_selector(e.selector) ? nullptr : "a pod selector is out of order or out of bounds";
  }
  const char* operator()(const NamespaceSeen& e) const {
    if (!is_near(e.id, s.cluster().counts().index().namespace_rows())) return "a namespace's row is out of bounds";
    return are_sound_labels(e.labels.labels) ? nullptr : "a namespace's labels are out of order or out of bounds";
  }
  const char* operator()(const Evicted& e) const {
    return is_time_or_unknown(e.remaining) ? nullptr : "a remaining time is impossible";
  }
  const char* operator()(const EstimateChanged& e) const {
    return is_estimate(e.estimate) ? nullptr : "an estimate is impossible";
  }
  const char* operator()(const CheckpointSaved& e) const {
    return is_moment_or_none(e.at) ? nullptr : "the time of a checkpoint is impossible";
  }
  const char* operator()(const QueueDefined& e) const {
    if (s.queues().keys().size() + e.limits.size() + e.shares.size() + e.usage.size() > kQuotaKeysMax)
      return "queues limit more than they can";
    const auto is_known_kind = [&](const QuotaKey& of) {
      return (of.resource.is_none() || of.resource.row() < resource::kRowsMax) &&
             (of.device_class.is_none() || is_near(of.device_class, 0));
    };
    for (const QuotaLimit& l : e.limits)
      if (!is_known_kind(l.of)) return "a queue's limit names a resource or a model out of bounds";
    for (const QuotaShare& share : e.shares) {
      if (!is_known_kind(share.of)) return "a queue's guarantee names a resource or a model out of bounds";
      const bool is_sound = (share.guarantee == QuotaShare::kNotNamed || is_amount(share.guarantee)) &&
                            (share.borrows == kUnlimited || is_amount(share.borrows)) &&
                            (share.lends == kUnlimited || is_amount(share.lends));
      if (!is_sound) return "a queue's guarantee is impossible";
    }
    for (const QueueUsage& usage : e.usage) {
      if (!is_known_kind(usage.of)) return "a queue's usage names a resource or a model out of bounds";
      if (usage.amount < 0 || usage.amount > QueueUsage::kAmountMax) return "a queue's usage is impossible";
    }
    if (!is_moment(e.gate.drained_since)) return "the time since when a queue drains is impossible";
    if (!e.stops.is_sound()) return "the time for which a queue's jobs are protected is impossible";
    if (e.rank.weight < 1 || e.rank.weight > QueueRank::kWeightMax) return "a queue's weight is impossible";
    return is_near(e.id, s.queues().rows()) ? nullptr : "a queue's row is out of bounds";
  }
  const char* operator()(const NodeSeen& e) const {
    if (!is_near(e.node, s.cluster().rows())) return "a node's row is out of bounds";
    if (const char* problem = devices(e.facts.devices)) return problem;
    if (const char* problem = capacity(e.facts.allocatable)) return problem;
    if (e.facts.domains.size() > s.cluster().topology().level_count())
      return "a node is in a domain of a level that does not exist";
    const bool are_near = std::all_of(e.facts.domains.begin(), e.facts.domains.end(),
                                      [](DomainId d) { return d.is_none() || is_near(d, 0); });
    return are_near ? nullptr : "a node's domain is out of bounds";
  }
  const char* operator()(const NodeCapacityChanged& e) const { return capacity(e.allocatable); }
  const char* operator()(const NodeDevicesChanged& e) const { return devices(e.devices); }
  const char* operator()(const Submitted& e) const {
    const Workload& w = e.workload;
    if (!is_near(w.job, s.job_rows())) return "a job's row is out of bounds";
    if (!is_near(w.queue, s.queues().rows())) return "a job's queue is out of bounds";
    if (!is_moment_or_none(w.runs_since) || !is_moment_or_none(w.saved_at) || !w.stopping.is_sound())
      return "what a job says about being stopped is impossible";
    if (!is_moment(w.submitted) || !is_estimate(w.estimate) ||
        !is_amount(w.order_hint < 0 ? -(w.order_hint + 1) : w.order_hint))
      return "a job's times are impossible";
    for (const LevelId level : {w.within, w.prefer})
      if (!level.is_none() && level.row() >= s.cluster().topology().level_count())
        return "a job names a level that does not exist";
    std::size_t groups = 1;
    if (!w.spec.is_none()) {
      if (!is_gang_spec(w.spec)) return "a job's groups were never defined";
      for (const GangGroup& group : s.gang_spec(w.spec).groups)
        for (const LevelId level : {group.within, group.prefer})
          if (!level.is_none() && level.row() >= s.cluster().topology().level_count())
            return "a job's group names a level that does not exist";
      groups = s.gang_spec(w.spec).groups.size();
    }
    return members(w.members, groups);
  }
  const char* operator()(const MembersAdded& e) const {
    if (!s.is_live(e.job)) return members(e.members, GangSpec::kGroupsMax);  // of a job that has ended meanwhile
    return members(e.members, s.job(e.job).spec.is_none() ? 1 : s.groups_of(e.job).size());
  }
  const char* operator()(const GangSpecDefined& e) const {
    if (!is_near(e.id, s.gangs().rows())) return "a gang's groups have a row out of bounds";
    if (s.gangs().is_used(e.id) && s.gang_spec(e.id) != e.spec) return "groups in use are redefined";
    if (e.spec.groups.size() > GangSpec::kGroupsMax) return "a gang has more groups than allowed";
    const bool are_small = std::all_of(e.spec.groups.begin(), e.spec.groups.end(),
                                       [](const GangGroup& g) { return g.members_min <= GangSpec::kMinimumMax; });
    if (!are_small) return "a group has an impossible minimum";
    const std::uint64_t minimum =
        std::accumulate(e.spec.groups.begin(), e.spec.groups.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const GangGroup& g) { return sum + g.members_min; });
    return minimum <= UINT32_MAX ? nullptr : "a gang has an impossible minimum";
  }
  const char* operator()(const HoldPlaced& e) const {
    if (!is_near(e.hold.job, s.job_rows())) return "a hold's row is out of bounds";
    if (!is_time_or_unknown(e.hold.until)) return "a hold's end is impossible";
    if (!is_amount(e.hold.from.value)) return "a hold's begin is impossible";
    const HoldOwner& owner = e.hold.owner;
    if (!owner.queue.is_none() && !is_near(owner.queue, s.queues().rows())) return "a hold's queue is out of bounds";
    if (!owner.job.is_none() && !is_near(owner.job, s.job_rows())) return "the row of a hold's owner is out of bounds";
    for (const HoldPart& part : e.hold.parts) {
      if (const char* problem = members({&part.member, 1})) return problem;
      if (!is_near(part.node, s.cluster().rows())) return "a held node's row is out of bounds";
      if (!is_placeable(part.member.demand)) return "an unsatisfiable demand is placed";
    }
    return nullptr;
  }
  const char* operator()(const ImageSeen& e) const {
    if (!is_near(e.id, s.cluster().images().rows())) return "an image's row is out of bounds";
    if (e.bytes < 0 || e.bytes > Images::kBytesMax) return "an image's size is impossible";
    const auto is_row = [&](NodeId n) { return is_near(n, s.cluster().rows()); };
    return std::ranges::all_of(e.added, is_row) && std::ranges::all_of(e.removed, is_row)
               ? nullptr
               : "the row of a node with an image is out of bounds";
  }
  const char* operator()(const LabelsChanged& e) const {
    const bool is_known = e.labels.is_none() || e.labels.row() < s.cluster().counts().index().label_set_rows();
    return is_known ? nullptr : "labels that were never defined";
  }
  const char* operator()(const ConstraintChanged& e) const {
    return e.constraint.row() < StateFields::constraint_count(s) ? nullptr : "a constraint that was never defined";
  }
  const char* operator()(const Bound& e) const {
    const bool are_of_devices = e.grants.empty() || (is_sound(e.grants) && devices_of(e.grants) == e.devices);
    return are_of_devices ? placed(e.member) : "a member is granted other GPUs than it is bound to";
  }
  const char* operator()(const Nominated& e) const { return placed(e.member); }
  template <class Other>
  const char* operator()(const Other&) const {
    return nullptr;
  }

  const char* operator()(const DeviceLayoutDefined& e) const {
    const Cluster& c = s.cluster();
    if (!is_near(e.id, c.layouts().rows())) return "a layout's row is out of bounds";
    if (c.is_used(e.id) && c.layouts().row(e.id) != e.layout) return "a layout in use is redefined";
    if (e.layout.devices.size() > kDevicesPerNodeMax) return "a layout has an impossible number of GPUs";
    const bool are_possible = std::all_of(e.layout.devices.begin(), e.layout.devices.end(), [](const DeviceFacts& d) {
      return d.memory.value >= 0 && d.memory.value <= kDeviceMemoryMax &&
             (d.device_class.is_none() || is_near(d.device_class, 0));
    });
    return are_possible ? nullptr : "a layout has an impossible GPU";
  }

  const char* operator()(const DeviceClassDefined& e) const {
    if (!is_near(e.id, s.cluster().classes().rows())) return "a device class's row is out of bounds";
    const std::vector<DeviceModelId>& models = e.device_class.models;
    if (models.size() > DeviceClass::kNamesMax ||
        std::ranges::any_of(models, [](DeviceModelId m) { return m.is_none() || !is_near(m, 0); }))
      return "a device class lists impossible models";
    return are_capabilities(e.device_class.capabilities) ? nullptr
                                                         : "a device class's capabilities are out of order or bounds";
  }
  static bool are_capabilities(const std::vector<CapabilityId>& capabilities) {
    return is_capability_list(capabilities) &&
           std::ranges::all_of(capabilities, [](CapabilityId c) { return is_near(c, 0); });
  }

  const char* devices(const NodeDevices& of_node) const {
    if (of_node.count < 0 || of_node.count > kDevicesPerNodeMax) return "a node has an impossible number of GPUs";
    if (of_node.memory_each.value < 0 || of_node.memory_each.value > kDeviceMemoryMax)
      return "a node has an impossible GPU memory";
    if (!of_node.device_class.is_none() && !is_near(of_node.device_class, 0)) return "a node's model is out of bounds";
    return s.cluster().layouts().are_known(of_node) ? nullptr : "a node's GPUs are not those of its layout";
  }
  static const char* capacity(std::span<const std::int64_t> allocatable) {
    if (allocatable.size() > resource::kColumnsMax) return "a node has more resources than allowed";
    return std::all_of(allocatable.begin(), allocatable.end(), is_amount)
               ? nullptr
               : "a node has an impossible amount of a resource";
  }
  const char* placed(MemberId member) const {
    return !s.is_live(member) || is_placeable(s.member(member).demand) ? nullptr : "an unsatisfiable demand is placed";
  }
  bool is_placeable(DemandId id) const {
    const auto& amounts = s.demand(id).amounts;
    return std::all_of(amounts.begin(), amounts.end(), [](const ResourceAmount& a) { return is_amount(a.amount); });
  }
  bool is_gang_spec(GangSpecId id) const { return id.row() < s.gangs().rows() && !s.gang_spec(id).groups.empty(); }
  const char* members(std::span<const MemberSpec> specs, std::size_t groups = 1) const {
    for (const MemberSpec& m : specs) {
      if (m.group >= groups) return "a member is of a group that its job does not have";
      if (!is_near(m.member, s.member_rows())) return "a member's row is out of bounds";
      if (m.demand.row() >= s.demand_rows()) return "a demand that was never defined";
      if (m.constraint.row() >= StateFields::constraint_count(s)) return "a constraint that was never defined";
      if (!m.labels.is_none() && m.labels.row() >= s.cluster().counts().index().label_set_rows())
        return "a label set that was never defined";
    }
    return nullptr;
  }
};

}  // namespace

const char* refusal_of(const State& state, const Event& event) {
  if (!is_amount(event.at.value)) return "its time is impossible";
  return std::visit(Guard{state}, event.body);
}

}  // namespace ashlar::store
