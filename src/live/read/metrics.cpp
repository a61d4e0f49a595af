#include "live/read/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "live/read/held.h"
#include "live/read/queue_limits.h"
#include "live/read/read_replica.h"
#include "live/track/hold_text.h"
#include "live/track/nodes/levels.h"
#include "state/cluster/usable_devices.h"

namespace ashlar::kube {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using Buckets = prometheus::Histogram::BucketBoundaries;

const Buckets kStepBuckets{1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1};
const Buckets kLatencyBuckets{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3600};

/// A gauge family that is rewritten at each scrape.
struct Snapshot {
  prometheus::Registry registry;
  void set(const std::string& name, const std::string& help, const prometheus::Labels& labels, double value) {
    BuildGauge().Name(name).Help(help).Register(registry).Add(labels).Set(value);
  }
  void count(const std::string& name, const std::string& help, const prometheus::Labels& labels, double value) {
    BuildCounter().Name(name).Help(help).Register(registry).Add(labels).Increment(value);
  }
};

}  // namespace

struct SchedulerMetrics::Series {
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  prometheus::Histogram& step = BuildHistogram()
                                    .Name("ashlar_scheduling_cycle_duration_seconds")
                                    .Help("Duration of one scheduling step, including its events")
                                    .Register(*registry)
                                    .Add({{"phase", "all"}}, kStepBuckets);
  prometheus::Family<prometheus::Histogram>& decisions =
      BuildHistogram()
          .Name("ashlar_decision_latency_seconds")
          .Help("Time from the first watch event of a pod to its confirmed binding")
          .Register(*registry);
  prometheus::Histogram& decision_single = decisions.Add({{"kind", "pod"}}, kLatencyBuckets);
  prometheus::Histogram& decision_gang = decisions.Add({{"kind", "gang"}}, kLatencyBuckets);
  prometheus::Family<prometheus::Counter>& attempts = BuildCounter()
                                                          .Name("ashlar_scheduling_attempts_total")
                                                          .Help("New or changed verdicts on jobs, by result")
                                                          .Register(*registry);
  std::array<prometheus::Counter*, static_cast<std::size_t>(VerdictKind::kOverQuota) + 1> by_verdict{};
  /// The series that an operator sees by queue, and the public as one.
  struct Placements {
    std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
    prometheus::Family<prometheus::Histogram>& waits = BuildHistogram()
                                                           .Name("ashlar_queue_wait_seconds")
                                                           .Help("Time from the submission of a job to its placement")
                                                           .Register(*registry);
    prometheus::Family<prometheus::Counter>& gangs =
        BuildCounter()
            .Name("ashlar_gang_placement_total")
            .Help("Gangs placed, by the innermost level that contains the whole gang")
            .Register(*registry);
  };
  Placements by_queue, together;
  prometheus::Histogram& every_wait = together.waits.Add({}, kLatencyBuckets);
  prometheus::Counter& examined =
      BuildCounter().Name("ashlar_jobs_examined_total").Help("Jobs examined").Register(*registry).Add({});
  Series() {
    for (std::size_t v = 0; v < by_verdict.size(); ++v) {
      by_verdict[v] = &attempts.Add({{"result", std::string(verdict_name(static_cast<VerdictKind>(v)))}});
    }
  }
};

SchedulerMetrics::SchedulerMetrics() : series_(std::make_unique<Series>()) {}
SchedulerMetrics::~SchedulerMetrics() = default;

void SchedulerMetrics::observe_step(double seconds, const Plan& plan) {
  series_->step.Observe(seconds);
  if (plan.examined > 0) series_->examined.Increment(plan.examined);
  for (const VerdictChange& change : plan.verdicts)
    series_->by_verdict[static_cast<std::size_t>(change.verdict.kind)]->Increment();
}

void SchedulerMetrics::observe_decision(bool is_gang, Millis latency) {
  (is_gang ? series_->decision_gang : series_->decision_single).Observe(static_cast<double>(latency.value) * 1e-3);
}

void SchedulerMetrics::observe_queue_wait(const PooledString& queue, Millis wait) {
  const double seconds = static_cast<double>(wait.value) * 1e-3;
  series_->by_queue.waits.Add({{"queue", queue.str()}}, kLatencyBuckets).Observe(seconds);
  series_->every_wait.Observe(seconds);
}

void SchedulerMetrics::observe_gang(const PooledString& queue, const std::string& level) {
  series_->by_queue.gangs.Add({{"queue", queue.str()}, {"level", level}}).Increment();
  series_->together.gangs.Add({{"level", level}}).Increment();
}

namespace {

void add_process(Snapshot& out, const ProcessFacts& process) {
  out.set("ashlar_build_info", "Version of this program", {{"version", process.version}}, 1);
  out.set("ashlar_leader", "1 while this process is the leader", {}, process.is_leading ? 1 : 0);
  out.set("ashlar_ready", "1 when the caches are synced", {}, process.is_ready ? 1 : 0);
  out.count("ashlar_http_client_requests_total", "Requests sent to the API server", {},
            static_cast<double>(process.requests));
  out.count("ashlar_http_client_failures_total", "Requests without an answer", {},
            static_cast<double>(process.request_failures));
  out.set("ashlar_readers_differ", "1 while the state kept for queries is given up, since it differs or is behind", {},
          process.is_replica_given_up ? 1 : 0);
  out.count("ashlar_readers_given_up_total", "Times the state kept for queries was given up", {},
            static_cast<double>(process.replicas_given_up));
  if (process.decision_log) {
    out.count("ashlar_decision_log_steps_lost_total", "Scheduling steps missing from the decision log", {},
              static_cast<double>(process.decision_log->steps_lost));
    out.set("ashlar_decision_log_stopped", "1 while the decision log cannot be written", {},
            process.decision_log->is_stopped ? 1 : 0);
  }
  for (const auto& [resource, watch] : process.watches) {
    const prometheus::Labels labels{{"resource", std::string(resource)}};
    if (watch.silent)
      out.set("ashlar_watch_lag_seconds", "Time since the watch last received data", labels,
              static_cast<double>(watch.silent->value) * 1e-3);
    out.count("ashlar_watch_events_total", "Changes received", labels, static_cast<double>(watch.events));
    out.count("ashlar_watch_relists_total", "List operations", labels, static_cast<double>(watch.lists));
    out.count("ashlar_watch_expired_total", "Expired resource versions (410)", labels,
              static_cast<double>(watch.expired));
    out.count("ashlar_watch_errors_total", "Errors of lists and watches", labels, static_cast<double>(watch.errors));
    out.set("ashlar_watch_objects", "Objects in the cache", labels, static_cast<double>(watch.objects));
    out.set("ashlar_watch_listed", "1 while the resource is completely listed and watched", labels,
            watch.is_listed ? 1 : 0);
    out.set("ashlar_unreadable_objects", "Objects that cannot be parsed completely", labels,
            static_cast<double>(watch.unreadable));
  }
}

void add_writes(Snapshot& out, const TermNumbers& numbers) {
  const CommitCounters& a = numbers.binder;
  const StatusWriterCounters& l = numbers.status_writer;
  const std::string requests = "ashlar_api_requests_total",
                    help = "Writes and re-reads, by verb, resource and status code";
  const auto add = [&](const char* verb, const char* resource, const char* code, std::uint64_t n) {
    out.count(requests, help, {{"verb", verb}, {"resource", resource}, {"code", code}}, static_cast<double>(n));
  };
  const std::uint64_t failures =
      std::accumulate(a.by_outcome.begin(), a.by_outcome.end(), std::uint64_t{0}) - a.bound();
  const std::uint64_t conflicts = a.of(BindOutcome::kConflict), missing = a.of(BindOutcome::kMissing),
                      throttled = a.of(BindOutcome::kThrottled);
  add("create", "pods/binding", "201", a.bound());
  add("create", "pods/binding", "409", conflicts);
  add("create", "pods/binding", "404", missing);
  add("create", "pods/binding", "429", throttled);
  add("create", "pods/binding", "other", failures - conflicts - missing - throttled);
  add("get", "pods", "any", a.reread);
  add("patch", "pods/status", "any", l.conditions);
  add("patch", "podgroups/status", "any", l.group_conditions);
  add("create", "events", "any", l.events);
  for (std::size_t i = 1; i < kBindOutcomes; ++i)
    out.count("ashlar_bind_errors_total", "Bindings that failed",
              {{"reason", std::string(name_of(static_cast<BindOutcome>(i)))}}, static_cast<double>(a.by_outcome[i]));
  const EvictionCounters& e = numbers.evictions;
  for (const auto& [outcome, pods] : {std::pair("accepted", e.accepted), {"refused", e.refused}, {"late", e.late}})
    out.count("ashlar_evictions_total", "Pods stopped for others, by what became of their eviction",
              {{"outcome", outcome}}, static_cast<double>(pods));
  out.count("ashlar_binds_given_up_total", "Bindings given up; the conditions of their pods state the reason", {},
            static_cast<double>(a.given_up));
  out.count("ashlar_binds_undone_total",
            "Bindings answered with success whose pods had no node a minute later; they are scheduled again", {},
            static_cast<double>(a.undone));
  out.set("ashlar_binds_held", "Pods and gangs waiting for a retry after a binding was given up", {},
          static_cast<double>(numbers.binds_held));
  out.set("ashlar_binds_in_flight", "Bindings sent but not answered yet", {},
          static_cast<double>(numbers.binds_in_flight));
  out.set("ashlar_binds_waiting", "Bindings decided but not sent yet", {}, static_cast<double>(numbers.binds_waiting));
  out.set("ashlar_binds_slow", "Bindings in flight in namespaces with slow binding responses", {},
          static_cast<double>(numbers.binds_slow));
  out.set("ashlar_commits_waiting", "Pods with a place whose binding waits for their volumes", {},
          static_cast<double>(numbers.commits_waiting));
  const auto window = [&](const char* kind, std::size_t size) {
    out.set("ashlar_request_window", "Requests that may be in flight, which follows what the API server can do",
            {{"kind", kind}}, static_cast<double>(size));
  };
  window("bind", numbers.bind_window);
  window("reread", numbers.reread_window);
  window("status", numbers.status_window);
  out.set("ashlar_status_writes_waiting", "Conditions and events that wait for a request", {},
          static_cast<double>(numbers.status_writes_waiting));
  out.set("ashlar_status_refreshes_waiting", "Conditions of which only numbers have changed, not yet written", {},
          static_cast<double>(numbers.status_refreshes_waiting));
  out.count("ashlar_events_dropped_total", "Events dropped because their queue was full", {},
            static_cast<double>(l.events_dropped));
  out.count("ashlar_status_write_failures_total", "Conditions and events that could not be written", {},
            static_cast<double>(l.failures));
  out.count("ashlar_status_refreshes_total", "Conditions written of which only numbers had changed", {},
            static_cast<double>(l.refreshes));
  const auto prepared = [&](const char* result, std::uint64_t n) {
    out.count("ashlar_commit_writes_total", "Writes before bindings", {{"result", result}}, static_cast<double>(n));
  };
  prepared("sent", a.writes);
  prepared("taken_back", a.writes_taken_back);
  prepared("left", a.writes_left);
  out.count("ashlar_status_write_retries_total", "Condition writes queued for a retry", {},
            static_cast<double>(l.retries));
}

/// What a node has free of one class.
struct ClassRoom {
  DeviceClassId device_class;
  std::int64_t idle = 0;
  std::int64_t milli = 0;  ///< the idle devices and what is left of the others
};

/// Without devices that are held by pods of which it is not known which ones they have, or that are cut into slices.
std::vector<ClassRoom> rooms_of(const Cluster& cluster, NodeId node) {
  const auto milli = cluster.device_free_milli(node);
  const auto room = [&](DeviceClassId device_class, const DeviceMask& devices, std::int64_t idle) {
    ClassRoom room{.device_class = device_class, .idle = idle, .milli = idle * kWholeDevice};
    devices.among(static_cast<std::int32_t>(milli.size())).each([&](int i) {
      const std::int32_t free = milli[static_cast<std::size_t>(i)];
      room.milli += free < kWholeDevice ? std::max(free, 0) : 0;
    });
    return room;
  };
  const DeviceLayout* mixed = cluster.mixed_layout(node);
  if (mixed == nullptr)
    return {room(cluster.models()[node.row()], DeviceMask::unknown(), std::max(cluster.idle_devices()[node.row()], 0))};
  std::vector<ClassRoom> rooms;
  for (const DeviceClassId device_class : classes_of(*mixed)) {
    DeviceMask devices;
    for (std::size_t i = 0; i < mixed->devices.size(); ++i)
      if (mixed->devices[i].device_class == device_class && mixed->devices[i].mode == DeviceMode::kWhole)
        devices.set(static_cast<int>(i));
    rooms.push_back(room(device_class, devices, idle_to_take(cluster, node, devices).count()));
  }
  return rooms;
}

/// Wholly free devices of the best domain of each level, on nodes that take pods: the most that a gang within that
/// level can get.
void add_largest_gangs(Snapshot& out, ReadReplica& replica) {
  const Cluster& cluster = replica.state().cluster();
  const ObjectNames& names = replica.tables().names;
  const std::size_t levels = names.levels().size();
  // Best sums by model and level; level `levels` is the node, one more is the whole cluster.
  std::map<std::uint32_t, std::vector<std::int64_t>> best;
  std::map<std::uint32_t, std::vector<std::vector<std::int64_t>>> sums;  // model, level, domain
  std::map<std::uint32_t, std::int64_t> free_milli;                      // of the model, fractions included
  for (std::size_t row = 0; row < cluster.rows(); ++row) {
    const NodeId node(row);
    if (!cluster.is_live(node) || cluster.devices()[row] == 0 || !cluster.facts(node).is_ready) continue;
    for (const ClassRoom& room : rooms_of(cluster, node)) {
      free_milli[room.device_class.value] += room.milli;
      std::vector<std::int64_t>& most = best[room.device_class.value];
      std::vector<std::vector<std::int64_t>>& by_level = sums[room.device_class.value];
      most.resize(levels + 2);
      by_level.resize(levels);
      most[levels] = std::max(most[levels], room.idle);
      most[levels + 1] += room.idle;
      const std::vector<DomainId>& domains = cluster.facts(node).domains;
      for (std::size_t l = 0; l < std::min(levels, domains.size()); ++l) {
        if (domains[l].is_none()) continue;
        if (domains[l].row() >= by_level[l].size()) by_level[l].resize(domains[l].row() + 1);
        most[l] = std::max(most[l], by_level[l][domains[l].row()] += room.idle);
      }
    }
  }
  for (const auto& [model, most] : best) {
    const std::string name = DeviceClassId(model).is_none() ? "unknown" : names.models.name(DeviceClassId(model)).str();
    for (std::size_t l = 0; l < most.size(); ++l) {
      const std::string level = l < levels ? names.levels()[l].name.str() : l == levels ? "node" : "any";
      out.set("ashlar_largest_placeable_gang_gpus", "Completely free GPUs in the best domain of the level",
              {{"model", name}, {"level", level}}, static_cast<double>(most[l]));
      const double all = static_cast<double>(free_milli[model]) / 1000;
      out.set("ashlar_fragmentation_ratio", "Share of the free GPU capacity that no gang within the level can use",
              {{"model", name}, {"level", level}},
              all > 0 ? std::clamp(1 - static_cast<double>(most[l]) / all, 0.0, 1.0) : 0);
    }
  }
}

void add_quotas(Snapshot& out, ReadReplica& replica) {
  const State& state = replica.state();
  const ObjectNames& names = replica.tables().names;
  const Cluster& cluster = state.cluster();
  std::int64_t devices = 0;
  for (std::size_t row = 0; row < cluster.rows(); ++row)
    devices += cluster.is_live(NodeId(row)) ? cluster.devices()[row] : 0;
  for (std::size_t q = 1; q < names.queues.size(); ++q) {
    const QueueId queue(q);
    if (queue.row() >= state.queues().rows()) continue;
    const prometheus::Labels labels{{"queue", names.queues.name(queue).str()}, {"model", "any"}};
    const double used = static_cast<double>(state.queues().used(queue)[0]) / 1000;
    out.set("ashlar_queue_allocated_gpus", "GPUs in use by the queue", labels, used);
    out.set("ashlar_queue_share_ratio", "Share of the cluster's GPUs that is in use by the queue",
            {{"queue", names.queues.name(queue).str()}}, devices > 0 ? used / static_cast<double>(devices) : 0);
    for (const ReadGuarantee& guarantee : guarantees_of(state, names, queue)) {
      if (!guarantee.counted.of.resource.is_none()) continue;
      const std::int64_t beyond = std::max<std::int64_t>(guarantee.counted.used - guarantee.in_force, 0);
      const prometheus::Labels of{{"queue", names.queues.name(queue).str()},
                                  {"model", guarantee.counted.model.empty() ? "any" : guarantee.counted.model}};
      out.set("ashlar_queue_guaranteed_gpus", "GPUs that the queue is sure to get", of,
              guarantee.counted.in_whole_units(guarantee.in_force));
      out.set("ashlar_queue_borrowed_gpus", "GPUs that the queue uses beyond those", of,
              guarantee.counted.in_whole_units(beyond));
    }
    for (const ReadLimit& limit : limits_of(state, names, queue)) {
      const prometheus::Labels of{{"queue", names.queues.name(queue).str()},
                                  {"resource", limit.resource},
                                  {"model", limit.model.empty() ? "any" : limit.model}};
      out.set("ashlar_queue_limit", "Limit of the queue, in GPUs, cores, bytes or pieces", of,
              limit.in_whole_units(limit.limit));
      out.set("ashlar_queue_limit_used", "What the queue uses of that limit", of, limit.in_whole_units(limit.used));
    }
  }
}

/// Waiting jobs by queue and reason; without queue for the public.
void add_pending(Snapshot& out, ReadReplica& replica, MetricsReader reader) {
  const ObjectNames& names = replica.tables().names;
  const auto labels_of = [&](const QueueId queue, const char* other, const std::string& value) {
    prometheus::Labels labels{{other, value}};
    if (reader == MetricsReader::kOperator) labels.emplace("queue", names.queues.name(queue).str());
    return labels;
  };
  std::map<prometheus::Labels, double> jobs, devices;
  replica.engine().pending().each_class([&](ClassId, const PendingQueue::Class& shape) {
    const auto count = [&](const Verdict& verdict, std::size_t count_of_jobs) {
      const ReasonCode code = verdict.reasons.empty() ? ReasonCode::kNone : verdict.reasons.front().code;
      jobs[labels_of(shape.key.queue, "reason", std::string(reason_name(code)))] += static_cast<double>(count_of_jobs);
      devices[labels_of(shape.key.queue, "model", "any")] +=
          static_cast<double>(count_of_jobs) * static_cast<double>(shape.devices);
    };
    if (!shape.is_active) return count(shape.verdict, shape.jobs.size());
    // some are held, some not evaluated yet
    shape.each_job([&](const PendingQueue::Entry& e) { count(replica.engine().verdict_of(e.job), 1); });
  });
  for (const auto& [labels, n] : jobs) out.set("ashlar_queue_pending_jobs", "Waiting jobs", labels, n);
  for (const auto& [labels, n] : devices)
    out.set("ashlar_queue_pending_gpus", "GPUs requested by waiting jobs", labels, n);
}

/// Pods that wait outside the engine, by reason.
void add_held(Snapshot& out, ReadReplica& replica) {
  for (const auto& [reason, pods] : held_pods(replica.tables()))
    out.set("ashlar_pods_held", "Pods that are in no queue, by reason",
            {{"reason", std::string(hold_reason_name(reason))}}, static_cast<double>(pods));
}

std::size_t quarantined_in(const Tables& tables) {
  std::size_t count = 0;
  for (PodSlot slot = 0; slot < tables.pods.slots(); ++slot)
    count += tables.pods[slot].phase == PodRecord::Phase::kHeld && tables.pods[slot].hold == HoldReason::kQuarantined
                 ? 1
                 : 0;
  return count;
}

}  // namespace

std::string SchedulerMetrics::text(ReadReplica* replica, const ProcessFacts& process, MetricsReader reader) {
  Snapshot snapshot;
  add_process(snapshot, process);
  if (replica != nullptr) {
    add_writes(snapshot, replica->numbers());
    if (reader == MetricsReader::kOperator) add_quotas(snapshot, *replica);
    add_pending(snapshot, *replica, reader);
    add_held(snapshot, *replica);
    add_largest_gangs(snapshot, *replica);
    snapshot.set("ashlar_snapshot_age_seconds", "Age of the oldest change that the engine has not processed", {},
                 static_cast<double>(replica->snapshot_age().value) * 1e-3);
    snapshot.set("ashlar_unknown_fields", "Fields of objects that only a newer Kubernetes has", {},
                 static_cast<double>(replica->numbers().unknown_fields));
    snapshot.set("ashlar_nodes", "Nodes known to the engine", {},
                 static_cast<double>(replica->state().cluster().live_count()));
    snapshot.set("ashlar_pods", "Pods known to the scheduler", {}, static_cast<double>(replica->tables().pods.size()));
    snapshot.set("ashlar_quarantined_pods", "Pods not placed because a decision about them stopped the scheduler", {},
                 static_cast<double>(quarantined_in(replica->tables())));
    snapshot.count("ashlar_decisions_cut_short_total",
                   "Scheduling steps that ended at the limit of rounds in which held jobs are woken", {},
                   static_cast<double>(replica->engine().cut_short_count()));
    snapshot.set("ashlar_searches_put_off",
                 "Searches, for gangs and for pods with rules about others, that waited for their turn in the last "
                 "scheduling step",
                 {}, static_cast<double>(replica->engine().put_off_count()));
    snapshot.count("ashlar_never_fits_unproven_total",
                   "Verdicts on waiting jobs for which it could not be determined whether they can ever run", {},
                   static_cast<double>(replica->engine().unproven_count()));
    snapshot.set("ashlar_resources_refused",
                 "Extended resources of nodes that are not tracked because all columns are in use", {},
                 static_cast<double>(replica->tables().names.refused_resources().size()));
    snapshot.set("ashlar_gangs_without_level", "Gangs that wait because their topology level exceeds the limit", {},
                 static_cast<double>(gangs_without_level(replica->tables())));
    snapshot.set("ashlar_cards_unhealthy", "GPUs that are reported unhealthy; they take no new pods", {},
                 static_cast<double>(replica->state().cluster().unhealthy_device_count()));
    snapshot.set("ashlar_cards_overclaimed", "GPUs of which pods claim more than they have; they take no new pods", {},
                 static_cast<double>(replica->state().cluster().overfull_device_count()));
    snapshot.count("ashlar_steps_total", "Scheduling steps", {}, static_cast<double>(replica->numbers().steps));
  }
  std::vector<prometheus::MetricFamily> families = series_->registry->Collect();
  const Series::Placements& placements = reader == MetricsReader::kOperator ? series_->by_queue : series_->together;
  for (auto& family : placements.registry->Collect()) families.push_back(std::move(family));
  if (replica != nullptr)
    replica->history().add_to(families, replica->tables().names, reader == MetricsReader::kOperator);
  for (auto& family : snapshot.registry.Collect()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace ashlar::kube
