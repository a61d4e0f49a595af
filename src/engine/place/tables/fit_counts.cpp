#include "engine/place/tables/fit_counts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "base/bitset.h"
#include "base/grown.h"

namespace ashlar {
namespace {
constexpr std::size_t kRowsPerUpdate = 8;  ///< one node by itself costs about as much as that many in a row
constexpr std::size_t kRowsAtOnce = 64;    ///< at most
constexpr std::size_t kFewChanges = 8;     ///< up to this many are counted one by one
}  // namespace

void FitCounts::start_anew(const State& state, const NodeRating& rating) {
  const std::size_t rows = state.cluster().rows();
  shape_version_ = state.cluster().topology().shape_version();
  fits_.resize(rows);
  rating.count(state, {0, rows}, fits_);
  total_ = std::accumulate(fits_.begin(), fits_.end(), std::uint64_t{0});
  levels_with_rooms_ = 0;
  is_started_ = true;
  ++edition_;
}

void FitCounts::update(const State& state, const NodeRating& rating, NodeRange rows) {
  const std::span<std::uint16_t> fits = std::span(fits_).subspan(rows.first, rows.count);
  std::array<std::uint16_t, kRowsAtOnce> before;
  std::copy(fits.begin(), fits.end(), before.begin());
  rating.count(state, rows, fits);
  for (std::size_t i = 0; i < rows.count; ++i) follow(state, NodeId(rows.first + i), before[i]);
}

/// Nodes that are close to each other are counted together, with those between them, and each once.
void FitCounts::update_changed(const State& state, const NodeRating& rating, std::span<const NodeId> changed) {
  if (changed.size() <= kFewChanges) {
    for (const NodeId n : changed) update(state, rating, {n.row(), 1});
    return;
  }
  BitSet rows(fits_.size());
  for (const NodeId n : changed) rows.set(n.row());
  for (std::size_t w = 0; w < rows.words().size(); ++w) {
    std::uint64_t word = rows.words()[w];
    if (word == 0) continue;
    const auto first = static_cast<std::size_t>(std::countr_zero(word));
    const std::size_t count = kRowsAtOnce - static_cast<std::size_t>(std::countl_zero(word)) - first;
    if (static_cast<std::size_t>(std::popcount(word)) * kRowsPerUpdate >= count)
      update(state, rating, {w * kRowsAtOnce + first, count});
    else
      for (; word != 0; word &= word - 1)
        update(state, rating, {w * kRowsAtOnce + static_cast<std::size_t>(std::countr_zero(word)), 1});
  }
}

void FitCounts::follow(const State& state, NodeId n, std::uint16_t before) {
  const std::uint16_t after = fits_[n.row()];
  if (before == after) return;
  if (before == 0 || after == 0) ++edition_;
  total_ += std::uint64_t{after} - before;
  if (levels_with_rooms_ == 0) return;
  const Topology& topology = state.cluster().topology();
  for (std::uint32_t l = 0; l < rooms_.size(); ++l) {
    if (!has_rooms(l)) continue;
    if (const DomainId d = topology.domain_of(LevelId(l), n); !d.is_none())
      rooms_[l][d.row()] += std::uint32_t{after} - before;
  }
}

void FitCounts::follow_moves(const Topology& topology) {
  if (levels_with_rooms_ != 0 && topology.remembers_moves(shape_version_)) {
    for (const Topology::Move& move : topology.moves_since(shape_version_)) {
      if (move.level.is_none() || !has_rooms(move.level.value)) continue;
      const std::uint32_t fits = value_at(fits_, move.node.row());
      std::vector<std::uint32_t>& rooms = rooms_[move.level.row()];
      if (!move.from.is_none()) rooms[move.from.row()] -= fits;
      if (!move.to.is_none()) grown(rooms, move.to.row()) += fits;
    }
  } else {
    levels_with_rooms_ = 0;
  }
  shape_version_ = topology.shape_version();
}

bool FitCounts::must_start(const Cluster& cluster) const {
  return !is_started_ || !cluster.remembers(cursor_) || fits_.size() > cluster.rows() ||
         cluster.change_count() - cursor_ > cluster.rows() + kRowsAtOnce;
}

void FitCounts::refresh(const State& state, const NodeRating& rating) {
  const Cluster& cluster = state.cluster();
  if (must_start(cluster)) {
    start_anew(state, rating);
  } else {
    fits_.resize(cluster.rows(), 0);
    if (shape_version_ != cluster.topology().shape_version()) follow_moves(cluster.topology());
    update_changed(state, rating, cluster.changed_since(cursor_));
    update_changed(state, rating, noted_);
  }
  noted_.clear();
  cursor_ = cluster.change_count();
}

void FitCounts::build_rooms(const Topology& topology, std::uint32_t level) {
  if (rooms_.size() < topology.level_count()) rooms_.resize(topology.level_count());
  std::vector<std::uint32_t>& rooms = rooms_[level];
  rooms.assign(topology.domain_count(LevelId(level)), 0);
  const auto domains = topology.domains(LevelId(level));
  const std::size_t rows = std::min(domains.size(), fits_.size());
  for (std::size_t n = 0; n < rows; ++n)
    if (fits_[n] != 0 && !domains[n].is_none()) rooms[domains[n].row()] += fits_[n];
  levels_with_rooms_ |= std::uint32_t{1} << level;
}

std::span<const std::uint32_t> FitCounts::room(const State& state, LevelId level) {
  if (!has_rooms(level.value)) build_rooms(state.cluster().topology(), level.value);
  return rooms_[level.row()];
}

}  // namespace ashlar
