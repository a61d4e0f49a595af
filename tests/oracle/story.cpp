#include "story.h"

#include <algorithm>

#include "draw.h"

namespace ashlar::oracle {
namespace {

using sim::ScriptedEvent;

constexpr int kSecondsMax = 40;  ///< by when everybody has come

class Writer {
 public:
  Writer(std::uint64_t seed, const StoryOptions& options) : rng_(seed), options_(options) { story_.seed = seed; }

  Story write() {
    DrawOptions draw{
        .nodes_max = 6, .members_max = 5, .waiting_jobs_max = 14, .has_running = false, .is_one_by_one = true};
    draw.has_groups = options_.has_groups;
    draw.has_unlike_devices = options_.has_unlike_devices;
    draw.has_capabilities = options_.has_capabilities;
    if (options_.is_crowded) draw.nodes_max = 3, draw.waiting_jobs_max = 40, draw.has_nine_queues = true;
    story_.drawn = draw_world(rng_, draw);
    choose_profile();
    // Definitions and nodes at once, jobs one after the other.
    for (Event& event : events_of(story_.drawn)) {
      if (auto* submitted = std::get_if<Submitted>(&event.body))
        job(std::move(submitted->workload));
      else
        say(Millis(0), std::move(event.body));
    }
    if (!options_.is_calm) {
      foreign_jobs();
      for (int n = 0; n < below(6); ++n) trouble_with_a_node();
      for (int n = 0; n < below(10); ++n) change_of_mind();
      repeat_old_news();
    }
    if (options_.has_nominations)
      for (int n = 2 + below(8); n > 0; --n) nomination();
    if (options_.has_holds)
      for (int n = 1 + below(5); n > 0; --n) hold();
    if (options_.has_evictions) {
      for (int n = 1 + below(6); n > 0; --n) eviction();
      if (story_.profile.victim != VictimRule::kNone) story_.profile.grace = Millis(500 * below(10));
    }
    if (options_.has_capabilities)
      for (int n = below(6); n > 0; --n) other_capabilities();
    std::stable_sort(story_.script.begin(), story_.script.end(),
                     [](const ScriptedEvent& a, const ScriptedEvent& b) { return a.at < b.at; });
    return std::move(story_);
  }

 private:
  int below(int bound) { return static_cast<int>(rng_.below(static_cast<std::uint64_t>(bound))); }
  bool one_in(int n) { return below(n) == 0; }
  Millis some_time() { return Millis(500 * below(2 * kSecondsMax)); }
  void say(Millis at, EventBody body) { story_.script.push_back({at, std::move(body)}); }

  void choose_profile() {
    if (options_.is_exact) {
      story_.profile = *builtin_profile(one_in(4) ? "spread" : "ashlar");
      story_.has_faulty_binds = false;
      return;
    }
    if (options_.has_preemption && one_in(10)) {
      story_.profile = *builtin_profile(one_in(2) ? "srtf" : "tiresias");
      story_.profile.cadence = Millis(0);
      return;
    }
    story_.profile = *builtin_profile(one_in(4) ? "spread" : "ashlar");
    constexpr Blocking kBlocking[] = {Blocking::kSkip, Blocking::kStrict, Blocking::kEasy, Blocking::kEasy};
    story_.profile.blocking = kBlocking[below(4)];
    if (!options_.is_calm && one_in(6)) {
      story_.profile.tiers = {{find_score("random")}};
      story_.profile.device = find_device("random");
    }
    if (one_in(6)) story_.profile.order = find_order(one_in(2) ? "fifo" : "sjf");
    story_.rules.keeps_going = one_in(2);
    story_.has_faulty_binds = !options_.is_calm && !one_in(4);
  }

  void job(Workload w) {
    const Millis at = one_in(5) ? Millis(0) : some_time();
    const Millis runs(1000 * (1 + below(20)) + (one_in(4) ? 500 : 0));
    w.submitted = at;
    w.priority = below(3);
    if (options_.is_exact) {
      w.estimate = {one_in(2) ? runs : Millis(runs.value / 2), runs};
    } else if (!one_in(4)) {
      w.estimate.p50 = one_in(3) ? Millis(1000 * (1 + below(20))) : runs;  // it ends early or late
      w.estimate.p90 = one_in(3) ? w.estimate.p50 : Millis(w.estimate.p50.value * (100 + below(100)) / 100);
    }
    w.order_hint = below(100);
    jobs_.push_back(w);
    story_.script.push_back({at, sim::RunsFor{w.job, runs}});
    say(at, Submitted{std::move(w)});
  }

  /// Another scheduler's pods, put where it likes: nobody asks whether they fit.
  void foreign_jobs() {
    for (int n = below(4); n > 0; --n) {
      const int row = static_cast<int>(story_.drawn.jobs.size());
      const int node = below(static_cast<int>(story_.drawn.nodes.size())),
                demand = below(static_cast<int>(story_.drawn.demands.size()));
      const PlainDemand& asks = story_.drawn.demands[static_cast<std::size_t>(demand)];
      const int devices = story_.drawn.nodes[static_cast<std::size_t>(node)].devices;
      if (asks.devices > devices) continue;
      Workload w;
      w.job = JobId(row);
      w.is_ours = false;
      w.submitted = some_time();
      w.members = {{new_member(), DemandId(demand), ConstraintId(0u)}};
      DeviceMask mask;
      for (int c = 0, first = below(std::max(devices, 1)); c < asks.devices; ++c) mask.set((first + c) % devices);
      const MemberId member = w.members[0].member;
      const Millis at = w.submitted;
      story_.drawn.jobs.push_back({});
      say(at, Submitted{std::move(w)});
      say(at, Bound{member, NodeId(node), mask});
      say(at + Millis(1000 * (1 + below(20))), Ended{JobId(row)});
    }
  }

  /// Another scheduler keeps a node for a pod, now and then another one later; then the pod comes, or is withdrawn.
  void nomination() {
    const int row = static_cast<int>(story_.drawn.jobs.size());
    const auto& demands = story_.drawn.demands;
    // of two, the one with more devices: what falls should leave room
    int demand = below(static_cast<int>(demands.size()));
    if (const int other = below(static_cast<int>(demands.size()));
        demands[static_cast<std::size_t>(other)].devices > demands[static_cast<std::size_t>(demand)].devices)
      demand = other;
    const auto some_node = [&] { return NodeId(below(static_cast<int>(story_.drawn.nodes.size()))); };
    Workload w;
    w.job = JobId(row);
    w.is_ours = false;
    w.submitted = some_time();
    w.members = {{new_member(), DemandId(demand), ConstraintId(0u)}};
    const MemberId member = w.members[0].member;
    Millis at = w.submitted;
    story_.drawn.jobs.push_back({});
    say(at, Submitted{std::move(w)});
    NodeId node = some_node();
    say(at, Nominated{member, node, below(3)});
    while (one_in(3)) {
      at = at + Millis(500 * below(10));
      node = one_in(4) ? NodeId::none() : some_node();
      say(at, Nominated{member, node, below(3)});
    }
    at = at + Millis(500 * below(40));
    const int asked = story_.drawn.demands[static_cast<std::size_t>(demand)].devices;
    const int devices = node.is_none() ? 0 : story_.drawn.nodes[node.row()].devices;
    if (!node.is_none() && one_in(3) && asked <= devices) {
      DeviceMask mask;
      for (int c = 0; c < asked; ++c) mask.set(c);
      say(at, Bound{member, node, mask});
      at = at + Millis(1000 * (1 + below(10)));
    }
    say(at, Ended{JobId(row)});
  }

  /// Something is held of a node: for nobody, a queue or a job; at once or later; for a time or for good.
  void hold() {
    const int row = static_cast<int>(story_.drawn.jobs.size());
    const Millis at = options_.is_exact ? Millis(0) : some_time();  // else what it takes depends on who runs there
    Hold hold{.job = JobId(row), .parts = {}};
    hold.parts.push_back(
        {{new_member(), DemandId(below(static_cast<int>(story_.drawn.demands.size()))), ConstraintId(0u)},
         NodeId(below(static_cast<int>(story_.drawn.nodes.size()))),
         {}});
    const int owner = below(4);
    if (owner == 1) hold.owner.job = jobs_[static_cast<std::size_t>(below(static_cast<int>(jobs_.size())))].job;
    if (owner > 1) hold.owner.queue = QueueId(below(static_cast<int>(story_.drawn.queues.size())));
    if (one_in(2)) hold.from = at + Millis(500 * (1 + below(40)));
    hold.until = std::max(at, hold.from) + Millis(500 * (1 + below(60)));
    if (options_.is_exact && one_in(2)) hold.from = hold.from + some_time();
    hold.until = std::max(hold.until, hold.from + Millis(500));
    story_.drawn.jobs.push_back({});
    say(at, HoldPlaced{hold});
    if (!options_.is_exact && one_in(4)) say(at + Millis(500 * (1 + below(40))), Ended{hold.job});
  }

  /// The cluster stops a job, or one member of it, wherever it is then.
  void eviction() {
    const Workload& of = jobs_[static_cast<std::size_t>(below(static_cast<int>(jobs_.size())))];
    const MemberId member = of.members[static_cast<std::size_t>(below(static_cast<int>(of.members.size())))].member;
    say(some_time(), Evicted{of.job, Millis(1000 * (1 + below(20))), one_in(3) ? MemberId::none() : member});
  }

  void other_capabilities() {
    DeviceClassDefined defined{DeviceClassId(below(kPlainModels)), {}};
    for (int c = 0; c < kPlainCapabilities; ++c)
      if (one_in(2)) defined.device_class.capabilities.emplace_back(c);
    say(some_time(), defined);
  }

  void trouble_with_a_node() {
    const int row = below(static_cast<int>(story_.drawn.nodes.size()));
    const NodeId node(row);
    PlainNode plain = story_.drawn.nodes[static_cast<std::size_t>(row)];
    const int levels = story_.drawn.nested + story_.drawn.orthogonal;
    const Millis at = some_time(), back = at + Millis(one_in(3) ? 0 : 500 * below(30));
    if (one_in(4)) {
      plain.is_ready = !plain.is_ready;
      say(at, NodeSeen{node, facts_of(plain, levels)});
    } else if (one_in(5)) {  // other labels: who sits there may now be outside its domain
      for (int l = 0; l < levels; ++l) plain.domain[static_cast<std::size_t>(l)] = below(3);
      say(at, NodeSeen{node, facts_of(plain, levels)});
    } else {
      say(at, NodeGone{node});
    }
    say(back, NodeSeen{node, facts_of(story_.drawn.nodes[static_cast<std::size_t>(row)], levels)});
  }

  void change_of_mind() {
    const Workload& of = jobs_[static_cast<std::size_t>(below(static_cast<int>(jobs_.size())))];
    const Millis at = some_time();
    const MemberId member = of.members[static_cast<std::size_t>(below(static_cast<int>(of.members.size())))].member;
    switch (below(8)) {
      case 0:
        return say(at, Ended{of.job});
      case 1:
        return say(at, MemberGone{member});
      case 2:
        return say(at, PriorityChanged{of.job, below(4)});
      case 3:
        return say(at, EstimateChanged{of.job, {Millis(1000 * (1 + below(20))), Millis(1000 * (20 + below(20)))}});
      case 4:
        return say(at,
                   ConstraintChanged{member, ConstraintId(below(static_cast<int>(story_.drawn.constraints.size())))});
      case 5: {
        const MemberSpec like = of.members[0];
        return say(at, MembersAdded{of.job,
                                    static_cast<std::uint32_t>(1 + below(static_cast<int>(of.members.size()) + 1)),
                                    {{new_member(), like.demand, like.constraint, {}, like.group}}});
      }
      case 6:
        if (story_.drawn.queues.size() < 2) return;
        return say(at, QueueDefined{QueueId(1u), QueueId(0u), {1000 * below(24), kUnlimited, kUnlimited}});
      default:
        return say(at, Tick{});
    }
  }

  void repeat_old_news() {
    const std::size_t news = story_.script.size();
    for (std::size_t i = 0; i < news; ++i) {
      const auto* body = std::get_if<EventBody>(&story_.script[i].what);
      if (body == nullptr || !one_in(12)) continue;
      const bool may_come_again = std::holds_alternative<NodeSeen>(*body) || std::holds_alternative<NodeGone>(*body) ||
                                  std::holds_alternative<Ended>(*body) || std::holds_alternative<MemberGone>(*body) ||
                                  std::holds_alternative<PriorityChanged>(*body);
      if (may_come_again) say(story_.script[i].at + Millis(500 * below(3)), EventBody(*body));
    }
  }

  MemberId new_member() {
    int members = 0;
    for (const PlainJob& job : story_.drawn.jobs) members += static_cast<int>(job.members.size());
    return MemberId(members + extra_members_++);
  }

  Rng rng_;
  const StoryOptions& options_;
  Story story_;
  std::vector<Workload> jobs_;
  int extra_members_ = 0;
};

}  // namespace

bool is_definition(const sim::ScriptedEvent& scripted) {
  const auto* body = std::get_if<EventBody>(&scripted.what);
  return body != nullptr &&
         (std::holds_alternative<LevelsDefined>(*body) || std::holds_alternative<DemandDefined>(*body) ||
          std::holds_alternative<ConstraintDefined>(*body) || std::holds_alternative<DeviceLayoutDefined>(*body) ||
          std::holds_alternative<GangSpecDefined>(*body) || std::holds_alternative<QueueDefined>(*body));
}

Story draw_story(std::uint64_t seed, const StoryOptions& options) { return Writer(seed, options).write(); }

}  // namespace ashlar::oracle
