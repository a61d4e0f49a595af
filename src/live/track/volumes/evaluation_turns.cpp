#include "live/track/volumes/evaluation_turns.h"

namespace ashlar::kube {

void EvaluationTurns::add(const PooledString& ns, PodSlot slot) {
  if (const auto known = ns_of_.find(slot); known != ns_of_.end() && known->second == ns) return;
  ns_of_[slot] = ns;
  std::deque<PodSlot>& pods = pods_[ns];
  if (pods.empty()) namespaces_.push_back(ns);
  pods.push_back(slot);
}

PodSlot EvaluationTurns::take() {
  while (true) {
    const PooledString ns = namespaces_.front();
    namespaces_.pop_front();
    const auto of_ns = pods_.find(ns);
    const PodSlot slot = of_ns->second.front();
    of_ns->second.pop_front();
    const auto known = ns_of_.find(slot);
    const bool is_there = known != ns_of_.end() && known->second == ns;
    if (of_ns->second.empty())
      pods_.erase(of_ns);
    else if (is_there)
      namespaces_.push_back(ns);
    else
      namespaces_.push_front(ns);  // it has its turn still
    if (!is_there) continue;
    ns_of_.erase(known);
    return slot;
  }
}

}  // namespace ashlar::kube
