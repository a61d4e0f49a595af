// BoundedMap: a table with a limit, at which a new key takes the place of one that is drawn, the same on every machine:
// of some more keys than the limit, asked for in turn, most are still found, where the oldest would always be the one
// asked for next. Cost: O(1), a key is kept twice.
#pragma once

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/rng.h"

namespace ashlar {

template <class Key, class Value, class Hash = std::hash<Key>>
class BoundedMap {
 public:
  /// At least one entry.
  explicit BoundedMap(std::size_t limit) : limit_(limit) { ASHLAR_CHECK(limit > 0); }
  std::size_t size() const { return keys_.size(); }
  bool is_full() const { return keys_.size() >= limit_; }

  /// Null: it is not there. Valid until it is forgotten.
  Value* find(const Key& key) {
    const auto known = entries_.find(key);
    return known == entries_.end() ? nullptr : &known->second.value;
  }
  /// A default value if it is not there, and then another one is forgotten once the map is full.
  Value& operator[](const Key& key) {
    if (Value* known = find(key); known != nullptr) return *known;
    if (is_full()) forget_one();
    keys_.push_back(key);
    return entries_.emplace(key, Entry{keys_.size() - 1, Value()}).first->second.value;
  }
  /// The one that is drawn; there must be some.
  std::pair<Key, Value> forget_one() {
    ASHLAR_CHECK(!keys_.empty());
    const auto drawn = entries_.find(keys_[draws_.below(keys_.size())]);
    std::pair<Key, Value> gone(drawn->first, std::move(drawn->second.value));
    forget(drawn);
    return gone;
  }
  /// False: it is not there.
  bool erase(const Key& key) {
    const auto known = entries_.find(key);
    if (known == entries_.end()) return false;
    forget(known);
    return true;
  }

 private:
  struct Entry {
    std::size_t at = 0;  ///< in keys_
    Value value;
  };
  using Entries = std::unordered_map<Key, Entry, Hash>;
  void forget(typename Entries::iterator entry) {
    const std::size_t at = entry->second.at;
    entries_.erase(entry);
    if (at + 1 < keys_.size()) {
      keys_[at] = std::move(keys_.back());
      entries_.find(keys_[at])->second.at = at;
    }
    keys_.pop_back();
  }

  std::size_t limit_;
  Entries entries_;
  std::vector<Key> keys_;
  Rng draws_;
};

}  // namespace ashlar
