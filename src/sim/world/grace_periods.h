// GracePeriods: evictions whose pods run on for their grace, and the binds that wait until they are gone. Cost: a walk
// over the evictions under way for each bind, and their pods.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "model/plan.h"

namespace ashlar::sim {

class GracePeriods {
 public:
  /// The pods of the eviction are gone with the answer in this row, if not before.
  void begin(const Evict& what, std::uint32_t answer) { under_way_.push_back({what, answer}); }
  /// Nullptr if its pods are gone already.
  const Evict* find(std::uint32_t answer) const {
    for (const UnderWay& e : under_way_)
      if (e.answer == answer) return &e.what;
    return nullptr;
  }
  /// All pods of the job are gone; one of them is.
  void end(JobId job) {
    std::erase_if(under_way_, [&](const UnderWay& e) { return e.what.job == job; });
  }
  void end(MemberId member) {
    std::erase_if(under_way_, [&](const UnderWay& e) { return e.what.member == member; });
  }
  /// The one that stops this member; nullptr: none does, or its pod is gone.
  const Evict* find(JobId job, MemberId member) const {
    for (const UnderWay& e : under_way_)
      if (e.what.job == job && (e.what.member.is_none() || e.what.member == member)) return &e.what;
    return nullptr;
  }
  /// The job is over: no room is made for it any more.
  void forget(JobId job) {
    for (UnderWay& e : under_way_)
      if (e.what.for_job == job) e.what.for_job = JobId::none();
  }
  /// Whether the bind is of a pod that is not gone yet, for a job for which room is being made, or to devices of which
  /// `holds(const Evict&)` says that pods that run on have one.
  template <class Holds>
  bool keep_waiting(const Bind& bind, Holds&& holds) const {
    for (const UnderWay& e : under_way_) {
      const bool is_its_own = e.what.job == bind.job && (e.what.member.is_none() || e.what.member == bind.member);
      if (is_its_own || e.what.for_job == bind.job || holds(e.what)) return true;
    }
    return false;
  }

  // ---- binds, by the rows of their answers --------------------------------------------------------------------------
  void wait(std::uint32_t answer) { waiting_.push_back(answer); }
  bool has_waiting() const { return !waiting_.empty(); }
  /// In the order in which they were requested; those that must wait on are to be listed again.
  std::vector<std::uint32_t> take_waiting() { return std::exchange(waiting_, {}); }

 private:
  struct UnderWay {
    Evict what;
    std::uint32_t answer = 0;
  };
  std::vector<UnderWay> under_way_;
  std::vector<std::uint32_t> waiting_;
};

}  // namespace ashlar::sim
