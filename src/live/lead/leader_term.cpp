#include "live/lead/leader_term.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/digest.h"
#include "kubeclient/json_writer.h"
#include "kubeclient/writes.h"
#include "live/track/gangs/groups.h"
#include "live/track/gangs/membership.h"
#include "live/write/commit/volume_work.h"
#include "text/amount_text.h"

namespace ashlar::kube {
namespace {

/// Confirmations change no decision; this many are taken anyway, so that they do not pile up.
constexpr std::size_t kConfirmationsMax = 1024;
/// Readers see tables that agree with the state; for no longer than this, if decisions have to wait.
constexpr Millis kHandOverMax{100};

TrackerOptions tracker_options(const LeaderTermOptions& options) {
  TrackerOptions o = options.tracker;
  o.has_readers = static_cast<bool>(options.hand_over);
  return o;
}

std::int64_t monotonic_micros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Result<Profile> live_profile(Profile profile) {
  if (!profile.is_allowed_live())
    return invalid("profile \"" + profile.name +
                   "\" stops running jobs before a place is known, which the live scheduler does not do; choose one "
                   "with victim none, priority, lost-work, kai or kueue");
  add_mandatory_rules(profile.feasible);
  return profile;
}

LeaderTerm::LeaderTerm(Api& api, LeaderTermOptions options, SchedulerMetrics& metrics, std::function<bool()> may_write)
    : options_(std::move(options)),
      api_(api),
      metrics_(metrics),
      clock_([&api] { return api.now(); }, [&api] { return api.monotonic(); }),
      source_(clock_),
      tracker_(tracker_options(options_), source_,
               {.on_condition_due = [this](PodSlot slot) { status_writer_.want_condition(slot, false); },
                .on_group_condition_due = [this](GangSlot slot) { status_writer_.want_group_condition(slot); },
                .on_bound =
                    [this](PodSlot slot) {
                      const PodRecord& pod = tracker_.pods()[slot];
                      metrics_.observe_decision(pod.gang != kNoGang, source_.now() - pod.seen);
                      status_writer_.want_scheduled_event(slot);
                    },
                .on_volumes_changed = [this](PodSlot slot) { binder_.look_again(slot); },
                .on_left = [this] { evictions_.note_left(); },
                .on_devices_changed = [this](PodSlot slot) { devices_due_[slot] = tracker_.pods()[slot].generation; },
                .log = options_.log}),
      state_(std::make_unique<State>()),
      binder_(api, tracker_, options_.binder,
              {.may_write = may_write,
               .on_plan = [this](const Plan& plan) { take_plan(plan); },
               .state_now = [this]() -> const State& { return state_now(); },
               .work_of = [this](PodSlot slot) { return evictions_.work_of(slot, volume_work_of(tracker_, slot)); },
               .on_evict = [this](const Evict& evict) { evictions_.stop(evict); },
               .log = options_.log}),
      evictions_(api, tracker_,
                 {.may_write = may_write,
                  .state = [this]() -> const State& { return *state_; },
                  .look_again = [this](PodSlot slot) { binder_.look_again(slot); },
                  .log = options_.log,
                  .identity = options_.status_writer.identity}),
      status_writer_(api, tracker_, options_.status_writer,
                     {.may_write = may_write,
                      .is_quiet = [this] { return binder_.is_idle(); },
                      .pod_text = [this](PodSlot slot) { return pod_text(slot); },
                      .group_text = [this](GangSlot slot, bool& is_true) { return group_text(slot, is_true); }}),
      queue_status_(api, {.may_write = may_write, .log = options_.log}),
      may_write_(std::move(may_write)) {
  tracker_.open();
  const auto model_of = [this](std::string_view name) { return tracker_.names().configured_model(PooledString(name)); };
  Result<Profile> profile = live_profile(options_.profile(model_of));
  ASHLAR_CHECK(profile.ok());  // refused at start otherwise
  engine_ = std::make_unique<Engine>(std::move(profile).value(),
                                     EngineOptions{.binds_per_step_max = options_.binds_per_step_max});
  engine_->before_stop([this](JobId job) { quarantine(job); });
  if (options_.open_recorder) recorder_ = options_.open_recorder(*state_, *engine_, tracker_);
  driver_ = std::make_unique<Driver>(*state_, *engine_, Driver::Ports{clock_, source_, binder_, recorder_.get()});
}

LeaderTerm::~LeaderTerm() = default;

void LeaderTerm::quarantine(JobId job) {
  const JobOwner owner = tracker_.owner(job);
  std::vector<PodSlot> slots{owner.pod};
  if (owner.gang != kNoGang) slots = tracker_.gangs()[owner.gang].pods;
  std::vector<Quarantine::Entry> entries;
  for (const PodSlot slot : slots) {
    if (slot == kNoPod || tracker_.pods()[slot].phase == PodRecord::Phase::kBound) continue;
    const PodRecord& pod = tracker_.pods()[slot];
    entries.push_back({pod.uid, pod.ns, pod.name, {}});
  }
  Quarantine* const list = options_.tracker.quarantine;
  const Result<void> kept =
      list == nullptr ? Result<void>(invalid("no quarantineFile is configured")) : list->add(entries, clock_.now());
  if (!options_.log) return;
  const Quarantine::Entry first = entries.empty() ? Quarantine::Entry{} : entries.front();
  const std::string of =
      first.ns.str() + "/" + first.name.str() + (entries.size() > 1 ? " and the rest of its gang" : "");
  options_.log(LogLevel::kError,
               {"stopping because of a bug in a decision about pod " + of +
                    (kept ? "; it is recorded in " + list->path() + " and will not be tried again"
                          : "; it could not be recorded and will be tried again: " + kept.error().message),
                "pod", first.ns, first.name});
}

bool LeaderTerm::should_step(Millis now) {
  if (!is_deciding_ || !may_write_()) return false;
  // Plans are assumed as soon as they are made: the next one is made only when most of the last is sent.
  if (binder_.backlog() > options_.binds_per_step_max / 4) return false;
  if (look_again_at_ <= now) return true;
  if (!has_news()) {
    news_since_ = Millis::max();
    return source_.size() >= std::min(kConfirmationsMax, options_.events_per_step_max);
  }
  if (news_since_ == Millis::max()) news_since_ = now;
  const bool is_starving = binder_.in_window() * 2 < binder_.window();
  return is_starving || now >= news_since_ + options_.window || source_.size() >= options_.events_per_step_max;
}

Millis LeaderTerm::turn() {
  binder_.pump();
  evictions_.pump();
  const Millis now = clock_.now();
  if (next_tick_ <= now) next_tick_ = tracker_.tick(now);
  pending_since_ = has_news() ? std::min(pending_since_, now) : Millis::max();
  if (should_step(now)) step();
  review_conditions();
  status_writer_.pump();
  queue_status_.step(*engine_, *state_, tracker_);
  restore_devices();
  hand_over();
  // Without the right to write there is no hurry either: the lease's own timers continue.
  const bool is_full = binder_.backlog() > options_.binds_per_step_max / 4 || !is_deciding_ || !may_write_();
  Millis next = next_tick_;
  if (const Millis due = status_writer_.due_in(); may_write_() && due != Millis::max())
    next = std::min(next, now + due);
  if (const Millis due = review_.due_in(*state_, api_.monotonic()); may_review() && due != Millis::max())
    next = std::min(next, now + due);
  if (const Millis due = queue_status_.due_in(tracker_); may_write_() && due != Millis::max())
    next = std::min(next, now + due);
  if (!is_full) {
    next = std::min(next, look_again_at_);
    if (has_news()) next = std::min(next, news_since_ == Millis::max() ? now : news_since_ + options_.window);
  }
  if (options_.hand_over && has_news())
    next = std::min(next, now + std::max(Millis(0), handed_over_at_ + kHandOverMax - api_.monotonic()));
  return next;
}

/// Within a step no new event can have arrived. Of what waits to be settled only bound pods occupy nodes.
const State& LeaderTerm::state_now() {
  if (!is_stepping_) {
    tracker_.settle_bound();
    driver_->catch_up();
  }
  return *state_;
}

void LeaderTerm::step() {
  const std::int64_t began = monotonic_micros();
  tracker_.settle();
  news_since_ = pending_since_ = Millis::max();
  is_stepping_ = true;
  const Plan& plan = driver_->step();
  is_stepping_ = false;
  if (options_.hand_over && ashlar::has_news(driver_->batch(), plan)) {
    next_.events = driver_->take_batch();
    next_.decided_at = plan.at;
    next_.digest = state_->digest();
  }
  const auto stops_a_job = [](const Action& action) { return std::holds_alternative<Evict>(action); };
  // the ends of jobs that the plan has stopped are not taken yet
  if (std::ranges::none_of(plan.actions, stops_a_job)) tracker_.note_taken();
  ++steps_;
  say_overfull_devices();
  look_again_at_ = plan.look_again_at;
  next_tick_ = Millis(0);  // settling may have started a gang's grace period
  metrics_.observe_step(static_cast<double>(monotonic_micros() - began) * 1e-6, plan);
}

TermNumbers LeaderTerm::numbers() const {
  return {.binder = binder_.counters(),
          .evictions = evictions_.counters(),
          .status_writer = status_writer_.counters(),
          .binds_held = binder_.held(),
          .binds_in_flight = binder_.in_flight(),
          .binds_waiting = binder_.queued(),
          .binds_slow = binder_.slow_under_way(),
          .status_writes_waiting = status_writer_.depth() - status_writer_.refreshes(),
          .status_refreshes_waiting = status_writer_.refreshes(),
          .commits_waiting = binder_.waiting(),
          .bind_window = binder_.window(),
          .reread_window = binder_.reread_window(),
          .status_window = status_writer_.window(),
          .unknown_fields = tracker_.unknown_fields_count(),
          .steps = steps_,
          .pending_since = pending_since_};
}

void LeaderTerm::hand_over() {
  if (!options_.hand_over) return;
  const Millis now = api_.monotonic();
  const bool must = std::exchange(must_hand_over_, false) || next_.decided_at;
  if (!must && has_news() && now < handed_over_at_ + kHandOverMax) return;
  handed_over_at_ = now;
  if (!must && !tracker_.has_table_changes() && numbers() == numbers_told_) return;
  next_.tables = tracker_.take_table_changes();
  next_.numbers = numbers_told_ = numbers();
  options_.hand_over(std::exchange(next_, {}));
}

std::unique_ptr<ReadReplica> LeaderTerm::copy_replica(std::function<Millis()> now) {
  if (driver_->is_behind()) return nullptr;
  ASHLAR_CHECK(!next_.decided_at);
  tracker_.take_table_changes();  // the copy has them
  must_hand_over_ = true;
  return std::make_unique<ReadReplica>(*state_, *engine_, tracker_.tables(), std::move(now));
}

void LeaderTerm::take_plan(const Plan& plan) {
  evictions_.end_plan();
  text_key_ = 0;
  for (const VerdictChange& change : plan.verdicts) {
    if (change.verdict.kind == VerdictKind::kPlaced)
      note_placed(change.job, plan);
    else if (change.verdict.kind != VerdictKind::kPending)
      say(change);
  }
}

void LeaderTerm::note_placed(JobId job, const Plan& plan) {
  if (!state_->is_live(job)) return;
  const Job& j = state_->job(job);
  const PooledString queue = tracker_.names().queues.name(j.queue);
  metrics_.observe_queue_wait(queue, clock_.now() - j.submitted);
  const JobOwner owner = tracker_.owner(job);
  if (owner.gang == kNoGang) return;
  const JobPlace place = place_of(job);
  metrics_.observe_gang(queue, place.level);
  if (!options_.log) return;
  const GangRecord& gang = tracker_.gangs()[owner.gang];
  const auto count = std::count_if(plan.actions.begin(), plan.actions.end(), [job](const Action& a) {
    const Bind* bind = std::get_if<Bind>(&a);
    return bind != nullptr && bind->job == job;
  });
  const std::string pods = std::to_string(count) + (count == 1 ? " pod" : " pods");
  const std::string in_all = count == j.members_placed ? " " : ", " + std::to_string(j.members_placed) + " in total, ";
  const std::string_view kind = gang.is_lone_pod() ? "pod" : "gang";
  const PooledString name = gang.own_name();
  options_.log(LogLevel::kInfo, {"placed " + std::string(kind) + " " + gang.ns.str() + "/" + name.str() + ": " + pods +
                                     in_all + place.words,
                                 kind, gang.ns, name});
}

LeaderTerm::JobPlace LeaderTerm::place_of(JobId job) const {
  const Cluster& cluster = state_->cluster();
  std::vector<DomainId> common;
  std::vector<NodeId> nodes;
  state_->each_member(job, [&](MemberId, const Member& m) {
    if (!m.is_placed()) return;
    const std::vector<DomainId>& domains = cluster.facts(m.node).domains;
    if (nodes.empty()) common = domains;
    nodes.push_back(m.node);
    for (std::size_t l = 0; l < common.size(); ++l)
      if (l >= domains.size() || domains[l] != common[l]) common[l] = DomainId::none();
  });
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (nodes.size() <= 1) return {"node", "on one node"};
  const ObjectNames& names = tracker_.names();
  for (std::size_t l = std::min<std::size_t>(common.size(), names.nested_count()); l-- > 0;) {
    if (common[l].is_none()) continue;
    const std::string level = names.levels()[l].name.str();
    return {level, "in " + level + " " + names.domain_name(LevelId(l), common[l]).str()};
  }
  return {"any", "on " + node_count_text(static_cast<std::int64_t>(nodes.size()))};
}

namespace {

/// Those of a gang's PodGroups.
void want_group_conditions(const Tracker& tracker, GangSlot gang, StatusWriter& writer) {
  each_group_slot(tracker.tables(), gang, [&](GangSlot group) {
    const GangRecord& its = tracker.gangs()[group];
    if (its.is_pod_group() && its.is_gang) writer.want_group_condition(group);
  });
}

}  // namespace

void LeaderTerm::say(const VerdictChange& change) {
  const JobOwner owner = tracker_.owner(change.job);
  if (owner.pod != kNoPod) {
    status_writer_.want_condition(owner.pod, true);
    status_writer_.want_failed_event(owner.pod);
    return;
  }
  if (owner.gang == kNoGang) return;
  want_group_conditions(tracker_, owner.gang, status_writer_);
  bool is_first = true;
  state_->each_member(change.job, [&](MemberId member, const Member& m) {
    if (m.is_placed()) return;
    const PodSlot slot = tracker_.pods().of_member(member);
    if (slot == kNoPod) return;
    status_writer_.want_condition(slot, is_first);
    if (is_first) status_writer_.want_failed_event(slot);
    is_first = false;
  });
}

bool LeaderTerm::may_review() const {
  return may_write_() && is_deciding_ && !has_news() && binder_.backlog() == 0 && status_writer_.depth() == 0;
}

void LeaderTerm::review_conditions() {
  if (!may_review()) return;
  review_.step(*engine_, *state_, tracker_.tables(), api_.monotonic(),
               [this](PodSlot slot) { return tell_anew(slot); });
}

bool LeaderTerm::tell_anew(PodSlot slot) {
  const PodRecord& pod = tracker_.pods()[slot];
  if (pod.condition_hash == 0) return false;  // it has none yet, and gets its first one in its time
  const ConditionText text = pod_text(slot);
  if (text.reason.empty() || pod.condition_hash == condition_hash(text.reason, text.message)) return false;
  status_writer_.want_condition(slot, false);
  const JobOwner owner = pod.is_in_engine() ? tracker_.owner(pod.job) : JobOwner{};
  if (owner.gang == kNoGang) return true;
  want_group_conditions(tracker_, owner.gang, status_writer_);
  return true;
}

void LeaderTerm::restore_devices() {
  while (!devices_due_.empty() && may_write_() && api_.budget().may_send(api_.monotonic())) {
    const auto [slot, generation] = *devices_due_.begin();
    devices_due_.erase(devices_due_.begin());
    if (tracker_.pods().is_current(slot, generation) && tracker_.pods()[slot].are_devices_changed)
      restore_devices(slot);
  }
}

/// Through its status, which this scheduler may write. Tried once for each change by another writer.
void LeaderTerm::restore_devices(PodSlot slot) {
  const PodRecord& pod = tracker_.pods()[slot];
  JsonWriter w;
  w.begin_object().key("metadata").begin_object().member("uid", pod.uid.view());
  w.key("annotations")
      .begin_object()
      .member(kDevicesAnnotation, devices_text(pod.devices))
      .member(kGrantsAnnotation, grants_text(tracker_.grants_held(slot)))
      .end_object()
      .end_object()
      .end_object();
  const RequestBudget::Pass pass = api_.budget().begin(api_.monotonic());
  // May be answered after the end of this leadership, but not after that of the API.
  const auto on_answer = [&api = api_, pass, log = options_.log, ns = pod.ns, name = pod.name](const Answer& answer) {
    api.budget().end(pass, {health_of(answer), answer.retry_after}, api.monotonic());
    if (!answer.ok() && log)
      log(LogLevel::kWarning, {"the GPUs of pod " + ns.str() + "/" + name.str() +
                                   " could not be written back: " + answer.result.error().message,
                               "pod", ns, name});
  };
  api_.send({.method = http::Method::kPatch,
             .path = pod_path(pod.ns, pod.name) + "/status",
             .body = w.take(),
             .content_type = kMergePatch,
             .may_send = may_write_},
            on_answer);
}

/// Nodes whose devices are claimed more than once take nothing new; the log names the claimants.
void LeaderTerm::say_overfull_devices() {
  const Cluster& cluster = state_->cluster();
  if (cluster.overfull_device_count() == 0) return overfull_reported_.clear();
  for (std::size_t row = 0; row < cluster.rows(); ++row) {
    const DeviceMask devices = cluster.is_live(NodeId(row)) ? cluster.overfull_devices(NodeId(row)) : DeviceMask{};
    const auto reported = overfull_reported_.find(static_cast<std::uint32_t>(row));
    const DeviceMask before = reported == overfull_reported_.end() ? DeviceMask{} : reported->second;
    if (devices == before) continue;
    if (devices.is_empty())
      overfull_reported_.erase(reported);
    else
      overfull_reported_[static_cast<std::uint32_t>(row)] = devices;
    if (((devices.low & ~before.low) | (devices.high & ~before.high)) == 0 || !options_.log) continue;
    std::string pods;
    for (PodSlot slot = 0; slot < tracker_.pods().slots(); ++slot) {
      const PodRecord& pod = tracker_.pods()[slot];
      const bool is_there = pod.phase == PodRecord::Phase::kBound && pod.node == NodeId(row);
      if (is_there && ((pod.devices.low & devices.low) | (pod.devices.high & devices.high)) != 0)
        pods += (pods.empty() ? "" : ", ") + pod.ns.str() + "/" + pod.name.str();
    }
    const PooledString name = tracker_.names().nodes.name(NodeId(row));
    const bool is_one = devices.count() == 1;
    options_.log(LogLevel::kWarning,
                 {(is_one ? "GPU " : "GPUs ") + devices_text(devices) + " of node " + name.str() +
                      (is_one ? " is overclaimed by " : " are overclaimed by ") + pods +
                      (is_one ? "; it takes" : "; they take") + " no new pods until this is resolved",
                  "node", PooledString(), name});
  }
}

Verdict LeaderTerm::verdict_of(JobId job) const {
  if (job.is_none() || !state_->is_live(job)) return {};
  return review_.verdict_of(*engine_, job);
}

ConditionText LeaderTerm::job_text(JobId job) {
  const Verdict verdict = verdict_of(job);
  if (verdict.kind == VerdictKind::kPending || verdict.kind == VerdictKind::kPlaced) return {};
  std::uint64_t key = hash_combine(1, static_cast<std::uint64_t>(verdict.kind));
  for (const Reason& r : verdict.reasons) {
    key = hash_combine(key, (std::uint64_t{r.subject} << 8) | static_cast<std::uint64_t>(r.code));
    for (const std::int64_t number : r.numbers) key = hash_combine(key, static_cast<std::uint64_t>(number));
  }
  // Besides its verdict, a text depends on what stands in the rows that this names, some of them another's after the
  // next decision; on the gang and how much of it is placed; and on the device class that a pod names and nobody knows.
  key = hash_combine(key, steps_);
  const JobOwner owner = tracker_.owner(job);
  const Job& j = state_->job(job);
  if (owner.gang != kNoGang)
    key = hash_combine(hash_combine(key, owner.gang + 1), std::uint64_t{j.members_placed} << 32 | j.members_present);
  else if (owner.pod != kNoPod)
    key = hash_combine(key, unknown_class(text_context(), tracker_.pods()[owner.pod].constraint).value);
  if (key != text_key_) {
    text_ = verdict_text(text_context(), job, verdict);
    ++texts_made_;
    text_key_ = key;
  }
  return text_;
}

ConditionText LeaderTerm::pod_text(PodSlot slot) {
  const PodRecord& pod = tracker_.pods()[slot];
  return pod.is_in_engine() ? job_text(pod.job) : tracker_.hold_condition(pod);
}

ConditionText LeaderTerm::group_text(GangSlot slot, bool& is_true) {
  const GangRecord& gang = tracker_.gangs()[slot];
  is_true = bound_members(tracker_.tables(), gang) >= gang.size;
  if (is_true && gang.size == 1) return {"Scheduled", "the one pod that must start is bound"};
  if (is_true) return {"Scheduled", "all " + std::to_string(gang.size) + " pods that must start together are bound"};
  const GangRecord& with_job = job_record(tracker_.tables(), gang);
  if (!with_job.is_open) return tracker_.hold_condition(gang);
  return with_job.job.is_none() ? ConditionText{} : job_text(with_job.job);
}

}  // namespace ashlar::kube
