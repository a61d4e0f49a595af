#include "kubeclient/writes.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "http/url.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/json_writer.h"
#include "kubeclient/proto/messages.h"

namespace ashlar::kube {
namespace {

using http::Method;
constexpr Millis kWriteTimeout{15'000};
// A lease must be decided well within its renew deadline (5 s), or the leader has to step down anyway.
constexpr Millis kLeaseTimeout{3'000};
constexpr const char* kStrategicPatch = "application/strategic-merge-patch+json";

enum class Precision { kSeconds, kMicros };

/// RFC 3339 in UTC, as Kubernetes writes it.
std::string time_text(Millis time, Precision precision) {
  const std::int64_t thousandths = (time.value % 1000 + 1000) % 1000;  // also before 1970, where a clock was never set
  const std::time_t seconds = static_cast<std::time_t>((time.value - thousandths) / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  if (precision == Precision::kMicros)
    std::snprintf(text + length, sizeof text - length, ".%03d000Z", static_cast<int>(thousandths));
  else
    std::snprintf(text + length, sizeof text - length, "Z");
  return text;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

void write_pairs(JsonWriter& w, std::string_view name, const Pairs& pairs) {
  if (pairs.empty()) return;
  w.key(name).begin_object();
  for (const auto& [key, value] : pairs) w.member(key, value);
  w.end_object();
}

std::string ns_path(std::string_view prefix, std::string_view ns, std::string_view kind) {
  std::string path(prefix);
  path += "/namespaces/";
  path += http::percent_encode(ns);
  path += '/';
  path += kind;
  return path;
}

http::RequestId post(Api& api, std::string path, std::string body, OnAnswer on_answer, SendGuard may_send = {}) {
  return api.send({.method = Method::kPost,
                   .path = std::move(path),
                   .body = std::move(body),
                   .timeout = kWriteTimeout,
                   .may_send = std::move(may_send)},
                  std::move(on_answer));
}

http::RequestId patch(Api& api, std::string path, std::string body, const char* content_type, OnAnswer on_answer,
                      SendGuard may_send = {}) {
  return api.send({.method = Method::kPatch,
                   .path = std::move(path),
                   .body = std::move(body),
                   .content_type = content_type,
                   .timeout = kWriteTimeout,
                   .may_send = std::move(may_send)},
                  std::move(on_answer));
}

/// A patch that names another uid than the object's is answered 422 "metadata.uid: field is immutable" (seen on
/// 1.37.1), not 409 as a binding is; for callers both mean that the known object is gone.
OnAnswer uid_mismatch_is_conflict(OnAnswer on_answer) {
  return [on_answer = std::move(on_answer)](Answer answer) {
    if (answer.status == 422 && answer.result.error().message.find("metadata.uid") != std::string::npos)
      answer.result = Error{Error::Kind::kConflict, answer.result.error().message};
    on_answer(std::move(answer));
  };
}

std::string_view effect_text(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kAny:
    case TaintEffect::kNoSchedule:
      return "NoSchedule";
    case TaintEffect::kPreferNoSchedule:
      return "PreferNoSchedule";
    case TaintEffect::kNoExecute:
      return "NoExecute";
  }
  return "NoSchedule";
}

void write_taints(JsonWriter& w, const std::vector<Taint>& taints) {
  w.key("taints").begin_array();
  for (const Taint& taint : taints) {
    w.begin_object().member("key", taint.key.view());
    if (!taint.value.empty()) w.member("value", taint.value.view());
    w.member("effect", effect_text(taint.effect)).end_object();
  }
  w.end_array();
}

std::string lease_body(const Lease& lease) {
  JsonWriter w;
  w.begin_object().member("apiVersion", "coordination.k8s.io/v1").member("kind", "Lease");
  w.key("metadata").begin_object().member("name", lease.name.view()).member("namespace", lease.ns.view());
  if (!lease.resource_version.empty()) w.member("resourceVersion", lease.resource_version);
  w.end_object().key("spec").begin_object().member("holderIdentity", lease.holder);
  w.member("leaseDurationSeconds", lease.duration_seconds).member("leaseTransitions", lease.transitions);
  if (lease.acquired.value != 0) w.member("acquireTime", time_text(lease.acquired, Precision::kMicros));
  if (lease.renewed.value != 0) w.member("renewTime", time_text(lease.renewed, Precision::kMicros));
  w.end_object().end_object();
  return w.take();
}

std::string lease_path(std::string_view ns, std::string_view name) {
  std::string path = ns_path("/apis/coordination.k8s.io/v1", ns, "leases");
  if (!name.empty()) path += "/" + http::percent_encode(name);
  return path;
}

using OnLease = std::function<void(Answer, Lease)>;

http::RequestId send_lease(Api& api, http::Request request, OnLease on_answer) {
  request.timeout = kLeaseTimeout;
  // Neither queued behind bindings nor on their connection: otherwise a lease delayed by them would be lost for no
  // reason.
  request.is_urgent = request.has_own_connection = true;
  return api.send(std::move(request), [on_answer = std::move(on_answer)](Answer answer) {
    Lease lease;
    if (answer.ok()) {
      Result<Lease> read = decode_object<Lease>(answer.body);
      if (read)
        lease = std::move(read).value();
      else
        answer.result = read.error();
    }
    on_answer(std::move(answer), std::move(lease));
  });
}

void write_condition(JsonWriter& w, std::string_view type, const ConditionUpdate& update) {
  w.begin_object().member("type", type).member("status", update.is_true ? "True" : "False");
  if (update.observed_generation > 0) w.member("observedGeneration", update.observed_generation);
  w.member("reason", update.reason).member("message", update.message);
  if (update.is_transition) w.member("lastTransitionTime", time_text(update.now, Precision::kSeconds));
}

/// The binding in Kubernetes' protobuf envelope.
std::string binding_message(const Binding& binding) {
  pb::Binding message;
  pb::ObjectMeta& meta = *message.mutable_metadata();
  meta.set_name(binding.pod.str());
  meta.set_namespace_(binding.ns.str());
  if (!binding.uid.empty()) meta.set_uid(binding.uid.str());
  for (const auto& [key, value] : binding.annotations) {
    pb::StringPair& pair = *meta.add_annotations();
    pair.set_key(key);
    pair.set_value(value);
  }
  message.mutable_target()->set_kind("Node");
  message.mutable_target()->set_apiversion("v1");
  message.mutable_target()->set_name(binding.node.str());
  pb::Unknown envelope;
  envelope.mutable_typemeta()->set_apiversion("v1");
  envelope.mutable_typemeta()->set_kind("Binding");
  message.SerializeToString(envelope.mutable_raw());
  return std::string("k8s\0", 4) + envelope.SerializeAsString();
}

}  // namespace

std::string pod_path(std::string_view ns, std::string_view name) {
  return ns_path("/api/v1", ns, "pods") + "/" + http::percent_encode(name);
}
std::string node_path(std::string_view name) { return "/api/v1/nodes/" + http::percent_encode(name); }

std::string binding_body(const Binding& binding, Encoding encoding) {
  if (encoding == Encoding::kProtobuf) return binding_message(binding);
  JsonWriter w;
  w.begin_object().member("apiVersion", "v1").member("kind", "Binding");
  w.key("metadata").begin_object().member("name", binding.pod.view()).member("namespace", binding.ns.view());
  if (!binding.uid.empty()) w.member("uid", binding.uid.view());
  write_pairs(w, "annotations", binding.annotations);
  w.end_object()
      .key("target")
      .begin_object()
      .member("apiVersion", "v1")
      .member("kind", "Node")
      .member("name", binding.node.view());
  w.end_object().end_object();
  return w.take();
}

http::RequestId bind(Api& api, const Binding& binding, OnAnswer on_answer, Encoding encoding, SendGuard may_send) {
  const char* type = encoding == Encoding::kProtobuf ? kProtobufType : kJsonType;
  return api.send({.method = Method::kPost,
                   .path = pod_path(binding.ns, binding.pod) + "/binding?timeout=" +
                           std::to_string(kWriteTimeout.value / 1000) + "s",  // a slow webhook holds no place longer
                   .body = binding_body(binding, encoding),
                   .content_type = type,
                   .accept = type,
                   .timeout = kWriteTimeout,
                   .may_send = std::move(may_send)},
                  std::move(on_answer));
}

http::RequestId patch_pod_condition(Api& api, const Pod& pod, const ConditionUpdate& update, OnAnswer on_answer,
                                    SendGuard may_send) {
  JsonWriter w;
  w.begin_object().key("metadata").begin_object().member("uid", pod.uid.view()).end_object();
  w.key("status").begin_object().key("conditions").begin_array();
  write_condition(w, update.type, update);
  w.key("lastProbeTime").null().end_object().end_array().end_object().end_object();
  return patch(api, pod_path(pod.ns, pod.name) + "/status", w.take(), kStrategicPatch,
               uid_mismatch_is_conflict(std::move(on_answer)), std::move(may_send));
}

http::RequestId evict_pod(Api& api, const PodRef& pod, OnAnswer on_answer, SendGuard may_send) {
  JsonWriter w;
  w.begin_object().member("apiVersion", "policy/v1").member("kind", "Eviction");
  w.key("metadata").begin_object().member("name", pod.name.view()).member("namespace", pod.ns.view()).end_object();
  w.key("deleteOptions").begin_object().key("preconditions").begin_object();
  w.member("uid", pod.uid.view()).end_object().end_object().end_object();
  const auto told_apart = [on_answer = std::move(on_answer)](Answer answer) {
    const std::string words = answer.ok() ? std::string() : answer.result.error().message;
    const bool is_by_budget = answer.status == 429 && words.find("disruption budget") != std::string::npos;
    // "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    const bool is_by_several = answer.status == 500 && words.find("PodDisruptionBudget") != std::string::npos;
    if (is_by_budget || is_by_several) {
      answer.status = 403;
      answer.reason = kDisruptionBudget;
      answer.retry_after = Millis(0);
    }
    on_answer(std::move(answer));
  };
  return post(api, pod_path(pod.ns, pod.name) + "/eviction", w.take(), told_apart, std::move(may_send));
}

http::RequestId mark_stopped(Api& api, const PodRef& pod, std::string_view why, Millis now, OnAnswer on_answer,
                             SendGuard may_send) {
  const std::string message = std::string(kStoppedWords) + std::string(why);
  JsonWriter w;
  w.begin_object().key("metadata").begin_object().member("uid", pod.uid.view()).end_object();
  w.key("status").begin_object().key("conditions").begin_array();
  write_condition(w, kStoppedCondition,
                  {.is_true = true, .reason = kStoppedReason, .message = message, .now = now, .is_transition = true});
  w.end_object().end_array().end_object().end_object();
  return patch(api, pod_path(pod.ns, pod.name) + "/status", w.take(), kStrategicPatch, std::move(on_answer),
               std::move(may_send));
}

http::RequestId patch_pod_group_condition(Api& api, PodGroupVersion version, const PodGroup& group,
                                          const ConditionUpdate& update, OnAnswer on_answer, SendGuard may_send) {
  JsonWriter w;
  w.begin_object().key("metadata").begin_object().member("uid", group.uid.view()).end_object();
  w.key("status").begin_object().key("conditions").begin_array();
  write_condition(w, update.type.empty() ? scheduled_condition_type(version) : update.type, update);
  w.end_object().end_array().end_object().end_object();
  return patch(api, pod_group_path(version, group.ns, group.name) + "/status", w.take(), kStrategicPatch,
               uid_mismatch_is_conflict(std::move(on_answer)), std::move(may_send));
}

std::string queue_status_body(const QueueStatusUpdate& update) {
  JsonWriter w;
  w.begin_object().key("metadata").begin_object().member("uid", update.uid.view()).end_object();
  w.key("status").begin_object().member("observedGeneration", update.generation);
  if (!update.amounts.empty()) w.raw_members(update.amounts);
  w.key("conditions").begin_array();
  write_condition(w, "Accepted",
                  {.is_true = update.is_accepted,
                   .reason = update.reason,
                   .message = update.message,
                   .now = update.since,
                   .observed_generation = update.generation});
  w.end_object().end_array().end_object().end_object();
  return w.take();
}

http::RequestId patch_queue_status(Api& api, std::string_view name, std::string body, OnAnswer on_answer,
                                   SendGuard may_send) {
  return patch(api, "/apis/scheduling.ashlar.dev/v1alpha1/queues/" + http::percent_encode(name) + "/status",
               std::move(body), kMergePatch, uid_mismatch_is_conflict(std::move(on_answer)), std::move(may_send));
}

http::RequestId create_event(Api& api, const EventNote& event, OnAnswer on_answer, SendGuard may_send) {
  const std::string ns =
      // events about nodes and other cluster-scoped objects are stored in "default"
      event.ns.empty() ? "default" : event.ns.str();
  char suffix[40];
  std::snprintf(suffix, sizeof suffix, ".%llx%04llx", static_cast<unsigned long long>(event.now.value),
                static_cast<unsigned long long>(event.sequence & 0xffffff));
  // the server refuses notes beyond 1,024 bytes and names beyond 253
  constexpr std::size_t kNoteBytesMax = 1000, kNameMax = 200;
  JsonWriter w;
  w.begin_object().member("apiVersion", "events.k8s.io/v1").member("kind", "Event");
  w.key("metadata")
      .begin_object()
      .member("name", event.name.str().substr(0, kNameMax) + suffix)
      .member("namespace", ns)
      .end_object();
  w.member("eventTime", time_text(event.now, Precision::kMicros));
  w.member("reportingController", event.controller)
      .member("reportingInstance", event.instance.empty() ? event.controller : event.instance);
  w.member("action", event.action)
      .member("reason", event.reason)
      .member("type", event.type)
      .member("note", event.note.substr(0, kNoteBytesMax));
  w.key("regarding")
      .begin_object()
      .member("kind", event.kind)
      .member("apiVersion", event.api_version)
      .member("name", event.name.view());
  if (!event.ns.empty()) w.member("namespace", event.ns.view());
  if (!event.uid.empty()) w.member("uid", event.uid.view());
  w.end_object().end_object();
  return post(api, ns_path("/apis/events.k8s.io/v1", ns, "events"), w.take(), std::move(on_answer),
              std::move(may_send));
}

http::RequestId get_lease(Api& api, std::string_view ns, std::string_view name, OnLease on_answer) {
  return send_lease(api, {.path = lease_path(ns, name)}, std::move(on_answer));
}
http::RequestId create_lease(Api& api, const Lease& lease, OnLease on_answer) {
  return send_lease(api, {.method = Method::kPost, .path = lease_path(lease.ns, {}), .body = lease_body(lease)},
                    std::move(on_answer));
}
http::RequestId update_lease(Api& api, const Lease& lease, OnLease on_answer) {
  return send_lease(api, {.method = Method::kPut, .path = lease_path(lease.ns, lease.name), .body = lease_body(lease)},
                    std::move(on_answer));
}

void post_node(Api& api, const NodeSpec& spec, Millis now, const OnAnswer& on_answer) {
  JsonWriter w;
  w.begin_object().member("apiVersion", "v1").member("kind", "Node");
  w.key("metadata").begin_object().member("name", spec.name);
  write_pairs(w, "labels", spec.labels);
  write_pairs(w, "annotations", spec.annotations);
  w.end_object().key("spec").begin_object();
  if (spec.unschedulable) w.member_bool("unschedulable", true);
  write_taints(w, spec.taints);
  w.end_object().end_object();

  JsonWriter s;
  s.begin_object().key("status").begin_object();
  write_pairs(s, "capacity", spec.allocatable);
  write_pairs(s, "allocatable", spec.allocatable);
  s.key("conditions")
      .begin_array()
      .begin_object()
      .member("type", "Ready")
      .member("status", "True")
      .member("reason", "KubeletReady");
  s.member("message", "posted by ashlar").member("lastHeartbeatTime", time_text(now, Precision::kSeconds));
  s.member("lastTransitionTime", time_text(now, Precision::kSeconds))
      .end_object()
      .end_array()
      .end_object()
      .end_object();

  // The server's admission adds a not-ready taint to every new node; replacing the list removes it.
  JsonWriter t;
  t.begin_object().key("spec").begin_object();
  if (spec.taints.empty())
    t.key("taints").null();
  else
    write_taints(t, spec.taints);
  t.end_object().end_object();

  const std::string path = node_path(spec.name);
  auto untaint = [&api, path, body = t.take(), on_answer](Answer answer) {
    if (!answer.ok()) return on_answer(std::move(answer));
    patch(api, path, body, kMergePatch, on_answer);
  };
  auto set_status = [&api, path, body = s.take(), untaint = std::move(untaint), on_answer](Answer answer) {
    if (!answer.ok()) return on_answer(std::move(answer));
    patch(api, path + "/status", body, kMergePatch, untaint);
  };
  post(api, "/api/v1/nodes", w.take(), std::move(set_status));
}

std::string pod_body(const PodSpec& spec) {
  JsonWriter w;
  w.begin_object().member("apiVersion", "v1").member("kind", "Pod");
  w.key("metadata").begin_object().member("name", spec.name).member("namespace", spec.ns);
  write_pairs(w, "labels", spec.labels);
  write_pairs(w, "annotations", spec.annotations);
  w.end_object().key("spec").begin_object();
  if (!spec.scheduler_name.empty()) w.member("schedulerName", spec.scheduler_name);
  if (!spec.node_name.empty()) w.member("nodeName", spec.node_name);
  if (!spec.priority_class.empty()) w.member("priorityClassName", spec.priority_class);
  if (!spec.group_name.empty())
    w.key("schedulingGroup").begin_object().member("podGroupName", spec.group_name).end_object();
  write_pairs(w, "nodeSelector", spec.node_selector);
  w.key("containers").begin_array().begin_object().member("name", "main").member("image", spec.image);
  if (!spec.requests.empty()) {
    Pairs extended;  // the server requires limits equal to requests for extended resources
    std::copy_if(spec.requests.begin(), spec.requests.end(), std::back_inserter(extended), [](const auto& request) {
      return request.first.find('/') != std::string::npos || request.first.starts_with("hugepages-");
    });
    w.key("resources").begin_object();
    write_pairs(w, "requests", spec.requests);
    write_pairs(w, "limits", extended);
    w.end_object();
  }
  w.end_object().end_array();
  std::string body = w.take();
  if (!spec.extra_spec_json.empty()) body += "," + spec.extra_spec_json;
  return body + "}}";
}

http::RequestId create_pod(Api& api, const PodSpec& spec, OnAnswer on_answer) {
  return post(api, ns_path("/api/v1", spec.ns, "pods"), pod_body(spec), std::move(on_answer));
}

http::RequestId create_pod_group(Api& api, PodGroupVersion version, const PodGroupSpec& spec, OnAnswer on_answer) {
  JsonWriter w;
  w.begin_object().member("apiVersion", group_version_text(version)).member("kind", "PodGroup");
  w.key("metadata").begin_object().member("name", spec.name).member("namespace", spec.ns);
  write_pairs(w, "labels", spec.labels);
  write_pairs(w, "annotations", spec.annotations);
  w.end_object().key("spec").begin_object().key("schedulingPolicy").begin_object();
  if (spec.min_count > 0)
    w.key("gang").begin_object().member("minCount", spec.min_count).end_object();
  else
    w.key("basic").begin_object().end_object();
  w.end_object();
  if (!spec.topology_key.empty()) {
    w.key("schedulingConstraints").begin_object().key("topology").begin_array();
    w.begin_object().member("key", spec.topology_key).end_object().end_array().end_object();
  }
  if (!spec.priority_class.empty()) w.member("priorityClassName", spec.priority_class);
  w.end_object().end_object();
  return post(api, pod_group_path(version, spec.ns, {}), w.take(), std::move(on_answer));
}

http::RequestId create_namespace(Api& api, std::string_view name, OnAnswer on_answer) {
  JsonWriter w;
  w.begin_object()
      .member("apiVersion", "v1")
      .member("kind", "Namespace")
      .key("metadata")
      .begin_object()
      .member("name", name)
      .end_object()
      .end_object();
  return post(api, "/api/v1/namespaces", w.take(), std::move(on_answer));
}

http::RequestId remove(Api& api, std::string path, int grace_seconds, OnAnswer on_answer) {
  if (grace_seconds >= 0) path += "?gracePeriodSeconds=" + std::to_string(grace_seconds);
  return api.send({.method = Method::kDelete, .path = std::move(path), .timeout = kWriteTimeout}, std::move(on_answer));
}

}  // namespace ashlar::kube
