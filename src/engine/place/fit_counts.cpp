#include "engine/place/fit_counts.h"

#include <algorithm>
#include <numeric>

#include "base/grown.h"

namespace ashlar {
namespace {
constexpr std::size_t kRowsPerUpdate = 8;  ///< one node by itself costs about as much as that many in a row
}

void FitCounts::start_anew(const State& state, const NodeRating& rating) {
  const std::size_t rows = state.cluster().rows();
  shape_version_ = state.cluster().topology().shape_version();
  fits_.resize(rows);
  rating.count(state, {0, rows}, fits_);
  total_ = std::accumulate(fits_.begin(), fits_.end(), std::uint64_t{0});
  levels_with_rooms_ = 0;
  is_started_ = true;
}

void FitCounts::update(const State& state, const NodeRating& rating, NodeId n) {
  const std::uint16_t before = fits_[n.row()];
  rating.count(state, {n.row(), 1}, std::span(fits_).subspan(n.row(), 1));
  const std::uint16_t after = fits_[n.row()];
  if (before == after) return;
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
         cluster.change_count() - cursor_ > cluster.rows() / kRowsPerUpdate + 64;
}

void FitCounts::refresh(const State& state, const NodeRating& rating) {
  const Cluster& cluster = state.cluster();
  if (must_start(cluster)) {
    start_anew(state, rating);
  } else {
    fits_.resize(cluster.rows(), 0);
    if (shape_version_ != cluster.topology().shape_version()) follow_moves(cluster.topology());
    // A node that changed several times is counted anew several times, which costs less than a note of each.
    for (const NodeId n : cluster.changed_since(cursor_)) update(state, rating, n);
  }
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
