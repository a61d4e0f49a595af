// What must hold for every history: rules that no plan breaks, the same plans from the same events whatever is cached,
// no missed wake-up. Each property runs on 500 histories; RC_PARAMS="max_success=5000" runs more, RC_PARAMS="seed=..."
// repeats one.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "checks.h"
#include "engine/engine_fields.h"
#include "engine/quota.h"
#include "history.h"
#include "model/plan.h"
#include "state/state_fields.h"

namespace ashlar {
namespace {

/// Before any property reads its parameters; what the caller says stands.
[[maybe_unused]] const int kHistories = setenv("RC_PARAMS", "max_success=500", 0);

/// Plays a history; `step` is called after every decision.
struct Life {
  State state;
  Engine engine;
  Outside outside;

  Life(Profile profile, OutsideOptions options) : engine(std::move(profile)), outside(options) {}

  using Step = std::function<void(const std::vector<Event>& batch, const State& before, const Plan& plan)>;
  void play(const std::vector<Move>& moves, const Step& step) {
    decide(outside.begin(), step);
    for (const Move& move : moves) {
      decide(outside.act(move, state), step);
      for (int again = 0; again < 20 && look_again_at_ <= outside.now(); ++again) decide({}, step);
    }
  }

 private:
  void decide(const std::vector<Event>& batch, const Step& step) {
    for (const Event& event : batch) apply(state, event);
    const State before = state;
    const Plan plan = engine.decide(state, outside.now());
    look_again_at_ = plan.look_again_at;
    outside.learn(plan);
    step(batch, before, plan);
  }
  Millis look_again_at_ = Millis::max();
};

void expect_rules_kept(const std::vector<Move>& moves, Profile profile,
                       OutsideOptions options = {.has_holds = true,
                                                 .has_company = true,
                                                 .has_images = true,
                                                 .has_health = true,
                                                 .has_layouts = true,
                                                 .has_gangs = true,
                                                 .has_grants = true}) {
  Life life(std::move(profile), options);
  life.play(moves, [&](const std::vector<Event>&, const State& before, const Plan& plan) {
    const std::string broken = broken_rule(before, life.state, plan, *life.engine.profile().order);
    RC_LOG() << broken;
    RC_ASSERT(broken.empty());
    RC_ASSERT(life.state.is_consistent());
  });
}

RC_GTEST_PROP(Rules, HoldForTheDefaultProfile, ()) { expect_rules_kept(*some_moves(), profile_with(Blocking::kEasy)); }
RC_GTEST_PROP(Rules, HoldWhereWhoeverFitsMayPass, ()) {
  expect_rules_kept(*some_moves(), profile_with(Blocking::kSkip));
}
RC_GTEST_PROP(Rules, HoldWhereTheHeadBlocks, ()) { expect_rules_kept(*some_moves(), profile_with(Blocking::kStrict)); }
RC_GTEST_PROP(Rules, HoldForTheSpreadingProfile, ()) {
  expect_rules_kept(*some_moves(), profile_with(Blocking::kSkip, "spread"));
}
RC_GTEST_PROP(Rules, HoldForRandomScoresAndDevices, ()) {
  Profile profile = profile_with(Blocking::kSkip);
  profile.tiers = {{find_score("random")}};
  profile.device = find_device("random");
  expect_rules_kept(*some_moves(), std::move(profile));
}
RC_GTEST_PROP(Rules, HoldForEveryOrder, ()) {
  Profile profile = profile_with(*rc::gen::element(Blocking::kStrict, Blocking::kSkip, Blocking::kEasy));
  profile.order = find_order(
      *rc::gen::element<std::string>("fifo", "sjf", "qssf", "qssf-oracle", "priority-age", "priority-remaining"));
  if (*rc::gen::arbitrary<bool>()) profile.queue_order = find_queue_order("least-share");
  expect_rules_kept(*some_moves(), std::move(profile));
}

constexpr OutsideOptions kOfWakeUps{.has_quota = false,
                                    .has_holds = true,
                                    .has_company = true,
                                    .has_images = true,
                                    .has_health = true,
                                    .has_layouts = true,
                                    .has_gangs = true,
                                    .has_grants = true};

/// The first job that sleeps though it could be placed; "": there is none.
std::string missed_in(Life& life, const std::vector<Move>& moves) {
  std::string missed;
  life.play(moves, [&](const std::vector<Event>&, const State&, const Plan& plan) {
    if (!missed.empty() || plan.look_again_at <= plan.at) return;
    const std::uint64_t digest = life.state.digest();
    missed = missed_wake_up(life.state, life.engine);
    if (missed.empty() && life.state.digest() != digest) missed = "to ask has changed the state";
  });
  return missed;
}

RC_GTEST_PROP(WakeUps, AreNeverMissed, ()) {
  Life life(profile_with(Blocking::kSkip), kOfWakeUps);
  life.engine.options().has_verdicts = *rc::gen::arbitrary<bool>();
  life.engine.limit_woken_at_once(*rc::gen::element<std::size_t>(0, 1, SIZE_MAX));
  const std::string missed = missed_in(life, *some_moves());
  RC_LOG() << missed;
  RC_ASSERT(missed.empty());
}

/// Whether nothing but luck in the search decides if its members have room.
bool have_waiting_members_one_kind(const State& state, JobId job) {
  std::set<std::tuple<DemandId, ConstraintId, std::uint32_t>> kinds;
  state.each_waiting(job, [&](MemberId, const Member& m) {
    kinds.insert({m.demand, m.constraint, m.group});
    return true;
  });
  return kinds.size() == 1;
}

/// The first job that sleeps though its queue admits it and it could be placed; "": there is none.
std::string asleep_within_quota(State& state, Engine& engine) {
  for (std::size_t row = 0; row < state.job_rows(); ++row) {
    const JobId job(row);
    if (!engine.pending().contains(job) || quota_refusal(state, job)) continue;
    if (engine.pending().class_at(engine.pending().class_id(job)).is_active) continue;
    if (!have_waiting_members_one_kind(state, job)) continue;
    Trial trial(state);
    if (engine.try_place(trial, job)) return "could be placed but is asleep: job " + std::to_string(row);
  }
  return "";
}

constexpr OutsideOptions kOfShares{.has_holds = true, .has_health = true, .has_shares = true, .has_gangs = true};

RC_GTEST_PROP(WakeUps, WithinQuotaAreNeverMissed, ()) {
  Profile profile = profile_with(Blocking::kSkip);
  profile.queue_order = find_queue_order(*rc::gen::element<std::string>("by-job", "drf", "fair-tree"));
  profile.half_life = Millis(200'000);
  Life life(std::move(profile), kOfShares);
  std::string missed;
  life.play(*some_moves(), [&](const std::vector<Event>&, const State&, const Plan& plan) {
    if (missed.empty() && plan.look_again_at > plan.at) missed = asleep_within_quota(life.state, life.engine);
  });
  RC_LOG() << missed;
  RC_ASSERT(missed.empty());
}

RC_GTEST_PROP(Rules, HoldWhereQueuesShare, ()) {
  Profile profile = profile_with(*rc::gen::element(Blocking::kStrict, Blocking::kSkip, Blocking::kEasy));
  profile.queue_order =
      find_queue_order(*rc::gen::element<std::string>("by-job", "drf", "fair-tree", "strict-priority"));
  profile.half_life = Millis(200'000);
  expect_rules_kept(*some_moves(), std::move(profile), kOfShares);
}

/// Lives that the property found: a bound pod stays when its node leaves, so that more is used than the nodes have, and
/// another starts with what its queue keeps for itself.
TEST(Rules, HoldWhereMoreIsUsedThanTheNodesHave) {
  Profile profile = profile_with(Blocking::kSkip);
  profile.queue_order = find_queue_order("drf");
  const std::vector<Move> lives[] = {
      {{32, 0, 0, 0}, {25, 12, 0, 0}, {0, 0, 37, 0}, {37, 5, 59, 39}, {23, 0, 1, 16}, {32, 5, 1, 5}},
      {{3, 3, 13, 37}, {0, 0, 39, 29}, {32, 5, 0, 1}, {24, 0, 5, 0}, {24, 32, 25, 0}},
      {{25, 0, 0, 0}, {0, 0, 62, 2}, {32, 0, 52, 27}, {23, 0, 31, 1}, {1, 6, 4, 34}}};
  for (const std::vector<Move>& moves : lives) {
    Life life(profile, kOfShares);
    life.play(moves, [&](const std::vector<Event>&, const State& before, const Plan& plan) {
      EXPECT_EQ(broken_rule(before, life.state, plan, *life.engine.profile().order), "");
    });
  }
}

RC_GTEST_PROP(WakeUps, OfGangsWithRulesAmongTheirMembersAreNeverMissed, ()) {
  OutsideOptions options = kOfWakeUps;
  options.has_rules_among_members = true;
  Life life(profile_with(Blocking::kSkip), options);
  const std::string missed = missed_in(life, *some_moves());
  RC_LOG() << missed;
  RC_ASSERT(missed.empty());
}

/// A life that the property found: a pod shares an idle device of a node that owes one to a hold: others may share that
/// device now.
TEST(WakeUps, AreNotMissedWhereAShareIsBoundBesideDevicesThatAreOwed) {
  Life life(profile_with(Blocking::kSkip), kOfWakeUps);
  life.engine.limit_woken_at_once(SIZE_MAX);
  EXPECT_EQ(missed_in(life, {{3, 27, 11, 20},
                             {0, 10, 54, 53},
                             {11, 0, 0, 0},
                             {0, 0, 0, 28},
                             {11, 0, 0, 0},
                             {7, 13, 24, 23},
                             {11, 0, 0, 0},
                             {11, 63, 0, 22},
                             {24, 43, 0, 48},
                             {3, 5, 31, 17},
                             {25, 0, 0, 0},
                             {18, 58, 4, 0},
                             {22, 0, 23, 5},
                             {11, 4, 0, 0},
                             {11, 27, 55, 55},
                             {11, 4, 0, 0},
                             {11, 0, 0, 0},
                             {11, 7, 15, 41},
                             {11, 19, 0, 1}}),
            "");
}

/// Who stands behind the head of its queue, unlooked at, does so for a head that blocks.
std::string baseless_sleep(const Engine& engine) {
  std::string found;
  engine.pending().each_class([&](ClassId, const PendingQueue::Class& shape) {
    if (shape.is_active || shape.verdict.wake_on != WakeOn::kHeadOfQueue) return;
    const PendingQueue::Head* head = engine.pending().first_blocked(shape.key.queue);
    if (head == nullptr || !(head->entry < *shape.jobs.begin()))
      found = "job " + std::to_string(shape.jobs.begin()->job.row());
  });
  return found;
}

RC_GTEST_PROP(WakeUps, FollowTheHeadThatBlocks, ()) {
  Life life(profile_with(Blocking::kStrict), {.has_holds = true,
                                              .has_company = true,
                                              .has_images = true,
                                              .has_health = true,
                                              .has_layouts = true,
                                              .has_gangs = true,
                                              .has_grants = true});
  life.play(*some_moves(), [&](const std::vector<Event>&, const State&, const Plan& plan) {
    if (plan.look_again_at <= plan.at) return;
    const std::string baseless = baseless_sleep(life.engine);
    RC_LOG() << baseless << " waits behind nobody";
    RC_ASSERT(baseless.empty());
  });
}

ReasonCode first_code(const Verdict& verdict) {
  return verdict.reasons.empty() ? ReasonCode::kNone : verdict.reasons.front().code;
}

RC_GTEST_PROP(Verdicts, AreThoseThatThePlansTold, ()) {
  Life life(profile_with(*rc::gen::element(Blocking::kStrict, Blocking::kSkip, Blocking::kEasy)), {.has_holds = true,
                                                                                                   .has_company = true,
                                                                                                   .has_images = true,
                                                                                                   .has_health = true,
                                                                                                   .has_layouts = true,
                                                                                                   .has_gangs = true,
                                                                                                   .has_grants = true});
  std::map<JobId, Verdict> told;
  life.play(*some_moves(), [&](const std::vector<Event>&, const State&, const Plan& plan) {
    for (const VerdictChange& change : plan.verdicts) told[change.job] = change.verdict;
    if (plan.look_again_at <= plan.at) return;
    life.engine.pending().each_class([&](ClassId, const PendingQueue::Class& shape) {
      shape.each_job([&](const PendingQueue::Entry& e) {
        const Verdict verdict = life.engine.verdict_of(e.job);
        RC_ASSERT(verdict.kind != VerdictKind::kPending);
        RC_ASSERT(verdict.kind == told[e.job].kind);
        RC_ASSERT(first_code(verdict) == first_code(told[e.job]));
      });
    });
  });
}

void expect_views_like_fresh_ones(const std::vector<Move>& moves, int more_nodes) {
  Life life(profile_with(Blocking::kSkip), {.has_holds = true,
                                            .has_company = true,
                                            .has_images = true,
                                            .has_health = true,
                                            .has_layouts = true,
                                            .has_gangs = true,
                                            .has_grants = true,
                                            .more_nodes = more_nodes});
  life.play(moves, [&](const std::vector<Event>&, const State&, const Plan&) {
    const std::string stale = stale_view(life.state, life.engine);
    RC_LOG() << stale;
    RC_ASSERT(stale.empty());
  });
}

RC_GTEST_PROP(Views, ThatFollowChangesEqualFreshOnes, ()) { expect_views_like_fresh_ones(*some_moves(), 0); }
RC_GTEST_PROP(Views, OfManyNodesThatFollowChangesEqualFreshOnes, ()) {
  expect_views_like_fresh_ones(*some_moves(), 30);
}

struct Recorded {
  std::vector<Event> batch;
  Millis now;
  std::uint64_t plan = 0;
  std::uint64_t state = 0;
};

std::vector<Recorded> recorded(const std::vector<Move>& moves, const Profile& profile) {
  std::vector<Recorded> log;
  Life life(profile, {.has_holds = true,
                      .has_company = true,
                      .has_images = true,
                      .has_health = true,
                      .has_layouts = true,
                      .has_shares = true,
                      .has_gangs = true,
                      .has_grants = true});
  life.play(moves, [&](const std::vector<Event>& batch, const State&, const Plan& plan) {
    log.push_back({batch, plan.at, digest_of(plan), life.state.digest()});
  });
  return log;
}

/// A copy that shares no cache with the original, as after a restart from a snapshot.
struct ColdCopy {
  State state;
  Engine engine;

  ColdCopy(const State& from, const Engine& from_engine) : state(from), engine(from_engine.profile()) {
    StateFields::forget_caches(state);
    std::vector<const void*> fields;
    EngineFields::each(from_engine, [&](const auto& field) { fields.push_back(&field); });
    std::size_t at = 0;
    EngineFields::each(engine, [&](auto& field) {
      field = *static_cast<const std::remove_reference_t<decltype(field)>*>(fields[at++]);
    });
    EngineFields::rebuild(engine);
  }
};

void expect_same_plans(const std::vector<Recorded>& log, const Profile& profile,
                       const std::function<void(Engine&)>& between) {
  State state;
  Engine engine(profile);
  for (const Recorded& step : log) {
    for (const Event& event : step.batch) apply(state, event);
    RC_ASSERT(digest_of(engine.decide(state, step.now)) == step.plan);
    RC_ASSERT(state.digest() == step.state);
    between(engine);
  }
}

Profile some_profile() {
  if (*rc::gen::inRange(0, 3) == 0) {
    return *builtin_profile(*rc::gen::element<std::string>("spread", "fifo", "fifo-skip", "easy", "sjf", "sjf-skip",
                                                           "qssf", "qssf-oracle", "best-fit", "dotprod", "gpu-packing",
                                                           "gpu-clustering", "random"));
  }
  Profile profile = profile_with(*rc::gen::element(Blocking::kStrict, Blocking::kSkip, Blocking::kEasy));
  if (*rc::gen::arbitrary<bool>())
    profile.queue_order = find_queue_order(*rc::gen::element<std::string>("least-share", "drf", "fair-tree"));
  profile.half_life = Millis(200'000);
  if (*rc::gen::arbitrary<bool>()) {
    profile.tiers = {{find_score("random")}};
    profile.device = find_device("random");
  }
  return profile;
}

RC_GTEST_PROP(Determinism, TheSameEventsGiveTheSamePlans, ()) {
  const Profile profile = some_profile();
  expect_same_plans(recorded(*some_moves(), profile), profile, [](Engine&) {});
}

RC_GTEST_PROP(Determinism, WhatIsCachedNeverChangesAPlan, ()) {
  const Profile profile = some_profile();
  expect_same_plans(recorded(*some_moves(), profile), profile,
                    [](Engine& engine) { engine.fit_tables().forget_all(); });
}

RC_GTEST_PROP(Determinism, AnEngineReadBackFromItsMemoryDecidesTheSame, ()) {
  const Profile profile = some_profile();
  const std::vector<Recorded> log = recorded(*some_moves(), profile);
  const auto cut = *rc::gen::inRange<std::size_t>(0, log.size());
  State state;
  Engine engine(profile);
  for (std::size_t i = 0; i < cut; ++i) {
    for (const Event& event : log[i].batch) apply(state, event);
    engine.decide(state, log[i].now);
  }
  ColdCopy cold(state, engine);
  for (std::size_t i = cut; i < log.size(); ++i) {
    for (const Event& event : log[i].batch) apply(cold.state, event);
    RC_ASSERT(digest_of(cold.engine.decide(cold.state, log[i].now)) == log[i].plan);
    RC_ASSERT(cold.state.digest() == log[i].state);
  }
}

RC_GTEST_PROP(Determinism, ACopyDecidesLikeTheOriginalAndLeavesItAsItIs, ()) {
  const Profile profile = some_profile();
  const std::vector<Recorded> log = recorded(*some_moves(), profile);
  const auto cut = *rc::gen::inRange<std::size_t>(0, log.size());
  State state;
  Engine engine(profile);
  const auto follow = [&](State& s, Engine& e, const Recorded& step) {
    for (const Event& event : step.batch) apply(s, event);
    RC_ASSERT(digest_of(e.decide(s, step.now)) == step.plan);
    RC_ASSERT(s.digest() == step.state);
  };
  for (std::size_t i = 0; i < cut; ++i) follow(state, engine, log[i]);
  State other = state;
  Engine copy = engine;
  for (std::size_t i = cut; i < log.size(); ++i) follow(other, copy, log[i]);
  for (std::size_t i = cut; i < log.size(); ++i) follow(state, engine, log[i]);
}

RC_GTEST_PROP(Preemption, ByOrderAloneKeepsTheColumnsTrue, ()) {
  Profile profile = *builtin_profile(*rc::gen::element<std::string>("srtf", "tiresias"));
  profile.cadence = Millis(0);
  // Published traces have neither foreign pods nor changing nodes.
  Life life(std::move(profile), {.has_quota = false, .has_foreign = false, .has_node_changes = false});
  life.play(*some_moves(),
            [&](const std::vector<Event>&, const State&, const Plan&) { RC_ASSERT(life.state.is_consistent()); });
}

}  // namespace
}  // namespace ashlar
