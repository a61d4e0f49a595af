#include "live/write/commit/commit.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "kubeclient/decode/decode.h"

namespace ashlar::kube {
namespace {

constexpr Millis kWriteTimeout{10'000};

std::string full_name(const PodRecord& pod) { return pod.ns.str() + "/" + pod.name.str(); }

bool is_bound(const PodRecord& pod) {
  return pod.phase == PodRecord::Phase::kBound || pod.phase == PodRecord::Phase::kOnUnknownNode;
}

/// What a re-read pod shows of its binding.
CommitOutcome found(const Pod& read, const CommitTicket& ticket) {
  const CommitStep step = ticket.step;
  const bool is_elsewhere = !ticket.node.empty() && read.node_name != ticket.node;
  if (!read.node_name.empty()) return is_elsewhere ? CommitOutcome::kFoundOther : CommitOutcome::kFoundDone;
  if (read.is_terminal()) return CommitOutcome::kFoundDone;
  if (step == CommitStep::kConfirm) return CommitOutcome::kFoundUndone;
  const bool may_be_bound = read.deletion_requested.value == 0 && read.scheduling_gates == 0;
  return may_be_bound ? CommitOutcome::kFoundUndone : CommitOutcome::kFoundOther;
}

}  // namespace

Commit::Commit(Api& api, Tracker& tracker, BindQueue& queue, const CommitOptions& options, Hooks hooks)
    : api_(api),
      tracker_(tracker),
      queue_(queue),
      options_(options),
      hooks_(std::move(hooks)),
      window_(options.binds),
      lane_(api, hooks_.after_answer),
      rereads_(api, lane_, options.rereads,
               {.begin = [this](CommitTicket& ticket) { return begin_read(ticket); },
                .take = [this](CommitTicket ticket, const Answer& answer) { take_read(std::move(ticket), answer); }}),
      waits_(tracker, options,
             [this](CommitTicket ticket, CommitOutcome outcome) { follow(std::move(ticket), outcome); }),
      rollback_(api, options, counters_,
                {.may_write = hooks_.may_write, .log = hooks_.log, .after_answer = hooks_.after_answer}) {}

void Commit::pump(Millis now) {
  // needs no lease: if it stopped while the lease's renewal is late, nothing would re-read and the place would stay
  // taken
  rereads_.pump(now);
  waits_.pump(now);
  pump_busy(now);
  pump_resends(now);
  rollback_.pump(now);
}

void Commit::pump_resends(Millis now) {
  for (auto it = resends_.begin(); it != resends_.end() && it->first <= now;) {
    const bool is_too_late = now >= it->second.gives_up_at;
    const PodRecord* pod = find_assumed(it->second);
    const bool has_turn = pod == nullptr || queue_.may_send_again(pod->ns);
    const bool goes_now = !is_too_late && has_turn && api_.budget().may_send(now) && hooks_.may_write();
    if (!is_too_late && !goes_now) {
      ++it;
      continue;
    }
    CommitTicket ticket = std::move(it->second);
    it = resends_.erase(it);
    if (goes_now)
      start(std::move(ticket));
    else
      follow(std::move(ticket), CommitOutcome::kTimeOut);
  }
}

/// They have another turn in the queue.
void Commit::pump_busy(Millis now) {
  while (!busy_.empty() && busy_.begin()->first <= now) {
    CommitTicket ticket = std::move(busy_.begin()->second);
    busy_.erase(busy_.begin());
    if (now >= ticket.gives_up_at)
      follow(std::move(ticket), CommitOutcome::kTimeOut);
    else if (const PodRecord* pod = find_assumed(ticket); pod == nullptr)
      follow(std::move(ticket), CommitOutcome::kPlaceLost);
    else
      queue_.push(pod->ns, std::move(ticket));
  }
}

// ---- requests -------------------------------------------------------------------------------------------------------

void Commit::start(CommitTicket ticket) {
  ticket.later.reset();
  if (find_assumed(ticket) == nullptr) return follow(std::move(ticket), CommitOutcome::kPlaceLost);
  const State* news = tracker_.has_node_news(ticket.slot) ? &hooks_.state_now() : nullptr;
  if (find_assumed(ticket) == nullptr)  // an event may have taken its place away
    return follow(std::move(ticket), CommitOutcome::kPlaceLost);
  if (tracker_.is_place_outdated(ticket.slot, news)) return follow(std::move(ticket), CommitOutcome::kOutdated);
  if (ticket.step == CommitStep::kReserve) return begin(std::move(ticket));
  ticket.step == CommitStep::kWrite ? send_write(std::move(ticket)) : send_binding(std::move(ticket));
}

void Commit::begin(CommitTicket ticket) {
  if (ticket.progress == nullptr) {
    enter(ticket, CommitStep::kBind);
    return send_binding(std::move(ticket));
  }
  if (std::string problem = ticket.progress->work->problem(); !problem.empty()) {
    ticket.words = std::move(problem);
    return follow(std::move(ticket), CommitOutcome::kBroken);
  }
  if (has_earlier(tracker_.pods()[ticket.slot])) {
    ticket.words = "what was written for its last place is still being taken back";
    tracker_.note_bind_wait(ticket.slot, ticket.words);
    return follow(std::move(ticket), CommitOutcome::kBusy);
  }
  tracker_.note_bind_wait(ticket.slot, {});
  ticket.progress->turn = take_turn(ticket.slot);
  enter(ticket, CommitStep::kWrite);
  send_write(std::move(ticket));
}

bool Commit::has_earlier(const PodRecord& pod) {
  const std::pair name(pod.ns, pod.name);
  const auto earlier = turns_->find(name);
  if (earlier == turns_->end()) return false;
  const std::vector<PodSlot> slots = earlier->second;
  for (const PodSlot slot : slots) waits_.look_now(slot, api_.monotonic());  // the place is lost: the wait ends
  return turns_->contains(name);
}

std::shared_ptr<void> Commit::take_turn(PodSlot slot) {
  const PodRecord& pod = tracker_.pods()[slot];
  (*turns_)[{pod.ns, pod.name}].push_back(slot);
  const auto end = [turns = turns_, slot, name = std::pair(pod.ns, pod.name)](void*) {
    std::vector<PodSlot>& slots = (*turns)[name];
    std::erase(slots, slot);
    if (slots.empty()) turns->erase(name);
  };
  return {nullptr, end};
}

void Commit::enter(CommitTicket& ticket, CommitStep step) {
  ticket.step = step;
  ticket.undone_reads = ticket.failed_reads = 0;
  ticket.first_sent = Millis(0);
  ticket.gives_up_at = Millis::max();
}

template <class Take>
void Commit::dispatch(const PooledString& ns, const std::function<http::RequestId(OnAnswer)>& send, Take take) {
  const std::uint64_t number = lane_.next_number();
  const AdaptiveWindow::Pass pass = window_.begin(in_window(), api_.monotonic());
  queue_.note_sent(number, ns, api_.monotonic());
  lane_.send(send, [this, number, pass, take = std::move(take)](const Answer& answer) {
    const Millis now = api_.monotonic();
    const ServerHealth health = health_of(answer);
    if (queue_.note_answered(number, now, health == ServerHealth::kUnclear)) window_.end(pass, health, now);
    take(answer);
  });
}

void Commit::send_write(CommitTicket ticket) {
  CommitProgress& progress = *ticket.progress;
  if (progress.next == progress.work->writes()) {
    enter(ticket, CommitStep::kWait);
    return waits_.add(std::move(ticket), api_.monotonic());
  }
  if (ticket.first_sent.value == 0) ticket.first_sent = api_.monotonic();
  progress.is_sent = true;
  ++counters_.writes;
  const CommitWork& work = *progress.work;
  http::Request request{.method = http::Method::kPatch,
                        .path = work.path(progress.next),
                        .body = work.patch(progress.next, progress.object),
                        .content_type = kMergePatch,
                        .accept = kJsonType,
                        .timeout = kWriteTimeout,
                        .may_send = hooks_.may_write};
  const auto send = [&](OnAnswer on_answer) { return api_.send(std::move(request), std::move(on_answer)); };
  dispatch(tracker_.pods()[ticket.slot].ns, send,
           [this, ticket = std::move(ticket)](const Answer& answer) { take_write_answer(ticket, answer); });
}

void Commit::send_binding(CommitTicket ticket) {
  const PodRecord& pod = tracker_.pods()[ticket.slot];
  Binding binding{pod.ns, pod.name, pod.uid, tracker_.names().nodes.name(pod.node), {}};
  if (!pod.devices.is_empty()) {
    binding.annotations.emplace_back(std::string(kDevicesAnnotation), devices_text(pod.devices));
    binding.annotations.emplace_back(std::string(kGrantsAnnotation), grants_text(tracker_.grants_held(ticket.slot)));
  }
  if (const PooledString queue = tracker_.charged_queue(ticket.slot); !queue.empty())
    binding.annotations.emplace_back(std::string(kChargedQueueAnnotation), queue.str());
  tracker_.pods().edit(ticket.slot).is_bind_under_way = true;
  if (ticket.first_sent.value == 0) ticket.first_sent = api_.monotonic();
  ++counters_.sent;
  ticket.node = binding.node;
  PodDevices devices(pod.devices, pod.grants);
  const auto send = [&](OnAnswer on_answer) {
    return kube::bind(api_, binding, std::move(on_answer), Encoding::kJson, hooks_.may_write);
  };
  dispatch(binding.ns, send, [this, ticket = std::move(ticket), devices = std::move(devices)](const Answer& answer) {
    take_binding_answer(ticket, devices, answer);
  });
}

// ---- answers --------------------------------------------------------------------------------------------------------

void Commit::warn(const PodRecord& pod, const std::string& message) const {
  if (hooks_.log) hooks_.log(LogLevel::kWarning, {message, "pod", pod.ns, pod.name});
}

void Commit::take_write_answer(CommitTicket ticket, const Answer& answer) {
  const CommitProgress& progress = *ticket.progress;
  const bool is_done = answer.ok() && progress.work->look_at(progress.next, answer.body) == WriteFinding::kDone;
  const PodRecord* pod = find_assumed(ticket);
  if (pod == nullptr) return follow(std::move(ticket), CommitOutcome::kPlaceLost);
  if (is_done) return follow(std::move(ticket), CommitOutcome::kDone);
  ticket.words = progress.work->subject(progress.next) + ": " +
                 (answer.ok() ? "the server's answer " + std::to_string(answer.status) + " does not confirm the write"
                              : bounded_words(answer.result.error().message));
  warn(*pod, "preparing pod " + full_name(*pod) + ": " + ticket.words);
  tracker_.note_bind_wait(ticket.slot, "a write before it has not succeeded yet: " + ticket.words);
  // any other 2xx answer (a proxy's page, an empty answer) leaves the object's state open
  follow(std::move(ticket), answer.ok() ? CommitOutcome::kUnknown : outcome_of(bind_outcome(answer)));
}

void Commit::take_binding_answer(CommitTicket ticket, const PodDevices& devices, const Answer& answer) {
  const BindOutcome outcome = bind_outcome(answer);
  ++counters_.by_outcome[static_cast<std::size_t>(outcome)];
  const PodRecord* pod = find(ticket);
  if (pod == nullptr) return outcome == BindOutcome::kBound ? void() : release(std::move(ticket));
  if (outcome == BindOutcome::kBound) {
    confirm(ticket, devices);
    return follow(std::move(ticket), CommitOutcome::kDone);
  }
  ticket.words = answer.ok() ? "the server's answer " + std::to_string(answer.status) + " does not confirm the binding"
                             : bounded_words(answer.result.error().message);
  warn(*pod, "binding " + full_name(*pod) + " to " + ticket.node.str() + ": " + ticket.words);
  follow(std::move(ticket), outcome_of(outcome));
}

void Commit::confirm(const CommitTicket& ticket, const PodDevices& devices) {
  const PodRecord& pod = tracker_.pods()[ticket.slot];
  tracker_.note_answered(ticket.slot);
  tracker_.pods().edit(ticket.slot).bind_failures = 0;
  if (hooks_.log)
    hooks_.log(LogLevel::kDebug, {"bound " + full_name(pod) + " to " + ticket.node.str(), "pod", pod.ns, pod.name});
  // If the watch has already reported its node, that is newer than the answer.
  if (pod.phase != PodRecord::Phase::kBound) tracker_.note_bound(ticket.slot, ticket.node, devices);
}

const PodRecord* Commit::find_unseen(const CommitTicket& ticket) const {
  const PodRecord* pod = find(ticket);
  return pod != nullptr && is_bound(*pod) && !pod->is_bound_seen && pod->bind_attempt == ticket.turn ? pod : nullptr;
}

// ---- re-reads -------------------------------------------------------------------------------------------------------

std::string Commit::begin_read(CommitTicket& ticket) {
  ticket.later.reset();
  const bool is_write = ticket.step == CommitStep::kWrite, is_confirmed = ticket.step == CommitStep::kConfirm;
  const PodRecord* pod = is_confirmed ? find_unseen(ticket) : is_write ? find_assumed(ticket) : find(ticket);
  if (pod == nullptr) {
    follow(std::move(ticket), CommitOutcome::kPlaceLost);
    return {};
  }
  if (!is_confirmed && is_bound(*pod)) {  // the watch was faster
    if (pod->node_name != ticket.node) release(std::move(ticket));
    return {};
  }
  ++counters_.reread;
  return is_write ? ticket.progress->work->path(ticket.progress->next) : pod_path(pod->ns, pod->name);
}

void Commit::take_read(CommitTicket ticket, const Answer& answer) {
  ticket.step == CommitStep::kWrite ? take_object(std::move(ticket), answer) : take_pod(std::move(ticket), answer);
}

void Commit::take_object(CommitTicket ticket, const Answer& answer) {
  if (find_assumed(ticket) == nullptr) return follow(std::move(ticket), CommitOutcome::kPlaceLost);
  CommitProgress& progress = *ticket.progress;
  const std::string subject = progress.work->subject(progress.next);
  if (!answer.ok()) {
    if (!says_gone(answer)) return note_unreadable(std::move(ticket), answer.result.error().message);
    ticket.words = subject + " does not exist";
    return follow(std::move(ticket), CommitOutcome::kFoundGone);
  }
  const WriteFinding finding = progress.work->look_at(progress.next, answer.body);
  if (finding == WriteFinding::kUnreadable)
    return note_unreadable(std::move(ticket), "the server's answer is not " + subject);
  ticket.failed_reads = 0;
  progress.object = answer.body;
  if (finding == WriteFinding::kDone) return follow(std::move(ticket), CommitOutcome::kFoundDone);
  if (finding == WriteFinding::kUndone) return follow(std::move(ticket), CommitOutcome::kFoundUndone);
  ticket.words = subject + " was changed by another writer";
  follow(std::move(ticket), CommitOutcome::kFoundOther);
}

/// A pod given up as gone is not restored while the watch knows it.
void Commit::take_pod(CommitTicket ticket, const Answer& answer) {
  const PodRecord* pod = find(ticket);
  if (pod == nullptr) return release(std::move(ticket));
  Result<Pod> read = answer.ok() ? decode_object<Pod>(answer.body) : Result<Pod>(answer.result.error());
  if (!read) {
    if (says_gone(answer)) return follow(std::move(ticket), CommitOutcome::kFoundGone);
    return note_unreadable(std::move(ticket), read.error().message);
  }
  if (read->uid.empty() && !pod->uid.empty())
    return note_unreadable(std::move(ticket), "the server's answer lacks the pod's uid");
  if (read->uid != pod->uid)  // another pod of that name; the watch brings it
    return follow(std::move(ticket), CommitOutcome::kFoundGone);
  ticket.failed_reads = 0;
  const bool is_confirmed = ticket.step == CommitStep::kConfirm;
  if (is_confirmed && find_unseen(ticket) == nullptr) return;  // the watch was faster
  const CommitOutcome outcome = found(*read, ticket);
  follow(std::move(ticket), outcome, &read.value());
}

/// The answer says nothing about the object: `words`, logged once until a re-read succeeds.
void Commit::note_unreadable(CommitTicket ticket, const std::string& words) {
  const PodRecord* pod = find(ticket);
  const bool is_write = ticket.step == CommitStep::kWrite;
  const std::string subject = is_write ? ticket.progress->work->subject(ticket.progress->next) : "";
  if (pod != nullptr && ticket.failed_reads == 0)
    warn(*pod, "reading " +
                   (is_write ? subject + ", to prepare pod " + full_name(*pod)
                             : full_name(*pod) + ", to check whether it is bound") +
                   ": " + bounded_words(words) + "; its capacity stays reserved until that is known" +
                   (is_write ? ", for at most 30 s" : ""));
  if (is_write) ticket.words = subject + " cannot be read: " + bounded_words(words);
  follow(std::move(ticket), CommitOutcome::kUnreadable);
}

// ---- what follows ---------------------------------------------------------------------------------------------------

void Commit::follow(CommitTicket ticket, CommitOutcome outcome, Pod* read) {
  const CommitRule& rule = rule_of(outcome, ticket.step);
  ASHLAR_CHECK(rule.move != CommitMove::kImpossible);
  switch (rule.move) {
    case CommitMove::kUnstated:
    case CommitMove::kImpossible:
      return;
    case CommitMove::kAdvance:
      return advance(std::move(ticket));
    case CommitMove::kResend:
      return resend(std::move(ticket), rule);
    case CommitMove::kReread:
      return reread(std::move(ticket), rule, outcome == CommitOutcome::kUnreadable);
    case CommitMove::kGiveUp:
      return give_up(std::move(ticket));
    case CommitMove::kChooseAnew:
      return choose_anew(std::move(ticket));
    case CommitMove::kTakeBack:
      return take_back(ticket, std::move(*read));
    case CommitMove::kAdopt:
      return adopt(std::move(ticket), outcome, std::move(*read));
    case CommitMove::kForget:
      return forget(std::move(ticket));
    case CommitMove::kRelease:
      return release(std::move(ticket));
    case CommitMove::kEnd:
      return;
  }
}

void Commit::advance(CommitTicket ticket) {
  if (ticket.step == CommitStep::kWrite) {
    CommitProgress& progress = *ticket.progress;
    ++progress.next;
    progress.is_sent = false;
    progress.object.clear();
    enter(ticket, CommitStep::kWrite);
    ticket.later = queue_.note_later(tracker_.pods()[ticket.slot].ns);
    resends_.emplace(api_.monotonic(), std::move(ticket));  // in this turn, if it may be sent
  } else if (ticket.step == CommitStep::kWait) {
    enter(ticket, CommitStep::kBind);
    const PooledString ns = tracker_.pods()[ticket.slot].ns;
    queue_.push(ns, std::move(ticket));
  } else if (const PodRecord& pod = tracker_.pods()[ticket.slot]; !pod.is_bound_seen) {
    ticket.turn = pod.bind_attempt;
    rereads_.confirm_later(ticket, api_.monotonic() + options_.unseen_max);
  }
}

/// What was written or bound is known to be undone.
void Commit::resend(CommitTicket ticket, const CommitRule& rule) {
  const bool is_binding = ticket.step == CommitStep::kBind, is_counted = rule.times_max > 0;
  if (is_counted && ++ticket.undone_reads >= rule.times_max) return give_up(std::move(ticket));
  const Millis now = api_.monotonic();
  // the budget knows how long the server asked for no requests
  const Millis delay = hold_time(options_.retry_min, options_.retry_max, std::max(1, ticket.undone_reads));
  if (find_assumed(ticket) == nullptr) {
    // its node was removed: nothing is sent again
    if (is_binding && is_counted) return rereads_.later(std::move(ticket), now + delay);
    return end_old_turn(std::move(ticket));
  }
  if (is_binding) tracker_.note_answered(ticket.slot);
  if (tracker_.is_gang_held(ticket.slot)) {  // the gang gets it back at once
    tracker_.note_rejected(ticket.slot);
    return release(std::move(ticket));
  }
  if (ticket.first_sent.value == 0) ticket.first_sent = now;
  ticket.gives_up_at = rule.place_kept_max.value > 0 ? ticket.first_sent + rule.place_kept_max : Millis::max();
  if (ticket.step != CommitStep::kReserve) ticket.later = queue_.note_later(tracker_.pods()[ticket.slot].ns);
  (ticket.step == CommitStep::kReserve ? busy_ : resends_).emplace(now + delay, std::move(ticket));
}

/// Unknown is not free: the place stays taken until the server has reported the result of a binding.
void Commit::reread(CommitTicket ticket, const CommitRule& rule, bool has_failed) {
  if (rule.place_kept_max.value > 0 && api_.monotonic() >= ticket.first_sent + rule.place_kept_max)
    return follow(std::move(ticket), CommitOutcome::kTimeOut);
  const Millis delay =
      has_failed ? hold_time(options_.reread_min, options_.reread_max, ++ticket.failed_reads) : Millis(0);
  if (const PodRecord* pod = find(ticket); pod != nullptr) ticket.later = queue_.note_later(pod->ns);
  rereads_.later(std::move(ticket), api_.monotonic() + delay);
}

void Commit::give_up(CommitTicket ticket) {
  if (find_assumed(ticket) == nullptr) return end_old_turn(std::move(ticket));
  tracker_.note_answered(ticket.slot);
  ++counters_.given_up;
  if (const BindHold hold = tracker_.note_bind_failed(ticket.slot, ticket.words); hold.number != 0)
    hooks_.on_hold(hold);
  release(std::move(ticket));
}

/// The pod is known to be unbound: the request has not been sent yet, or the server reported that it was not carried
/// out.
void Commit::choose_anew(CommitTicket ticket) {
  const PodRecord& pod = tracker_.pods()[ticket.slot];
  if (hooks_.log)
    hooks_.log(LogLevel::kDebug,
               {"the placement of " + full_name(pod) + " on " + tracker_.names().nodes.name(pod.node).str() +
                    " changed before its binding was sent: it is decided again",
                "pod", pod.ns, pod.name});
  tracker_.choose_anew(ticket.slot);
  release(std::move(ticket));
}

void Commit::end_old_turn(CommitTicket ticket) {
  if (ticket.step == CommitStep::kBind && find(ticket) != nullptr) tracker_.note_not_bound(ticket.slot);
  release(std::move(ticket));
}

void Commit::release(CommitTicket ticket) {
  if (ticket.progress == nullptr) return;
  const PodRecord* pod = find(ticket);
  rollback_.take(std::move(ticket), pod == nullptr ? "that is gone" : full_name(*pod));
}

void Commit::take_back(const CommitTicket& ticket, Pod&& unbound) {
  const PodRecord& pod = tracker_.pods()[ticket.slot];
  const std::string words =
      "the binding to node " + pod.node_name.str() + " was answered with success, but " +
      std::to_string(options_.unseen_max.value / 1000) +
      " s later the pod has no node; an admission webhook or a proxy may have answered in the API "
      "server's place";
  warn(pod, "pod " + full_name(pod) + " is not bound and is scheduled again: " + words);
  ++counters_.undone;
  hooks_.on_hold(tracker_.note_undone(ticket.slot, words));
  tracker_.take({Change<Pod>::Kind::kModified, std::move(unbound)});  // what its owner has changed since
}

void Commit::adopt(CommitTicket ticket, CommitOutcome outcome, Pod&& read) {
  if (ticket.step == CommitStep::kBind) tracker_.note_answered(ticket.slot);
  tracker_.take({Change<Pod>::Kind::kModified, std::move(read)});
  if (outcome == CommitOutcome::kFoundOther) release(std::move(ticket));
}

void Commit::forget(CommitTicket ticket) {
  tracker_.note_gone(ticket.slot);
  release(std::move(ticket));
}

}  // namespace ashlar::kube
