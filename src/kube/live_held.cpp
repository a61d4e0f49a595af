#include "kube/live_held.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "kube/live_text.h"

namespace ashlar::kube {
namespace {

bool waits_for_something(const PodRecord& pod) {
  return pod.phase == PodRecord::Phase::kHeld && pod.hold != HoldReason::kDeleting && pod.hold != HoldReason::kForeign;
}

}  // namespace

std::vector<HeldThing> held_things(const LiveIntake& intake) {
  std::vector<HeldThing> found;
  for (PodSlot slot = 0; slot < intake.pods().slots(); ++slot) {
    const PodRecord& pod = intake.pods()[slot];
    if (waits_for_something(pod)) found.push_back({pod.ns, pod.name, pod.queue, pod.created, 1, pod.hold, hold_text(pod)});
  }
  for (GangSlot slot = 0; slot < intake.gangs().slots(); ++slot) {
    const GangRecord& gang = intake.gangs()[slot];
    const auto waits = [&](PodSlot s) { return intake.pods()[s].phase == PodRecord::Phase::kWaiting && !intake.pods()[s].is_in_engine(); };
    const auto waiting = static_cast<std::size_t>(std::count_if(gang.pods.begin(), gang.pods.end(), waits));
    if (!gang.is_used || waiting == 0) continue;
    const PodRecord& first = intake.pods()[*std::find_if(gang.pods.begin(), gang.pods.end(), waits)];
    if (Hold hold = intake.gang_hold(gang); hold.reason != HoldReason::kNone)
      found.push_back({gang.ns, gang.name, first.queue, first.created, waiting, hold.reason, std::move(hold.detail)});
  }
  std::sort(found.begin(), found.end(),
            [](const HeldThing& a, const HeldThing& b) { return std::pair(a.ns.view(), a.name.view()) < std::pair(b.ns.view(), b.name.view()); });
  return found;
}

}  // namespace ashlar::kube
