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
            "20606 decisions, 5131 binds, 0 others; ExceedsClusterMax 488 ExceedsMaxQuota 483 GangPartial 288 "
            "InsufficientGPU 514 InsufficientResource 186 NeverFits 971 NoMatchingDevice 7 NodesNotReady 1 OverQuota "
            "594 Placed 3271 PortTaken 115 QuotaExhausted 594 ReservationHeld 172 SelectorMismatch 9 TaintNotTolerated "
            "6 TopologyFragmented 573 Waits 1871; plans 0161ff525cf07321");
  EXPECT_EQ(
      decided(profile_with(Blocking::kEasy), {.has_quota = false, .has_foreign = false, .has_node_changes = false}),
      "20643 decisions, 5665 binds, 0 others; ExceedsClusterMax 544 GangPartial 382 InsufficientGPU 659 "
      "InsufficientResource 192 NeverFits 544 NoMatchingDevice 3 NodesNotReady 1 Placed 3568 PortTaken 112 "
      "ReservationHeld 65 SelectorMismatch 3 TaintNotTolerated 1 TopologyFragmented 685 Waits 2103; plans "
      "87d47a3a6a4a0543");
}

TEST(KnownLives, WhereWhoeverFitsMayPass) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip)),
            "20615 decisions, 5157 binds, 0 others; ExceedsClusterMax 366 ExceedsMaxQuota 487 GangPartial 281 "
            "InsufficientGPU 508 InsufficientResource 176 NeverFits 853 NoMatchingDevice 4 NodesNotReady 1 OverQuota "
            "599 Placed 3299 PortTaken 115 QuotaExhausted 599 SelectorMismatch 9 TaintNotTolerated 5 "
            "TopologyFragmented 564 Waits 1663; plans 6c216b7209402cdf");
}

TEST(KnownLives, WhereTheHeadBlocks) {
  EXPECT_EQ(decided(profile_with(Blocking::kStrict)),
            "20562 decisions, 4768 binds, 0 others; BehindHead 946 ExceedsClusterMax 450 ExceedsMaxQuota 436 "
            "GangPartial 264 InsufficientGPU 375 InsufficientResource 167 NeverFits 886 NoMatchingDevice 2 "
            "NodesNotReady 1 OverQuota 462 Placed 3019 PortTaken 88 QuotaExhausted 462 SelectorMismatch 7 "
            "TaintNotTolerated 6 TopologyFragmented 469 Waits 2325; plans f4b208941c72d5ba");
}

TEST(KnownLives, OfPublishedProfiles) {
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "spread")),
            "20590 decisions, 5178 binds, 0 others; ExceedsClusterMax 365 ExceedsMaxQuota 480 GangPartial 289 "
            "InsufficientGPU 464 InsufficientResource 185 NeverFits 845 NoMatchingDevice 4 NodesNotReady 1 OverQuota "
            "586 Placed 3353 PortTaken 115 QuotaExhausted 586 SelectorMismatch 10 TaintNotTolerated 5 "
            "TopologyFragmented 569 Waits 1642; plans b635800f53b8fe07");
  EXPECT_EQ(decided(profile_with(Blocking::kEasy, "sjf")),
            "20613 decisions, 5153 binds, 0 others; ExceedsClusterMax 524 ExceedsMaxQuota 485 GangPartial 316 "
            "InsufficientGPU 508 InsufficientResource 178 NeverFits 1009 NoMatchingDevice 3 NodesNotReady 3 OverQuota "
            "640 Placed 3312 PortTaken 109 QuotaExhausted 640 ReservationHeld 201 SelectorMismatch 10 "
            "TaintNotTolerated 6 TopologyFragmented 586 Waits 1920; plans de2bce3380bd9ab5");
  EXPECT_EQ(decided(profile_with(Blocking::kEasyByCount, "fifo")),
            "20575 decisions, 5039 binds, 0 others; ExceedsClusterMax 502 ExceedsMaxQuota 481 GangPartial 294 "
            "InsufficientGPU 428 InsufficientResource 169 NeverFits 983 NoMatchingDevice 6 NodesNotReady 3 OverQuota "
            "618 Placed 3258 PortTaken 110 QuotaExhausted 618 ReservationHeld 1115 SelectorMismatch 7 "
            "TaintNotTolerated 5 TopologyFragmented 548 Waits 2685; plans 0bf0cc961df84360");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-packing")),
            "20617 decisions, 5151 binds, 0 others; ExceedsClusterMax 373 ExceedsMaxQuota 481 GangPartial 303 "
            "InsufficientGPU 505 InsufficientResource 172 NeverFits 854 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "604 Placed 3334 PortTaken 112 QuotaExhausted 604 SelectorMismatch 12 TaintNotTolerated 5 "
            "TopologyFragmented 552 Waits 1669; plans c182f80d7e8021da");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "gpu-clustering")),
            "20617 decisions, 5258 binds, 0 others; ExceedsClusterMax 363 ExceedsMaxQuota 487 GangPartial 300 "
            "InsufficientGPU 482 InsufficientResource 195 NeverFits 850 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "599 Placed 3351 PortTaken 108 QuotaExhausted 599 SelectorMismatch 12 TaintNotTolerated 5 "
            "TopologyFragmented 544 Waits 1654; plans 5b1aeb86582c6ad8");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "dotprod")),
            "20619 decisions, 5155 binds, 0 others; ExceedsClusterMax 371 ExceedsMaxQuota 492 GangPartial 310 "
            "InsufficientGPU 501 InsufficientResource 167 NeverFits 863 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "610 Placed 3343 PortTaken 108 QuotaExhausted 610 SelectorMismatch 12 TaintNotTolerated 5 "
            "TopologyFragmented 564 Waits 1675; plans 28caf31bc4fcbc95");
  EXPECT_EQ(decided(profile_with(Blocking::kSkip, "random")),
            "20606 decisions, 5170 binds, 0 others; ExceedsClusterMax 377 ExceedsMaxQuota 485 GangPartial 288 "
            "InsufficientGPU 486 InsufficientResource 176 NeverFits 862 NoMatchingDevice 5 NodesNotReady 3 OverQuota "
            "594 Placed 3376 PortTaken 117 QuotaExhausted 594 SelectorMismatch 10 TaintNotTolerated 5 "
            "TopologyFragmented 565 Waits 1655; plans 9ec69d79ae1b79e9");
}

TEST(KnownLives, WhereJobsAreStoppedForOthers) {
  EXPECT_EQ(decided(*builtin_profile("srtf")),
            "20100 decisions, 22965 binds, 10775 others; Placed 13404; plans e1c9202f3846a22a");
  EXPECT_EQ(decided(*builtin_profile("tiresias")),
            "20100 decisions, 906 binds, 36 others; Placed 540; plans cdfc93d40d7c4dcf");
}

}  // namespace
}  // namespace ashlar
