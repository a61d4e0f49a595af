// NamespaceTerms: how many terms about other pods the pods of each namespace have, those of alike pods counted once, so
// that no namespace has more than it may: each pod that is placed is compared with all of them. Pods whose terms would
// be too many wait, in order, until others go. Cost: a pod O(its terms).
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "live/track/pod_table.h"

namespace ashlar::kube {

class NamespaceTerms {
 public:
  static constexpr std::size_t kMax = 4096;  ///< of one namespace

  /// The pod's rules or labels may have changed, or it is forgotten: what it is counted as (PodRecord::terms) follows.
  void note(PodRecord& pod);
  void forget(PodRecord& pod);
  /// Whether it may be placed, as far as this limit goes; where not, it is noted until take_let_in() returns it.
  bool lets_in(const PodRecord& pod, PodSlot slot);
  /// It is bound: its terms count whatever the limit is.
  void note_bound(const PodRecord& pod);

  bool has_news() const { return !news_.empty() || !let_in_.empty(); }
  /// Pods that were not let in and are now, as far as they are still there: slots may have been given to others.
  std::vector<PodSlot> take_let_in();

  std::size_t terms_in(const PooledString& ns) const;                  // for tests
  std::size_t kinds() const { return kinds_.size() - spare_.size(); }  // for tests

 private:
  /// Pods of a namespace with the same terms.
  struct Kind {
    PooledString ns;
    std::uint64_t hash = 0;
    std::uint32_t terms = 0;
    std::uint32_t pods = 0;
    bool is_in = false;
    std::uint64_t waits_since = 0;  ///< its key in OfNamespace::waiting; 0: it does not wait
    std::set<PodSlot> held;
  };
  struct OfNamespace {
    std::size_t terms = 0, kinds = 0;
    std::map<std::uint64_t, std::uint32_t> waiting;  ///< kinds that were not let in, the first first
    bool is_news = false;
  };
  using Spaces = boost::unordered_flat_map<PooledString, OfNamespace, std::hash<PooledString>>;

  std::uint32_t use(const PooledString& ns, const PodRules& rules, const Labels& labels);
  void leave(std::uint32_t id);
  void let_in(std::uint32_t id, OfNamespace& of);

  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> spare_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> by_hash_;
  Spaces namespaces_;
  std::vector<PooledString> news_;  ///< namespaces with fewer terms than before, in which kinds wait
  std::vector<PodSlot> let_in_;
  std::uint64_t waits_ = 0;
};

}  // namespace ashlar::kube
