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
            "20620 decisions, 5293 binds, 0 others; ExceedsClusterMax 537 ExceedsMaxQuota 456 GangPartial 289 "
            "InsufficientGPU 473 "
            "InsufficientResource 187 NeverFits 993 NoMatchingDevice 8 NodesNotReady 1 OverQuota 621 Placed 3313 "
            "PortTaken 120 "
            "QuotaExhausted 621 ReservationHeld 169 SelectorMismatch 9 TaintNotTolerated 6 TopologyFragmented 595 "
            "Waits 1857; "
            "plans 75f17df54ee10d48");
  EXPECT_EQ(
      decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
      "20655 decisions, 5759 binds, 0 others; ExceedsClusterMax 557 GangPartial 384 InsufficientGPU 667 "
      "InsufficientResource "
      "196 NeverFits 557 NoMatchingDevice 3 NodesNotReady 1 Placed 3590 PortTaken 112 ReservationHeld 89 "
      "SelectorMismatch 3 "
      "TaintNotTolerated 1 TopologyFragmented 686 Waits 2142; plans 5cf60de3a2dcce55");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip)),
            "20618 decisions, 5281 binds, 0 others; ExceedsClusterMax 409 ExceedsMaxQuota 460 GangPartial 282 "
            "InsufficientGPU 479 "
            "InsufficientResource 177 NeverFits 869 NoMatchingDevice 5 NodesNotReady 1 OverQuota 587 Placed 3319 "
            "PortTaken 120 "
            "QuotaExhausted 587 SelectorMismatch 9 TaintNotTolerated 6 TopologyFragmented 575 Waits 1654; plans "
            "f69ad9a959cdf092");
}

TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(
      decided(profile_with(Blocking::kStrict)),
      "20572 decisions, 4913 binds, 0 others; BehindHead 997 ExceedsClusterMax 488 ExceedsMaxQuota 400 GangPartial 254 "
      "InsufficientGPU 342 InsufficientResource 160 NeverFits 888 NoMatchingDevice 3 OverQuota 488 Placed 3068 "
      "PortTaken 95 "
      "QuotaExhausted 488 SelectorMismatch 7 TaintNotTolerated 6 TopologyFragmented 503 Waits 2367; plans "
      "778d9ac808f8d1f5");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "spread")),
            "20616 decisions, 5352 binds, 0 others; ExceedsClusterMax 410 ExceedsMaxQuota 449 GangPartial 278 "
            "InsufficientGPU 454 "
            "InsufficientResource 187 NeverFits 859 NoMatchingDevice 4 NodesNotReady 3 OverQuota 579 Placed 3418 "
            "PortTaken 119 "
            "QuotaExhausted 579 SelectorMismatch 11 TaintNotTolerated 6 TopologyFragmented 601 Waits 1663; plans "
            "14fd9db81972ad33");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20642 decisions, 5347 binds, 0 others; ExceedsClusterMax 559 ExceedsMaxQuota 446 GangPartial 307 "
            "InsufficientGPU 496 "
            "InsufficientResource 188 NeverFits 1005 NoMatchingDevice 3 NodesNotReady 2 OverQuota 651 Placed 3386 "
            "PortTaken 114 "
            "QuotaExhausted 651 ReservationHeld 217 SelectorMismatch 11 TaintNotTolerated 6 TopologyFragmented 593 "
            "Waits 1937; "
            "plans ec1d4624a3027f31");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20587 decisions, 5148 binds, 0 others; ExceedsClusterMax 542 ExceedsMaxQuota 444 GangPartial 282 "
            "InsufficientGPU 389 "
            "InsufficientResource 186 NeverFits 986 NoMatchingDevice 5 NodesNotReady 3 OverQuota 636 Placed 3294 "
            "PortTaken 112 "
            "QuotaExhausted 636 ReservationHeld 1265 SelectorMismatch 7 TaintNotTolerated 6 TopologyFragmented 557 "
            "Waits 2812; "
            "plans 71461e199e4e81e6");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-packing")),
            "20636 decisions, 5301 binds, 0 others; ExceedsClusterMax 414 ExceedsMaxQuota 443 GangPartial 296 "
            "InsufficientGPU 470 "
            "InsufficientResource 177 NeverFits 857 NoMatchingDevice 5 NodesNotReady 2 OverQuota 602 Placed 3397 "
            "PortTaken 112 "
            "QuotaExhausted 602 SelectorMismatch 11 TaintNotTolerated 7 TopologyFragmented 579 Waits 1659; plans "
            "ddcd05ad1cc13e67");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-clustering")),
            "20639 decisions, 5423 binds, 0 others; ExceedsClusterMax 403 ExceedsMaxQuota 451 GangPartial 305 "
            "InsufficientGPU 453 "
            "InsufficientResource 194 NeverFits 854 NoMatchingDevice 5 NodesNotReady 4 OverQuota 585 Placed 3428 "
            "PortTaken 111 "
            "QuotaExhausted 585 SelectorMismatch 11 TaintNotTolerated 6 TopologyFragmented 576 Waits 1665; plans "
            "4a6f38b4caa41e69");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "dotprod")),
            "20642 decisions, 5326 binds, 0 others; ExceedsClusterMax 414 ExceedsMaxQuota 449 GangPartial 300 "
            "InsufficientGPU 470 "
            "InsufficientResource 178 NeverFits 863 NoMatchingDevice 5 NodesNotReady 3 OverQuota 604 Placed 3409 "
            "PortTaken 111 "
            "QuotaExhausted 604 SelectorMismatch 10 TaintNotTolerated 11 TopologyFragmented 586 Waits 1674; plans "
            "36fd8d3b579771bb");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "random")),
            "20624 decisions, 5358 binds, 0 others; ExceedsClusterMax 422 ExceedsMaxQuota 469 GangPartial 279 "
            "InsufficientGPU 458 "
            "InsufficientResource 184 NeverFits 891 NoMatchingDevice 5 NodesNotReady 1 OverQuota 592 Placed 3422 "
            "PortTaken 118 "
            "QuotaExhausted 592 SelectorMismatch 11 TaintNotTolerated 10 TopologyFragmented 597 Waits 1663; plans "
            "fef169b541f69fec");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")),
            "20100 decisions, 23854 binds, 11183 others; Placed 13913; plans 8e1c45f2d2b7815c");
  EXPECT_EQ(decided(*builtin_profile("tiresias")),
            "20100 decisions, 917 binds, 33 others; Placed 540; plans e969d6af2460934c");
}

}  // namespace
}  // namespace ashlar
