// The statements about jobs that are there: end, leaving, reject, bind, evict, priority, estimate, checkpoint,
// nominate.
#include <utility>

#include "base/grown.h"
#include "sim/case/reading.h"

namespace ashlar::sim {

/// The API server has marked its pods as being deleted; they run on until they end.
void read_leaving(CaseReading& c, Words& words) {
  const std::vector<MemberId> members = take_members(c, words);
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  for (const MemberId member : members) {
    const LabelSetId labels = value_at(c.labels_of, member.row());
    if (labels.is_none()) continue;
    LabelSet set = c.file.names.label_sets.value(labels);
    set.is_leaving = true;
    add_event(c, at, EventBody(LabelsChanged{member, row_of<LabelSetDefined>(c, at, c.file.names.label_sets, set)}));
  }
}

void read_end(CaseReading& c, Words& words) {
  const JobOrMember which = take_member(c, words);
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  if (which.member.is_none())
    add_event(c, at, EventBody(Ended{which.job}));
  else
    add_event(c, at, EventBody(MemberGone{which.member}));
}

void read_reject(CaseReading& c, Words& words) {
  const std::vector<MemberId> members = take_members(c, words);
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  for (const MemberId member : members) add_event(c, at, RejectNext{member});
}

void read_bind(CaseReading& c, Words& words) {
  const std::vector<MemberId> members = take_members(c, words);
  const NodeId node = take_node(c, words);
  GivenDevices given;
  if (words.accept("cards")) given = take_given_devices(words);
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  for (const MemberId member : members) add_event(c, at, EventBody(Bound{member, node, given.devices, given.grants}));
}

void read_evict(CaseReading& c, Words& words) {
  const JobOrMember which = take_member(c, words);
  if (!words.has_failed()) refuse_hold(c, words, which.job);
  Millis remaining = Millis::max();
  if (words.accept("remaining")) remaining = words.take_time();
  const Millis at = take_at(c, words);
  if (!words.has_failed()) add_event(c, at, EventBody(Evicted{which.job, remaining, which.member}));
}

void read_priority(CaseReading& c, Words& words) {
  const JobId job = take_job(c, words);
  const std::int32_t priority = words.take_signed("a priority such as 100");
  const Millis at = take_at(c, words);
  if (!words.has_failed()) add_event(c, at, EventBody(PriorityChanged{job, priority}));
}

void read_estimate(CaseReading& c, Words& words) {
  const JobId job = take_job(c, words);
  const Millis median = words.take_time();
  const Millis late = words.accept("p90") ? words.take_time() : median;
  refuse_early_p90(words, {median, late});
  const Millis at = take_at(c, words);
  if (!words.has_failed()) add_event(c, at, EventBody(EstimateChanged{job, {median, late}}));
}

/// Its checkpoint is complete.
void read_checkpoint(CaseReading& c, Words& words) {
  const JobId job = take_job(c, words);
  const Millis at = take_at(c, words);
  if (!words.has_failed()) add_event(c, at, EventBody(CheckpointSaved{job, at}));
}

/// Another scheduler reserves a node for its pod; "none" when it no longer does.
void read_nominate(CaseReading& c, Words& words) {
  const std::vector<MemberId> members = take_members(c, words);
  const NodeId node = words.accept("none") ? NodeId::none() : take_node(c, words);
  const std::int32_t priority = words.accept("priority") ? words.take_signed("a priority such as 100") : 0;
  const Millis at = take_at(c, words);
  if (words.has_failed() || members.empty()) return;
  add_event(c, at, EventBody(Nominated{members.front(), node, priority}));
}

}  // namespace ashlar::sim
