// Limits by device class against a search that tries every arrangement: no queue ever has more than a limit, and under
// `skip` nobody waits who could start.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/rng.h"
#include "engine/engine.h"
#include "look_at_all.h"
#include "policy/profile.h"

namespace ashlar::oracle::class_quota {
namespace {

constexpr QueueId kRoot{0u}, kOrg{1u};
constexpr ResourceId kNic{resource::kFirstExtended};
constexpr int kClasses = 3, kQueues = 4;

/// Gangs of like members anywhere, which the search below can place, or any gangs.
enum class Gangs { kLike, kAny };

struct PlainNode {
  int device_class = 0;
  std::uint32_t rack = 0;
  std::int64_t gpus = 0, cores = 0, nics = 0;
};
/// Milli-GPU, milli-cores, NICs.
struct PlainNeeds {
  std::int64_t gpus = 0, cores = 0, nics = 0;
};
struct PlainGang {
  int queue = 1;
  int members = 1;
  PlainNeeds each;
  int only_class = -1;
  std::vector<int> at;  ///< nodes; empty while it waits
  bool has_ended = false;
};
struct PlainLimit {
  int queue = 0;
  QuotaKey of;
  std::int64_t limit = 0;
};

class SmallWorld {
 public:
  SmallWorld(std::uint64_t seed, Gangs gangs, Blocking blocking)
      : rng_(seed), gangs_drawn_(gangs), engine_(profile(blocking), {}) {}

  void play() {
    open();
    for (int step = 0; step < 14 && !testing::Test::HasFatalFailure(); ++step) {
      for (int i = below(3); i > 0; --i) submit();
      for (int i = below(3); i > 0; --i) end_one();
      if (below(5) == 0) change_limits();
      if (below(6) == 0) change_class();
      now_ = now_ + Millis(1000);
      decide();
      check();
    }
  }
  int started = 0, refused = 0;
  int slept = 0;  ///< decisions in which an engine that looks at everybody starts others

 private:
  static Profile profile(Blocking blocking) {
    Profile profile = *builtin_profile("ashlar");
    profile.blocking = blocking;
    return profile;
  }
  int below(int bound) { return static_cast<int>(rng_.below(static_cast<std::uint64_t>(bound))); }
  void tell(EventBody body) { apply(state_, Event{now_, std::move(body)}); }

  void open() {
    tell(LevelsDefined{1, 0});
    tell(ConstraintDefined{ConstraintId(0u), {}});
    for (int c = 0; c < kClasses; ++c)
      tell(ConstraintDefined{ConstraintId(1 + c), Constraint{.models = {DeviceClassId(c)}}});
    tell(QueueDefined{kRoot, QueueId::none(), {kUnlimited, kUnlimited, kUnlimited}});
    for (int n = 2 + below(3); n > 0; --n)
      nodes_.push_back({.device_class = below(kClasses),
                        .rack = nodes_.size() % 2 == 0 ? 0u : 1u,
                        .gpus = 1000 * (1 + below(4)),
                        .cores = 1000 * (2 + below(8)),
                        .nics = below(4)});
    for (std::size_t n = 0; n < nodes_.size(); ++n) see(n);
    change_limits();
  }
  void see(std::size_t n) {
    NodeFacts facts;
    facts.allocatable = {nodes_[n].cores, std::int64_t{1} << 40, std::int64_t{1} << 40, 100, nodes_[n].nics};
    facts.devices = {static_cast<std::int32_t>(nodes_[n].gpus / 1000), MiB(0), DeviceClassId(nodes_[n].device_class)};
    facts.domains = {DomainId(nodes_[n].rack)};
    tell(NodeSeen{NodeId(n), facts});
  }
  /// Raised or lowered: what runs stays, so a queue may have more than a lowered limit, but gets no more.
  void change_limits() {
    limits_.clear();
    for (int queue = 1; queue < kQueues; ++queue) {
      std::vector<QuotaLimit> limits;
      const auto limit = [&](ResourceId resource, DeviceClassId device_class, std::int64_t most) {
        if (below(3) != 0) return;
        limits.push_back({{resource, device_class}, most});
        limits_.push_back({queue, limits.back().of, most});
      };
      for (int c = 0; c < kClasses; ++c) limit(ResourceId::none(), DeviceClassId(c), 1000 * below(6));
      limit(resource::kCpu, DeviceClassId(0u), 1000 * below(10));
      limit(kNic, DeviceClassId::none(), below(5));
      QuotaVector quota{kUnlimited, kUnlimited, kUnlimited};
      if (below(4) == 0) quota[0] = 1000 * below(10);
      limits_.push_back({queue, {}, quota[0]});
      tell(QueueDefined{QueueId(queue), queue == 1 ? kRoot : kOrg, quota, limits});
    }
  }
  /// The node's devices are found to be of another class: what runs there now counts for that.
  void change_class() {
    const auto n = static_cast<std::size_t>(below(static_cast<int>(nodes_.size())));
    nodes_[n].device_class = below(kClasses);
    see(n);
  }
  void submit() {
    PlainGang gang{.queue = 1 + below(kQueues - 1), .members = 1 + below(3), .only_class = below(3) - 1};
    gang.each = {1000 * below(4), 1000 * (1 + below(3)), below(4) == 0 ? 1 : 0};
    Demand demand{.amounts = {{resource::kCpu, gang.each.cores}, {resource::kPods, 1}},
                  .devices = {static_cast<std::int32_t>(gang.each.gpus / 1000), MilliGpu(1000), MiB(0)}};
    if (gang.each.nics > 0) demand.amounts.push_back({kNic, gang.each.nics});
    const std::size_t row = gangs_.size();
    tell(DemandDefined{DemandId(row), demand});
    Workload w{.job = JobId(row), .queue = QueueId(gang.queue)};
    w.members_min = static_cast<std::uint32_t>(gang.members);
    w.submitted = now_;
    for (int m = 0; m < gang.members; ++m)
      w.members.push_back({MemberId(members_++), DemandId(row), ConstraintId(1 + gang.only_class)});
    if (gangs_drawn_ == Gangs::kAny) {
      w.estimate.p50 = w.estimate.p90 = Millis(1000 * (1 + below(6)));
      if (below(3) == 0) w.within = LevelId(0u);
      if (below(3) == 0) w.members_min = 1;
      for (MemberSpec& m : w.members)
        if (below(3) == 0) m.demand = DemandId(static_cast<std::uint32_t>(below(static_cast<int>(row) + 1)));
    }
    tell(Submitted{w});
    gangs_.push_back(gang);
  }
  void end_one() {
    if (gangs_.empty()) return;
    const auto g = static_cast<std::size_t>(below(static_cast<int>(gangs_.size())));
    if (gangs_[g].has_ended) return;
    gangs_[g].has_ended = true;
    tell(Ended{JobId(g)});
  }
  void decide() {
    for (int rounds = 0; rounds < 50; ++rounds) {
      const auto expected = started_by_looking_at_all(state_, engine_, now_);
      const Plan plan = engine_.decide(state_, now_);
      if (!depends_on_the_look(state_, engine_, now_)) slept += started_by(plan) == expected ? 0 : 1;
      for (const Action& action : plan.actions) {
        const Bind& bind = std::get<Bind>(action);
        gangs_[bind.job.row()].at.push_back(static_cast<int>(bind.node.value));
        tell(Bound{bind.member, bind.node, bind.devices});
        if (gangs_drawn_ == Gangs::kLike) check_limits_of(gangs_[bind.job.row()]);
        ++started;
      }
      for (const VerdictChange& change : plan.verdicts)
        if (!change.verdict.reasons.empty() &&
            !quota_key(change.verdict.reasons[0].numbers[0]).device_class.is_none() &&
            change.verdict.kind == VerdictKind::kOverQuota)
          ++refused;
      if (plan.look_again_at > now_) return;
    }
    FAIL() << "decides for ever";
  }

  static bool is_below(int queue, int above) { return queue == above || above == 0 || (above == 1 && queue > 1); }
  static std::int64_t amount(const PlainNeeds& needs, ResourceId resource) {
    return resource.is_none() ? needs.gpus : resource == resource::kCpu ? needs.cores : needs.nics;
  }
  std::int64_t used(const PlainLimit& limit) const {
    std::int64_t sum = 0;
    for (const PlainGang& gang : gangs_) {
      if (gang.has_ended || !is_below(gang.queue, limit.queue)) continue;
      for (const int n : gang.at)
        if (limit.of.device_class.is_none() ||
            limit.of.device_class == DeviceClassId(nodes_[static_cast<std::size_t>(n)].device_class))
          sum += amount(gang.each, limit.of.resource);
    }
    return sum;
  }
  bool adds_to(const PlainGang& gang, const PlainLimit& limit) const {
    if (!is_below(gang.queue, limit.queue) || amount(gang.each, limit.of.resource) == 0) return false;
    for (const int n : gang.at)
      if (limit.of.device_class.is_none() ||
          limit.of.device_class == DeviceClassId(nodes_[static_cast<std::size_t>(n)].device_class))
        return true;
    return false;
  }
  bool is_over(const PlainGang& gang) const {
    for (const PlainLimit& limit : limits_)
      if (limit.limit != kUnlimited && adds_to(gang, limit) && used(limit) > limit.limit) return true;
    return false;
  }
  void check_limits_of(const PlainGang& gang) const { ASSERT_FALSE(is_over(gang)) << "a limit is exceeded"; }
  bool has_capacity() const {
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      PlainNeeds taken;
      for (const PlainGang& gang : gangs_)
        for (const int at : gang.at)
          if (!gang.has_ended && at == static_cast<int>(n)) {
            taken.gpus += gang.each.gpus;
            taken.cores += gang.each.cores;
            taken.nics += gang.each.nics;
          }
      if (taken.gpus > nodes_[n].gpus || taken.cores > nodes_[n].cores || taken.nics > nodes_[n].nics) return false;
    }
    return true;
  }
  bool fits(PlainGang& gang) {
    if (static_cast<int>(gang.at.size()) == gang.members) return has_capacity() && !is_over(gang);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (gang.only_class >= 0 && nodes_[n].device_class != gang.only_class) continue;
      gang.at.push_back(static_cast<int>(n));
      const bool does = fits(gang);
      gang.at.pop_back();
      if (does) return true;
    }
    return false;
  }
  void check() {
    ASSERT_TRUE(state_.is_consistent());
    if (gangs_drawn_ != Gangs::kLike) return;
    ASSERT_TRUE(has_capacity());
    for (std::size_t g = 0; g < gangs_.size(); ++g) {
      if (gangs_[g].has_ended) continue;
      if (gangs_[g].at.empty())
        ASSERT_FALSE(fits(gangs_[g])) << "gang " << g << " waits at " << now_.value << " ms, but could start";
      else
        ASSERT_EQ(static_cast<int>(gangs_[g].at.size()), gangs_[g].members);
    }
  }

  Rng rng_;
  Gangs gangs_drawn_;
  State state_;
  Engine engine_;
  Millis now_{1000};
  std::vector<PlainNode> nodes_;
  std::vector<PlainGang> gangs_;
  std::vector<PlainLimit> limits_;
  std::uint32_t members_ = 0;
};

TEST(ClassQuotaOracle, NoLimitIsExceededAndWhoeverCouldStartHasStarted) {
  int started = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SmallWorld world(seed, Gangs::kLike, Blocking::kSkip);
    world.play();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    started += world.started;
    refused += world.refused;
  }
  std::printf("class quota oracle: %d members started, %d jobs refused by a limit of one class\n", started, refused);
  EXPECT_GT(started, 10'000);
  EXPECT_GT(refused, 1'000);
}

/// Known fault of the search for a place, not of waking: in this many of the histories below a gang within one rack is
/// placed first where it exceeds a limit, and finds no other rack in which it would have to take some of the limited
/// class but less. It is seen when another job has taken the first rack.
constexpr int kSlept = 1;

/// A job that a limit refused sleeps until it may have room: an engine that looks at everybody starts nobody else.
TEST(ClassQuotaOracle, WhoLooksAtEverybodyStartsTheSame) {
  int started = 0, refused = 0, slept = 0;
  std::string seeds;
  constexpr Blocking kBlocking[] = {Blocking::kSkip, Blocking::kStrict, Blocking::kEasy};
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SmallWorld world(seed, Gangs::kAny, kBlocking[seed % 3]);
    world.play();
    started += world.started;
    refused += world.refused;
    if (world.slept == 0) continue;
    ++slept;
    seeds += " " + std::to_string(seed);
  }
  std::printf(
      "class quota oracle: %d members of any gangs started, %d jobs refused by a limit of one class; known: %d "
      "histories "
      "slept through a start, seeds%s\n",
      started, refused, slept, seeds.c_str());
  EXPECT_GT(started, 10'000);
  EXPECT_GT(refused, 1'000);
  EXPECT_EQ(slept, kSlept) << "seeds" << seeds;
}

}  // namespace
}  // namespace ashlar::oracle::class_quota
