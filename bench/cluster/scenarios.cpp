#include "scenarios.h"

#include <cmath>
#include <set>

#include "kubeclient/reflector.h"

namespace ashlar::bench {
namespace {

double between(steady_clock::time_point from, steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// Nothing where the counters could not be read.
std::optional<double> total(const std::map<std::string, double>& writes) {
  if (writes.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& [what, count] : writes)
    if (what.find("leases") == std::string::npos) sum += count;
  return sum;
}

/// Polls the server's counters until no write came for five seconds; returns the count and when the last one was
/// noticed.
std::pair<double, steady_clock::time_point> settle(Arena& arena, double patience) {
  double count = total(arena.writes()).value_or(0);
  auto last = steady_clock::now();
  const auto start = last;
  while (seconds_since(last) < 5 && seconds_since(start) < patience) {
    const auto pause = steady_clock::now();
    while (seconds_since(pause) < 0.25) arena.api().poll(Millis(50));
    const std::optional<double> now = total(arena.writes());
    if (!now || *now == count) continue;
    last = steady_clock::now();
    count = *now;
  }
  return {count, last};
}

/// Waits until a freshly started scheduler stands: its first own write or watch cannot be seen from outside, so a probe
/// pod is bound.
bool warm_up(Arena& arena, const Scheduler& scheduler) {
  const std::string ns = arena.fresh_namespace();
  Observer observer(arena.api(), ns);
  observer.start();
  arena.create(ns, {.prefix = "probe", .size = 1}, scheduler);
  const bool is_up = observer.wait_for(1, 60);
  arena.delete_pods(ns);
  return is_up;
}

struct Running {
  cluster::ChildProcess* process = nullptr;
  ~Running() {
    if (process != nullptr) process->stop(Millis(5000));
  }
};

/// Who holds Ashlar's Lease, and how long did it stand unrenewed? look() reads it, four times a second at most.
class LeaseWatch {
 public:
  explicit LeaseWatch(Arena& arena) : arena_(arena) {}
  void look() {
    if (seconds_since(looked_) < 0.25) return;
    looked_ = steady_clock::now();
    const kube::Answer answer = kube::call(
        arena_.api(),
        {.path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/ashlar-scheduler", .timeout = Millis(5000)});
    const auto lease = answer.ok() ? kube::decode_object<kube::Lease>(answer.body) : Result<kube::Lease>(kube::Lease{});
    if (!lease || lease->holder.empty()) return;
    if (holders_.insert(lease->holder).second || lease->renewed != renewed_)
      renewed_ = lease->renewed, since_ = steady_clock::now();
    oldest_ = std::max(oldest_, seconds_since(since_));
  }
  bool is_held() const { return !holders_.empty(); }
  std::size_t holders() const { return holders_.size(); }
  double oldest_seconds() const { return oldest_; }

 private:
  Arena& arena_;
  std::set<std::string> holders_;
  Millis renewed_;
  steady_clock::time_point looked_{}, since_{};
  double oldest_ = 0;
};

}  // namespace

DrainResult drain(Arena& arena, const Scheduler& scheduler, const Batch& batch, double patience_seconds) {
  DrainResult result;
  const std::string ns = arena.fresh_namespace();
  arena.create(ns, batch, scheduler);
  Observer observer(arena.api(), ns);
  observer.start();
  const double writes_before = total(arena.writes()).value_or(0);
  Running running;
  const auto start = steady_clock::now();
  auto process = arena.start(scheduler);
  if (!process) {
    std::fprintf(stderr, "%s: %s\n", scheduler.label().c_str(), process.error().message.c_str());
    return result;
  }
  running.process = *process;
  result.is_complete = observer.wait_for(batch.pods(), patience_seconds);
  result.rate = result.is_complete ? observer.rate() : static_cast<double>(observer.bound()) / patience_seconds;
  result.to_first_seconds = between(start, observer.first());
  result.scheduler_cpu_seconds = static_cast<double>(running.process->cpu_time().value) / 1000;
  const auto [writes, last_write] = settle(arena, 60);
  result.writes_per_pod = (writes - writes_before) / static_cast<double>(batch.pods());
  result.lane_empty_seconds = std::max(0.0, between(observer.last(), last_write));
  result.resident_mib = static_cast<double>(running.process->resident().value) / 1048576.0;
  arena.delete_pods(ns);
  return result;
}

DrainResult arrive(Arena& arena, const Scheduler& scheduler, const Batch& batch, double patience_seconds) {
  DrainResult result;
  Running running;
  auto process = arena.start(scheduler);
  if (!process) return result;
  running.process = *process;
  if (!warm_up(arena, scheduler)) return result;
  const std::string ns = arena.fresh_namespace();
  Observer observer(arena.api(), ns);
  observer.start();
  const Millis cpu_before = running.process->cpu_time();
  arena.create(ns, batch, scheduler);
  result.is_complete = observer.wait_for(batch.pods(), patience_seconds);
  result.rate = result.is_complete ? observer.rate() : static_cast<double>(observer.bound()) / patience_seconds;
  result.scheduler_cpu_seconds = static_cast<double>((running.process->cpu_time() - cpu_before).value) / 1000;
  arena.delete_pods(ns);
  return result;
}

std::optional<double> last_bind_after_last_create(Arena& arena, const Scheduler& scheduler, const Batch& gang,
                                                  double patience_seconds) {
  Running running;
  auto process = arena.start(scheduler);
  if (!process) return std::nullopt;
  running.process = *process;
  if (!warm_up(arena, scheduler)) return std::nullopt;
  const std::string ns = arena.fresh_namespace();
  Observer observer(arena.api(), ns);
  observer.start();
  arena.create(ns, gang, scheduler);
  const auto created = steady_clock::now();
  const bool is_bound = observer.wait_for(gang.pods(), patience_seconds);
  const double took = between(created, observer.last());
  arena.delete_pods(ns);
  return is_bound ? std::optional(std::max(took, 0.0)) : std::nullopt;
}

std::optional<double> critical_amid_backlog(Arena& arena, const Scheduler& scheduler, const Batch& backlog,
                                            const Batch& critical, std::size_t after_bound) {
  const std::string ns = arena.fresh_namespace();
  arena.create(ns, backlog, scheduler);
  Observer observer(arena.api(), ns);
  observer.start();
  Running running;
  auto process = arena.start(scheduler);
  if (!process) return std::nullopt;
  running.process = *process;
  if (!observer.wait_for(after_bound, 120)) return std::nullopt;
  arena.create(ns, critical, scheduler);
  const auto created = steady_clock::now();
  while (observer.bound_of(critical.prefix + "-") < critical.pods() && seconds_since(created) < 60)
    arena.api().poll(Millis(5));
  const bool is_bound = observer.bound_of(critical.prefix + "-") == critical.pods();
  const double took = between(created, observer.last_of(critical.prefix + "-"));
  const std::size_t left =
      backlog.pods() + critical.pods() - std::min(observer.bound(), backlog.pods() + critical.pods());
  std::printf("    (%zu pods of the backlog still waited)\n", left);
  arena.delete_pods(ns);
  return is_bound ? std::optional(std::max(took, 0.0)) : std::nullopt;
}

RefusalResult refusal(Arena& arena, const Scheduler& scheduler, const Batch& gang, double patience_seconds) {
  RefusalResult result;
  Running running;
  auto process = arena.start(scheduler);
  if (!process) return result;
  running.process = *process;
  const auto settling = steady_clock::now();
  while (seconds_since(settling) < 6) arena.api().poll(Millis(50));
  const std::string ns = arena.fresh_namespace();
  std::size_t refused_pods = 0;
  steady_clock::time_point first_pod{}, last_pod{}, group_at{};
  std::unordered_map<std::string, bool> has_condition;
  kube::Reflector<kube::Pod> pods(arena.api(), {.path = "/api/v1/namespaces/" + ns + "/pods"},
                                  [&](kube::Change<kube::Pod>&& change) {
                                    if (change.object.scheduled.status != kube::ConditionStatus::kFalse ||
                                        has_condition[std::string(change.object.name)])
                                      return;
                                    has_condition[std::string(change.object.name)] = true;
                                    last_pod = steady_clock::now();
                                    if (refused_pods++ == 0) first_pod = last_pod;
                                  });
  kube::Reflector<kube::PodGroup> groups(
      arena.api(), {.path = "/apis/scheduling.k8s.io/v1beta1/namespaces/" + ns + "/podgroups"},
      [&](kube::Change<kube::PodGroup>&& change) {
        if (change.object.scheduled.status != kube::ConditionStatus::kFalse || group_at != steady_clock::time_point{})
          return;
        group_at = steady_clock::now();
        result.message =
            std::string(change.object.scheduled.reason) + ": " + std::string(change.object.scheduled.message);
      });
  pods.start();
  groups.start();
  while (!pods.is_synced() || !groups.is_synced()) arena.api().poll(Millis(50));
  arena.create(ns, gang, scheduler);
  const auto created = steady_clock::now();
  while (seconds_since(created) < patience_seconds &&
         (refused_pods < gang.pods() || group_at == steady_clock::time_point{}))
    arena.api().poll(Millis(10));
  const auto after = [&](steady_clock::time_point t) {
    return t == steady_clock::time_point{} ? -1.0 : std::max(0.0, between(created, t));
  };
  result.group_seconds = after(group_at);
  result.first_pod_seconds = after(first_pod);
  result.all_pods_seconds = refused_pods == gang.pods() ? after(last_pod) : -1;
  arena.delete_pods(ns);
  return result;
}

KindsResult kinds(Arena& arena, const Batch& waiting, std::size_t nodes, std::size_t rounds) {
  constexpr double kPatience = 120;
  constexpr std::size_t kRelabelled = 20;
  KindsResult result{.is_bound = true, .rounds = rounds};
  const std::string filled = arena.fresh_namespace(), ns = arena.fresh_namespace();
  arena.create_bound(filled, nodes, nodes, 8);
  const Scheduler scheduler{.kind = Scheduler::Kind::kAshlar, .holds_lease = true};
  arena.create(ns, waiting, scheduler);
  Observer observer(arena.api(), ns);
  observer.start();
  Running running;
  auto process = arena.start(scheduler);
  if (!process) return {};
  running.process = *process;
  LeaseWatch lease(arena);
  const auto start = steady_clock::now();
  while (!lease.is_held() && seconds_since(start) < 60) lease.look(), arena.api().poll(Millis(20));
  for (std::size_t round = 0; round < rounds && result.is_bound; ++round) {
    kube::call(arena.api(),
               {.method = http::Method::kDelete,
                .path = kube::pod_path(filled, "filler-" + std::to_string(round)) + "?gracePeriodSeconds=0",
                .timeout = Millis(30'000)});
    const auto ended = steady_clock::now();
    pump(arena.api(), kRelabelled, kRelabelled, [&](std::size_t i, kube::OnAnswer on_answer) {
      arena.relabel(node_name((round * kRelabelled + i) % nodes), "tick", std::to_string(round), std::move(on_answer));
    });
    while (observer.bound() <= round && seconds_since(ended) < kPatience) lease.look(), arena.api().poll(Millis(10));
    result.is_bound = observer.bound() > round;
    double& took = round == 0 ? result.to_first_seconds : result.slowest_seconds;
    took = std::max(took, seconds_since(ended));
  }
  result.lease_age_seconds = lease.oldest_seconds();
  result.lease_holders = lease.holders();
  result.resident_mib = static_cast<double>(running.process->resident().value) / 1048576.0;
  arena.delete_pods(ns);
  arena.delete_pods(filled);
  return result;
}

DrainResult start_to_first_bind(Arena& arena, const Scheduler& scheduler) {
  return drain(arena, scheduler, {.prefix = "one", .size = 1}, 120);
}

}  // namespace ashlar::bench
