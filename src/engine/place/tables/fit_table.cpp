#include "engine/place/tables/fit_table.h"

#include <algorithm>

#include "policy/feasible_policy.h"
#include "policy/score/preferences.h"
#include "state/ledger.h"

namespace ashlar {
namespace {

/// Of one table with all parts: a count and a number for each node, the best of each group; and points of preferences
/// for each node, which most have where nodes report images.
std::size_t bytes_of_a_table(const Cluster& cluster) {
  const std::size_t of_a_node =
      sizeof(std::uint16_t) + sizeof(std::uint64_t) + (cluster.images().rows() == 0 ? 0 : 2 * sizeof(Points));
  return sizeof(FitTable) + of_a_node * cluster.rows() + 64 * cluster.topology().group_count();
}

/// To find it and bring it up to date; rules and preferences about other pods are followed on all nodes.
std::uint64_t looks_of_a_table(const Cluster& cluster, ConstraintId constraint) {
  constexpr std::uint64_t kOfAny = 16;
  return kOfAny + (cluster.has_company(constraint) ? cluster.rows() / 32 : 0) +
         (cluster.has_pod_preferences(constraint) ? cluster.rows() / 8 : 0);
}

PreferenceColumns columns_of(const PodPreferences& preferences) {
  PreferenceColumns columns{
      preferences.affinity(), preferences.weights_held(), preferences.soft_taints(), preferences.images(), {}};
  for (const PodPreferences::Spread& s : preferences.spreads())
    columns.spreads.push_back({s.term.skew_max, s.domains_of->of_node, s.pods, s.term.requires_all_labels});
  return columns;
}

}  // namespace

void FitTable::open(const State& state, std::uint64_t draw, const FitsLimit* limit) {
  draw_ = draw;
  rating_.set_limit(limit);
  if (limit != nullptr && limit->editions != limit_editions_) {
    counts_.forget();
    best_.forget();
    limit_editions_ = limit->editions;
  }
  if (redefinitions_seen_ != state.redefinitions()) {
    redefinitions_seen_ = state.redefinitions();
    if (!is_of(state)) {
      counts_.forget();
      best_.forget();
      edition_ = rating_.edition(state);
    }
  }
  if (state.cluster().has_company(rating_.constraint())) follow_company(state);
  if (rating_.has_prefer() && (!preferences_.empty() || state.cluster().has_pod_preferences(rating_.constraint())))
    follow_preferences(state);
}

void FitTable::note_preferences(const State& state) {
  if (rating_.is_prefer_alone()) return best_.note_preferences(state, rating_, preferences_, preferences_now_);
  for (std::size_t n = 0; n < preferences_.size(); ++n)
    if (preferences_[n] != preferences_now_[n]) best_.note_changed(state, rating_, NodeId(n));
}

/// They change with the pods that are placed and with the nodes among which they are compared: those whose points have
/// changed are looked at again.
void FitTable::follow_preferences(const State& state) {
  preferences_now_.clear();
  if (state.cluster().has_pod_preferences(rating_.constraint())) {
    const auto sums_now = [&]() -> const PodPreferences& {
      return state.cluster().pod_preferences(rating_.constraint(), kNodeRules);
    };
    const bool depends_on_what_fits = sums_now().depends_on_what_fits();
    if (depends_on_what_fits) count(state);
    const PodPreferences& sums = sums_now();
    const std::pair seen{sums.version(), depends_on_what_fits ? counts_.edition() : 0};
    if (!preferences_.empty() && preferences_of_ == seen) return;
    preferences_of_ = seen;
    preferences_now_.resize(state.cluster().rows());
    add_up_preferences(columns_of(sums), counts_.fits(), preferences_now_);
  }
  if (preferences_now_.size() != preferences_.size())
    best_.forget();
  else
    note_preferences(state);
  preferences_.swap(preferences_now_);
  if (preferences_of_.second == 0) preferences_now_ = {};  // they hardly ever change
  rating_.set_preferences(preferences_);
}

/// What rules about other pods open and close is not in the cluster's log of changes: it concerns this constraint
/// alone.
void FitTable::follow_company(const State& state) {
  const Cluster::CompanyNews news = state.cluster().company_news(rating_.constraint(), kNodeRules, company_seen_);
  company_seen_ = news.now;
  if (!news.is_known) {
    counts_.forget();
    best_.forget();
    return;
  }
  counts_.note_changed(news.nodes);
  for (const NodeId n : news.nodes) best_.note_flip(state, n);
}

/// A constraint for a few nodes, of a DaemonSet's pod say, is compared on these alone; such kinds are as many as nodes.
bool FitTable::is_for_few(const State& state) {
  const BitSet& allowed = state.cluster().allowed_alone(rating_.constraint(), kNodeRules);
  if (allowed.count() > kFewNodes) return false;
  few_.clear();
  allowed.each([&](std::size_t row) { few_.push_back(NodeId(row)); });
  return true;
}

NodeId FitTable::best_of_few(const State& state) {
  const Topology& topology = state.cluster().topology();
  std::vector<Points> of_groups;
  if (rating_.has_domain_tier()) {
    of_groups.resize(topology.group_count());
    rating_.add_domain_points(state, of_groups);
  }
  NodeId best;
  std::uint64_t best_key = 0;
  for (const NodeId n : few_) {
    std::uint64_t key = rating_.rate(state, n, draw_);
    if (key != 0 && !of_groups.empty()) key |= rating_.domain_bits(of_groups[topology.group_of(n).row()]);
    if (key <= best_key) continue;
    best = n;
    best_key = key;
  }
  return best;
}

NodeId FitTable::best(const State& state) {
  if (is_for_few(state)) return best_of_few(state);
  changes_->refresh(state.cluster());
  best_.refresh(state, rating_, *changes_);
  return best_.find(state, rating_, *changes_, draw_);
}

NodeId FitTable::best_among(const State& state, std::span<const NodeId> nodes) {
  NodeId best;
  std::uint64_t best_key = 0;
  for (const NodeId n : nodes) {
    if (fits(n) == 0) continue;
    const std::uint64_t its_key = key(state, n);
    if (its_key <= best_key && !best.is_none()) continue;
    best = n;
    best_key = its_key;
  }
  return best;
}

void FitTable::pass_over_undone_changes(const State& state, std::uint64_t since) {
  if (!limit_editions_.empty()) {  // the limit is known only while it is asked for
    if (counts_.cursor() > since) counts_.forget();
    if (best_.cursor() > since) best_.forget();
    return;
  }
  if (counts_.cursor() > since) {
    // To count all nodes anew is left to the next question, if there is one.
    if (counts_.must_start(state.cluster())) {
      counts_.forget();
    } else {
      counts_.refresh(state, rating_);
      counts_.rewind(since);
    }
  }
  if (best_.cursor() > since) {
    changes_->refresh(state.cluster());
    best_.refresh(state, rating_, *changes_);
    best_.rewind(since);
  }
}

FitTable& FitTables::get(const State& state, DemandId demand, ConstraintId constraint, std::uint64_t draw) {
  looks_ += looks_of_a_table(state.cluster(), constraint);
  const Kind kind{demand, constraint, limit_ != nullptr};
  auto it = tables_.find(kind);
  if (it == tables_.end()) {
    const std::size_t tables_max = std::max<std::size_t>(8, bytes_max_ / bytes_of_a_table(state.cluster()));
    if (tables_.size() >= tables_max) forget(tables_.find(uses_.back()));
    uses_.push_front(kind);
    it = tables_.emplace(kind, Slot{FitTable(*profile_, demand, constraint, changes_), uses_.begin(), 0}).first;
  } else {
    uses_.splice(uses_.begin(), uses_, it->second.use);
  }
  it->second.used_at = state.cluster().change_count();
  it->second.table.open(state, draw, limit_);
  return it->second.table;
}

FitTable& FitTables::counted(const State& state, DemandId demand, ConstraintId constraint, std::uint64_t draw) {
  FitTable& table = get(state, demand, constraint, draw);
  table.count(state);
  return table;
}

void FitTables::pass_over_undone_changes(State& state, std::uint64_t since) {
  if (!state.cluster().remembers(since)) return;
  for (const Kind& kind : uses_) {
    Slot& slot = tables_.at(kind);
    if (slot.used_at < since) break;  // no table behind it in the list has been used later
    slot.table.pass_over_undone_changes(state, since);
    slot.used_at = since;
  }
  changes_->forget_undone_changes(since);
  Ledger(state).forget_undone_changes(since);
}

void FitTables::forget(Tables::iterator it) {
  uses_.erase(it->second.use);
  tables_.erase(it);
}

void FitTables::forget_all() {
  tables_.clear();
  uses_.clear();
  changes_ = std::make_shared<GroupChanges>();
}

void FitTables::forget_outdated(const State& state) {
  for (auto use = uses_.begin(); use != uses_.end();) {
    const auto it = tables_.find(*use++);
    if (!it->second.table.is_of(state)) forget(it);
  }
}

}  // namespace ashlar
