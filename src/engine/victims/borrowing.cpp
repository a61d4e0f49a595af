#include "engine/victims/borrowing.h"

#include <algorithm>
#include <vector>

#include "engine/quota.h"

namespace ashlar {
namespace {

/// What the job's members that the steps place use; as counters.
std::vector<std::int64_t> amounts_placed(const State& state, std::span<const Trial::Step> steps) {
  const std::size_t keys = state.queues().keys().size();
  std::vector<std::int64_t> counters(kQuotaDimensions + keys), by_key(keys);
  each_placement(steps, [&](const Trial::Placement& placed) {
    const Member& m = state.member(placed.member);
    const QuotaVector used = state.quota_of_member(m);
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) counters[d] += used[d];
    add_by_key(state, placed.member, placed.node, placed.devices, by_key);
  });
  std::copy(by_key.begin(), by_key.end(), counters.begin() + kQuotaDimensions);
  return counters;
}

}  // namespace

std::int64_t amount_of_column(const QueueTree& queues, const QueueShares::Column& column,
                              std::span<const std::int64_t> counters) {
  const auto number = static_cast<std::size_t>(quota_number(column.of));
  if (number < kQuotaDimensions) return counters[number];
  const auto key = static_cast<std::size_t>(std::ranges::find(queues.keys(), column.of) - queues.keys().begin());
  return kQuotaDimensions + key < counters.size() ? counters[kQuotaDimensions + key] : 0;
}

void note_new_borrowers(EngineData& e, const State& state, Cycle& cycle, JobId job,
                        std::span<const Trial::Step> steps) {
  const QueueTree& queues = state.queues();
  if (!e.profile->stops_for_a_place() || queues.shares().is_empty()) return;
  const std::vector<std::int64_t> placed = amounts_placed(state, steps);
  for (QueueId q = state.job(job).queue; q != QueueTree::kRoot; q = queues.parent(q))
    for (const QueueShares::Column& column : queues.shares().columns()) {
      const std::int64_t guarantee = QueueShares::guarantee(column, q), used = queues.used(column.of, q);
      if (used <= guarantee || used - amount_of_column(queues, column, placed) > guarantee) continue;
      e.more_victims_at = cycle.plan.look_again_at = cycle.plan.at;
      return;
    }
}

void note_nothing_kept(EngineData& e, const State& state, Cycle& cycle, JobId job, std::span<const Trial::Step> steps) {
  const QueueTree& queues = state.queues();
  if (!queues.shares().keeps_any()) return;
  const std::vector<std::int64_t> placed = amounts_placed(state, steps);
  for (const QueueShares::Column& column : queues.shares().columns()) {
    if (!column.keeps_any || QueueShares::kept(column, QueueTree::kRoot) > 0) continue;
    const std::int64_t amount = amount_of_column(queues, column, placed);
    for (QueueId q = state.job(job).queue; q != QueueTree::kRoot; q = queues.parent(q)) {
      if (queues.idle_without(column.of, q, amount, 0) == 0) continue;
      e.queue_changes_seen = queues.change_count() - 1;
      cycle.plan.look_again_at = cycle.plan.at;
      return;
    }
  }
}

}  // namespace ashlar
