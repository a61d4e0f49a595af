// Cluster: what the nodes have and what is free, as flat integer columns by NodeId and by device, with the indexes that
// placement needs. Every change goes through allocate/release/upsert_node/remove_node, which keep columns, sums, digest
// and change log consistent; feasibility sets are updated when read. allocate and release cost O(resources of the
// demand + devices), a fact change O(resources + levels). No strings, no pointers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bitset.h"
#include "base/exact_sums.h"
#include "base/id.h"
#include "model/constraint.h"
#include "model/demand.h"
#include "model/device_grant.h"
#include "model/event.h"
#include "state/cluster/labelled_nodes.h"
#include "state/cluster/node_columns.h"
#include "state/cluster/topology.h"
#include "state/counts/companies.h"
#include "state/counts/counts.h"
#include "state/counts/images.h"

namespace ashlar {

class Cluster : public NodeColumns {
 public:
  /// older changes are forgotten; caches that lag further are rebuilt
  static constexpr std::size_t kChangeLogMax = 1 << 16;
  static constexpr std::size_t kFactsLogMax = 1 << 14;  ///< the same of changed facts, for feasibility sets

  std::size_t live_count() const { return live_count_; }
  /// Devices claimed beyond their capacity by pods that others bound. Nothing new fits on them.
  std::uint64_t overfull_device_count() const { return overfull_devices_; }
  /// Whether the node is overcommitted in anything that this demand, placed there on these devices, uses. This happens
  /// if others bound pods there since its place was chosen. O(resources + ports) and the devices named.
  bool is_overcommitted(NodeId n, const Demand& demand, const DeviceMask& devices) const;

  const Topology& topology() const { return topology_; }
  const Constraint& constraint(ConstraintId id) const { return constraints_[id.row()]; }
  std::span<const Constraint> constraints() const { return constraints_; }
  std::size_t constraint_rows() const { return constraints_.size(); }
  /// A new number each time that the row is defined, for caches derived from its content.
  std::uint64_t definition(ConstraintId id) const { return allowed_[id.row()].definition; }
  /// Live nodes that the constraint allows by this rule, which should be the same at each call. Costs one evaluation
  /// for each node whose facts changed since the last call, so constraints that are not read cost nothing.
  const BitSet& allowed(ConstraintId id, const NodeRules& rules) const {
    const BitSet& alone = allowed_alone(id, rules);
    return allowed_[id.row()].has_company ? allowed_[id.row()].beside(company_of(id, rules)) : alone;
  }
  /// The same without its rules about other pods.
  const BitSet& allowed_alone(ConstraintId id, const NodeRules& rules) const;
  /// Whether pods that are placed change it.
  bool has_company(ConstraintId id) const { return allowed_[id.row()].has_company; }
  /// The nodes among them that opened or closed by the constraint's rules about other pods. `since` is 0 or what was
  /// given back before; is_known is false if all must be looked at. Valid until the next call.
  struct CompanyNews {
    std::uint64_t now = 0;
    bool is_known = true;
    std::span<const NodeId> nodes;
  };
  CompanyNews company_news(ConstraintId id, const NodeRules& rules, std::uint64_t since) const {
    const Company& company = company_of(id, rules);
    if (!company.remembers(since)) return {company.flip_count(), false, {}};
    return {company.flip_count(), true, company.flips_since(since)};
  }
  /// Whether the constraint's rule about other pods refuses the node.
  bool is_refused(ConstraintId id, const NodeRules& rules, NodeId node, CompanyRule rule) const {
    return allowed_[id.row()].has_company && company_of(id, rules).refuses(rule, node);
  }
  /// Whether the constraint prefers nodes by the pods that are placed or by the images that they have, or placed pods
  /// draw such pods to some.
  bool has_pod_preferences(ConstraintId id) const {
    const LabelSetId seen_as = constraints_[id.row()].seen_as;
    return allowed_[id.row()].has_wishes || (!seen_as.is_none() && !counts_.drawn_to(seen_as).empty()) ||
           (allowed_[id.row()].has_images && images_.is_on_any(constraints_[id.row()].images));
  }
  /// What they amount to. Valid until the next call.
  const PodPreferences& pod_preferences(ConstraintId id, const NodeRules& rules) const {
    return companies_.preferences_of(asked(id, rules), counts_, *this);
  }
  /// Whether a node has the layout. Such a row keeps its value. O(nodes).
  bool is_used(DeviceLayoutId id) const;
  const Images& images() const { return images_; }
  /// Placed pods by labels.
  const Counts& counts() const { return counts_; }
  /// What rules may know of nodes beside their facts.
  NodeContext context() const { return {counts_, &layouts_, &classes_}; }
  /// Devices of the node that are taken, nobody knows which.
  std::int32_t devices_owed(NodeId n) const { return device_debt_[n.row()]; }
  /// Pairs of a constraint and a node evaluated by allowed() so far.
  std::uint64_t evaluation_count() const { return evaluation_count_; }  // for tests

  // ---- changes ------------------------------------------------------------------------------------------------------
  void define_levels(std::uint32_t nested, std::uint32_t orthogonal) { topology_.define_levels(nested, orthogonal); }
  void define_constraint(ConstraintId id, Constraint constraint);
  /// A node was added or its facts changed. What is taken stays taken; free amounts may go negative.
  void upsert_node(NodeId n, const NodeFacts& facts);
  /// The same if only that changed of a live node. O(resources), O(devices).
  void set_capacity(NodeId n, const std::vector<std::int64_t>& allocatable);
  void set_devices(NodeId n, const NodeDevices& devices);
  /// Nothing new is placed on these devices of a live node; what is taken there stays taken. O(devices + unhealthy
  /// devices of the cluster).
  void set_unhealthy(NodeId n, const DeviceMask& unhealthy);
  /// The node and everything taken on it are removed.
  void remove_node(NodeId n);
  /// Takes the demand and these devices. Never fails: amounts go negative if necessary (pods bound by others). A
  /// whole-device demand whose mask names fewer devices than requested owes the rest to the node.
  void allocate(NodeId n, const Demand& demand, const DeviceMask& devices);
  /// Exactly undoes allocate with the same arguments.
  void release(NodeId n, const Demand& demand, const DeviceMask& devices);
  /// For devices that were allocated: what is granted of each is taken instead of what is requested (1), or the other
  /// way round (-1). Apart from the above, since it is rare and a placement is not to pay for it.
  void exchange(NodeId n, const DeviceRequest& request, const GrantedDevices& devices, int sign);

  /// Rows of what pods are to each other. A row in use keeps its value.
  void define(LabelSetId id, const LabelSet& set) { counts_.define(id, set); }
  void define(DeviceLayoutId id, const DeviceLayout& layout) { layouts_.define(id, layout); }
  /// For the nodes with such devices that is a change of facts. O(nodes).
  void define(DeviceClassId id, const DeviceClass& device_class) { note_company(define_class(id, device_class)); }
  /// Nodes are neither better nor worse for what waits than they were: nobody is woken.
  void note(const ImageSeen& seen) {
    images_.change(seen, [this](NodeId n) { return is_live(n); });
  }
  void define(PodSelectorId id, const PodSelector& selector) { counts_.define(id, selector); }
  void define(NamespaceId id, const NamespaceLabels& labels) {
    note_company(counts_.define(id, labels));
    if (is_company_noted_) note_rules(counts_.index().selecting_namespaces());
  }
  /// A member has these labels from now on (by = 1), or no longer (-1).
  void use(LabelSetId id, int by) { counts_.use(id, by); }
  /// Counts a pod that is placed with these labels and this constraint. Changes which pods the domains of the node keep
  /// away: for the nodes concerned that is a change of facts.
  void add_pod(MemberId member, LabelSetId labels, ConstraintId constraint, NodeId n) {
    note_company(counts_.add(member, labels, constraints_[constraint.row()], n));
    if (is_company_noted_) note_rules(counts_.matched());
  }
  /// Exactly undoes add_pod with the same arguments.
  void remove_pod(MemberId member, LabelSetId labels, ConstraintId constraint, NodeId n) {
    note_company(counts_.remove(member, labels, constraints_[constraint.row()], n));
    if (is_company_noted_) note_rules(counts_.matched());
  }
  /// From now on the nodes are noted from which other pods are kept away than before, or whose devices have other
  /// capabilities, and the selectors of rules about pods that come or go; stopping returns the nodes.
  void start_noting_company() { is_company_noted_ = true; }
  std::vector<NodeId> stop_noting_company() {
    is_company_noted_ = false;
    return std::exchange(company_changed_, {});
  }
  /// The same for a pod with these labels that a decision has placed.
  void note_pod(LabelSetId labels) {
    if (labels.is_none()) return;
    std::vector<PodSelectorId> matched;
    counts_.index().selectors_of(labels, matched);
    note_rules(matched);
  }
  /// The selectors noted, some perhaps several times; none: labels of nodes have changed, any rule may be concerned.
  std::span<const PodSelectorId> rules_concerned() const { return rules_concerned_; }
  void forget_rules_concerned() { rules_concerned_.clear(); }

  // ---- for caches and wake-ups --------------------------------------------------------------------------------------
  /// Number of changes so far; nodes changed since `since` are changed_since(since), or everything if that is too long
  /// ago.
  std::uint64_t change_count() const { return change_base_ + change_log_.size(); }
  /// Number of times that a node was added, removed or changed its facts; at least 1.
  std::uint64_t facts_change_count() const { return facts_change_count_; }
  bool remembers(std::uint64_t since) const { return since >= change_base_; }
  std::span<const NodeId> changed_since(std::uint64_t since) const {
    return std::span(change_log_).subspan(since - change_base_);
  }
  /// What is held on the node is another: a change also where jobs have all of it, so that no column tells.
  void note_held(NodeId n) { note_change(n); }
  /// All changes since then were undone exactly, and no reader that has seen one of them relies on the count any more.
  void forget_undone_changes(std::uint64_t since) {
    if (remembers(since)) change_log_.resize(since - change_base_);
  }

  /// Fingerprint of all live rows; equal states have equal digests.
  std::uint64_t digest() const { return digest_ + free_sums_.digest() + counts_.digest() + images_.digest(); }
  /// The same from scratch, O(everything), for checks.
  std::uint64_t recount_digest() const;  // for tests
  /// Recounts every derived column and index and compares. For checks; O(everything).
  bool is_consistent() const;

 private:
  friend struct StateFields;
  void ensure_row(NodeId n);
  void ensure_resource(std::size_t count);
  /// Runs `change` on the node's facts and columns and brings everything derived from them up to date.
  template <class Change>
  void change_facts(NodeId n, Change change);
  void allot_resources(std::size_t row, const std::vector<std::int64_t>& allocatable);
  void allot_devices(NodeId n, const NodeDevices& devices);
  static std::uint64_t sum_cell(std::size_t r, std::size_t row) { return row * resource::kColumnsMax + r; }
  void show_free(std::size_t r, std::size_t row, std::int64_t value);
  void add_free(std::size_t r, std::size_t row, std::int64_t by) {
    show_free(r, row, free_sums_.add(sum_cell(r, row), free_[r][row], by));
  }
  bool are_sums_sound() const;
  /// What a change of one device changes in the node's sums.
  struct Difference {
    std::uint64_t value = 0;  ///< as in the digest
    std::int32_t milli = 0;
  };
  /// What is free on a device, healthy or not.
  struct DeviceFree {
    std::int32_t milli = 0;
    std::int64_t mib = 0;
  };
  DeviceFree device_free(std::size_t row, std::size_t i) const {
    const std::size_t device = first_device_[row] + i;
    DeviceFree free{device_free_milli_[device], device_free_mib_[device]};
    for (const WithheldDevice& w : withheld_.among(static_cast<std::uint32_t>(device), 1)) {
      free.milli += w.milli;
      free.mib += w.mib;
    }
    return free;
  }
  /// Nullptr if the device is healthy.
  WithheldDevice* withheld_of(std::size_t row, std::size_t i) {
    return withheld_.rows.empty() || !unhealthy_[row].test(static_cast<int>(i))
               ? nullptr
               : withheld_.find(first_device_[row] + static_cast<std::uint32_t>(i));
  }
  void hide_unhealthy(std::size_t row);
  void show_unhealthy(std::size_t row);
  Difference write_device(std::size_t row, std::size_t device, std::int32_t milli, std::int64_t mib);
  void set_device(std::size_t row, std::size_t device, std::int32_t milli, std::int64_t mib);
  void add_device_values(std::size_t row, std::uint64_t by);
  std::uint64_t counted_device_values(std::size_t row) const;
  void set_debt(std::size_t row, std::int32_t debt);
  void count_idle(NodeId n, std::int32_t before, std::int32_t after);
  void recount_idle(NodeId n) { set_idle(n, idle_by_devices(n.row())); }
  void set_idle(NodeId n, std::int32_t idle);
  std::int32_t idle_by_devices(std::size_t row) const;
  void note_change(NodeId n);
  void note_facts_change(NodeId n) {
    if (facts_log_.size() >= kFactsLogMax) facts_log_.erase(facts_log_.begin(), facts_log_.begin() + kFactsLogMax / 2);
    facts_log_.push_back(n);
    ++facts_change_count_;
  }
  void note_company(std::span<const NodeId> changed);
  void note_rules(std::span<const PodSelectorId> selectors) {
    rules_concerned_.insert(rules_concerned_.end(), selectors.begin(), selectors.end());
  }
  /// Labels or taints of a node have changed, or it has come or gone.
  void note_labels() {
    labelled_nodes_.note_labels_changed();
    companies_.note_labels_changed();
    if (is_company_noted_) rules_concerned_.push_back(PodSelectorId::none());
  }
  void apply_demand(NodeId n, const Demand& demand, const DeviceMask& devices, int sign);

  ExactSums free_sums_;  ///< of free_: pods bound by others may request any amount
  std::size_t live_count_ = 0;
  std::uint64_t overfull_devices_ = 0;        ///< derived; not in snapshots
  std::vector<std::int32_t> device_debt_;     ///< devices owed by number
  std::vector<std::uint64_t> device_values_;  ///< by node, as in the digest; derived
  /// [devices per node] first rows of device ranges that dropped nodes left
  std::vector<std::vector<std::uint32_t>> spare_devices_;
  Topology topology_;
  Counts counts_;
  Images images_;
  bool is_company_noted_ = false;
  std::vector<NodeId> company_changed_;
  std::vector<PodSelectorId> rules_concerned_;
  mutable Companies companies_;  ///< a cache
  /// The feasibility set of a constraint as of the first `seen` changes of facts; 0: not computed.
  struct Allowed {
    Allowed() = default;
    Allowed(std::uint64_t number, const Constraint& constraint)
        : definition(number),
          has_company(constraint.has_company()),
          has_wishes(constraint.has_wishes_about_pods()),
          has_images(!constraint.images.on_nodes.empty()) {}
    /// Those of the nodes that rules about other pods leave open.
    const BitSet& beside(const Company& company) {
      if (beside_flips == company.flip_count()) return beside_company;
      beside_company = nodes;
      beside_company &= company.open();
      beside_flips = company.flip_count();
      return beside_company;
    }

    BitSet nodes;
    NodeRule rule = nullptr;         ///< the rule it was computed by
    bool is_rule_by_labels = false;  ///< it allows no node that the constraint's selector and affinity refuse
    std::uint64_t seen = 0;
    std::uint64_t definition = 0;
    bool has_company = false;
    bool has_wishes = false;
    bool has_images = false;
    BitSet beside_company;           ///< those of them that rules about other pods leave open
    std::uint64_t beside_flips = 0;  ///< number of flips that these count; 0: not computed
  };
  Company& company_of(ConstraintId id, const NodeRules& rules) const {
    return companies_.of(asked(id, rules), counts_, *this);
  }
  Companies::Asked asked(ConstraintId id, const NodeRules& rules) const {
    return {id, allowed_[id.row()].definition, constraints_[id.row()], rules, images_};
  }
  std::uint64_t bring_up(const Constraint& constraint, Allowed& set) const;

  std::vector<Constraint> constraints_;
  mutable std::vector<Allowed> allowed_;  ///< a cache: updated when read
  std::vector<NodeId> facts_log_;         ///< nodes whose facts changed last, in chronological order
  std::uint64_t facts_change_count_ = 1;
  mutable std::uint64_t evaluation_count_ = 0;
  mutable LabelledNodes labelled_nodes_;  ///< a cache
  std::uint64_t definition_count_ = 0;
  std::vector<NodeId> change_log_;
  std::uint64_t change_base_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace ashlar
