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
            "20619 decisions, 5294 binds, 0 others; ExceedsClusterMax 500 ExceedsMaxQuota 456 GangPartial "
            "287 InsufficientGPU 470 InsufficientResource 185 NeverFits 956 NoMatchingDevice 8 "
            "NodesNotReady 1 OverQuota 572 Placed 3315 PortTaken 120 QuotaExhausted 572 ReservationHeld "
            "164 SelectorMismatch 9 TaintNotTolerated 6 TopologyFragmented 587 Waits 1837; plans "
            "278393230075ccd5");
  EXPECT_EQ(
      decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
      "20655 decisions, 5759 binds, 0 others; ExceedsClusterMax 541 GangPartial 383 InsufficientGPU "
            "663 InsufficientResource 194 NeverFits 541 NoMatchingDevice 3 NodesNotReady 1 Placed 3590 "
            "PortTaken 112 ReservationHeld 88 SelectorMismatch 3 TaintNotTolerated 1 TopologyFragmented "
            "682 Waits 2130; plans 79b7f464ed4d1ebd");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip)),
            "20618 decisions, 5281 binds, 0 others; ExceedsClusterMax 376 ExceedsMaxQuota 460 GangPartial "
            "276 InsufficientGPU 478 InsufficientResource 176 NeverFits 836 NoMatchingDevice 5 "
            "NodesNotReady 1 OverQuota 564 Placed 3319 PortTaken 120 QuotaExhausted 564 SelectorMismatch "
            "9 TaintNotTolerated 5 TopologyFragmented 567 Waits 1637; plans d680861860d432dd");
}

TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(decided(profile_with(Blocking::kStrict)),
            "20572 decisions, 4913 binds, 0 others; BehindHead 982 ExceedsClusterMax 470 ExceedsMaxQuota "
            "400 GangPartial 253 InsufficientGPU 342 InsufficientResource 160 NeverFits 870 "
            "NoMatchingDevice 3 OverQuota 458 Placed 3068 PortTaken 95 QuotaExhausted 458 "
            "SelectorMismatch 7 TaintNotTolerated 6 TopologyFragmented 498 Waits 2346; plans "
            "fadac949f6e7c61e");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "spread")),
            "20616 decisions, 5352 binds, 0 others; ExceedsClusterMax 372 ExceedsMaxQuota 449 GangPartial "
            "273 InsufficientGPU 453 InsufficientResource 187 NeverFits 821 NoMatchingDevice 4 "
            "NodesNotReady 3 OverQuota 551 Placed 3418 PortTaken 119 QuotaExhausted 551 SelectorMismatch "
            "11 TaintNotTolerated 5 TopologyFragmented 590 Waits 1645; plans ae9867bbeff48d86");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20641 decisions, 5343 binds, 0 others; ExceedsClusterMax 553 ExceedsMaxQuota 446 GangPartial "
            "307 InsufficientGPU 492 InsufficientResource 185 NeverFits 999 NoMatchingDevice 3 "
            "NodesNotReady 2 OverQuota 642 Placed 3383 PortTaken 113 QuotaExhausted 642 ReservationHeld "
            "219 SelectorMismatch 11 TaintNotTolerated 6 TopologyFragmented 593 Waits 1931; plans "
            "e955b211ff3e5367");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20587 decisions, 5148 binds, 0 others; ExceedsClusterMax 535 ExceedsMaxQuota 444 GangPartial "
            "281 InsufficientGPU 387 InsufficientResource 184 NeverFits 979 NoMatchingDevice 5 "
            "NodesNotReady 3 OverQuota 626 Placed 3294 PortTaken 112 QuotaExhausted 626 ReservationHeld "
            "1251 SelectorMismatch 7 TaintNotTolerated 6 TopologyFragmented 555 Waits 2791; plans "
            "7b859b474ca71608");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-packing")),
            "20636 decisions, 5301 binds, 0 others; ExceedsClusterMax 382 ExceedsMaxQuota 443 GangPartial "
            "291 InsufficientGPU 470 InsufficientResource 175 NeverFits 825 NoMatchingDevice 5 "
            "NodesNotReady 2 OverQuota 578 Placed 3397 PortTaken 112 QuotaExhausted 578 SelectorMismatch "
            "11 TaintNotTolerated 6 TopologyFragmented 568 Waits 1640; plans f2cf551e27048a62");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-clustering")),
            "20639 decisions, 5423 binds, 0 others; ExceedsClusterMax 371 ExceedsMaxQuota 451 GangPartial "
            "300 InsufficientGPU 453 InsufficientResource 194 NeverFits 822 NoMatchingDevice 5 "
            "NodesNotReady 4 OverQuota 561 Placed 3428 PortTaken 111 QuotaExhausted 561 SelectorMismatch "
            "11 TaintNotTolerated 5 TopologyFragmented 565 Waits 1648; plans 0daf9cc3e9b83b06");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "dotprod")),
            "20642 decisions, 5326 binds, 0 others; ExceedsClusterMax 381 ExceedsMaxQuota 449 GangPartial "
            "295 InsufficientGPU 470 InsufficientResource 177 NeverFits 830 NoMatchingDevice 5 "
            "NodesNotReady 3 OverQuota 579 Placed 3409 PortTaken 111 QuotaExhausted 579 SelectorMismatch "
            "10 TaintNotTolerated 10 TopologyFragmented 575 Waits 1656; plans f2d036a699cb00b0");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "random")),
            "20615 decisions, 5370 binds, 0 others; ExceedsClusterMax 385 ExceedsMaxQuota 471 GangPartial "
            "274 InsufficientGPU 445 InsufficientResource 178 NeverFits 856 NoMatchingDevice 5 "
            "NodesNotReady 1 OverQuota 549 Placed 3430 PortTaken 130 QuotaExhausted 549 SelectorMismatch "
            "11 TaintNotTolerated 9 TopologyFragmented 589 Waits 1642; plans e4965d155118240a");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")),
            "20100 decisions, 23854 binds, 11183 others; Placed 13913; plans 8e1c45f2d2b7815c");
  EXPECT_EQ(decided(*builtin_profile("tiresias")),
            "20100 decisions, 917 binds, 33 others; Placed 540; plans e969d6af2460934c");
}

}  // namespace
}  // namespace ashlar
