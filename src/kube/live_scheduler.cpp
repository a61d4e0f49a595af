#include "kube/live_scheduler.h"

#include <optional>
#include <utility>
#include <vector>

#include "kube/live_cache.h"
#include "kube/live_read.h"
#include "kube/pod_group_api.h"
#include "kube/reflector.h"

namespace ashlar::kube {
namespace {

constexpr Millis kPollMax{500};       ///< a signal's wish to stop is noticed so soon
constexpr Millis kMetricsAge{1'000};  ///< anybody may ask for metrics at any rate: on the probes' port a text serves so long

template <class T>
constexpr std::string_view kKindName = "";
template <>
constexpr std::string_view kKindName<Pod> = "pod";
template <>
constexpr std::string_view kKindName<Node> = "node";
template <>
constexpr std::string_view kKindName<Namespace> = "namespace";
template <>
constexpr std::string_view kKindName<PriorityClass> = "priorityclass";
template <>
constexpr std::string_view kKindName<PodGroup> = "podgroup";

}  // namespace

struct LiveScheduler::Loop {
  using Level = LiveOptions::LogLevel;

  explicit Loop(LiveOptions o) : options(std::move(o)) {}
  ~Loop() {
    is_ending = true;
    server.reset();
    probe_server.reset();
    reign.reset();
    leader.reset();
    drop_reflectors();
  }

  LiveOptions options;
  std::unique_ptr<Api> api;
  LiveMetrics metrics;
  std::unique_ptr<LiveLeader> leader;
  std::unique_ptr<LiveReign> reign;
  std::unique_ptr<http::Server> server, probe_server;
  std::optional<PodGroupVersion> group_version;
  std::unique_ptr<Reflector<Node>> nodes;
  std::unique_ptr<Reflector<Namespace>> namespaces;
  std::unique_ptr<Reflector<PriorityClass>> classes;
  std::unique_ptr<Reflector<PodGroup>> groups;
  std::unique_ptr<Reflector<Pod>> pods;
  LiveCache<Node> node_cache;
  LiveCache<Namespace> namespace_cache;
  LiveCache<PriorityClass> class_cache;
  LiveCache<PodGroup> group_cache;
  LiveCache<Pod> pod_cache;
  std::atomic<bool> must_stop{false}, must_abandon{false}, is_ending{false}, is_ready{false};
  bool has_won = false, has_lost = false, are_pods_started = false;
  http::ServerResponse public_metrics;  ///< as last made for the probes' port
  Millis public_metrics_at;

  void log(Level level, const LogLine& line) const {
    if (options.log) options.log(level, line);
  }
  LogLine about_lease(const std::string& message) const {
    return {message, "lease", Text(options.leader.lease_namespace), Text(options.leader.lease_name)};
  }

  // ---- reflectors --------------------------------------------------------------------------------------------------------------------
  template <class T>
  std::unique_ptr<Reflector<T>> follow(LiveCache<T>& cache, ReflectorOptions o) {
    o.on_error = [this](const Error& error) { log(Level::kWarning, error.message); };
    return std::make_unique<Reflector<T>>(*api, std::move(o), [this, &cache](Change<T>&& change) {
      if (!change.object.problem.empty() && change.kind != Change<T>::Kind::kDeleted) log_unreadable(change.object);
      if (reign)
        reign->take(std::move(change));
      else
        cache.take(std::move(change));
    });
  }
  /// Once for each version of an object: a reflector reports no version twice.
  template <class T>
  void log_unreadable(const T& object) const {
    const std::string name = object.ns.empty() ? object.name.str() : object.ns.str() + "/" + object.name.str();
    const std::string_view kind = kKindName<T>;
    log(Level::kWarning, {std::string(kind) + " " + name + " cannot be read whole: " + object.problem.str(), kind, object.ns, object.name});
  }
  void start_reflectors();
  void drop_reflectors();
  void advance_reflectors();
  bool is_synced() const;
  void discover();

  // ---- leadership --------------------------------------------------------------------------------------------------------------------
  void begin_reign();
  void end_reign();
  std::string identity() const { return options.leader.identity; }

  // ---- the loop ----------------------------------------------------------------------------------------------------------------------
  void run();
  Millis turn();
  void finish();

  // ---- questions ---------------------------------------------------------------------------------------------------------------------
  Result<void> listen();
  std::vector<http::Route> health_routes(MetricsReader reader);
  http::ServerResponse metrics_answer(MetricsReader reader);
  http::LateHandler on_loop(std::function<http::ServerResponse(const http::ServerRequest&)> question);
  ProcessFacts facts() const;
  template <class T>
  void add_watch(ProcessFacts& facts, std::string_view name, const std::unique_ptr<Reflector<T>>& reflector) const;
};

void LiveScheduler::Loop::discover() {
  discover_pod_groups(*api, [this](Result<PodGroupVersion> found) {
    if (found) {
      group_version = *found;
      log(Level::kInfo, "PodGroup API: " + std::string(*found == PodGroupVersion::kNone ? "none" : group_version_text(*found)));
      return;
    }
    log(Level::kWarning, "asking for the PodGroup API: " + found.error().message);
    api->after(Millis(500), [this] { discover(); });
  });
}

void LiveScheduler::Loop::start_reflectors() {
  nodes = follow<Node>(node_cache, {.encoding = options.encoding});
  namespaces = follow<Namespace>(namespace_cache, {});
  classes = follow<PriorityClass>(class_cache, {});
  if (*group_version != PodGroupVersion::kNone) groups = follow<PodGroup>(group_cache, {.path = pod_groups_path(*group_version)});
  pods = follow<Pod>(pod_cache, {.field_selector = "status.phase!=Succeeded,status.phase!=Failed", .encoding = options.encoding});
  nodes->start();
  namespaces->start();
  classes->start();
  if (groups) groups->start();
}

void LiveScheduler::Loop::drop_reflectors() {
  pods.reset();
  groups.reset();
  classes.reset();
  namespaces.reset();
  nodes.reset();
  node_cache = {};
  namespace_cache = {};
  class_cache = {};
  group_cache = {};
  pod_cache = {};
  are_pods_started = false;
  is_ready = false;
}

/// Pods come last: what their queues, gangs and nodes are must be known when they are read.
void LiveScheduler::Loop::advance_reflectors() {
  if (!nodes || are_pods_started) return;
  if (!nodes->is_synced() || !namespaces->is_synced() || !classes->is_synced() || (groups && !groups->is_synced())) return;
  are_pods_started = true;
  pods->start();
}

bool LiveScheduler::Loop::is_synced() const {
  return nodes && nodes->is_synced() && namespaces->is_synced() && classes->is_synced() && (!groups || groups->is_synced()) && pods->is_synced();
}

void LiveScheduler::Loop::begin_reign() {
  has_won = false;
  log(Level::kInfo, about_lease(identity() + " leads"));
  ReignOptions o = options.reign;
  o.lane.identity = identity();
  o.lane.pod_groups = *group_version;
  o.log = options.log;
  reign = std::make_unique<LiveReign>(*api, std::move(o), metrics, [this] { return leader->may_write(); });
  if (!nodes) return start_reflectors();  // the first list is made under the lease
  namespace_cache.drain([&](Change<Namespace>&& c) { reign->take(std::move(c)); });
  class_cache.drain([&](Change<PriorityClass>&& c) { reign->take(std::move(c)); });
  group_cache.drain([&](Change<PodGroup>&& c) { reign->take(std::move(c)); });
  node_cache.drain([&](Change<Node>&& c) { reign->take(std::move(c)); });
  pod_cache.drain([&](Change<Pod>&& c) { reign->take(std::move(c)); });
  // What the old leader bound last may not have come by watch yet.
  if (are_pods_started) pods->relist();
}

void LiveScheduler::Loop::end_reign() {
  has_lost = false;
  log(Level::kWarning, about_lease(identity() + " stands by"));
  reign.reset();
  drop_reflectors();
  start_reflectors();
}

Millis LiveScheduler::Loop::turn() {
  if (has_lost) end_reign();
  if (has_won && group_version) begin_reign();
  // Somebody else leads: follow along, so as to be warm.
  const bool is_standby = !reign && !has_won && leader->has_seen_lease() && group_version && !nodes;
  if (is_standby) start_reflectors();
  advance_reflectors();
  const bool is_now_ready = is_synced();
  if (is_now_ready != is_ready.load(std::memory_order_relaxed)) {
    is_ready = is_now_ready;
    if (is_now_ready)
      log(Level::kInfo,
          "caches are filled: " + std::to_string(nodes->known_objects()) + " nodes, " + std::to_string(pods->known_objects()) + " pods");
  }
  if (!reign || !is_now_ready) return Millis::max();
  return reign->turn();
}

void LiveScheduler::Loop::run() {
  discover();
  leader->start();
  while (!must_stop && !must_abandon) {
    const Millis next = turn();
    const Millis now = api->now();
    const Millis wait = next <= now ? Millis(0) : std::min(kPollMax, next - now);
    api->poll(wait);
  }
  if (!must_abandon) finish();
}

/// Bindings under way are answered, the lease is given back.
void LiveScheduler::Loop::finish() {
  log(Level::kInfo, "stopping");
  const Millis until = api->now() + options.drain_max;
  if (reign) {
    reign->stop_deciding();
    while (!reign->is_idle() && api->now() < until) {
      reign->turn();
      api->poll(Millis(50));
    }
  }
  bool is_released = false;
  leader->release([&] { is_released = true; });
  while (!is_released && api->now() < until) api->poll(Millis(50));
}

// ---- questions -------------------------------------------------------------------------------------------------------------------------

/// Runs the question on the loop's thread; the server's goes on meanwhile.
http::LateHandler LiveScheduler::Loop::on_loop(std::function<http::ServerResponse(const http::ServerRequest&)> question) {
  return [this, question = std::move(question)](const http::ServerRequest& request, http::Reply reply) {
    if (is_ending || must_stop) return reply(http::text(503, "stopping\n"));
    api->post([question, request, reply = std::move(reply)] { reply(question(request)); });
  };
}

template <class T>
void LiveScheduler::Loop::add_watch(ProcessFacts& facts, std::string_view name, const std::unique_ptr<Reflector<T>>& reflector) const {
  if (!reflector) return;
  const ReflectorCounters& c = reflector->counters();
  facts.watches[name] = {name, c.lists, c.watches, c.events, c.errors, reflector->known_objects(), c.unreadable, api->now() - reflector->last_contact(), c.expired};
}

ProcessFacts LiveScheduler::Loop::facts() const {
  ProcessFacts f;
  f.version = options.version;
  f.is_leading = leader->may_write();
  f.is_ready = is_ready;
  f.requests = api->counters().requests;
  f.request_failures = api->counters().failures;
  f.connections = api->counters().connections;
  add_watch(f, "pods", pods);
  add_watch(f, "nodes", nodes);
  add_watch(f, "namespaces", namespaces);
  add_watch(f, "priorityclasses", classes);
  add_watch(f, "podgroups", groups);
  if (options.decision_log) f.decision_log = options.decision_log();
  return f;
}

http::ServerResponse LiveScheduler::Loop::metrics_answer(MetricsReader reader) {
  const bool is_public = reader == MetricsReader::kAnybody;
  if (is_public && !public_metrics.body.empty() && api->now() - public_metrics_at < kMetricsAge) return public_metrics;
  http::ServerResponse response = http::text(200, metrics.text(is_ready ? reign.get() : nullptr, facts(), reader));
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  if (!is_public) return response;
  public_metrics_at = api->now();
  return public_metrics = std::move(response);
}

std::vector<http::Route> LiveScheduler::Loop::health_routes(MetricsReader reader) {
  return {
      {"/healthz", [](const http::ServerRequest&) { return http::text(200, "ok\n"); }},
      {.path = "/livez", .handler = {}, .late = on_loop([](const http::ServerRequest&) { return http::text(200, "ok\n"); })},
      {"/readyz", [this](const http::ServerRequest&) { return is_ready ? http::text(200, "ok\n") : http::text(503, "caches are not filled\n"); }},
      {.path = "/metrics", .handler = {}, .late = on_loop([this, reader](const http::ServerRequest&) { return metrics_answer(reader); })},
  };
}

Result<void> LiveScheduler::Loop::listen() {
  const auto read = [this](http::ServerResponse (*answer)(LiveReign&, const http::ServerRequest&)) {
    return on_loop([this, answer](const http::ServerRequest& request) {
      if (!reign) return standby_answer(leader->holder());
      if (!is_ready) return not_ready_answer();
      return answer(*reign, request);
    });
  };
  const auto start = [](const http::ServerOptions& o, std::vector<http::Route> routes, std::unique_ptr<http::Server>& out) -> Result<void> {
    Result<std::unique_ptr<http::Server>> started = http::Server::start(o, std::move(routes));
    if (!started) return started.error();
    out = std::move(started).value();
    return {};
  };
  if (options.has_probes)
    if (Result<void> started = start(options.probes, health_routes(MetricsReader::kAnybody), probe_server); !started) return started;
  if (!options.is_listening) return {};
  std::vector<http::Route> routes = health_routes(MetricsReader::kOperator);
  routes.push_back({.path = "/api/v1/why", .handler = {}, .late = read(answer_why)});
  routes.push_back({.path = "/api/v1/queue", .handler = {}, .late = read(answer_queue)});
  routes.push_back({.path = "/api/v1/nodes", .handler = {}, .late = read(answer_nodes)});
  return start(options.listen, std::move(routes), server);
}

Result<std::unique_ptr<LiveScheduler>> LiveScheduler::create(LiveOptions options) {
  const Result<Profile> profile = live_profile(options.reign.profile([](std::string_view) { return ModelId(0u); }));
  if (!profile) return profile.error();
  auto loop = std::make_unique<Loop>(std::move(options));
  Result<std::unique_ptr<Api>> api = Api::create({.access = loop->options.access, .user_agent = "ashlar/" + loop->options.version});
  if (!api) return api.error();
  loop->api = std::move(api).value();
  for (std::string& warning : warnings_about(loop->options.access)) loop->log(LogLevel::kWarning, std::move(warning));
  loop->leader =
      std::make_unique<LiveLeader>(*loop->api, loop->options.leader,
                                   LiveLeader::Hooks{.on_started = [l = loop.get()] { l->has_won = true; },
                                                     .on_stopped =
                                                         [l = loop.get()] {
                                                           l->has_won = false;
                                                           l->has_lost = l->reign != nullptr;
                                                         },
                                                     .log = [l = loop.get()](const std::string& m) { l->log(LogLevel::kWarning, l->about_lease(m)); },
                                                     .monotonic = {}});
  if (const Result<void> listening = loop->listen(); !listening) return listening.error();
  return std::unique_ptr<LiveScheduler>(new LiveScheduler(std::move(loop)));
}

LiveScheduler::LiveScheduler(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
LiveScheduler::~LiveScheduler() = default;
void LiveScheduler::run() { loop_->run(); }
void LiveScheduler::stop() {
  loop_->must_stop = true;
  loop_->api->wakeup();
}
void LiveScheduler::abandon() {
  loop_->must_abandon = true;
  loop_->api->wakeup();
}
std::uint16_t LiveScheduler::port() const { return loop_->server ? loop_->server->port() : 0; }
std::uint16_t LiveScheduler::probe_port() const { return loop_->probe_server ? loop_->probe_server->port() : 0; }

}  // namespace ashlar::kube
