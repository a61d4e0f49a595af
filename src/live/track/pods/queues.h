// queues: the queue of a pod, by its own label, its namespace or the configuration; pods move when a namespace changes.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// By its label or annotation, else by its namespace.
PooledString queue_name_for(const TrackerData& t, const Pod& pod);
/// The queue of pods that name none.
PooledString queue_name_in(const TrackerData& t, const PooledString& ns);
/// The queue that a bound pod of ours is charged to when it is first seen: the one that its binding names, else the one
/// that it names itself; the default queue if it may use neither.
QueueId charged_queue_of(const TrackerData& t, const Pod& pod);
/// Waiting pods of namespaces whose queue may have changed, and of queues that have.
void refresh_queues(TrackerData& t);
/// The event by which the engine knows the queue, as it is from now on.
void define_queue(TrackerData& t, const QueueSettings& settings);
/// Moves a waiting pod to that queue, or holds it if no queue has the name.
void move_to_queue(TrackerData& t, PodSlot slot, const PooledString& name);
/// What held it is over: admits it, to the queue that it belongs to now.
void admit_again(TrackerData& t, PodSlot slot);
/// The queue of that name, if pods of the namespace may use it; else none, and `why` says why. None for the root, too:
/// what is charged only to the root would be under no queue's limit.
QueueId queue_called(const TrackerData& t, const PooledString& name, const PooledString& ns, Hold& why);

}  // namespace ashlar::kube
