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
            "InsufficientGPU 511 InsufficientResource 192 NeverFits 970 NoMatchingDevice 7 NodesNotReady 1 OverQuota "
            "609 Placed 3293 PortTaken 112 QuotaExhausted 609 ReservationHeld 243 SelectorMismatch 8 TaintNotTolerated "
            "6 TopologyFragmented 585 Waits 1962; plans 3a37248f52853d64");
}

TEST(KnownLives, WithReservations) {
  EXPECT_EQ(decided(profile_with(Blocking::kEasy)),
            "20715 decisions, 5202 binds, 0 others; ExceedsClusterMax 500 ExceedsMaxQuota 478 GangPartial 297 "
            "InsufficientGPU 517 InsufficientResource 197 NeverFits 978 NoMatchingDevice 7 NodesNotReady 1 OverQuota "
            "631 Placed 3360 PortTaken 120 QuotaExhausted 631 ReservationHeld 138 SelectorMismatch 8 TaintNotTolerated "
            "6 TopologyFragmented 590 Waits 1881; plans b86e0a2fdeeca3fd");
  EXPECT_EQ(
      decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
      "20760 decisions, 5775 binds, 0 others; ExceedsClusterMax 555 GangPartial 379 InsufficientGPU 662 "
      "InsufficientResource 205 NeverFits 555 NoMatchingDevice 3 NodesNotReady 1 Placed 3672 PortTaken 123 "
      "ReservationHeld 90 SelectorMismatch 2 TaintNotTolerated 1 TopologyFragmented 706 Waits 2172; plans "
      "dd6dd4cc7bc2033d");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip)),
            "20717 decisions, 5217 binds, 0 others; ExceedsClusterMax 378 ExceedsMaxQuota 475 GangPartial 283 "
            "InsufficientGPU 509 InsufficientResource 193 NeverFits 853 NoMatchingDevice 4 NodesNotReady 1 OverQuota "
            "621 Placed 3376 PortTaken 114 QuotaExhausted 621 SelectorMismatch 8 TaintNotTolerated 5 "
            "TopologyFragmented 586 Waits 1703; plans ca8abc8dabbef199");
}

/// Gangs that have lost members pass the head: they keep the places that it may need.
TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(decided(profile_with(Blocking::kStrict)),
            "20644 decisions, 4874 binds, 0 others; BehindHead 920 ExceedsClusterMax 467 ExceedsMaxQuota 424 "
            "GangPartial 269 InsufficientGPU 377 InsufficientResource 164 NeverFits 891 NoMatchingDevice 2 "
            "NodesNotReady 1 OverQuota 486 Placed 3118 PortTaken 104 QuotaExhausted 486 SelectorMismatch 6 "
            "TaintNotTolerated 4 TopologyFragmented 483 Waits 2330; plans d0f9ca4d8b146d8f");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "spread")),
            "20701 decisions, 5275 binds, 0 others; ExceedsClusterMax 376 ExceedsMaxQuota 467 GangPartial 275 "
            "InsufficientGPU 486 InsufficientResource 187 NeverFits 843 NoMatchingDevice 4 NodesNotReady 1 OverQuota "
            "589 Placed 3437 PortTaken 134 QuotaExhausted 589 SelectorMismatch 8 TaintNotTolerated 5 "
            "TopologyFragmented 571 Waits 1671; plans 1015175ae45a9828");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20709 decisions, 5200 binds, 0 others; ExceedsClusterMax 535 ExceedsMaxQuota 469 GangPartial 311 "
            "InsufficientGPU 526 InsufficientResource 189 NeverFits 1004 NoMatchingDevice 3 NodesNotReady 3 OverQuota "
            "685 Placed 3365 PortTaken 129 QuotaExhausted 685 ReservationHeld 238 SelectorMismatch 9 TaintNotTolerated "
            "6 TopologyFragmented 585 Waits 1999; plans ce6e58e37dba2531");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20677 decisions, 5127 binds, 0 others; ExceedsClusterMax 509 ExceedsMaxQuota 466 GangPartial 284 "
            "InsufficientGPU 435 InsufficientResource 183 NeverFits 975 NoMatchingDevice 6 NodesNotReady 3 OverQuota "
            "672 Placed 3335 PortTaken 120 QuotaExhausted 672 ReservationHeld 1162 SelectorMismatch 6 "
            "TaintNotTolerated 5 TopologyFragmented 532 Waits 2736; plans bae75786dd5adc0f");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-packing")),
            "20714 decisions, 5242 binds, 0 others; ExceedsClusterMax 372 ExceedsMaxQuota 470 GangPartial 296 "
            "InsufficientGPU 505 InsufficientResource 191 NeverFits 842 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "628 Placed 3415 PortTaken 123 QuotaExhausted 628 SelectorMismatch 8 TaintNotTolerated 5 "
            "TopologyFragmented 564 Waits 1700; plans 6bd9e92536a59305");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-clustering")),
            "20708 decisions, 5285 binds, 0 others; ExceedsClusterMax 373 ExceedsMaxQuota 477 GangPartial 298 "
            "InsufficientGPU 494 InsufficientResource 199 NeverFits 850 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "625 Placed 3391 PortTaken 119 QuotaExhausted 625 SelectorMismatch 9 TaintNotTolerated 6 "
            "TopologyFragmented 552 Waits 1685; plans 1f4d0b8df4a9bd6d");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "dotprod")),
            "20725 decisions, 5247 binds, 0 others; ExceedsClusterMax 374 ExceedsMaxQuota 473 GangPartial 297 "
            "InsufficientGPU 515 InsufficientResource 183 NeverFits 847 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "645 Placed 3427 PortTaken 114 QuotaExhausted 645 SelectorMismatch 9 TaintNotTolerated 5 "
            "TopologyFragmented 569 Waits 1700; plans 2941f0f960491189");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "random")),
            "20687 decisions, 5263 binds, 0 others; ExceedsClusterMax 380 ExceedsMaxQuota 482 GangPartial 296 "
            "InsufficientGPU 487 InsufficientResource 191 NeverFits 862 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "587 Placed 3440 PortTaken 136 QuotaExhausted 587 SelectorMismatch 8 TaintNotTolerated 9 "
            "TopologyFragmented 582 Waits 1717; plans 067edff4e45b678d");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")),
            "20100 decisions, 23987 binds, 11286 others; Placed 13995; plans f566e173a545785f");
  EXPECT_EQ(decided(*builtin_profile("tiresias")),
            "20100 decisions, 912 binds, 36 others; Placed 545; plans 163516e7adfba649");
}

}  // namespace
}  // namespace ashlar
