// A hundred lives of a small cluster under each of several profiles, and what was decided in them: how often and why, and a digest of every plan. Recorded logs
// are only good for a replay while the same events give the same plans: a change that leaves decisions alone leaves these lines alone. One that changes
// decisions on purpose writes down the new ones, and says in its commit which decisions are others now.
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
    std::string text = std::to_string(decisions_) + " decisions, " + std::to_string(binds_) + " binds, " + std::to_string(others_) + " others;";
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

Profile profile_with(Blocking blocking, const char* name = "ashlar") {
  Profile profile = *builtin_profile(name);
  profile.blocking = blocking;
  return profile;
}

TEST(KnownLives, WithReservations) {
  EXPECT_EQ(decided(profile_with(Blocking::kEasy)),
            "20618 decisions, 5293 binds, 0 others; ExceedsClusterMax 501 ExceedsMaxQuota 457 GangPartial 289 InsufficientGPU 473 "
            "InsufficientResource 187 NeverFits 958 NoMatchingDevice 8 NodesNotReady 1 OverQuota 618 Placed 3312 PortTaken 117 QuotaExhausted 618 "
            "ReservationHeld 163 SelectorMismatch 9 TaintNotTolerated 6 TopologyFragmented 627 Waits 1880; plans 7a7cc8109ea2666d");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
            "20655 decisions, 5761 binds, 0 others; ExceedsClusterMax 537 GangPartial 384 InsufficientGPU 668 InsufficientResource 196 NeverFits 537 "
            "NoMatchingDevice 3 NodesNotReady 1 Placed 3591 PortTaken 112 ReservationHeld 86 SelectorMismatch 3 TaintNotTolerated 1 "
            "TopologyFragmented 704 Waits 2158; plans 7edd703d4d0e3d3d");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip)),
            "20618 decisions, 5281 binds, 0 others; ExceedsClusterMax 384 ExceedsMaxQuota 460 GangPartial 282 InsufficientGPU 479 "
            "InsufficientResource 177 NeverFits 844 NoMatchingDevice 5 NodesNotReady 1 OverQuota 587 Placed 3319 PortTaken 120 QuotaExhausted 587 "
            "SelectorMismatch 9 TaintNotTolerated 6 TopologyFragmented 604 Waits 1683; plans 18c15d2e681e15ad");
}

TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(decided(profile_with(Blocking::kStrict)),
            "20573 decisions, 4906 binds, 0 others; BehindHead 1017 ExceedsClusterMax 454 ExceedsMaxQuota 399 GangPartial 252 InsufficientGPU 333 "
            "InsufficientResource 161 NeverFits 853 NoMatchingDevice 3 OverQuota 482 Placed 3065 PortTaken 95 QuotaExhausted 482 SelectorMismatch 7 "
            "TaintNotTolerated 6 TopologyFragmented 532 Waits 2406; plans 61c468b0853a5965");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "spread")),
            "20616 decisions, 5352 binds, 0 others; ExceedsClusterMax 381 ExceedsMaxQuota 449 GangPartial 278 InsufficientGPU 454 "
            "InsufficientResource 187 NeverFits 830 NoMatchingDevice 4 NodesNotReady 3 OverQuota 579 Placed 3418 PortTaken 119 QuotaExhausted 579 "
            "SelectorMismatch 11 TaintNotTolerated 6 TopologyFragmented 627 Waits 1689; plans 5fb3a7599198d476");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20642 decisions, 5346 binds, 0 others; ExceedsClusterMax 517 ExceedsMaxQuota 446 GangPartial 307 InsufficientGPU 496 "
            "InsufficientResource 188 NeverFits 963 NoMatchingDevice 3 NodesNotReady 2 OverQuota 645 Placed 3385 PortTaken 114 QuotaExhausted 645 "
            "ReservationHeld 215 SelectorMismatch 11 TaintNotTolerated 6 TopologyFragmented 623 Waits 1965; plans c19f524782b19bb9");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20587 decisions, 5143 binds, 0 others; ExceedsClusterMax 496 ExceedsMaxQuota 446 GangPartial 282 InsufficientGPU 387 "
            "InsufficientResource 186 NeverFits 942 NoMatchingDevice 5 NodesNotReady 3 OverQuota 632 Placed 3291 PortTaken 112 QuotaExhausted 632 "
            "ReservationHeld 1294 SelectorMismatch 7 TaintNotTolerated 6 TopologyFragmented 588 Waits 2870; plans 9e6c2563f0c5ac1b");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-packing")),
            "20636 decisions, 5301 binds, 0 others; ExceedsClusterMax 384 ExceedsMaxQuota 443 GangPartial 296 InsufficientGPU 470 "
            "InsufficientResource 177 NeverFits 827 NoMatchingDevice 5 NodesNotReady 2 OverQuota 602 Placed 3397 PortTaken 112 QuotaExhausted 602 "
            "SelectorMismatch 11 TaintNotTolerated 7 TopologyFragmented 613 Waits 1693; plans 5985fad281145b75");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-clustering")),
            "20639 decisions, 5423 binds, 0 others; ExceedsClusterMax 376 ExceedsMaxQuota 451 GangPartial 305 InsufficientGPU 453 "
            "InsufficientResource 194 NeverFits 827 NoMatchingDevice 5 NodesNotReady 4 OverQuota 585 Placed 3428 PortTaken 111 QuotaExhausted 585 "
            "SelectorMismatch 11 TaintNotTolerated 6 TopologyFragmented 606 Waits 1695; plans 7e75d9f080324c73");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "dotprod")),
            "20642 decisions, 5326 binds, 0 others; ExceedsClusterMax 385 ExceedsMaxQuota 449 GangPartial 300 InsufficientGPU 470 "
            "InsufficientResource 178 NeverFits 834 NoMatchingDevice 5 NodesNotReady 3 OverQuota 604 Placed 3409 PortTaken 111 QuotaExhausted 604 "
            "SelectorMismatch 10 TaintNotTolerated 11 TopologyFragmented 619 Waits 1707; plans c3c3e5c4bd146e58");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "random")),
            "20625 decisions, 5353 binds, 0 others; ExceedsClusterMax 394 ExceedsMaxQuota 469 GangPartial 279 InsufficientGPU 459 "
            "InsufficientResource 183 NeverFits 863 NoMatchingDevice 5 NodesNotReady 1 OverQuota 592 Placed 3419 PortTaken 118 QuotaExhausted 592 "
            "SelectorMismatch 11 TaintNotTolerated 10 TopologyFragmented 625 Waits 1691; plans 62819a09dd2ebb1c");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")), "20100 decisions, 23854 binds, 11183 others; Placed 13913; plans 39b963e54ace1f98");
  EXPECT_EQ(decided(*builtin_profile("tiresias")), "20100 decisions, 917 binds, 33 others; Placed 540; plans 161fa9ed0d7e7d04");
}

}  // namespace
}  // namespace ashlar
