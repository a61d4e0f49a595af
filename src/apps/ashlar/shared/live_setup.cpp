#include "apps/ashlar/shared/live_setup.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "store/decision_log.h"

namespace ashlar {
namespace {

/// Names of the live tables, for the decision log.
class ObjectNameSource final : public store::NameSource {
 public:
  explicit ObjectNameSource(const kube::Tracker& tracker) : tracker_(tracker) {}
  void append_name(const store::NameKey& key, std::string& out) const override {
    const kube::ObjectNames& names = tracker_.names();
    switch (key.kind) {
      case store::NameKind::kNode:
        out += names.nodes.name(NodeId(key.row)).view();
        break;
      case store::NameKind::kJob:
        append_job(JobId(key.row), out);
        break;
      case store::NameKind::kMember:
        append_member(MemberId(key.row), out);
        break;
      case store::NameKind::kQueue:
        out += names.queues.name(QueueId(key.row)).view();
        break;
      case store::NameKind::kLevel:
        if (key.row < names.levels().size()) out += names.levels()[key.row].name.view();
        break;
      case store::NameKind::kDomain:
        out += names.domain_name(LevelId(key.level), DomainId(key.row)).view();
        break;
      case store::NameKind::kResource:
        out += names.resource_name(ResourceId(key.row)).view();
        break;
      case store::NameKind::kModel:
        out += names.models.name(DeviceClassId(key.row)).view();
        break;
      case store::NameKind::kCapability:
        out += names.capabilities.name(CapabilityId(key.row)).view();
        break;
      case store::NameKind::kModelOfClass:
        out += names.class_models.name(DeviceModelId(key.row)).view();
        break;
    }
  }

 private:
  void append_job(JobId job, std::string& out) const {
    const kube::JobOwner owner = tracker_.owner(job);
    if (owner.gang != kube::kNoGang)
      out += tracker_.gangs()[owner.gang].ns.str() + "/" + tracker_.gangs()[owner.gang].name.str();
    else if (owner.pod != kube::kNoPod)
      out += tracker_.pods()[owner.pod].ns.str() + "/" + tracker_.pods()[owner.pod].name.str();
  }
  void append_member(MemberId member, std::string& out) const {
    const kube::PodSlot slot = tracker_.pods().of_member(member);
    if (slot != kube::kNoPod && tracker_.pods()[slot].gang != kube::kNoGang) out += tracker_.pods()[slot].name.view();
  }
  const kube::Tracker& tracker_;
};

/// A decision log that includes the names.
class NamedLog final : public Recorder {
 public:
  NamedLog(const kube::Tracker& tracker, store::DecisionLogOptions options, const State& state, const Engine& engine,
           std::shared_ptr<store::FileWriter> writer)
      : names_(tracker), log_(std::move(options), {state, engine, &names_}, std::move(writer)) {}
  void record(std::span<const Event> batch, const Plan& plan, std::uint64_t digest) override {
    log_.record(batch, plan, digest);
  }

 private:
  ObjectNameSource names_;
  store::DecisionLog log_;
};

kube::OpenRecorder recorder_of(const config::DecisionLogConfig& log, std::shared_ptr<store::FileWriter> writer) {
  if (!writer) return {};
  return [log, writer = std::move(writer)](const State& state, const Engine& engine,
                                           const kube::Tracker& tracker) -> std::unique_ptr<Recorder> {
    store::DecisionLogOptions options;
    options.file_bytes_max = static_cast<std::uint64_t>(log.file_bytes_max);
    options.on_trouble = [](const std::string& what) { spdlog::warn("decision log: {}", what); };
    return std::make_unique<NamedLog>(tracker, std::move(options), state, engine, writer);
  };
}

std::string unique_identity() {
  char host[256] = "ashlar";
  gethostname(host, sizeof host - 1);
  std::random_device random;
  char suffix[16];
  std::snprintf(suffix, sizeof suffix, "_%08x", random());
  return std::string(host) + suffix;
}

kube::SpreadDefaults spread_defaults(const config::DefaultConstraints& constraints) {
  if (constraints.are_of_system) return kube::system_spread_defaults();
  kube::SpreadDefaults defaults;
  for (const config::DefaultConstraint& constraint : constraints.list) {
    kube::TopologySpread& spread = (constraint.is_hard ? defaults.hard : defaults.soft).emplace_back();
    spread.topology_key = kube::PooledString(constraint.topology_key);
    spread.max_skew = constraint.skew_max;
    spread.min_domains = constraint.domains_min;
    spread.honors_affinity = constraint.honors_affinity;
    spread.honors_taints = constraint.honors_taints;
  }
  return defaults;
}

kube::QueueSettings queue_settings(const config::QueueConfig& queue, const std::string& parent) {
  kube::QueueSettings settings{.name = queue.name, .parent = parent, .quota = queue.quota};
  for (const config::NamedLimit& limit : queue.limits)
    settings.limits.push_back({limit.resource, limit.model, limit.limit});
  for (const config::NamedShare& share : queue.shares)
    settings.shares.push_back({share.resource, share.model, share.guarantee, share.borrows, share.lends});
  settings.rank = queue.rank;
  settings.stops = queue.stops;
  settings.gate = queue.gate;
  settings.namespaces = queue.namespaces;
  return settings;
}

kube::TrackerOptions tracker_options(const config::SchedulerConfig& config) {
  kube::TrackerOptions tracker;
  tracker.scheduler_names = config.scheduler_names;
  for (const std::string& label : config.topology_levels)
    tracker.levels.push_back({kube::PooledString(config::level_name(label)), kube::PooledString(label)});
  tracker.device_classes = config.device_classes;
  tracker.spread_defaults = spread_defaults(config.default_constraints);
  tracker.accepted_fields.insert(config.accepted_fields.begin(), config.accepted_fields.end());
  for (const config::QueueConfig& queue : config.queues) {
    const std::string parent =
        queue.parent < 0 ? std::string() : config.queues[static_cast<std::size_t>(queue.parent)].name;
    tracker.queues.push_back(queue_settings(queue, parent));
  }
  tracker.read_queue = [config](const kube::QueueObject& object) -> Result<kube::QueueSettings> {
    const Result<config::StatedQueue> stated = config::read_queue_object(object.name.str(), object.spec, config);
    if (!stated) return stated.error();
    return queue_settings(stated->queue, stated->parent);
  };
  for (const config::NamespaceQueue& mapping : config.namespaces)
    tracker.queue_of_namespace[mapping.name_space] = mapping.queue;
  return tracker;
}

kube::OnLog log_of(const config::LoggingConfig& logging) {
  const bool has_fields = logging.format == config::LoggingConfig::Format::kJson;
  return [has_fields](kube::LogLevel level, const kube::LogLine& line) {
    using Level = kube::LogLevel;
    const auto to = level == Level::kDebug     ? spdlog::level::debug
                    : level == Level::kInfo    ? spdlog::level::info
                    : level == Level::kWarning ? spdlog::level::warn
                                               : spdlog::level::err;
    if (!spdlog::should_log(to)) return;
    if (has_fields && !line.kind.empty())
      spdlog::log(to, "{}{}{}{}{}{}{}", line.message, kLogFieldMark, line.kind, kLogFieldMark, line.ns.view(),
                  kLogFieldMark, line.name.view());
    else
      spdlog::log(to, "{}", line.message);
  };
}

/// Probes are small, and many of them may connect and disconnect; a hostile client gets no more memory than that.
constexpr std::size_t kProbeConnectionsMax = 64, kProbeBytesMax = 4u << 10;

void listen_on(const config::ListenConfig& listen, bool& is_enabled, http::ServerOptions& out) {
  is_enabled = listen.is_enabled;
  out.address = listen.host.empty() ? "0.0.0.0" : listen.host;
  out.port = listen.port;
}

}  // namespace

Result<std::shared_ptr<store::FileWriter>> log_writer(const config::DecisionLogConfig& log) {
  if (log.path.empty()) return std::shared_ptr<store::FileWriter>();
  return store::FileWriter::open({.folder = log.path, .files_max = static_cast<std::uint64_t>(log.files_max)});
}

kube::SchedulerOptions live_options(const config::SchedulerConfig& config, kube::Access access,
                                    const std::shared_ptr<store::FileWriter>& log) {
  kube::SchedulerOptions options;
  options.access = std::move(access);
  options.leader_term.tracker = tracker_options(config);
  options.leader_term.profile = [spec =
                                     config.profile](const std::function<DeviceClassId(std::string_view)>& model_of) {
    return config::resolved(spec, model_of);
  };
  options.leader_term.binder.binds =
      kube::AdaptiveWindow::around(static_cast<std::size_t>(config.batch.binds_in_flight));
  // Decisions are sent before anything else: more than a window of them would delay an urgent new pod.
  options.leader_term.binds_per_step_max =
      static_cast<std::uint32_t>(std::min(config.batch.binds_per_step, config.batch.binds_in_flight));
  options.leader_term.window = config.batch.window;
  options.leader_term.events_per_step_max = static_cast<std::size_t>(config.batch.events_per_step);
  options.leader_term.open_recorder = recorder_of(config.decision_log, log);
  if (log) options.decision_log = [log] { return kube::LogFacts{log->lost(), log->has_stopped()}; };
  options.leader.is_enabled = config.leader_election.is_enabled;
  options.leader.lease_name = config.leader_election.lease_name;
  options.leader.lease_namespace = config.leader_election.lease_namespace;
  options.leader.lease_duration = config.leader_election.lease_duration;
  options.leader.renew_deadline = config.leader_election.renew_deadline;
  options.leader.retry_period = config.leader_election.retry_period;
  options.leader.identity = unique_identity();
  listen_on(config.listen, options.is_listening, options.listen);
  listen_on(config.health_probe_bind_address, options.has_probes, options.probes);
  options.probes.connections_max = kProbeConnectionsMax;
  options.probes.body_bytes_max = options.probes.read_buffer_bytes = kProbeBytesMax;
  options.log = log_of(config.logging);
  return options;
}

}  // namespace ashlar
