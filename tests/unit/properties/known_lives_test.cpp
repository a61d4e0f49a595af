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

/// Nothing ages in them but where that is asked for.
std::string decided(Profile profile, OutsideOptions options = {}, Millis ageing = Millis(0)) {
  profile.ageing = ageing;
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

TEST(KnownLives, WhereJobsAge) {
  EXPECT_EQ(decided(profile_with(Blocking::kEasy), {}, Profile().ageing),
            "20694 decisions, 5115 binds, 0 others; ExceedsClusterMax 495 ExceedsMaxQuota 475 GangPartial 280 "
            "InsufficientGPU 483 InsufficientResource 119 NeverFits 970 NodesNotReady 30 OverQuota 609 Placed 3293 "
            "PortTaken 113 QuotaExhausted 609 ReservationHeld 243 TaintNotTolerated 146 TopologyFragmented 555 Waits "
            "1969; plans e403052ad2a3b5db");
}

TEST(KnownLives, WithReservations) {
  EXPECT_EQ(decided(profile_with(Blocking::kEasy)),
            "20715 decisions, 5202 binds, 0 others; ExceedsClusterMax 500 ExceedsMaxQuota 478 GangPartial 280 "
            "InsufficientGPU 491 InsufficientResource 120 NeverFits 978 NodesNotReady 31 OverQuota 631 Placed 3360 "
            "PortTaken 119 QuotaExhausted 631 ReservationHeld 138 TaintNotTolerated 149 TopologyFragmented 559 Waits "
            "1887; plans 852d8bae82a60ae3");
  EXPECT_EQ(
      decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
      "20760 decisions, 5775 binds, 0 others; ExceedsClusterMax 555 GangPartial 369 InsufficientGPU 609 "
      "InsufficientResource 134 NeverFits 555 NodesNotReady 12 Placed 3672 PortTaken 126 ReservationHeld 90 "
      "TaintNotTolerated 161 TopologyFragmented 685 Waits 2186; plans d01bca022873b01d");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(
      decided(profile_with(Blocking::kSkip)),
      "20717 decisions, 5217 binds, 0 others; ExceedsClusterMax 378 ExceedsMaxQuota 475 GangPartial 264 "
      "InsufficientGPU 484 InsufficientResource 119 NeverFits 853 NodesNotReady 27 OverQuota 621 Placed 3376 PortTaken "
      "113 QuotaExhausted 621 TaintNotTolerated 146 TopologyFragmented 555 Waits 1708; plans 91fe97de6a51ed4b");
}

/// Gangs that have lost members pass the head: they keep the places that it may need.
TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(
      decided(profile_with(Blocking::kStrict)),
      "20644 decisions, 4874 binds, 0 others; BehindHead 920 ExceedsClusterMax 467 ExceedsMaxQuota 424 GangPartial 253 "
      "InsufficientGPU 357 InsufficientResource 94 NeverFits 891 NodesNotReady 22 OverQuota 486 Placed 3118 PortTaken "
      "103 QuotaExhausted 486 TaintNotTolerated 128 TopologyFragmented 456 Waits 2333; plans 7f94bf3783dcbfee");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(
      decided(profile_with(Blocking::kSkip, "spread")),
      "20701 decisions, 5275 binds, 0 others; ExceedsClusterMax 376 ExceedsMaxQuota 467 GangPartial 256 "
      "InsufficientGPU 451 InsufficientResource 117 NeverFits 843 NodesNotReady 25 OverQuota 589 Placed 3437 PortTaken "
      "136 QuotaExhausted 589 TaintNotTolerated 154 TopologyFragmented 538 Waits 1677; plans dc315523ec6e1376");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20709 decisions, 5200 binds, 0 others; ExceedsClusterMax 535 ExceedsMaxQuota 469 GangPartial 289 "
            "InsufficientGPU 504 InsufficientResource 121 NeverFits 1004 NodesNotReady 30 OverQuota 685 Placed 3365 "
            "PortTaken 129 QuotaExhausted 685 ReservationHeld 238 TaintNotTolerated 153 TopologyFragmented 556 Waits "
            "2020; plans d5e64e4a2bc60c0e");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20677 decisions, 5127 binds, 0 others; ExceedsClusterMax 509 ExceedsMaxQuota 466 GangPartial 264 "
            "InsufficientGPU 406 InsufficientResource 120 NeverFits 975 NodesNotReady 29 OverQuota 672 Placed 3335 "
            "PortTaken 120 QuotaExhausted 672 ReservationHeld 1162 TaintNotTolerated 143 TopologyFragmented 506 Waits "
            "2750; plans 42f5d03f6a328256");
  EXPECT_EQ(
      decided(profile_with(Blocking::kSkip, "gpu-packing")),
      "20714 decisions, 5242 binds, 0 others; ExceedsClusterMax 372 ExceedsMaxQuota 470 GangPartial 274 "
      "InsufficientGPU 485 InsufficientResource 127 NeverFits 842 NodesNotReady 28 OverQuota 628 Placed 3415 PortTaken "
      "122 QuotaExhausted 628 TaintNotTolerated 148 TopologyFragmented 534 Waits 1718; plans 1e533b5b4853a4c1");
  EXPECT_EQ(
      decided(profile_with(Blocking::kSkip, "gpu-clustering")),
      "20708 decisions, 5285 binds, 0 others; ExceedsClusterMax 373 ExceedsMaxQuota 477 GangPartial 278 "
      "InsufficientGPU 472 InsufficientResource 130 NeverFits 850 NodesNotReady 30 OverQuota 625 Placed 3391 PortTaken "
      "117 QuotaExhausted 625 TaintNotTolerated 153 TopologyFragmented 520 Waits 1700; plans dc67a387bec3fc37");
  EXPECT_EQ(
      decided(profile_with(Blocking::kSkip, "dotprod")),
      "20725 decisions, 5247 binds, 0 others; ExceedsClusterMax 374 ExceedsMaxQuota 473 GangPartial 275 "
      "InsufficientGPU 494 InsufficientResource 121 NeverFits 847 NodesNotReady 26 OverQuota 645 Placed 3427 PortTaken "
      "114 QuotaExhausted 645 TaintNotTolerated 150 TopologyFragmented 539 Waits 1719; plans bae338d10a1f48fb");
  EXPECT_EQ(
      decided(profile_with(Blocking::kSkip, "random")),
      "20687 decisions, 5263 binds, 0 others; ExceedsClusterMax 380 ExceedsMaxQuota 482 GangPartial 278 "
      "InsufficientGPU 455 InsufficientResource 130 NeverFits 862 NodesNotReady 25 OverQuota 587 Placed 3440 PortTaken "
      "136 QuotaExhausted 587 TaintNotTolerated 149 TopologyFragmented 552 Waits 1725; plans d95c9c568446b566");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")),
            "20100 decisions, 23987 binds, 11286 others; Placed 13995; plans f566e173a545785f");
  EXPECT_EQ(decided(*builtin_profile("tiresias")),
            "20100 decisions, 912 binds, 36 others; Placed 545; plans 163516e7adfba649");
}

}  // namespace
}  // namespace ashlar
