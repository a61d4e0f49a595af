// Reservations are kept: where jobs run exactly as long as known, the first waiting job never starts later than it
// would if from the moment it became the first nobody else were started. The bound is worked out naively: running jobs
// are ended one after the other on a copy until the job fits.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "engine/engine.h"
#include "state/state_fields.h"

namespace ashlar {
namespace {

struct Ask {
  int gap = 0, seconds = 1, members = 1, demand = 0, within = 0, queue = 0;
};
std::ostream& operator<<(std::ostream& out, const Ask& a) {
  return out << "{+" << a.gap << "s " << a.seconds << "s " << a.members << "x" << a.demand << " within " << a.within
             << " queue " << a.queue << "}";
}

rc::Gen<std::vector<Ask>> some_asks() {
  const auto ask = rc::gen::build<Ask>(
      rc::gen::set(&Ask::gap, rc::gen::inRange(0, 4)), rc::gen::set(&Ask::seconds, rc::gen::inRange(1, 30)),
      rc::gen::set(&Ask::members, rc::gen::element(1, 1, 1, 2, 3, 5)),
      rc::gen::set(&Ask::demand, rc::gen::inRange(0, 6)), rc::gen::set(&Ask::within, rc::gen::inRange(0, 4)),
      rc::gen::set(&Ask::queue, rc::gen::inRange(0, 2)));
  return rc::gen::scale(1.5, rc::gen::container<std::vector<Ask>>(ask));
}

Demand demand_of(int i) {
  Demand d;
  d.amounts.push_back({resource::kCpu, i == 5 ? 20'000 : 1000});
  d.amounts.push_back({resource::kPods, 1});
  constexpr std::int32_t kDevices[] = {1, 2, 4, 1, 1, 0};
  d.devices.count = kDevices[i];
  if (i == 3) d.devices.milli_each = MilliGpu(400);
  if (i == 4) d.devices.milli_each = MilliGpu(700);
  return d;
}

/// Six nodes of four devices in three racks of two blocks; jobs end exactly when they are expected to.
class World {
 public:
  explicit World(Profile profile) : engine(std::move(profile)) {
    tell(LevelsDefined{2, 0});
    for (int i = 0; i < 6; ++i) tell(DemandDefined{DemandId(i), demand_of(i)});
    tell(ConstraintDefined{ConstraintId(0u), {}});
    tell(QueueDefined{QueueId(1u), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
    for (unsigned n = 0; n < 6; ++n) {
      NodeFacts f;
      f.devices.count = 4;
      f.allocatable = {32'000, 0, 0, 6};
      f.domains = {DomainId(n / 4), DomainId(n / 2)};
      tell(NodeSeen{NodeId(n), f});
    }
  }

  void play(const std::vector<Ask>& asks) {
    Millis arrival(0);
    std::size_t next = 0;
    while (next < asks.size() || !ends_.empty()) {
      const Millis at_arrival = next < asks.size() ? arrival + Millis(asks[next].gap * 1000) : Millis::max();
      now_ = ends_.empty() ? at_arrival : std::min(at_arrival, ends_.begin()->first);
      while (!ends_.empty() && ends_.begin()->first == now_) {
        tell(Ended{ends_.begin()->second});
        ends_.erase(ends_.begin());
      }
      while (next < asks.size() && arrival + Millis(asks[next].gap * 1000) == now_) {
        arrival = now_;
        submit(asks[next++]);
      }
      decide();
    }
  }

  State state;
  Engine engine;
  std::map<JobId, Millis> started;
  std::map<JobId, Millis> latest;  ///< by when the job must have started

 private:
  void tell(EventBody body) { apply(state, {now_, std::move(body)}); }
  void submit(const Ask& ask) {
    Workload w;
    w.job = JobId(jobs_++);
    w.queue = QueueId(static_cast<unsigned>(ask.queue));
    w.members_min = static_cast<std::uint32_t>(ask.members);
    if (ask.within > 0 && ask.within < 3) w.within = LevelId(static_cast<unsigned>(ask.within - 1));
    w.submitted = now_;
    w.estimate = {Millis(ask.seconds * 1000), Millis(ask.seconds * 1000)};
    for (int m = 0; m < ask.members; ++m)
      w.members.push_back({MemberId(members_++), DemandId(ask.demand), ConstraintId(0u)});
    tell(Submitted{w});
    waiting_.insert(w.job);
  }
  void decide() {
    const Plan plan = engine.decide(state, now_);
    for (const Action& action : plan.actions) {
      const Bind& bind = std::get<Bind>(action);
      tell(Bound{bind.member, bind.node, bind.devices});
      started.emplace(bind.job, now_);
      if (waiting_.erase(bind.job) > 0) ends_.emplace(state.job(bind.job).end_at, bind.job);
    }
    for (const JobId job : waiting_) {  // in the order of arrival
      if (latest.contains(job)) break;
      const Millis bound = natural_start(job);
      if (bound == Millis::max()) continue;  // never fits: blocks nobody
      latest.emplace(job, bound);
      break;
    }
  }
  /// When the job fits if only those who run now go, at their ends.
  Millis natural_start(JobId job) const {
    State copy = state;
    StateFields::forget_caches(copy);
    Engine fresh(engine.profile());
    const auto fits = [&] {
      Trial trial(copy);
      return fresh.try_place(trial, job);
    };
    if (fits()) return now_;
    for (auto it = ends_.begin(); it != ends_.end(); ++it) {
      apply(copy, {it->first, Ended{it->second}});
      if (std::next(it) != ends_.end() && std::next(it)->first == it->first) continue;
      if (fits()) return it->first;
    }
    return Millis::max();
  }

  Millis now_;
  std::multimap<Millis, JobId> ends_;
  std::set<JobId> waiting_;
  unsigned jobs_ = 0, members_ = 0;
};

RC_GTEST_PROP(Reservations, AreKept, ()) {
  World world(*builtin_profile(*rc::gen::element<std::string>("ashlar", "spread")));
  world.play(*some_asks());
  for (const auto& [job, latest] : world.latest) {
    RC_LOG() << "job " << job.row() << " was promised " << latest.value << " ms at the latest";
    RC_ASSERT(world.started.contains(job));
    RC_ASSERT(world.started.at(job) <= latest);
  }
}

/// Without reservations the same check finds delays: it can fail.
TEST(Reservations, TheCheckFindsDelaysWhereNobodyPromises) {
  Profile profile = *builtin_profile("ashlar");
  profile.blocking = Blocking::kSkip;
  World world(std::move(profile));
  // 24 devices: 20 taken for 10 s; a gang of all devices waits; jobs that last longer keep coming.
  world.play({{0, 10, 5, 2, 0, 0}, {1, 5, 6, 2, 0, 0}, {1, 25, 1, 2, 0, 0}});
  EXPECT_GT(world.started.at(JobId(1u)), world.latest.at(JobId(1u)));
}

TEST(Reservations, ALongJobStillStartsBesideWhatIsPromised) {
  World world(*builtin_profile("ashlar"));
  // Rack 0 runs until 10 s and is promised to the gang of both its nodes; a long job finds its place elsewhere at once.
  world.play({{0, 10, 5, 2, 0, 0}, {1, 5, 2, 2, 2, 0}, {1, 25, 1, 2, 0, 0}});
  EXPECT_EQ(world.started.at(JobId(2u)), Millis(2000));
  EXPECT_LE(world.started.at(JobId(1u)), world.latest.at(JobId(1u)));
}

}  // namespace
}  // namespace ashlar
