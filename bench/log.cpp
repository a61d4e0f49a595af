// bench_log: what the decision log costs. A pod's life (submitted with its names, bound by the plan, confirmed) on the
// loop's thread in processor time, its bytes on disk, a new file's snapshot with 5,000 nodes and 50,000 pods, and how
// fast a log is replayed. Files go to a temporary folder.
#include <stdlib.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "bench_report.h"
#include "engine/engine.h"
#include "store/decision_log.h"
#include "store/replay.h"
#include "store/snapshot.h"

namespace ashlar {
namespace {

constexpr std::uint32_t kNodes = 5000, kPodsBefore = 50'000, kPods = 20'000, kBatch = 64;

double thread_nanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

struct Names final : store::NameSource {
  void append_name(const store::NameKey& key, std::string& out) const override {
    if (key.kind == store::NameKind::kMember) return;
    out += key.kind == store::NameKind::kJob ? "team-research/train-llama-worker-" : "gpu-node-rack-";
    out += std::to_string(key.row);
  }
};

std::vector<Event> cluster_events() {
  std::vector<Event> events{{Millis(0), LevelsDefined{2, 0}}, {Millis(0), ConstraintDefined{ConstraintId(0), {}}}};
  Demand whole, plain;
  whole.amounts = {{resource::kCpu, 4000}, {resource::kMemory, std::int64_t{8} << 30}, {resource::kPods, 1}};
  whole.devices.count = 1;
  plain.amounts = {{resource::kCpu, 500}, {resource::kMemory, std::int64_t{1} << 30}, {resource::kPods, 1}};
  events.push_back({Millis(0), DemandDefined{DemandId(0), whole}});
  events.push_back({Millis(0), DemandDefined{DemandId(1), plain}});
  for (std::uint32_t n = 0; n < kNodes; ++n) {
    NodeFacts f;
    f.allocatable = {192'000, std::int64_t{2} << 40, std::int64_t{4} << 40, 250};
    f.devices.count = 8;
    f.devices.memory_each = MiB(81'920);
    f.domains = {DomainId(n / 256), DomainId(n / 16)};
    for (std::uint32_t l = 0; l < 12; ++l) f.labels.push_back({LabelKeyId(l), LabelId(l < 10 ? l : n * 2 + l)});
    events.push_back({Millis(0), NodeSeen{NodeId(n), f}});
  }
  return events;
}

Event submission(std::uint32_t pod, std::uint32_t demand) {
  Workload w;
  w.job = JobId(pod);
  w.submitted = Millis(1'700'000'000'000 + pod);
  w.members = {{MemberId(pod), DemandId(demand), ConstraintId(0)}};
  return {w.submitted, Submitted{std::move(w)}};
}

/// The steps of a drain of kPods pods, with what the recorder would be given.
struct Step {
  std::vector<Event> batch;
  Plan plan;
  std::uint64_t digest = 0;
};

int run() {
  bench::Report report("bench log: the decision log, " + std::to_string(kNodes) + " nodes, " +
                       std::to_string(kPodsBefore) + " pods bound, then " + std::to_string(kPods) + " more");
  std::string folder = (std::filesystem::temp_directory_path() / "ashlar-bench-log-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  const Names names;
  State state;
  Engine engine(builtin_profile("ashlar").value());
  for (const Event& event : cluster_events()) apply(state, event);
  for (std::uint32_t p = 0; p < kPodsBefore; ++p) {
    apply(state, submission(p, 1));
    apply(state, {Millis(0), Bound{MemberId(p), NodeId(p % kNodes), {}}});
  }
  engine.decide(state, Millis(1'700'000'000'000));
  double best_snapshot = 1e18;
  std::string snapshot;
  for (int r = 0; r < 5; ++r) {
    snapshot.clear();
    const double from = thread_nanoseconds();
    store::append_snapshot(snapshot, state, engine);
    best_snapshot = std::min(best_snapshot, thread_nanoseconds() - from);
  }
  auto opened = store::DecisionLog::open({.folder = folder}, {state, engine, &names});
  if (!opened) return 1;
  store::DecisionLog& log = **opened;
  const std::uint64_t opening_bytes = log.counts().bytes;
  double recording = 0, best_step = 1e18;
  Plan plan;
  for (std::uint32_t p = 0; p < kPods; p += kBatch) {
    Step step;
    for (const Action& action : plan.actions)
      step.batch.push_back(
          {plan.at, Bound{std::get<Bind>(action).member, std::get<Bind>(action).node, std::get<Bind>(action).devices}});
    for (std::uint32_t i = 0; i < kBatch; ++i) step.batch.push_back(submission(kPodsBefore + p + i, 0));
    for (const Event& event : step.batch) apply(state, event);
    plan = engine.decide(state, Millis(1'700'000'000'000 + p));
    const double from = thread_nanoseconds();
    log.record(step.batch, plan, state.digest());
    const double spent = thread_nanoseconds() - from;
    recording += spent;
    if (!plan.actions.empty()) best_step = std::min(best_step, spent);
  }
  log.flush();
  const std::uint64_t steps = log.counts().steps;
  const double bytes_a_pod = static_cast<double>(log.counts().bytes - opening_bytes) / kPods;
  opened = Error{};
  const auto from = std::chrono::steady_clock::now();
  const auto replayed = store::replay_file(folder);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
  std::filesystem::remove_all(folder);
  report.at_most("recording a pod's life, mean (ns of processor time)", recording / kPods, "ns", 2000);
  report.note("recording a pod's life, best step of 64", best_step / kBatch, "ns");
  report.at_most("bytes on disk for a pod's life", bytes_a_pod, "bytes", 300);
  report.note("snapshot of a new file", best_snapshot / 1e6, "ms");
  report.note("its size", static_cast<double>(snapshot.size()) / 1e6, "MB");
  report.note("reading it back and replaying the drain", seconds, "s");
  const bool is_identical = replayed.ok() && replayed->is_identical() && replayed->steps == steps;
  std::printf("  %s\n", is_identical ? "all plans identical" : "PLANS DIFFER");
  return is_identical ? report.finish() : 1;
}

}  // namespace
}  // namespace ashlar

int main() { return ashlar::run(); }
