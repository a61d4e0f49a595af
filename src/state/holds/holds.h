// Holds: those that have not ended, in order of arrival, and which of them some jobs may use, by owner and by begin.
// Cost: O(log holds) to find what a job may use; O(holds) to add or remove one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"
#include "model/hold.h"

namespace ashlar {

class Holds {
 public:
  std::span<const Hold> all() const { return rows_; }
  /// Nullptr if the job is none.
  const Hold* find(JobId job) const {
    return job.row() < row_of_.size() && row_of_[job.row()] != kNone ? &rows_[row_of_[job.row()]] : nullptr;
  }
  /// Those for a job, for a queue: their jobs, ascending.
  std::span<const JobId> of(JobId owner) const { return value_or_none(of_jobs_, owner); }
  std::span<const JobId> of(QueueId owner) const { return value_or_none(of_queues_, owner); }
  /// Jobs for which anything is held.
  const std::map<JobId, std::vector<JobId>>& of_jobs() const { return of_jobs_; }
  bool are_any_of_queues() const { return !of_queues_.empty(); }
  /// Those that begin later, by their begin.
  const std::set<std::pair<Millis, JobId>>& later() const { return later_; }
  /// When the last of those begins; 0 if there is none.
  Millis last_begin() const { return later_.empty() ? Millis(0) : later_.rbegin()->first; }

  void add(Hold hold);
  void remove(JobId job);
  /// From now on.
  void begin(JobId job);
  /// What is held for this job alone ends by then.
  void end_of_owner(JobId owner, Millis now);
  void forget_part(JobId job, MemberId member);
  void forget_parts(JobId job);
  /// Recounts what is derived. For checks.
  bool is_consistent() const;

 private:
  friend struct StateFields;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  template <class Key>
  static std::span<const JobId> value_or_none(const std::map<Key, std::vector<JobId>>& lists, Key key) {
    const auto it = lists.find(key);
    return it == lists.end() ? std::span<const JobId>() : it->second;
  }
  Hold& row(JobId job) { return rows_[row_of_[job.row()]]; }
  void list(std::size_t row);
  void unlist(const Hold& hold);
  void list_all();

  std::vector<Hold> rows_;
  std::vector<std::uint32_t> row_of_;  ///< [job]; this and the rest are derived, not in snapshots
  std::map<JobId, std::vector<JobId>> of_jobs_;
  std::map<QueueId, std::vector<JobId>> of_queues_;
  std::set<std::pair<Millis, JobId>> later_;
};

}  // namespace ashlar
