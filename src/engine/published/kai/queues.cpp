#include "engine/published/kai/queues.h"

#include <algorithm>
#include <array>

#include "engine/published/kai/fair_shares.h"
#include "engine/quota.h"
#include "state/cluster/capacity.h"

namespace ashlar::kai {
namespace {

/// From this priority on others do not stop a job.
constexpr std::int32_t kUnstoppableFrom = 100;
/// What counts as used of a resource of which a queue is able to have nothing.
constexpr double kBeyondNothing = 1000;
/// Of a GPU, a core and a byte.
constexpr std::int64_t kUnits[kQuotaDimensions] = {1000, 1, 1};

void add(QuotaVector& sum, const QuotaVector& amounts, std::int64_t sign = 1) {
  for (std::size_t d = 0; d < kQuotaDimensions; ++d) sum[d] += sign * amounts[d];
}

QuotaVector placed_of(const State& state, JobId job) {
  QuotaVector sum{};
  state.each_member(job, [&](MemberId, const Member& m) {
    if (m.is_placed()) add(sum, state.quota_of_member(m));
  });
  return sum;
}

/// What the nodes that take pods have, less what other schedulers' pods have of them.
QuotaVector total_of(const State& state) {
  const Cluster& cluster = state.cluster();
  QuotaVector total{};
  for (std::size_t row = 0; row < cluster.rows(); ++row) {
    const NodeId node(row);
    if (!cluster.is_live(node) || !cluster.facts(node).is_ready) continue;
    for (std::size_t d = 0; d < kQuotaDimensions; ++d)
      add_saturated(total[d], capacity_of(cluster, node, quota_key(static_cast<std::int64_t>(d))));
    state.each_on(node, [&](const Member& m) {
      if (!state.job(m.job).is_ours) add(total, quota_of(state.demand(m.demand)), -1);
    });
  }
  return total;
}

/// A queue that names what it is sure to get of some resource deserves of the others what it requests.
QuotaVector deserved_of(const QueueTree& queues, QueueId queue) {
  QuotaVector deserved{};
  bool names_any = false;
  std::array<bool, kQuotaDimensions> is_named{};
  for (const QueueShares::Column& column : queues.shares().columns()) {
    const std::int64_t stated = QueueShares::stated(column, queue);
    const std::int64_t number = quota_number(column.of);
    if (stated == QuotaShare::kNotNamed) continue;
    names_any = true;
    if (number >= static_cast<std::int64_t>(kQuotaDimensions)) continue;
    deserved[static_cast<std::size_t>(number)] = stated;
    is_named[static_cast<std::size_t>(number)] = true;
  }
  for (std::size_t d = 0; d < kQuotaDimensions; ++d)
    if (names_any && !is_named[d]) deserved[d] = kUnlimited;
  return deserved;
}

}  // namespace

bool is_preemptible(const Job& job) { return job.priority < kUnstoppableFrom && !job.stopping.is_unstoppable; }

bool is_within(const QuotaVector& a, const QuotaVector& b) {
  for (std::size_t d = 0; d < kQuotaDimensions; ++d)
    if (a[d] > b[d]) return false;
  return true;
}
QuotaVector sum_of(const QuotaVector& a, const QuotaVector& b) {
  QuotaVector sum = a;
  add_saturated(sum, b);
  return sum;
}
QuotaVector without(const QuotaVector& a, const QuotaVector& b) {
  QuotaVector left = a;
  add(left, b, -1);
  return left;
}

Queues::Queues(const State& state, std::span<const QuotaVector> waiting) : state_(state), total_(total_of(state)) {
  const QueueTree& tree = state.queues();
  const std::size_t rows = std::max(tree.rows(), waiting.size());
  terms_.resize(rows);
  std::vector<std::vector<QueueId>> children(rows);
  std::vector<QuotaVector> requests(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const QueueId queue(row);
    const bool is_seen = row < tree.rows();
    terms_[row] = {.deserved = deserved_of(tree, queue),
                   .limit = is_seen ? tree.stated_quota(queue) : QuotaVector{kUnlimited, kUnlimited, kUnlimited},
                   .share = {},
                   .priority = is_seen ? tree.rank(queue).priority : 0,
                   .age = static_cast<std::uint32_t>(row)};
    if (queue != QueueTree::kRoot) children[tree.parent(queue).row()].push_back(queue);
    add_saturated(requests[row], allocated(queue));
    if (row >= waiting.size()) continue;
    for (QueueId q = queue; !q.is_none(); q = tree.parent(q)) add_saturated(requests[q.row()], waiting[row]);
  }
  terms_[QueueTree::kRoot.row()].share = total_;
  std::vector<QueueId> above = {QueueTree::kRoot};
  while (!above.empty()) {
    const QueueId parent = above.back();
    above.pop_back();
    const std::vector<QueueId>& below = children[parent.row()];
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
      std::vector<Claim> claims;
      for (const QueueId q : below)
        claims.push_back({terms_[q.row()].deserved[d], terms_[q.row()].limit[d], requests[q.row()][d],
                          q.row() < tree.rows() ? tree.rank(q).weight : QueueRank::kWeightOne, terms_[q.row()].priority,
                          0});
      const std::vector<std::int64_t> shares = fair_shares(claims, terms_[parent.row()].share[d], kUnits[d]);
      for (std::size_t i = 0; i < below.size(); ++i) terms_[below[i].row()].share[d] = shares[i];
    }
    above.insert(above.end(), below.begin(), below.end());
  }
}

const QuotaVector& Queues::allocated(QueueId queue) const {
  static constexpr QuotaVector kNothing{};
  return queue.row() < state_.queues().rows() ? state_.queues().used(queue) : kNothing;
}

std::vector<QuotaVector> Queues::all_allocated() const {
  std::vector<QuotaVector> all;
  for (std::size_t row = 0; row < terms_.size(); ++row) all.push_back(allocated(QueueId(row)));
  return all;
}

QuotaVector Queues::held_for_good(QueueId queue) const {
  QuotaVector sum{};
  for (std::size_t row = 0; row < state_.running().rows(); ++row) {
    if (!state_.queues().is_within(QueueId(row), queue)) continue;
    for (const JobId job : state_.running().in(QueueId(row)))
      if (!is_preemptible(state_.job(job))) add_saturated(sum, placed_of(state_, job));
  }
  return sum;
}

std::vector<QueueId> Queues::path(QueueId queue) const {
  std::vector<QueueId> path;
  for (; !queue.is_none() && queue != QueueTree::kRoot; queue = state_.queues().parent(queue)) path.push_back(queue);
  return path;
}

double Queues::dominant_share(const Standing& standing, bool with_step) const {
  const QueueTerms& terms = this->terms(standing.queue);
  double most = 0;
  for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
    const std::int64_t used =
        allocated(standing.queue)[d] - standing.taken[d] + (with_step ? standing.step[d] : std::int64_t{0});
    if (used <= 0) continue;
    const std::int64_t able = terms.able(d);
    if (able == 0) {
      most = std::max(most, kBeyondNothing * static_cast<double>(used) / static_cast<double>(d == 2 ? 1 : 1000));
    } else {
      const std::int64_t of = able == kUnlimited ? total_[d] : able;
      if (of > 0) most = std::max(most, static_cast<double>(used) / static_cast<double>(of));
    }
  }
  return most;
}

bool Queues::uses_what_it_may_not(const Standing& standing) const {
  for (std::size_t d = 0; d < kQuotaDimensions; ++d)
    if (terms(standing.queue).able(d) == 0 && allocated(standing.queue)[d] + standing.step[d] > 0) return true;
  return false;
}

bool Queues::is_before(const Standing& a, const Standing& b) const {
  const QueueTerms &of_a = terms(a.queue), &of_b = terms(b.queue);
  const auto is_over = [&](const Standing& s) {
    for (std::size_t d = 0; d < kQuotaDimensions; ++d)
      if (terms(s.queue).share[d] >= allocated(s.queue)[d]) return false;
    return true;
  };
  if (is_over(a) != is_over(b)) return is_over(b);
  const auto stays_deserved = [&](const Standing& s) {
    return is_within(sum_of(allocated(s.queue), s.step), terms(s.queue).deserved);
  };
  if (stays_deserved(a) != stays_deserved(b)) return stays_deserved(a);
  if (of_a.priority != of_b.priority) return of_a.priority > of_b.priority;
  if (uses_what_it_may_not(a) != uses_what_it_may_not(b)) return uses_what_it_may_not(b);
  for (const bool with_step : {true, false}) {
    const double share_a = dominant_share(a, with_step), share_b = dominant_share(b, with_step);
    if (share_a != share_b) return share_a < share_b;
  }
  const auto has_less = [](const QueueTerms& less, const QueueTerms& more) {
    bool is_any = false;
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
      if (less.able(d) > more.able(d)) return false;
      is_any = is_any || less.able(d) < more.able(d);
    }
    return is_any;
  };
  if (has_less(of_a, of_b)) return true;
  if (has_less(of_b, of_a)) return false;
  return of_a.age < of_b.age;
}

}  // namespace ashlar::kai
