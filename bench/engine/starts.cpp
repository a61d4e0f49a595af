// Pods and gangs that start at once on 5,000 and 12,500 nodes, 60 % full: how fast, by how many kinds there are, and
// beside a reservation. A kind is a request and a constraint.
#include <string>
#include <utility>
#include <vector>

#include "parts.h"
#include "world.h"

namespace ashlar::bench {
namespace {

constexpr int kSingles = 5000;
constexpr std::uint32_t kEmptyNodesPerBlock = 80;

using Kind = std::pair<DemandId, ConstraintId>;

/// This many kinds of pods with one device.
std::vector<Kind> kinds_of_pods(World& w, int count) {
  const int constraints = count == 1 ? 1 : 5;
  std::vector<ConstraintId> without;
  for (int c = 0; c < constraints; ++c) without.push_back(w.constraint_without(LabelId(static_cast<unsigned>(c))));
  std::vector<Kind> kinds;
  for (int k = 0; k < count; k += constraints) {
    const DemandId one = w.demand(1, 4000 + k);
    for (int c = 0; c < constraints && k + c < count; ++c)
      kinds.emplace_back(one, without[static_cast<std::size_t>(c)]);
  }
  return kinds;
}

double seconds_each_of(World& w, const std::vector<Kind>& kinds, Millis duration = Millis::max(),
                       int singles = kSingles) {
  return seconds_each(w, singles, [&](int i) {
    const Kind& kind = kinds[static_cast<std::size_t>(i) % kinds.size()];
    return JobSpec{.demand = kind.first, .constraint = kind.second, .duration = duration};
  });
}

std::string on(std::uint32_t nodes) { return std::to_string(nodes) + " nodes x 8, 60 % full: "; }

World filled(std::uint32_t nodes) {
  World w;
  w.add_nodes(nodes);
  w.fill(0.6, kEmptyNodesPerBlock);
  return w;
}

/// Seconds for a gang of 64 x 8 within a block, of that demand or of a new one each time.
double gang_seconds(World& w, DemandId eight) {
  const JobId gang = w.submit({.demand = eight, .members = 64, .within = kBlock});
  const double took = seconds([&] { w.decide(); });
  const bool is_placed = w.state.job(gang).members_placed == 64;
  w.tell(Ended{gang});
  w.settle();
  return is_placed ? took : 1e9;
}

double trial_seconds(World& w, DemandId eight) {
  const JobId gang = w.submit({.demand = eight, .members = 64, .within = kBlock});
  std::vector<std::pair<MemberId, NodeId>> where;
  std::uint32_t n = 0;
  w.state.each_member(gang, [&](MemberId m, const Member&) { where.emplace_back(m, NodeId(n++)); });
  DeviceMask all;
  for (int i = 0; i < kDevices; ++i) all.set(i);
  const double took = seconds([&] {
    Trial trial(w.state);
    for (const auto& [m, node] : where) trial.place(m, node, all);
  });
  w.tell(Ended{gang});
  return took;
}

}  // namespace

void measure_starts(Report& report) {
  struct Case {
    int kinds;
    double least;
  };
  for (const auto& [count, least] : {Case{1, 300'000}, Case{50, 250'000}, Case{kSingles, 100'000}}) {
    World w = filled(5000);
    const std::vector<Kind> kinds = kinds_of_pods(w, count);
    const std::string what = count == 1          ? ""
                             : count == kSingles ? ", each its own kind"
                                                 : ", " + std::to_string(count) + " kinds";
    report.at_least(on(5000) + "single placements" + what, 1 / best_of(3, [&] { return seconds_each_of(w, kinds); }),
                    "per second", least);
  }
  World w = filled(12'500);
  const std::vector<Kind> one = kinds_of_pods(w, 1);
  report.at_least(on(12'500) + "single placements", 1 / best_of(3, [&] { return seconds_each_of(w, one); }),
                  "per second", 150'000);
}

void measure_reserved(Report& report) {
  struct Case {
    std::uint32_t members;
    LevelId within;
    int singles;  ///< as many as fit beside it
    double least;
  };
  for (const auto& [members, within, singles, least] :
       {Case{200, kBlock, kSingles, 100'000}, Case{4000, {}, 500, 50'000}}) {
    World w = filled(5000);
    const std::vector<Kind> one = kinds_of_pods(w, 1);
    w.submit({.demand = w.demand(8, 32'000), .members = members, .within = within, .duration = Millis(7'200'000)});
    w.decide();
    const std::string beside = std::to_string(members) + " x 8 holds a reservation: single placements, ";
    report.at_least(beside + "two days",
                    1 / best_of(3, [&] { return seconds_each_of(w, one, Millis(172'800'000), singles); }), "per second",
                    least);
    report.at_least(beside + "unknown duration",
                    1 / best_of(3, [&] { return seconds_each_of(w, one, Millis::max(), singles); }), "per second",
                    least);
  }
}

void measure_gangs(Report& report) {
  for (const std::uint32_t nodes : {5000u, 12'500u}) {
    World w = filled(nodes);
    const DemandId eight = w.demand(8, 32'000);
    report.at_most(on(nodes) + "gang of 64 x 8 within a block",
                   best_of(5, [&] { return gang_seconds(w, eight); }) * 1e6, "us", 10);
    std::int64_t cpu = 32'000;
    report.at_most(on(nodes) + "the same of a new kind",
                   best_of(5, [&] { return gang_seconds(w, w.demand(8, ++cpu)); }) * 1e6, "us", 60);
    report.at_most(on(nodes) + "open a trial of that gang and roll it back",
                   best_of(20, [&] { return trial_seconds(w, eight); }) * 1e6, "us", 20);
  }
}

}  // namespace ashlar::bench
