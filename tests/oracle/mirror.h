// Mirror: the plain world that an engine has been told of, kept up to date event by event and plan by plan, to judge what it decides and what it says.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/plan.h"
#include "plain.h"
#include "state/state.h"

namespace ashlar::oracle {

class Mirror {
 public:
  /// Definitions are those of `drawn`; nodes and jobs come by events. Jobs and nodes are rows of the world.
  explicit Mirror(const PlainWorld& drawn);

  void tell(const Event& event);
  /// Carries the plan out. Empty, or the first rule that it breaks or, unless the profile stops jobs, the first reason that was not true at any moment
  /// of the decision.
  std::string carry_out(const Plan& plan, bool has_true_reasons);
  /// Empty, or where the state is not as it was told.
  std::string difference(const State& state) const;
  /// Jobs that could still place something: enough members are there, and not all have a node.
  std::vector<int> waiting() const;
  /// Of a plan that was carried out, where nobody is held for others: empty, or a job ahead of one that was started that could have run in its place.
  /// Order is by priority, then submission; `is_strict`: nobody passes the first of its queue.
  std::string passed_over(const Plan& plan, bool is_strict) const;
  /// Nothing runs, so nothing more will come free.
  bool is_idle() const;
  const PlainWorld& world() const { return world_; }

 private:
  friend struct MirrorNews;
  std::pair<int, int> find(MemberId member) const;  ///< job and rank; kNowhere where it is not there
  void take_off(int job);
  std::string start(const std::vector<Bind>& binds);

  PlainWorld world_;
  std::vector<std::vector<MemberId>> ids_;  ///< by job and rank
  std::vector<std::uint8_t> is_live_;       ///< by job
  std::vector<std::vector<std::uint8_t>> is_bound_;
  std::map<MemberId, int> job_of_;
};

/// Empty, or what is not true about a reason for which the job is said to wait.
std::string untrue(const PlainWorld& world, int job, const Verdict& verdict);

}  // namespace ashlar::oracle
