#include "engine/victims/stop_for.h"

#include "engine/place/advance.h"
#include "state/ledger.h"

namespace ashlar {

void stop_for(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Entry& entry, std::span<const Stop> stops,
              std::span<const Trial::Placement> places) {
  for (const auto& [victim, reason] : stops) {
    cycle.plan.actions.push_back(Evict{victim.job, e.profile->grace, victim.member, entry.job, reason});
    if (victim.is_whole())
      Ledger(state).give_way(victim.job, entry.job, cycle.plan.at);
    else
      Ledger(state).give_way(victim.member, entry.job);
  }
  Trial trial(state);
  for (const Trial::Placement& place : places) trial.place(place.member, place.node, place.devices);
  commit(e, state, cycle, trial, entry);
}

}  // namespace ashlar
