#include "engine/victims/candidates.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "engine/quota.h"

namespace ashlar {
namespace {

/// Of two queues, neither above the other: the two below the lowest queue that is above both.
struct Siblings {
  QueueId its, other;
};
std::optional<Siblings> siblings_above(const QueueTree& queues, QueueId its, QueueId other) {
  if (queues.is_within(its, other) || queues.is_within(other, its)) return std::nullopt;
  while (!queues.is_within(other, queues.parent(its))) its = queues.parent(its);
  while (!queues.is_within(its, queues.parent(other))) other = queues.parent(other);
  return Siblings{its, other};
}

/// Counters in which a queue has more than its guarantee: of a queue that names none, whatever it uses.
class Claim {
 public:
  Claim(const State& state, JobId job) : queue_(state.job(job).queue), needs_(quota_counters_needed(state, job)) {}

  /// Whether the queue, with the job, stays within all guarantees that it names, and names one of what the job needs.
  bool stays_within(const QueueTree& queues, QueueId queue) const {
    bool names_any = false;
    for (const QueueShares::Column& column : queues.shares().columns()) {
      if (!is_named(column, queue)) continue;
      const std::int64_t needed = needed_of(queues, column);
      if (queues.used(column.of, queue) > QueueShares::guarantee(column, queue) - needed) return false;
      names_any = names_any || needed > 0;
    }
    return names_any;
  }
  /// Whether the other queue has more than its guarantee of something that the job needs and this queue is sure to get.
  bool exceeds(const QueueTree& queues, QueueId queue, QueueId other) const {
    return std::ranges::any_of(queues.shares().columns(), [&](const QueueShares::Column& column) {
      return is_named(column, queue) && needed_of(queues, column) > 0 &&
             queues.used(column.of, other) > QueueShares::guarantee(column, other);
    });
  }
  /// Whether a job of that queue has what is lent to it by a queue of the job.
  bool is_lent(const QueueTree& queues, QueueId borrower) const {
    const auto siblings = siblings_above(queues, queue_, borrower);
    if (!siblings || !stays_within(queues, siblings->its)) return false;
    for (QueueId q = borrower;; q = queues.parent(q)) {
      if (!exceeds(queues, siblings->its, q)) return false;
      if (q == siblings->other) return true;
    }
  }

 private:
  static bool is_named(const QueueShares::Column& column, QueueId queue) {
    return QueueShares::guarantee(column, queue) > 0 || QueueShares::stated(column, queue) != QuotaShare::kNotNamed;
  }
  std::int64_t needed_of(const QueueTree& queues, const QueueShares::Column& column) const {
    const auto number = static_cast<std::size_t>(quota_number(column.of));
    if (number < kQuotaDimensions) return needs_[number];
    const auto key = static_cast<std::size_t>(std::ranges::find(queues.keys(), column.of) - queues.keys().begin());
    return kQuotaDimensions + key < needs_.size() ? needs_[kQuotaDimensions + key] : 0;
  }

  QueueId queue_;
  std::vector<std::int64_t> needs_;
};

/// Takes off what the job's placed members use.
void give_back(const State& state, JobId job, QueueTree& queues) {
  const QueueId queue = state.job(job).queue;
  std::vector<std::int64_t> by_key(queues.keys().size());
  state.each_member(job, [&](MemberId id, const Member& m) {
    if (!m.is_placed()) return;
    queues.charge(queue, state.quota_of_member(m), -1);
    add_by_key(state, id, m.node, m.devices, by_key);
  });
  for (std::size_t key = 0; key < by_key.size(); ++key) queues.charge(key, queue, -by_key[key]);
}

constexpr std::int64_t kNobody = INT64_MAX;

bool may_be_stopped(const Job& running) { return running.is_ours && !running.is_hold; }

}  // namespace

AnyCandidate::AnyCandidate(const State& state) : state_(state), lowest_(state.queues().rows(), kNobody) {
  for (const Timeline::End& end : state.timeline().ends()) {
    const Job& running = state.job(end.job);
    if (!may_be_stopped(running)) continue;
    std::int64_t& lowest = lowest_[running.queue.row()];
    lowest = std::min<std::int64_t>(lowest, running.priority);
  }
}

bool AnyCandidate::exists_for(JobId job) const {
  const Job& waiting = state_.job(job);
  const std::size_t row = waiting.queue.row();
  if (row < lowest_.size() && lowest_[row] != kNobody && lowest_[row] < waiting.priority) return true;
  if (state_.queues().shares().is_empty()) return false;
  const Claim claim(state_, job);
  for (std::size_t other = 0; other < lowest_.size(); ++other)
    if (lowest_[other] != kNobody && claim.is_lent(state_.queues(), QueueId(other))) return true;
  return false;
}

Candidates candidates_for(const State& state, JobId job, JobId first) {
  const Job& waiting = state.job(job);
  std::vector<JobId> own, lent;
  const bool has_guarantees = !state.queues().shares().is_empty();
  for (const Timeline::End& end : state.timeline().ends()) {
    const Job& running = state.job(end.job);
    if (!may_be_stopped(running) || end.job == job) continue;
    if (running.queue != waiting.queue) {
      if (has_guarantees) lent.push_back(end.job);
    } else if (running.priority < waiting.priority) {
      own.push_back(end.job);
    }
  }
  const auto gives_way_before = [&](JobId a, JobId b) {
    if (a == first || b == first) return a == first && b != first;
    const Job &one = state.job(a), &other = state.job(b);
    return std::tuple(one.priority, other.start_seq) < std::tuple(other.priority, one.start_seq);
  };
  std::sort(own.begin(), own.end(), gives_way_before);
  Candidates candidates;
  if (!lent.empty()) {
    std::sort(lent.begin(), lent.end(), gives_way_before);
    const Claim claim(state, job);
    QueueTree left = state.queues();
    for (const JobId borrower : lent) {
      const QueueId queue = state.job(borrower).queue;
      if (!claim.is_lent(state.queues(), queue)) continue;
      if (claim.is_lent(left, queue)) {
        give_back(state, borrower, left);
        candidates.all.push_back(borrower);
      } else {
        candidates.left_out.push_back(borrower);
      }
    }
  }
  candidates.all.insert(candidates.all.end(), own.begin(), own.end());
  return candidates;
}

}  // namespace ashlar
