#include "state/state_fields.h"

#include <algorithm>
#include <set>

#include "base/grown.h"
#include "state/cluster/capacity.h"

namespace ashlar {
namespace {

template <class Rows, class Fits>
bool all_of(const Rows& rows, Fits&& fits) {
  return std::all_of(rows.begin(), rows.end(), fits);
}

template <class Tag>
bool is_row_or_none(Id<Tag> id, std::size_t rows) {
  return id.is_none() || id.row() < rows;
}

/// A job may name a queue that is defined later; a corrupt number must not create columns of gigabytes.
constexpr std::size_t kQueueLeapMax = 1u << 22;
/// A hold may name a node that is added later.
constexpr std::size_t kNodeLeapMax = 1u << 27;

/// Amounts and times that are added up stay far from overflow; Millis::max() means unknown where a time may be.
bool is_number(std::int64_t v) { return v >= -(std::int64_t{1} << 60) && v <= (std::int64_t{1} << 60); }
bool is_small_number(std::int32_t v) { return v >= -(1 << 28) && v <= (1 << 28); }
bool is_rank(const QueueRank& r) { return r.weight >= 1 && r.weight <= QueueRank::kWeightMax; }
bool is_time(Millis t) { return is_number(t.value); }
bool is_time_or_unknown(Millis t) { return t == Millis::max() || is_time(t); }
bool is_mib(std::int64_t v) { return v >= -(std::int64_t{1} << 50) && v <= (std::int64_t{1} << 50); }

/// Saturated amounts exist: a pod may request more than exists anywhere. Only what is placed is added up.
bool is_amount(std::int64_t v) { return is_number(v) || v == INT64_MAX; }

/// How many members fit is found by division by what each requests.
bool is_sound_demand(const Demand& d) {
  const bool has_share = d.devices.count == 0 || d.devices.milli_each.value > 0;
  return has_share && d.devices.count >= 0 && d.devices.count <= kDevicesPerNodeMax &&
         d.devices.milli_each.value >= 0 && d.devices.milli_each.value <= kWholeDevice &&
         d.devices.memory_each.value >= 0 && is_mib(d.devices.memory_each.value) &&
         all_of(d.amounts, [](const ResourceAmount& a) {
           return a.resource.row() < resource::kRowsMax && is_amount(a.amount) && a.amount > 0;
         });
}

/// Whether each node of the column is in the list of its row and in no other, ascending: it is found when it moves.
template <class Row>
bool are_lists_of(const std::vector<Row>& row_of, const std::vector<std::vector<NodeId>>& lists) {
  std::size_t listed = 0;
  for (std::size_t row = 0; row < lists.size(); ++row) {
    const auto is_of_row = [&](NodeId n) { return n.row() < row_of.size() && row_of[n.row()] == Row(row); };
    const auto is_behind = [](NodeId a, NodeId b) { return !(a < b); };
    if (!all_of(lists[row], is_of_row) || std::ranges::adjacent_find(lists[row], is_behind) != lists[row].end())
      return false;
    listed += lists[row].size();
  }
  const auto in_any = std::ranges::count_if(row_of, [](Row row) { return !row.is_none(); });
  return listed == static_cast<std::size_t>(in_any);
}

/// False if the range is not there, or a part of it is another's.
bool take_range(std::vector<bool>& is_taken, std::size_t first, std::size_t count) {
  if (first > is_taken.size() || is_taken.size() - first < count) return false;
  const auto begin = is_taken.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(count);
  if (std::find(begin, end, true) != end) return false;
  std::fill(begin, end, true);
  return true;
}

bool is_sound_job(const Job& j) {
  return is_number(j.order_hint) && is_time(j.submitted) && is_time(j.queued_at) && is_time(j.started_at) &&
         is_time_or_unknown(j.runs_since) && is_time_or_unknown(j.saved_at) && j.stopping.is_sound() &&
         is_time(j.served) && is_time_or_unknown(j.remaining) && is_time_or_unknown(j.end_at) &&
         is_time_or_unknown(j.ends_by) && is_time_or_unknown(j.estimate.p50) && is_time_or_unknown(j.estimate.p90) &&
         is_number(j.devices_total);
}

}  // namespace

bool StateFields::are_numbers_sound(const State& s) {
  const Cluster& c = s.cluster_;
  const auto are_numbers = [](const auto& column) { return all_of(column, is_number); };
  const auto are_small = [](const auto& column) { return all_of(column, is_small_number); };
  if (!all_of(c.free_, are_numbers) || !all_of(c.allocatable_, are_numbers) || !are_numbers(c.group_idle_devices_))
    return false;
  if (!are_small(c.idle_devices_) || !are_small(c.free_milli_) || !are_small(c.device_debt_) ||
      !are_small(c.device_free_milli_))
    return false;
  if (!all_of(c.device_free_mib_, is_mib)) return false;
  if (!all_of(c.withheld_.rows, [](const WithheldDevice& w) { return is_small_number(w.milli) && is_mib(w.mib); }))
    return false;
  const bool are_facts = all_of(
      c.facts_, [&](const NodeFacts& f) { return are_numbers(f.allocatable) && is_mib(f.devices.memory_each.value); });
  const bool are_weights = all_of(c.constraints_, [](const Constraint& k) {
    return all_of(k.preferred, [](const PreferredTerm& p) { return p.weight >= -1'000'000 && p.weight <= 1'000'000; });
  });
  const bool are_ends = all_of(s.timeline_.blocks_, [](const Timeline::Block& block) {
    return all_of(block, [](const Timeline::End& e) { return is_time_or_unknown(e.at) && is_number(e.devices); });
  });
  return are_facts && are_weights && are_ends && all_of(s.queues_.used_, are_numbers) &&
         all_of(s.demand_quota_, [](const QuotaVector& q) { return all_of(q, is_amount); }) &&
         all_of(s.demands_, is_sound_demand) && all_of(s.jobs_, is_sound_job) &&
         all_of(s.nominations_, [&](MemberId m) { return m.row() < s.members_.size(); }) &&
         all_of(s.gave_way_.to_,
                [&](const auto& row) {
                  return s.is_live(row.first) && all_of(row.second, [&](JobId other) { return s.is_live(other); });
                }) &&
         all_of(s.absent_devices_.rows_,
                [&](const auto& row) {
                  return s.is_live(row.first) && row.second.node.row() < s.cluster_.rows() &&
                         is_sound(row.second.given);
                }) &&
         is_time(s.now_);
}

bool StateFields::is_cluster_sound(const Cluster& c) {
  const std::size_t rows = c.facts_.size();
  const auto has_rows = [&](const auto& column) { return column.size() == rows; };
  if (!has_rows(c.is_live_) || !has_rows(c.idle_devices_) || !has_rows(c.free_milli_) || !has_rows(c.device_count_) ||
      !has_rows(c.device_debt_))
    return false;
  if (!has_rows(c.first_device_) || !has_rows(c.device_request_counts_) || !has_rows(c.model_) || !has_rows(c.ports_) ||
      !has_rows(c.unhealthy_))
    return false;
  if (c.free_.size() != c.allocatable_.size() || c.free_.size() > resource::kColumnsMax) return false;
  if (!all_of(c.free_, has_rows) || !all_of(c.allocatable_, has_rows) ||
      (rows > 0 && c.free_.size() < resource::kFirstExtended))
    return false;
  constexpr std::uint64_t kChangesMax = std::uint64_t{1} << 62;  // 0 means "not computed" in feasibility sets
  if (c.facts_change_count_ == 0 || c.facts_change_count_ > kChangesMax) return false;
  if (!c.are_sums_sound()) return false;
  const std::size_t devices = c.device_free_milli_.size();
  if (c.device_free_mib_.size() != devices || c.spare_devices_.size() > kDevicesPerNodeMax + 1) return false;
  for (std::size_t n = 0; n < rows; ++n) {
    const bool has_devices = c.device_count_[n] >= 0 && c.device_count_[n] <= kDevicesPerNodeMax &&
                             c.facts_[n].devices.count == c.device_count_[n] &&
                             c.facts_[n].devices.device_class == c.model_[n];
    if (!has_devices || c.first_device_[n] > devices ||
        devices - c.first_device_[n] < static_cast<std::size_t>(c.device_count_[n]))
      return false;
    if (c.facts_[n].allocatable.size() > c.free_.size()) return false;
    if (!c.layouts_.are_known(c.facts_[n].devices)) return false;
  }
  const auto has_sound_capabilities = [](const auto& row) { return is_capability_list(row.capabilities); };
  if (!all_of(c.classes_.rows_, has_sound_capabilities) || !all_of(c.constraints_, has_sound_capabilities))
    return false;
  std::vector<bool> is_taken(devices);
  for (std::size_t n = 0; n < rows; ++n)
    if (!take_range(is_taken, c.first_device_[n], static_cast<std::size_t>(c.device_count_[n]))) return false;
  for (std::size_t width = 0; width < c.spare_devices_.size(); ++width)
    if (!all_of(c.spare_devices_[width], [&](std::uint32_t first) { return take_range(is_taken, first, width); }))
      return false;
  return std::ranges::equal(c.withheld_.rows, c.counted_unhealthy(), {}, &WithheldDevice::device) &&
         is_topology_sound(c);
}

bool StateFields::is_topology_sound(const Cluster& c) {
  const Topology& t = c.topology_;
  const std::size_t rows = c.facts_.size();
  if (t.domain_of_.size() != t.nodes_of_.size() || t.domain_of_.size() > Topology::kLevelsMax ||
      t.nested_ > t.domain_of_.size())
    return false;
  for (std::size_t l = 0; l < t.domain_of_.size(); ++l) {
    if (t.domain_of_[l].size() > rows || !are_lists_of(t.domain_of_[l], t.nodes_of_[l])) return false;
  }
  const std::size_t groups = t.nodes_of_group_.size();
  const auto is_group = [&](GroupId g) { return is_row_or_none(g, groups); };
  if (t.group_of_.size() > rows || !all_of(t.group_of_, is_group) || !all_of(t.group_of_domain_, is_group) ||
      !all_of(t.group_of_chunk_, is_group))
    return false;
  if (!are_lists_of(t.group_of_, t.nodes_of_group_) || c.group_idle_devices_.size() > groups) return false;
  for (std::size_t n = 0; n < rows;
       ++n) {  // a node in no group is in no domain; counters of the ready nodes' groups exist
    const auto is_in_a_domain = [&](const auto& level) { return !value_at(level, n).is_none(); };
    if (t.group_of(NodeId(n)).is_none() && std::ranges::any_of(t.domain_of_, is_in_a_domain)) return false;
    if (c.is_live_[n] == 0 || !c.facts_[n].is_ready) continue;
    const GroupId group = t.group_of(NodeId(n));
    if (group.row() >= c.group_idle_devices_.size()) return false;
  }
  return true;
}

bool StateFields::are_images_sound(const Cluster& c) {
  const auto is_node = [&](NodeId n) { return n.row() < c.is_live_.size() && c.is_live_[n.row()] != 0; };
  const auto is_sound = [&](const Images::Row& row) {
    const auto is_behind = [](NodeId a, NodeId b) { return !(a < b); };
    return row.bytes >= 0 && row.bytes <= Images::kBytesMax && all_of(row.nodes, is_node) &&
           std::ranges::adjacent_find(row.nodes, is_behind) == row.nodes.end();
  };
  return all_of(c.images_.rows_, is_sound) && all_of(c.constraints_, [](const Constraint& k) {
           return k.images.is_sound() && all_of(k.images.on_nodes, [](ImageId id) { return id.row() < kNodeLeapMax; });
         });
}

bool StateFields::is_company_sound(const State& s) {
  const Cluster& c = s.cluster_;
  const SelectorIndex& index = c.counts_.index_;
  const auto is_set = [&](LabelSetId id) { return is_row_or_none(id, index.sets_.size()); };
  const auto are_rules = [&](const Constraint& k) {
    return is_set(k.seen_as) && has_known_selectors(k, index.selectors_.size()) && is_sound_company(k);
  };
  return all_of(index.sets_, is_sound_label_set) && all_of(c.constraints_, are_rules) &&
         all_of(c.rules_concerned_, [&](PodSelectorId id) { return is_row_or_none(id, index.selectors_.size()); }) &&
         all_of(index.selectors_, is_sound_selector) &&
         all_of(index.namespaces_, [](const NamespaceLabels& n) { return are_sound_labels(n.labels); }) &&
         all_of(s.members_, [&](const Member& m) { return is_set(m.labels); });
}

bool StateFields::are_jobs_sound(const State& s) {
  const std::size_t jobs = s.jobs_.size();
  const std::size_t members = s.members_.size();
  const std::size_t levels = s.cluster_.topology_.domain_of_.size();
  std::vector<std::uint32_t> present(jobs, 0);
  for (const Member& m : s.members_) {
    if (m.phase == Member::Phase::kAbsent) {
      if (m.is_placed()) return false;
      continue;
    }
    if (m.job.row() >= jobs || !s.jobs_[m.job.row()].is_live || m.demand.row() >= s.demands_.size()) return false;
    if (m.constraint.row() >= s.cluster_.constraints_.size() || !is_row_or_none(m.next, members)) return false;
    if (m.is_placed() && (!s.cluster_.is_live(m.node) || !all_of(s.demand_quota_[m.demand.row()], is_number)))
      return false;
    if (m.is_placed() && m.devices != m.devices.among(s.cluster_.device_count_[m.node.row()])) return false;
    ++present[m.job.row()];
  }
  // Every live job's members form one list from the first to the last; a list with a cycle would be longer.
  for (std::size_t row = 0; row < jobs; ++row) {
    const Job& j = s.jobs_[row];
    if (!j.is_live) continue;
    std::uint32_t counted = 0;
    MemberId last;
    for (MemberId m = j.first; !m.is_none() && counted <= present[row]; m = s.members_[m.row()].next, ++counted) {
      if (m.row() >= members || s.members_[m.row()].job != JobId(row)) return false;
      last = m;
    }
    if (counted != j.members_present || counted != present[row] || last != j.last) return false;
    const bool is_queue = j.is_hold ? j.queue.is_none() : j.queue.row() < s.queues_.parent_.size() + kQueueLeapMax;
    if (!is_queue || !is_row_or_none(j.within, levels) || !is_row_or_none(j.prefer, levels)) return false;
  }
  return are_gangs_sound(s) && are_grants_sound(s) && are_holds_sound(s) && are_ends_sound(s);
}

/// Each row is a list that a member may have, and each member that names one has the devices of the list.
bool StateFields::are_grants_sound(const State& s) {
  if (!all_of(s.grants_.rows_, [](const DeviceGrants& grants) { return !grants.empty() && is_sound(grants); }))
    return false;
  return all_of(s.members_, [&](const Member& m) {
    if (m.grants.is_none()) return true;
    return m.is_placed() && m.grants.row() < s.grants_.rows() && s.demand(m.demand).devices.count > 0 &&
           devices_of(s.grants_of(m)) == m.devices;
  });
}

/// Each job with groups has their counts, and each of its members is in one of them.
bool StateFields::are_gangs_sound(const State& s) {
  const std::size_t levels = s.cluster_.topology_.domain_of_.size();
  std::size_t gangs = 0;
  for (std::size_t row = 0; row < s.jobs_.size(); ++row) {
    const Job& j = s.jobs_[row];
    if (!j.is_live || j.spec.is_none()) continue;
    ++gangs;
    if (j.spec.row() >= s.gangs_.rows()) return false;
    const std::vector<GangGroup>& groups = s.gang_spec(j.spec).groups;
    const auto counts = s.gangs_.groups_.find(JobId(row));
    if (groups.empty() || counts == s.gangs_.groups_.end() || counts->second.size() != groups.size()) return false;
    if (!all_of(groups, [&](const GangGroup& group) {
          return is_row_or_none(group.within, levels) && is_row_or_none(group.prefer, levels) &&
                 group.members_min <= GangSpec::kMinimumMax;
        }))
      return false;
    for (MemberId m = j.first; !m.is_none(); m = s.members_[m.row()].next)
      if (s.members_[m.row()].group >= groups.size()) return false;
    if (!are_groups_consistent(s, JobId(row)) || j.groups_lack != s.counted_groups_lack(JobId(row))) return false;
  }
  return gangs == s.gangs_.count();
}

/// Each hold is a job that runs, and each of its parts a member of it.
bool StateFields::are_holds_sound(const State& s) {
  const auto is_member_of = [&](const HoldPart& part, JobId job) {
    return s.is_live(part.member.member) && s.member(part.member.member).job == job && part.node.row() < kNodeLeapMax;
  };
  const auto is_sound = [&](const Hold& hold) {
    return s.is_live(hold.job) && s.job(hold.job).is_hold && s.job(hold.job).is_started &&
           is_time_or_unknown(hold.until) && is_time(hold.from) &&
           (hold.owner.queue.is_none() || hold.owner.queue.row() < s.queues_.parent_.size() + kQueueLeapMax) &&
           all_of(hold.parts, [&](const HoldPart& part) { return is_member_of(part, hold.job); });
  };
  std::set<JobId> named;
  for (const Hold& hold : s.holds()) named.insert(hold.job);
  const auto jobs = std::count_if(s.jobs_.begin(), s.jobs_.end(), [](const Job& j) { return j.is_live && j.is_hold; });
  return static_cast<std::size_t>(jobs) == s.holds().size() && named.size() == s.holds().size() &&
         all_of(s.holds(), is_sound);
}

/// Exactly one end for each started job, in order: each is found again when its job stops.
bool StateFields::are_ends_sound(const State& s) {
  const auto has_length = [](const Timeline::Block& b) { return !b.empty() && b.size() <= Timeline::kBlockMax; };
  if (!all_of(s.timeline_.blocks_, has_length)) return false;
  const auto is_of_its_job = [&](const Timeline::End& e) {
    if (!s.is_live(e.job)) return false;
    const Job& j = s.job(e.job);
    return j.is_started && e.at == j.end_at && e.devices == j.devices_total;
  };
  const Timeline::End* before = nullptr;
  for (const Timeline::End& end : s.timeline_.ends()) {
    if (!is_of_its_job(end) || (before != nullptr && !(*before < end))) return false;
    before = &end;
  }
  const auto started =
      std::count_if(s.jobs_.begin(), s.jobs_.end(), [](const Job& j) { return j.is_live && j.is_started; });
  return static_cast<std::size_t>(started) == s.timeline_.ends().size();
}

bool StateFields::are_shares_sound(const QueueTree& q) {
  const bool are_sums_sound = q.shares_.capacity_sums_.is_sound([&](std::uint64_t column) {
    return column < q.shares_.columns_.size() ? q.shares_.columns_[column].capacity : 0;
  });
  if (!are_sums_sound) return false;
  const auto is_stated = [](std::int64_t v, std::int64_t none) { return v == none || (v >= 0 && is_number(v)); };
  return all_of(q.shares_.columns_, [&](const QueueShares::Column& c) {
    return c.guarantees.size() <= q.parent_.size() && c.borrows.size() == c.guarantees.size() &&
           c.lends.size() == c.guarantees.size() && c.capacity >= 0 &&
           all_of(c.lends, [&](std::int64_t v) { return is_stated(v, kUnlimited); }) &&
           all_of(c.guarantees, [&](std::int64_t v) { return is_stated(v, QuotaShare::kNotNamed); }) &&
           all_of(c.borrows, [&](std::int64_t v) { return is_stated(v, kUnlimited); });
  });
}

bool StateFields::are_capacities_counted(const State& s) {
  const QueueShares& shares = s.queues_.shares_;
  for (std::size_t column = 0; column < shares.columns_.size(); ++column) {
    ExactSums::Wide sum = 0;
    for (std::size_t row = 0; row < s.cluster_.rows(); ++row)
      sum += capacity_of(s.cluster_, NodeId(row), shares.columns_[column].of);
    if (shares.capacity_sums_.value(column, shares.columns_[column].capacity) != sum) return false;
  }
  return true;
}

bool StateFields::are_sound(const State& s) {
  const QueueTree& q = s.queues_;
  const std::size_t queues = q.parent_.size();
  if (queues == 0 || q.quota_.size() != queues || q.used_.size() != queues || q.is_known_.size() != queues ||
      q.wanted_parent_.size() != queues || q.parent_[0] != q.wanted_parent_[0])
    return false;
  if (q.key_limits_.size() != q.keys_.size() || q.key_used_.size() != q.keys_.size()) return false;
  for (std::size_t k = 0; k < q.keys_.size(); ++k) {
    const bool is_twice = std::count(q.keys_.begin(), q.keys_.end(), q.keys_[k]) > 1;
    if (is_twice || q.key_limits_[k].size() > queues || q.key_used_[k].size() > queues ||
        !all_of(q.key_used_[k], is_number))
      return false;
  }
  if (q.ranks_.size() != queues || q.gates_.size() != queues || q.stops_.size() != queues ||
      !all_of(q.stops_, [](const StopRules& r) { return r.is_sound(); }) || !all_of(q.ranks_, is_rank) ||
      !all_of(q.gates_, [](const QueueGate& g) { return is_number(g.drained_since.value); }) || !are_shares_sound(q))
    return false;
  const auto is_record = [&](const QueueTree::RecordedUsage& r) {
    return r.queue.row() < queues && r.amount >= 0 && is_number(r.amount);
  };
  if (!all_of(q.recorded_usage_, is_record) || !q.are_sums_sound()) return false;
  for (std::size_t row = 1; row < queues; ++row)
    if (q.parent_[row] != QueueId(0u) && q.parent_[row] != q.wanted_parent_[row]) return false;
  for (std::size_t row = 0; row < queues; ++row) {
    std::size_t depth = 0;
    for (QueueId at(row); !at.is_none(); at = q.parent_[at.row()])
      if (at.row() >= queues || ++depth > queues) return false;
  }
  const auto is_node = [&](NodeId n) { return n.row() < s.cluster_.rows(); };
  const auto is_of_a_job = [&](const BacklogChange& change) { return change.job.row() < s.jobs_.size(); };
  if (!all_of(s.freed_nodes_, is_node) || !all_of(s.changed_nodes_, is_node) ||
      !all_of(s.backlog_changes_, is_of_a_job))
    return false;
  return s.demand_quota_.size() == s.demands_.size() && are_numbers_sound(s) && is_cluster_sound(s.cluster_) &&
         is_company_sound(s) && are_images_sound(s.cluster_) && are_jobs_sound(s);
}

}  // namespace ashlar
