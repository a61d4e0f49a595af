#include "live/track/pods/foreign_pods.h"

#include "live/track/gangs/membership.h"
#include "live/track/pods/jobs.h"
#include "live/track/pods/pod_changes.h"
#include "live/track/pods/requests.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

/// Who may write pods' status may nominate them to nodes that never come.
constexpr std::size_t kNominatedEarlyMax = 1024;

}  // namespace

void see_nominated(TrackerData& t, PodSlot slot, const Pod& pod) {
  PodRecord& r = t.pods.edit(slot);
  const NodeId node = t.names.nodes.find(pod.nominated_node_name);
  if (node.is_none() || pod.deletion_requested.value != 0) {
    const bool may_come = pod.deletion_requested.value == 0 && !pod.nominated_node_name.empty();
    if (may_come && t.nominated_early.size() < kNominatedEarlyMax) t.nominated_early[{pod.ns, pod.name}] = pod;
    return lose_nomination(t, slot);
  }
  if (r.phase == Phase::kNominated && r.node == node) return;
  const DemandId demand = t.translator.held_by(pod);
  if (!r.is_in_engine()) {
    set_demand(t, r, demand);
    set_constraint(t, r, t.translator.anywhere());
    r.queue = QueueId(0u);
    submit_single(t, slot);
  }
  r.node = node;
  r.phase = Phase::kNominated;
  t.out.add(Nominated{r.member, node, pod.priority});
}

void take_nominated_early(TrackerData& t, const PooledString& node_name) {
  std::vector<Pod> pods;
  std::erase_if(t.nominated_early, [&](auto& entry) {
    if (entry.second.nominated_node_name != node_name) return false;
    pods.push_back(std::move(entry.second));
    return true;
  });
  for (Pod& pod : pods) take_pod(t, {Change<Pod>::Kind::kModified, std::move(pod)});
}

/// It no longer holds a place. It holds its PodGroup's gang as long as it exists.
void lose_nomination(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  if (r.foreign_pod_of == kNoGang) return forget_pod(t, slot);
  withdraw_pod(t, slot);
  r.node = NodeId::none();
  r.phase = Phase::kHeld;
  r.hold = HoldReason::kForeign;
  r.hold_detail = PooledString(bounded_words(t.gangs[r.foreign_pod_of].foreign_pod_name.view()));
}

void see_foreign_pod(TrackerData& t, PodSlot slot, const Pod& pod) {
  PodRecord& r = t.pods.edit(slot);
  if (r.foreign_pod_of != kNoGang) return;  // its group and its scheduler never change
  r.foreign_pod_of = t.gangs.find_or_add(r.ns, pod.group_name, GangKind::kPodGroup);
  GangRecord& g = t.gangs.edit(r.foreign_pod_of);
  ++g.foreign_pods;
  g.foreign_pod_name = pod.scheduler_name;
  touch_gang(t, r.foreign_pod_of);
}

void leave_foreign_pods(TrackerData& t, PodSlot slot) {
  const GangSlot gang = t.pods[slot].foreign_pod_of;
  t.pods.edit(slot).foreign_pod_of = kNoGang;
  --t.gangs.edit(gang).foreign_pods;
  touch_gang(t, gang);
  remove_if_unused(t, gang);
}

}  // namespace ashlar::kube
