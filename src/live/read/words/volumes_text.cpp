#include "live/read/words/volumes_text.h"

#include <algorithm>

#include "engine/explain/never_fits.h"
#include "live/track/volumes/volume_rooms.h"
#include "state/cluster/cluster.h"

namespace ashlar::kube {
namespace {

bool is_room(const TextContext& c, ResourceId resource) {
  return is_room_resource(c.tables.names.resource_name(resource).view());
}

}  // namespace

bool lacks_volumes(const TextContext& c, const Reason& r) {
  if (r.code != ReasonCode::kVolumeNodeAffinity || r.subject >= c.state.cluster().constraint_rows()) return false;
  const auto& lists = c.state.cluster().constraint(ConstraintId(r.subject)).volumes;
  return std::ranges::any_of(lists, [](const auto& any_of) { return any_of.empty(); });
}

std::string unmet_claim_text(const TextContext& c, JobId job) {
  const JobOwner owner = job.is_none() ? JobOwner() : c.tables.owner(job);
  const std::vector<PodSlot> single = owner.pod == kNoPod ? std::vector<PodSlot>() : std::vector<PodSlot>{owner.pod};
  for (const PodSlot slot : owner.gang == kNoGang ? single : c.tables.gangs[owner.gang].pods) {
    const PodRecord& pod = c.tables.pods[slot];
    if (pod.volume_hold == HoldReason::kNone && !pod.volume_problem.empty())
      return "its claim " + pod.volume_problem.str();
  }
  return "one of its claims";
}

bool lacks_room_for_volumes(const TextContext& c, const Reason& r) {
  return r.code == ReasonCode::kInsufficientResource && is_room(c, ResourceId(r.subject));
}

std::string counted_volumes_text(const TextContext& c, JobId job) {
  if (job.is_none()) return {};
  ResourceId room = ResourceId::none();
  c.state.each_waiting(job, [&](MemberId, const Member& m) {
    for (const ResourceAmount& a : c.state.demand(m.demand).amounts)
      if (room.is_none() && a.amount > 0 && a.resource.row() >= resource::kFirstExtended && is_room(c, a.resource))
        room = a.resource;
    return room.is_none();
  });
  return room.is_none() ? std::string() : c.tables.names.resource_text(room).str();
}

}  // namespace ashlar::kube
