// ExclusionConstraints: one list of exclusions for all pods to which the same rules apply, and one row for those among
// them with the same node requirements, kept until a rule changes or the engine has taken the events. Cost: a pod like
// an earlier one costs a few hash lookups; the first of its kind costs O(its exclusions).
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <memory>

#include "live/track/anti_affinity.h"
#include "live/track/translate.h"

namespace ashlar::kube {

class ExclusionConstraints {
 public:
  ExclusionConstraints(const AntiAffinity& anti_affinity, Translator& translator)
      : anti_affinity_(anti_affinity), translator_(translator) {}
  ExclusionConstraints(const ExclusionConstraints&) = delete;
  ExclusionConstraints& operator=(const ExclusionConstraints&) = delete;

  /// For a waiting pod with these labels and node requirements.
  ConstraintId of(const PooledString& ns, const Labels& labels, const std::shared_ptr<const PodRules>& rules);
  /// Rows may be given back: all cached ones are dropped.
  void forget();

  struct Work {
    std::uint64_t lists = 0, rows = 0;  ///< lists of exclusions and constraints built, in total
    std::uint64_t compared = 0;         ///< kinds of pods compared to find the row of one
  };
  const Work& work() const { return work_; }

 private:
  struct Kind {
    const Exclusions* list = nullptr;
    std::shared_ptr<const PodRules> rules;
    friend bool operator==(const Kind& a, const Kind& b) {
      return a.list == b.list && (a.rules == b.rules || *a.rules == *b.rules);
    }
  };
  struct KindEqual {
    std::uint64_t* compared;
    bool operator()(const Kind& a, const Kind& b) const {
      ++*compared;
      return a == b;
    }
  };
  struct KindHash {
    std::size_t operator()(const Kind& kind) const;
  };
  const Exclusions& list_for(AntiAffinity::Meant&& rules);

  static constexpr std::size_t kKeptMax = std::size_t{1} << 20;  ///< exclusions in all lists: 16 MiB

  const AntiAffinity& anti_affinity_;
  Translator& translator_;
  std::uint64_t edition_ = 0;  ///< of the rules that the lists were built from
  std::map<AntiAffinity::Meant, Exclusions> lists_;
  std::size_t kept_ = 0;
  using Rows = boost::unordered_flat_map<Kind, ConstraintId, KindHash, KindEqual>;
  Work work_;
  Rows rows_{0, KindHash(), KindEqual{&work_.compared}};
};

}  // namespace ashlar::kube
