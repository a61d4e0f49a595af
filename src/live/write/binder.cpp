#include "live/write/binder.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "kubeclient/decode/decode.h"

namespace ashlar::kube {
namespace {

constexpr Millis kReadTimeout{10'000};
constexpr Millis kSlowReportedEvery{60'000};
constexpr std::string_view kNotFound = "NotFound";  // metav1.StatusReasonNotFound

}  // namespace

Binder::Binder(Api& api, Tracker& tracker, BinderOptions options, Hooks hooks)
    : api_(api), tracker_(tracker), options_(options), hooks_(std::move(hooks)), life_(std::make_shared<char>()) {}

Binder::~Binder() {
  for (const auto& [request, id] : under_way_) {
    api_.cancel(id);
    api_.budget().cancel();
  }
  api_.cancel_timer(timer_);
}

void Binder::submit(const Plan& plan) {
  for (const Action& action : plan.actions) {
    const Bind* bind = std::get_if<Bind>(&action);
    // the profiles that the live scheduler accepts evict nothing; reservations live in the engine
    if (bind == nullptr) continue;
    const PodSlot slot = tracker_.pods().of_member(bind->member);
    ASHLAR_CHECK(slot != kNoPod);
    tracker_.note_assumed(slot, bind->node, tracker_.granted(slot, *bind));
    const PodRecord& pod = tracker_.pods()[slot];
    queue_.push(pod.ns,
                {.slot = slot, .generation = pod.generation, .turn = pod.bind_attempt, .first_sent = {}, .words = {}});
  }
  if (hooks_.on_plan) hooks_.on_plan(plan);
  pump();
}

void Binder::pump() {
  const Millis now = api_.monotonic();
  end_holds(now);
  // needs no lease: if it stopped while the lease's renewal is late, nothing would re-read and the place would stay
  // taken
  pump_rereads(now);
  pump_confirmed(now);
  pump_resends(now);
  find_slow(now);
  while (may_send(now) && hooks_.may_write()) {
    std::optional<BindQueue::Next> next = queue_.next(in_window() < options_.in_flight_max);
    if (!next) break;
    send(std::move(next->ticket));
  }
  arm(now);
}

void Binder::pump_rereads(Millis now) {
  while (!rereads_.empty() && rereads_.begin()->first <= now && rereads_under_way_ < options_.rereads_max &&
         may_send(now)) {
    Ticket ticket = std::move(rereads_.begin()->second);
    rereads_.erase(rereads_.begin());
    reread(std::move(ticket));
  }
}

/// Of an answer given in the API server's place nothing would be heard again: the pod would wait for ever, while its
/// capacity is counted as used.
void Binder::pump_confirmed(Millis now) {
  while (!confirmed_.empty() && confirmed_.front().due <= now && rereads_under_way_ < options_.rereads_max &&
         may_send(now)) {
    const Confirmed one = confirmed_.front();
    confirmed_.pop_front();
    reread({.slot = one.slot,
            .generation = one.generation,
            .turn = one.turn,
            .first_sent = {},
            .outcome = BindOutcome::kBound,
            .words = {}});
  }
}

void Binder::pump_resends(Millis now) {
  for (auto it = resends_.begin(); it != resends_.end() && it->first <= now;) {
    const Millis kept_max = rule_of(it->second.outcome).place_kept_max;
    const bool is_too_late = kept_max.value > 0 && now >= it->second.first_sent + kept_max;
    const bool goes_now = !is_too_late && may_send(now) && hooks_.may_write();
    if (!is_too_late && !goes_now) {
      ++it;
      continue;
    }
    Ticket ticket = std::move(it->second);
    it = resends_.erase(it);
    if (is_too_late)
      give_up(ticket);
    else
      send(std::move(ticket));
  }
}

void Binder::end_holds(Millis now) {
  while (!holds_.empty() && holds_.begin()->first <= now) {
    const BindHold hold = holds_.begin()->second;
    holds_.erase(holds_.begin());
    tracker_.end_bind_hold(hold);
  }
}

void Binder::find_slow(Millis now) {
  const std::vector<PooledString> slow = queue_.find_slow(now);
  if (slow.empty() || !hooks_.log || (slow_reported_at_.value != 0 && now < slow_reported_at_ + kSlowReportedEvery))
    return;
  slow_reported_at_ = now;
  const std::string others = slow.size() > 1 ? " (and " + std::to_string(slow.size() - 1) + " more)" : "";
  hooks_.log(LogLevel::kWarning, {"bindings in namespace " + slow.front().str() + others +
                                      " are not answered within 2 s (a slow admission webhook, for example); until one "
                                      "is, bindings in other namespaces go first",
                                  "namespace", PooledString(), slow.front()});
}

void Binder::arm(Millis now) {
  Millis next = Millis::max();
  const auto consider = [&](Millis due, bool needs_budget) {
    if (needs_budget) due = std::max(due, api_.budget().next_at());
    if (due > now) next = std::min(next, due);  // a due one that is still here waits for an answer or for the lease
  };
  if (!holds_.empty()) consider(holds_.begin()->first, false);
  if (!rereads_.empty()) consider(rereads_.begin()->first, true);
  if (!resends_.empty()) consider(resends_.begin()->first, true);
  if (!confirmed_.empty()) consider(confirmed_.front().due, true);
  if (!queue_.is_empty()) consider(now, true);
  consider(queue_.next_look(), false);
  if (next >= timer_at_ || next == Millis::max()) return;
  api_.cancel_timer(timer_);
  timer_at_ = next;
  timer_ = api_.after(next - now, [this, life = std::weak_ptr<char>(life_)] {
    if (life.expired()) return;
    timer_at_ = Millis::max();
    pump();
  });
}

void Binder::dispatch(const std::function<http::RequestId(OnAnswer)>& send, std::function<void(const Answer&)> then) {
  const std::uint64_t request = ++last_request_;
  const RequestBudget::Pass pass = api_.budget().begin(api_.monotonic());
  under_way_[request] = send([this, request, pass, then = std::move(then)](const Answer& answer) {
    under_way_.erase(request);
    queue_.note_answered(request, api_.monotonic());
    api_.budget().end(pass, {health_of(answer), answer.retry_after}, api_.monotonic());
    then(answer);
    pump();
  });
}

const PodRecord* Binder::find(const Ticket& ticket) {
  if (!tracker_.pods().is_current(ticket.slot, ticket.generation)) return nullptr;
  return &tracker_.pods()[ticket.slot];
}

const PodRecord* Binder::find_assumed(const Ticket& ticket) {
  const PodRecord* pod = find(ticket);
  return pod != nullptr && pod->phase == PodRecord::Phase::kAssumed && pod->bind_attempt == ticket.turn ? pod : nullptr;
}

const PodRecord* Binder::find_unseen(const Ticket& ticket) {
  const PodRecord* pod = find(ticket);
  const bool is_bound =
      pod != nullptr && (pod->phase == PodRecord::Phase::kBound || pod->phase == PodRecord::Phase::kOnUnknownNode);
  return is_bound && !pod->is_bound_seen && pod->bind_attempt == ticket.turn ? pod : nullptr;
}

void Binder::send(Ticket ticket) {
  if (find_assumed(ticket) == nullptr) return;
  const State* news = tracker_.has_node_news(ticket.slot) ? &hooks_.state_now() : nullptr;
  const PodRecord* pod = find_assumed(ticket);  // an event may have taken its place away
  if (pod == nullptr) return;
  if (tracker_.is_place_outdated(ticket.slot, news)) return choose_anew(ticket);
  Binding binding{pod->ns, pod->name, pod->uid, tracker_.names().nodes.name(pod->node), {}};
  if (!pod->devices.is_empty()) {
    binding.annotations.emplace_back(std::string(kDevicesAnnotation), devices_text(pod->devices));
    binding.annotations.emplace_back(std::string(kGrantsAnnotation), grants_text(tracker_.grants_held(ticket.slot)));
  }
  if (const PooledString queue = tracker_.charged_queue(ticket.slot); !queue.empty())
    binding.annotations.emplace_back(std::string(kChargedQueueAnnotation), queue.str());
  tracker_.pods().edit(ticket.slot).is_bind_under_way = true;
  if (ticket.first_sent.value == 0) ticket.first_sent = api_.monotonic();
  ++counters_.sent;
  queue_.note_sent(last_request_ + 1, pod->ns, api_.monotonic());
  dispatch(
      [&](OnAnswer on_answer) {
        return kube::bind(api_, binding, std::move(on_answer), Encoding::kJson, hooks_.may_write);
      },
      [this, ticket = std::move(ticket), node = binding.node, devices = PodDevices(pod->devices, pod->grants)](
          const Answer& answer) { take_answer(ticket, node, devices, answer); });
}

void Binder::take_answer(Ticket ticket, const PooledString& node, const PodDevices& devices, const Answer& answer) {
  ticket.outcome = bind_outcome(answer);
  ++counters_.by_outcome[static_cast<std::size_t>(ticket.outcome)];
  if (ticket.outcome == BindOutcome::kBound) return confirm(ticket, node, devices);
  const PodRecord* pod = find(ticket);
  if (pod == nullptr) return;
  ticket.words = answer.ok() ? "the server's answer " + std::to_string(answer.status) + " does not confirm the binding"
                             : bounded_words(answer.result.error().message);
  if (hooks_.log)
    hooks_.log(LogLevel::kWarning,
               {"binding " + pod->ns.str() + "/" + pod->name.str() + " to " + node.str() + ": " + ticket.words, "pod",
                pod->ns, pod->name});
  follow(std::move(ticket));
}

/// The devices are those of this binding: the engine may have chosen others since, if the node was removed and came
/// back.
void Binder::confirm(const Ticket& ticket, const PooledString& node, const PodDevices& devices) {
  const PodRecord* pod = find(ticket);
  if (pod == nullptr) return;
  tracker_.note_answered(ticket.slot);
  tracker_.pods().edit(ticket.slot).bind_failures = 0;
  if (hooks_.log)
    hooks_.log(LogLevel::kDebug,
               {"bound " + pod->ns.str() + "/" + pod->name.str() + " to " + node.str(), "pod", pod->ns, pod->name});
  // If the watch has already reported its node, that is newer than the answer.
  if (pod->phase != PodRecord::Phase::kBound) tracker_.note_bound(ticket.slot, node, devices);
  if (!pod->is_bound_seen)
    confirmed_.push_back({api_.monotonic() + options_.unseen_max, ticket.slot, ticket.generation, pod->bind_attempt});
}

void Binder::follow(Ticket ticket) {
  switch (rule_of(ticket.outcome).step) {
    case BindStep::kConfirm:
      return;
    case BindStep::kGiveUp:
      return give_up(ticket);
    case BindStep::kResend:
      // the budget knows how long the server asked for no requests
      return resend_later(std::move(ticket), options_.retry_min);
    case BindStep::kReread:
      return reread_later(std::move(ticket), Millis(0));
  }
}

void Binder::reread(Ticket ticket) {
  const bool is_confirmed = ticket.outcome == BindOutcome::kBound;
  const PodRecord* pod = is_confirmed ? find_unseen(ticket) : find(ticket);
  if (pod == nullptr) return;
  // the watch was faster
  if (!is_confirmed && (pod->phase == PodRecord::Phase::kBound || pod->phase == PodRecord::Phase::kOnUnknownNode))
    return;
  ++counters_.reread;
  ++rereads_under_way_;
  const std::string path = pod_path(pod->ns, pod->name);
  dispatch(
      [&](OnAnswer on_answer) {
        return api_.send({.path = path, .accept = kProtobufType, .timeout = kReadTimeout}, std::move(on_answer));
      },
      [this, ticket = std::move(ticket)](const Answer& answer) {
        --rereads_under_way_;
        take_pod(ticket, answer);
      });
}

/// A pod given up as gone is not restored while the watch knows it, so only the API server's own answer counts: any
/// proxy can return 404.
void Binder::take_pod(Ticket ticket, const Answer& answer) {
  const PodRecord* pod = find(ticket);
  if (pod == nullptr) return;
  Result<Pod> read = answer.ok() ? decode_object<Pod>(answer.body) : Result<Pod>(answer.result.error());
  if (!read) {
    if (answer.status == 404 && answer.reason == kNotFound) return tracker_.note_gone(ticket.slot);
    return reread_after_failure(std::move(ticket), read.error().message);
  }
  if (read->uid.empty() && !pod->uid.empty())
    return reread_after_failure(std::move(ticket), "the server's answer lacks the pod's uid");
  if (read->uid != pod->uid) return tracker_.note_gone(ticket.slot);  // another pod of that name; the watch brings it
  ticket.failed_reads = 0;
  if (ticket.outcome == BindOutcome::kBound) {
    if (find_unseen(ticket) == nullptr) return;  // the watch was faster
    if (read->node_name.empty() && !read->is_terminal()) return take_back(ticket, std::move(read).value());
    return tracker_.take({Change<Pod>::Kind::kModified, std::move(read).value()});
  }
  const bool is_unbound = read->node_name.empty() && !read->is_terminal() && read->deletion_requested.value == 0 &&
                          read->scheduling_gates == 0;
  if (!is_unbound) {
    tracker_.note_answered(ticket.slot);
    return tracker_.take({Change<Pod>::Kind::kModified, std::move(read).value()});
  }
  if (++ticket.unbound_reads >= rule_of(ticket.outcome).unbound_reads_max) return give_up(ticket);
  const Millis delay = hold_time(options_.retry_min, options_.retry_max, ticket.unbound_reads);
  // its node was removed: nothing is sent again
  if (find_assumed(ticket) == nullptr) return reread_later(std::move(ticket), delay);
  resend_later(std::move(ticket), delay);
}

/// The pod is known to be unbound. If its gang is held meanwhile, the gang gets it back at once.
void Binder::resend_later(Ticket ticket, Millis delay) {
  const PodRecord* pod = find_assumed(ticket);
  if (pod == nullptr) return end_old_turn(ticket);
  tracker_.note_answered(ticket.slot);
  if (tracker_.is_gang_held(ticket.slot)) return tracker_.note_rejected(ticket.slot);
  resends_.emplace(api_.monotonic() + delay, std::move(ticket));
}

/// The pod is known to be unbound: the request has not been sent yet, or the server reported that it was not carried
/// out.
void Binder::choose_anew(const Ticket& ticket) {
  const PodRecord& pod = tracker_.pods()[ticket.slot];
  if (hooks_.log)
    hooks_.log(LogLevel::kDebug, {"the placement of " + pod.ns.str() + "/" + pod.name.str() + " on " +
                                      tracker_.names().nodes.name(pod.node).str() +
                                      " changed before its binding was sent: it is decided again",
                                  "pod", pod.ns, pod.name});
  tracker_.choose_anew(ticket.slot);
}

/// Its node was removed meanwhile; the pod waited for this answer.
void Binder::end_old_turn(const Ticket& ticket) {
  if (find(ticket) != nullptr) tracker_.note_not_bound(ticket.slot);
}

void Binder::reread_later(Ticket ticket, Millis delay) {
  rereads_.emplace(api_.monotonic() + delay, std::move(ticket));
}

void Binder::reread_after_failure(Ticket ticket, const std::string& words) {
  const PodRecord* pod = find(ticket);
  if (pod != nullptr && ticket.failed_reads == 0 && hooks_.log)
    hooks_.log(LogLevel::kWarning, {"reading " + pod->ns.str() + "/" + pod->name.str() +
                                        ", to check whether it is bound: " + bounded_words(words) +
                                        "; its capacity stays reserved until that is known",
                                    "pod", pod->ns, pod->name});
  const Millis delay = hold_time(options_.reread_min, options_.reread_max, ++ticket.failed_reads);
  reread_later(std::move(ticket), delay);
}

void Binder::give_up(const Ticket& ticket) {
  const PodRecord* pod = find_assumed(ticket);
  if (pod == nullptr) return end_old_turn(ticket);
  tracker_.note_answered(ticket.slot);
  ++counters_.given_up;
  const BindHold hold = tracker_.note_bind_failed(ticket.slot, ticket.words);
  if (hold.number != 0)
    holds_.emplace(api_.monotonic() + hold_time(options_.hold_min, options_.hold_max, hold.times), hold);
}

void Binder::take_back(const Ticket& ticket, Pod&& unbound) {
  const PodRecord& pod = tracker_.pods()[ticket.slot];
  const std::string words =
      "the binding to node " + pod.node_name.str() + " was answered with success, but " +
      std::to_string(options_.unseen_max.value / 1000) +
      " s later the pod has no node; an admission webhook or a proxy may have answered in the API "
      "server's place";
  if (hooks_.log)
    hooks_.log(LogLevel::kWarning,
               {"pod " + pod.ns.str() + "/" + pod.name.str() + " is not bound and is scheduled again: " + words, "pod",
                pod.ns, pod.name});
  ++counters_.undone;
  const BindHold hold = tracker_.note_undone(ticket.slot, words);
  holds_.emplace(api_.monotonic() + hold_time(options_.hold_min, options_.hold_max, hold.times), hold);
  tracker_.take({Change<Pod>::Kind::kModified, std::move(unbound)});  // what its owner has changed since
}

}  // namespace ashlar::kube
