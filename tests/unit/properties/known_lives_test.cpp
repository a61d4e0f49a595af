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
            "20623 decisions, 5237 binds, 0 others; ExceedsClusterMax 495 ExceedsMaxQuota 465 GangPartial "
            "302 InsufficientGPU 515 InsufficientResource 183 NeverFits 960 NoMatchingDevice 8 "
            "NodesNotReady 2 OverQuota 566 Placed 3304 PortTaken 117 QuotaExhausted 566 ReservationHeld "
            "159 SelectorMismatch 9 TaintNotTolerated 6 TopologyFragmented 578 Waits 1879; plans "
            "e033d499e24e438c");
  EXPECT_EQ(
      decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
      "20655 decisions, 5759 binds, 0 others; ExceedsClusterMax 541 GangPartial 383 InsufficientGPU "
            "663 InsufficientResource 194 NeverFits 541 NoMatchingDevice 3 NodesNotReady 1 Placed 3590 "
            "PortTaken 112 ReservationHeld 88 SelectorMismatch 3 TaintNotTolerated 1 TopologyFragmented "
            "682 Waits 2130; plans 79b7f464ed4d1ebd");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip)),
            "20625 decisions, 5242 binds, 0 others; ExceedsClusterMax 372 ExceedsMaxQuota 468 GangPartial "
            "289 InsufficientGPU 508 InsufficientResource 173 NeverFits 840 NoMatchingDevice 5 "
            "NodesNotReady 2 OverQuota 569 Placed 3323 PortTaken 118 QuotaExhausted 569 SelectorMismatch "
            "9 TaintNotTolerated 5 TopologyFragmented 560 Waits 1669; plans 85777ae88b794ac1");
}

TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(decided(profile_with(Blocking::kStrict)),
            "20572 decisions, 4878 binds, 0 others; BehindHead 972 ExceedsClusterMax 455 ExceedsMaxQuota "
            "418 GangPartial 273 InsufficientGPU 366 InsufficientResource 163 NeverFits 873 "
            "NoMatchingDevice 3 NodesNotReady 1 OverQuota 433 Placed 3070 PortTaken 90 QuotaExhausted 433 "
            "SelectorMismatch 7 TaintNotTolerated 6 TopologyFragmented 484 Waits 2365; plans "
            "14fb9c1ac7c770bd");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "spread")),
            "20613 decisions, 5281 binds, 0 others; ExceedsClusterMax 367 ExceedsMaxQuota 462 GangPartial "
            "293 InsufficientGPU 471 InsufficientResource 183 NeverFits 829 NoMatchingDevice 4 "
            "NodesNotReady 3 OverQuota 552 Placed 3393 PortTaken 117 QuotaExhausted 552 SelectorMismatch "
            "11 TaintNotTolerated 5 TopologyFragmented 575 Waits 1662; plans 7313286a9af7ca7f");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20631 decisions, 5273 binds, 0 others; ExceedsClusterMax 537 ExceedsMaxQuota 466 GangPartial "
            "324 InsufficientGPU 492 InsufficientResource 178 NeverFits 1003 NoMatchingDevice 3 "
            "NodesNotReady 3 OverQuota 593 Placed 3358 PortTaken 114 QuotaExhausted 593 ReservationHeld "
            "229 SelectorMismatch 11 TaintNotTolerated 6 TopologyFragmented 588 Waits 1948; plans "
            "f3d102a9c48cf1a5");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20590 decisions, 5168 binds, 0 others; ExceedsClusterMax 518 ExceedsMaxQuota 458 GangPartial "
            "295 InsufficientGPU 414 InsufficientResource 170 NeverFits 976 NoMatchingDevice 5 "
            "NodesNotReady 3 OverQuota 599 Placed 3304 PortTaken 111 QuotaExhausted 599 ReservationHeld "
            "1224 SelectorMismatch 7 TaintNotTolerated 6 TopologyFragmented 543 Waits 2778; plans "
            "29170b38754d2c3f");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-packing")),
            "20637 decisions, 5302 binds, 0 others; ExceedsClusterMax 380 ExceedsMaxQuota 457 GangPartial "
            "307 InsufficientGPU 507 InsufficientResource 178 NeverFits 837 NoMatchingDevice 5 "
            "NodesNotReady 3 OverQuota 571 Placed 3395 PortTaken 111 QuotaExhausted 571 SelectorMismatch "
            "11 TaintNotTolerated 6 TopologyFragmented 559 Waits 1687; plans 4de5678e1284f9a7");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-clustering")),
            "20634 decisions, 5381 binds, 0 others; ExceedsClusterMax 373 ExceedsMaxQuota 466 GangPartial "
            "304 InsufficientGPU 473 InsufficientResource 198 NeverFits 839 NoMatchingDevice 5 "
            "NodesNotReady 4 OverQuota 570 Placed 3406 PortTaken 109 QuotaExhausted 570 SelectorMismatch "
            "11 TaintNotTolerated 5 TopologyFragmented 549 Waits 1658; plans 4b8620e150c73e15");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "dotprod")),
            "20638 decisions, 5297 binds, 0 others; ExceedsClusterMax 380 ExceedsMaxQuota 469 GangPartial "
            "307 InsufficientGPU 492 InsufficientResource 174 NeverFits 849 NoMatchingDevice 5 "
            "NodesNotReady 3 OverQuota 567 Placed 3395 PortTaken 108 QuotaExhausted 567 SelectorMismatch "
            "10 TaintNotTolerated 9 TopologyFragmented 569 Waits 1677; plans f6fb7c61dc7a2bcb");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "random")),
            "20614 decisions, 5342 binds, 0 others; ExceedsClusterMax 381 ExceedsMaxQuota 470 GangPartial "
            "287 InsufficientGPU 468 InsufficientResource 174 NeverFits 851 NoMatchingDevice 5 "
            "NodesNotReady 1 OverQuota 553 Placed 3436 PortTaken 123 QuotaExhausted 553 SelectorMismatch "
            "11 TaintNotTolerated 9 TopologyFragmented 569 Waits 1647; plans bfaaccc60ecf9993");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")),
            "20100 decisions, 23854 binds, 11183 others; Placed 13913; plans 8e1c45f2d2b7815c");
  EXPECT_EQ(decided(*builtin_profile("tiresias")),
            "20100 decisions, 917 binds, 33 others; Placed 540; plans e969d6af2460934c");
}

}  // namespace
}  // namespace ashlar
