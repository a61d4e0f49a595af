// The list of stages. The stage that starts jobs depends on the profile's victim rule; all others are the same for
// every profile.
#include "engine/stage.h"

#include <iterator>

#include "engine/cycle.h"
#include "engine/explain/verdicts.h"
#include "engine/pending/rekey.h"
#include "engine/pending/requeue.h"
#include "engine/pending/wake_in_turn.h"
#include "engine/place/advance.h"
#include "engine/published/cadence.h"
#include "engine/published/kai/kai.h"
#include "engine/published/kueue/kueue.h"
#include "engine/published/preempt_by_count.h"
#include "engine/reserve/held.h"
#include "engine/reserve/holds.h"
#include "engine/victims/stopped_queues.h"
#include "state/ledger.h"

namespace ashlar {
namespace {

constexpr std::size_t kRedefinitionsMin = 16;

/// Searched for when part of them may be outdated, so that a reused row costs little.
void forget_outdated_tables(EngineData& e, State& state, Cycle&) {
  if (state.redefinitions() - e.redefinitions_seen <= kRedefinitionsMin + e.fit_tables.size() / 4) return;
  e.fit_tables.forget_outdated(state);
  e.redefinitions_seen = state.redefinitions();
}

void refresh_reservations(EngineData& e, State& state, Cycle&) {
  e.reservations.refresh(state, e.pending, state.changed_nodes());
  Ledger(state).forget_changed_nodes();
}

constexpr Stage kBefore[] = {
    {"renew holds", renew_holds},
    {"rekey queues", rekey},
    {"stop what stopped queues run", stop_jobs_of_stopped_queues},
    {"absorb changes of the backlog", absorb_changes},
    {"forget outdated fit tables", forget_outdated_tables},
    {"refresh reservations", refresh_reservations},
    {"requeue", requeue},
    {"activate behind moved heads", activate_behind_moved_heads},
    {"wake held jobs", wake_held},
    {"decide at the cadence", decide_at_cadence},
};
/// By VictimRule.
constexpr Stage kStartJobs[kVictimRules] = {
    {"start", advance, true},
    {"preempt and start by count", preempt_by_count, true},
    {"start", advance, true},
    {"start", advance, true},
    {"start as KAI-Scheduler does", kai::start, true},
    {"start as Kueue does", kueue::start, true},
};
/// By Turns, where they are not those of the table above.
constexpr Stage kStartInTurns[] = {
    {},
    {"start as KAI-Scheduler does", kai::start, true},
    {"start as Kueue does", kueue::start, true},
    {"start as Kueue does", kueue::start, true},
};
constexpr Stage kAfter[] = {
    {"end turns", end_turns},
    {"pass over own changes", pass_over_own_changes},
    {"absorb changes of the backlog", absorb_changes},
    {"report newcomers", report_newcomers},
    {"look again at held jobs", look_again_at_held},
};

}  // namespace

std::vector<Stage> stages_of(const Profile& profile) {
  std::vector<Stage> stages(std::begin(kBefore), std::end(kBefore));
  const Turns turns = profile.queue_order->turns;
  stages.push_back(turns == Turns::kOwn ? kStartJobs[static_cast<std::size_t>(profile.victim)]
                                        : kStartInTurns[static_cast<std::size_t>(turns)]);
  stages.insert(stages.end(), std::begin(kAfter), std::end(kAfter));
  return stages;
}

}  // namespace ashlar
