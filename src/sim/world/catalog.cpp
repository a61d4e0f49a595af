#include "sim/world/catalog.h"

#include <algorithm>

#include "base/digest.h"

namespace ashlar::sim {
namespace {

std::uint64_t hash_of(const Demand& demand) {
  std::uint64_t hash = hash_combine(static_cast<std::uint64_t>(demand.devices.count),
                                    static_cast<std::uint64_t>(demand.devices.milli_each.value));
  hash = hash_combine(hash, static_cast<std::uint64_t>(demand.devices.memory_each.value));
  for (const ResourceAmount& a : demand.amounts)
    hash = hash_combine(hash_combine(hash, a.resource.value), static_cast<std::uint64_t>(a.amount));
  return hash;
}

}  // namespace

Demand demand_of(const MemberSize& size) {
  Demand demand;
  demand.devices = size.devices;
  if (size.cpu.value > 0) demand.amounts.push_back({resource::kCpu, size.cpu.value});
  if (size.memory.value > 0) demand.amounts.push_back({resource::kMemory, size.memory.value});
  demand.amounts.push_back({resource::kPods, 1});
  return demand;
}

DeviceClassId Catalog::model(std::string_view name) {
  if (name.empty()) return DeviceClassId::none();
  return models_.of(name);
}

DeviceClassId Catalog::find_model(std::string_view name) const { return models_.find(name); }

DemandId Catalog::demand(const Demand& demand) {
  const std::uint64_t hash = hash_of(demand);
  const auto [first, last] = demand_rows_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (demands_[it->second.row()] == demand) return it->second;
  const DemandId id(demands_.size());
  demands_.push_back(demand);
  demand_rows_.emplace(hash, id);
  return id;
}

ConstraintId Catalog::constraint(std::vector<DeviceClassId> models, std::vector<CapabilityId> capabilities) {
  // A run has a handful of these.
  for (std::size_t i = 0; i < constraints_.size(); ++i)
    if (constraints_[i].models == models && constraints_[i].capabilities == capabilities) return ConstraintId(i);
  constraints_.emplace_back();
  constraints_.back().models = std::move(models);
  constraints_.back().capabilities = std::move(capabilities);
  return ConstraintId(constraints_.size() - 1);
}

GangSpecId Catalog::gang_spec(const GangSpec& spec) {
  for (std::size_t i = 0; i < gang_specs_.size(); ++i)
    if (gang_specs_[i] == spec) return GangSpecId(i);
  gang_specs_.push_back(spec);
  return GangSpecId(gang_specs_.size() - 1);
}

DeviceLayoutId Catalog::layout(DeviceLayout layout) {
  const auto it = std::find(layouts_.begin(), layouts_.end(), layout);  // a run has a handful of these too
  const DeviceLayoutId id(static_cast<std::size_t>(it - layouts_.begin()));
  if (it == layouts_.end()) layouts_.push_back(std::move(layout));
  return id;
}

KindId Catalog::add_kind(JobKind kind) {
  kind.members = 0;
  kind.devices = 0;
  for (const MemberNeed& need : kind.needs) {
    kind.members += need.count;
    kind.devices += static_cast<std::int64_t>(need.count) * demands_[need.demand.row()].devices.count;
  }
  kinds_.push_back(std::move(kind));
  return KindId(kinds_.size() - 1);
}

void Catalog::define(std::vector<Event>& out) const {
  for (const DeviceClassDefined& defined : classes_) out.push_back({Millis(0), defined});
  for (std::size_t i = 0; i < demands_.size(); ++i) out.push_back({Millis(0), DemandDefined{DemandId(i), demands_[i]}});
  for (std::size_t i = 0; i < constraints_.size(); ++i)
    out.push_back({Millis(0), ConstraintDefined{ConstraintId(i), constraints_[i]}});
  for (std::size_t i = 0; i < gang_specs_.size(); ++i)
    out.push_back({Millis(0), GangSpecDefined{GangSpecId(i), gang_specs_[i]}});
  for (std::size_t i = 0; i < layouts_.size(); ++i)
    out.push_back({Millis(0), DeviceLayoutDefined{DeviceLayoutId(i), layouts_[i]}});
}

}  // namespace ashlar::sim
