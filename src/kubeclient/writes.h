// writes: what Ashlar writes to the cluster, one function for each write; the Answer is delivered through Api::poll().
// Nothing is retried here: a timeout leaves the effect unknown, and only the caller knows whether to re-read or to
// repeat. Times are milliseconds since the Unix epoch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "kubeclient/api.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/objects.h"
#include "kubeclient/pod_group_api.h"

namespace ashlar::kube {

/// RFC 7386: what the patch does not name stays.
inline constexpr const char* kMergePatch = "application/merge-patch+json";

/// Whether this write may still be sent. Called when it is about to be sent on a connection, however long it waited for
/// one; see http::Request::may_send.
using SendGuard = std::function<bool()>;

/// POST pods/NAME/binding with uid precondition. 201; 409 (kConflict) if bound, deleted, gated or another uid; 404 if
/// gone.
struct Binding {
  PooledString ns, pod, uid, node;
  /// merged into the pod by the server, e.g. ashlar.dev/devices
  std::vector<std::pair<std::string, std::string>> annotations;
};
std::string binding_body(const Binding& binding, Encoding encoding = Encoding::kJson);  // for tests
http::RequestId bind(Api& api, const Binding& binding, OnAnswer on_answer, Encoding encoding = Encoding::kJson,
                     SendGuard may_send = {});

struct PodRef {
  PooledString ns, name, uid;
};
/// POST pods/NAME/eviction (policy/v1) with uid precondition; the pod's own grace period. 201; 404 if gone; 409 if
/// another uid. A refusal by a budget of disruption (429), or by several (500), is given as 403 with reason
/// kDisruptionBudget: it is no trouble of the server's.
inline constexpr std::string_view kDisruptionBudget = "DisruptionBudget";
http::RequestId evict_pod(Api& api, const PodRef& pod, OnAnswer on_answer, SendGuard may_send = {});
/// Strategic-merge PATCH of pods/NAME/status: kStoppedCondition, with its words after kStoppedWords.
http::RequestId mark_stopped(Api& api, const PodRef& pod, std::string_view why, Millis now, OnAnswer on_answer,
                             SendGuard may_send = {});

/// Condition to set, with the caller's reason and message.
struct ConditionUpdate {
  std::string_view type = "PodScheduled";
  bool is_true = false;
  std::string_view reason, message;
  Millis now;
  /// its status differs from the one that the object has: lastTransitionTime is `now`; else it stays as it is
  bool is_transition = true;
  std::int64_t observed_generation = 0;  ///< of the object; 0: not stated
};
/// Strategic-merge PATCH of pods/NAME/status; the uid is a precondition (kConflict if the pod is another one of the
/// same name).
http::RequestId patch_pod_condition(Api& api, const Pod& pod, const ConditionUpdate& update, OnAnswer on_answer,
                                    SendGuard may_send = {});
/// PATCH of podgroups/NAME/status. `update.type` empty: the version's own "scheduled" condition.
http::RequestId patch_pod_group_condition(Api& api, PodGroupVersion version, const PodGroup& group,
                                          const ConditionUpdate& update, OnAnswer on_answer, SendGuard may_send = {});

/// What is written of a Queue.
struct QueueStatusUpdate {
  PooledString name, uid;
  std::int64_t generation = 0;
  std::string amounts;  ///< members of its status, ready-made, or empty
  bool is_accepted = false;
  std::string_view reason, message;
  Millis since;  ///< its condition is so
};
std::string queue_status_body(const QueueStatusUpdate& update);
/// Merge PATCH of queues/NAME/status with such a body; the uid in it is a precondition (kConflict).
http::RequestId patch_queue_status(Api& api, std::string_view name, std::string body, OnAnswer on_answer,
                                   SendGuard may_send = {});

/// events.k8s.io/v1 Event about one object.
struct EventNote {
  std::string_view kind = "Pod", api_version = "v1";
  PooledString ns, name, uid;
  std::string_view type = "Normal";  ///< or "Warning"
  std::string_view reason, action, note;
  std::string_view controller = "ashlar", instance;  ///< reportingController, reportingInstance
  Millis now;
  std::uint64_t sequence = 0;  ///< makes the event's name unique within the instance
};
http::RequestId create_event(Api& api, const EventNote& event, OnAnswer on_answer, SendGuard may_send = {});

// Leases for leader election. The resource version inside `lease` makes the update conditional.
http::RequestId get_lease(Api& api, std::string_view ns, std::string_view name,
                          std::function<void(Answer, Lease)> on_answer);
http::RequestId create_lease(Api& api, const Lease& lease, std::function<void(Answer, Lease)> on_answer);
http::RequestId update_lease(Api& api, const Lease& lease, std::function<void(Answer, Lease)> on_answer);

/// A node to post (ashlar load, tests, demo): created, then its status set (allocatable, Ready) and the server's
/// not-ready taint removed.
struct NodeSpec {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels, annotations;
  /// resource → quantity text, e.g. {"nvidia.com/gpu", "8"}
  std::vector<std::pair<std::string, std::string>> allocatable;
  std::vector<Taint> taints;
  bool unschedulable = false;
};
/// Three writes (create, status, untaint); `on_answer` sees the first failure or the last answer.
void post_node(Api& api, const NodeSpec& spec, Millis now, const OnAnswer& on_answer);

struct PodSpec {
  std::string ns = "default", name, scheduler_name, node_name, group_name, priority_class;
  std::vector<std::pair<std::string, std::string>> labels, annotations, node_selector;
  /// resource → quantity text; extended ones are set as limits too
  std::vector<std::pair<std::string, std::string>> requests;
  std::string image = "pause";
  std::string extra_spec_json;  ///< members of spec, ready-made, e.g. "\"hostNetwork\":true"; empty: none
};
std::string pod_body(const PodSpec& spec);  // for tests
http::RequestId create_pod(Api& api, const PodSpec& spec, OnAnswer on_answer);

struct PodGroupSpec {
  std::string ns = "default", name, topology_key, priority_class;
  std::int32_t min_count = 0;  ///< 0: basic policy
  std::vector<std::pair<std::string, std::string>> labels, annotations;
};
http::RequestId create_pod_group(Api& api, PodGroupVersion version, const PodGroupSpec& spec, OnAnswer on_answer);

http::RequestId create_namespace(Api& api, std::string_view name, OnAnswer on_answer);
/// DELETE; `grace_seconds` < 0 leaves the server's default.
http::RequestId remove(Api& api, std::string path, int grace_seconds, OnAnswer on_answer);

/// "/api/v1/namespaces/NS/pods/NAME" and "/api/v1/nodes/NAME", percent-encoded.
std::string pod_path(std::string_view ns, std::string_view name);
std::string node_path(std::string_view name);  // for tests

}  // namespace ashlar::kube
