#include "state/counts/kept_away.h"

#include <algorithm>

#include "base/check.h"

namespace ashlar {

LabelId value_of(const NodeFacts& facts, LabelKeyId key) {
  const auto it = std::lower_bound(facts.labels.begin(), facts.labels.end(), key,
                                   [](const NodeLabel& l, LabelKeyId k) { return l.key < k; });
  return it != facts.labels.end() && it->key == key ? it->id : LabelId::none();
}

bool KeptAway::keeps_away(LabelSetId seen_as, const NodeFacts& facts) const {
  const std::vector<From>& from = from_[seen_as.row()];
  for (auto it = from.begin(); it != from.end();) {
    const LabelKeyId topology = it->topology;
    const LabelId value = value_of(facts, topology);
    const auto is_before = [&](const From& f, LabelId v) { return f.topology == topology && f.value < v; };
    it = std::lower_bound(it, from.end(), value, is_before);
    if (it != from.end() && it->topology == topology && it->value == value) return true;
    it = std::partition_point(it, from.end(), [&](const From& f) { return f.topology == topology; });
  }
  return false;
}

bool KeptAway::keep_away(LabelSetId set, LabelKeyId topology, LabelId value, int by) {
  std::vector<From>& from = from_[set.row()];
  const auto it = std::lower_bound(from.begin(), from.end(), value, [&](const From& f, LabelId v) {
    return f.topology != topology ? f.topology < topology : f.value < v;
  });
  if (it == from.end() || it->topology != topology || it->value != value) {
    ASHLAR_CHECK(by > 0);
    from.insert(it, {topology, value, 1});
    return true;
  }
  it->terms = static_cast<std::uint32_t>(static_cast<int>(it->terms) + by);
  if (it->terms > 0) return false;
  from.erase(it);
  return true;
}

}  // namespace ashlar
