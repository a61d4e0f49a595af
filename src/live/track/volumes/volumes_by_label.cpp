#include "live/track/volumes/volumes_by_label.h"

#include <algorithm>
#include <array>

namespace ashlar::kube {
namespace {

constexpr std::size_t kKeysMax = 7;     ///< labels that tell volumes apart
constexpr std::size_t kValuesMax = 64;  ///< of one expression

}  // namespace

const Requirement* VolumesByLabel::listed(const NodeTerm& term) {
  for (const Requirement& r : term.expressions) {
    if (r.op != SelectorOp::kIn || r.values.size() > kValuesMax) continue;
    if (std::ranges::find(keys_, r.key) != keys_.end()) return &r;
    if (keys_.size() == kKeysMax) continue;
    keys_.push_back(r.key);
    return &r;
  }
  return nullptr;
}

void VolumesByLabel::add(const AnyOf& nodes) {
  const std::uint32_t position = count_++;
  std::vector<const Requirement*> all;
  if (nodes)
    for (const NodeTerm& term : *nodes) all.push_back(listed(term));
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
