// Everything at once against bare numbers: small clusters with holds, gangs of groups, levels, unlike devices, shares,
// surplus, limits by class, nominations and failing nodes. Wrong yes: a start breaks a law. Wrong no: a job waits that
// nothing holds and that surely has a place, or that one behind it has taken. Each world is played again with an engine
// that is read back from its snapshot after every decision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "environment.h"
#include "known.h"
#include "state/ledger.h"
#include "store/snapshot.h"
#include "together.h"

namespace ashlar::oracle::together {
namespace {

constexpr std::uint64_t kWorlds = 1000;
constexpr int kFaultsShown = 20;  ///< of each kind
constexpr int kMembersMax = 8;    ///< of a job or hold: the rows of each

struct Tally {
  long starts = 0, in_holds = 0, before_begin = 0, of_gangs = 0, restarts = 0;
  long judged = 0, has_no_place = 0, unknown = 0, behind = 0;
  int wrong_yes = 0, wrong_no = 0, passed_over = 0, other = 0;
  std::string text;  ///< the first few
  void note(int& kind, const char* name, std::uint64_t seed, const std::string& fault) {
    if (kind++ < kFaultsShown) text += "\n" + std::string(name) + ", seed " + std::to_string(seed) + " " + fault;
  }
};

class Player {
 public:
  Player(std::uint64_t seed, Tally& tally, bool restarts)
      : seed_(seed), rng_(seed), tally_(tally), restarts_(restarts), world_(draw(rng_)) {
    profile_ = *builtin_profile(rng_.below(4) == 0 ? "spread" : "ashlar");
    constexpr Blocking kBlocking[] = {Blocking::kSkip, Blocking::kSkip, Blocking::kStrict, Blocking::kEasy};
    profile_.blocking = kBlocking[rng_.below(4)];
    if (rng_.below(4) == 0) profile_.queue_order = find_queue_order("least-share");
    options_.has_verdicts = rng_.below(3) > 0;
    state_ = std::make_unique<State>();
    engine_ = std::make_unique<Engine>(profile_, options_);
  }

  /// Digests of all plans.
  std::vector<std::uint64_t> play() {
    define();
    for (world_.now = 0; world_.now <= kSeconds && !is_faulty_; ++world_.now) step();
    return std::move(plans_);
  }

 private:
  static Millis at(std::int64_t seconds) { return seconds >= kForever ? Millis::max() : Millis(1000 * seconds + 1000); }
  void tell(EventBody body) { apply(*state_, {at(world_.now), std::move(body)}); }
  static MemberId row(std::size_t job, std::size_t rank) { return MemberId(job * kMembersMax + rank); }
  MemberId row_of_part(std::size_t hold, std::size_t part) const { return row(world_.jobs.size() + hold, part); }
  static ConstraintId constraint(const Member& m) { return ConstraintId(m.model + 1); }
  static LevelId level(int level) { return level == kNone ? LevelId::none() : LevelId(level); }

  void define() {
    tell(LevelsDefined{0, kLevels});
    for (int q = 0; q < static_cast<int>(world_.queues.size()); ++q) {
      const Queue& queue = world_.queues[static_cast<std::size_t>(q)];
      const auto limit = [](std::int64_t amount, std::int64_t unit) {
        return amount == kForever ? kUnlimited : amount * unit;
      };
      QueueDefined defined{QueueId(q),
                           queue.parent == kNone ? QueueId::none() : QueueId(queue.parent),
                           {limit(queue.milli, 1), limit(queue.cores, 1000), kUnlimited}};
      for (int model = 0; model < 2; ++model)
        if (const std::int64_t most = queue.by_model[static_cast<std::size_t>(model)]; most != kForever)
          defined.limits.push_back({{ResourceId::none(), DeviceClassId(model)}, most});
      if (q > 0) tell(defined);
    }
    tell(ConstraintDefined{ConstraintId(0u), {}});
    for (int model = 0; model < 2; ++model)
      tell(ConstraintDefined{ConstraintId(1 + model), Constraint{.models = {DeviceClassId(model)}}});
    for (std::size_t n = 0; n < world_.needs.size(); ++n) {
      const Needs& needs = world_.needs[n];
      Demand demand;
      if (needs.cores > 0) demand.amounts.push_back({resource::kCpu, 1000 * needs.cores});
      demand.amounts.push_back({resource::kPods, 1});
      if (needs.devices > 0)
        demand.devices = {needs.devices, MilliGpu(static_cast<std::int32_t>(needs.milli)), MiB(needs.mib)};
      tell(DemandDefined{DemandId(n), demand});
    }
    for (std::size_t n = 0; n < world_.nodes.size(); ++n) {
      if (world_.nodes[n].is_mixed) tell(DeviceLayoutDefined{DeviceLayoutId(n), layout(world_.nodes[n])});
      tell(NodeSeen{NodeId(n), facts(n)});
    }
  }
  static DeviceLayout layout(const Node& node) {
    DeviceLayout layout;
    for (const Device& d : node.devices)
      layout.devices.push_back({.device_class = DeviceClassId(d.model),
                                .memory = MiB(d.mib),
                                .mode = d.is_sliced ? DeviceMode::kSliced : DeviceMode::kWhole});
    return layout;
  }
  NodeFacts facts(std::size_t n) const {
    const Node& node = world_.nodes[n];
    NodeFacts facts;
    facts.allocatable = {1000 * node.cores, 0, 0, node.slots};
    facts.is_ready = node.is_ready;
    facts.domains = {DomainId(node.domain[0]), DomainId(node.domain[1])};
    if (node.is_mixed)
      facts.devices = devices_with(DeviceLayoutId(n), layout(node));
    else if (!node.devices.empty())
      facts.devices = {static_cast<std::int32_t>(node.devices.size()), MiB(node.devices[0].mib),
                       DeviceClassId(node.devices[0].model)};
    return facts;
  }

  void step() {
    for (const Trouble& trouble : world_.troubles)
      if (trouble.at == world_.now) happen(trouble);
    answer_binds();
    read_placements();
    for (std::size_t j = 0; j < world_.jobs.size(); ++j) end_if_due(j);
    for (std::size_t h = 0; h < world_.holds.size(); ++h) {
      if (world_.holds[h].placed == world_.now) place_hold(h);
      if (world_.holds[h].ended == world_.now) tell(Ended{JobId(world_.jobs.size() + h)});
    }
    for (std::size_t j = 0; j < world_.jobs.size(); ++j)
      if (world_.jobs[j].arrives == world_.now) submit(j);
    for (int round = 0; round < 20 && !is_faulty_; ++round) {
      read_placements();
      const Plan plan = engine_->decide(*state_, at(world_.now));
      plans_.push_back(digest_of(plan));
      const std::vector<Start> starts = starts_of(plan);
      read_placements();
      judge(starts);
      if (restarts_) restart();
      if (plan.look_again_at > at(world_.now)) break;
      ASSERT_LT(round, 19) << "seed " << seed_;
    }
    if (!restarts_ && !is_faulty_) find_waiting_for_nothing();
  }

  void happen(const Trouble& trouble) {
    const NodeId node(trouble.node);
    Node& plain = world_.nodes[static_cast<std::size_t>(trouble.node)];
    switch (trouble.kind) {
      case Trouble::kGone:
        plain.is_there = false;
        for (Device& d : plain.devices) d.is_unhealthy = false;
        return tell(NodeGone{node});
      case Trouble::kBack:
        plain.is_there = true;
        break;  // health is reported of known nodes only, and forgotten with the node
      case Trouble::kCordoned:
      case Trouble::kReady:
        plain.is_ready = trouble.kind == Trouble::kReady;
        break;
      case Trouble::kSick:
      case Trouble::kWell:
        if (!plain.is_there) return;
        for (std::size_t d = 0; d < plain.devices.size(); ++d)
          plain.devices[d].is_unhealthy = (trouble.devices >> d & 1) != 0;
        return tell(DeviceHealthChanged{node, {trouble.devices, 0}});
    }
    if (plain.is_there) tell(NodeSeen{node, facts(static_cast<std::size_t>(trouble.node))});
  }

  void answer_binds() {
    for (const Bind& bind : std::exchange(unanswered_, {})) {
      if (!state_->is_live(bind.member) || state_->member(bind.member).node != bind.node) continue;
      const std::uint64_t answer = rng_.below(16);
      if (answer == 0)
        tell(BindRejected{bind.member});
      else if (answer < 8)
        tell(Bound{bind.member, bind.node, bind.devices});
    }
  }

  /// Where members are is what the state says; what follows from it for how long they run is counted here.
  void read_placements() {
    const auto read = [&](Member& m, MemberId id) {
      const bool is_live = state_->is_live(id) && state_->member(id).is_placed();
      m.node = is_live ? static_cast<int>(state_->member(id).node.row()) : kNone;
      m.devices = is_live ? state_->member(id).devices.low : 0;
    };
    for (std::size_t j = 0; j < world_.jobs.size(); ++j) {
      Job& job = world_.jobs[j];
      for (std::size_t r = 0; r < job.members.size(); ++r) read(job.members[r], row(j, r));
      if (job.is_running && job.placed() == 0) {
        job.is_running = false;
        job.served += world_.now - job.started;
        job.late_end = kForever;
      } else if (!job.is_foreign && !job.is_running && job.placed() > 0 && job.lacking() == 0) {
        job.is_running = true;
        job.started = world_.now;
        if (job.p50 != kForever)
          job.late_end = world_.now + std::max<std::int64_t>(job.p50 - job.served, 0) + job.p90 - job.p50;
      }
      if (job.has_come && !job.is_over && !job.is_foreign && job.is_running &&
          state_->job(JobId(j)).ends_by != at(job.late_end))
        fail(tally_.other, "another end", "at " + std::to_string(world_.now) + " s: job " + std::to_string(j));
    }
    for (std::size_t h = 0; h < world_.holds.size(); ++h)
      for (std::size_t p = 0; p < world_.holds[h].parts.size(); ++p)
        if (world_.holds[h].has_come) read(world_.holds[h].parts[p], row_of_part(h, p));
  }

  void end_if_due(std::size_t j) {
    Job& job = world_.jobs[j];
    const std::int64_t since = job.is_foreign ? job.arrives : job.started;
    const bool is_due = job.has_come && !job.is_over && job.runs != kForever && (job.is_running || job.is_foreign) &&
                        world_.now >= since + std::max<std::int64_t>(job.runs - job.served, 1);
    if (!is_due) return;
    tell(Ended{JobId(j)});
    job.is_over = true;
    job.is_running = false;
    job.late_end = kForever;
    for (Hold& hold : world_.holds)
      if (hold.job == static_cast<int>(j) && hold.has_come) hold.until = std::min(hold.until, world_.now);
  }

  void place_hold(std::size_t h) {
    Hold& plain = world_.holds[h];
    plain.has_come = true;
    ashlar::Hold hold{.job = JobId(world_.jobs.size() + h), .until = at(plain.until), .parts = {}};
    if (plain.from > world_.now) hold.from = at(plain.from);
    if (plain.queue != kNone) hold.owner.queue = QueueId(plain.queue);
    if (plain.job != kNone) hold.owner.job = JobId(plain.job);
    for (std::size_t p = 0; p < plain.parts.size(); ++p) {
      hold.parts.push_back(
          {{row_of_part(h, p), DemandId(plain.parts[p].needs), ConstraintId(0u)}, NodeId(plain.parts[p].node), {}});
    }
    tell(HoldPlaced{hold});
  }

  void submit(std::size_t j) {
    Job& job = world_.jobs[j];
    job.has_come = true;
    Workload w{.job = JobId(j), .queue = QueueId(job.queue), .priority = job.priority};
    w.members_min = static_cast<std::uint32_t>(job.min);
    w.within = level(job.within);
    w.prefer = level(job.prefer);
    w.submitted = at(world_.now);
    w.is_ours = !job.is_foreign;
    const auto span = [](std::int64_t s) { return s == kForever ? Millis::max() : Millis(1000 * s); };
    w.estimate = {span(job.p50), span(job.p90)};
    if (!job.groups.empty()) {
      GangSpec spec;
      for (const Group& g : job.groups)
        spec.groups.push_back({static_cast<std::uint32_t>(g.min), level(g.within), level(g.prefer)});
      w.spec = GangSpecId(j);
      tell(GangSpecDefined{w.spec, spec});
    }
    for (std::size_t r = 0; r < job.members.size(); ++r)
      w.members.push_back({row(j, r),
                           DemandId(job.members[r].needs),
                           constraint(job.members[r]),
                           {},
                           static_cast<std::uint32_t>(job.members[r].group)});
    const NodeId node(std::max(job.members[0].node, 0));
    tell(Submitted{w});
    if (!job.is_foreign) return;
    if (job.is_nominated)
      tell(Nominated{row(j, 0), node, job.priority});
    else
      tell(Bound{row(j, 0), node, {}});
  }

  std::vector<Start> starts_of(const Plan& plan) {
    std::vector<Start> starts;
    for (const Action& action : plan.actions) {
      const Bind& bind = std::get<Bind>(action);
      starts.push_back({static_cast<int>(bind.job.row()), static_cast<int>(bind.member.row() % kMembersMax)});
      unanswered_.push_back(bind);
    }
    return starts;
  }

  void fail(int& kind, const char* name, const std::string& fault) {
    is_faulty_ = true;
    tally_.note(kind, name, seed_, fault);
  }
  void judge(const std::vector<Start>& starts) {
    if (restarts_ || is_faulty_) return;
    const std::string when = "at " + std::to_string(world_.now) + " s: ";
    if (const std::string broken = broken_law(world_, starts); !broken.empty())
      return fail(tally_.wrong_yes, "wrong yes", when + broken);
    if (!state_->is_consistent()) return fail(tally_.other, "inconsistent", when);
    for (const Start& start : starts) {
      const Job& job = world_.jobs[static_cast<std::size_t>(start.job)];
      ++tally_.starts;
      tally_.of_gangs += job.groups.empty() ? 0 : 1;
      for (const Hold& hold : world_.holds) {
        if (!hold.has_come || hold.is_over(world_.now) || !world_.may_use(hold, start.job)) continue;
        for (const Member& part : hold.parts)
          if (part.node == job.members[static_cast<std::size_t>(start.rank)].node)
            ++(world_.is_held_for(hold, start.job) ? tally_.in_holds : tally_.before_begin);
      }
    }
    find_passed_over(starts);
  }

  static std::pair<int, std::int64_t> turn_of(const Job& job) { return {-job.priority, job.arrives}; }
  bool is_by_job() const { return profile_.queue_order != find_queue_order("least-share"); }
  /// Whether no other job may keep it waiting.
  bool is_on_its_own(const Job& job) const {
    if (profile_.blocking == Blocking::kSkip) return true;
    return std::none_of(world_.jobs.begin(), world_.jobs.end(), [&](const Job& other) {
      if (&other == &job || !other.is_waiting() || other.lacking() == 0) return false;
      if (profile_.blocking == Blocking::kStrict && other.queue != job.queue) return false;
      return job.lacking() == 0 || !is_by_job() || turn_of(other) <= turn_of(job);
    });
  }
  /// Named where the engine is known not to try everything.
  std::string search_of(const Job& job) const {
    const auto is_other = [&](const Member& m) {
      const Member& first = job.members.front();
      return m.needs != first.needs || m.model != first.model || m.group != first.group ||
             world_.needs[static_cast<std::size_t>(m.needs)].milli < 1000;
    };
    bool is_limited = false;
    for (int q = job.queue; q != kNone; q = world_.queues[static_cast<std::size_t>(q)].parent)
      for (const std::int64_t limit : world_.queues[static_cast<std::size_t>(q)].by_model)
        is_limited = is_limited || limit != kForever;
    const bool is_gang = job.members.size() > 1 && std::any_of(job.members.begin(), job.members.end(), is_other);
    return is_limited && is_gang ? ", a gang of unlike members or of shares under a limit by class" : "";
  }
  void find_passed_over(const std::vector<Start>& starts) {
    if (!is_by_job()) return;
    for (std::size_t j = 0; j < world_.jobs.size(); ++j) {
      const Job& job = world_.jobs[j];
      if (!job.is_waiting() || job.lacking() == 0 || !is_on_its_own(job)) continue;
      World without = world_;
      bool is_passed = false;
      for (const Start& start : starts) {
        Job& late = without.jobs[static_cast<std::size_t>(start.job)];
        if (turn_of(late) <= turn_of(job)) continue;
        is_passed = true;
        late.members[static_cast<std::size_t>(start.rank)].node = kNone;
      }
      if (is_passed && find_place(without, static_cast<int>(j)) == Found::kYes)
        fail(tally_.passed_over, "passed over",
             "at " + std::to_string(world_.now) + " s: job " + std::to_string(j) + " by others behind it" +
                 search_of(job));
    }
  }
  void find_waiting_for_nothing() {
    for (std::size_t j = 0; j < world_.jobs.size(); ++j) {
      const Job& job = world_.jobs[j];
      if (!job.is_waiting()) continue;
      if (!is_on_its_own(job)) {
        ++tally_.behind;
        continue;
      }
      ++tally_.judged;
      switch (find_place(world_, static_cast<int>(j))) {
        case Found::kNo:
          ++tally_.has_no_place;
          break;
        case Found::kUnknown:
          ++tally_.unknown;
          break;
        case Found::kYes:
          fail(tally_.wrong_no, "wrong no",
               "at " + std::to_string(world_.now) + " s: job " + std::to_string(j) + " waits though it has a place (" +
                   std::string(kBlockingNames[static_cast<std::size_t>(profile_.blocking)]) + ")" + search_of(job));
      }
    }
  }

  void restart() {
    std::string bytes;
    store::append_snapshot(bytes, *state_, *engine_);
    auto state = std::make_unique<State>();
    auto engine = std::make_unique<Engine>(profile_, options_);
    if (const auto read = store::read_snapshot(bytes, *state, *engine); !read)
      return fail(tally_.other, "snapshot", read.error().message);
    ++tally_.restarts;
    state_ = std::move(state);
    engine_ = std::move(engine);
  }

  std::uint64_t seed_;
  Rng rng_;
  Tally& tally_;
  bool restarts_;
  World world_;
  Profile profile_;
  EngineOptions options_;
  std::unique_ptr<State> state_;
  std::unique_ptr<Engine> engine_;
  std::vector<Bind> unanswered_;
  std::vector<std::uint64_t> plans_;
  bool is_faulty_ = false;
};

TEST(TogetherOracle, NoStartBreaksALawAndNobodyWaitsForNothing) {
  const std::uint64_t first = number_of("ASHLAR_FIRST_TOGETHER", 0), worlds = number_of("ASHLAR_TOGETHER", kWorlds);
  Tally tally;
  for (std::uint64_t seed = first; seed < first + worlds; ++seed) {
    const std::vector<std::uint64_t> plans = Player(seed, tally, false).play();
    const std::vector<std::uint64_t> after_restarts = Player(seed, tally, true).play();
    if (!std::equal(
            plans.begin(), plans.end(), after_restarts.begin(),
            after_restarts.begin() + static_cast<std::ptrdiff_t>(std::min(plans.size(), after_restarts.size()))))
      tally.note(tally.other, "decides otherwise after restarts", seed, "");
  }
  std::printf(
      "together oracle: %llu worlds, %ld members started, %ld of gangs of groups, %ld on a node with a hold for them, "
      "%ld "
      "before one begins; %ld restarts; %ld looks at waiting jobs, %ld without a place, %ld not searched to the end, "
      "%ld "
      "more behind others; %d wrong yes, %d wrong no, %d passed over, %d other faults\n",
      static_cast<unsigned long long>(worlds), tally.starts, tally.of_gangs, tally.in_holds, tally.before_begin,
      tally.restarts, tally.judged, tally.has_no_place, tally.unknown, tally.behind, tally.wrong_yes, tally.wrong_no,
      tally.passed_over, tally.other);
  EXPECT_EQ(tally.wrong_yes + tally.other, 0) << tally.text;
  if (first != 0 || worlds != kWorlds) {
    std::printf("%s\n", tally.text.c_str());
    return;
  }
  EXPECT_EQ(tally.wrong_no + tally.passed_over, 0) << tally.text;
  EXPECT_GT(tally.starts, 5'000);
  EXPECT_GT(tally.of_gangs, 1'500);
  EXPECT_GT(tally.in_holds, 500);
  EXPECT_GT(tally.before_begin, 100);
  EXPECT_GT(tally.has_no_place, 100'000);
  EXPECT_GT(tally.restarts, 30'000);
}

TEST(TogetherOracle, TheSearchDoesNotTryAllPlacesOfUnlikeGangsUnderALimitByClass) {
  for (const std::uint64_t seed : kTogetherBeyondSearch) {
    Tally tally;
    Player(seed, tally, false).play();
    EXPECT_EQ(tally.wrong_no + tally.passed_over, 1) << "mended: seed " << seed;
    EXPECT_NE(tally.text.find("under a limit by class"), std::string::npos) << tally.text;
  }
}

}  // namespace
}  // namespace ashlar::oracle::together
