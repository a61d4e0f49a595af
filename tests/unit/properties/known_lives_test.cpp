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
            "20694 decisions, 5115 binds, 0 others; ExceedsClusterMax 495 ExceedsMaxQuota 475 GangPartial 297 "
            "InsufficientGPU 483 InsufficientResource 119 NeverFits 970 NodesNotReady 23 OverQuota 609 Placed 3293 "
            "PortTaken 114 QuotaExhausted 609 ReservationHeld 243 TaintNotTolerated 100 TopologyFragmented 585 Waits "
            "1964; plans d256cdac1381592c");
}

TEST(KnownLives, WithReservations) {
  EXPECT_EQ(decided(profile_with(Blocking::kEasy)),
            "20715 decisions, 5202 binds, 0 others; ExceedsClusterMax 500 ExceedsMaxQuota 478 GangPartial 297 "
            "InsufficientGPU 491 InsufficientResource 120 NeverFits 978 NodesNotReady 23 OverQuota 631 Placed 3360 "
            "PortTaken 120 QuotaExhausted 631 ReservationHeld 138 TaintNotTolerated 103 TopologyFragmented 590 Waits "
            "1882; plans 68ce6101db5889c4");
  EXPECT_EQ(
      decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
      "20760 decisions, 5775 binds, 0 others; ExceedsClusterMax 555 GangPartial 379 InsufficientGPU 610 "
      "InsufficientResource 132 NeverFits 555 NodesNotReady 7 Placed 3672 PortTaken 126 ReservationHeld 90 "
      "TaintNotTolerated 130 TopologyFragmented 706 Waits 2180; plans 7e07deab6897f028");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(
      decided(profile_with(Blocking::kSkip)),
      "20717 decisions, 5217 binds, 0 others; ExceedsClusterMax 378 ExceedsMaxQuota 475 GangPartial 283 "
      "InsufficientGPU 484 InsufficientResource 119 NeverFits 853 NodesNotReady 18 OverQuota 621 Placed 3376 PortTaken "
      "114 QuotaExhausted 621 TaintNotTolerated 99 TopologyFragmented 586 Waits 1703; plans 695da43eec5e4648");
}

/// Gangs that have lost members pass the head: they keep the places that it may need.
TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(
      decided(profile_with(Blocking::kStrict)),
      "20644 decisions, 4874 binds, 0 others; BehindHead 920 ExceedsClusterMax 467 ExceedsMaxQuota 424 GangPartial 269 "
      "InsufficientGPU 357 InsufficientResource 93 NeverFits 891 NodesNotReady 17 OverQuota 486 Placed 3118 PortTaken "
      "104 QuotaExhausted 486 TaintNotTolerated 86 TopologyFragmented 483 Waits 2329; plans 9cd44e7ae354acf2");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(
      decided(profile_with(Blocking::kSkip, "spread")),
      "20701 decisions, 5275 binds, 0 others; ExceedsClusterMax 376 ExceedsMaxQuota 467 GangPartial 275 "
      "InsufficientGPU 451 InsufficientResource 117 NeverFits 843 NodesNotReady 15 OverQuota 589 Placed 3437 PortTaken "
      "137 QuotaExhausted 589 TaintNotTolerated 105 TopologyFragmented 571 Waits 1671; plans ed7013c039fcd297");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20709 decisions, 5200 binds, 0 others; ExceedsClusterMax 535 ExceedsMaxQuota 469 GangPartial 311 "
            "InsufficientGPU 504 InsufficientResource 121 NeverFits 1004 NodesNotReady 16 OverQuota 685 Placed 3365 "
            "PortTaken 130 QuotaExhausted 685 ReservationHeld 238 TaintNotTolerated 102 TopologyFragmented 585 Waits "
            "2007; plans ab69b877615a2d35");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20677 decisions, 5127 binds, 0 others; ExceedsClusterMax 509 ExceedsMaxQuota 466 GangPartial 284 "
            "InsufficientGPU 407 InsufficientResource 118 NeverFits 975 NodesNotReady 16 OverQuota 672 Placed 3335 "
            "PortTaken 121 QuotaExhausted 672 ReservationHeld 1162 TaintNotTolerated 98 TopologyFragmented 532 Waits "
            "2738; plans f22028865ec15779");
  EXPECT_EQ(
      decided(profile_with(Blocking::kSkip, "gpu-packing")),
      "20714 decisions, 5242 binds, 0 others; ExceedsClusterMax 372 ExceedsMaxQuota 470 GangPartial 296 "
      "InsufficientGPU 485 InsufficientResource 125 NeverFits 842 NodesNotReady 17 OverQuota 628 Placed 3415 PortTaken "
      "124 QuotaExhausted 628 TaintNotTolerated 99 TopologyFragmented 564 Waits 1710; plans ab90160dd4ee5bad");
  EXPECT_EQ(
      decided(profile_with(Blocking::kSkip, "gpu-clustering")),
      "20708 decisions, 5285 binds, 0 others; ExceedsClusterMax 373 ExceedsMaxQuota 477 GangPartial 298 "
      "InsufficientGPU 471 InsufficientResource 130 NeverFits 850 NodesNotReady 17 OverQuota 625 Placed 3391 PortTaken "
      "119 QuotaExhausted 625 TaintNotTolerated 106 TopologyFragmented 552 Waits 1693; plans 2cf24d00ccb3e6bc");
  EXPECT_EQ(
      decided(profile_with(Blocking::kSkip, "dotprod")),
      "20725 decisions, 5247 binds, 0 others; ExceedsClusterMax 374 ExceedsMaxQuota 473 GangPartial 297 "
      "InsufficientGPU 493 InsufficientResource 121 NeverFits 847 NodesNotReady 16 OverQuota 645 Placed 3427 PortTaken "
      "115 QuotaExhausted 645 TaintNotTolerated 101 TopologyFragmented 569 Waits 1712; plans cedf4dd6ba9c5636");
  EXPECT_EQ(
      decided(profile_with(Blocking::kSkip, "random")),
      "20687 decisions, 5263 binds, 0 others; ExceedsClusterMax 380 ExceedsMaxQuota 482 GangPartial 296 "
      "InsufficientGPU 454 InsufficientResource 130 NeverFits 862 NodesNotReady 17 OverQuota 587 Placed 3440 PortTaken "
      "137 QuotaExhausted 587 TaintNotTolerated 101 TopologyFragmented 582 Waits 1717; plans aab99cd642b5ce0e");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")),
            "20100 decisions, 23987 binds, 11286 others; Placed 13995; plans f566e173a545785f");
  EXPECT_EQ(decided(*builtin_profile("tiresias")),
            "20100 decisions, 912 binds, 36 others; Placed 545; plans 163516e7adfba649");
}

}  // namespace
}  // namespace ashlar
