// bindings: the binder's reports. Assumed, rejected, failed and unanswered bindings, and holds that keep a pod or gang
// out of the engine meanwhile.
#pragma once

#include "live/track/tracker_data.h"
#include "state/state.h"

namespace ashlar::kube {

/// See Tracker::note_assumed().
void note_assumed(TrackerData& t, PodSlot slot, NodeId node, const PodDevices& devices);
/// See Tracker::note_rejected().
void note_rejected(TrackerData& t, PodSlot slot);
/// See Tracker::is_place_outdated().
bool is_place_outdated(const TrackerData& t, PodSlot slot, const State* state);
/// See Tracker::choose_anew().
void choose_anew(TrackerData& t, PodSlot slot);
/// Its node, `unanswered_node`, was removed, and whether the pod is bound to it is not known yet: until then no binding
/// elsewhere is requested for it or its gang.
void hold_until_answered(TrackerData& t, PodSlot slot);
/// The first of the gang's pods that wait for such an answer; kNoPod: none.
PodSlot unanswered_in(const Tables& t, const GangRecord& g);
/// See Tracker::note_answered().
void note_answered(TrackerData& t, PodSlot slot);
/// See Tracker::note_not_bound().
void note_not_bound(TrackerData& t, PodSlot slot);
/// See Tracker::note_bind_failed().
BindHold note_bind_failed(TrackerData& t, PodSlot slot, const std::string& words);
/// See Tracker::note_undone().
BindHold note_undone(TrackerData& t, PodSlot slot, const std::string& words);
/// See Tracker::is_gang_held().
bool is_gang_held(const TrackerData& t, PodSlot slot);
/// See Tracker::end_bind_hold().
void end_bind_hold(TrackerData& t, const BindHold& hold);
/// The gang may be tried again.
void forget_bind_hold(TrackerData& t, GangSlot slot);

}  // namespace ashlar::kube
