// translate: Kubernetes objects as the engine's values: demands and constraints, one row for each distinct content, so
// that pods of one template share it, and node facts. New rows and rows given back are announced through EventBuffer.
// Cost: a comparison for a pod of the same template as the previous one, else a hash lookup.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kubeclient/objects.h"
#include "live/track/company/company_rows.h"
#include "live/track/event_buffer.h"
#include "live/track/names.h"
#include "live/track/nodes/asked_keys.h"
#include "live/track/nodes/images.h"
#include "live/track/volumes/node_terms.h"
#include "model/event.h"
#include "names/value_rows.h"
#include "text/device_text.h"
#include "text/stated_devices.h"

namespace ashlar::kube {

inline constexpr std::string_view kGpuMemoryAsk = "ashlar.dev/gpu-memory";
inline constexpr std::string_view kUnhealthyAnnotation = "ashlar.dev/unhealthy-gpus";
inline constexpr std::string_view kStatedDevicesAnnotation = "ashlar.dev/gpus";
inline constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";

/// The label of the pod, or its annotation of the same name (which may hold what a label value may not); nullptr if it
/// has neither.
const PooledString* find_setting(const Pod& pod, std::string_view key);

/// Why a pod that requests a resource beyond the limit of columns is held.
std::string refusal_text(const PooledString& resource);

class Translator {
 public:
  Translator(ObjectNames& names, EventBuffer& out, CompanyRows::NamespaceLookup namespaces = {})
      : names_(names), out_(out), company_(names, out, std::move(namespaces)), asked_keys_(names), images_(out) {}

  // Rows are used by pods: see use() and leave(). An unused row is given back when the engine has taken the event
  // (note_taken).

  /// What the pod needs from a node. kInvalid names the field that Ashlar cannot account for.
  Result<DemandId> demand(const Pod& pod);
  /// Whether demand() would return this row. Creates none.
  bool is_demand_of(const Pod& pod, DemandId id);
  /// Why the settings of a pod with this demand that name classes or capabilities of GPUs cannot be met; empty: they
  /// can.
  std::string problem_of_device_settings(const Pod& pod, DemandId id) const;
  /// What a bound pod holds, however invalid its requests: what cannot be read is left out, and devices are rounded up
  /// to whole ones if two ways of requesting them contradict each other. The same as demand() if that succeeds.
  DemandId held_by(const Pod& pod);
  /// The nodes it may run on, where bound pods may keep pods with these labels away (none: with none).
  /// `volumes`: where its volumes can be used; null: everywhere.
  ConstraintId constraint(const PodRules& rules, LabelSetId seen_as, const CompanyRules& company,
                          const VolumeTerms* volumes = nullptr);
  /// The same without labels, by the object that pods of one template share.
  ConstraintId constraint(const std::shared_ptr<const PodRules>& rules);

  /// With those of its labels that a constraint asks for.
  NodeFacts node_facts(const Node& node);
  /// Keys of node labels that constraints ask for.
  AskedKeys& asked_keys() { return asked_keys_; }
  const AskedKeys& asked_keys() const { return asked_keys_; }
  /// Keys that only constraints of the past asked for are forgotten, unless nodes have them.
  void renew_asked_keys(const std::function<bool(const PooledString& key)>& is_on_nodes);
  /// The devices, all as `labelled` says but for what is stated of some of them.
  NodeDevices devices(const NodeDevices& labelled, const std::vector<StatedDevices>& stated);
  /// A node has the second layout in place of the first; none: it has no layout.
  void replace(DeviceLayoutId before, DeviceLayoutId now);
  /// The row of these groups of a gang.
  GangSpecId gang_spec(GangSpec spec);
  const GangSpec& spec_of(GangSpecId id) const { return specs_[id]; }
  /// Nodes have new resources: templates are read again.
  void forget_templates() { std::fill(std::begin(seen_), std::end(seen_), Seen()); }
  /// The same demand once nodes have what it requests: with columns in place of names without one.
  DemandId renewed(DemandId id);
  /// The same demand with these amounts as what CSI drivers have to attach.
  DemandId with_volumes(DemandId id, const std::vector<Amount>& amounts);
  /// Resources that the demand requests and nodes have, but no column tracks; empty if there are none.
  PooledString refused_in(DemandId id) const;
  const Demand& demand_of(DemandId id) const { return demands_[id]; }
  /// Whether some pod's demand is one of which `is_it` says so. O(demands).
  template <class Question>
  bool has_demand(Question&& is_it) const {
    bool has = false;
    demands_.each([&](DemandId, const Demand& demand) { has = has || is_it(demand); });
    return has;
  }
  const Constraint& constraint_of(ConstraintId id) const { return constraints_[id]; }  // for tests
  /// A constraint that allows every node; for bound pods, whose rules no longer matter.
  ConstraintId anywhere();
  /// The same for a bound pod with required anti-affinity, which keeps others away.
  ConstraintId acting_on_others(const PooledString& ns, const PodRules& rules);
  bool acts_on_others(ConstraintId id) const { return constraints_[id].acts_on_others(); }
  /// Whether pods of the two keep the same pods away, and draw the same pods.
  bool act_alike_on_others(ConstraintId a, ConstraintId b) const {
    return constraints_[a].keeps_away == constraints_[b].keeps_away &&
           constraints_[a].prefers_pods == constraints_[b].prefers_pods;
  }
  /// What pods are to each other.
  CompanyRows& company() { return company_; }
  const CompanyRows& company() const { return company_; }  // for tests

  /// Images on nodes.
  NodeImages& images() { return images_; }
  const NodeImages& images() const { return images_; }
  /// Constraints of templates are built anew: an image may make a difference now.
  void forget_rules() { std::fill(std::begin(seen_rules_), std::end(seen_rules_), SeenRules()); }

  // ---- use of rows --------------------------------------------------------------------------------------------------
  void use(DemandId id) { demands_.use(id); }
  void leave(DemandId id) { demands_.leave(id); }
  void use(ConstraintId id) { constraints_.use(id); }
  void leave(ConstraintId id) { constraints_.leave(id); }
  void use(GangSpecId id) { specs_.use(id); }
  void leave(GangSpecId id) { specs_.leave(id); }
  /// The engine has taken all events: unused rows are given back. Calls `on_gone` for each constraint among them.
  void note_taken(const std::function<void(ConstraintId)>& on_gone);
  /// Rows given back since the last call of forget_given_back().
  std::size_t given_back() const { return given_back_; }
  void forget_given_back() { given_back_ = 0; }
  void add_to(ObjectNames::InUse& in_use) const;
  std::size_t demand_count() const { return demands_.size(); }  // for tests
  std::size_t constraint_count() const { return constraints_.size(); }

 private:
  std::vector<DomainId> domains_of(const Labels& labels);
  struct Seen {
    Resources requests;
    std::shared_ptr<const PodRules> rules;
    PooledString memory_request;
    DemandId id;
  };
  Result<Demand> build_demand(const Pod& pod, const PooledString* memory_request);
  /// Everything but devices.
  Demand plain_demand(const Pod& pod);
  DemandId intern(Demand demand);
  ConstraintId intern(Constraint constraint);
  DeviceLayoutId intern(DeviceLayout layout);
  LabelExpression expression(const Requirement& requirement, bool is_field);
  ashlar::NodeTerm term(const NodeTerm& from);
  static void add_class(DeviceClassId id, Constraint& into);
  void take_device_settings(const PodRules& rules, Constraint& into);
  void take_models(const PodRules& rules, Constraint& into, bool& is_affinity_taken);

  ObjectNames& names_;
  EventBuffer& out_;
  ValueRows<DemandId, Demand> demands_;
  ValueRows<ConstraintId, Constraint> constraints_;
  ValueRows<DeviceLayoutId, DeviceLayout> layouts_;
  ValueRows<GangSpecId, GangSpec> specs_;
  CompanyRows company_;
  AskedKeys asked_keys_;
  NodeImages images_;
  std::size_t given_back_ = 0;
  static constexpr std::size_t kSeen = 8;  ///< templates cached; pods of a template arrive in sequence
  Seen seen_[kSeen];
  std::size_t next_seen_ = 0;
  struct SeenRules {
    std::shared_ptr<const PodRules> rules;
    ConstraintId id;
  };
  SeenRules seen_rules_[kSeen];
  std::size_t next_seen_rules_ = 0;
  ConstraintId anywhere_;
};

}  // namespace ashlar::kube
