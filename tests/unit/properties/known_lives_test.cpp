// A hundred lives of a small cluster under each of several profiles, and what was decided in them: how often and why,
// and a digest of every plan. Recorded logs are only good for a replay while the same events give the same plans: a
// change that leaves decisions alone leaves these lines alone. One that changes decisions on purpose writes down the
// new ones, and says in its commit which decisions are others now.
#include <gtest/gtest.h>

#include <map>

#include "base/digest.h"
#include "base/rng.h"
#include "engine/engine.h"
#include "history.h"
#include "model/plan.h"

namespace ashlar {
namespace {

std::vector<Move> moves_of(std::uint64_t seed) {
  Rng draws(seed);
  const auto below = [&](int bound) { return static_cast<int>(draws.next() % static_cast<std::uint64_t>(bound)); };
  std::vector<Move> moves(200);
  for (Move& m : moves) {
    m.kind = below(kMoveKinds);
    m.a = below(64);
    m.b = below(64);
    m.c = below(64);
  }
  return moves;
}

/// What a profile decided, as a line.
class Tally {
 public:
  void add(const Plan& plan) {
    ++decisions_;
    plans_ = hash_combine(plans_, digest_of(plan));
    for (const Action& action : plan.actions) ++(std::holds_alternative<Bind>(action) ? binds_ : others_);
    for (const VerdictChange& change : plan.verdicts) {
      ++told_[std::string(verdict_name(change.verdict.kind))];
      if (!change.verdict.reasons.empty()) ++told_[std::string(reason_name(change.verdict.reasons.front().code))];
    }
  }
  std::string text() const {
    std::string text = std::to_string(decisions_) + " decisions, " + std::to_string(binds_) + " binds, " +
                       std::to_string(others_) + " others;";
    for (const auto& [what, count] : told_) text += " " + what + " " + std::to_string(count);
    char digest[20];
    std::snprintf(digest, sizeof digest, "%016llx", static_cast<unsigned long long>(plans_));
    return text + "; plans " + digest;
  }

 private:
  int decisions_ = 0, binds_ = 0, others_ = 0;
  std::map<std::string, int> told_;
  std::uint64_t plans_ = 0;
};

std::string decided(const Profile& profile, OutsideOptions options = {}) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    State state;
    Engine engine(profile);
    Outside outside(options);
    const auto decide = [&](const std::vector<Event>& batch) {
      for (const Event& event : batch) apply(state, event);
      const Plan plan = engine.decide(state, outside.now());
      outside.learn(plan);
      tally.add(plan);
      return plan.look_again_at;
    };
    decide(outside.begin());
    for (const Move& move : moves_of(seed)) {
      Millis again = decide(outside.act(move, state));
      for (int k = 0; k < 20 && again <= outside.now(); ++k) again = decide({});
    }
  }
  return tally.text();
}

TEST(KnownLives, WithReservations) {
  EXPECT_EQ(decided(profile_with(Blocking::kEasy)),
            "20617 decisions, 5200 binds, 0 others; ExceedsClusterMax 486 ExceedsMaxQuota 482 GangPartial "
            "300 InsufficientGPU 516 InsufficientResource 186 NeverFits 968 NoMatchingDevice 8 NodesNotReady "
            "2 OverQuota 599 Placed 3288 PortTaken 117 QuotaExhausted 599 ReservationHeld 177 "
            "SelectorMismatch 9 TaintNotTolerated 6 TopologyFragmented 583 Waits 1904; plans "
            "eb32a8dbf83e054a");
  EXPECT_EQ(
      decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
      "20655 decisions, 5759 binds, 0 others; ExceedsClusterMax 541 GangPartial 384 InsufficientGPU "
      "665 InsufficientResource 194 NeverFits 541 NoMatchingDevice 3 NodesNotReady 1 Placed 3590 "
      "PortTaken 112 ReservationHeld 89 SelectorMismatch 3 TaintNotTolerated 1 TopologyFragmented 682 "
      "Waits 2134; plans 7c0e4b6f27a2b1a2");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip)),
            "20629 decisions, 5228 binds, 0 others; ExceedsClusterMax 365 ExceedsMaxQuota 487 GangPartial "
            "286 InsufficientGPU 504 InsufficientResource 175 NeverFits 852 NoMatchingDevice 5 NodesNotReady "
            "2 OverQuota 608 Placed 3320 PortTaken 118 QuotaExhausted 608 SelectorMismatch 9 "
            "TaintNotTolerated 5 TopologyFragmented 567 Waits 1671; plans 8ac47ce5607d2fe9");
}

TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(decided(profile_with(Blocking::kStrict)),
            "20579 decisions, 4831 binds, 0 others; BehindHead 959 ExceedsClusterMax 447 ExceedsMaxQuota 437 "
            "GangPartial 269 InsufficientGPU 370 InsufficientResource 166 NeverFits 884 NoMatchingDevice 3 "
            "NodesNotReady 1 OverQuota 466 Placed 3048 PortTaken 89 QuotaExhausted 466 SelectorMismatch 7 "
            "TaintNotTolerated 6 TopologyFragmented 477 Waits 2347; plans 0fb0126433f794c8");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "spread")),
            "20607 decisions, 5239 binds, 0 others; ExceedsClusterMax 364 ExceedsMaxQuota 479 GangPartial "
            "299 InsufficientGPU 475 InsufficientResource 184 NeverFits 843 NoMatchingDevice 4 NodesNotReady "
            "3 OverQuota 594 Placed 3365 PortTaken 117 QuotaExhausted 594 SelectorMismatch 10 "
            "TaintNotTolerated 5 TopologyFragmented 572 Waits 1669; plans 65f0ba801d969fe8");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20623 decisions, 5249 binds, 0 others; ExceedsClusterMax 525 ExceedsMaxQuota 487 GangPartial "
            "320 InsufficientGPU 501 InsufficientResource 179 NeverFits 1012 NoMatchingDevice 3 "
            "NodesNotReady 3 OverQuota 630 Placed 3349 PortTaken 111 QuotaExhausted 630 ReservationHeld 226 "
            "SelectorMismatch 10 TaintNotTolerated 6 TopologyFragmented 593 Waits 1952; plans "
            "2114f27b13f84c95");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20580 decisions, 5109 binds, 0 others; ExceedsClusterMax 502 ExceedsMaxQuota 481 GangPartial "
            "292 InsufficientGPU 418 InsufficientResource 170 NeverFits 983 NoMatchingDevice 5 NodesNotReady "
            "3 OverQuota 627 Placed 3272 PortTaken 109 QuotaExhausted 627 ReservationHeld 1172 "
            "SelectorMismatch 7 TaintNotTolerated 6 TopologyFragmented 549 Waits 2731; plans "
            "0e7a25ecf2b33ee3");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-packing")),
            "20632 decisions, 5249 binds, 0 others; ExceedsClusterMax 374 ExceedsMaxQuota 480 GangPartial "
            "306 InsufficientGPU 500 InsufficientResource 174 NeverFits 854 NoMatchingDevice 5 NodesNotReady "
            "3 OverQuota 606 Placed 3370 PortTaken 111 QuotaExhausted 606 SelectorMismatch 11 "
            "TaintNotTolerated 6 TopologyFragmented 558 Waits 1674; plans ca5fd6a74d58f657");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-clustering")),
            "20631 decisions, 5322 binds, 0 others; ExceedsClusterMax 364 ExceedsMaxQuota 488 GangPartial "
            "304 InsufficientGPU 477 InsufficientResource 194 NeverFits 852 NoMatchingDevice 5 NodesNotReady "
            "4 OverQuota 606 Placed 3377 PortTaken 109 QuotaExhausted 606 SelectorMismatch 11 "
            "TaintNotTolerated 5 TopologyFragmented 552 Waits 1661; plans 235bdf24a8b07f22");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "dotprod")),
            "20631 decisions, 5248 binds, 0 others; ExceedsClusterMax 371 ExceedsMaxQuota 492 GangPartial "
            "309 InsufficientGPU 489 InsufficientResource 171 NeverFits 863 NoMatchingDevice 5 NodesNotReady "
            "3 OverQuota 610 Placed 3378 PortTaken 105 QuotaExhausted 610 SelectorMismatch 11 "
            "TaintNotTolerated 9 TopologyFragmented 571 Waits 1673; plans 6d1c877898a39b19");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "random")),
            "20609 decisions, 5211 binds, 0 others; ExceedsClusterMax 379 ExceedsMaxQuota 489 GangPartial "
            "285 InsufficientGPU 465 InsufficientResource 177 NeverFits 868 NoMatchingDevice 5 NodesNotReady "
            "1 OverQuota 582 Placed 3376 PortTaken 122 QuotaExhausted 582 SelectorMismatch 10 "
            "TaintNotTolerated 9 TopologyFragmented 579 Waits 1653; plans 2e93490f01fe54d9");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")),
            "20100 decisions, 22766 binds, 10707 others; Placed 13338; plans 65c8aed492f9122b");
  EXPECT_EQ(decided(*builtin_profile("tiresias")),
            "20100 decisions, 910 binds, 36 others; Placed 542; plans ee574505dd397228");
}

}  // namespace
}  // namespace ashlar
