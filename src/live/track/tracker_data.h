// TrackerData: all that is known of nodes, pods and gangs: the tables that the functions of nodes/, pods/ and gangs/
// read and change, and the resulting events. A plain struct: whatever changes it keeps the records, the allocated rows
// and the events consistent.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kubeclient/reflector.h"
#include "live/lead/log.h"
#include "live/lead/quarantine.h"
#include "live/track/company/anti_affinity.h"
#include "live/track/company/default_spread.h"
#include "live/track/company/exclusion_constraints.h"
#include "live/track/company/namespace_terms.h"
#include "live/track/event_buffer.h"
#include "live/track/pods/served_resources.h"
#include "live/track/queues/queue_book.h"
#include "live/track/queues/queue_settings.h"
#include "live/track/tables.h"
#include "live/track/translate.h"
#include "live/track/volumes/chosen_volumes.h"
#include "live/track/volumes/evaluation_turns.h"
#include "live/track/volumes/late_claims.h"
#include "live/track/volumes/scarce_volumes.h"
#include "live/track/volumes/volume_book.h"
#include "live/track/volumes/volume_rooms.h"
#include "model/event.h"
#include "names/rows.h"
#include "names/value_rows.h"

namespace ashlar::kube {

struct TrackerOptions {
  std::vector<std::string> scheduler_names{"ashlar"};
  std::vector<LevelName> levels;      ///< outermost first
  std::vector<QueueSettings> queues;  ///< parents before children; `default` is added if missing
  QueueBook::Read read_queue = {};    ///< the spec of a Queue; empty: there are none
  std::map<std::string, std::string> queue_of_namespace;
  /// of newer releases of Kubernetes, as PodRules::unknown_fields names them: pods with them are placed all the same
  std::set<std::string> accepted_fields = {};
  SpreadDefaults spread_defaults = {};
  Quarantine* quarantine = nullptr;  ///< pods to keep out of the engine; outlives the tracker
  bool has_readers = false;          ///< changes of the tables are noted for the readers' copy
  std::vector<StatedClass> device_classes = {};
  /// interned first after these, in this order, so that a profile's mix can name them by row
  std::vector<std::string> models;
};

/// A pod, or the unbound part of a gang, that waits outside the engine since its binding failed.
struct BindHold {
  PodSlot pod = kNoPod;
  std::uint32_t generation = 0;  ///< of the pod's slot
  GangSlot gang = kNoGang;       ///< the whole gang instead of the pod
  std::uint64_t number = 0;      ///< 0: none
  int times = 0;                 ///< consecutive failures
};

/// Called whenever there may be something new to report on a pod or on a PodGroup.
struct TrackerListeners {
  std::function<void(PodSlot)> on_condition_due;
  std::function<void(GangSlot)> on_group_condition_due;
  std::function<void(PodSlot)> on_bound;            ///< a binding that this process requested is confirmed
  std::function<void(PodSlot)> on_volumes_changed;  ///< of a pod that has a place and is not bound yet
  std::function<void()> on_left;                    ///< a pod that was stopped for others is gone, or stays
  std::function<void(PodSlot)> on_devices_changed;  ///< another writer changed the devices of a bound pod of ours
  OnLog log;
};

/// A node as it was last read.
struct NodeRecord {
  Labels labels;
  NodeFacts facts;                    ///< as the engine has them; for a node that cannot be read the last valid ones
  PooledString unhealthy_setting;     ///< the annotation that names its unhealthy devices
  DeviceMask unhealthy;               ///< as the engine has them
  PooledString stated_setting;        ///< the annotation that tells its devices apart
  std::vector<StatedDevices> stated;  ///< the same as last read
  PooledString mistaken_key;          ///< that was probably meant to be one of these annotations
  LogPace log_pace;                   ///< of lines about its annotations
  std::vector<PodSlot> mounters;      ///< the pods with volumes that have a place here, in no order
  std::vector<PodSlot> owners;        ///< the pods bound here that have required anti-affinity, in no order
  /// the edition of the nodes created by the last report to the engine about it, of attachable volumes alone aside
  std::uint64_t reported_edition = 0;
};

struct TrackerData : Tables {
  TrackerData(TrackerOptions with, EventBuffer& out, TrackerListeners listeners);
  TrackerData(const TrackerData&) = delete;
  TrackerData& operator=(const TrackerData&) = delete;
  ~TrackerData();

  /// Nullptr if the namespace is not known.
  const Labels* labels_of_namespace(const PooledString& ns) const {
    const auto it = namespaces.find(ns);
    return it == namespaces.end() ? nullptr : &it->second.labels;
  }

  using OnUnknownNode = std::vector<std::pair<PodSlot, std::uint32_t>>;

  TrackerOptions options;
  EventBuffer& out;
  TrackerListeners listeners;
  Translator translator;
  AntiAffinity anti_affinity;
  bool are_labels_counted = false;  ///< see count_labels
  ExclusionConstraints exclusion_constraints;
  DefaultSpread default_spread;
  NamespaceTerms namespace_terms;
  ServedResources served_resources{names};
  VolumeBook volumes;
  LateChoices late_choices{volumes};
  ScarceVolumes scarce_volumes;
  VolumeRooms volume_rooms;
  EvaluationTurns evaluation_turns;     ///< pods whose volumes have changed, or were not looked at for want of time
  std::uint64_t looks_before_turn = 0;  ///< of late_choices
  bool has_volume_news() const {
    return volumes.has_news() || !evaluation_turns.is_empty() || !late_choices.is_settled();
  }
  boost::unordered_flat_map<PodSlot, std::vector<AttachedVolume>> attached;  ///< by CSI drivers, of pods with volumes
  std::size_t limit_columns_told = 0;  ///< limits of drivers that nodes have as a resource
  bool is_driver_excess_told = false;  ///< in the log
  boost::unordered_flat_map<PodSlot, ChosenVolumes> chosen_volumes;  ///< of pods with a place and unbound claims
  bool are_volumes_settling = false;                                 ///< pods are evaluated one after another
  /// known meanwhile, by namespace and name: a pod with a place uses it
  std::map<std::pair<PooledString, PooledString>, bool> claims_in_use;
  std::uint64_t claim_users_looked_for = 0;  ///< among all pods that name a claim, in total
  std::uint64_t constraints_renewed = 0;
  std::uint64_t owners_moved = 0;  ///< pods with anti-affinity looked at for changes of their node's labels, in total
  std::uint64_t bind_holds = 0;    ///< begun, in total
  LogPaces log_paces;              ///< by namespace, of lines about what pods claim
  std::vector<PooledString> scheduler_names;
  std::vector<DeviceClassDefined> device_classes;
  QueueBook queue_book;
  std::vector<std::vector<PooledString>> queue_namespaces;  ///< by queue: as in QueueSettings
  std::vector<NodeRecord> nodes;
  std::uint64_t nodes_edition = 0;  ///< of what has_node_news() looks for, in total
  /// removed nodes, and the pods that may be bound there
  boost::unordered_flat_map<PooledString, std::uint32_t, std::hash<PooledString>> unanswered_nodes;
  /// labels already logged as exceeding the limit of levels
  boost::unordered_flat_set<PooledString, std::hash<PooledString>> levels_told;
  /// of newer releases of Kubernetes, as they were logged
  boost::unordered_flat_set<PooledString, std::hash<PooledString>> unknown_fields;
  bool are_all_levels_named = false;  ///< no level is unused, as far as was searched
  std::uint64_t level_searches = 0;   ///< for an unused one, in total
  bool has_level_news = false;        ///< gangs whose label was no level may have one now
  boost::unordered_flat_map<PooledString, OnUnknownNode, std::hash<PooledString>> on_unknown_node;
  ByName<std::vector<PodSlot>> leaving;  ///< see Phase::kLeaving; by the name of the node
  /// other schedulers' pods that were nominated to nodes not known yet, by namespace and name
  std::map<std::pair<PooledString, PooledString>, Pod> nominated_early;
  boost::unordered_flat_map<PooledString, Namespace, std::hash<PooledString>> namespaces;
  Rows<JobId> job_rows;
  Rows<MemberId> member_rows;
  Millis opened;  ///< pods created before it were waiting before this process was: their age counts
  std::vector<GangSlot> dirty;
  std::vector<GangSlot> bound_outside;  ///< gangs with a bound pod that is not in the engine until they are settled
  /// end of each gang's grace period, ascending
  std::deque<std::pair<Millis, std::pair<PooledString, PooledString>>> impatient;
  boost::unordered_flat_map<PodSlot, Pod> missed;  ///< owners' changes of assumed pods: read when they wait again
  /// since the last settle(): pods that name no queue may now belong to another one
  std::vector<PooledString> moved_namespaces;
  std::set<PooledString> changed_queues;            ///< since then: pods may use them, or may not any more
  std::vector<PooledString> relabelled_namespaces;  ///< since then: rules of its pods may mean others by its labels
};

}  // namespace ashlar::kube
