#include "live/track/volumes/evaluation_turns.h"

namespace ashlar::kube {

void EvaluationTurns::add(const PooledString& ns, PodSlot slot) {
  if (!all_.insert(slot).second) return;
  std::deque<PodSlot>& pods = pods_[ns];
  if (pods.empty()) namespaces_.push_back(ns);
  pods.push_back(slot);
}

PodSlot EvaluationTurns::take() {
  const PooledString ns = namespaces_.front();
  namespaces_.pop_front();
  const auto of_ns = pods_.find(ns);
  const PodSlot slot = of_ns->second.front();
  of_ns->second.pop_front();
  if (of_ns->second.empty())
    pods_.erase(of_ns);
  else
    namespaces_.push_back(ns);
  all_.erase(slot);
  return slot;
}

}  // namespace ashlar::kube
