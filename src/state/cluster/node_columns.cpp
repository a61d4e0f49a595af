#include "state/cluster/node_columns.h"

#include "model/constraint.h"

namespace ashlar {
namespace {

/// None if they are all of one kind, whole ones.
std::vector<DeviceMask> kinds_of(const DeviceLayout& layout) {
  std::vector<DeviceMask> kinds;
  std::vector<std::size_t> firsts;
  if (!is_mixed(layout)) return kinds;
  for (std::size_t i = 0; i < layout.devices.size(); ++i) {
    std::size_t kind = 0;
    while (kind < kinds.size() && !is_of_one_kind(layout.devices[firsts[kind]], layout.devices[i])) ++kind;
    if (kind == kinds.size()) {
      kinds.emplace_back();
      firsts.push_back(i);
    }
    kinds[kind].set(static_cast<int>(i));
  }
  return kinds;
}

}  // namespace

void DeviceLayouts::define(DeviceLayoutId id, const DeviceLayout& layout) {
  if (id.row() >= rows_.size()) {
    rows_.resize(id.row() + 1);
    kinds_.resize(id.row() + 1);
  }
  rows_[id.row()] = layout;
  kinds_[id.row()] = kinds_of(layout);
}

void DeviceLayouts::note(NodeId n, const NodeDevices& devices) {
  if (devices.layout.is_none() && mixed_nodes_.empty()) return;
  const auto at = std::lower_bound(mixed_nodes_.begin(), mixed_nodes_.end(), n);
  const bool is_listed = at != mixed_nodes_.end() && *at == n;
  const bool is_one = mixed(devices) != nullptr;
  if (is_one && !is_listed) mixed_nodes_.insert(at, n);
  if (!is_one && is_listed) mixed_nodes_.erase(at);
}

void DeviceLayouts::rebuild(std::span<const NodeFacts> facts) {
  kinds_.clear();
  for (const DeviceLayout& layout : rows_) kinds_.push_back(kinds_of(layout));
  mixed_nodes_.clear();
  for (std::size_t n = 0; n < facts.size(); ++n)
    if (mixed(facts[n].devices) != nullptr) mixed_nodes_.emplace_back(n);
}

const DeviceClass& DeviceClasses::row(DeviceClassId id) const {
  static const DeviceClass kUndefined;
  return id.row() < rows_.size() ? rows_[id.row()] : kUndefined;
}

void DeviceClasses::define(DeviceClassId id, const DeviceClass& device_class) {
  if (id.row() >= rows_.size()) rows_.resize(id.row() + 1);
  rows_[id.row()] = device_class;
}

bool DeviceClasses::has_capabilities(const Constraint& constraint, DeviceClassId of) const {
  return std::ranges::all_of(constraint.capabilities, [&](CapabilityId c) { return has(of, c); });
}

bool DeviceClasses::names_class(const Constraint& constraint, DeviceClassId of) {
  return constraint.models.empty() || std::ranges::find(constraint.models, of) != constraint.models.end();
}

std::vector<NodeId> NodeColumns::define_class(DeviceClassId id, const DeviceClass& device_class) {
  const bool are_others = classes_.row(id).capabilities != device_class.capabilities;
  classes_.define(id, device_class);
  std::vector<NodeId> changed;
  for (std::size_t n = 0; n < rows() && are_others; ++n)
    if (is_live(NodeId(n)) && has_class(NodeId(n), id)) changed.emplace_back(n);
  return changed;
}

DeviceMask NodeColumns::overfull_devices(NodeId n) const {
  DeviceMask devices;
  const auto milli = device_free_milli(n);
  for (std::size_t i = 0; i < milli.size(); ++i)
    if (milli[i] < 0) devices.set(static_cast<int>(i));
  return devices;
}

std::uint64_t NodeColumns::counted_overfull() const {
  return static_cast<std::uint64_t>(std::count_if(device_free_milli_.begin(), device_free_milli_.end(),
                                                  [](std::int32_t milli) { return milli < 0; }));
}

std::vector<std::uint32_t> NodeColumns::counted_unhealthy() const {
  std::vector<std::uint32_t> devices;
  for (std::size_t row = 0; row < rows(); ++row)
    unhealthy_[row].among(device_count_[row]).each([&](int i) {
      devices.push_back(first_device_[row] + static_cast<std::uint32_t>(i));
    });
  std::sort(devices.begin(), devices.end());
  return devices;
}

}  // namespace ashlar
