#include "sim/replay/job_replay.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "engine/driver.h"
#include "sim/results/load_series.h"
#include "sim/world/clock.h"
#include "sim/world/timed_run.h"
#include "state/queues/queue_tree.h"

namespace ashlar::sim {
namespace {

constexpr std::int32_t kDevicesPerTraceNode = 8;  ///< nodes of the published clusters

constexpr std::int64_t kOverheadMax = 1'000'000;  ///< seconds

/// One virtual cluster, or the pool.
struct Site {
  std::int32_t nodes = 0;
  std::vector<std::uint32_t> jobs;  ///< rows of the trace, by submission, ties in file order
};

struct SiteResult {
  std::vector<JobOutcome> outcomes;
  std::vector<LoadPoint> load;
  std::int64_t preemptions = 0;
  std::int64_t unfinished = 0;
};

std::vector<Site> sites_of(const QueueReplay& replay) {
  const auto shrunk = [&](std::int32_t nodes) {
    return static_cast<std::int32_t>((std::int64_t{nodes} + replay.shrink - 1) / replay.shrink);
  };
  std::vector<Site> sites(replay.is_pooled ? 1 : replay.trace.vcs.size());
  std::map<std::string_view, std::int32_t> nodes_of;
  for (const VcNodes& vc : replay.vcs) nodes_of[vc.vc] += vc.nodes;
  if (replay.is_pooled) {
    for (const auto& [vc, nodes] : nodes_of) sites[0].nodes += shrunk(nodes);
  } else {
    for (std::size_t v = 0; v < sites.size(); ++v) sites[v].nodes = shrunk(nodes_of.at(replay.trace.vcs[v]));
  }
  for (std::size_t i = 0; i < replay.trace.jobs.size(); ++i)
    sites[replay.is_pooled ? 0 : replay.trace.jobs[i].vc].jobs.push_back(static_cast<std::uint32_t>(i));
  for (Site& site : sites)
    std::stable_sort(site.jobs.begin(), site.jobs.end(), [&](std::uint32_t a, std::uint32_t b) {
      return replay.trace.jobs[a].submit < replay.trace.jobs[b].submit;
    });
  return sites;
}

/// Jobs of up to a node's devices are one member; wider ones are whole nodes and, last in rank, the remainder.
class Kinds {
 public:
  Kinds() : anywhere_(catalog_.constraint({})) {}
  KindId of(std::int32_t devices) {
    const auto [it, is_new] = by_devices_.try_emplace(devices, KindId::none());
    if (is_new) {
      JobKind kind;
      const std::int32_t whole = devices / kDevicesPerTraceNode;
      const std::int32_t rest = devices % kDevicesPerTraceNode;
      if (whole > 0) kind.needs.push_back({member(kDevicesPerTraceNode), anywhere_, static_cast<std::uint32_t>(whole)});
      if (rest > 0) kind.needs.push_back({member(rest), anywhere_, 1});
      it->second = catalog_.add_kind(std::move(kind));
    }
    return it->second;
  }
  const Catalog& catalog() const { return catalog_; }

 private:
  DemandId member(std::int32_t devices) { return catalog_.demand(demand_of({.devices = {.count = devices}})); }

  Catalog catalog_;
  ConstraintId anywhere_;
  std::map<std::int32_t, KindId> by_devices_;
};

/// A job holds a node per eight devices, so a node's worth of pod slots always suffices.
std::vector<Event> opening_of(const QueueReplay& replay, const Site& site, const Catalog& catalog) {
  std::vector<Event> events;
  catalog.define(events);
  QueueDefined all{QueueTree::kRoot, QueueId::none(), {kUnlimited, kUnlimited, kUnlimited}};
  all.stops.own = replay.stops;
  if (replay.stops != StopRules{}.own) events.push_back({Millis(0), std::move(all)});
  NodeFacts facts;
  facts.devices.count = kDevicesPerTraceNode;
  facts.allocatable.assign(resource::kFirstExtended, 0);
  facts.allocatable[resource::kPods.row()] = kDevicesPerTraceNode;
  for (std::int32_t n = 0; n < site.nodes; ++n) events.push_back({Millis(0), NodeSeen{NodeId(n), facts}});
  return events;
}

SiteResult run_site(const QueueReplay& replay, const Profile& profile, const Site& site,
                    const std::function<void(std::int64_t)>& tell_progress) {
  Kinds kinds;
  for (const std::uint32_t row : site.jobs) kinds.of(replay.trace.jobs[row].gpus);
  std::size_t next = 0;
  JobFeed feed = [&](SimJob& out) {
    if (next == site.jobs.size()) return false;
    const TraceJob& job = replay.trace.jobs[site.jobs[next++]];
    const Millis rank = profile.replay.ranks_by_estimate ? job.estimate : job.duration;
    const Millis believed = profile.replay.ranks_by_estimate ? std::max(rank, Millis(1)) : rank;
    out = {.submit = job.submit,
           .duration = job.duration,
           .estimate = {believed, believed},
           .order_hint = rank.value,
           .kind = kinds.of(job.gpus),
           .vc = job.vc};
    return true;
  };
  const bool can_stop = profile.victim != VictimRule::kNone;
  const auto overhead = [&](std::size_t i) { return Millis(can_stop ? replay.overhead[i] * 1000 : 0); };
  SimClock clock;
  World world(clock, kinds.catalog(), std::move(feed),
              {.end_lag = profile.replay.end_lag,
               .restart_of_one = overhead(0),
               .restart_of_eight = overhead(1),
               .restart_of_more = overhead(2),
               .has_grace = profile.grace > Millis(0),
               .tells_by_estimates = profile.stops_for_a_place()});
  world.open_with(opening_of(replay, site, kinds.catalog()));
  SiteResult result;
  result.outcomes.reserve(site.jobs.size());
  LoadRecorder load(result.load);
  WorldListeners listeners{.ended = [&](const JobOutcome& outcome) { result.outcomes.push_back(outcome); }, .load = {}};
  if (replay.has_series)
    listeners.load = [&](Millis at, std::int64_t busy, std::int64_t waiting) { load.add(at, busy, waiting); };
  world.listen(std::move(listeners));
  State state;
  Engine engine(profile, {.has_verdicts = false});
  Driver driver(state, engine, {clock, world, world});
  run_to_end({.clock = clock,
              .world = world,
              .driver = driver,
              .cadence = profile.cadence,
              .horizon = {},
              .progress = tell_progress});
  ASHLAR_CHECK(state.is_consistent());  // columns and digest, updated incrementally throughout, equal a recount
  result.preemptions = world.preemptions();
  result.unfinished = world.present();
  return result;
}

/// The sites on several threads, those with most jobs first.
std::vector<SiteResult> run_sites(const QueueReplay& replay, const Profile& profile, const std::vector<Site>& sites) {
  std::vector<SiteResult> results(sites.size());
  std::vector<std::size_t> order(sites.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sites[a].jobs.size() > sites[b].jobs.size(); });
  std::vector<std::int64_t> done(sites.size(), 0);
  std::mutex progress_lock;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < order.size(); i = next++) {
      const std::size_t s = order[i];
      const auto tell = [&, s](std::int64_t arrived) {
        if (!replay.progress) return;
        const std::lock_guard lock(progress_lock);
        done[s] = arrived;
        std::int64_t sum = 0;
        for (const std::int64_t d : done) sum += d;
        replay.progress(sum);
      };
      results[s] = run_site(replay, profile, sites[s], tell);
    }
  };
  const std::uint32_t cores = replay.threads > 0 ? replay.threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (std::uint32_t t = 1; t < std::min<std::size_t>(cores, sites.size()); ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace

Result<RestartOverhead> parse_restart_overhead(std::string_view text) {
  RestartOverhead overhead{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < overhead.size(); ++i) {
    const auto [rest, error] = std::from_chars(at, end, overhead[i]);
    const bool is_last = i + 1 == overhead.size();
    if (error != std::errc() || overhead[i] < 0 || overhead[i] > kOverheadMax ||
        (is_last ? rest != end : rest == end || *rest != ','))
      return invalid(
          "--restart-overhead: expected three whole numbers of at most 1000000 seconds such as 7,30,60, got \"" +
          std::string(text) + "\"");
    at = rest + 1;
  }
  return overhead;
}

Result<void> check_replay(const QueueReplay& replay) {
  if (replay.shrink < 1)
    return invalid("--shrink: expected a whole number from 1, got " + std::to_string(replay.shrink));
  std::vector<bool> has_nodes;
  for (const std::string& vc : replay.trace.vcs)
    has_nodes.push_back(
        std::any_of(replay.vcs.begin(), replay.vcs.end(), [&](const VcNodes& v) { return v.vc == vc; }));
  for (const TraceJob& job : replay.trace.jobs) {
    const std::string place = std::to_string(job.line) + ": ";
    if (!has_nodes[job.vc])
      return invalid(place + "vc: expected a virtual cluster of the --vcs file, got \"" + replay.trace.vcs[job.vc] +
                     "\"");
    const bool is_submit_whole = job.submit.value % 1000 == 0;
    if (!is_submit_whole || job.duration.value % 1000 != 0)
      return invalid(place + (is_submit_whole ? "duration" : "submit_time") +
                     ": expected whole seconds (queueing replays count nothing else), got " +
                     std::to_string(static_cast<double>((is_submit_whole ? job.duration : job.submit).value) / 1000));
  }
  return {};
}

QueueRun run_queue(const QueueReplay& replay, std::string_view policy, const Profile& profile) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Site> sites = sites_of(replay);
  const std::vector<SiteResult> results = run_sites(replay, profile, sites);
  QueueRun run;
  QueueMeter meter(replay.trace.vcs);
  meter.reserve(replay.trace.jobs.size());
  for (const TraceJob& job : replay.trace.jobs) meter.came(job.submit);
  std::vector<std::vector<LoadPoint>> loads;
  std::int64_t devices = 0;
  for (std::size_t s = 0; s < sites.size(); ++s) {
    for (const JobOutcome& outcome : results[s].outcomes) {
      meter.add(outcome);
      if (replay.ended) replay.ended(outcome);
    }
    run.preemptions += results[s].preemptions;
    run.unfinished_jobs += results[s].unfinished;
    devices += static_cast<std::int64_t>(sites[s].nodes) * kDevicesPerTraceNode;
    if (replay.has_series) loads.push_back(results[s].load);
  }
  run.policy = policy;
  meter.finish(run);
  if (replay.has_series) fill_series(loads, devices, run);
  run.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return run;
}

}  // namespace ashlar::sim
