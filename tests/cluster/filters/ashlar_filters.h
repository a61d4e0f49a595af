// AshlarFilters: what Ashlar's engine allows on each node, asked of the same decoding, translation and rules as in the
// live scheduler: pods and nodes are listed and watched in protobuf, become events, and the engine's own table of counts
// answers. Nothing is decided and nothing written.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/driver.h"
#include "engine/engine.h"
#include "kubeclient/reflector.h"
#include "live/track/event_buffer.h"
#include "live/track/tracker.h"
#include "state/state.h"

namespace ashlar::filters {

struct NodeVerdict {
  std::string node;
  bool is_allowed = false;  ///< by the engine's table, which placements use
  /// kube-scheduler's names of the filters that refuse it, each asked alone; those that kube-scheduler lacks by our own.
  /// A pod of the node with the same disk refuses it by two rules, of which one stands for InterPodAffinity otherwise:
  /// then VolumeRestrictions is named, InterPodAffinity not
  std::vector<std::string> refused_by;
  std::vector<std::string> short_of;  ///< resources
};

struct PodVerdict {
  enum class Kind { kJudged, kNotYet, kHeld };
  Kind kind = Kind::kHeld;
  std::string words;                ///< the field that is not evaluated; why it is held; what contradicts itself
  bool is_held_by_volumes = false;  ///< of kHeld: no node would do
  std::vector<NodeVerdict> nodes;   ///< of kJudged, in order of their names
  std::vector<std::string> allowed() const;
};

class AshlarFilters {
 public:
  /// Lists and follows from now on; the API is polled by the caller.
  AshlarFilters(kube::Api& api, const std::string& scheduler_name);
  ~AshlarFilters();

  bool is_synced() const;
  bool knows_node(const std::string& name) const;
  bool knows_pod(const std::string& ns, const std::string& name) const;
  bool knows_claim(const std::string& ns, const std::string& name) const;
  /// Of each kind of objects about volumes the one of this name, and what says something of the node.
  bool knows_volumes(const std::string& name, const std::string& node) const;
  /// What kube-scheduler said of a pod that no node takes (PodScheduled=False, by the pod itself or by an error); empty:
  /// nothing yet.
  std::string refusal(const std::string& ns, const std::string& name) const;

  /// After judge() of the pod: the points of its preferences on the nodes that it may use; empty: it has none that
  /// depend on other pods or on images.
  std::map<std::string, Points> preferences(const std::string& ns, const std::string& name);
  /// With everything seen so far.
  PodVerdict judge(const std::string& ns, const std::string& name);

 private:
  struct Nobody final : Actuator {
    void submit(const Plan&) override {}
  };
  template <class T>
  void take(kube::Change<T>&& change) {
    tracker_.take(std::move(change));
  }
  void take_pod(kube::Change<kube::Pod>&& change);
  void catch_up();
  NodeVerdict judge(const NodeView& view, NodeId node, const FitTable& table) const;
  void refuse_by_facts(const NodeView& view, NodeId node, const FeasiblePolicy& policy, NodeVerdict& verdict) const;
  void refuse_by_volumes(const NodeView& view, NodeId node, const FeasiblePolicy& policy, NodeVerdict& verdict) const;
  void refuse_by_pods(const FitTable& table, NodeId node, const FeasiblePolicy& policy, NodeVerdict& verdict) const;
  void refuse_by_counts(const NodeView& view, NodeId node, const FeasiblePolicy& policy, NodeVerdict& verdict) const;
  std::string contradiction(const kube::PodRecord& pod, const PodVerdict& verdict);

  kube::WallClock clock_;
  kube::EventBuffer events_;
  kube::Tracker tracker_;
  State state_;
  Engine engine_;
  Nobody nobody_;
  Driver driver_;
  std::map<std::pair<std::string, std::string>, std::string> refusals_;  ///< by namespace and name
  kube::Reflector<kube::Namespace> namespaces_;
  kube::Reflector<kube::Node> nodes_;
  kube::Reflector<kube::Pod> pods_;
  kube::Reflector<kube::StorageClass> classes_;
  kube::Reflector<kube::CsiDriver> drivers_;
  kube::Reflector<kube::CsiNode> csi_nodes_;
  kube::Reflector<kube::CsiStorageCapacity> capacities_;
  kube::Reflector<kube::VolumeAttachment> attachments_;
  kube::Reflector<kube::PersistentVolume> volumes_;
  kube::Reflector<kube::PersistentVolumeClaim> claims_;
};

}  // namespace ashlar::filters
