#include "live/track/pods/queues.h"

#include <algorithm>

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
    if (!r.is_ours || r.names_queue || !may_move) continue;
    if (std::binary_search(t.moved_namespaces.begin(), t.moved_namespaces.end(), r.ns))
      move_to_queue(t, slot, queue_name_in(t, r.ns));
  }
  t.moved_namespaces.clear();
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
  r.names_queue ? admit_pod(t, slot) : move_to_queue(t, slot, queue_name_in(t, r.ns));
}

QueueId queue_called(const TrackerData& t, const PooledString& name, const PooledString& ns, Hold& why) {
  const QueueId queue = t.names.queues.find(name);
  if (queue.is_none() || queue == QueueId(0u)) {
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
