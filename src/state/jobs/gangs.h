// Gangs: the lists of groups that jobs name, and the members of each group of such a job. Cost: O(log gangs) for each
// member that is placed or taken off; jobs without groups are not listed.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/id.h"
#include "model/gang.h"

namespace ashlar {

/// The members of one group of a job.
struct GroupCount {
  std::uint32_t present = 0, placed = 0;
  friend bool operator==(const GroupCount&, const GroupCount&) = default;
};

class Gangs {
 public:
  const GangSpec& spec(GangSpecId id) const { return specs_[id.row()]; }
  std::size_t rows() const { return specs_.size(); }
  /// Whether a job names the row. Such a row keeps its value.
  bool is_used(GangSpecId id) const { return id.row() < uses_.size() && uses_[id.row()] > 0; }
  void define(GangSpecId id, const GangSpec& spec);

  /// The job has these groups, without members so far; it has ended.
  void enter(JobId job, GangSpecId id);
  void leave(JobId job, GangSpecId id);
  const std::vector<GroupCount>& groups_of(JobId job) const { return groups_.at(job); }
  std::size_t count() const { return groups_.size(); }
  /// How many jobs name each row.
  const std::vector<std::uint32_t>& uses() const { return uses_; }
  void note_present(JobId job, std::uint32_t group, int change);
  /// A member was placed (1) or is placed no more (-1). True if that is one of those that the group must have.
  bool note_placed(JobId job, GangSpecId id, std::uint32_t group, int change);

  /// The minima of all groups together.
  std::uint32_t minimum(GangSpecId id) const;
  /// Placed members that are missing to the minimum of each group.
  std::vector<std::uint32_t> lacking(JobId job, GangSpecId id) const;
  /// Whether each group has members for its minimum.
  bool has_minimum_present(JobId job, GangSpecId id) const;

 private:
  friend struct StateFields;
  std::vector<GangSpec> specs_;
  std::vector<std::uint32_t> uses_;                  ///< by jobs; recounted when a state is read back
  std::map<JobId, std::vector<GroupCount>> groups_;  ///< of live jobs that name a row
};

}  // namespace ashlar
