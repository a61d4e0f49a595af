#include "state/cluster/cluster.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "state/cluster/digest_cells.h"

namespace ashlar {
/// Evaluates the nodes whose facts changed after the first `seen` changes, or all if that is no more work; of a
/// constraint for few nodes these. Returns how many.
std::uint64_t Cluster::bring_up(const Constraint& constraint, Allowed& set) const {
  const auto look_at = [&, context = this->context()](NodeId n) {
    set.nodes.assign(n.row(), is_live(n) && set.rule(constraint, facts_[n.row()], context));
  };
  set.nodes.resize(rows());
  const std::uint64_t logged_from = facts_change_count_ - facts_log_.size();
  if (set.seen < logged_from || facts_change_count_ - set.seen >= rows()) {
    set.nodes.clear();
    if (set.is_rule_by_labels)
      if (const auto looked_at = labelled_nodes_.each_needed(constraint, facts_, look_at)) return *looked_at;
    for (std::size_t n = 0; n < rows(); ++n) look_at(NodeId(n));
    return rows();
  }
  for (std::uint64_t i = set.seen - logged_from; i < facts_log_.size(); ++i) look_at(facts_log_[i]);
  return facts_change_count_ - set.seen;
}

const BitSet& Cluster::allowed_alone(ConstraintId id, const NodeRules& rules) const {
  ASHLAR_CHECK(id.row() < constraints_.size());
  Allowed& set = allowed_[id.row()];
  if (set.rule != rules.allows) set.seen = 0;
  if (set.seen != facts_change_count()) {
    set.rule = rules.allows;
    set.is_rule_by_labels = rules.is_selected != nullptr;
    evaluation_count_ += bring_up(constraints_[id.row()], set);
    set.seen = facts_change_count();
    set.beside_flips = 0;
  }
  return set.nodes;
}

void Cluster::define_constraint(ConstraintId id, Constraint constraint) {
  if (id.row() >= constraints_.size()) {
    constraints_.resize(id.row() + 1);
    allowed_.resize(id.row() + 1);
  }
  counts_.use(id, constraints_[id.row()], -1, *this);
  constraints_[id.row()] = std::move(constraint);
  counts_.use(id, constraints_[id.row()], 1, *this);
  allowed_[id.row()] = Allowed(++definition_count_, constraints_[id.row()]);
}

void Cluster::ensure_resource(std::size_t count) {
  while (free_.size() < count) {
    free_.emplace_back(rows(), 0);
    allocatable_.emplace_back(rows(), 0);
  }
}

void Cluster::ensure_row(NodeId n) {
  if (free_.empty()) ensure_resource(resource::kFirstExtended);
  if (n.row() < rows()) return;
  const std::size_t count = n.row() + 1;
  facts_.resize(count);
  is_live_.resize(count, 0);
  for (auto& column : free_) column.resize(count, 0);
  for (auto& column : allocatable_) column.resize(count, 0);
  for (auto* column : {&idle_devices_, &free_milli_, &device_count_, &device_debt_}) column->resize(count, 0);
  first_device_.resize(count, 0);
  device_request_counts_.resize(count, DeviceRequestCounts{});
  device_values_.resize(count, 0);
  unhealthy_.resize(count);
  model_.resize(count);
  ports_.resize(count);
}

void Cluster::show_free(std::size_t r, std::size_t row, std::int64_t value) {
  digest_ += cell(row, r, value) - cell(row, r, free_[r][row]);
  free_[r][row] = value;
}

inline Cluster::Difference Cluster::write_device(std::size_t row, std::size_t i, std::int32_t milli, std::int64_t mib) {
  std::int32_t& free_milli = device_free_milli_[first_device_[row] + i];
  std::int64_t& free_mib = device_free_mib_[first_device_[row] + i];
  if (WithheldDevice* withheld = withheld_of(row, i)) {
    const std::uint64_t before = device_value(i, free_milli + withheld->milli, free_mib + withheld->mib);
    withheld->milli = std::max(milli, 0);
    withheld->mib = std::max<std::int64_t>(mib, 0);
    overfull_devices_ += (milli < 0 ? 1u : 0u) - (free_milli < 0 ? std::uint64_t{1} : 0);
    free_milli = milli - withheld->milli;
    free_mib = mib - withheld->mib;
    return {device_value(i, milli, mib) - before, 0};
  }
  // A shortage of one device is not taken from its neighbours.
  const Difference difference{device_value(i, milli, mib) - device_value(i, free_milli, free_mib),
                              std::max(milli, 0) - std::max(free_milli, 0)};
  if ((milli | free_milli) < 0) overfull_devices_ += (milli < 0 ? 1u : 0u) - (free_milli < 0 ? std::uint64_t{1} : 0);
  free_milli = milli;
  free_mib = mib;
  return difference;
}

void Cluster::add_device_values(std::size_t row, std::uint64_t by) {
  const auto before = static_cast<std::int64_t>(device_values_[row]);
  device_values_[row] += by;
  digest_ +=
      cell(row, kColumnDevice, static_cast<std::int64_t>(device_values_[row])) - cell(row, kColumnDevice, before);
}

void Cluster::set_device(std::size_t row, std::size_t i, std::int32_t milli, std::int64_t mib) {
  const Difference difference = write_device(row, i, milli, mib);
  add_device_values(row, difference.value);
  free_milli_[row] += difference.milli;
}

/// Takes what is free on the unhealthy devices out of the columns; the digest and what is free in truth stay.
void Cluster::hide_unhealthy(std::size_t row) {
  unhealthy_[row].among(device_count_[row]).each([&](int i) {
    const std::uint32_t device = first_device_[row] + static_cast<std::uint32_t>(i);
    const WithheldDevice withheld{device, std::max(device_free_milli_[device], 0),
                                  std::max<std::int64_t>(device_free_mib_[device], 0)};
    device_free_milli_[device] -= withheld.milli;
    device_free_mib_[device] -= withheld.mib;
    free_milli_[row] -= withheld.milli;
    withheld_.add(withheld);
  });
}

/// Exactly undoes hide_unhealthy.
void Cluster::show_unhealthy(std::size_t row) {
  for (const WithheldDevice& w : withheld(NodeId(row))) {
    device_free_milli_[w.device] += w.milli;
    device_free_mib_[w.device] += w.mib;
    free_milli_[row] += w.milli;
  }
  withheld_.remove(first_device_[row], static_cast<std::uint32_t>(device_count_[row]));
}

void Cluster::set_debt(std::size_t row, std::int32_t debt) {
  digest_ += cell(row, kColumnDebt, debt) - cell(row, kColumnDebt, device_debt_[row]);
  device_debt_[row] = debt;
}

/// Group sums follow a ready node's idle devices; negative = not counted.
void Cluster::count_idle(NodeId n, std::int32_t before, std::int32_t after) {
  const GroupId group = topology_.group_of(n);
  if (group.row() >= group_idle_devices_.size()) group_idle_devices_.resize(topology_.group_count(), 0);
  group_idle_devices_[group.row()] += std::max(after, 0) - std::max(before, 0);
}

/// Whole devices claimed from a device beyond itself are other devices of the node, not known which: owed by number.
std::int32_t Cluster::idle_by_devices(std::size_t row) const {
  std::int32_t idle = -device_debt_[row];
  const DeviceMemories memories = device_memories(NodeId(row));
  for (std::size_t i = 0; i < static_cast<std::size_t>(device_count_[row]); ++i) {
    const std::size_t device = first_device_[row] + i;
    idle += device_free_milli_[device] == kWholeDevice && device_free_mib_[device] == memories[i] ? 1 : 0;
  }
  if (overfull_devices_ == 0) return idle;
  for (const std::int32_t milli : device_free_milli(NodeId(row))) idle -= milli < 0 ? -milli / kWholeDevice : 0;
  return idle;
}

bool Cluster::is_overcommitted(NodeId n, const Demand& demand, const DeviceMask& devices) const {
  const std::size_t row = n.row();
  const auto lacks = [&](const ResourceAmount& a) {
    return a.resource.row() < free_.size() && free_[a.resource.row()][row] < 0;
  };
  if (std::any_of(demand.amounts.begin(), demand.amounts.end(), lacks)) return true;
  for (const HostPort& port : demand.ports) {
    const auto clashes_in = [&](const std::vector<HostPort>& ports) {
      return std::count_if(ports.begin(), ports.end(), [&](const HostPort& p) { return p.clashes(port); });
    };
    if (clashes_in(ports_[row]) > clashes_in(demand.ports)) return true;  // its own ports may clash with each other
  }
  if (demand.devices.count == 0) return false;
  bool is_more = idle_devices_[row] < 0;
  const DeviceMemories memories = device_memories(n);
  devices.each([&](int i) {
    if (i >= device_count_[row]) return;
    const auto at = static_cast<std::size_t>(i);
    const std::size_t device = first_device_[row] + at;
    is_more = is_more || device_free_milli_[device] < 0 || (memories[at] > 0 && device_free_mib_[device] < 0);
  });
  return is_more;
}

void Cluster::set_idle(NodeId n, std::int32_t idle) {
  const std::size_t row = n.row();
  const bool is_counted = is_live_[row] != 0 && facts_[row].is_ready;
  if (is_counted && idle != idle_devices_[row]) count_idle(n, std::max(idle_devices_[row], 0), std::max(idle, 0));
  idle_devices_[row] = idle;
}

void Cluster::note_change(NodeId n) {
  if (change_log_.size() >= kChangeLogMax) {
    change_log_.erase(change_log_.begin(), change_log_.begin() + kChangeLogMax / 2);
    change_base_ += kChangeLogMax / 2;
  }
  change_log_.push_back(n);
}

void Cluster::note_company(std::span<const NodeId> changed) {
  for (const NodeId n : changed) {
    note_facts_change(n);
    note_change(n);
  }
  if (is_company_noted_) company_changed_.insert(company_changed_.end(), changed.begin(), changed.end());
}

void Cluster::allot_resources(std::size_t row, const std::vector<std::int64_t>& allocatable) {
  ensure_resource(allocatable.size());
  for (std::size_t r = 0; r < free_.size(); ++r) {
    const std::int64_t total = r < allocatable.size() ? allocatable[r] : 0;
    add_free(r, row, total - allocatable_[r][row]);
    allocatable_[r][row] = total;
  }
}

/// Before the node's facts have the new devices, since what is free depends on the memory that each had.
void Cluster::allot_devices(NodeId n, const NodeDevices& devices) {
  const std::size_t row = n.row();
  show_unhealthy(row);
  const auto wanted = static_cast<std::size_t>(devices.count);
  const auto had = static_cast<std::size_t>(device_count_[row]);
  const DeviceMemories before = device_memories(n);
  const DeviceMemories after{layouts_.mixed(devices), devices.memory_each.value};
  std::vector<std::int32_t> milli(device_free_milli_.begin() + first_device_[row],
                                  device_free_milli_.begin() + first_device_[row] + static_cast<std::ptrdiff_t>(had));
  std::vector<std::int64_t> mib(device_free_mib_.begin() + first_device_[row],
                                device_free_mib_.begin() + first_device_[row] + static_cast<std::ptrdiff_t>(had));
  if (wanted != had) {
    if (spare_devices_.size() <= std::max(wanted, had)) spare_devices_.resize(std::max(wanted, had) + 1);
    add_device_values(row, -device_values_[row]);
    if (had > 0) spare_devices_[had].push_back(first_device_[row]);
    if (wanted > 0 && !spare_devices_[wanted].empty()) {
      first_device_[row] = spare_devices_[wanted].back();
      spare_devices_[wanted].pop_back();
    } else {
      first_device_[row] = static_cast<std::uint32_t>(device_free_milli_.size());
      device_free_milli_.resize(device_free_milli_.size() + wanted, 0);
      device_free_mib_.resize(device_free_mib_.size() + wanted, 0);
    }
    for (std::size_t i = 0; i < wanted; ++i) {
      overfull_devices_ -= device_free_milli_[first_device_[row] + i] < 0 ? 1 : 0;
      device_free_milli_[first_device_[row] + i] = 0;
      device_free_mib_[first_device_[row] + i] = 0;
    }
    device_count_[row] = devices.count;
    free_milli_[row] = 0;
  }
  for (std::size_t i = 0; i < wanted; ++i) {
    const bool is_old = i < had;
    set_device(row, i, is_old ? milli[i] : kWholeDevice, is_old ? mib[i] + after[i] - before[i] : after[i]);
  }
  hide_unhealthy(row);
}

template <class Change>
void Cluster::change_facts(NodeId n, Change change) {
  const std::size_t row = n.row();
  const bool was_counted = is_live_[row] != 0 && facts_[row].is_ready;
  if (was_counted) count_idle(n, std::max(idle_devices_[row], 0), -1);
  digest_ -= is_live_[row] != 0 ? cell(row, kColumnFacts, facts_value(facts_[row])) : 0;
  live_count_ += is_live_[row] != 0 ? 0 : 1;
  is_live_[row] = 1;
  change();
  layouts_.note(n, facts_[row].devices);
  model_[row] = facts_[row].devices.device_class;
  note_company(counts_.note_facts(n, true, facts_[row]));
  digest_ += cell(row, kColumnFacts, facts_value(facts_[row]));
  idle_devices_[row] = 0;
  if (facts_[row].is_ready) count_idle(n, -1, 0);
  recount_idle(n);
  note_facts_change(n);
  note_change(n);
}

void Cluster::upsert_node(NodeId n, const NodeFacts& facts) {
  ASHLAR_CHECK(facts.devices.count >= 0 && facts.devices.count <= kDevicesPerNodeMax);
  ASHLAR_CHECK(layouts_.are_known(facts.devices));
  ensure_row(n);
  const NodeFacts& before = facts_[n.row()];
  if (!is_live(n) || before.labels != facts.labels || before.taints != facts.taints) note_labels();
  change_facts(n, [&] {
    allot_resources(n.row(), facts.allocatable);
    allot_devices(n, facts.devices);
    facts_[n.row()] = facts;
    topology_.place(n, facts.domains);
  });
}

void Cluster::set_capacity(NodeId n, const std::vector<std::int64_t>& allocatable) {
  ASHLAR_CHECK(is_live(n));
  change_facts(n, [&] {
    allot_resources(n.row(), allocatable);
    facts_[n.row()].allocatable = allocatable;
  });
}

void Cluster::set_devices(NodeId n, const NodeDevices& devices) {
  ASHLAR_CHECK(is_live(n) && devices.count >= 0 && devices.count <= kDevicesPerNodeMax);
  ASHLAR_CHECK(layouts_.are_known(devices));
  change_facts(n, [&] {
    allot_devices(n, devices);
    facts_[n.row()].devices = devices;
  });
}

void Cluster::set_unhealthy(NodeId n, const DeviceMask& unhealthy) {
  ASHLAR_CHECK(is_live(n));
  const std::size_t row = n.row();
  if (unhealthy_[row] == unhealthy) return;
  show_unhealthy(row);
  digest_ +=
      cell(row, kColumnUnhealthy, health_value(unhealthy)) - cell(row, kColumnUnhealthy, health_value(unhealthy_[row]));
  unhealthy_[row] = unhealthy;
  hide_unhealthy(row);
  recount_idle(n);
  note_change(n);
}

void Cluster::remove_node(NodeId n) {
  set_unhealthy(n, {});
  const std::size_t row = n.row();
  if (facts_[row].is_ready) count_idle(n, std::max(idle_devices_[row], 0), -1);
  digest_ -= cell(row, kColumnFacts, facts_value(facts_[row]));
  NodeFacts none;
  none.is_ready = false;
  for (std::size_t r = 0; r < free_.size(); ++r) {
    show_free(r, row, free_sums_.set(sum_cell(r, row), 0));
    allocatable_[r][row] = 0;
  }
  set_debt(row, 0);
  device_request_counts_[row] = {};
  for (const HostPort& p : ports_[row]) digest_ -= cell(row, kColumnPorts, static_cast<std::int64_t>(port_value(p)));
  ports_[row].clear();
  for (std::size_t i = 0; i < static_cast<std::size_t>(device_count_[row]); ++i) set_device(row, i, 0, 0);
  allot_devices(n, none.devices);
  facts_[row] = none;
  layouts_.note(n, none.devices);
  model_[row] = DeviceClassId::none();
  is_live_[row] = 0;
  images_.forget(n);
  --live_count_;
  idle_devices_[row] = 0;
  topology_.remove(n);
  note_labels();
  note_company(counts_.note_facts(n, false, none));
  note_facts_change(n);
  note_change(n);
}

void Cluster::apply_demand(NodeId n, const Demand& demand, const DeviceMask& devices, int sign) {
  const std::size_t row = n.row();
  for (const ResourceAmount& a : demand.amounts) {
    if (!resource::has_column(a.resource)) continue;
    if (a.resource.row() >= free_.size()) ensure_resource(a.resource.row() + 1);
    add_free(a.resource.row(), row, -sign * a.amount);
  }
  if (demand.devices.count > 0) {
    int named = 0, idle = 0;
    Difference all;
    const bool was_overfull = overfull_devices_ > 0;
    const DeviceMemories memories = device_memories(n);
    const auto is_idle = [&](std::size_t at) {
      const std::size_t device = first_device_[row] + at;
      return device_free_milli_[device] == kWholeDevice && device_free_mib_[device] == memories[at];
    };
    devices.each([&](int i) {
      ++named;
      const auto at = static_cast<std::size_t>(i);
      const DeviceFree free = device_free(row, at);
      idle -= is_idle(at) ? 1 : 0;
      const Difference one = write_device(row, at, free.milli - sign * demand.devices.milli_each.value,
                                          free.mib - sign * demand.devices.memory_each.value);
      all.value += one.value;
      all.milli += one.milli;
      idle += is_idle(at) ? 1 : 0;
    });
    add_device_values(row, all.value);
    free_milli_[row] += all.milli;
    device_request_counts_[row][device_request_kind(demand.devices)] += static_cast<std::uint16_t>(sign);
    const int owed = sign * std::max(demand.devices.count - named, 0);
    if (owed != 0) set_debt(row, device_debt_[row] + owed);
    // Claims beyond a device count against the others in whole devices; that is rare, and counted from the start.
    if (was_overfull || overfull_devices_ > 0)
      recount_idle(n);
    else
      set_idle(n, idle_devices_[row] + idle - owed);
  }
  note_change(n);
}

void Cluster::allocate(NodeId n, const Demand& demand, const DeviceMask& devices) {
  ASHLAR_CHECK(is_live(n));
  apply_demand(n, demand, devices, 1);
  for (const HostPort& p : demand.ports) {
    ports_[n.row()].push_back(p);
    digest_ += cell(n.row(), kColumnPorts, static_cast<std::int64_t>(port_value(p)));
  }
}

void Cluster::release(NodeId n, const Demand& demand, const DeviceMask& devices) {
  ASHLAR_CHECK(is_live(n));
  apply_demand(n, demand, devices, -1);
  for (const HostPort& p : demand.ports) {
    auto& ports = ports_[n.row()];
    const auto it = std::find(ports.begin(), ports.end(), p);
    ASHLAR_CHECK(it != ports.end());
    ports.erase(it);
    digest_ -= cell(n.row(), kColumnPorts, static_cast<std::int64_t>(port_value(p)));
  }
}

void Cluster::exchange(NodeId n, const DeviceRequest& request, const GrantedDevices& devices, int sign) {
  ASHLAR_CHECK(is_live(n) && request.count > 0);
  devices.each(request, [&](int i, const DeviceShare& share) {
    const auto at = static_cast<std::size_t>(i);
    const DeviceFree free = device_free(n.row(), at);
    set_device(n.row(), at, free.milli + sign * (request.milli_each - share.milli).value,
               free.mib + sign * (request.memory_each - share.memory).value);
  });
  recount_idle(n);
}

std::uint64_t Cluster::counted_device_values(std::size_t row) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(device_count_[row]); ++i) {
    const DeviceFree free = device_free(row, i);
    sum += device_value(i, free.milli, free.mib);
  }
  return sum;
}

std::uint64_t Cluster::recount_digest() const {
  // A cell of value v contributes cell(v) - cell(0), since every column starts at 0.
  std::uint64_t sum = 0;
  for (std::size_t row = 0; row < rows(); ++row) {
    for (std::size_t r = 0; r < free_.size(); ++r) sum += cell(row, r, free_[r][row]) - cell(row, r, 0);
    sum += cell(row, kColumnDebt, device_debt_[row]) - cell(row, kColumnDebt, 0);
    if (is_live_[row] != 0) sum += cell(row, kColumnFacts, facts_value(facts_[row]));
    for (const HostPort& p : ports_[row]) sum += cell(row, kColumnPorts, static_cast<std::int64_t>(port_value(p)));
    sum += cell(row, kColumnUnhealthy, health_value(unhealthy_[row])) - cell(row, kColumnUnhealthy, 0);
    sum +=
        cell(row, kColumnDevice, static_cast<std::int64_t>(counted_device_values(row))) - cell(row, kColumnDevice, 0);
  }
  return sum + free_sums_.digest() + counts_.digest() + images_.counted_digest();
}

bool Cluster::are_sums_sound() const {
  return free_sums_.is_sound([&](std::uint64_t cell) {
    const std::size_t r = cell % resource::kColumnsMax, row = cell / resource::kColumnsMax;
    return r < free_.size() && row < rows() ? free_[r][row] : 0;
  });
}

bool Cluster::is_used(DeviceLayoutId id) const {
  return std::any_of(facts_.begin(), facts_.end(), [&](const NodeFacts& f) { return f.devices.layout == id; });
}

bool Cluster::is_consistent() const {
  DeviceLayouts layouts = layouts_;
  layouts.rebuild(facts_);
  if (!layouts.is_like(layouts_) || !are_sums_sound()) return false;
  if (recount_digest() != digest() || counted_overfull() != overfull_devices_) return false;
  if (!std::ranges::equal(withheld_.rows, counted_unhealthy(), {}, &WithheldDevice::device)) return false;
  for (const WithheldDevice& w : withheld_.rows)
    if (w.milli < 0 || w.mib < 0 || device_free_milli_[w.device] > 0 || device_free_mib_[w.device] > 0) return false;
  std::vector<std::int64_t> group_idle(group_idle_devices_.size(), 0);
  std::size_t live = 0;
  for (std::size_t row = 0; row < rows(); ++row) {
    std::int64_t milli = 0;
    const std::int32_t idle = idle_by_devices(row);
    for (const std::int32_t of_device : device_free_milli(NodeId(row))) milli += std::max(of_device, 0);
    if (milli != free_milli_[row]) return false;
    live += is_live_[row];
    if (idle != idle_devices_[row]) return false;
    if (is_live_[row] == 0 || !facts_[row].is_ready) continue;
    const NodeId n(row);
    group_idle[topology_.group_of(n).row()] += std::max(idle, 0);
    for (std::uint32_t l = 0; l < topology_.level_count(); ++l) {
      const DomainId d = topology_.domain_of(LevelId(l), n);
      const DomainId said = l < facts_[row].domains.size() ? facts_[row].domains[l] : DomainId::none();
      if (d != said) return false;
    }
  }
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    if (allowed_[c].seen == 0) continue;
    Allowed set = allowed_[c];
    bring_up(constraints_[c], set);
    for (std::size_t row = 0; row < rows(); ++row)
      if (set.nodes.test(row) != (is_live_[row] != 0 && allowed_[c].rule(constraints_[c], facts_[row], context())))
        return false;
  }
  return live == live_count_ && group_idle == group_idle_devices_;
}

}  // namespace ashlar
