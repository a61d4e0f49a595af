#include "engine/pending/rekey.h"

#include <vector>

#include "state/ledger.h"

namespace ashlar {

void rekey(EngineData& e, State& state, Cycle& cycle) {
  if (!e.pending.queue_keys().are_compared()) return;
  const QueueKeys::News news = e.pending.look_at_queues(state, cycle.plan.at);
  Ledger(state).forget_usage_changes();
  if (news.is_tree_other) e.reservations.drop_all();
  // An engine that was read back lists its heads now, whether or not there is news.
  if (news.keys.empty()) return e.pending.rekey(news);
  const std::vector<JobId> before = e.reservations.in_order(e.pending);
  e.pending.rekey(news);
  for (const QueueKeys::News::Changed& changed : news.keys) cycle.work.rekey(changed.queue);
  e.reservations.drop_reordered(e.pending, before);
}

}  // namespace ashlar
