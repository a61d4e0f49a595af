#include "engine/pending/parked_kinds.h"

#include <utility>

namespace ashlar {

void ParkedKinds::insert(std::int64_t devices, const ParkedKind& kind, const ClassHead& head) {
  Level& kinds = levels_[devices];
  const auto [at, is_new] = kinds.index.try_emplace(kind, kinds.listed.size());
  if (is_new) kinds.listed.push_back({kind, {}});
  kinds.listed[at->second].heads.insert(head);
}

void ParkedKinds::erase(std::int64_t devices, const ParkedKind& kind, const ClassHead& head) {
  const auto level = levels_.find(devices);
  if (level == levels_.end()) return;
  Level& kinds = level->second;
  const auto at = kinds.index.find(kind);
  if (at == kinds.index.end()) return;
  const std::size_t slot = at->second;
  kinds.listed[slot].heads.erase(head);
  if (!kinds.listed[slot].heads.empty()) return;
  kinds.index.erase(at);
  if (slot + 1 < kinds.listed.size()) {
    kinds.listed[slot] = std::move(kinds.listed.back());
    kinds.index[kinds.listed[slot].kind] = slot;
  }
  kinds.listed.pop_back();
  if (kinds.listed.empty()) levels_.erase(level);
}

const std::set<ClassHead>* ParkedKinds::heads_of(std::int64_t devices, const ParkedKind& kind) const {
  const auto level = levels_.find(devices);
  if (level == levels_.end()) return nullptr;
  const auto at = level->second.index.find(kind);
  return at == level->second.index.end() ? nullptr : &level->second.listed[at->second].heads;
}

}  // namespace ashlar
