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
            "20619 decisions, 5293 binds, 0 others; ExceedsClusterMax 421 ExceedsMaxQuota 425 GangPartial 289 InsufficientGPU 474 "
            "InsufficientResource 189 NeverFits 846 NoMatchingDevice 8 NodesNotReady 1 OverQuota 585 Placed 3312 PortTaken 118 QuotaExhausted "
            "585 ReservationHeld 163 SelectorMismatch 9 TaintNotTolerated 6 TopologyFragmented 628 Waits 1885; plans 569633dbbd3ceeb0");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
            "20655 decisions, 5761 binds, 0 others; ExceedsClusterMax 521 GangPartial 386 InsufficientGPU 672 InsufficientResource 198 "
            "NeverFits 521 NoMatchingDevice 3 NodesNotReady 1 Placed 3591 PortTaken 112 ReservationHeld 86 SelectorMismatch 3 "
            "TaintNotTolerated 1 TopologyFragmented 703 Waits 2165; plans 0e2fefe76b848c69");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip)),
            "20618 decisions, 5281 binds, 0 others; ExceedsClusterMax 364 ExceedsMaxQuota 424 GangPartial 282 InsufficientGPU 476 "
            "InsufficientResource 179 NeverFits 788 NoMatchingDevice 5 NodesNotReady 1 OverQuota 584 Placed 3319 PortTaken 121 QuotaExhausted "
            "584 SelectorMismatch 9 TaintNotTolerated 6 TopologyFragmented 604 Waits 1683; plans 192f5aa8fa4d9d4d");
}

TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(decided(profile_with(Blocking::kStrict)),
            "20564 decisions, 4865 binds, 0 others; BehindHead 1061 ExceedsClusterMax 393 ExceedsMaxQuota 369 GangPartial 251 InsufficientGPU "
            "323 InsufficientResource 160 NeverFits 762 NoMatchingDevice 3 OverQuota 442 Placed 3032 PortTaken 94 QuotaExhausted 442 "
            "SelectorMismatch 7 TaintNotTolerated 4 TopologyFragmented 525 Waits 2428; plans af300f1fe5c6a573");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "spread")),
            "20616 decisions, 5352 binds, 0 others; ExceedsClusterMax 367 ExceedsMaxQuota 411 GangPartial 279 InsufficientGPU 453 "
            "InsufficientResource 190 NeverFits 778 NoMatchingDevice 4 NodesNotReady 3 OverQuota 574 Placed 3418 PortTaken 119 QuotaExhausted "
            "574 SelectorMismatch 11 TaintNotTolerated 6 TopologyFragmented 629 Waits 1694; plans 7c0a8e7dace5a1f4");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20642 decisions, 5346 binds, 0 others; ExceedsClusterMax 434 ExceedsMaxQuota 412 GangPartial 308 InsufficientGPU 493 "
            "InsufficientResource 190 NeverFits 846 NoMatchingDevice 3 NodesNotReady 2 OverQuota 601 Placed 3385 PortTaken 114 QuotaExhausted "
            "601 ReservationHeld 217 SelectorMismatch 11 TaintNotTolerated 6 TopologyFragmented 623 Waits 1967; plans 2d76c2503cb98a29");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20585 decisions, 5141 binds, 0 others; ExceedsClusterMax 403 ExceedsMaxQuota 417 GangPartial 282 InsufficientGPU 386 "
            "InsufficientResource 188 NeverFits 820 NoMatchingDevice 5 NodesNotReady 3 OverQuota 584 Placed 3290 PortTaken 112 QuotaExhausted "
            "584 ReservationHeld 1295 SelectorMismatch 7 TaintNotTolerated 6 TopologyFragmented 585 Waits 2869; plans 357d90e175727a36");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-packing")),
            "20636 decisions, 5301 binds, 0 others; ExceedsClusterMax 362 ExceedsMaxQuota 410 GangPartial 297 InsufficientGPU 470 "
            "InsufficientResource 179 NeverFits 772 NoMatchingDevice 5 NodesNotReady 2 OverQuota 598 Placed 3397 PortTaken 113 QuotaExhausted "
            "598 SelectorMismatch 11 TaintNotTolerated 7 TopologyFragmented 616 Waits 1700; plans 26d7f6b1f7300964");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-clustering")),
            "20639 decisions, 5423 binds, 0 others; ExceedsClusterMax 358 ExceedsMaxQuota 417 GangPartial 306 InsufficientGPU 451 "
            "InsufficientResource 197 NeverFits 775 NoMatchingDevice 5 NodesNotReady 4 OverQuota 583 Placed 3428 PortTaken 112 QuotaExhausted "
            "583 SelectorMismatch 11 TaintNotTolerated 6 TopologyFragmented 608 Waits 1700; plans 9a12df9e7e062100");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "dotprod")),
            "20642 decisions, 5326 binds, 0 others; ExceedsClusterMax 365 ExceedsMaxQuota 416 GangPartial 301 InsufficientGPU 468 "
            "InsufficientResource 180 NeverFits 781 NoMatchingDevice 5 NodesNotReady 3 OverQuota 600 Placed 3409 PortTaken 112 QuotaExhausted "
            "600 SelectorMismatch 10 TaintNotTolerated 11 TopologyFragmented 623 Waits 1713; plans 1e60383eda2244e9");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "random")),
            "20624 decisions, 5354 binds, 0 others; ExceedsClusterMax 372 ExceedsMaxQuota 432 GangPartial 281 InsufficientGPU 460 "
            "InsufficientResource 186 NeverFits 804 NoMatchingDevice 5 NodesNotReady 1 OverQuota 591 Placed 3419 PortTaken 116 QuotaExhausted "
            "591 SelectorMismatch 11 TaintNotTolerated 10 TopologyFragmented 629 Waits 1699; plans abbafe5c326173d7");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")), "20100 decisions, 23854 binds, 11183 others; Placed 13913; plans 39b963e54ace1f98");
  EXPECT_EQ(decided(*builtin_profile("tiresias")), "20100 decisions, 917 binds, 33 others; Placed 540; plans 161fa9ed0d7e7d04");
}

}  // namespace
}  // namespace ashlar
