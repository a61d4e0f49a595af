// ExclusionConstraints: one row for all waiting pods with the same node requirements that pods with anti-affinity see
// alike, kept until the engine has taken the events. Anti-affinity of pods that wait is asked for while their row is in
// use. Cost: a few hash lookups.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "live/track/company/anti_affinity.h"
#include "live/track/translate.h"

namespace ashlar::kube {

class ExclusionConstraints {
 public:
  ExclusionConstraints(AntiAffinity& anti_affinity, Translator& translator)
      : anti_affinity_(anti_affinity), translator_(translator) {}
  ExclusionConstraints(const ExclusionConstraints&) = delete;
  ExclusionConstraints& operator=(const ExclusionConstraints&) = delete;

  /// For a waiting pod with these labels and node requirements.
  ConstraintId of(const PooledString& ns, const Labels& labels, const std::shared_ptr<const PodRules>& rules,
                  const std::shared_ptr<const VolumeTerms>& volumes = {});
  /// Rows may be given back: all cached ones are dropped.
  void forget();
  /// The row was given back: its pods' terms ask for nothing any more.
  void note_gone(ConstraintId row);

  struct Work {
    std::uint64_t rows = 0;      ///< constraints built, in total
    std::uint64_t compared = 0;  ///< kinds of pods compared to find the row of one
  };
  const Work& work() const { return work_; }

 private:
  struct Kind {
    LabelSetId seen_as;
    std::shared_ptr<const PodRules> rules;
    CompanyRules company = {};
    std::shared_ptr<const VolumeTerms> volumes = {};
    friend bool operator==(const Kind& a, const Kind& b) {
      const bool are_volumes_alike =
          a.volumes == b.volumes || (a.volumes && b.volumes && a.volumes->lists == b.volumes->lists);
      return a.seen_as == b.seen_as && are_volumes_alike && a.company == b.company &&
             (a.rules == b.rules || *a.rules == *b.rules);
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

  AntiAffinity& anti_affinity_;
  Translator& translator_;
  using Rows = boost::unordered_flat_map<Kind, ConstraintId, KindHash, KindEqual>;
  Work work_;
  Rows rows_{0, KindHash(), KindEqual{&work_.compared}};
  /// The rows whose pods keep others away, with namespace and rules of one of them.
  std::map<ConstraintId, std::pair<PooledString, std::shared_ptr<const PodRules>>> asking_;
};

}  // namespace ashlar::kube
