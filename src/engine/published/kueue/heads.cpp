#include "engine/published/kueue/heads.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace ashlar::kueue {
namespace {

bool is_earlier(const State& state, JobId a, JobId b) {
  const auto key = [&](JobId id) {
    const Job& job = state.job(id);
    return std::tuple(-std::int64_t{job.priority}, job.queued_at, job.backlog_seq, id);
  };
  return key(a) < key(b);
}

/// Picks the head whose queue, with it, borrows least for its weight, at each cohort from below.
class FairTournament {
 public:
  FairTournament(const State& state, Cohorts& cohorts, const std::vector<Head>& heads)
      : state_(state), cohorts_(cohorts), heads_(heads) {}

  /// Of those that are left.
  std::size_t best(const std::vector<std::size_t>& left) {
    std::map<QueueId, std::vector<std::size_t>> trees;
    for (const std::size_t i : left) trees[root_of(queue_of(i))].push_back(i);
    std::size_t best = left.front();
    bool is_any = false;
    for (const auto& [root, there] : trees) {
      const std::size_t one = best_below(root, there);
      if (is_any && !is_earlier(state_, heads_[one].job, heads_[best].job)) continue;
      best = one;
      is_any = true;
    }
    return best;
  }

 private:
  QueueId queue_of(std::size_t i) const { return state_.job(heads_[i].job).queue; }
  QueueId root_of(QueueId queue) const {
    while (!cohorts_.parent(queue).is_none()) queue = cohorts_.parent(queue);
    return queue;
  }
  std::size_t best_below(QueueId cohort, const std::vector<std::size_t>& some) {
    if (some.size() == 1) return some.front();
    std::map<QueueId, std::vector<std::size_t>> below;
    for (const std::size_t i : some) {
      QueueId child = queue_of(i);
      if (child == cohort) return i;  // a job of the cohort itself
      while (cohorts_.parent(child) != cohort) child = cohorts_.parent(child);
      below[child].push_back(i);
    }
    std::size_t best = some.front();
    QueueId of_best = QueueId::none();
    for (const auto& [child, there] : below) {
      const std::size_t one = best_below(child, there);
      if (!of_best.is_none() && !goes_before(one, child, best, of_best)) continue;
      best = one;
      of_best = child;
    }
    return best;
  }
  bool goes_before(std::size_t a, QueueId of_a, std::size_t b, QueueId of_b) {
    const auto [borrows_a, share_a] = with(a, of_a);
    const auto [borrows_b, share_b] = with(b, of_b);
    if (borrows_a != borrows_b) return !borrows_a;
    if (share_a != share_b) return share_a < share_b;
    return is_earlier(state_, heads_[a].job, heads_[b].job);
  }
  std::pair<bool, double> with(std::size_t i, QueueId child) {
    const Head& head = heads_[i];
    std::vector<std::size_t> asked;
    for (std::size_t c = 0; c < head.requested.size(); ++c)
      if (head.requested[c] > 0) asked.push_back(c);
    cohorts_.add(queue_of(i), head.requested, 1);
    const std::pair<bool, double> result{cohorts_.is_over(child, asked), cohorts_.share(child)};
    cohorts_.add(queue_of(i), head.requested, -1);
    return result;
  }

  const State& state_;
  Cohorts& cohorts_;
  const std::vector<Head>& heads_;
};

}  // namespace

std::vector<Head> first_jobs(const State& state, const PendingQueue& pending, const std::set<JobId>& laid_aside) {
  std::map<QueueId, JobId> first;
  pending.each_class([&](ClassId, const PendingQueue::Class& job_class) {
    job_class.each_job([&](const PendingQueue::Entry& entry) {
      if (laid_aside.contains(entry.job)) return;
      const auto [it, is_new] = first.emplace(job_class.key.queue, entry.job);
      if (!is_new && is_earlier(state, entry.job, it->second)) it->second = entry.job;
    });
  });
  std::vector<Head> heads;
  for (const auto& [queue, job] : first) heads.emplace_back().job = job;
  return heads;
}

void sort(const State& state, Cohorts& cohorts, Turns turns, std::vector<Head>& heads) {
  if (turns == Turns::kKueue) {
    std::ranges::stable_sort(heads, [&](const Head& a, const Head& b) {
      if (a.height != b.height) return a.height < b.height;
      return is_earlier(state, a.job, b.job);
    });
    return;
  }
  std::vector<std::size_t> left(heads.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  std::vector<Head> order;
  FairTournament tournament(state, cohorts, heads);
  while (!left.empty()) {
    const std::size_t next = tournament.best(left);
    order.push_back(heads[next]);
    std::erase(left, next);
  }
  heads = std::move(order);
}

}  // namespace ashlar::kueue
