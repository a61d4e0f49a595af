// StandbyCache: the last state of every object of one resource, so that a new leader can begin at once. For an object
// that could not be read whole, both the last readable version and the latest are kept. Emptied in order of creation,
// then name, so that rows do not depend on hash order.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <utility>
#include <vector>

#include "kubeclient/reflector.h"

namespace ashlar::kube {

template <class T>
class StandbyCache {
 public:
  void take(Change<T>&& change) {
    if (change.kind == Change<T>::Kind::kSynced) return;
    const Key key{change.object.ns, change.object.name};
    unread_.erase(key);
    if (change.kind == Change<T>::Kind::kDeleted)
      objects_.erase(key);
    else if (const auto known = objects_.find(key);
             !change.object.problem.empty() && known != objects_.end() && known->second.problem.empty())
      unread_[key] = std::move(change.object);
    else
      objects_[key] = std::move(change.object);
  }
  /// Hands everything over, as kAdded and then unreadable versions as kModified, and is empty afterwards.
  template <class Sink>
  void drain(Sink&& sink) {
    std::vector<T> objects;
    objects.reserve(objects_.size());
    for (auto& [key, object] : objects_) objects.push_back(std::move(object));
    objects_ = {};
    std::sort(objects.begin(), objects.end(), [](const T& a, const T& b) {
      if constexpr (requires { a.created; })
        if (a.created != b.created) return a.created < b.created;
      return a.ns != b.ns ? a.ns < b.ns : a.name < b.name;
    });
    for (T& object : objects) {
      const auto unread = unread_.empty() ? unread_.end() : unread_.find(Key{object.ns, object.name});
      sink(Change<T>{Change<T>::Kind::kAdded, std::move(object)});
      if (unread != unread_.end()) sink(Change<T>{Change<T>::Kind::kModified, std::move(unread->second)});
    }
    unread_ = {};
  }
  std::size_t size() const { return objects_.size(); }

 private:
  struct Key {
    PooledString ns, name;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& k) const { return k.ns.hash() * 31 + k.name.hash(); }
  };
  boost::unordered_flat_map<Key, T, KeyHash> objects_;
  boost::unordered_flat_map<Key, T, KeyHash> unread_;  ///< newer than the object of the same key
};

}  // namespace ashlar::kube
