#include "engine/place/spreader.h"

#include <algorithm>

#include "base/check.h"

namespace ashlar {

void Spreader::spread(std::span<NodeId> nodes, std::uint32_t level, std::uint64_t count) {
  if (count == 0) return;
  if (level >= state_.cluster().topology().nested_count()) {
    spread_over_nodes(nodes, count);
    return;
  }
  const std::vector<Part> parts = split(nodes, level);
  std::vector<std::uint8_t> is_used(parts.size(), 0);
  while (count > 0) {
    const std::size_t p = pick(parts, is_used, count);
    is_used[p] = 1;
    const std::uint64_t here = std::min(count, parts[p].room);
    spread(nodes.subspan(parts[p].first, parts[p].count), level + 1, here);
    count -= here;
  }
}

/// The tightest part that takes everything, else the one with most capacity; of several the one that is preferred.
std::size_t Spreader::pick(const std::vector<Part>& parts, const std::vector<std::uint8_t>& is_used,
                           std::uint64_t count) {
  std::size_t best = parts.size();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (is_used[p] != 0 || parts[p].room == 0) continue;
    if (best == parts.size()) {
      best = p;
      continue;
    }
    const bool holds = parts[p].room >= count;
    const bool best_holds = parts[best].room >= count;
    const bool is_better = holds != best_holds ? holds
                           : parts[p].room != parts[best].room
                               ? (holds ? parts[p].room < parts[best].room : parts[p].room > parts[best].room)
                           : parts[p].wishes_met != parts[best].wishes_met
                               ? parts[p].wishes_met > parts[best].wishes_met
                               : parts[p].lowest < parts[best].lowest;
    if (is_better) best = p;
  }
  ASHLAR_CHECK(best < parts.size());
  return best;
}

std::vector<Spreader::Part> Spreader::split(std::span<NodeId> nodes, std::uint32_t level) const {
  const auto domains = state_.cluster().topology().domains(LevelId(level));
  const auto is_before = [&](NodeId a, NodeId b) {
    return domains[a.row()] != domains[b.row()] ? domains[a.row()] < domains[b.row()] : a < b;
  };
  // Mostly nodes are numbered domain by domain.
  if (!std::is_sorted(nodes.begin(), nodes.end(), is_before)) std::sort(nodes.begin(), nodes.end(), is_before);
  std::vector<Part> parts;
  parts.reserve(std::min(nodes.size(), state_.cluster().topology().domain_count(LevelId(level)) + 1));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i == 0 || domains[nodes[i].row()] != domains[nodes[i - 1].row()])
      parts.push_back({0, static_cast<std::uint32_t>(i), 0, nodes[i]});
    parts.back().room += table_.fits(nodes[i]);
    parts.back().wishes_met += table_.wishes_met(nodes[i]);
    ++parts.back().count;
  }
  return parts;
}

void Spreader::spread_over_nodes(std::span<const NodeId> nodes, std::uint64_t count) {
  keys_.resize(nodes.size());
  table_.keys(state_, nodes, keys_);
  rated_.clear();
  rated_.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) rated_.push_back({table_.fits(nodes[i]), keys_[i], nodes[i]});
  // Most capacity first, higher score first, then by row; the last remainder goes to the tightest node that takes it.
  std::sort(rated_.begin(), rated_.end(), [](const Rated& a, const Rated& b) {
    if (a.fits != b.fits) return a.fits > b.fits;
    return a.key != b.key ? a.key > b.key : a.node < b.node;
  });
  for (auto it = rated_.begin(); it != rated_.end() && count > 0; ++it) {
    auto chosen = it;
    for (auto other = it; other != rated_.end() && other->fits >= count; ++other)
      if (other->fits < chosen->fits) chosen = other;
    const auto here = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, chosen->fits));
    shares_.push_back({chosen->node, here});
    count -= here;
  }
  ASHLAR_CHECK(count == 0);
}

}  // namespace ashlar
