#include "engine/pending/class_room.h"

#include <algorithm>
#include <vector>

#include "engine/quota.h"

namespace ashlar {
namespace {

/// Places for members of one kind on nodes that are added one by one. On a node of several classes they count as within
/// quota, whichever devices they take: the placement itself asks.
class Places {
 public:
  Places(const State& state, QueueId queue, DemandId demand) : state_(state), queue_(queue), demand_(demand) {}

  void add(NodeId n, std::uint16_t fits) {
    if (fits == 0) return;
    const DeviceClassId of = state_.cluster().models()[n.row()];
    const auto it = std::find_if(classes_.begin(), classes_.end(), [&](const OfClass& c) { return c.of == of; });
    if (it != classes_.end())
      it->fits += fits;
    else
      classes_.push_back({of, fits, members_within_class_quota(state_, queue_, state_.demand(demand_), of)});
  }
  std::int64_t at_all() const {
    std::int64_t sum = 0;
    for (const OfClass& c : classes_) sum += c.fits;
    return sum;
  }
  std::int64_t within_quota() const {
    std::int64_t sum = 0;
    for (const OfClass& c : classes_) sum += std::min(c.fits, c.admitted);
    return sum;
  }

 private:
  struct OfClass {
    DeviceClassId of;
    std::int64_t fits = 0, admitted = 0;
  };
  const State& state_;
  QueueId queue_;
  DemandId demand_;
  std::vector<OfClass> classes_;  ///< few: the models of the cluster
};

/// Whether the limits admit too few on the models that the members accept, wherever there are places.
bool are_limits_too_low(const State& state, QueueId queue, const MemberRun& run) {
  const std::vector<DeviceClassId>& models = state.cluster().constraint(run.constraint).models;
  if (models.empty()) return false;
  // On a mixed node one without devices counts as of any class, and several devices may share the limits.
  const std::int32_t devices = state.demand(run.demand).devices.count;
  const bool may_share = devices == 0 || (devices > 1 && models.size() > 1);
  if (may_share && !state.cluster().layouts().mixed_nodes().empty()) return false;
  std::int64_t admitted = 0;
  for (const DeviceClassId model : models) {
    const std::int64_t members = members_within_class_quota(state, queue, state.demand(run.demand), model);
    if (members >= run.members - admitted) return false;
    admitted += members;
  }
  return true;
}

}  // namespace

Lacking lacking_within_class_quota(FitTables& tables, const State& state, const EquivalenceClass& key,
                                   std::span<const MemberRun> needed) {
  const Topology& topology = state.cluster().topology();
  const DomainId anchor =
      key.within.is_none() || key.only.is_none() ? DomainId::none() : state.anchor(key.only, key.within);
  Lacking lacking = Lacking::kNothing;
  std::vector<Lacking> of_domain(key.within.is_none() ? 0 : topology.domain_count(key.within), Lacking::kNothing);
  if (std::any_of(needed.begin(), needed.end(),
                  [&](const MemberRun& run) { return are_limits_too_low(state, key.queue, run); }))
    return Lacking::kQuota;
  for (const MemberRun& run : needed) {
    const FitTable& table = tables.counted(state, run.demand, run.constraint, 0);
    const auto lacks = [&](const Places& places) {
      if (places.at_all() < run.members) return Lacking::kCapacity;
      return places.within_quota() < run.members ? Lacking::kQuota : Lacking::kNothing;
    };
    if (key.within.is_none()) {
      Places places(state, key.queue, run.demand);
      for (std::size_t n = 0; n < state.cluster().rows(); ++n) places.add(NodeId(n), table.fits(NodeId(n)));
      lacking = std::max(lacking, lacks(places));
      continue;
    }
    for (std::size_t d = 0; d < of_domain.size(); ++d) {
      if (!anchor.is_none() && anchor != DomainId(d)) continue;
      Places places(state, key.queue, run.demand);
      for (const NodeId n : topology.nodes_of(key.within, DomainId(d))) places.add(n, table.fits(n));
      of_domain[d] = std::max(of_domain[d], lacks(places));
    }
  }
  if (key.within.is_none()) return lacking;
  Lacking least = Lacking::kCapacity;
  for (std::size_t d = 0; d < of_domain.size(); ++d)
    if (anchor.is_none() || anchor == DomainId(d)) least = std::min(least, of_domain[d]);
  return least;
}

}  // namespace ashlar
