#include "live/write/evictions.h"

#include <algorithm>
#include <utility>

#include "kubeclient/bind_outcome.h"
#include "kubeclient/writes.h"
#include "live/track/translate.h"
#include "text/short_list.h"

namespace ashlar::kube {
namespace {

/// Beyond its grace, or until the server has reported that it is being deleted.
constexpr Millis kLateAfter{60'000};
constexpr Millis kRetryMin{500}, kRetryMax{10'000};
constexpr Millis kLookEvery{1'000};
/// Requests under way, in all and for evictions in one namespace; more wait.
constexpr std::size_t kUnderWayMax = 64, kShare = 4;
/// Numbers of events, apart from those of conditions.
constexpr std::uint64_t kFirstEvent = 1u << 23;

std::string full_name(const PodRecord& pod) { return pod.ns.str() + "/" + pod.name.str(); }

/// "pod default/a", "gang g of namespace default"; "another job" if it is not known any more.
std::string job_name(const Tracker& tracker, JobId job) {
  if (job.is_none()) return "another job";
  const JobOwner owner = tracker.tables().owner(job);
  if (owner.gang != kNoGang) {
    const GangRecord& gang = tracker.gangs()[owner.gang];
    return gang.said() + " of namespace " + gang.ns.str();
  }
  return owner.pod == kNoPod ? "another job" : "pod " + full_name(tracker.pods()[owner.pod]);
}

bool is_with_queue(StopReason reason) { return reason == StopReason::kQueueStopped; }

/// "for pod default/a (LowerPriority)", or "with its queue (QueueStopped)"; `is_explained`: and what the rule says.
std::string stopped_words(StopReason reason, const std::string& winner, bool is_explained) {
  return (is_with_queue(reason) ? "with its queue" : "for " + winner) + " (" + std::string(stop_reason_name(reason)) +
         (is_explained ? ": " + std::string(stop_reason_words(reason)) : "") + ")";
}

}  // namespace

/// Waits for departures, and then for what `inner` waits for; its writes come before.
class Evictions::Work final : public CommitWork {
 public:
  Work(const Evictions& evictions, PodSlot slot, DeparturePtr departure, std::shared_ptr<CommitWork> inner)
      : evictions_(evictions), slot_(slot), departure_(std::move(departure)), inner_(std::move(inner)) {}
  std::string problem() const override { return inner_ ? inner_->problem() : std::string(); }
  std::size_t writes() const override { return inner_ ? inner_->writes() : 0; }
  std::string subject(std::size_t write) const override { return inner_->subject(write); }
  std::string path(std::size_t write) const override { return inner_->path(write); }
  std::string patch(std::size_t write, std::string_view object) const override { return inner_->patch(write, object); }
  WriteFinding look_at(std::size_t write, std::string_view object) const override {
    return inner_->look_at(write, object);
  }
  bool is_taken_back() const override { return inner_ && inner_->is_taken_back(); }
  std::string undo_patch(std::size_t write, std::string_view object) const override {
    return inner_->undo_patch(write, object);
  }
  CommitWait wait() const override {
    CommitWait departure = evictions_.wait_of(slot_, departure_.get());
    return departure.state == WaitState::kHolds && inner_ ? inner_->wait() : departure;
  }
  void note_given_up() override {
    if (inner_) inner_->note_given_up();
  }

 private:
  const Evictions& evictions_;
  PodSlot slot_;
  DeparturePtr departure_;
  std::shared_ptr<CommitWork> inner_;
};

Evictions::Evictions(Api& api, Tracker& tracker, Hooks hooks)
    : api_(api),
      tracker_(tracker),
      hooks_(std::move(hooks)),
      lane_(api, [this] { pump(); }),
      life_(std::make_shared<char>()) {}

Evictions::~Evictions() { api_.cancel_timer(timer_); }

void Evictions::stop(const Evict& evict) {
  DeparturePtr of_one_job;  // with its queue: no job waits for all that leave
  DeparturePtr& departure = is_with_queue(evict.reason) ? of_one_job : of_plan_[evict.for_job];
  if (!departure) departures_.push_back(departure = std::make_shared<Departure>());
  const std::string words = stopped_words(evict.reason, job_name(tracker_, evict.for_job), true);
  for (const PodSlot slot : tracker_.stop_pods(evict, words)) {
    const PodRecord& pod = tracker_.pods()[slot];
    departure->victims.push_back({.slot = slot, .generation = pod.generation, .reason = evict.reason});
    if (hooks_.log)
      hooks_.log(LogLevel::kInfo, {"evicting pod " + full_name(pod) + " from node " + pod.node_name.str() + " " + words,
                                   "pod", pod.ns, pod.name});
  }
}

std::shared_ptr<CommitWork> Evictions::work_of(PodSlot slot, std::shared_ptr<CommitWork> work) {
  const auto of_job = of_plan_.find(tracker_.pods()[slot].job);
  DeparturePtr departure = of_job == of_plan_.end() ? nullptr : of_job->second;
  if (!departure && !tracker_.awaits_departure(slot, hooks_.state())) return work;
  waiting_[slot] = tracker_.pods()[slot].generation;
  return std::make_shared<Work>(*this, slot, std::move(departure), std::move(work));
}

bool Evictions::is_leaving(const Victim& victim) const {
  return tracker_.pods().is_current(victim.slot, victim.generation) &&
         tracker_.pods()[victim.slot].phase == PodRecord::Phase::kLeaving;
}

CommitWait Evictions::wait_of(PodSlot slot, const Departure* departure) const {
  if (departure != nullptr && !departure->broken.empty()) return {WaitState::kBroken, departure->broken, true};
  std::vector<PodSlot> left;
  if (departure != nullptr)
    for (const Victim& victim : departure->victims)
      if (is_leaving(victim)) left.push_back(victim.slot);
  if (!left.empty())
    return {WaitState::kNotYet,
            (left.size() == 1 ? "a pod that was stopped for it has" : "pods that were stopped for it have") +
                std::string(" not left yet: ") +
                short_list(left.size(), [&](std::size_t i) { return full_name(tracker_.pods()[left[i]]); }),
            true};
  if (tracker_.awaits_departure(slot, hooks_.state()))
    return {WaitState::kNotYet, "pods that were stopped have not left the node yet", true};
  return {};
}

void Evictions::pump() {
  if (departures_.empty() && !tracker_.has_leaving()) return;
  const Millis now = api_.monotonic();
  for (const DeparturePtr& departure : std::vector<DeparturePtr>(departures_))
    for (std::size_t i = 0; i < departure->victims.size(); ++i) {
      const Victim& victim = departure->victims[i];
      const bool is_due = !victim.is_accepted && victim.due <= now && departure->broken.empty() && is_leaving(victim);
      if (!is_due || !api_.budget().may_send(now) || !hooks_.may_write()) continue;
      if (has_share(tracker_.pods()[victim.slot].ns)) send(departure, i);
    }
  find_late();
  std::erase_if(departures_, [this](const DeparturePtr& departure) {
    return std::ranges::none_of(departure->victims, [this](const Victim& victim) { return is_leaving(victim); });
  });
  arm();
}

bool Evictions::has_share(const PooledString& ns) const {
  const auto found = under_way_.find(ns);
  return lane_.size() < kUnderWayMax && (found == under_way_.end() || found->second < kShare);
}

void Evictions::send(const DeparturePtr& departure, std::size_t number) {
  Victim& victim = departure->victims[number];
  victim.due = Millis::max();  // until it is answered
  const PodRecord& pod = tracker_.pods()[victim.slot];
  ++under_way_[pod.ns];
  lane_.send(
      [&](OnAnswer on_answer) {
        return evict_pod(api_, {pod.ns, pod.name, pod.uid}, std::move(on_answer), hooks_.may_write);
      },
      [this, departure, number, ns = pod.ns](const Answer& answer) {
        if (--under_way_[ns] == 0) under_way_.erase(ns);
        take_answer(departure, number, answer);
      });
}

void Evictions::take_answer(const DeparturePtr& departure, std::size_t number, const Answer& answer) {
  Victim& victim = departure->victims[number];
  if (!tracker_.pods().is_current(victim.slot, victim.generation)) return;
  const PodRecord& pod = tracker_.pods()[victim.slot];
  if (answer.ok()) {  // it leaves also where others of the departure stay
    victim.is_accepted = true;
    ++counters_.accepted;
    return mark(victim);
  }
  if (!is_leaving(victim)) return;
  if (says_gone(answer)) return tracker_.note_gone(victim.slot);
  const bool is_protected = answer.reason == kDisruptionBudget;
  const std::string words = bounded_words(answer.result.error().message);
  if ((is_protected && !is_with_queue(victim.reason)) || bind_outcome(answer) == BindOutcome::kRefused) {
    ++counters_.refused;
    if (hooks_.log)
      hooks_.log(LogLevel::kWarning,
                 {"pod " + full_name(pod) + " cannot be evicted, and stays: " + words, "pod", pod.ns, pod.name});
    return give_up(*departure, "pod " + full_name(pod) + ", which was to be stopped for it, " +
                                   (is_protected ? "is protected by a PodDisruptionBudget at present"
                                                 : "may not be evicted: the API server refuses it"));
  }
  // A budget that may allow it later, a conflict, trouble of the server, or no answer: the same again is harmless.
  victim.due = api_.monotonic() + (is_protected ? kRetryMax : hold_time(kRetryMin, kRetryMax, victim.failures + 1));
  ++victim.failures;
  if (victim.failures == 1 && hooks_.log)
    hooks_.log(LogLevel::kWarning, {"evicting pod " + full_name(pod) + ": " + words, "pod", pod.ns, pod.name});
}

void Evictions::mark(const Victim& victim) {
  const PodRecord& pod = tracker_.pods()[victim.slot];
  const std::string why = stopped_words(victim.reason, "another job", false);
  lane_.send(
      [&](OnAnswer on_answer) {
        return mark_stopped(api_, {pod.ns, pod.name, pod.uid}, why, api_.now(), std::move(on_answer), hooks_.may_write);
      },
      [](const Answer&) {});  // it may be gone already; its eviction counts without it
  const std::string note = "Stopped " + why + ": it leaves node " + pod.node_name.str();
  EventNote event;
  event.ns = pod.ns;
  event.name = pod.name;
  event.uid = pod.uid;
  event.reason = "Preempted";
  event.action = "Preempting";
  event.note = note;
  event.controller = "ashlar.dev/scheduler";
  event.instance = hooks_.identity;
  event.now = api_.now();
  event.sequence = kFirstEvent + ++events_;
  lane_.send([&](OnAnswer on_answer) { return create_event(api_, event, std::move(on_answer), hooks_.may_write); },
             [](const Answer&) {});
}

/// Those whose eviction was accepted leave all the same.
void Evictions::give_up(Departure& departure, std::string words) {
  departure.broken = std::move(words);
  for (const Victim& victim : departure.victims)
    if (is_leaving(victim) && !victim.is_accepted && !tracker_.pods()[victim.slot].is_leaving)
      tracker_.stay(victim.slot);
  look_again();
}

/// Also those that an earlier leader has evicted.
void Evictions::find_late() {
  const Millis now = api_.now();
  for (const PodSlot slot : tracker_.leaving_pods()) {
    const PodRecord& pod = tracker_.pods()[slot];
    if (pod.phase != PodRecord::Phase::kLeaving || now <= pod.leaves_by + kLateAfter) continue;
    ++counters_.late;
    if (hooks_.log)
      hooks_.log(LogLevel::kWarning,
                 {"pod " + full_name(pod) + " was to be evicted and has not left node " + pod.node_name.str() +
                      " a minute after its grace period; it is taken to stay, and its place is not given to others",
                  "pod", pod.ns, pod.name});
    for (const DeparturePtr& departure : departures_)
      if (std::ranges::any_of(departure->victims, [&](const Victim& victim) { return victim.slot == slot; }))
        give_up(*departure, "pod " + full_name(pod) + ", which was stopped for it, has not left in time");
    tracker_.stay(slot);
  }
}

void Evictions::note_left() { look_again(); }

void Evictions::look_again() {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const bool is_there = tracker_.pods().is_current(it->first, it->second) &&
                          tracker_.pods()[it->first].phase == PodRecord::Phase::kAssumed;
    if (is_there) hooks_.look_again(it->first);
    it = is_there ? std::next(it) : waiting_.erase(it);
  }
}

void Evictions::arm() {
  if (is_armed_) return;
  is_armed_ = true;
  timer_ = api_.after(kLookEvery, [this, life = std::weak_ptr<char>(life_)] {
    if (life.expired()) return;
    is_armed_ = false;
    pump();
  });
}

}  // namespace ashlar::kube
