#include "live/read/held.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "live/track/gang_table.h"
#include "live/track/gangs/gang_hold.h"
#include "live/track/hold_text.h"

namespace ashlar::kube {
namespace {

bool waits_for_something(const PodRecord& pod) {
  return pod.phase == PodRecord::Phase::kHeld && pod.hold != HoldReason::kDeleting && pod.hold != HoldReason::kForeign;
}

template <class Visit>
void each_held(const Tables& tables, Visit&& visit) {
  const PodTable& pods = tables.pods;
  for (PodSlot slot = 0; slot < pods.slots(); ++slot)
    if (const PodRecord& pod = pods[slot]; waits_for_something(pod))
      visit(HeldThing{pod.ns, pod.name, pod.queue, pod.created, 1, pod.hold, slot, kNoGang});
  for (GangSlot slot = 0; slot < tables.gangs.slots(); ++slot) {
    const GangRecord& gang = tables.gangs[slot];
    if (!gang.is_used || gang.is_group()) continue;
    HeldThing held{gang.ns, gang.own_name(), QueueId::none(), Millis::max(), 0, HoldReason::kNone, kNoPod, slot};
    for (const PodSlot s : gang.pods) {
      if (pods[s].phase != PodRecord::Phase::kWaiting || pods[s].is_in_engine()) continue;
      if (held.pods++ == 0) held.queue = pods[s].queue;
      held.created = std::min(held.created, pods[s].created);
    }
    if (held.pods == 0) continue;
    held.reason = gang_hold(tables, gang).reason;
    if (held.reason != HoldReason::kNone) visit(std::move(held));
  }
}

}  // namespace

std::vector<HeldThing> held_things(const Tables& tables) {
  std::vector<HeldThing> found;
  each_held(tables, [&](HeldThing held) { found.push_back(std::move(held)); });
  std::sort(found.begin(), found.end(), [](const HeldThing& a, const HeldThing& b) {
    return a.ns != b.ns ? is_name_before(a.ns, b.ns) : is_name_before(a.name, b.name);
  });
  return found;
}

std::map<HoldReason, std::size_t> held_pods(const Tables& tables) {
  std::map<HoldReason, std::size_t> counts;
  each_held(tables, [&](const HeldThing& held) { counts[held.reason] += held.pods; });
  return counts;
}

std::string held_text(const Tables& tables, const HeldThing& held) {
  return held.pod != kNoPod ? hold_text(tables.pods[held.pod]) : gang_hold(tables, tables.gangs[held.gang]).detail;
}

}  // namespace ashlar::kube
