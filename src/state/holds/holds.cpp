#include "state/holds/holds.h"

#include <algorithm>

namespace ashlar {
namespace {

template <class Key>
void enter(std::map<Key, std::vector<JobId>>& lists, Key key, JobId job) {
  if (key.is_none()) return;
  std::vector<JobId>& jobs = lists[key];
  jobs.insert(std::ranges::lower_bound(jobs, job), job);
}

template <class Key>
void leave(std::map<Key, std::vector<JobId>>& lists, Key key, JobId job) {
  if (key.is_none()) return;
  std::vector<JobId>& jobs = lists.at(key);
  jobs.erase(std::ranges::lower_bound(jobs, job));
  if (jobs.empty()) lists.erase(key);
}

}  // namespace

void Holds::add(Hold hold) {
  rows_.push_back(std::move(hold));
  list(rows_.size() - 1);
}

void Holds::remove(JobId job) {
  if (find(job) == nullptr) return;
  const std::uint32_t at = row_of_[job.row()];
  unlist(rows_[at]);
  rows_.erase(rows_.begin() + at);
  for (std::size_t row = at; row < rows_.size(); ++row) --row_of_[rows_[row].job.row()];
  if (rows_.empty()) row_of_ = {};
}

void Holds::begin(JobId job) {
  if (find(job) == nullptr) return;
  Hold& hold = row(job);
  later_.erase({hold.from, job});
  hold.from = Millis(0);
}

void Holds::end_of_owner(JobId owner, Millis now) {
  for (const JobId job : of(owner)) row(job).until = std::min(row(job).until, now);
}

void Holds::forget_part(JobId job, MemberId member) {
  if (find(job) == nullptr) return;
  std::erase_if(row(job).parts, [&](const HoldPart& part) { return part.member.member == member; });
}

void Holds::forget_parts(JobId job) {
  if (find(job) != nullptr) row(job).parts.clear();
}

void Holds::list(std::size_t row) {
  const Hold& hold = rows_[row];
  if (row_of_.size() <= hold.job.row()) row_of_.resize(hold.job.row() + 1, kNone);
  row_of_[hold.job.row()] = static_cast<std::uint32_t>(row);
  enter(of_jobs_, hold.owner.job, hold.job);
  if (hold.owner.job.is_none()) enter(of_queues_, hold.owner.queue, hold.job);
  if (hold.is_later()) later_.insert({hold.from, hold.job});
}

void Holds::unlist(const Hold& hold) {
  row_of_[hold.job.row()] = kNone;
  leave(of_jobs_, hold.owner.job, hold.job);
  if (hold.owner.job.is_none()) leave(of_queues_, hold.owner.queue, hold.job);
  later_.erase({hold.from, hold.job});
}

void Holds::list_all() {
  row_of_ = {};
  of_jobs_.clear(), of_queues_.clear(), later_.clear();
  for (std::size_t row = 0; row < rows_.size(); ++row) list(row);
}

bool Holds::is_consistent() const {
  Holds counted = *this;
  counted.list_all();
  const auto listed = std::ranges::count_if(row_of_, [](std::uint32_t row) { return row != kNone; });
  const auto is_found = [&](const Hold& hold) { return find(hold.job) == &hold; };
  return static_cast<std::size_t>(listed) == rows_.size() && std::ranges::all_of(rows_, is_found) &&
         counted.of_jobs_ == of_jobs_ && counted.of_queues_ == of_queues_ && counted.later_ == later_;
}

}  // namespace ashlar
