// groups: PodGroups that name a gang (ashlar.dev/gang) are its groups, and it has one job for all their pods. A
// PodGroup joins and leaves with its pods, when none of them is being bound.
#pragma once

#include <string>
#include <vector>

#include "live/track/tracker_data.h"
#include "model/gang.h"

namespace ashlar::kube {

/// Calls `visit` with each record of pods that have a minimum and a domain together: its groups, or the gang itself.
template <class Visit>
void each_group(const Tables& t, const GangRecord& g, Visit&& visit) {
  if (g.kind != GangKind::kGroups) return visit(g);
  for (const GangSlot group : g.groups) visit(t.gangs[group]);
}

/// The same by slot.
template <class Visit>
void each_group_slot(const Tables& t, GangSlot slot, Visit&& visit) {
  if (t.gangs[slot].kind != GangKind::kGroups) return visit(slot);
  for (const GangSlot group : t.gangs[slot].groups) visit(group);
}

/// The record with the job of its pods: itself, or the gang of which it is a group.
inline const GangRecord& job_record(const Tables& t, const GangRecord& g) {
  return g.is_group() ? t.gangs[g.whole] : g;
}
/// The PodGroup names another gang than the one it is in.
bool names_other_gang(const Tables& t, const GangRecord& g);
/// Why the PodGroup is not in the gang that it names; empty if it is, or names none.
std::string apart_text(const Tables& t, const GangRecord& g);
/// Takes the PodGroup to the gang that it names, or to none, unless one of its pods is being bound. Bound pods go with
/// it and stay charged to the queue that they started in; to a gang of another queue it does not go. True if it did.
bool move_group(TrackerData& t, GangSlot slot);
/// Takes the PodGroup, whose pods are in no job, out of its gang.
void leave_whole(TrackerData& t, GangSlot slot);
/// Puts the groups in the order of their ranks, then of their names.
void sort_groups(const Tables& t, std::vector<GangSlot>& groups);
/// The groups as the engine has to have them.
GangSpec groups_spec(const Tables& t, const GangRecord& g);
/// The PodGroup that is the group of that number, from 0, in the gang's job; nullptr: none is (any more).
const GangRecord* told_group(const Tables& t, const GangRecord& g, std::size_t number);
/// "PodGroup decode", or "group 2 of the gang" if no PodGroup is.
std::string told_group_text(const Tables& t, const GangRecord* g, std::size_t number);
/// The gang or one of its groups must stay within a domain.
bool has_domain(const Tables& t, const GangRecord& g);

}  // namespace ashlar::kube
