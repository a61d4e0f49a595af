#include "engine/published/kai/contenders.h"

#include <algorithm>
#include <tuple>

#include "engine/quota.h"

namespace ashlar::kai {
namespace {

/// Picks one of several by the order of their queues at each level, from the root down.
class Tournament {
 public:
  Tournament(const Queues& queues, std::span<const Contender> contenders, bool takes_last)
      : queues_(queues), contenders_(contenders), takes_last_(takes_last) {
    for (const Contender& contender : contenders) {
      paths_.push_back(queues.path(contender.queue));
      std::ranges::reverse(paths_.back());
    }
  }
  std::size_t run() const {
    std::vector<std::size_t> all(contenders_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return among(all, 0);
  }

 private:
  /// They have the same path down to that depth. Jobs of a queue that has others below it go first there.
  std::size_t among(std::span<const std::size_t> some, std::size_t depth) const {
    if (some.size() == 1) return some.front();
    std::map<QueueId, std::vector<std::size_t>> below;
    for (const std::size_t i : some) {
      if (paths_[i].size() == depth && !takes_last_) return i;
      if (paths_[i].size() > depth) below[paths_[i][depth]].push_back(i);
    }
    std::size_t best = some.front();
    bool is_any = false;
    for (const auto& [queue, there] : below) {
      const std::size_t one = among(there, depth + 1);
      if (is_any && !goes_before(one, best, depth)) continue;
      best = one;
      is_any = true;
    }
    return best;
  }
  bool goes_before(std::size_t a, std::size_t b, std::size_t depth) const {
    const auto standing = [&](std::size_t i) {
      return Queues::Standing{paths_[i][depth], contenders_[i].step, contenders_[i].taken};
    };
    return takes_last_ ? queues_.is_before(standing(b), standing(a)) : queues_.is_before(standing(a), standing(b));
  }

  const Queues& queues_;
  std::span<const Contender> contenders_;
  bool takes_last_;
  std::vector<std::vector<QueueId>> paths_;  ///< of each contender, from the top
};

/// Below its minimum, at it, above it.
int fullness(const Job& job) {
  if (job.members_lacking() > 0) return 0;
  return job.members_placed > job.members_min ? 2 : 1;
}

}  // namespace

bool is_before(const State& state, JobId a, JobId b) {
  const auto key = [&](JobId id) {
    const Job& job = state.job(id);
    return std::tuple(-std::int64_t{job.priority}, fullness(job), job.submitted, job.backlog_seq, id);
  };
  return key(a) < key(b);
}

std::size_t first_of(const Queues& queues, std::span<const Contender> contenders) {
  return Tournament(queues, contenders, false).run();
}

std::size_t last_of(const Queues& queues, std::span<const Contender> contenders) {
  return Tournament(queues, contenders, true).run();
}

void Line::add(JobId job) {
  const QueueId queue = state_.job(job).queue;
  std::vector<JobId>& jobs = jobs_[queue];
  const auto at =
      std::ranges::lower_bound(jobs, job, [&](JobId listed, JobId added) { return is_before(state_, added, listed); });
  jobs.insert(at, job);
  list_head(queue);
}

JobId Line::take() {
  const Contender first = heads_[first_of(queues_, heads_)];
  jobs_[first.queue].pop_back();
  list_head(first.queue);
  return first.job;
}

void Line::list_head(QueueId queue) {
  std::erase_if(heads_, [&](const Contender& head) { return head.queue == queue; });
  if (const std::vector<JobId>& jobs = jobs_[queue]; !jobs.empty())
    heads_.push_back({jobs.back(), queue, quota_needed(state_, jobs.back())});
}

}  // namespace ashlar::kai
