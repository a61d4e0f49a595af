// A gang of 64 nodes in a full cluster, for which jobs of lower priority are stopped: the whole decision, with the place
// that is found and the jobs that are in its way.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "parts.h"
#include "world.h"

namespace ashlar::bench {
namespace {

constexpr std::uint32_t kNodes = 5'000, kGang = 64;

World world_with(VictimRule victim) {
  Profile profile = std::move(builtin_profile("ashlar")).value();
  profile.victim = victim;
  return World(std::move(profile), {.has_verdicts = false});
}

/// `filled`: a cluster without an idle device.
double victims_seconds(const World& filled, LevelId within) {
  return best_of(5, [&] {
    World w = filled;
    const DemandId eight = w.demand(kDevices, 64'000);
    w.submit({.demand = eight, .members = kGang, .within = within, .priority = 10, .duration = Millis(3'600'000)});
    Plan plan;
    const double took = seconds([&] { plan = w.decide(); });
    const auto binds =
        std::ranges::count_if(plan.actions, [](const Action& action) { return std::holds_alternative<Bind>(action); });
    return binds == kGang ? took : 1e9;
  });
}

/// One job on each node, or of two to eight on each.
World full_of_nodes(VictimRule victim) {
  World w = world_with(victim);
  w.add_nodes(kNodes);
  w.fill_whole();
  return w;
}
World full_of_parts(VictimRule victim) {
  World w = world_with(victim);
  w.add_nodes(kNodes);
  const DemandId sizes[] = {w.demand(1, 4000), w.demand(2, 8000), w.demand(4, 16'000)};
  Rng rng(7);
  for (std::uint32_t n = 0; n < kNodes; ++n)
    for (std::int32_t idle = kDevices; idle > 0;) {
      const std::size_t size = rng.below(idle >= 4 ? 3 : idle >= 2 ? 2 : 1);
      const Millis duration(3'600'000 + static_cast<std::int64_t>(rng.below(3'600'000)));
      w.tell(Bound{w.state.job(w.submit({.demand = sizes[size], .duration = duration})).first, NodeId(n), {}});
      idle -= 1 << size;
    }
  w.decide();
  return w;
}

}  // namespace

void measure_victims(Report& report) {
  for (const auto& [name, victim] :
       {std::pair("priority", VictimRule::kPriority), {"lost-work", VictimRule::kLostWork}}) {
    const std::string words = std::string(name) + ": jobs stop for a gang of 64 nodes, 5,000 nodes full of ";
    report.at_most(words + "jobs of a node", victims_seconds(full_of_nodes(victim), {}) * 1e3, "ms", 5);
    report.at_most(words + "smaller ones", victims_seconds(full_of_parts(victim), {}) * 1e3, "ms", 15);
    report.at_most(words + "jobs of a node, within a block", victims_seconds(full_of_nodes(victim), kBlock) * 1e3, "ms",
                   5);
  }
}

}  // namespace ashlar::bench
