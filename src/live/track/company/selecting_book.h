// SelectingBook: which Services and controllers select the pods of each namespace, and the one selector that they make
// together for a pod. Cost: the unlike selectors of Services that share one label with the pod; about 300 bytes an
// object.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kubeclient/reflector.h"
#include "kubeclient/selecting_objects.h"

namespace ashlar::kube {

class SelectingBook {
 public:
  template <SelectingKind kKind>
  void take(Change<SelectingObject<kKind>>&& change) {
    if (change.kind == Change<SelectingObject<kKind>>::Kind::kSynced) return;
    const bool is_gone = change.kind == Change<SelectingObject<kKind>>::Kind::kDeleted;
    SelectingObject<kKind>& object = change.object;
    set({kKind, object.ns, object.name}, is_gone ? LabelSelector() : std::move(object.selector));
  }

  static constexpr std::size_t kServicesMax = 64;  ///< with unlike selectors, of one pod
  /// The pods that the Services which select such a pod, and its controller, all select; not present: nothing selects
  /// it, or more Services than kServicesMax. As kube-scheduler's DefaultSelector: requirements that say the same are
  /// there once.
  LabelSelector selector_of(const PooledString& ns, const Labels& labels, SelectingKind controller_kind,
                            const PooledString& controller_name) const;
  /// Another number whenever what is selected in the namespace has changed.
  std::uint64_t edition(const PooledString& ns) const;

  // ---- news since they were last taken ------------------------------------------------------------------------------
  struct News {
    SelectingKind kind = SelectingKind::kNone;
    PooledString name;
    LabelSelector before, after;  ///< of a Service: one that no other has
    /// Whether it is about such a pod.
    bool concerns(const Labels& labels, SelectingKind controller_kind, const PooledString& controller_name) const;
  };
  bool has_news() const { return !news_.empty(); }
  /// By namespace, in the order of their names.
  std::map<PooledString, std::vector<News>> take_news() { return std::exchange(news_, {}); }

  std::size_t size() const { return objects_.size(); }       // for tests
  std::size_t namespaces() const { return spaces_.size(); }  // for tests

 private:
  struct Key {
    SelectingKind kind = SelectingKind::kNone;
    PooledString ns, name;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& k) const {
      return (k.ns.hash() * 31 + k.name.hash()) * 8 + static_cast<std::size_t>(k.kind);
    }
  };
  struct LabelHash {
    std::size_t operator()(const KeyValue& l) const { return l.key.hash() * 31 + l.value.hash(); }
  };
  struct SelectorHash {
    std::size_t operator()(const LabelSelector& selector) const;
  };
  /// Services with one selector.
  struct Alike {
    std::size_t services = 0;
    KeyValue listed_by;  ///< one of its labels, under which it is found
  };
  struct Space {
    std::size_t objects = 0;
    std::uint64_t edition = 0;
    std::unordered_map<LabelSelector, Alike, SelectorHash> selectors;                            ///< of Services
    boost::unordered_flat_map<KeyValue, std::vector<const LabelSelector*>, LabelHash> by_label;  ///< of `selectors`
  };

  /// Not present: it selects no pods any more.
  void set(const Key& key, LabelSelector selector);
  /// One more Service has it: whether it is the first. It is listed under that of its labels that the fewest others are
  /// listed by.
  static bool list(Space& space, const LabelSelector& selector);
  /// One Service less: whether it was the last.
  static bool unlist(Space& space, const LabelSelector& selector);
  const LabelSelector* find(const Key& key) const;

  boost::unordered_flat_map<Key, LabelSelector, KeyHash> objects_;
  boost::unordered_flat_map<PooledString, Space, std::hash<PooledString>> spaces_;
  std::map<PooledString, std::vector<News>> news_;
  std::uint64_t editions_ = 0;
};

}  // namespace ashlar::kube
