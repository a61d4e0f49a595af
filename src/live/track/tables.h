// Tables: what answers and texts need of the tracker: pods, gangs, what closes nodes, owners of jobs, and names. The
// tracker has one and changes it; readers have a copy, brought up to date by changes: O(what changed), and no reference
// into the tracker's.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/track/gang_table.h"
#include "live/track/names.h"
#include "live/track/pod_table.h"
#include "live/track/row_journal.h"

namespace ashlar::kube {

/// The Kubernetes object of a job of the engine: a gang, or one pod.
struct JobOwner {
  GangSlot gang = kNoGang;
  PodSlot pod = kNoPod;
  LevelId within, prefer;  ///< as reported to the engine
  GangSpecId spec;         ///< the same; none: the gang has no groups
};

/// What keeps a node from taking anything new.
struct NodeClosing {
  PooledString problem;           ///< why the node itself cannot be read; empty: it can
  std::uint32_t unread_pods = 0;  ///< bound here and holding more than could be read of them
  /// created again with bindings to its predecessor of that name unanswered: its bound pods are not known
  bool has_unanswered = false;
  bool is_closed() const { return unread_pods > 0 || has_unanswered || !problem.empty(); }
};

template <class Value>
using ByName = boost::unordered_flat_map<PooledString, Value, std::hash<PooledString>>;

struct PriorityClasses {
  ByName<std::int32_t> known;
  std::string problem;  ///< why they cannot be listed now; empty: they can
};

struct Tables {
  explicit Tables(std::vector<LevelName> levels = {});
  ~Tables();
  struct WithoutJournal {};
  /// A copy that notes no changes.
  Tables(const Tables& other, WithoutJournal);
  Tables& operator=(const Tables&) = delete;

  ObjectNames names;
  PodTable pods;
  GangTable gangs;
  JournaledRows<NodeClosing> closings;  ///< by node; shorter than their rows
  JournaledRows<JobOwner> owners;
  /// number of nodes that have a label with this key; of a copy only the keys count
  ByName<std::uint32_t> node_labels;
  std::uint64_t levels_edition = 1;  ///< grows with the label keys of nodes, and with the levels made of them
  PriorityClasses classes;
  std::uint64_t classes_edition = 1;  ///< grows with them
  std::string groups_problem;         ///< why PodGroups cannot be read; empty: they can

  NodeClosing closing_of(NodeId node) const { return closings.value(node.row()); }
  JobOwner owner(JobId job) const { return owners.value(job.row()); }

  // ---- a copy -------------------------------------------------------------------------------------------------------
  struct Changes {
    ObjectNames::Changes names;
    RowChanges<PodRecord> pods;
    RowChanges<GangRecord> gangs;
    RowChanges<NodeClosing> closings;
    RowChanges<JobOwner> owners;
    std::uint64_t levels_edition = 0;
    std::optional<std::vector<PooledString>> node_labels;  ///< absent: unchanged
    std::optional<PriorityClasses> classes;                ///< absent: unchanged
    std::string groups_problem;
  };
  /// From now on changes are noted. To be called while all tables are empty.
  void start_journal();
  bool has_changes() const;
  Changes take_changes();
  void put(Changes&& changes);

 private:
  Tables(const Tables&) = default;

  std::uint64_t levels_taken_ = 0, classes_taken_ = 0;  ///< editions taken as changes
  std::string groups_problem_taken_;
  bool is_journaled_ = false;
};

}  // namespace ashlar::kube
