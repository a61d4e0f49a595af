#include "live/track/pods/queues.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/grown.h"
#include "kubeclient/bind_outcome.h"
#include "live/track/pods/jobs.h"
#include "live/track/pods/pod_changes.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

PooledString queue_name_for(const TrackerData& t, const Pod& pod) {
  const PooledString* named = find_setting(pod, kQueueLabel);
  return named != nullptr ? *named : queue_name_in(t, pod.ns);
}

PooledString queue_name_in(const TrackerData& t, const PooledString& ns) {
  if (const auto it = t.options.queue_of_namespace.find(ns.str()); it != t.options.queue_of_namespace.end())
    return PooledString(it->second);
  if (const auto it = t.namespaces.find(ns); it != t.namespaces.end()) {
    if (const PooledString* named = find_label(it->second.annotations, kQueueLabel)) return *named;
    if (const PooledString* named = find_label(it->second.labels, kQueueLabel)) return *named;
  }
  return PooledString(kDefaultQueue);
}

QueueId charged_queue_of(const TrackerData& t, const Pod& pod) {
  Hold why;
  const PooledString* stated = pod.annotations ? find_label(*pod.annotations, kChargedQueueAnnotation) : nullptr;
  if (stated != nullptr)
    if (const QueueId queue = queue_called(t, *stated, pod.ns, why); !queue.is_none()) return queue;
  const QueueId named = queue_called(t, queue_name_for(t, pod), pod.ns, why);
  return named.is_none() ? t.names.queues.find(PooledString(kDefaultQueue)) : named;
}

void refresh_queues(TrackerData& t) {
  std::sort(t.moved_namespaces.begin(), t.moved_namespaces.end());
  for (PodSlot slot = 0; slot < t.pods.slots(); ++slot) {
    const PodRecord& r = t.pods[slot];
    const bool may_move =
        r.phase == Phase::kWaiting ||
        (r.phase == Phase::kHeld && (r.hold == HoldReason::kQueueUnknown || r.hold == HoldReason::kQueueForbidden));
    if (!r.is_ours || !may_move) continue;
    const PooledString name = r.named_queue.empty() ? queue_name_in(t, r.ns) : r.named_queue;
    const bool has_moved =
        r.named_queue.empty() && std::binary_search(t.moved_namespaces.begin(), t.moved_namespaces.end(), r.ns);
    if (has_moved || t.changed_queues.contains(name)) move_to_queue(t, slot, name);
  }
  t.moved_namespaces.clear();
  t.changed_queues.clear();
}

void move_to_queue(TrackerData& t, PodSlot slot, const PooledString& name) {
  PodRecord& r = t.pods.edit(slot);
  Hold why;
  const QueueId queue = queue_called(t, name, r.ns, why);
  if (queue.is_none()) return hold_pod(t, slot, why);
  if (r.phase == Phase::kWaiting && r.queue == queue) return;
  if (r.gang == kNoGang) withdraw_pod(t, slot);
  r.queue = queue;
  admit_pod(t, slot);
}

void admit_again(TrackerData& t, PodSlot slot) {
  const PodRecord& r = t.pods[slot];
  r.named_queue.empty() ? move_to_queue(t, slot, queue_name_in(t, r.ns)) : admit_pod(t, slot);
}

namespace {

/// What a quota names, by rows; none if no column tracks the resource, so that no pod can get it.
std::optional<QuotaKey> key_of(ObjectNames& names, const std::string& resource, const std::string& model) {
  QuotaKey key;
  if (resource != kGpuResource) key.resource = names.resource(PooledString(resource));
  if (resource != kGpuResource && key.resource.is_none()) return std::nullopt;
  if (!model.empty()) key.device_class = names.configured_model(PooledString(model));
  return key;
}

}  // namespace

void define_queue(TrackerData& t, const QueueSettings& settings) {
  const QueueId parent = settings.parent.empty() ? QueueId(0u) : t.names.queues.of(PooledString(settings.parent));
  const QueueId id = t.names.queues.of(PooledString(settings.name));
  grown(t.queue_namespaces, id.row()).assign(settings.namespaces.begin(), settings.namespaces.end());
  QueueDefined defined{id, settings.name == "root" ? QueueId::none() : parent, settings.quota};
  for (const QueueSettings::Limit& limit : settings.limits)
    if (const auto key = key_of(t.names, limit.resource, limit.model)) defined.limits.push_back({*key, limit.limit});
  for (const QueueSettings::Share& share : settings.shares)
    if (const auto key = key_of(t.names, share.resource, share.model))
      defined.shares.push_back({*key, share.guarantee, share.borrows, share.lends});
  defined.rank = settings.rank;
  defined.gate = settings.gate;
  defined.stops = settings.stops;
  t.out.add(std::move(defined));
}

QueueId queue_called(const TrackerData& t, const PooledString& name, const PooledString& ns, Hold& why) {
  const QueueId queue = t.names.queues.find(name);
  if (queue.is_none() || queue == QueueId(0u) || !t.queue_book.has(name.str())) {
    why = {HoldReason::kQueueUnknown, bounded_name(name)};
    return QueueId::none();
  }
  if (queue.row() >= t.queue_namespaces.size()) return queue;
  const std::vector<PooledString>& open_to = t.queue_namespaces[queue.row()];
  if (open_to.empty() || std::find(open_to.begin(), open_to.end(), ns) != open_to.end()) return queue;
  why = {HoldReason::kQueueForbidden,
         "queue " + bounded_name(name) + " is not open to namespace " + ns.str() +
             "; name another queue, or ask for the namespace to be added to the queue's namespaces"};
  return QueueId::none();
}

}  // namespace ashlar::kube
