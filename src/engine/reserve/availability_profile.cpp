#include "engine/reserve/availability_profile.h"

#include <algorithm>

#include "base/grown.h"

namespace ashlar {

namespace {

constexpr std::uint64_t kRowsPerNode = 256;  ///< looked at in the column cost as much as one to follow

DomainId domain_of(const State& state, LevelId level, NodeId node) {
  return level.is_none() ? DomainId(0u) : state.cluster().topology().domain_of(level, node);
}

/// Without those that never open.
std::span<const Millis> opening(std::span<const Millis> slots) {
  return slots.first(static_cast<std::size_t>(std::ranges::lower_bound(slots, Millis::max()) - slots.begin()));
}

/// How many at the begin are alike.
std::size_t run_of(std::span<const Millis> ascending) {
  std::size_t count = 1;
  while (count < ascending.size() && ascending[count] == ascending[0]) ++count;
  return count;
}

/// Both ascending.
void replace(StepFunction& opened, std::span<const Millis> before, std::span<const Millis> after) {
  while (!before.empty() && !after.empty() && before.front() == after.front())
    before = before.subspan(1), after = after.subspan(1);
  while (!before.empty() && !after.empty() && before.back() == after.back())
    before = before.first(before.size() - 1), after = after.first(after.size() - 1);
  while (!before.empty()) {
    const std::size_t units = run_of(before);
    opened.remove(before.front(), units);
    before = before.subspan(units);
  }
  while (!after.empty()) {
    const std::size_t units = run_of(after);
    opened.add(after.front(), units);
    after = after.subspan(units);
  }
}

}  // namespace

bool AvailabilityProfile::must_start(const State& state, const PutOffEnds& put_off, const EndsAt& ends) const {
  if (!is_started_ || !state.cluster().remembers(cluster_seen_) || !state.timeline().remembers(timeline_seen_) ||
      cluster_seen_ > state.cluster().change_count())
    return true;
  return ends.by == EndsBy::kMedian ? ends_.now != ends.now : !put_off.remembers(put_off_seen_);
}

bool AvailabilityProfile::is_close(const State& state, const PutOffEnds& put_off, const EndsAt& ends) const {
  if (must_start(state, put_off, ends)) return false;
  const std::uint64_t changes =
      state.cluster().change_count() - cluster_seen_ + state.timeline().change_count() - timeline_seen_;
  return changes * kRowsPerNode <= state.cluster().rows();
}

void AvailabilityProfile::bring_up(const State& state, const PutOffEnds& put_off, const EndsAt& ends) {
  const Cluster& cluster = state.cluster();
  const bool is_anew = must_start(state, put_off, ends);
  ends_ = ends;
  if (is_anew) {
    start_anew(state);
  } else {
    const auto changed = cluster.changed_since(cluster_seen_);
    touched_.assign(changed.begin(), changed.end());
    for (const Timeline::Change& change : state.timeline().changes_since(timeline_seen_)) touch(state, change.end.job);
    if (ends.by == EndsBy::kLate)
      for (const JobId job : put_off.moved_since(put_off_seen_)) touch(state, job);
    std::ranges::sort(touched_);
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    opens_.resize(cluster.rows() * stride_, Millis::max());
    for (const NodeId n : touched_)
      if (!update(state, n)) {
        start_anew(state);
        break;
      }
  }
  cluster_seen_ = cluster.change_count();
  timeline_seen_ = state.timeline().change_count();
  put_off_seen_ = put_off.move_count();
}

void AvailabilityProfile::touch(const State& state, JobId job) {
  if (!state.is_live(job)) return;
  state.each_member(job, [&](MemberId, const Member& m) {
    if (m.is_placed()) touched_.push_back(m.node);
  });
}

void AvailabilityProfile::list_slots(const State& state, NodeId node) {
  slots_.clear();
  const Cluster& cluster = state.cluster();
  const DeviceMask devices = devices_for(cluster, node, kind_);
  const std::int32_t most = cluster.devices()[node.row()];
  if (devices.is_empty() || most < kind_.devices) return;
  freed_.clear();
  state.each_on(node, [&](const Member& m) {
    const std::int32_t freed = freed_among(state, m, devices);
    if (freed == 0 || !state.job(m.job).is_started || m.job == lasting_) return;
    if (const Millis at = ends_.of(state.job(m.job)); at != Millis::max()) freed_.emplace_back(at, freed);
  });
  std::ranges::sort(freed_);
  std::int32_t idle = idle_among(cluster, node, devices);
  const auto open = [&](Millis at) {
    const std::int32_t slots = std::clamp(idle, 0, most) / kind_.devices;
    if (slots > static_cast<std::int32_t>(slots_.size())) slots_.resize(static_cast<std::size_t>(slots), at);
  };
  open(Millis(0));
  for (const auto& [at, freed] : freed_) {
    idle += freed;
    open(at);
  }
}

void AvailabilityProfile::write(NodeId node) {
  const auto row = opens_.begin() + static_cast<std::ptrdiff_t>(node.row() * stride_);
  std::fill(std::ranges::copy(slots_, row).out, row + static_cast<std::ptrdiff_t>(stride_), Millis::max());
}

bool AvailabilityProfile::update(const State& state, NodeId node) {
  list_slots(state, node);
  if (slots_.size() > stride_) return false;
  const std::span<const Millis> before = opening(slots_of(node));
  for (Level& level : levels_) {
    DomainId& counted = grown(level.domain_of, node.row());
    const DomainId domain = domain_of(state, level.level, node);
    if (counted == domain) {
      if (!domain.is_none()) replace(grown(level.opened, domain.row()), before, slots_);
      continue;
    }
    if (!counted.is_none()) replace(level.opened[counted.row()], before, {});
    if (!domain.is_none()) replace(grown(level.opened, domain.row()), {}, slots_);
    counted = domain;
  }
  write(node);
  return true;
}

void AvailabilityProfile::start_anew(const State& state) {
  const Cluster& cluster = state.cluster();
  const auto devices = cluster.devices();
  const std::int32_t most = devices.empty() ? 0 : *std::ranges::max_element(devices);
  stride_ = static_cast<std::size_t>(most / kind_.devices);
  opens_.assign(cluster.rows() * stride_, Millis::max());
  for (std::size_t row = 0; row < cluster.rows(); ++row) {
    list_slots(state, NodeId(row));
    write(NodeId(row));
  }
  for (Level& level : levels_) build(state, level);
  is_started_ = true;
}

void AvailabilityProfile::build(const State& state, Level& level) const {
  const std::size_t rows = state.cluster().rows();
  level.domain_of.assign(rows, DomainId::none());
  std::vector<std::vector<Millis>> times;
  for (std::size_t row = 0; row < rows; ++row) {
    const DomainId domain = level.domain_of[row] = domain_of(state, level.level, NodeId(row));
    if (domain.is_none()) continue;
    const std::span<const Millis> slots = opening(slots_of(NodeId(row)));
    std::vector<Millis>& of_domain = grown(times, domain.row());
    of_domain.insert(of_domain.end(), slots.begin(), slots.end());
  }
  level.opened.clear();
  for (std::vector<Millis>& of_domain : times) {
    std::ranges::sort(of_domain);
    level.opened.emplace_back(of_domain);
  }
}

AvailabilityProfile::Level& AvailabilityProfile::built(const State& state, LevelId level) {
  for (Level& other : levels_)
    if (other.level == level) return other;
  Level& built = levels_.emplace_back(Level{level, {}, {}});
  build(state, built);
  return built;
}

void AvailabilityProfile::let_last(const State& state, JobId job) {
  touched_.clear();
  for (const JobId changed : {std::exchange(lasting_, job), job})
    if (!changed.is_none()) touch(state, changed);
  for (const NodeId n : touched_) update(state, n);
}

Millis AvailabilityProfile::earliest(const State& state, const SlotRequest& request) {
  if (request.lasting.is_none()) return first_open(state, request);
  let_last(state, request.lasting);
  const Millis at = first_open(state, request);
  let_last(state, JobId::none());
  return at;
}

Millis AvailabilityProfile::first_open(const State& state, const SlotRequest& request) {
  const std::vector<StepFunction>& opened = built(state, request.within).opened;
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(request.count, 0));
  if (!request.joined.is_none())
    return request.joined.row() < opened.size() ? opened[request.joined.row()].first_with(count) : Millis::max();
  Millis first = Millis::max();
  for (const StepFunction& of_domain : opened) first = std::min(first, of_domain.first_with(count));
  return first;
}

}  // namespace ashlar
