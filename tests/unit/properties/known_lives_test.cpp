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
            "20612 decisions, 5143 binds, 0 others; ExceedsClusterMax 484 ExceedsMaxQuota 483 GangPartial 291 "
            "InsufficientGPU 513 InsufficientResource 187 NeverFits 967 NoMatchingDevice 7 NodesNotReady 1 OverQuota "
            "593 Placed 3284 PortTaken 113 QuotaExhausted 593 ReservationHeld 175 SelectorMismatch 9 TaintNotTolerated "
            "6 TopologyFragmented 575 Waits 1877; plans 481e2d8c3b9c3eb9");
  EXPECT_EQ(
      decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
      "20643 decisions, 5665 binds, 0 others; ExceedsClusterMax 543 GangPartial 381 InsufficientGPU 659 "
      "InsufficientResource 192 NeverFits 543 NoMatchingDevice 3 NodesNotReady 1 Placed 3568 PortTaken 112 "
      "ReservationHeld 65 SelectorMismatch 3 TaintNotTolerated 1 TopologyFragmented 685 Waits 2102; plans "
      "f461a7da9f2a8ad4");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip)),
            "20616 decisions, 5166 binds, 0 others; ExceedsClusterMax 361 ExceedsMaxQuota 488 GangPartial 281 "
            "InsufficientGPU 502 InsufficientResource 177 NeverFits 849 NoMatchingDevice 4 NodesNotReady 1 OverQuota "
            "595 Placed 3308 PortTaken 115 QuotaExhausted 595 SelectorMismatch 9 TaintNotTolerated 5 "
            "TopologyFragmented 562 Waits 1656; plans a5323ec3af8d1b87");
}

TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(decided(profile_with(Blocking::kStrict)),
            "20563 decisions, 4773 binds, 0 others; BehindHead 938 ExceedsClusterMax 448 ExceedsMaxQuota 436 "
            "GangPartial 265 InsufficientGPU 369 InsufficientResource 168 NeverFits 884 NoMatchingDevice 2 "
            "NodesNotReady 1 OverQuota 460 Placed 3024 PortTaken 88 QuotaExhausted 460 SelectorMismatch 7 "
            "TaintNotTolerated 6 TopologyFragmented 468 Waits 2312; plans ac27945cc4b1cc69");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "spread")),
            "20590 decisions, 5176 binds, 0 others; ExceedsClusterMax 364 ExceedsMaxQuota 480 GangPartial 289 "
            "InsufficientGPU 457 InsufficientResource 186 NeverFits 844 NoMatchingDevice 4 NodesNotReady 1 OverQuota "
            "583 Placed 3351 PortTaken 115 QuotaExhausted 583 SelectorMismatch 10 TaintNotTolerated 5 "
            "TopologyFragmented 567 Waits 1634; plans e828d1535c0f89df");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20614 decisions, 5150 binds, 0 others; ExceedsClusterMax 522 ExceedsMaxQuota 486 GangPartial 316 "
            "InsufficientGPU 511 InsufficientResource 178 NeverFits 1008 NoMatchingDevice 3 NodesNotReady 3 OverQuota "
            "637 Placed 3309 PortTaken 109 QuotaExhausted 637 ReservationHeld 201 SelectorMismatch 10 "
            "TaintNotTolerated 6 TopologyFragmented 582 Waits 1919; plans d92df1e50f87b883");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20577 decisions, 5048 binds, 0 others; ExceedsClusterMax 500 ExceedsMaxQuota 479 GangPartial 295 "
            "InsufficientGPU 426 InsufficientResource 169 NeverFits 979 NoMatchingDevice 6 NodesNotReady 3 OverQuota "
            "616 Placed 3266 PortTaken 109 QuotaExhausted 616 ReservationHeld 1113 SelectorMismatch 7 "
            "TaintNotTolerated 5 TopologyFragmented 543 Waits 2676; plans f49ed15b9a784b7e");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-packing")),
            "20620 decisions, 5160 binds, 0 others; ExceedsClusterMax 371 ExceedsMaxQuota 482 GangPartial 303 "
            "InsufficientGPU 500 InsufficientResource 173 NeverFits 853 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "602 Placed 3342 PortTaken 112 QuotaExhausted 602 SelectorMismatch 12 TaintNotTolerated 5 "
            "TopologyFragmented 551 Waits 1664; plans 62833ca86607e1d9");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-clustering")),
            "20617 decisions, 5258 binds, 0 others; ExceedsClusterMax 358 ExceedsMaxQuota 487 GangPartial 301 "
            "InsufficientGPU 478 InsufficientResource 196 NeverFits 845 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "596 Placed 3351 PortTaken 108 QuotaExhausted 596 SelectorMismatch 12 TaintNotTolerated 5 "
            "TopologyFragmented 541 Waits 1649; plans dc3f290e93ef423c");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "dotprod")),
            "20621 decisions, 5163 binds, 0 others; ExceedsClusterMax 367 ExceedsMaxQuota 493 GangPartial 310 "
            "InsufficientGPU 496 InsufficientResource 168 NeverFits 860 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "606 Placed 3350 PortTaken 108 QuotaExhausted 606 SelectorMismatch 12 TaintNotTolerated 5 "
            "TopologyFragmented 562 Waits 1669; plans 8b4f7a32829541d2");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "random")),
            "20604 decisions, 5167 binds, 0 others; ExceedsClusterMax 372 ExceedsMaxQuota 485 GangPartial 287 "
            "InsufficientGPU 487 InsufficientResource 176 NeverFits 857 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "592 Placed 3373 PortTaken 117 QuotaExhausted 592 SelectorMismatch 10 TaintNotTolerated 5 "
            "TopologyFragmented 560 Waits 1650; plans d23fc15a201d69eb");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")),
            "20100 decisions, 22837 binds, 10742 others; Placed 13369; plans b61b1b5b1efe2fa4");
  EXPECT_EQ(decided(*builtin_profile("tiresias")),
            "20100 decisions, 906 binds, 36 others; Placed 540; plans c5fb34a549fe2be5");
}

}  // namespace
}  // namespace ashlar
