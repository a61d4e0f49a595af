#include "live/track/volumes/volumes_by_label.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace ashlar::kube {
namespace {

constexpr std::size_t kKeysMax = 7;     ///< labels that tell volumes apart
constexpr std::size_t kValuesMax = 64;  ///< of one expression

bool lists_few(const Requirement& r) { return r.op == SelectorOp::kIn && r.values.size() <= kValuesMax; }

template <class Visit>
void each_term(std::span<const AnyOf* const> volumes, Visit&& visit) {
  for (const AnyOf* nodes : volumes)
    if (*nodes)
      for (const NodeTerm& term : **nodes) visit(term);
}

}  // namespace

VolumesByLabel::VolumesByLabel(std::span<const AnyOf* const> volumes) {
  const Counts counts = count_labels(volumes);
  choose_keys(volumes, counts);
  for (const AnyOf* nodes : volumes) add(*nodes, counts);
}

VolumesByLabel::Counts VolumesByLabel::count_labels(std::span<const AnyOf* const> volumes) {
  Counts counts;
  each_term(volumes, [&](const NodeTerm& term) {
    for (const Requirement& r : term.expressions)
      if (lists_few(r))
        for (const PooledString& value : r.values) ++counts[{r.key, value}];
  });
  return counts;
}

const Requirement* VolumesByLabel::rarest(const NodeTerm& term, const Counts& counts,
                                          std::span<const PooledString> keys) {
  const Requirement* found = nullptr;
  std::size_t least = 0;
  for (const Requirement& r : term.expressions) {
    if (!lists_few(r) || (!keys.empty() && std::ranges::find(keys, r.key) == keys.end())) continue;
    std::size_t count = 0;
    for (const PooledString& value : r.values) count += counts.find({r.key, value})->second;
    if (found != nullptr && count >= least) continue;
    found = &r;
    least = count;
  }
  return found;
}

/// Those by which most terms are told apart.
void VolumesByLabel::choose_keys(std::span<const AnyOf* const> volumes, const Counts& counts) {
  boost::unordered_flat_map<PooledString, std::size_t, std::hash<PooledString>> uses;
  each_term(volumes, [&](const NodeTerm& term) {
    if (const Requirement* one = rarest(term, counts, {}); one != nullptr) ++uses[one->key];
  });
  std::vector<std::pair<std::size_t, PooledString>> by_use;
  for (const auto& [key, count] : uses) by_use.emplace_back(count, key);
  std::ranges::sort(by_use, std::greater<>());
  for (std::size_t i = 0; i < std::min(by_use.size(), kKeysMax); ++i) keys_.push_back(by_use[i].second);
}

void VolumesByLabel::add(const AnyOf& nodes, const Counts& counts) {
  const std::uint32_t position = count_++;
  std::vector<const Requirement*> all;
  if (nodes)
    for (const NodeTerm& term : *nodes) all.push_back(rarest(term, counts, keys_));
  if (!nodes || std::ranges::find(all, nullptr) != all.end()) {
    anywhere_.push_back(position);
    return;
  }
  for (const Requirement* one : all) {
    for (const PooledString& value : one->values) {
      Positions& positions = with_label_[{one->key, value}];
      if (positions.empty() || positions.back() != position) positions.push_back(position);
    }
  }
}

void VolumesByLabel::each(const Labels& labels, const std::function<bool(std::uint32_t)>& visit) const {
  std::array<std::span<const std::uint32_t>, kKeysMax + 1> left;
  std::size_t lists = 0;
  left[lists++] = anywhere_;
  for (const PooledString& key : keys_) {
    const PooledString* value = find_label(labels, key);
    const auto found = value == nullptr ? with_label_.end() : with_label_.find({key, *value});
    if (found != with_label_.end()) left[lists++] = found->second;
  }
  while (true) {
    std::uint32_t next = count_;
    for (std::size_t i = 0; i < lists; ++i)
      if (!left[i].empty()) next = std::min(next, left[i].front());
    if (next == count_ || visit(next)) return;
    for (std::size_t i = 0; i < lists; ++i)
      if (!left[i].empty() && left[i].front() == next) left[i] = left[i].subspan(1);
  }
}

}  // namespace ashlar::kube
