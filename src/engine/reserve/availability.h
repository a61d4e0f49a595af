// Availability: by when slots open on nodes and in domains, as the availability profile of backfill schedulers
// (Mu'alem, Feitelson, Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM SP2
// with backfilling, TPDS 2001), one profile for each kind of slot that is asked for. Nothing is kept of kinds that
// nobody asks for; all of it can be made anew from the state.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/reserve/availability_profile.h"
#include "engine/reserve/put_off_ends.h"

namespace ashlar {

class Availability {
 public:
  static constexpr std::size_t kProfilesMax = 16;  ///< the least recently used is forgotten beyond

  explicit Availability(EndsBy by = EndsBy::kLate) : ends_{by, Millis(0)} {}
  /// A copy begins empty: profiles are made again when they are needed.
  Availability(const Availability& other) : Availability(other.ends_.by) {}
  Availability(Availability&&) = default;
  Availability& operator=(const Availability& other) { return *this = Availability(other.ends_.by); }
  Availability& operator=(Availability&&) = default;
  ~Availability() = default;

  /// From now on it is that time. Cost: O(jobs put off since).
  void bring_up(const State& state, Millis now);
  /// By late ends only.
  const PutOffEnds& put_off() const { return put_off_; }
  /// The first time by which the slots are open at once, if everything that runs ends as expected: 0 if they are now,
  /// max() if never. Never too late; too early where members share devices, or where other resources are short. What
  /// is placed in a trial must have been seen by bring_up().
  Millis earliest_fit(const State& state, const SlotRequest& request);
  /// See AvailabilityProfile.
  void forget_undone_changes(const Cluster& cluster) {
    for (AvailabilityProfile& profile : profiles_) profile.forget_undone_changes(cluster);
  }

 private:
  AvailabilityProfile& profile(const SlotKind& kind);

  EndsAt ends_;
  PutOffEnds put_off_;
  std::vector<AvailabilityProfile> profiles_;  ///< the last used first
};

}  // namespace ashlar
