#include "engine/reserve/availability.h"

#include <algorithm>

namespace ashlar {

void Availability::bring_up(const State& state, Millis now) {
  ends_.now = now;
  if (ends_.by == EndsBy::kLate) put_off_.bring_up(state.timeline(), now);
}

AvailabilityProfile& Availability::profile(const SlotKind& kind) {
  auto it = std::ranges::find(profiles_, kind, &AvailabilityProfile::kind);
  if (it == profiles_.end()) {
    if (profiles_.size() >= kProfilesMax) profiles_.pop_back();
    it = profiles_.insert(profiles_.end(), AvailabilityProfile(kind));
  }
  std::rotate(profiles_.begin(), it, it + 1);
  return profiles_.front();
}

Millis Availability::earliest_fit(const State& state, const SlotRequest& request) {
  if (request.count <= 0) return Millis(0);
  const auto kept = std::ranges::find(profiles_, request.kind, &AvailabilityProfile::kind);
  const bool is_close = kept != profiles_.end() && kept->is_close(state, put_off_, ends_);
  if (!is_close && are_open_now(state.cluster(), request)) return Millis(0);
  AvailabilityProfile& of_kind = profile(request.kind);
  of_kind.bring_up(state, put_off_, ends_);
  return of_kind.earliest(state, request);
}

}  // namespace ashlar
