#include "kube/live_lane.h"

namespace ashlar::kube {

LiveLane::LiveLane(Api& api, LiveIntake& intake, LaneOptions options, Hooks hooks)
    : api_(api), intake_(intake), options_(std::move(options)), hooks_(std::move(hooks)), life_(std::make_shared<char>()) {}

void LiveLane::want_condition(PodSlot slot, bool is_first) {
  PodRecord& pod = intake_.pods()[slot];
  if (pod.is_condition_due) return;
  pod.is_condition_due = true;
  (is_first ? first_ : others_).push_back({slot, pod.generation});
}

void LiveLane::want_group_condition(GangSlot slot) {
  GangRecord& gang = intake_.gangs()[slot];
  if (gang.is_group_condition_due || gang.group_uid.empty() || options_.pod_groups == PodGroupVersion::kNone) return;
  gang.is_group_condition_due = true;
  groups_.push_back({slot, gang.group_uid});
}

void LiveLane::want_scheduled_event(PodSlot slot) { want_failed_event(slot, {}); }

void LiveLane::want_failed_event(PodSlot slot, std::string note) {
  if (options_.events_max == 0) return;
  if (events_.size() >= options_.events_max) {
    events_.pop_front();
    ++counters_.events_dropped;
  }
  events_.push_back({{slot, intake_.pods()[slot].generation}, std::move(note)});
}

void LiveLane::pump() {
  while (in_flight_ < options_.in_flight_max && depth() > 0 && hooks_.may_write()) send_next();
}

bool LiveLane::send_next() {
  const auto take_first = [](auto& queue) {
    auto mark = std::move(queue.front());
    queue.pop_front();
    return mark;
  };
  if (!groups_.empty()) return send_group_condition(take_first(groups_));
  if (!first_.empty()) return send_condition(take_first(first_));
  if (!others_.empty()) return send_condition(take_first(others_));
  return send_event(take_first(events_));
}

OnAnswer LiveLane::counted(std::function<void(const Answer&)> then) {
  ++in_flight_;
  return [this, life = std::weak_ptr<char>(life_), then = std::move(then)](Answer answer) {
    if (life.expired()) return;
    --in_flight_;
    if (!answer.ok()) ++counters_.failures;
    if (then) then(answer);
    pump();
  };
}

bool LiveLane::send_condition(PodMark mark) {
  if (!intake_.pods().is_current(mark.slot, mark.generation)) return false;
  PodRecord& record = intake_.pods()[mark.slot];
  record.is_condition_due = false;
  const bool is_waiting = record.phase == PodRecord::Phase::kWaiting || record.phase == PodRecord::Phase::kHeld;
  if (!is_waiting) return false;
  const ConditionText text = hooks_.pod_text(mark.slot);
  if (text.reason.empty()) return false;
  const std::uint64_t hash = condition_hash(text.reason, text.message);
  if (record.condition_hash == hash) {
    ++counters_.equal_skipped;
    return false;
  }
  record.condition_hash = hash;
  Pod pod;
  pod.ns = record.ns;
  pod.name = record.name;
  pod.uid = record.uid;
  ++counters_.conditions;
  patch_pod_condition(api_, pod, {.type = "PodScheduled", .is_true = false, .reason = text.reason, .message = text.message, .now = api_.now()},
                      counted([this, mark](const Answer& answer) {
                        const Error::Kind kind = answer.ok() ? Error::Kind::kConflict : answer.result.error().kind;
                        const bool is_worth_another_try = kind == Error::Kind::kTimeout || kind == Error::Kind::kUnavailable;
                        if (!is_worth_another_try || !intake_.pods().is_current(mark.slot, mark.generation)) return;
                        intake_.pods()[mark.slot].condition_hash = 0;
                        api_.after(Millis(1000), [this, life = std::weak_ptr<char>(life_), mark] {
                          if (!life.expired() && intake_.pods().is_current(mark.slot, mark.generation)) want_condition(mark.slot, false);
                        });
                      }));
  return true;
}

bool LiveLane::send_group_condition(const GroupMark& mark) {
  GangRecord& gang = intake_.gangs()[mark.slot];
  if (!gang.is_used || gang.group_uid != mark.uid) return false;
  gang.is_group_condition_due = false;
  if (gang.is_group_told) return false;
  bool is_true = false;
  const ConditionText text = hooks_.group_text(mark.slot, is_true);
  if (text.reason.empty()) return false;
  const std::uint64_t hash = condition_hash(text.reason, text.message);
  if (!is_true && gang.group_condition_hash == hash) {
    ++counters_.equal_skipped;
    return false;
  }
  gang.group_condition_hash = hash;
  gang.is_group_told = is_true;
  PodGroup group;
  group.ns = gang.ns;
  group.name = gang.name;
  group.uid = gang.group_uid;
  ++counters_.group_conditions;
  patch_pod_group_condition(api_, options_.pod_groups, group,
                            {.type = "", .is_true = is_true, .reason = text.reason, .message = text.message, .now = api_.now()},
                            counted([this, mark](const Answer& answer) {
                              if (answer.ok()) return;
                              const Error::Kind kind = answer.result.error().kind;
                              if (kind != Error::Kind::kTimeout && kind != Error::Kind::kUnavailable) return;
                              api_.after(Millis(1000), [this, life = std::weak_ptr<char>(life_), mark] {
                                if (life.expired()) return;
                                GangRecord& again = intake_.gangs()[mark.slot];
                                if (!again.is_used || again.group_uid != mark.uid) return;
                                again.is_group_told = false;
                                again.group_condition_hash = 0;
                                want_group_condition(mark.slot);
                              });
                            }));
  return true;
}

bool LiveLane::send_event(EventMark mark) {
  if (!intake_.pods().is_current(mark.pod.slot, mark.pod.generation)) return false;
  const PodRecord& pod = intake_.pods()[mark.pod.slot];
  const bool is_scheduled = mark.note.empty();
  if (is_scheduled && pod.phase != PodRecord::Phase::kBound) return false;
  const std::string note = is_scheduled ? "Successfully assigned " + pod.ns.str() + "/" + pod.name.str() + " to " + pod.node_name.str() : mark.note;
  EventNote event;
  event.ns = pod.ns;
  event.name = pod.name;
  event.uid = pod.uid;
  event.type = is_scheduled ? "Normal" : "Warning";
  event.reason = is_scheduled ? "Scheduled" : "FailedScheduling";
  event.action = is_scheduled ? "Binding" : "Scheduling";
  event.note = note;
  event.controller = "ashlar.dev/scheduler";
  event.instance = options_.identity;
  event.now = api_.now();
  event.sequence = ++sequence_;
  ++counters_.events;
  create_event(api_, event, counted());
  return true;
}

}  // namespace ashlar::kube
