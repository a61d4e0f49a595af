// protobuf_parts: parts that messages of several kinds of objects have: metadata, labels, amounts, requirements.
// Private to the folder.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "kubeclient/objects.h"
#include "kubeclient/pod_builder.h"
#include "kubeclient/proto/messages.h"

namespace ashlar::kube::proto {

inline void note(std::string& problem, std::string_view where, const Error& error) {
  if (problem.empty()) problem = std::string(where) + ": " + error.message;
}

inline Millis millis_of(const pb::Time& time) {
  constexpr std::int64_t kSecondsMax = std::numeric_limits<std::int64_t>::max() / 2000;
  return Millis(std::clamp(time.seconds(), -kSecondsMax, kSecondsMax) * 1000 + time.nanos() / 1'000'000);
}

template <class Pairs>
void read_labels(const Pairs& pairs, Labels& into) {
  into.reserve(into.size() + static_cast<std::size_t>(pairs.size()));
  for (const pb::StringPair& pair : pairs) into.push_back({pair.key(), pair.value()});
}

/// False if an amount could not be read.
template <class Pairs, class Amounts>
bool read_quantities(const Pairs& pairs, Amounts& into, std::string_view where, std::string& problem) {
  bool is_sound = true;
  for (const pb::QuantityPair& pair : pairs) {
    const Result<void> added = add_quantity(into, pair.key(), pair.value().string());
    if (added) continue;
    note(problem, where, added.error());
    is_sound = false;
  }
  return is_sound;
}

/// Name and versions; times only of objects that keep them.
template <class T>
void read_meta(const pb::ObjectMeta& meta, T& object) {
  object.ns = meta.namespace_();
  object.name = meta.name();
  object.uid = meta.uid();
  object.resource_version = read_resource_version(meta.resourceversion());
  if constexpr (requires { object.created; }) object.created = millis_of(meta.creationtimestamp());
  if constexpr (requires { object.deletion_requested; })
    if (meta.has_deletiontimestamp()) object.deletion_requested = millis_of(meta.deletiontimestamp());
}

template <class Requirements>
bool read_requirements(const Requirements& requirements, std::vector<Requirement>& into) {
  bool known = true;
  for (const auto& from : requirements) {
    Requirement& requirement = into.emplace_back();
    requirement.key = from.key();
    known &= read_selector_op(from.operator_(), requirement.op);
    for (const std::string& value : from.values()) requirement.values.emplace_back(value);
  }
  return known;
}

inline bool read_node_term(const pb::NodeSelectorTerm& from, NodeTerm& term) {
  const bool known = read_requirements(from.matchexpressions(), term.expressions);
  return read_requirements(from.matchfields(), term.fields) && known;
}

}  // namespace ashlar::kube::proto
