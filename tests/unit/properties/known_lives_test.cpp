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
            "20608 decisions, 5136 binds, 0 others; ExceedsClusterMax 488 ExceedsMaxQuota 483 GangPartial 288 "
            "InsufficientGPU 517 InsufficientResource 186 NeverFits 971 NoMatchingDevice 7 NodesNotReady 1 OverQuota "
            "592 Placed 3272 PortTaken 115 QuotaExhausted 592 ReservationHeld 170 SelectorMismatch 9 TaintNotTolerated "
            "6 TopologyFragmented 572 Waits 1871; plans 8b121bd67e07799d");
  EXPECT_EQ(
      decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
      "20642 decisions, 5665 binds, 0 others; ExceedsClusterMax 544 GangPartial 382 InsufficientGPU 665 "
      "InsufficientResource 193 NeverFits 544 NoMatchingDevice 3 NodesNotReady 1 Placed 3563 PortTaken 112 "
      "ReservationHeld 65 SelectorMismatch 3 TaintNotTolerated 1 TopologyFragmented 685 Waits 2110; plans "
      "24aab68b84d36bf0");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip)),
            "20617 decisions, 5160 binds, 0 others; ExceedsClusterMax 366 ExceedsMaxQuota 487 GangPartial 281 "
            "InsufficientGPU 510 InsufficientResource 175 NeverFits 853 NoMatchingDevice 4 NodesNotReady 1 OverQuota "
            "599 Placed 3298 PortTaken 116 QuotaExhausted 599 SelectorMismatch 9 TaintNotTolerated 5 "
            "TopologyFragmented 563 Waits 1664; plans 6191da2574f7669e");
}

TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(decided(profile_with(Blocking::kStrict)),
            "20562 decisions, 4762 binds, 0 others; BehindHead 945 ExceedsClusterMax 450 ExceedsMaxQuota 436 "
            "GangPartial 264 InsufficientGPU 375 InsufficientResource 167 NeverFits 886 NoMatchingDevice 2 "
            "NodesNotReady 1 OverQuota 462 Placed 3019 PortTaken 88 QuotaExhausted 462 SelectorMismatch 7 "
            "TaintNotTolerated 6 TopologyFragmented 467 Waits 2322; plans fbcf1d129dd0ff05");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "spread")),
            "20590 decisions, 5178 binds, 0 others; ExceedsClusterMax 365 ExceedsMaxQuota 480 GangPartial 289 "
            "InsufficientGPU 464 InsufficientResource 185 NeverFits 845 NoMatchingDevice 4 NodesNotReady 1 OverQuota "
            "586 Placed 3353 PortTaken 115 QuotaExhausted 586 SelectorMismatch 10 TaintNotTolerated 5 "
            "TopologyFragmented 569 Waits 1642; plans 09662218e74a6890");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20614 decisions, 5156 binds, 0 others; ExceedsClusterMax 524 ExceedsMaxQuota 486 GangPartial 316 "
            "InsufficientGPU 511 InsufficientResource 177 NeverFits 1010 NoMatchingDevice 3 NodesNotReady 3 OverQuota "
            "639 Placed 3314 PortTaken 109 QuotaExhausted 639 ReservationHeld 202 SelectorMismatch 10 "
            "TaintNotTolerated 6 TopologyFragmented 589 Waits 1926; plans 3fa1fdbf93fe9d23");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20575 decisions, 5043 binds, 0 others; ExceedsClusterMax 503 ExceedsMaxQuota 481 GangPartial 293 "
            "InsufficientGPU 431 InsufficientResource 169 NeverFits 984 NoMatchingDevice 6 NodesNotReady 3 OverQuota "
            "619 Placed 3260 PortTaken 110 QuotaExhausted 619 ReservationHeld 1114 SelectorMismatch 7 "
            "TaintNotTolerated 5 TopologyFragmented 552 Waits 2690; plans 7d2219bb0c9f1cbc");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-packing")),
            "20617 decisions, 5160 binds, 0 others; ExceedsClusterMax 373 ExceedsMaxQuota 481 GangPartial 303 "
            "InsufficientGPU 508 InsufficientResource 173 NeverFits 854 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "605 Placed 3339 PortTaken 111 QuotaExhausted 605 SelectorMismatch 12 TaintNotTolerated 5 "
            "TopologyFragmented 553 Waits 1673; plans b708d3ba1ec871f9");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-clustering")),
            "20616 decisions, 5254 binds, 0 others; ExceedsClusterMax 363 ExceedsMaxQuota 488 GangPartial 300 "
            "InsufficientGPU 483 InsufficientResource 195 NeverFits 851 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "599 Placed 3348 PortTaken 107 QuotaExhausted 599 SelectorMismatch 12 TaintNotTolerated 5 "
            "TopologyFragmented 545 Waits 1655; plans 51f002dacf7f39c7");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "dotprod")),
            "20619 decisions, 5156 binds, 0 others; ExceedsClusterMax 371 ExceedsMaxQuota 492 GangPartial 310 "
            "InsufficientGPU 502 InsufficientResource 168 NeverFits 863 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "611 Placed 3342 PortTaken 107 QuotaExhausted 611 SelectorMismatch 12 TaintNotTolerated 5 "
            "TopologyFragmented 566 Waits 1678; plans a67b926f6a1e0b9a");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "random")),
            "20603 decisions, 5177 binds, 0 others; ExceedsClusterMax 378 ExceedsMaxQuota 485 GangPartial 287 "
            "InsufficientGPU 477 InsufficientResource 176 NeverFits 863 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "593 Placed 3380 PortTaken 121 QuotaExhausted 593 SelectorMismatch 10 TaintNotTolerated 5 "
            "TopologyFragmented 567 Waits 1651; plans 6b873a6fb70aafba");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")),
            "20100 decisions, 22957 binds, 10776 others; Placed 13402; plans e7bbeb6a6ee4998b");
  EXPECT_EQ(decided(*builtin_profile("tiresias")),
            "20100 decisions, 906 binds, 36 others; Placed 540; plans 5d9216c19e83fa04");
}

}  // namespace
}  // namespace ashlar
