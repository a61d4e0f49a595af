// AskedLabels: the labels that anti-affinity terms of bound and of waiting pods ask for. A waiting pod is seen by the
// terms as it is with these labels alone, so that pods that differ in others are alike, and a term that asks for
// nothing new changes no waiting pod. Cost: a hash lookup for each label of a pod and each namespace under which terms
// may mean it.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <optional>
#include <variant>

#include "base/bounded_map.h"
#include "kubeclient/objects.h"

namespace ashlar::kube {

class AskedLabels {
 public:
  /// A term of pods of that namespace is in use from now on, or no longer.
  void use(const PooledString& ns, const PodAffinityTerm& term) { count(ns, term, 1); }
  void leave(const PooledString& ns, const PodAffinityTerm& term) { count(ns, term, -1); }

  /// The labels by which terms may mean such a pod, in the order of its labels; none if no term means it.
  std::optional<Labels> seen_of(const PooledString& ns, const Labels& labels) const;

  // ---- since the last forget_news() ---------------------------------------------------------------------------------
  bool has_news() const { return !news_.empty(); }
  /// Whether the answer for such a pod may have changed.
  bool concerns(const PooledString& ns, const Labels& labels) const;
  void forget_news() { news_ = {}; }

  std::size_t size() const { return asked_.size(); }  // for tests

 private:
  /// kMeans: every term that means a pod asks for one such thing that the pod has. kNames: whether a term means a pod
  /// may depend on it.
  enum class Kind : std::uint8_t { kMeans, kNames };
  struct Asked {
    PooledString scope;  ///< namespace of the pods; empty: namespaces are selected by their labels
    PooledString key;    ///< empty: nothing is asked
    PooledString value;
    Kind kind = Kind::kNames;
    bool is_key = false;  ///< any value
    friend bool operator==(const Asked&, const Asked&) = default;
  };
  struct AskedHash {
    std::size_t operator()(const Asked& a) const {
      return ((a.scope.hash() * 31 + a.key.hash()) * 31 + a.value.hash()) * 4 + static_cast<std::size_t>(a.kind) * 2 +
             (a.is_key ? 1 : 0);
    }
  };
  using Set = boost::unordered_flat_set<Asked, AskedHash>;
  static constexpr std::size_t kIdleMax = 1024;

  void count(const PooledString& ns, const PodAffinityTerm& term, int by);
  void count(const PooledString& scope, const LabelSelector& selector, int by);
  void count(const Asked& asked, int by);
  void forget(const Asked& idle);
  /// Whether any of a pod's label values, keys or, for kMeans, nothing of a kind is in the table.
  template <class Table>
  static bool has_any(const Table& table, Kind kind, const PooledString& ns, const Labels& labels);
  template <class Table>
  static bool has(const Table& table, Kind kind, const PooledString& ns, const KeyValue& label);

  /// Terms in use that ask for it. What no term asks for any more stays for a while, so that a pod that comes and goes
  /// changes no waiting pod.
  boost::unordered_flat_map<Asked, std::uint32_t, AskedHash> asked_;
  BoundedMap<Asked, std::monostate, AskedHash> idle_{kIdleMax};
  /// Waiting pods that are seen with it are told apart for nothing: they are renewed with the next news, or once there
  /// are many such labels.
  Set forgotten_;
  Set news_;
};

}  // namespace ashlar::kube
