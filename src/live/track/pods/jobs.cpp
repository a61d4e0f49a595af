#include "live/track/pods/jobs.h"

#include <algorithm>

#include "live/track/gangs/membership.h"
#include "live/track/nodes/levels.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

void end_job(TrackerData& t, JobId job) {
  t.out.add(Ended{job});
  note_levels_left(t, t.owners[job.row()].within, t.owners[job.row()].prefer);
  if (const GangSpecId spec = t.owners[job.row()].spec; !spec.is_none()) {
    for (const GangGroup& group : t.translator.spec_of(spec).groups) note_levels_left(t, group.within, group.prefer);
    t.translator.leave(spec);
  }
  t.owners.edit(job.row()) = JobOwner{};
  t.job_rows.remove(job);
}

}  // namespace

Millis eligible_since(const TrackerData& t, const PodRecord& r) {
  return r.created.value > 0 && r.created < t.opened ? r.created : t.out.now();
}

std::uint32_t tenant_of(const PooledString& ns) { return static_cast<std::uint32_t>(ns.content_hash()) | 1; }

JobId add_job(TrackerData& t, JobOwner owner) {
  const JobId job = t.job_rows.add();
  t.owners.edit(job.row()) = owner;
  if (!owner.spec.is_none()) t.translator.use(owner.spec);
  return job;
}

void submit_single(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  t.pods.set_member(slot, t.member_rows.add());
  r.job = add_job(t, {kNoGang, slot});
  Workload w;
  w.job = r.job;
  w.queue = r.queue;
  w.priority = r.priority;
  // a waiting pod that is submitted again keeps its age
  w.submitted = r.phase == Phase::kWaiting ? r.seen : t.out.now();
  w.estimate = r.estimate;
  w.is_ours = r.is_ours;
  w.stopping.stops_none = r.stops_none;
  if (r.phase == Phase::kBound && r.placed.value > 0) {
    w.runs_since = std::min(r.placed, t.out.now());
    w.stopping.protected_for = std::min(r.protected_for(), StopTerms::kTimeMax);
  }
  w.tenant = tenant_of(r.ns);
  w.members.push_back({r.member, r.demand, r.constraint, r.label_set});
  t.out.add(Submitted{std::move(w)});
}

void withdraw_pod(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  if (!r.is_in_engine()) return;
  const MemberId member = r.member;
  t.pods.clear_member(slot);
  t.member_rows.remove(member);
  if (r.gang == kNoGang) {
    end_job(t, r.job);
  } else {
    GangRecord& g = t.gangs.edit(r.gang);
    t.out.add(MemberGone{member});
    if (--g.in_engine == 0) {
      end_job(t, g.job);
      g.job = JobId::none();
    }
    touch_gang(t, r.gang);
  }
  r.job = JobId::none();
}

}  // namespace ashlar::kube
