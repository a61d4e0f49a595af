// bench_policy: what each kernel costs per node, alone, on 5,000 nodes of 8 devices with mixed fills; and FGD's
// evaluator, new and remembered answers. Best of N runs of processor time, so that a busy machine disturbs little. A
// kernel over plain columns must stay at a few nanoseconds: a limit missed there means that the compiler no longer
// vectorises its loop.
#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "base/rng.h"
#include "bench_report.h"
#include "policy/profile.h"
#include "policy/score/fgd/mix.h"
#include "state/cluster/cluster.h"

namespace ashlar {
namespace {

constexpr std::size_t kNodes = 5000;
constexpr int kRuns = 30;

double processor_nanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

template <class Work>
double best_of(int runs, Work&& work) {
  double best = 1e18;
  for (int r = 0; r < runs; ++r) {
    const double from = processor_nanoseconds();
    work();
    best = std::min(best, processor_nanoseconds() - from);
  }
  return best;
}

Demand demand_of(std::int64_t cpu_milli, std::int32_t devices, std::int32_t milli_each) {
  Demand d;
  d.amounts = {{resource::kCpu, cpu_milli}, {resource::kMemory, std::int64_t{8} << 30}, {resource::kPods, 1}};
  d.devices = {devices, MilliGpu(milli_each), MiB(0)};
  return d;
}

Cluster filled_cluster(Rng& rng) {
  Cluster cluster;
  cluster.define_levels(1, 0);
  for (std::size_t n = 0; n < kNodes; ++n) {
    NodeFacts f;
    f.allocatable = {128'000, std::int64_t{1} << 40, std::int64_t{1} << 42, 250};
    f.devices.count = 8;
    f.domains = {DomainId(n / 16)};
    cluster.upsert_node(NodeId(n), f);
    for (int c = 0; c < 8; ++c) {
      if (rng.below(5) < 2) continue;
      DeviceMask mask;
      mask.set(c);
      cluster.allocate(
          NodeId(n),
          demand_of(4000, 1, rng.below(2) != 0 ? kWholeDevice : 100 + 50 * static_cast<std::int32_t>(rng.below(16))),
          mask);
    }
  }
  return cluster;
}

FgdMix published_like_mix(Rng& rng) {
  std::vector<FgdSample> samples;
  for (int i = 0; i < 40; ++i) {
    const int devices = i % 7 == 0 ? 0 : i % 11 == 0 ? 8 : 1;
    samples.push_back({static_cast<std::int64_t>(1 + rng.below(30)) * 1000,
                       devices,
                       devices == 0   ? 0
                       : devices == 8 ? kWholeDevice
                                      : 50 * static_cast<std::int32_t>(1 + rng.below(20)),
                       "",
                       {},
                       1000 - 20 * i});
  }
  return make_mix(samples);
}

void bench_kernels(bench::Report& report, const Cluster& cluster, const FgdMix& mix) {
  const Constraint anywhere;
  const struct {
    const char* name;
    Demand demand;
  } asks[] = {{"1 card", demand_of(4000, 1, kWholeDevice)},
              {"300 milli", demand_of(4000, 1, 300)},
              {"no card", demand_of(4000, 0, kWholeDevice)}};
  for (const auto& ask : asks) {
    const NodeView view{cluster, ask.demand, anywhere, &mix, 1};
    std::vector<std::uint16_t> fits(kNodes);
    std::vector<Points> points(kNodes);
    for (const FeasiblePolicy& p : feasible_policies()) {
      if (p.is_by_facts()) continue;  // asked once for each change of a node, not for each decision
      const double ns = best_of(kRuns,
                                [&] {
                                  std::fill(fits.begin(), fits.end(), std::uint16_t{8});
                                  p.lower(view, {0, kNodes}, fits);
                                }) /
                        kNodes;
      report.at_most(std::string(p.name) + ", " + ask.name, ns, "ns/node", 60);
    }
    for (const ScorePolicy& p : score_policies()) {
      if (p.add == nullptr) continue;
      const double ns = best_of(kRuns, [&] { p.add(view, {0, kNodes}, points); }) / kNodes;
      const bool is_plain = p.name == "best-fit" || p.name == "dotprod" || p.name == "spread" || p.name == "random" ||
                            (p.name == "pack-tight" && ask.demand.devices.is_whole());
      report.at_most(std::string(p.name) + ", " + ask.name, ns, "ns/node", is_plain ? 5 : p.name == "fgd" ? 300 : 60);
    }
  }
}

void bench_fgd(bench::Report& report, const FgdMix& mix, Rng& rng) {
  std::vector<std::array<std::int32_t, 8>> devices(4096);
  for (auto& node : devices)
    for (std::int32_t& g : node) g = rng.below(3) != 0 ? kWholeDevice : static_cast<std::int32_t>(rng.below(1001));
  const auto node = [&](std::size_t i) { return FgdNode{50'000, DeviceClassId(), devices[i]}; };
  const DeviceRequest share{1, MilliGpu(300), MiB(0)};
  double sink = 0;
  report.at_most("F of one node, " + std::to_string(mix.classes.size()) + " classes",
                 best_of(kRuns,
                         [&] {
                           for (std::size_t i = 0; i < devices.size(); ++i) sink += fragment_of(mix, node(i));
                         }) /
                     4096,
                 "ns", 150);
  const double fresh = best_of(kRuns, [&] {
    FgdMix copy = mix;  // remembers nothing
    for (std::size_t i = 0; i < devices.size(); ++i) sink += copy.evaluator().best(node(i), 4000, share).score;
  });
  report.at_most("score and card of a share, new answer", fresh / 4096, "ns", 700);
  const double known = best_of(kRuns, [&] {
    for (std::size_t i = 0; i < 4096; ++i) sink += mix.evaluator().best(node(i % 1024), 4000, share).score;
  });
  report.at_most("score and card of a share, remembered answer", known / 4096, "ns", 40);
  if (sink < 0) report.note("sum", sink, "");
}

}  // namespace
}  // namespace ashlar

int main() {
  ashlar::bench::Report report("policy kernels, 5,000 nodes x 8 cards, best of 30");
  ashlar::Rng rng(1);
  const ashlar::Cluster cluster = ashlar::filled_cluster(rng);
  const ashlar::FgdMix mix = ashlar::published_like_mix(rng);
  ashlar::bench_kernels(report, cluster, mix);
  ashlar::bench_fgd(report, mix, rng);
  return report.finish();
}
