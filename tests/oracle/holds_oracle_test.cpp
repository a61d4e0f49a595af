// Holds against brute force: small random clusters whose jobs run exactly as long as expected, with holds for nobody, a
// queue or a job, from now on or later. Nobody else is started in held capacity within its time, by devices and by the
// sums of each node at each instant; and under `skip` nobody waits for whom what it may use of a hold has room.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

#include "base/rng.h"
#include "engine/engine.h"
#include "state/ledger.h"

namespace ashlar::oracle {
namespace {

constexpr std::uint64_t kHoldWorlds = 4000;
constexpr int kHoldDevices = 4, kHoldCores = 8, kHoldJobs = 14, kHoldsMax = 4, kHoldSeconds = 60;
constexpr std::int64_t kHoldForever = INT64_MAX / 4;

struct TimedJob {
  int devices = 0, cores = 0, members = 1, queue = 0;
  std::int64_t arrives = 0, lasts = kHoldForever, started = -1;
  bool is_over = false;
  std::vector<int> nodes;
  std::vector<std::uint64_t> masks;  ///< by member
  std::int64_t end() const { return lasts == kHoldForever ? kHoldForever : started + lasts; }
  bool runs_at(std::int64_t t) const { return started >= 0 && !is_over && started <= t && t < end(); }
};

struct TimedHold {
  int node = 0, devices = 0, cores = 0, queue = -1, job = -1;  ///< for whom; neither: nobody
  std::uint64_t named = 0, mask = 0;                           ///< which devices it got
  std::int64_t placed = 0, from = 0, until = kHoldForever;
  bool is_there = false;
  bool is_active(std::int64_t t) const { return from <= t && t < until; }
};

/// Queue 2 is below 1; 0 is the root of all, 3 another.
bool is_owner_of_hold(const TimedHold& hold, const TimedJob& job, int row) {
  return hold.job >= 0 ? hold.job == row
                       : hold.queue >= 0 && (job.queue == hold.queue || (hold.queue == 1 && job.queue == 2));
}
/// Jobs for whom one hold is are for no other: those of queues 1 and 2, of 3, and single ones of the root.
int group_of_hold(const TimedHold& hold) { return hold.job >= 0 ? 100 + hold.job : hold.queue >= 0 ? hold.queue : 99; }

struct HoldsTally {
  long binds = 0, in_own = 0, before_begin = 0, judged = 0, had_room = 0;
};

class HoldsWorld {
 public:
  HoldsWorld(std::uint64_t seed, HoldsTally& tally) : rng_(seed), tally_(tally), engine_(profile(seed)) { draw(); }

  std::string play() {
    tell(QueueDefined{QueueId(1u), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
    tell(QueueDefined{QueueId(2u), QueueId(1u), {kUnlimited, kUnlimited, kUnlimited}});
    tell(QueueDefined{QueueId(3u), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
    tell(ConstraintDefined{ConstraintId(0u), {}});
    NodeFacts facts;
    facts.allocatable = {kHoldCores * 1000, 0, 0, 100};
    facts.devices.count = kHoldDevices;
    for (int n = 0; n < nodes_; ++n) tell(NodeSeen{NodeId(n), facts});
    for (now_ = 0; now_ <= kHoldSeconds && fault_.empty(); ++now_) step();
    return fault_;
  }

 private:
  Profile profile(std::uint64_t seed) {
    Profile p = *builtin_profile(seed % 5 == 4 ? "spread" : "ashlar");
    is_skip_ = seed % 3 != 2;
    p.blocking = is_skip_ ? Blocking::kSkip : Blocking::kEasy;
    return p;
  }
  int below(int bound) { return static_cast<int>(rng_.below(static_cast<std::uint64_t>(bound))); }
  Millis at(std::int64_t seconds) const {
    return seconds >= kHoldForever ? Millis::max() : Millis(1000 * seconds + 1000);
  }
  void tell(EventBody body) { apply(state_, {at(now_), std::move(body)}); }

  void draw() {
    nodes_ = 1 + below(3);
    for (int j = 0; j < kHoldJobs; ++j) {
      TimedJob job{.devices = below(4) == 0 ? 0 : 1 + below(kHoldDevices),
                   .cores = below(5),
                   .queue = below(4),
                   .nodes = {},
                   .masks = {}};
      if (job.devices + job.cores == 0) job.cores = 1;
      job.members = below(4) == 0 ? 2 + below(2) : 1;
      job.arrives = below(40);
      if (below(5) != 0) job.lasts = 1 + below(25);
      jobs_.push_back(job);
    }
    for (int h = below(kHoldsMax + 1); h > 0; --h) {
      TimedHold hold{.node = below(nodes_), .devices = below(kHoldDevices + 1), .cores = below(kHoldCores + 1)};
      if (hold.devices + hold.cores == 0) hold.devices = 1;
      const int owner = below(4);
      if (owner == 1) hold.queue = 1;
      if (owner == 2) hold.queue = 3;
      if (owner == 3) {
        hold.job = below(kHoldJobs);
        jobs_[static_cast<std::size_t>(hold.job)].queue = 0;
      }
      hold.placed = hold.from = below(30);
      if (below(2) == 0) hold.from = hold.placed + 1 + below(20);
      if (below(3) != 0) hold.until = hold.from + 1 + below(25);
      if (below(2) == 0) hold.named = (std::uint64_t{1} << hold.devices) - 1;  // others begin there too
      holds_.push_back(hold);
    }
  }

  DemandId demand(int devices, int cores) {
    Demand d;
    if (cores > 0) d.amounts.push_back({resource::kCpu, cores * 1000});
    d.devices.count = devices;
    const auto [it, is_new] = demands_.try_emplace({devices, cores}, demands_.size());
    if (is_new) tell(DemandDefined{DemandId(it->second), d});
    return DemandId(it->second);
  }
  static JobId hold_row(std::size_t hold) { return JobId(kHoldJobs + hold); }
  static MemberId member_row(std::size_t job, int rank) { return MemberId(job * 4 + static_cast<std::size_t>(rank)); }

  void step() {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      TimedJob& job = jobs_[j];
      if (job.started >= 0 && !job.is_over && job.end() <= now_) {
        tell(Ended{JobId(j)});
        job.is_over = true;
        for (TimedHold& hold : holds_)
          if (hold.job == static_cast<int>(j)) hold.until = std::min(hold.until, now_);
      }
    }
    for (std::size_t h = 0; h < holds_.size(); ++h)
      if (holds_[h].placed == now_) place(h);
    for (std::size_t j = 0; j < jobs_.size(); ++j)
      if (jobs_[j].arrives == now_) submit(j);
    for (int round = 0; round < 20; ++round) {
      const Plan plan = engine_.decide(state_, at(now_));
      carry_out(plan);
      if (plan.look_again_at > at(now_) || !fault_.empty()) break;
    }
    if (is_skip_ && fault_.empty()) find_sleepers();
  }

  void place(std::size_t h) {
    TimedHold& plain = holds_[h];
    Hold hold{.job = hold_row(h), .until = at(plain.until), .parts = {}};
    if (plain.from > now_) hold.from = at(plain.from);
    if (plain.queue >= 0) hold.owner.queue = QueueId(plain.queue);
    if (plain.job >= 0) hold.owner.job = JobId(plain.job);
    const MemberId member(kHoldJobs * 4 + h);
    hold.parts.push_back(
        {{member, demand(plain.devices, plain.cores), ConstraintId(0u)}, NodeId(plain.node), {plain.named, 0}});
    // A named device may be in use, or another's: left to chance only where it is free.
    for (int d = 0; d < kHoldDevices; ++d)
      if ((plain.named >> d & 1) != 0 &&
          state_.cluster().device_free_milli(NodeId(plain.node))[static_cast<std::size_t>(d)] != kWholeDevice)
        hold.parts[0].devices = {};
    tell(HoldPlaced{hold});
    plain.is_there = true;
    plain.mask = state_.member(member).devices.low;
    if (plain.job >= 0 && jobs_[static_cast<std::size_t>(plain.job)].is_over) plain.until = now_;  // never used
  }

  void submit(std::size_t j) {
    const TimedJob& job = jobs_[j];
    Workload w;
    w.job = JobId(j);
    w.queue = QueueId(job.queue);
    w.submitted = at(now_);
    w.members_min = static_cast<std::uint32_t>(job.members);
    w.estimate = {at(job.lasts) == Millis::max() ? Millis::max() : Millis(1000 * job.lasts), Millis::max()};
    w.estimate.p90 = w.estimate.p50;
    for (int r = 0; r < job.members; ++r)
      w.members.push_back({member_row(j, r), demand(job.devices, job.cores), ConstraintId(0u)});
    tell(Submitted{w});
  }

  void carry_out(const Plan& plan) {
    std::set<std::size_t> started;
    for (const Action& action : plan.actions) {
      const Bind& bind = std::get<Bind>(action);
      TimedJob& job = jobs_[bind.job.row()];
      job.started = now_;
      job.nodes.push_back(static_cast<int>(bind.node.row()));
      job.masks.push_back(bind.devices.low);
      started.insert(bind.job.row());
      ++tally_.binds;
    }
    for (const std::size_t j : started) judge(j);
  }

  bool is_owner_of(const TimedHold& hold, std::size_t j) const {
    return is_owner_of_hold(hold, jobs_[j], static_cast<int>(j));
  }
  void fail(const std::string& text) {
    if (fault_.empty()) fault_ = "at " + std::to_string(now_) + "s: " + text;
  }

  /// What is taken of the node at that time: by all jobs that run then, or with what is held for others of it. Of jobs
  /// that are started by now.
  std::int64_t taken(int node, std::int64_t t, bool by_devices, bool with_holds, std::int64_t without) const {
    std::map<int, std::int64_t> held, used;
    std::int64_t sum = 0;
    for (const TimedHold& hold : holds_)
      if (with_holds && hold.is_there && hold.node == node && hold.is_active(t))
        held[group_of_hold(hold)] += by_devices ? hold.devices : hold.cores;
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (!jobs_[j].runs_at(t) || static_cast<std::int64_t>(j) == without) continue;
      const std::int64_t here = std::count(jobs_[j].nodes.begin(), jobs_[j].nodes.end(), node) *
                                (by_devices ? jobs_[j].devices : jobs_[j].cores);
      int group = -1;
      for (const TimedHold& hold : holds_)
        if (with_holds && hold.is_there && hold.node == node && hold.is_active(t) && is_owner_of(hold, j))
          group = group_of_hold(hold);
      if (group >= 0)
        used[group] += here;
      else
        sum += here;
    }
    for (const auto& [group, amount] : held) sum += std::max(amount, used[group]);
    return sum;
  }

  /// A job was started: at no time until its end does it take more than there is beside what is held for others.
  void judge(std::size_t j) {
    const TimedJob& job = jobs_[j];
    const std::string who = "job " + std::to_string(j);
    std::set<std::int64_t> times{now_};
    for (const TimedHold& hold : holds_)
      if (hold.is_there && hold.from > now_ && hold.from < job.end()) times.insert(hold.from);
    for (const int node : std::set<int>(job.nodes.begin(), job.nodes.end()))
      for (const std::int64_t t : times)
        for (const bool by_devices : {false, true}) {
          if ((by_devices ? job.devices : job.cores) == 0) continue;
          const std::int64_t most = by_devices ? kHoldDevices : kHoldCores;
          const std::int64_t with = taken(node, t, by_devices, true, -1);
          if (with > most && with > taken(node, t, by_devices, true, static_cast<std::int64_t>(j)))
            fail(who + " takes what is held at " + std::to_string(t) + "s of node " + std::to_string(node));
          if (taken(node, t, by_devices, false, -1) > most && t == now_) fail(who + " takes more than there is");
        }
    for (std::size_t m = 0; m < job.nodes.size(); ++m)
      for (const TimedHold& hold : holds_) {
        if (!hold.is_there || hold.until <= now_ || hold.node != job.nodes[m] || (hold.mask & job.masks[m]) == 0)
          continue;
        if (is_owner_of(hold, j))
          ++tally_.in_own;
        else if (job.end() <= hold.from)
          ++tally_.before_begin;
        else
          fail(who + " runs on a device that is held");
      }
  }

  /// Members of the job that the hold has room for, on its devices that nobody uses and nothing else is held of.
  int room_in(const TimedHold& hold, std::size_t j) const {
    const TimedJob& job = jobs_[j];
    const auto may_use = [&](const TimedHold& h) {
      return is_owner_of(h, j) || (h.from > now_ && now_ + job.lasts <= h.from);
    };
    if (!hold.is_there || hold.until <= now_ || !may_use(hold)) return 0;
    std::uint64_t free = hold.mask;
    std::int64_t used_by_its = 0, cores = 0;
    for (std::size_t o = 0; o < jobs_.size(); ++o) {
      if (!jobs_[o].runs_at(now_)) continue;
      for (std::size_t m = 0; m < jobs_[o].nodes.size(); ++m) {
        if (jobs_[o].nodes[m] != hold.node) continue;
        free &= ~jobs_[o].masks[m];
        cores += jobs_[o].cores;
        used_by_its += is_owner_of(hold, o) || (hold.from > now_ && jobs_[o].end() <= hold.from) ? jobs_[o].cores : 0;
      }
    }
    for (const TimedHold& other : holds_)
      if (&other != &hold && other.is_there && other.until > now_ && other.node == hold.node && !may_use(other)) {
        free &= ~other.mask;
        // What is held of it beside by number may be any device.
        if (other.devices > __builtin_popcountll(other.mask)) return 0;
        cores += other.cores;
      }
    const std::int64_t of_hold = std::min<std::int64_t>(hold.cores - used_by_its, kHoldCores - cores);
    int room = job.devices == 0 ? kHoldJobs : __builtin_popcountll(free) / job.devices;
    if (job.cores > 0)
      room = static_cast<int>(std::min<std::int64_t>(room, std::max<std::int64_t>(of_hold, 0) / job.cores));
    return room;
  }

  void find_sleepers() {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (jobs_[j].arrives > now_ || jobs_[j].started >= 0) continue;
      ++tally_.judged;
      int room = 0;  // one hold of each node
      for (int n = 0; n < nodes_; ++n) {
        int best = 0;
        for (const TimedHold& hold : holds_)
          if (hold.node == n) best = std::max(best, room_in(hold, j));
        room += best;
      }
      if (room >= jobs_[j].members) fail("job " + std::to_string(j) + " waits though what is held for it has room");
    }
  }

  Rng rng_;
  HoldsTally& tally_;
  bool is_skip_ = true;
  Engine engine_;
  State state_;
  int nodes_ = 1;
  std::int64_t now_ = 0;
  std::vector<TimedJob> jobs_;
  std::vector<TimedHold> holds_;
  std::map<std::pair<int, int>, std::size_t> demands_;
  std::string fault_;
};

TEST(HoldsOracle, NobodyElseRunsInAHoldAndItsOwnersNeverWaitForIt) {
  HoldsTally tally;
  int faults = 0;
  std::string text;
  for (std::uint64_t seed = 0; seed < kHoldWorlds; ++seed)
    if (const std::string fault = HoldsWorld(seed, tally).play(); !fault.empty() && faults++ < 5)
      text += "\nseed " + std::to_string(seed) + " " + fault;
  std::printf(
      "holds oracle: %llu worlds, %ld members started, %ld of them on held devices as the owner's, %ld before the hold "
      "begins, %ld looks at waiting jobs, %d faults\n",
      static_cast<unsigned long long>(kHoldWorlds), tally.binds, tally.in_own, tally.before_begin, tally.judged,
      faults);
  EXPECT_EQ(faults, 0) << text;
  EXPECT_GT(tally.in_own, 1000);
  EXPECT_GT(tally.before_begin, 300);
}

}  // namespace
}  // namespace ashlar::oracle
