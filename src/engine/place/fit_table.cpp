#include "engine/place/fit_table.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "state/ledger.h"

namespace ashlar {
namespace {

constexpr int kTierBits = 16;
constexpr int kTopShift = 48;

/// Points of one tier as the 16 bits of its position in the key; at least 1, so that a key of 0 means "does not fit".
std::uint64_t tier_bits(Points points, std::size_t tier) {
  const auto clamped = static_cast<std::uint64_t>(std::clamp(points, 0, 65534) + 1);
  return clamped << (kTopShift - kTierBits * static_cast<int>(tier));
}

}  // namespace

NodeView FitTable::node_view(const State& state, std::uint64_t draw) const {
  return {state.cluster(), state.demand(demand_), state.cluster().constraint(constraint_), &profile_->mix, draw};
}

void FitTable::compute(State& state, NodeRange rows, std::uint64_t draw) {
  const NodeView view = node_view(state, draw);
  const BitSet& allowed = state.cluster().allowed(constraint_, is_allowed_by_facts);
  fits_scratch_.resize(rows.count);
  for (std::size_t i = 0; i < rows.count; ++i) fits_scratch_[i] = allowed.test(rows.first + i) ? kFitsMax : 0;
  const std::span<std::uint16_t> fits(fits_scratch_);
  profile_->lower_by_what_is_free(view, rows, fits);
  for (std::size_t i = 0; i < rows.count; ++i) keys_[rows.first + i] = 0;
  points_.resize(rows.count);
  for (std::size_t tier = 0; tier < profile_->tiers.size(); ++tier) {
    std::fill(points_.begin(), points_.end(), 0);
    bool is_domain_tier = false;
    for (const ScorePolicy* policy : profile_->tiers[tier]) {
      if (policy->add != nullptr)
        policy->add(view, rows, points_);
      else
        is_domain_tier = true;
    }
    if (is_domain_tier) continue;
    for (std::size_t i = 0; i < rows.count; ++i) keys_[rows.first + i] |= tier_bits(points_[i], tier);
  }
  for (std::size_t i = 0; i < rows.count; ++i) {
    if (fits[i] == 0)
      keys_[rows.first + i] = 0;
    else
      keys_[rows.first + i] |= profile_->tiers.empty() ? 1 : 0;
  }
}

void FitTable::start_anew(State& state, std::uint64_t draw) {
  const std::size_t rows = state.cluster().rows();
  shape_version_ = state.cluster().topology().shape_version();
  edition_ = state.edition(demand_, constraint_);
  keys_.assign(rows, 0);
  stamp_.assign(rows, 0);
  refresh_number_ = 0;
  compute(state, {0, rows}, draw);
  fits_ = fits_scratch_;
  total_ = 0;
  for (const std::uint16_t f : fits_) total_ += f;
  const std::size_t groups = state.cluster().topology().group_count();
  group_best_.assign(groups, NodeId::none());
  is_group_stale_.assign(groups, 1);
  has_rooms_ = false;
}

void FitTable::update(State& state, NodeId n, std::uint64_t draw) {
  compute(state, {n.row(), 1}, draw);
  const std::uint16_t before = fits_[n.row()];
  const std::uint16_t after = fits_scratch_[0];
  fits_[n.row()] = after;
  const Topology& topology = state.cluster().topology();
  if (const GroupId group = topology.group_of(n); !group.is_none()) is_group_stale_[group.row()] = 1;
  if (before == after) return;
  total_ += std::uint64_t(after) - before;
  if (!has_rooms_) return;
  for (std::uint32_t l = 0; l < topology.level_count(); ++l)
    if (const DomainId d = topology.domain_of(LevelId(l), n); !d.is_none())
      rooms_[l][d.row()] += std::uint32_t(after) - before;
}

FitTable::FitTable(const Profile& profile, DemandId demand, ConstraintId constraint)
    : profile_(&profile),
      demand_(demand),
      constraint_(constraint),
      is_drawn_(std::any_of(profile.tiers.begin(), profile.tiers.end(), [](const auto& tier) {
        return std::any_of(tier.begin(), tier.end(), [](const ScorePolicy* p) { return p->is_drawn; });
      })) {}

void FitTable::refresh(State& state, std::uint64_t draw) {
  const Cluster& cluster = state.cluster();
  const bool is_redefined = redefinitions_seen_ != state.redefinitions() && !is_of(state);
  const bool must_start = !is_fresh_ || is_drawn_ || is_redefined || !cluster.remembers(cursor_) ||
                          shape_version_ != cluster.topology().shape_version() || keys_.size() != cluster.rows() ||
                          cluster.change_count() - cursor_ > 4 * cluster.rows() + 64;
  if (must_start) {
    start_anew(state, draw);
  } else if (cursor_ != cluster.change_count()) {
    ++refresh_number_;
    for (const NodeId n : cluster.changed_since(cursor_)) {
      if (stamp_[n.row()] == refresh_number_) continue;
      stamp_[n.row()] = refresh_number_;
      update(state, n, draw);
    }
  }
  is_fresh_ = true;
  cursor_ = cluster.change_count();
  redefinitions_seen_ = state.redefinitions();
}

void FitTable::find_group_best(const State& state, std::size_t group) {
  NodeId best;
  std::uint64_t best_key = 0;
  for (const NodeId n : state.cluster().topology().nodes_of_group(GroupId(group))) {
    if (keys_[n.row()] > best_key) {
      best = n;
      best_key = keys_[n.row()];
    }
  }
  group_best_[group] = best;
  is_group_stale_[group] = 0;
}

NodeId FitTable::best(const State& state) {
  const std::size_t groups = group_best_.size();
  std::size_t domain_tier = profile_->tiers.size();
  for (std::size_t t = 0; t < profile_->tiers.size(); ++t)
    for (const ScorePolicy* p : profile_->tiers[t])
      if (p->add_domain != nullptr) domain_tier = t;
  if (domain_tier < profile_->tiers.size()) {
    points_.assign(groups, 0);
    for (const ScorePolicy* p : profile_->tiers[domain_tier])
      if (p->add_domain != nullptr) p->add_domain(node_view(state, 0), points_);
  }
  NodeId best;
  std::uint64_t best_key = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    if (is_group_stale_[g] != 0) find_group_best(state, g);
    const NodeId n = group_best_[g];
    if (n.is_none()) continue;
    const std::uint64_t key =
        keys_[n.row()] | (domain_tier < profile_->tiers.size() ? tier_bits(points_[g], domain_tier) : 0);
    if (key > best_key || (key == best_key && n < best)) {
      best = n;
      best_key = key;
    }
  }
  return best;
}

void FitTable::build_rooms(const State& state) {
  const Topology& topology = state.cluster().topology();
  rooms_.assign(topology.level_count(), {});
  for (std::uint32_t l = 0; l < topology.level_count(); ++l) {
    rooms_[l].assign(topology.domain_count(LevelId(l)), 0);
    const auto domains = topology.domains(LevelId(l));
    const std::size_t rows = std::min(domains.size(), fits_.size());
    for (std::size_t n = 0; n < rows; ++n)
      if (!domains[n].is_none()) rooms_[l][domains[n].row()] += fits_[n];
  }
  has_rooms_ = true;
}

std::span<const std::uint32_t> FitTable::room(const State& state, LevelId level) {
  if (!has_rooms_) build_rooms(state);
  return rooms_[level.row()];
}

FitTable& FitTables::get(State& state, DemandId demand, ConstraintId constraint, std::uint64_t draw) {
  const std::size_t bytes_each = 14 * (state.cluster().rows() + 1);
  const std::size_t views_max = std::max<std::size_t>(8, bytes_max_ / bytes_each);
  auto it = fit_tables_.find({demand, constraint});
  if (it == fit_tables_.end()) {
    if (fit_tables_.size() >= views_max) {
      const auto oldest = std::min_element(fit_tables_.begin(), fit_tables_.end(), [](const auto& a, const auto& b) {
        return a.second.last_use < b.second.last_use;
      });
      fit_tables_.erase(oldest);
    }
    it = fit_tables_
             .emplace(std::pair{demand, constraint}, Slot{std::make_unique<FitTable>(*profile_, demand, constraint), 0})
             .first;
  }
  it->second.last_use = ++uses_;
  it->second.view->refresh(state, draw);
  return *it->second.view;
}

void FitTables::pass_over_undone_changes(State& state, std::uint64_t since) {
  if (!state.cluster().remembers(since)) return;
  for (auto& [of, slot] : fit_tables_) {
    if (slot.view->cursor() <= since) continue;
    slot.view->refresh(state, 0);
    slot.view->rewind(since);
  }
  Ledger(state).forget_undone_changes(since);
}

void FitTables::forget_outdated(const State& state) {
  std::erase_if(fit_tables_, [&](const auto& view) { return !view.second.view->is_of(state); });
}

FitTable* FitTables::find(DemandId demand, ConstraintId constraint) {
  const auto it = fit_tables_.find({demand, constraint});
  return it == fit_tables_.end() ? nullptr : it->second.view.get();
}

}  // namespace ashlar
