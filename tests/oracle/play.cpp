// Playing a story: the world, the engine and the mirror side by side.
#include <algorithm>
#include <memory>

#include "base/digest.h"
#include "draw.h"
#include "sim/clock.h"
#include "story.h"

namespace ashlar::oracle {
namespace {

constexpr int kStepsMax = 4000;  ///< no story needs a quarter of this; an engine that does not come to rest does

struct Recorded {
  std::vector<Event> batch;
  Millis at;
  std::uint64_t plan = 0;
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
        engine_(std::make_unique<Engine>(story.profile)) {}

  Played run() {
    Millis look_again = Millis::max();
    for (int steps = 0; played_.fault.empty(); ++steps) {
      const Millis next = std::min(world_.next_event(), look_again);
      if (next == Millis::max()) break;
      if (steps == kStepsMax) {
        fail("does not come to rest");
        break;
      }
      clock_.advance_to(std::max(next, clock_.now()));
      look_again = step();
      if (options_.restarts_seed != 0 && restarts_.below(20) == 0 && played_.fault.empty()) restart();
    }
    if (played_.fault.empty() && options_.has_checks) check_the_end();
    return std::move(played_);
  }

 private:
  sim::Fate fate_of(const Action& action) {
    if (!story_.has_faulty_binds) return {};
    sim::Fate fate;
    fate.after = Millis(250 * static_cast<std::int64_t>(fates_.below(12)));
    fate.is_refused = std::holds_alternative<Bind>(action) && fates_.below(8) == 0;
    if (fates_.below(6) == 0) fate.told_again_after = Millis(250 * static_cast<std::int64_t>(fates_.below(12)));
    return fate;
  }

  Millis step() {
    Recorded record{{}, clock_.now(), 0};
    world_.take(record.batch);
    for (const Event& event : record.batch) {
      apply(*state_, event);
      if (options_.has_checks) mirror_.tell(event);
    }
    if (options_.before) options_.before(*state_, *engine_, clock_.now());
    const Plan plan = engine_->decide(*state_, clock_.now());
    if (options_.has_checks) check(plan);
    if (options_.after && played_.fault.empty()) fail(options_.after(*state_, *engine_, plan));
    count(record.batch, plan);
    record.plan = digest_of(plan);
    std::uint64_t events = record.batch.size();
    for (const Event& event : record.batch) events = mix64(events * 31 + event.body.index() + static_cast<std::uint64_t>(event.at.value) * 64);
    played_.steps.push_back({clock_.now(), events, record.plan, state_->digest()});
    record_.push_back(std::move(record));
    world_.submit(plan);
    return plan.look_again_at;
  }

  void check(const Plan& plan) {
    fail(mirror_.carry_out(plan, story_.profile.victim == VictimRule::kNone));
    fail(mirror_.difference(*state_));
    const Profile& profile = story_.profile;
    const bool has_plain_order = profile.order == find_order("priority-age") && profile.victim == VictimRule::kNone;
    if (has_plain_order && profile.blocking != Blocking::kEasy) fail(mirror_.passed_over(plan, profile.blocking == Blocking::kStrict));
    if (!state_->is_consistent()) fail("the state's columns differ from a recount");
  }

  /// What a process does that starts anew and reads its log: the same events give the same plans, and it goes on from there.
  void restart() {
    auto state = std::make_unique<State>();
    auto engine = std::make_unique<Engine>(story_.profile);
    for (const Recorded& record : record_) {
      for (const Event& event : record.batch) apply(*state, event);
      if (digest_of(engine->decide(*state, record.at)) != record.plan) return fail("decides otherwise when its log is read again");
    }
    if (state->digest() != state_->digest()) return fail("has another state when its log is read again");
    state_ = std::move(state);
    engine_ = std::move(engine);
    ++played_.restarts;
  }

  /// Nothing will come free any more: whoever still waits could not be placed.
  void check_the_end() {
    if (!mirror_.is_idle() || story_.profile.victim != VictimRule::kNone) return;
    const std::vector<int> waiting = mirror_.waiting();
    for (const int job : waiting) {
      const int queue = mirror_.world().jobs[static_cast<std::size_t>(job)].queue;
      const bool is_alone = std::none_of(waiting.begin(), waiting.end(), [&](int other) {
        return other != job && mirror_.world().jobs[static_cast<std::size_t>(other)].queue == queue;
      });
      if (story_.profile.blocking == Blocking::kStrict && !is_alone) continue;
      if (kind_of(mirror_.world(), job).starts_with("unlike")) continue;  // counted by the placement oracle
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
  Played played_;
};

}  // namespace

Played play(const Story& story, const PlayOptions& options) { return Player(story, options).run(); }

}  // namespace ashlar::oracle
