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
            "20619 decisions, 5293 binds, 0 others; ExceedsClusterMax 421 ExceedsMaxQuota 425 GangPartial 288 InsufficientGPU 394 "
            "InsufficientResource 174 NeverFits 846 NoMatchingDevice 48 NodesNotReady 24 OverQuota 585 Placed 3312 PortTaken 88 QuotaExhausted 585 "
            "ReservationHeld 162 SelectorMismatch 36 TaintNotTolerated 43 TopologyFragmented 628 Waits 1885; plans 336d3997ee2d7024");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
            "20655 decisions, 5761 binds, 0 others; ExceedsClusterMax 521 GangPartial 386 InsufficientGPU 615 InsufficientResource 192 NeverFits 521 "
            "NoMatchingDevice 30 NodesNotReady 19 Placed 3591 PortTaken 88 ReservationHeld 86 SelectorMismatch 22 TaintNotTolerated 39 "
            "TopologyFragmented 703 Waits 2180; plans 8ecbb84396bd399a");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip)),
            "20618 decisions, 5281 binds, 0 others; ExceedsClusterMax 364 ExceedsMaxQuota 424 GangPartial 282 InsufficientGPU 400 "
            "InsufficientResource 166 NeverFits 788 NoMatchingDevice 43 NodesNotReady 24 OverQuota 584 Placed 3319 PortTaken 93 QuotaExhausted 584 "
            "SelectorMismatch 33 TaintNotTolerated 39 TopologyFragmented 604 Waits 1684; plans 0800f2efe5e781a8");
}

TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(decided(profile_with(Blocking::kStrict)),
            "20564 decisions, 4865 binds, 0 others; BehindHead 1061 ExceedsClusterMax 393 ExceedsMaxQuota 369 GangPartial 251 InsufficientGPU 292 "
            "InsufficientResource 154 NeverFits 762 NoMatchingDevice 20 NodesNotReady 9 OverQuota 442 Placed 3032 PortTaken 69 QuotaExhausted 442 "
            "SelectorMismatch 24 TaintNotTolerated 26 TopologyFragmented 525 Waits 2431; plans 120e654dc0f1853c");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "spread")),
            "20616 decisions, 5352 binds, 0 others; ExceedsClusterMax 367 ExceedsMaxQuota 411 GangPartial 279 InsufficientGPU 387 "
            "InsufficientResource 180 NeverFits 778 NoMatchingDevice 38 NodesNotReady 18 OverQuota 574 Placed 3418 PortTaken 90 QuotaExhausted 574 "
            "SelectorMismatch 35 TaintNotTolerated 46 TopologyFragmented 629 Waits 1702; plans 1ff70bcadfcd2140");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20642 decisions, 5346 binds, 0 others; ExceedsClusterMax 434 ExceedsMaxQuota 412 GangPartial 308 InsufficientGPU 425 "
            "InsufficientResource 180 NeverFits 846 NoMatchingDevice 40 NodesNotReady 18 OverQuota 601 Placed 3385 PortTaken 84 QuotaExhausted 601 "
            "ReservationHeld 217 SelectorMismatch 37 TaintNotTolerated 41 TopologyFragmented 623 Waits 1973; plans 0a71f8836a3da97f");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20585 decisions, 5141 binds, 0 others; ExceedsClusterMax 403 ExceedsMaxQuota 417 GangPartial 282 InsufficientGPU 319 "
            "InsufficientResource 175 NeverFits 820 NoMatchingDevice 38 NodesNotReady 20 OverQuota 584 Placed 3290 PortTaken 81 QuotaExhausted 584 "
            "ReservationHeld 1295 SelectorMismatch 34 TaintNotTolerated 44 TopologyFragmented 585 Waits 2873; plans 55289da1ce3a4113");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-packing")),
            "20636 decisions, 5301 binds, 0 others; ExceedsClusterMax 362 ExceedsMaxQuota 410 GangPartial 297 InsufficientGPU 410 "
            "InsufficientResource 170 NeverFits 772 NoMatchingDevice 38 NodesNotReady 22 OverQuota 598 Placed 3397 PortTaken 81 QuotaExhausted 598 "
            "SelectorMismatch 33 TaintNotTolerated 39 TopologyFragmented 616 Waits 1706; plans 2a37ac4bfd2e2d6a");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-clustering")),
            "20639 decisions, 5423 binds, 0 others; ExceedsClusterMax 358 ExceedsMaxQuota 417 GangPartial 306 InsufficientGPU 392 "
            "InsufficientResource 180 NeverFits 775 NoMatchingDevice 33 NodesNotReady 27 OverQuota 583 Placed 3428 PortTaken 81 QuotaExhausted 583 "
            "SelectorMismatch 34 TaintNotTolerated 48 TopologyFragmented 608 Waits 1709; plans f8c203667a7bbc83");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "dotprod")),
            "20642 decisions, 5326 binds, 0 others; ExceedsClusterMax 365 ExceedsMaxQuota 416 GangPartial 301 InsufficientGPU 404 "
            "InsufficientResource 169 NeverFits 781 NoMatchingDevice 40 NodesNotReady 23 OverQuota 600 Placed 3409 PortTaken 82 QuotaExhausted 600 "
            "SelectorMismatch 33 TaintNotTolerated 44 TopologyFragmented 623 Waits 1719; plans 5820237cfb7aa1f0");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "random")),
            "20624 decisions, 5354 binds, 0 others; ExceedsClusterMax 372 ExceedsMaxQuota 432 GangPartial 281 InsufficientGPU 392 "
            "InsufficientResource 180 NeverFits 804 NoMatchingDevice 35 NodesNotReady 19 OverQuota 591 Placed 3419 PortTaken 89 QuotaExhausted 591 "
            "SelectorMismatch 37 TaintNotTolerated 39 TopologyFragmented 629 Waits 1701; plans 110297648a9ea0d4");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")), "20100 decisions, 23854 binds, 11183 others; Placed 13913; plans 39b963e54ace1f98");
  EXPECT_EQ(decided(*builtin_profile("tiresias")), "20100 decisions, 917 binds, 33 others; Placed 540; plans 161fa9ed0d7e7d04");
}

}  // namespace
}  // namespace ashlar
