// Single pods on 5,000 nodes, 60 % full, of some of which everything is held: of the queue for which it is held, of
// another queue, and of jobs that end before a hold begins.
#include <string>

#include "parts.h"
#include "world.h"

namespace ashlar::bench {
namespace {

constexpr QueueId kHolder{1u}, kOther{2u};
constexpr int kSingles = 200;

/// Everything of this many nodes that nobody uses, as one hold.
void hold_nodes(World& w, std::uint32_t nodes, const HoldOwner& owner, Millis from) {
  const DemandId whole = w.demand(kDevices, 128'000);
  Hold hold{.job = JobId(w.next_job++), .parts = {}, .owner = owner, .from = from};
  for (std::uint32_t n = 0; n < w.state.cluster().rows() && hold.parts.size() < nodes; ++n)
    if (w.state.cluster().idle_devices()[n] == kDevices)
      hold.parts.push_back({{MemberId(w.next_member++), whole, ConstraintId(0u)}, NodeId(n), {}});
  w.tell(HoldPlaced{std::move(hold)});
}

double seconds_each_of(World& w, DemandId demand, QueueId queue, Millis duration) {
  return seconds_each(w, kSingles,
                      [&](int) { return JobSpec{.demand = demand, .queue = queue, .duration = duration}; });
}

}  // namespace

void measure_holds(Report& report) {
  for (const std::uint32_t nodes : {10u, 100u, 1000u}) {
    World w;
    w.add_nodes(5000);
    for (const QueueId queue : {kHolder, kOther})
      w.tell(QueueDefined{queue, QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
    w.fill(0.6, 80);
    hold_nodes(w, nodes, {.queue = kHolder, .job = {}}, {});
    const DemandId one = w.demand(1, 4000);
    const std::string held = std::to_string(nodes) + " of 5,000 nodes are held for a queue: single placements of ";
    report.at_least(held + "that queue",
                    1 / best_of(3, [&] { return seconds_each_of(w, one, kHolder, Millis::max()); }), "per second",
                    8000);
    report.at_least(held + "another", 1 / best_of(3, [&] { return seconds_each_of(w, one, kOther, Millis::max()); }),
                    "per second", 250'000);
  }
  World w;
  w.add_nodes(5000);
  w.fill(0.6, 80);
  hold_nodes(w, 1000, {}, w.state.now() + Millis(7'200'000));
  const DemandId one = w.demand(1, 4000);
  const std::string later = "1,000 of 5,000 nodes are held from two hours on: single placements, ";
  report.at_least(later + "one hour",
                  1 / best_of(3, [&] { return seconds_each_of(w, one, QueueId(0u), Millis(3'600'000)); }), "per second",
                  8000);
  report.at_least(later + "unknown duration",
                  1 / best_of(3, [&] { return seconds_each_of(w, one, QueueId(0u), Millis::max()); }), "per second",
                  250'000);
}

}  // namespace ashlar::bench
