// KeptAway: the domains from which placed pods keep pods of a label set away, by required anti-affinity of their own.
// Cost of a question: a search among the node's labels for each topology label by which the set is kept away.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "model/node.h"

namespace ashlar {

/// The value of a node's label; none if the node does not have it.
LabelId value_of(const NodeFacts& facts, LabelKeyId key);

class KeptAway {
 public:
  /// Whether a placed pod keeps pods seen with these labels away from nodes with these facts.
  bool keeps_away(LabelSetId seen_as, const NodeFacts& facts) const;

 protected:
  /// A domain, and the number of terms that keep the set away from it.
  struct From {
    LabelKeyId topology;
    LabelId value;
    std::uint32_t terms = 0;
    friend bool operator==(const From&, const From&) = default;
  };
  /// One more term (by = 1), or one fewer (-1). Whether the set is now kept away from a domain that was open to it, or
  /// the reverse.
  bool keep_away(LabelSetId set, LabelKeyId topology, LabelId value, int by);
  void ensure_sets(std::size_t rows) {
    if (rows > from_.size()) from_.resize(rows);
  }
  bool is_alike(const KeptAway& other) const { return from_ == other.from_; }

 private:
  std::vector<std::vector<From>> from_;  ///< by label set; ascending by topology label and value
};

}  // namespace ashlar
