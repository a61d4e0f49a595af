// Playing a story: the world, the engine and the mirror side by side.
#include <algorithm>
#include <memory>

#include "base/digest.h"
#include "draw.h"
#include "known.h"
#include "sim/world/clock.h"
#include "store/codec.h"
#include "store/event_validation.h"
#include "store/snapshot.h"
#include "story.h"

namespace ashlar::oracle {
namespace {

/// An overdue job is put off by steps that double, so a story may end in eternity; a log keeps no time beyond 2^60 ms.
constexpr Millis kTimeMax{std::int64_t{1} << 50};
/// no story needs a quarter of this; an engine that does not come to rest does
constexpr int kStepsMax = 4000;
constexpr int kStepsOfTiresiasMax = 400;  ///< while it is known not to come to rest

/// A step as a log keeps it.
struct Recorded {
  std::vector<std::string> events;
  Millis at;
  std::string plan;
};

/// A snapshot as a log's file opens with.
struct Opening {
  std::string bytes;
  std::size_t steps = 0;  ///< recorded before it
};

class Player {
 public:
  Player(const Story& story, const PlayOptions& options)
      : story_(story),
        options_(options),
        fates_(story.seed * 2 + 1),
        restarts_(options.restarts_seed),
        world_(
            clock_, story.script, [this](const Action& action) { return fate_of(action); }, story.rules),
        mirror_(story.drawn),
        state_(std::make_unique<State>()),
        engine_(std::make_unique<Engine>(story.profile, story.options)) {
    limit(*engine_);
  }

  Played run() {
    Millis look_again = Millis::max();
    for (int steps = 0; played_.fault.empty(); ++steps) {
      const Millis next = std::min(world_.next_event(), look_again);
      if (next > kTimeMax) break;
      if (steps == steps_max()) {
        fail("does not come to rest");
        break;
      }
      clock_.advance_to(std::max(next, clock_.now()));
      look_again = step();
      if (options_.restarts_seed == 0 || !played_.fault.empty()) continue;
      if (restarts_.below(20) == 0) restart(false);
      if (restarts_.below(4) == 0 && opening_.steps > 0) restart(true);
      if (restarts_.below(4) == 0) opening_ = {snapshot_of(*state_, *engine_), record_.size()};
    }
    if (played_.fault.empty() && options_.has_checks) check_the_end();
    played_.heard = mirror_.heard();
    return std::move(played_);
  }

 private:
  void limit(Engine& engine) const {
    engine.limit_wake_rounds(story_.wake_rounds_max);
    if (story_.woken_at_once_max) engine.limit_woken_at_once(*story_.woken_at_once_max);
    if (story_.nodes_explained_max) engine.limit_explained(*story_.nodes_explained_max);
    if (story_.costly_at_once_max) engine.limit_costly({*story_.costly_at_once_max, 0});
  }

  sim::Fate fate_of(const Action& action) {
    if (!story_.has_faulty_binds) return {};
    sim::Fate fate;
    fate.after = Millis(250 * static_cast<std::int64_t>(fates_.below(12)));
    fate.is_refused = std::holds_alternative<Bind>(action) && fates_.below(8) == 0;
    if (fates_.below(6) == 0) fate.reported_again_after = Millis(250 * static_cast<std::int64_t>(fates_.below(12)));
    return fate;
  }

  int steps_max() const {
    return !kTiresiasComesToRest && story_.profile.name == "tiresias" ? kStepsOfTiresiasMax : kStepsMax;
  }

  Millis step() {
    std::vector<Event> batch;
    world_.take(batch);
    for (const Event& event : batch) {
      apply(*state_, event);
      if (options_.has_checks || options_.after_in_plain) mirror_.tell(event);
    }
    if (options_.before) options_.before(*state_, *engine_, clock_.now());
    std::vector<PlainReservation> reservations = reservations_held();
    const Plan plan = engine_->decide(*state_, clock_.now());
    if (options_.has_checks)
      check(plan, std::move(reservations));
    else if (options_.after_in_plain)
      fail(mirror_.carry_out(plan, {.has_true_reasons = false, .nominated = nominated()}));
    if (options_.after && played_.fault.empty()) fail(options_.after(*state_, *engine_, plan));
    if (options_.after_in_plain && played_.fault.empty()) fail(options_.after_in_plain(mirror_, plan));
    count(batch, plan);
    std::uint64_t events = batch.size();
    for (const Event& event : batch)
      events = mix64(events * 31 + event.body.index() + static_cast<std::uint64_t>(event.at.value) * 64);
    played_.steps.push_back({clock_.now(), events, digest_of(plan), state_->digest()});
    if (options_.restarts_seed != 0) record(batch, plan);
    world_.submit(plan);
    return plan.look_again_at;
  }

  std::vector<PlainReservation> reservations_held() const {
    std::vector<PlainReservation> held;
    for (const Reservation& reservation : engine_->reservations())
      if (reservation.at != Millis::max())
        held.push_back({static_cast<int>(reservation.entry.job.row()), reservation.at.value});
    return held;
  }
  std::vector<MemberId> nominated() const { return {state_->nominations().begin(), state_->nominations().end()}; }
  void check(const Plan& plan, std::vector<PlainReservation> reservations) {
    for (const PlainReservation& reservation : reservations_held()) reservations.push_back(reservation);
    fail(mirror_.carry_out(plan, {story_.profile.victim == VictimRule::kNone, order_of(story_.profile),
                                  std::move(reservations), nominated()}));
    fail(mirror_.difference(*state_));
    const Profile& profile = story_.profile;
    const bool has_plain_order = profile.order == find_order("priority-age") && profile.victim == VictimRule::kNone;
    const bool may_overtake = story_.costly_at_once_max.has_value() && profile.blocking != Blocking::kStrict;
    if (has_plain_order && profile.blocking != Blocking::kEasy && !may_overtake)
      fail(mirror_.passed_over(plan, profile.blocking == Blocking::kStrict));
    if (!state_->is_consistent()) fail("the state's columns differ from a recount");
  }

  void record(const std::vector<Event>& batch, const Plan& plan) {
    Recorded step{{}, clock_.now(), store::bytes_of(plan)};
    for (const Event& event : batch) step.events.push_back(store::bytes_of(event));
    const Result<Plan> read = store::plan_of(step.plan);
    if (!read || digest_of(*read) != digest_of(plan)) fail("the plan is another one when it is read again");
    record_.push_back(std::move(step));
  }

  static std::string snapshot_of(const State& state, const Engine& engine) {
    std::string bytes;
    store::append_snapshot(bytes, state, engine);
    return bytes;
  }

  /// What a process does that starts anew and reads its log, from the first record or from a snapshot in the middle:
  /// the same events give the same plans, byte for byte, and it goes on from there. It has nothing but bytes: profile,
  /// snapshot, events and plans.
  void restart(bool has_opening) {
    if (!played_.fault.empty()) return;
    const Result<Profile> profile = store::profile_of(store::bytes_of(story_.profile));
    if (!profile) return fail("the profile cannot be read again: " + profile.error().message);
    auto state = std::make_unique<State>();
    auto engine = std::make_unique<Engine>(*profile, story_.options);
    limit(*engine);
    if (has_opening) {
      const auto read = store::read_snapshot(opening_.bytes, *state, *engine);
      if (!read) return fail("the snapshot cannot be read: " + read.error().message);
      ++played_.from_snapshots;
    }
    for (std::size_t step = has_opening ? opening_.steps : 0; step < record_.size(); ++step) {
      for (const std::string& bytes : record_[step].events) {
        const Result<Event> event = store::event_of(bytes);
        if (!event) return fail("an event cannot be read again: " + event.error().message);
        if (const char* refusal = store::refusal_of(*state, *event))
          return fail("an event is refused when it is read again: " + std::string(refusal));
        apply(*state, *event);
      }
      if (store::bytes_of(engine->decide(*state, record_[step].at)) != record_[step].plan)
        return fail("decides otherwise when its log is read again" +
                    std::string(has_opening ? " from a snapshot" : ""));
    }
    if (state->digest() != state_->digest()) return fail("has another state when its log is read again");
    if (snapshot_of(*state, *engine) != snapshot_of(*state_, *engine_))
      return fail("remembers something else when its log is read again");
    state_ = std::move(state);
    engine_ = std::move(engine);
    ++played_.restarts;
  }

  /// Nothing will come free any more: a job that still waits could not be placed.
  void check_the_end() {
    if (!mirror_.is_idle() || story_.profile.victim != VictimRule::kNone) return;
    const std::vector<int> waiting = mirror_.waiting();
    for (const int job : waiting) {
      const int queue = mirror_.world().jobs[static_cast<std::size_t>(job)].queue;
      const bool is_alone = std::none_of(waiting.begin(), waiting.end(), [&](int other) {
        return other != job && mirror_.world().jobs[static_cast<std::size_t>(other)].queue == queue;
      });
      if (story_.profile.blocking == Blocking::kStrict && !is_alone) continue;
      if (can_be_placed(mirror_.world(), job) == Answer::kYes)
        fail("job " + std::to_string(job) + " could run on the idle cluster and waits for ever");
    }
  }

  void count(const std::vector<Event>& batch, const Plan& plan) {
    for (const Event& event : batch) {
      played_.refused += std::holds_alternative<BindRejected>(event.body) ? 1 : 0;
      played_.lost += std::holds_alternative<NodeGone>(event.body) ? 1 : 0;
      played_.ended += std::holds_alternative<Ended>(event.body) ? 1 : 0;
    }
    played_.placed += static_cast<int>(plan.actions.size());
  }
  void fail(const std::string& fault) {
    if (fault.empty() || !played_.fault.empty()) return;
    played_.fault = "at " + std::to_string(clock_.now().value) + " ms: " + fault;
  }

  const Story& story_;
  const PlayOptions& options_;
  Rng fates_, restarts_;
  sim::SimClock clock_;
  sim::World world_;
  Mirror mirror_;
  std::unique_ptr<State> state_;
  std::unique_ptr<Engine> engine_;
  std::vector<Recorded> record_;
  Opening opening_;
  Played played_;
};

}  // namespace

PlainOrder order_of(const Profile& profile) {
  return profile.order == find_order("fifo")  ? PlainOrder::kFifo
         : profile.order == find_order("sjf") ? PlainOrder::kSjf
                                              : PlainOrder::kPriorityAge;
}

Played play(const Story& story, const PlayOptions& options) { return Player(story, options).run(); }

}  // namespace ashlar::oracle
