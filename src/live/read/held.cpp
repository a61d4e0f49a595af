#include "live/read/held.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "live/read/pod_text.h"

namespace ashlar::kube {
namespace {

bool waits_for_something(const PodRecord& pod) {
  return pod.phase == PodRecord::Phase::kHeld && pod.hold != HoldReason::kDeleting && pod.hold != HoldReason::kForeign;
}

template <class Visit>
void each_held(const Tracker& tracker, Visit&& visit) {
  const PodTable& pods = tracker.pods();
  for (PodSlot slot = 0; slot < pods.slots(); ++slot)
    if (const PodRecord& pod = pods[slot]; waits_for_something(pod))
      visit(HeldThing{pod.ns, pod.name, pod.queue, pod.created, 1, pod.hold, slot, kNoGang});
  for (GangSlot slot = 0; slot < tracker.gangs().slots(); ++slot) {
    const GangRecord& gang = tracker.gangs()[slot];
    if (!gang.is_used) continue;
    HeldThing held{gang.ns, gang.name, QueueId::none(), Millis::max(), 0, HoldReason::kNone, kNoPod, slot};
    for (const PodSlot s : gang.pods) {
      if (pods[s].phase != PodRecord::Phase::kWaiting || pods[s].is_in_engine()) continue;
      if (held.pods++ == 0) held.queue = pods[s].queue;
      held.created = std::min(held.created, pods[s].created);
    }
    if (held.pods == 0) continue;
    held.reason = tracker.gang_hold(gang).reason;
    if (held.reason != HoldReason::kNone) visit(std::move(held));
  }
}

}  // namespace

std::vector<HeldThing> held_things(const Tracker& tracker) {
  std::vector<HeldThing> found;
  each_held(tracker, [&](HeldThing held) { found.push_back(std::move(held)); });
  std::sort(found.begin(), found.end(), [](const HeldThing& a, const HeldThing& b) {
    return std::pair(a.ns.view(), a.name.view()) < std::pair(b.ns.view(), b.name.view());
  });
  return found;
}

std::map<HoldReason, std::size_t> held_pods(const Tracker& tracker) {
  std::map<HoldReason, std::size_t> counts;
  each_held(tracker, [&](const HeldThing& held) { counts[held.reason] += held.pods; });
  return counts;
}

std::string held_text(const Tracker& tracker, const HeldThing& held) {
  return held.pod != kNoPod ? hold_text(tracker.pods()[held.pod])
                            : tracker.gang_hold(tracker.gangs()[held.gang]).detail;
}

}  // namespace ashlar::kube
