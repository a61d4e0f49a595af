#include "live/lead/scheduler.h"

#include <chrono>
#include <utility>
#include <vector>

#include "kubeclient/decode/server_fields.h"
#include "live/read/read_api.h"
#include "live/read/readers.h"
#include "live/watch/watch_thread.h"

namespace ashlar::kube {
namespace {

constexpr Millis kPollMax{500};  ///< a signal to stop is noticed within this time
/// anybody may ask for metrics at any rate: on the probes' port a text serves so long
constexpr Millis kMetricsAge{1'000};
constexpr Millis kStandingAge{20};     ///< readers are given the process's numbers so often at most
constexpr Millis kStuckAfter{30'000};  ///< a thread without a turn for this long does not recover: /livez reports it
/// a leader that cannot decide for this long steps down; longer than a list of 150,000 pods takes
constexpr Millis kProgressMax{30'000};
/// readers whose replica was given up begin anew so often at most: what made it useless may do so again
constexpr Millis kAnewMin{60'000};

std::string not_run_for(const char* thread, Millis silent) {
  return std::string(thread) + " has not run for " + std::to_string(silent.value / 1000) + " s";
}

}  // namespace

struct Scheduler::Loop {
  /// A thread as the main loop sees it.
  struct Watched {
    const char* name;
    std::atomic<std::int64_t> moved_at{0};  ///< monotonic; 0: it was not looked at yet
    bool is_stuck = false;                  ///< when it was last looked at
  };
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
  Watched turning{"the event loop"}, reading{"the reading thread"}, answering{"the readers' thread"};
  Millis decided_at;  ///< monotonic; when a leader was last able to decide
  bool has_won = false, has_lost = false;
  Millis noted_at;                      ///< steady; when readers were last given the process's standing
  Standing noted;                       ///< then, without numbers
  http::ServerResponse public_metrics;  ///< as last made for the probes' port; for the readers' thread
  Millis public_metrics_at;             ///< monotonic; the same
  Millis anew_at;                       ///< monotonic; when readers last began anew; 0: never
  bool is_fault_said = false;           ///< of the readers' present replica
  std::uint64_t faults = 0;             ///< replicas given up

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
  void look_at_threads();
  Millis silence_of(const Watched& thread) const { return options.monotonic() - Millis(thread.moved_at.load()); }
  void mend_readers();
  void log_unknown_fields();

  // ---- queries ------------------------------------------------------------------------------------------------------
  Result<void> listen();
  std::vector<http::Route> health_routes(MetricsReader reader);
  http::ServerResponse metrics_answer(ReadReplica* replica, const Standing& standing, MetricsReader reader);
  http::LateHandler by_readers(
      std::function<http::ServerResponse(ReadReplica*, const Standing&, const http::ServerRequest&)> answer,
      Readers::Rank rank = Readers::Rank::kInTurn);
  ProcessFacts facts() const;
  void note_standing(bool is_now_ready);
  /// Any thread. A silent or unreachable server is no reason to end this process, only a thread that hangs. What is
  /// known of the others is as old as the loop's last turn, so the loop comes first.
  http::ServerResponse live_answer() const {
    for (const Watched* thread : {&turning, &reading, &answering})
      if (thread->moved_at != 0 && silence_of(*thread) > kStuckAfter)
        return http::text(503, not_run_for(thread->name, silence_of(*thread)) + "\n");
    return http::text(200, "ok\n");
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

/// The loop itself last: what it knows of the others is never older than its own turn. After a long absence (the
/// machine slept, say) it knows nothing.
void Scheduler::Loop::look_at_threads() {
  const bool knows_nothing = turning.moved_at == 0 || silence_of(turning) > kStuckAfter;
  const auto look = [&](Watched& thread, bool has_moved) {
    if (has_moved || knows_nothing) thread.moved_at = options.monotonic().value;
    const bool was_stuck = std::exchange(thread.is_stuck, silence_of(thread) > kStuckAfter);
    if (thread.is_stuck && !was_stuck) log(Level::kError, not_run_for(thread.name, silence_of(thread)));
    if (!thread.is_stuck && was_stuck) log(Level::kInfo, std::string(thread.name) + " runs again");
  };
  look(reading, watches->has_moved());
  look(answering, !readers || readers->has_moved());
  look(turning, true);
}

/// Once their replica was given up, a copy takes its place.
void Scheduler::Loop::mend_readers() {
  const Readers::Fault fault = readers->fault();
  const bool has_fault = fault.kind != ReadersFault::kNone;
  if (has_fault && !is_fault_said) {
    ++faults;
    const bool differs = fault.kind == ReadersFault::kDiffers;
    log(Level::kError,
        differs
            ? "the state kept for readers differs from the scheduler's own since step " + std::to_string(fault.steps) +
                  ", decided at " + std::to_string(fault.decided_at.value) + " ms: a bug; queries are refused"
            : "the state kept for readers is given up: more than " + std::to_string(options.readers.news_max) +
                  " steps behind; queries are refused until it can be copied again");
  }
  is_fault_said = has_fault;
  const bool is_too_soon = anew_at != Millis(0) && options.monotonic() < anew_at + kAnewMin;
  if (!has_fault || !fault.is_let_go || is_too_soon) return;
  std::unique_ptr<ReadReplica> replica = leader_term->copy_replica([this] { return api->now(); });
  if (!replica) return;
  anew_at = options.monotonic();
  is_fault_said = false;
  readers->begin(std::move(replica));
}

Millis Scheduler::Loop::turn() {
  look_at_threads();
  if (has_lost) end_leader_term();
  if (has_won) begin_leader_term();
  // Another replica leads, or none: keep following, so as to be warm.
  if (!leader_term && leader->has_seen_lease()) watches->start();
  take_changes();
  if (leader_term && readers) mend_readers();
  const Millis next = leader_term && seen.is_synced ? leader_term->turn() : Millis::max();
  note_standing(seen.is_synced);
  is_ready = seen.is_synced;  // last: once it is seen, readers are up to date
  if (!leader_term) return Millis::max();
  if (reading.is_stuck) leader->give_way(not_run_for(reading.name, silence_of(reading)));
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

/// What a newer server has; best effort, since what pods say of it is found in any case.
void Scheduler::Loop::log_unknown_fields() {
  ask_unknown_server_fields(*api, [this](const Result<std::vector<std::string>>& unknown) {
    if (!unknown) return log(Level::kDebug, "unknown fields are not listed: " + unknown.error().message);
    if (unknown->empty()) return;
    std::string names;
    for (const std::string& name : *unknown) names += (names.empty() ? "" : ", ") + name;
    log(Level::kWarning, "the API server has fields that this release does not know: " + bounded_words(names, 1000) +
                             "; pods that use such a field of their spec are not placed");
  });
}

void Scheduler::Loop::run() {
  look_at_threads();
  log_unknown_fields();
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
  const Millis until = options.monotonic() + options.drain_max;
  bool is_drained = true;
  if (leader_term) {
    leader_term->stop_deciding();
    while (!leader_term->is_idle() && options.monotonic() < until) {
      look_at_threads();
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
  while (!is_released && options.monotonic() < until) api->poll(Millis(50));
}

// ---- queries --------------------------------------------------------------------------------------------------------

/// Answers on the readers' thread; that of the server and the loop continue meanwhile.
http::LateHandler Scheduler::Loop::by_readers(
    std::function<http::ServerResponse(ReadReplica*, const Standing&, const http::ServerRequest&)> answer,
    Readers::Rank rank) {
  return [this, answer = std::move(answer), rank](const http::ServerRequest& request, http::Reply reply) {
    if (is_ending || must_stop) return reply(http::text(503, "stopping\n"));
    readers->ask([answer, request](ReadReplica* replica,
                                   const Standing& standing) { return answer(replica, standing, request); },
                 std::move(reply), rank);
  };
}

/// At most every few milliseconds, unless it matters at once.
void Scheduler::Loop::note_standing(bool is_now_ready) {
  if (!readers) return;
  const Millis now = steady_now();
  // a lease that this process holds on the server, but may not use, is nobody's
  const std::string holder = leader->holder() == identity() && !leader->may_write() ? "" : leader->holder();
  const std::string& trouble = leader->trouble().empty() ? seen.trouble : leader->trouble();
  const bool is_as_noted = is_now_ready == noted.process.is_ready && leader->may_write() == noted.process.is_leading &&
                           holder == noted.leader && trouble == noted.trouble;
  if (is_as_noted && now < noted_at + kStandingAge) return;
  noted_at = now;
  noted.leader = holder;
  noted.trouble = trouble;
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
    if (watch.silent) watch.silent = *watch.silent + (options.monotonic() - seen.at);
  f.replicas_given_up = faults;
  if (options.decision_log) f.decision_log = options.decision_log();
  return f;
}

http::ServerResponse Scheduler::Loop::metrics_answer(ReadReplica* replica, const Standing& standing,
                                                     MetricsReader reader) {
  const bool is_public = reader == MetricsReader::kAnybody;
  const Millis now = options.monotonic();
  if (is_public && !public_metrics.body.empty() && now - public_metrics_at < kMetricsAge) return public_metrics;
  ProcessFacts process = standing.process;
  process.is_replica_given_up = standing.fault != ReadersFault::kNone;
  http::ServerResponse response = http::text(200, metrics.text(replica, process, reader));
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  if (!is_public) return response;
  public_metrics_at = now;
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
       .late =
           by_readers([this, reader](ReadReplica* replica, const Standing& standing,
                                     const http::ServerRequest&) { return metrics_answer(replica, standing, reader); },
                      reader == MetricsReader::kAnybody ? Readers::Rank::kFirst : Readers::Rank::kInTurn)},
  };
}

Result<void> Scheduler::Loop::listen() {
  const auto read = [this](http::ServerResponse (*answer)(ReadReplica&, const http::ServerRequest&)) {
    return by_readers([answer](ReadReplica* replica, const Standing& standing, const http::ServerRequest& request) {
      if (std::optional<http::ServerResponse> refused = refusal(standing, replica)) return *std::move(refused);
      return answer(*replica, request);
    });
  };
  options.readers.monotonic = options.monotonic;
  if (options.has_probes || options.is_listening) readers = std::make_unique<Readers>(options.readers);
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
  Result<std::unique_ptr<WatchThread>> watches = WatchThread::create(
      {.api = {.access = loop->options.access, .user_agent = "ashlar/" + loop->options.version},
       .watches = {.silence_max = loop->options.watch_silence_max,
                   .follows_queues = static_cast<bool>(loop->options.leader_term.tracker.read_queue),
                   .follows_selecting = !loop->options.leader_term.tracker.spread_defaults.is_off(),
                   .log = loop->options.log},
       .wake = [l = loop.get()] { l->api->wakeup(); },
       .monotonic = loop->options.monotonic});
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
