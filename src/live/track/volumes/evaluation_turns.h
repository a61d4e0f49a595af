// EvaluationTurns: pods whose volumes are to be looked at, which may cost as much as all volumes of their classes. Each
// namespace that has some has its turn, those of one in the order in which they came.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>

#include "kubeclient/pooled_string.h"
#include "live/track/pod_table.h"

namespace ashlar::kube {

class EvaluationTurns {
 public:
  /// Once, however often it is added before its turn.
  void add(const PooledString& ns, PodSlot slot);
  /// The next one; there must be one. O(1) each, and of those forgotten.
  PodSlot take();
  /// The pod is gone: its slot may be that of another one, of whatever namespace.
  void forget(PodSlot slot) { ns_of_.erase(slot); }
  bool is_empty() const { return ns_of_.empty(); }

 private:
  std::deque<PooledString> namespaces_;  ///< those with pods, each once, the next one first
  /// Some may be forgotten, or come again in another namespace.
  boost::unordered_flat_map<PooledString, std::deque<PodSlot>, std::hash<PooledString>> pods_;
  boost::unordered_flat_map<PodSlot, PooledString> ns_of_;
};

}  // namespace ashlar::kube
