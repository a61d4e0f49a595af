#include "live/write/status_writer.h"

#include <algorithm>

namespace ashlar::kube {
namespace {

bool is_gone(const Answer& answer) { return !answer.ok() && answer.result.error().kind == Error::Kind::kNotFound; }

bool is_waiting(const PodRecord& pod) {
  return pod.phase == PodRecord::Phase::kWaiting || pod.phase == PodRecord::Phase::kHeld;
}

std::uint64_t key_of(PodSlot slot, std::uint32_t generation) { return std::uint64_t{slot} << 32 | generation; }

}  // namespace

StatusWriter::StatusWriter(Api& api, Tracker& tracker, StatusWriterOptions options, Hooks hooks)
    : api_(api),
      tracker_(tracker),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      window_(options_.writes),
      lane_(api, [this] { pump(); }),
      life_(std::make_shared<char>()) {}

void StatusWriter::want_condition(PodSlot slot, bool is_first) {
  PodRecord& pod = tracker_.pods().marks(slot);
  if (pod.is_condition_due) return;
  pod.is_condition_due = true;
  (is_first ? first_ : others_).push_back({slot, pod.generation, api_.monotonic()});
}

void StatusWriter::want_group_condition(GangSlot slot) {
  GangRecord& gang = tracker_.gangs().marks(slot);
  if (gang.is_group_condition_due || gang.group_uid.empty() || options_.pod_groups == PodGroupVersion::kNone) return;
  gang.is_group_condition_due = true;
  groups_.push_back({slot, gang.group_uid, api_.monotonic()});
}

void StatusWriter::want_scheduled_event(PodSlot slot) { want_event(slot, true); }

void StatusWriter::want_failed_event(PodSlot slot) {
  PodRecord& pod = tracker_.pods().marks(slot);
  if (options_.events_max == 0 || pod.is_refusal_due) return;
  pod.is_refusal_due = true;
  want_event(slot, false);
}

void StatusWriter::want_event(PodSlot slot, bool is_scheduled) {
  if (options_.events_max == 0) return;
  if (events_.size() >= options_.events_max) {
    take_off(events_.front());
    events_.pop_front();
    ++counters_.events_dropped;
  }
  events_.push_back({slot, tracker_.pods()[slot].generation, is_scheduled, api_.monotonic()});
}

void StatusWriter::take_off(const EventMark& mark) {
  if (!mark.is_scheduled && tracker_.pods().is_current(mark.slot, mark.generation))
    tracker_.pods().marks(mark.slot).is_refusal_due = false;
}

void StatusWriter::pump() {
  is_cut_short_ = false;
  if (depth() == 0 || !hooks_.may_write()) return;
  const bool is_overdue = !is_quiet();
  const std::size_t in_flight_max =
      is_overdue ? std::min(options_.overdue_in_flight_max, window_.size()) : window_.size();
  std::size_t looks = 0;
  const auto may_send = [&] { return lane_.size() < in_flight_max && api_.budget().may_send(api_.monotonic()); };
  while (looks < options_.looks_per_pump_max && may_send() && send_next(is_overdue)) ++looks;
  is_cut_short_ = looks == options_.looks_per_pump_max && depth() > 0 && may_send();
}

Millis StatusWriter::overdue_at() const {
  if (is_cut_short_) return api_.monotonic();
  Millis at = Millis::max();
  if (!groups_.empty()) at = std::min(at, groups_.front().since + options_.condition_delay_max);
  if (!first_.empty()) at = std::min(at, first_.front().since + options_.condition_delay_max);
  if (!others_.empty()) at = std::min(at, others_.front().since + options_.condition_delay_max);
  if (!events_.empty()) at = std::min(at, events_.front().since + options_.event_delay_max);
  return refreshes() == 0 ? at : std::min(at, refresh_at(is_quiet()));
}

Millis StatusWriter::refresh_at(bool is_quiet) const {
  if (refreshes() == 0) return Millis::max();
  if (is_quiet) return next_refresh_at_;
  Millis since = refreshes_.empty() ? Millis::max() : refreshes_.front().since;
  if (!group_refreshes_.empty()) since = std::min(since, group_refreshes_.front().since);
  return std::max(next_refresh_at_, since + options_.condition_delay_max);
}

void StatusWriter::send_refresh() {
  const bool is_group =
      !group_refreshes_.empty() && (refreshes_.empty() || group_refreshes_.front().since <= refreshes_.front().since);
  if (is_group) {
    const GroupMark mark = group_refreshes_.front();
    group_refreshes_.pop_front();
    return send_group_condition(mark, true);
  }
  const PodMark mark = refreshes_.front();
  refreshes_.pop_front();
  send_condition(mark, true);
}

void StatusWriter::note_written(bool is_refresh) {
  if (!is_refresh) return;
  ++counters_.refreshes;
  next_refresh_at_ = api_.monotonic() + options_.refresh_every;
}

Millis StatusWriter::due_in() const {
  const Millis at = overdue_at();
  const Millis now = api_.monotonic(), allowed_at = api_.budget().next_at();
  const bool waits_for_answer =
      lane_.size() >= options_.overdue_in_flight_max || (!api_.budget().may_send(now) && allowed_at <= now);
  if (at == Millis::max() || waits_for_answer) return Millis::max();
  return std::max(Millis(0), std::max(at, allowed_at) - now);
}

bool StatusWriter::send_next(bool is_overdue) {
  const Millis now = api_.monotonic();
  const auto has = [&](const auto& queue, Millis delay_max) {
    return !queue.empty() && (!is_overdue || now >= queue.front().since + delay_max);
  };
  const auto take_first = [](auto& queue) {
    auto mark = std::move(queue.front());
    queue.pop_front();
    return mark;
  };
  if (has(groups_, options_.condition_delay_max))
    send_group_condition(take_first(groups_), false);
  else if (has(first_, options_.condition_delay_max))
    send_condition(take_first(first_), false);
  else if (has(others_, options_.condition_delay_max))
    send_condition(take_first(others_), false);
  else if (refreshes() > 0 && now >= refresh_at(!is_overdue))
    send_refresh();
  else if (has(events_, options_.event_delay_max))
    send_event(take_first(events_));
  else
    return false;
  return true;
}

void StatusWriter::dispatch(const std::function<http::RequestId(OnAnswer)>& send,
                            std::function<void(const Answer&)> then) {
  const AdaptiveWindow::Pass pass = window_.begin(lane_.size(), api_.monotonic());
  lane_.send(send, [this, pass, then = std::move(then)](const Answer& answer) {
    window_.end(pass, health_of(answer), api_.monotonic());
    if (!answer.ok()) ++counters_.failures;
    if (then) then(answer);
  });
}

// ---- conditions -----------------------------------------------------------------------------------------------------

bool StatusWriter::begin(Attempts& attempts, std::uint64_t key) {
  Attempt& attempt = attempts[key];
  attempt.is_wanted = attempt.is_blocked;
  if (attempt.is_blocked) return false;
  attempt.is_blocked = true;
  return true;
}

bool StatusWriter::settle(Attempts& attempts, std::uint64_t key) {
  const auto found = attempts.find(key);
  if (found == attempts.end()) return false;
  const bool is_wanted = found->second.is_wanted;
  attempts.erase(found);
  return is_wanted;
}

void StatusWriter::drop_failed(Attempts& attempts, std::uint64_t key) {
  if (const auto found = attempts.find(key); found != attempts.end() && !found->second.is_blocked)
    attempts.erase(found);
}

void StatusWriter::try_again(Attempts& attempts, std::uint64_t key, std::function<void()> want) {
  Attempt& attempt = attempts[key];
  const int doublings = std::min<int>(attempt.failures, 16);
  if (attempt.failures < 255) ++attempt.failures;
  ++counters_.retries;
  const Millis delay(std::min(options_.retry_max.value, options_.retry_min.value << doublings));
  api_.after(delay, [&attempts, key, life = std::weak_ptr<char>(life_), want = std::move(want)] {
    if (life.expired()) return;
    attempts[key].is_blocked = false;
    want();
  });
}

void StatusWriter::send_condition(PodMark mark, bool is_refresh) {
  if (!tracker_.pods().is_current(mark.slot, mark.generation)) return;
  PodRecord& record = tracker_.pods().marks(mark.slot);
  const std::uint64_t key = key_of(mark.slot, mark.generation);
  (is_refresh ? record.is_refresh_due : record.is_condition_due) = false;
  if (!is_waiting(record)) return drop_failed(pod_attempts_, key);
  const ConditionText text = hooks_.pod_text(mark.slot);
  if (text.reason.empty()) return drop_failed(pod_attempts_, key);
  const std::uint64_t hash = condition_hash(text.reason, text.message);
  if (record.condition_hash == hash) {
    ++counters_.equal_skipped;
    return drop_failed(pod_attempts_, key);
  }
  const std::uint64_t words = condition_words(text.reason, text.message);
  if (!is_refresh && record.condition_hash != 0 && record.condition_words == words) {
    if (!record.is_refresh_due) refreshes_.push_back({mark.slot, mark.generation, api_.monotonic()});
    record.is_refresh_due = true;
    return drop_failed(pod_attempts_, key);
  }
  if (!begin(pod_attempts_, key)) return;
  note_written(is_refresh);
  record.condition_hash = hash;
  record.condition_words = words;
  Pod pod;
  pod.ns = record.ns;
  pod.name = record.name;
  pod.uid = record.uid;
  ++counters_.conditions;
  const ConditionUpdate update{.type = "PodScheduled",
                               .is_true = false,
                               .reason = text.reason,
                               .message = text.message,
                               .now = api_.now(),
                               .is_transition = !record.is_condition_there,
                               .observed_generation = record.spec_generation};
  dispatch(
      [&](OnAnswer on_answer) {
        return patch_pod_condition(api_, pod, update, std::move(on_answer), hooks_.may_write);
      },
      [this, mark](const Answer& answer) { take_condition(mark, answer); });
  if (pod_attempts_[key].failures == 0) speak_for(mark);
}

/// A pod that waits outside the engine has no verdict that would bring an event: it comes with the condition. Of a held
/// gang one pod reports.
void StatusWriter::speak_for(const PodMark& mark) {
  const PodRecord& pod = tracker_.pods()[mark.slot];
  if (pod.is_in_engine()) return;
  const bool is_held = pod.phase == PodRecord::Phase::kHeld;
  if (is_held || is_speaker(mark)) want_failed_event(mark.slot);
}

bool StatusWriter::is_speaker(const PodMark& mark) const {
  const PodRecord& pod = tracker_.pods()[mark.slot];
  if (pod.gang == kNoGang) return true;
  const GangRecord& gang = tracker_.gangs()[pod.gang];
  return mark.slot == (gang.bind_hold != 0 ? gang.bind_hold_pod : gang.pods.front());
}

void StatusWriter::take_condition(const PodMark& mark, const Answer& answer) {
  const std::uint64_t key = key_of(mark.slot, mark.generation);
  const bool is_current = tracker_.pods().is_current(mark.slot, mark.generation);
  if (answer.ok() && is_current) tracker_.pods().marks(mark.slot).is_condition_there = true;
  if (answer.ok() || is_gone(answer) || !is_current) {
    if (settle(pod_attempts_, key) && is_current) want_condition(mark.slot, false);
    return;
  }
  tracker_.pods().marks(mark.slot).condition_hash = 0;  // what the server has is not known
  try_again(pod_attempts_, key, [this, mark, key] {
    const bool is_there =
        tracker_.pods().is_current(mark.slot, mark.generation) && is_waiting(tracker_.pods()[mark.slot]);
    if (is_there)
      want_condition(mark.slot, false);
    else
      settle(pod_attempts_, key);
  });
}

void StatusWriter::send_group_condition(const GroupMark& mark, bool is_refresh) {
  GangRecord& gang = tracker_.gangs().marks(mark.slot);
  if (!gang.is_used || gang.group_uid != mark.uid) return;
  (is_refresh ? gang.is_group_refresh_due : gang.is_group_condition_due) = false;
  if (gang.is_group_told) return drop_failed(group_attempts_, mark.slot);
  bool is_true = false;
  const ConditionText text = hooks_.group_text(mark.slot, is_true);
  if (text.reason.empty()) return drop_failed(group_attempts_, mark.slot);
  const std::uint64_t hash = condition_hash(text.reason, text.message);
  if (gang.group_condition_hash == hash) {
    ++counters_.equal_skipped;
    return drop_failed(group_attempts_, mark.slot);
  }
  const std::uint64_t words = condition_words(text.reason, text.message);
  if (!is_refresh && !is_true && gang.group_condition_hash != 0 && gang.group_condition_words == words) {
    if (!gang.is_group_refresh_due) group_refreshes_.push_back({mark.slot, mark.uid, api_.monotonic()});
    gang.is_group_refresh_due = true;
    return drop_failed(group_attempts_, mark.slot);
  }
  if (!begin(group_attempts_, mark.slot)) return;
  note_written(is_refresh);
  gang.group_condition_hash = hash;
  gang.group_condition_words = words;
  PodGroup group;
  group.ns = gang.ns;
  group.name = gang.name;
  group.uid = gang.group_uid;
  ++counters_.group_conditions;
  const ConditionUpdate update{.type = "",
                               .is_true = is_true,
                               .reason = text.reason,
                               .message = text.message,
                               .now = api_.now(),
                               .is_transition = is_true || !gang.is_group_condition_there,
                               .observed_generation = gang.group_generation};
  dispatch(
      [&](OnAnswer on_answer) {
        return patch_pod_group_condition(api_, options_.pod_groups, group, update, std::move(on_answer),
                                         hooks_.may_write);
      },
      [this, mark, is_true](const Answer& answer) { take_group_condition(mark, is_true, answer); });
}

void StatusWriter::take_group_condition(const GroupMark& mark, bool is_true, const Answer& answer) {
  GangRecord& gang = tracker_.gangs().marks(mark.slot);
  const bool is_current = gang.is_used && gang.group_uid == mark.uid;
  if (is_current && answer.ok()) (is_true ? gang.is_group_told : gang.is_group_condition_there) = true;
  if (answer.ok() || is_gone(answer) || !is_current) {
    if (settle(group_attempts_, mark.slot) && gang.is_used) want_group_condition(mark.slot);
    return;
  }
  gang.group_condition_hash = 0;
  gang.is_group_condition_there = gang.is_group_condition_there && answer.status != 422;  // refused without a time
  try_again(group_attempts_, mark.slot, [this, slot = mark.slot] {
    // Whichever gang has the row now: a new one may have been kept from writing.
    if (tracker_.gangs()[slot].is_used)
      want_group_condition(slot);
    else
      settle(group_attempts_, slot);
  });
}

// ---- events ---------------------------------------------------------------------------------------------------------

void StatusWriter::send_event(const EventMark& mark) {
  if (!tracker_.pods().is_current(mark.slot, mark.generation)) return;
  take_off(mark);
  const PodRecord& pod = tracker_.pods()[mark.slot];
  const bool is_scheduled = mark.is_scheduled;
  if (is_scheduled ? pod.phase != PodRecord::Phase::kBound : !is_waiting(pod)) return;  // the pod has changed since
  const std::string note =
      is_scheduled ? "Successfully assigned " + pod.ns.str() + "/" + pod.name.str() + " to " + pod.node_name.str()
                   : hooks_.pod_text(mark.slot).message;
  if (note.empty()) return;  // it is re-evaluated: the next verdict brings its own
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
  dispatch([&](OnAnswer on_answer) { return create_event(api_, event, std::move(on_answer), hooks_.may_write); });
}

}  // namespace ashlar::kube
