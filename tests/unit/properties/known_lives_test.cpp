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
            "20601 decisions, 5109 binds, 0 others; ExceedsClusterMax 506 ExceedsMaxQuota 486 GangPartial 298 "
            "InsufficientGPU 518 InsufficientResource 182 NeverFits 992 NoMatchingDevice 7 NodesNotReady 1 OverQuota "
            "587 Placed 3258 PortTaken 110 QuotaExhausted 587 ReservationHeld 124 SelectorMismatch 8 TaintNotTolerated "
            "7 TopologyFragmented 578 Waits 1833; plans 1d3c2356b2a13ca2");
  EXPECT_EQ(
      decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
      "20637 decisions, 5651 binds, 0 others; ExceedsClusterMax 564 GangPartial 380 InsufficientGPU 644 "
      "InsufficientResource 192 NeverFits 564 NoMatchingDevice 3 NodesNotReady 1 Placed 3555 PortTaken 111 "
      "ReservationHeld 76 SelectorMismatch 2 TaintNotTolerated 1 TopologyFragmented 677 Waits 2087; plans "
      "5d55a6ad7c14e768");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip)),
            "20604 decisions, 5132 binds, 0 others; ExceedsClusterMax 378 ExceedsMaxQuota 485 GangPartial 284 "
            "InsufficientGPU 500 InsufficientResource 176 NeverFits 863 NoMatchingDevice 4 NodesNotReady 1 OverQuota "
            "581 Placed 3276 PortTaken 108 QuotaExhausted 581 SelectorMismatch 8 TaintNotTolerated 5 "
            "TopologyFragmented 567 Waits 1653; plans 044de733c51b3a22");
}

TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(decided(profile_with(Blocking::kStrict)),
            "20548 decisions, 4756 binds, 0 others; BehindHead 951 ExceedsClusterMax 470 ExceedsMaxQuota 434 "
            "GangPartial 270 InsufficientGPU 370 InsufficientResource 158 NeverFits 904 NoMatchingDevice 2 "
            "NodesNotReady 1 OverQuota 461 Placed 2993 PortTaken 88 QuotaExhausted 461 SelectorMismatch 6 "
            "TaintNotTolerated 7 TopologyFragmented 469 Waits 2322; plans b17e2fff423ca79b");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "spread")),
            "20586 decisions, 5134 binds, 0 others; ExceedsClusterMax 380 ExceedsMaxQuota 478 GangPartial 292 "
            "InsufficientGPU 468 InsufficientResource 182 NeverFits 858 NoMatchingDevice 4 NodesNotReady 1 OverQuota "
            "561 Placed 3318 PortTaken 110 QuotaExhausted 561 SelectorMismatch 9 TaintNotTolerated 5 "
            "TopologyFragmented 569 Waits 1640; plans 148c1cb5fef2ed35");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20610 decisions, 5089 binds, 0 others; ExceedsClusterMax 541 ExceedsMaxQuota 482 GangPartial 322 "
            "InsufficientGPU 522 InsufficientResource 171 NeverFits 1023 NoMatchingDevice 3 NodesNotReady 3 OverQuota "
            "634 Placed 3267 PortTaken 110 QuotaExhausted 634 ReservationHeld 205 SelectorMismatch 8 TaintNotTolerated "
            "7 TopologyFragmented 579 Waits 1930; plans b0fd507efd1397ac");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20577 decisions, 5017 binds, 0 others; ExceedsClusterMax 512 ExceedsMaxQuota 477 GangPartial 293 "
            "InsufficientGPU 428 InsufficientResource 160 NeverFits 989 NoMatchingDevice 6 NodesNotReady 3 OverQuota "
            "610 Placed 3233 PortTaken 106 QuotaExhausted 610 ReservationHeld 1120 SelectorMismatch 5 "
            "TaintNotTolerated 5 TopologyFragmented 535 Waits 2661; plans d2b49af5abcf502d");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-packing")),
            "20612 decisions, 5137 binds, 0 others; ExceedsClusterMax 381 ExceedsMaxQuota 480 GangPartial 310 "
            "InsufficientGPU 495 InsufficientResource 170 NeverFits 861 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "588 Placed 3320 PortTaken 107 QuotaExhausted 588 SelectorMismatch 8 TaintNotTolerated 5 "
            "TopologyFragmented 556 Waits 1659; plans 5a7093910aa8a7ba");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-clustering")),
            "20612 decisions, 5228 binds, 0 others; ExceedsClusterMax 377 ExceedsMaxQuota 489 GangPartial 309 "
            "InsufficientGPU 476 InsufficientResource 190 NeverFits 866 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "583 Placed 3329 PortTaken 99 QuotaExhausted 583 SelectorMismatch 9 TaintNotTolerated 6 TopologyFragmented "
            "541 Waits 1638; plans 461f56d65f7c787f");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "dotprod")),
            "20618 decisions, 5137 binds, 0 others; ExceedsClusterMax 378 ExceedsMaxQuota 489 GangPartial 310 "
            "InsufficientGPU 504 InsufficientResource 162 NeverFits 867 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "595 Placed 3328 PortTaken 105 QuotaExhausted 595 SelectorMismatch 9 TaintNotTolerated 5 "
            "TopologyFragmented 565 Waits 1668; plans 1839593ec4904c3f");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "random")),
            "20589 decisions, 5155 binds, 0 others; ExceedsClusterMax 392 ExceedsMaxQuota 493 GangPartial 293 "
            "InsufficientGPU 474 InsufficientResource 172 NeverFits 885 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "584 Placed 3349 PortTaken 115 QuotaExhausted 584 SelectorMismatch 8 TaintNotTolerated 6 "
            "TopologyFragmented 566 Waits 1642; plans fd8a70d5a27bf4b3");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")),
            "20100 decisions, 23202 binds, 10891 others; Placed 13472; plans 6efbb1ec6889bdb4");
  EXPECT_EQ(decided(*builtin_profile("tiresias")),
            "20100 decisions, 900 binds, 35 others; Placed 538; plans 491c9e27e4c68fe3");
}

}  // namespace
}  // namespace ashlar
