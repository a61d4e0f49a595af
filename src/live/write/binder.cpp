#include "live/write/binder.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"

namespace ashlar::kube {
namespace {

constexpr Millis kSlowReportedEvery{60'000};

}  // namespace

Binder::Binder(Api& api, Tracker& tracker, CommitOptions options, Hooks hooks)
    : api_(api),
      tracker_(tracker),
      options_(options),
      hooks_(std::move(hooks)),
      commit_(api, tracker, queue_, options_,
              {.may_write = hooks_.may_write,
               .state_now = hooks_.state_now,
               .on_hold = [this](const BindHold& one) { hold(one); },
               .log = hooks_.log,
               .after_answer = [this] { pump(); }}),
      life_(std::make_shared<char>()) {}

Binder::~Binder() {
  api_.cancel_timer(timer_);
  api_.budget().set_apart(0);
}

void Binder::submit(const Plan& plan) {
  std::vector<CommitTicket> lost;
  for (const Action& action : plan.actions) {
    if (const Evict* evict = std::get_if<Evict>(&action)) hooks_.on_evict(*evict);
    const Bind* bind = std::get_if<Bind>(&action);
    if (bind == nullptr) continue;
    const PodSlot slot = tracker_.pods().of_member(bind->member);
    ASHLAR_CHECK(slot != kNoPod);
    tracker_.note_assumed(slot, bind->node, tracker_.granted(slot, *bind));
    const PodRecord& pod = tracker_.pods()[slot];
    CommitTicket ticket;
    ticket.slot = slot;
    ticket.generation = pod.generation;
    ticket.turn = pod.bind_attempt;
    if (hooks_.work_of)
      if (std::shared_ptr<CommitWork> work = hooks_.work_of(slot))
        ticket.progress = std::make_shared<CommitProgress>(CommitProgress{.work = std::move(work)});
    const bool is_lost =
        pod.has_lost_claim || (ticket.progress != nullptr && !ticket.progress->work->problem().empty());
    is_lost ? lost.push_back(std::move(ticket)) : queue_.push(pod.ns, std::move(ticket));
  }
  if (hooks_.on_plan) hooks_.on_plan(plan);
  // they write nothing, and nothing is written for the gang of one
  for (CommitTicket& ticket : lost) commit_.start(std::move(ticket));
  pump();
}

void Binder::pump() {
  const Millis now = api_.monotonic();
  end_holds(now);
  commit_.pump(now);
  find_slow(now);
  while (const std::optional<std::uint64_t> request = queue_.to_abandon(now)) commit_.abandon(*request);
  // what hangs in some namespaces shows nothing of the server, and is bounded there
  const auto set_apart = [this] { api_.budget().set_apart(queue_.apart()); };
  for (set_apart(); api_.budget().may_send(now) && hooks_.may_write(); set_apart()) {
    std::optional<BindQueue::Next> next = queue_.next(in_window(), window());
    if (!next) break;
    commit_.start(std::move(next->ticket));
  }
  arm(now);
}

void Binder::hold(const BindHold& hold) {
  holds_.emplace(api_.monotonic() + hold_time(options_.hold_min, options_.hold_max, hold.times), hold);
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
                                      " are not answered within 2 s (a slow admission webhook, for example); until "
                                      "some are, bindings in other namespaces go first",
                                  "namespace", PooledString(), slow.front()});
}

void Binder::arm(Millis now) {
  Millis next = Millis::max();
  const auto consider = [&](Millis due, bool needs_budget) {
    if (needs_budget && due != Millis::max()) due = std::max(due, api_.budget().next_at());
    if (due > now) next = std::min(next, due);  // a due one that is still here waits for an answer or for the lease
  };
  if (!holds_.empty()) consider(holds_.begin()->first, false);
  commit_.each_due(consider);
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

}  // namespace ashlar::kube
