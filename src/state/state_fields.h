// StateFields: every private column of the state, listed once, so that code that can write numbers and lists can write
// a state out and read it back exactly (the decision log's snapshots). `visit(column)` is called for each in a fixed
// order, with const access for a const state. Caches that rebuild themselves (feasibility sets, the change log) are not
// listed; after reading, forget_caches resets them.
#pragma once

#include <algorithm>
#include <concepts>
#include <type_traits>

#include "state/consistency.h"
#include "state/state.h"

namespace ashlar {

struct StateFields {
  template <class S, class Visit>
  requires std::same_as<std::remove_const_t<S>, State>
  static void each(S& s, Visit&& visit) {
    cluster(s.cluster_, visit);
    visit(s.queues_.parent_), visit(s.queues_.wanted_parent_), visit(s.queues_.quota_), visit(s.queues_.used_),
        visit(s.queues_.is_known_), visit(s.queues_.change_count_), visit(s.queues_.used_sums_.beyond);
    visit(s.queues_.keys_), visit(s.queues_.key_limits_), visit(s.queues_.key_used_), visit(s.queues_.shares_.columns_);
    visit(s.queues_.shares_.capacity_sums_.beyond), visit(s.queues_.ranks_), visit(s.queues_.gates_),
        visit(s.queues_.stops_), visit(s.queues_.recorded_usage_);
    visit(s.timeline_.blocks_);
    visit(s.demands_), visit(s.demand_quota_), visit(s.jobs_), visit(s.members_), visit(s.backlog_changes_),
        visit(s.freed_nodes_), visit(s.changed_nodes_), visit(s.unforeseen_frees_), visit(s.nominations_),
        visit(s.absent_devices_.rows_), visit(s.holds_.rows_), visit(s.gangs_.specs_), visit(s.gangs_.groups_),
        visit(s.grants_.rows_), visit(s.gave_way_.to_);
    visit(s.placement_digest_), visit(s.backlog_size_), visit(s.next_seq_), visit(s.revision_), visit(s.now_);
  }

  static void forget_caches(State& s) {
    Cluster& c = s.cluster_;
    c.companies_ = Companies();
    c.allowed_.assign(c.constraints_.size(), {});
    for (std::size_t row = 0; row < c.constraints_.size(); ++row)
      c.allowed_[row] = Cluster::Allowed(c.allowed_[row].definition, c.constraints_[row]);
    c.facts_log_.clear();
    c.labelled_nodes_.note_labels_changed();
    c.change_log_.clear();
    c.change_base_ = 0;
    c.overfull_devices_ = c.counted_overfull();
    c.device_values_.resize(c.rows());
    for (std::size_t row = 0; row < c.rows(); ++row) c.device_values_[row] = c.counted_device_values(row);
    c.layouts_.rebuild(c.facts_);
    s.queues_.usage_changes_.clear();
    s.queues_.is_usage_changed_.assign(s.queues_.parent_.size(), 0);
    s.queues_.displaced_ = s.queues_.counted_displaced();
    s.queues_.gated_ = s.queues_.gates_.size() - std::ranges::count_if(s.queues_.gates_, &QueueGate::is_open);
    s.queues_.renew_shares();
    s.list_node_members();
    s.running_.clear();
    for (std::size_t row = 0; row < s.jobs_.size(); ++row)
      if (s.jobs_[row].is_live && s.jobs_[row].is_started) s.note_running(JobId(row), true);
    s.holds_.list_all();
    s.list_yielding();
    c.company_changed_.clear();
    c.counts_ = counted_company(s);
    c.images_.rebuild();
    s.demand_uses_ = s.counted_demand_uses();
    s.constraint_uses_ = s.counted_constraint_uses();
    s.gangs_.uses_ = counted_gang_uses(s);
    s.grants_.rebuild(counted_grant_uses(s));
    s.gave_way_.rebuild();
  }

  static std::size_t constraint_count(const State& s) { return s.cluster_.constraints_.size(); }

  /// Whether all columns have the lengths and all rows the bounds that the code relies on. False for columns that no
  /// state ever had.
  static bool are_sound(const State& state);
  /// Whether what queues share comes to what the nodes have. Of sound columns.
  static bool are_capacities_counted(const State& state);

 private:
  template <class C, class Visit>
  static void cluster(C& c, Visit& visit) {
    visit(c.facts_), visit(c.is_live_), visit(c.live_count_), visit(c.free_), visit(c.allocatable_),
        visit(c.free_sums_.beyond);
    visit(c.idle_devices_), visit(c.free_milli_), visit(c.device_count_), visit(c.device_debt_), visit(c.first_device_),
        visit(c.device_request_counts_);
    visit(c.group_idle_devices_), visit(c.model_), visit(c.device_free_milli_), visit(c.device_free_mib_),
        visit(c.ports_), visit(c.spare_devices_), visit(c.unhealthy_), visit(c.withheld_.rows);
    visit(c.layouts_.rows_), visit(c.classes_.rows_);
    visit(c.images_.rows_);
    visit(c.constraints_), visit(c.digest_), visit(c.facts_change_count_);
    auto& index = c.counts_.index_;
    visit(index.sets_), visit(index.selectors_), visit(index.namespaces_), visit(c.rules_concerned_);
    auto& t = c.topology_;
    visit(t.nested_), visit(t.shape_version_), visit(t.domain_of_), visit(t.nodes_of_), visit(t.group_of_),
        visit(t.nodes_of_group_);
    visit(t.group_of_domain_), visit(t.group_of_chunk_);
  }
  static bool is_cluster_sound(const Cluster& c);
  static bool are_numbers_sound(const State& s);
  static bool is_topology_sound(const Cluster& c);
  static bool is_company_sound(const State& s);
  static bool are_shares_sound(const QueueTree& q);
  static bool are_images_sound(const Cluster& c);
  static bool are_jobs_sound(const State& s);
  static bool are_gangs_sound(const State& s);
  static bool are_grants_sound(const State& s);
  static bool are_holds_sound(const State& s);
  static bool are_ends_sound(const State& s);
};

}  // namespace ashlar
