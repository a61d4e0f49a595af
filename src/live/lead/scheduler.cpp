#include "live/lead/scheduler.h"

#include <chrono>
#include <utility>
#include <vector>

#include "live/read/read_api.h"
#include "live/read/readers.h"
#include "live/watch/watch_thread.h"

namespace ashlar::kube {
namespace {

constexpr Millis kPollMax{500};  ///< a signal to stop is noticed within this time
/// anybody may ask for metrics at any rate: on the probes' port a text serves so long
constexpr Millis kMetricsAge{1'000};
constexpr Millis kStandingAge{20};     ///< readers are given the process's numbers so often at most
constexpr Millis kStuckAfter{30'000};  ///< a loop without a turn for this long does not recover: /livez reports it
/// a leader that cannot decide for this long steps down; longer than a list of 150,000 pods takes
constexpr Millis kProgressMax{30'000};

}  // namespace

struct Scheduler::Loop {
  using Level = SchedulerOptions::LogLevel;

  explicit Loop(SchedulerOptions o) : options(std::move(o)) {
    if (!options.monotonic) options.monotonic = steady_now;
  }
  ~Loop() {
    is_ending = true;
    server.reset();
    probe_server.reset();
    readers.reset();
    drop_leader_term();
    leader.reset();
    watches.reset();  // wakes `api` until it ends
  }

  SchedulerOptions options;
  std::unique_ptr<Api> api;
  SchedulerMetrics metrics;
  std::unique_ptr<Leader> leader;
  std::unique_ptr<LeaderTerm> leader_term;
  std::unique_ptr<http::Server> server, probe_server;
  std::unique_ptr<Readers> readers;  ///< null: nobody can ask
  std::unique_ptr<WatchThread> watches;
  WatchStatus seen;                    ///< as of the last changes taken
  std::vector<WatchedChange> changes;  ///< of one turn; kept for its memory
  std::atomic<bool> must_stop{false}, must_abandon{false}, is_ending{false}, is_ready{false};
  std::atomic<std::int64_t> turned_at{0};  ///< monotonic; when the loop last turned
  Millis decided_at;                       ///< monotonic; when a leader was last able to decide
  bool has_won = false, has_lost = false;
  Millis noted_at;                      ///< steady; when readers were last given the process's standing
  Standing noted;                       ///< then, without numbers
  http::ServerResponse public_metrics;  ///< as last made for the probes' port; for the readers' thread
  Millis public_metrics_at;             ///< the same

  void log(Level level, const LogLine& line) const {
    if (options.log) options.log(level, line);
  }
  LogLine about_lease(const std::string& message) const {
    return {message, "lease", PooledString(options.leader.lease_namespace), PooledString(options.leader.lease_name)};
  }

  // ---- leadership ---------------------------------------------------------------------------------------------------
  void begin_leader_term();
  void end_leader_term();
  /// No further change from the watches reaches it.
  void drop_leader_term() {
    if (watches) watches->end_term();
    leader_term.reset();
    if (readers) readers->end();
  }
  std::string identity() const { return options.leader.identity; }

  // ---- the loop -----------------------------------------------------------------------------------------------------
  void run();
  Millis turn();
  void take_changes();
  void finish();

  // ---- queries ------------------------------------------------------------------------------------------------------
  Result<void> listen();
  std::vector<http::Route> health_routes(MetricsReader reader);
  http::ServerResponse metrics_answer(ReadReplica* replica, const Standing& standing, MetricsReader reader);
  http::LateHandler by_readers(
      std::function<http::ServerResponse(ReadReplica*, const Standing&, const http::ServerRequest&)> answer);
  ProcessFacts facts() const;
  void note_standing(bool is_now_ready);
  /// Any thread. A silent or unreachable server is no reason to end this process, only a loop that no longer turns.
  http::ServerResponse live_answer() const {
    const Millis silent = options.monotonic() - Millis(turned_at.load());
    if (turned_at == 0 || silent <= kStuckAfter) return http::text(200, "ok\n");
    return http::text(503, "the event loop has not run for " + std::to_string(silent.value / 1000) + " s\n");
  }
};

void Scheduler::Loop::begin_leader_term() {
  has_won = false;
  decided_at = options.monotonic();
  log(Level::kInfo, about_lease(identity() + " is the leader"));
  LeaderTermOptions o = options.leader_term;
  o.status_writer.identity = identity();
  o.log = options.log;
  if (readers) o.hand_over = [this](HandOver&& news) { readers->take(std::move(news)); };
  leader_term = std::make_unique<LeaderTerm>(*api, std::move(o), metrics, [this] { return leader->may_write(); });
  if (readers) readers->begin(leader_term->begin_replica([this] { return api->now(); }));
  watches->begin_term();
  watches->start();  // without a previous leader, the first list is made under the lease
}

void Scheduler::Loop::end_leader_term() {
  has_lost = false;
  log(Level::kWarning, about_lease(identity() + " is on standby"));
  note_standing(false);
  watches->stop();
  drop_leader_term();
  api->reset_connections();
  watches->start();
}

Millis Scheduler::Loop::turn() {
  turned_at = options.monotonic().value;
  if (has_lost) end_leader_term();
  if (has_won) begin_leader_term();
  // Another replica leads, or none: keep following, so as to be warm.
  if (!leader_term && leader->has_seen_lease()) watches->start();
  take_changes();
  const Millis next = leader_term && seen.is_synced ? leader_term->turn() : Millis::max();
  note_standing(seen.is_synced);
  is_ready = seen.is_synced;  // last: once it is seen, readers are up to date
  if (!leader_term) return Millis::max();
  if (seen.is_synced) {
    decided_at = options.monotonic();
    return next;
  }
  if (options.monotonic() >= decided_at + kProgressMax)
    leader->give_way("nodes, namespaces and pods have not been fully listed for " +
                     std::to_string(kProgressMax.value / 1000) + " s");
  return Millis::max();
}

/// What the reading thread has collected, and then whether that is all there is.
void Scheduler::Loop::take_changes() {
  seen = watches->take(changes);
  if (leader_term)
    for (WatchedChange& change : changes) leader_term->take(std::move(change));
  changes.clear();
  if (seen.is_synced && !is_ready)
    log(Level::kInfo,
        "caches are synced; nodes: " + std::to_string(seen.nodes) + ", pods: " + std::to_string(seen.pods));
}

void Scheduler::Loop::run() {
  turned_at = options.monotonic().value;
  leader->start();
  while (!must_stop && !must_abandon) {
    const Millis next = turn();
    const Millis now = api->now();
    const Millis wait = next <= now ? Millis(0) : std::min(kPollMax, next - now);
    api->poll(wait);
  }
  if (!must_abandon) finish();
}

/// Bindings under way are answered, then the lease is released. If a binding is not answered in time, the lease is left
/// to expire by itself: the successor must not list before that binding has arrived or can no longer arrive.
void Scheduler::Loop::finish() {
  log(Level::kInfo, "stopping");
  const Millis until = api->now() + options.drain_max;
  bool is_drained = true;
  if (leader_term) {
    leader_term->stop_deciding();
    while (!leader_term->is_idle() && api->now() < until) {
      turned_at = options.monotonic().value;
      take_changes();
      leader_term->turn();
      api->poll(Millis(50));
    }
    is_drained = leader_term->is_idle();
  }
  if (!is_drained) {
    log(Level::kWarning, about_lease("bindings are not answered: the lease is not released but left to expire"));
    drop_leader_term();
    api->reset_connections();
    return;
  }
  bool is_released = false;
  leader->release([&] { is_released = true; });
  while (!is_released && api->now() < until) api->poll(Millis(50));
}

// ---- queries --------------------------------------------------------------------------------------------------------

/// Answers on the readers' thread; that of the server and the loop continue meanwhile.
http::LateHandler Scheduler::Loop::by_readers(
    std::function<http::ServerResponse(ReadReplica*, const Standing&, const http::ServerRequest&)> answer) {
  return [this, answer = std::move(answer)](const http::ServerRequest& request, http::Reply reply) {
    if (is_ending || must_stop) return reply(http::text(503, "stopping\n"));
    readers->ask([answer, request](ReadReplica* replica,
                                   const Standing& standing) { return answer(replica, standing, request); },
                 std::move(reply));
  };
}

/// At most every few milliseconds, unless it matters at once.
void Scheduler::Loop::note_standing(bool is_now_ready) {
  if (!readers) return;
  const Millis now = steady_now();
  const bool is_as_noted = is_now_ready == noted.process.is_ready && leader->may_write() == noted.process.is_leading &&
                           leader->holder() == noted.leader && leader->trouble() == noted.trouble;
  if (is_as_noted && now < noted_at + kStandingAge) return;
  noted_at = now;
  noted.leader = leader->holder();
  noted.trouble = leader->trouble();
  noted.process.is_leading = leader->may_write();
  noted.process.is_ready = is_now_ready;
  Standing standing = noted;
  standing.process = facts();
  standing.process.is_ready = is_now_ready;
  readers->note(std::move(standing));
}

ProcessFacts Scheduler::Loop::facts() const {
  ProcessFacts f;
  f.version = options.version;
  f.is_leading = leader->may_write();
  f.is_ready = is_ready;
  f.requests = api->counters().requests + seen.requests;
  f.request_failures = api->counters().failures + seen.request_failures;
  f.connections = api->counters().connections + seen.connections;
  f.watches = seen.watches;
  for (auto& [resource, watch] : f.watches)
    if (watch.silent) watch.silent = *watch.silent + std::max(Millis(0), api->now() - seen.at);
  if (options.decision_log) f.decision_log = options.decision_log();
  return f;
}

http::ServerResponse Scheduler::Loop::metrics_answer(ReadReplica* replica, const Standing& standing,
                                                     MetricsReader reader) {
  const bool is_public = reader == MetricsReader::kAnybody;
  if (is_public && !public_metrics.body.empty() && api->now() - public_metrics_at < kMetricsAge) return public_metrics;
  http::ServerResponse response = http::text(
      200, metrics.text(replica != nullptr && replica->is_faithful() ? replica : nullptr, standing.process, reader));
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  if (!is_public) return response;
  public_metrics_at = api->now();
  return public_metrics = std::move(response);
}

std::vector<http::Route> Scheduler::Loop::health_routes(MetricsReader reader) {
  return {
      {"/healthz", [](const http::ServerRequest&) { return http::text(200, "ok\n"); }},
      {"/livez", [this](const http::ServerRequest&) { return live_answer(); }},
      {"/readyz",
       [this](const http::ServerRequest&) {
         return is_ready ? http::text(200, "ok\n") : http::text(503, "caches are not synced\n");
       }},
      {.path = "/metrics",
       .handler = {},
       .late = by_readers([this, reader](ReadReplica* replica, const Standing& standing, const http::ServerRequest&) {
         return metrics_answer(replica, standing, reader);
       })},
  };
}

Result<void> Scheduler::Loop::listen() {
  const auto read = [this](http::ServerResponse (*answer)(ReadReplica&, const http::ServerRequest&)) {
    return by_readers([answer](ReadReplica* replica, const Standing& standing, const http::ServerRequest& request) {
      if (!standing.is_in_term) return standby_answer(standing.leader, standing.trouble);
      if (replica == nullptr) return not_ready_answer();
      if (!replica->is_faithful()) return differing_answer();
      return answer(*replica, request);
    });
  };
  if (options.has_probes || options.is_listening) readers = std::make_unique<Readers>();
  const auto start = [](const http::ServerOptions& o, std::vector<http::Route> routes,
                        std::unique_ptr<http::Server>& out) -> Result<void> {
    Result<std::unique_ptr<http::Server>> started = http::Server::start(o, std::move(routes));
    if (!started) return started.error();
    out = std::move(started).value();
    return {};
  };
  if (options.has_probes)
    if (Result<void> started = start(options.probes, health_routes(MetricsReader::kAnybody), probe_server); !started)
      return started;
  if (!options.is_listening) return {};
  std::vector<http::Route> routes = health_routes(MetricsReader::kOperator);
  routes.push_back({.path = "/api/v1/why", .handler = {}, .late = read(answer_why)});
  routes.push_back({.path = "/api/v1/queue", .handler = {}, .late = read(answer_queue)});
  routes.push_back({.path = "/api/v1/nodes", .handler = {}, .late = read(answer_nodes)});
  return start(options.listen, std::move(routes), server);
}

Result<std::unique_ptr<Scheduler>> Scheduler::create(SchedulerOptions options) {
  const Result<Profile> profile =
      live_profile(options.leader_term.profile([](std::string_view) { return DeviceClassId(0u); }));
  if (!profile) return profile.error();
  auto loop = std::make_unique<Loop>(std::move(options));
  Result<std::unique_ptr<Api>> api = Api::create({.access = loop->options.access,
                                                  .user_agent = "ashlar/" + loop->options.version,
                                                  .unacknowledged_max = fence_slack(loop->options.leader)});
  if (!api) return api.error();
  loop->api = std::move(api).value();
  for (const std::string& warning : warnings_about(loop->options.access)) loop->log(LogLevel::kWarning, warning);
  Result<std::unique_ptr<WatchThread>> watches =
      WatchThread::create({.api = {.access = loop->options.access, .user_agent = "ashlar/" + loop->options.version},
                           .watches = {.encoding = loop->options.encoding,
                                       .silence_max = loop->options.watch_silence_max,
                                       .log = loop->options.log},
                           .wake = [l = loop.get()] { l->api->wakeup(); }});
  if (!watches) return watches.error();
  loop->watches = std::move(watches).value();
  loop->leader = std::make_unique<Leader>(
      *loop->api, loop->options.leader,
      Leader::Hooks{.may_take = [l = loop.get()] { return l->seen.is_synced; },
                    .on_started = [l = loop.get()] { l->has_won = true; },
                    .on_stopped =
                        [l = loop.get()] {
                          l->has_won = false;
                          l->has_lost = l->leader_term != nullptr;
                        },
                    .log = [l = loop.get()](const std::string& m) { l->log(LogLevel::kWarning, l->about_lease(m)); },
                    .monotonic = {}});
  if (const Result<void> listening = loop->listen(); !listening) return listening.error();
  return std::unique_ptr<Scheduler>(new Scheduler(std::move(loop)));
}

Scheduler::Scheduler(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Scheduler::~Scheduler() = default;
void Scheduler::run() { loop_->run(); }
void Scheduler::stop() {
  loop_->must_stop = true;
  loop_->api->wakeup();
}
void Scheduler::abandon() {
  loop_->must_abandon = true;
  loop_->api->wakeup();
}
std::uint16_t Scheduler::port() const { return loop_->server ? loop_->server->port() : 0; }
std::uint16_t Scheduler::probe_port() const { return loop_->probe_server ? loop_->probe_server->port() : 0; }

}  // namespace ashlar::kube
