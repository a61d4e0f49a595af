#include "state/counts/counts.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/digest.h"

namespace ashlar {
namespace {

/// Up to this share of all placed pods they are found by their sets; beyond, all are looked at in order.
constexpr std::uint32_t kFewPods = 8;

auto at_node(auto& counts, NodeId node) {
  return std::lower_bound(counts.begin(), counts.end(), node, [](const NodeCount& c, NodeId n) { return c.node < n; });
}

std::uint32_t pods_at(const NodeCounts& counts, NodeId node) {
  const auto it = at_node(counts, node);
  return it != counts.end() && it->node == node ? it->pods : 0;
}

template <class T>
void insert_sorted(std::vector<T>& list, const T& value) {
  list.insert(std::lower_bound(list.begin(), list.end(), value), value);
}
template <class T>
void erase_sorted(std::vector<T>& list, const T& value) {
  list.erase(std::lower_bound(list.begin(), list.end(), value));
}

}  // namespace

// ---- cells --------------------------------------------------------------------------------------------------------

std::uint64_t Counts::cell(const OwnTerm& term, const NodeCount& count) const {
  std::uint64_t what = (std::uint64_t{term.selector.value} << 32) | term.topology.value;
  if (term.weight != kKeepsAway) what = hash_combine(what, static_cast<std::uint64_t>(std::int64_t{term.weight}));
  return mix64(hash_combine(hash_combine(what, count.node.value), count.pods));
}

/// `topology` none: of the selector itself, else of the pods that have the term.
void Counts::put(NodeCounts& counts, const OwnTerm& term, NodeId node, std::int64_t by) {
  auto it = at_node(counts, node);
  if (it == counts.end() || it->node != node)
    it = counts.insert(it, {node, 0});
  else
    digest_ -= cell(term, *it);
  it->pods = static_cast<std::uint32_t>(it->pods + by);
  if (it->pods == 0)
    counts.erase(it);
  else
    digest_ += cell(term, *it);
}

void Counts::step(PodSelectorId id, NodeId node, int by) {
  Selector& s = selectors_[id.row()];
  put(s.pods, {id, LabelKeyId::none()}, node, by);
  if (s.steps.size() == kStepsMax) {
    s.steps_before += s.steps.size();
    s.steps.clear();
  }
  s.steps.push_back({node, by});
}

std::uint32_t Counts::pods(PodSelectorId id, NodeId node) const { return pods_at(selectors_[id.row()].pods, node); }

Counts::Owners* Counts::find_owners(const OwnTerm& term) {
  for (Owners& o : selectors_[term.selector.row()].owners)
    if (o.topology == term.topology && o.weight == term.weight) return &o;
  return nullptr;
}

const Counts::Owners* Counts::find_owners(const OwnTerm& term) const {
  return const_cast<Counts*>(this)->find_owners(term);
}

std::uint32_t Counts::owners(const PodTerm& term, NodeId node) const {
  const Owners* owners = find_owners({term.selector, term.topology});
  return owners == nullptr ? 0 : pods_at(owners->pods, node);
}

// ---- who is kept away ---------------------------------------------------------------------------------------------

void Counts::flip(LabelKeyId topology, LabelId value) {
  const std::span<const NodeId> nodes = topology_.nodes_of(topology, value);
  flipped_.insert(flipped_.end(), nodes.begin(), nodes.end());
}

void Counts::count_in_domain(PodSelectorId id, Owners& owners, LabelId value, std::uint32_t pods, int by) {
  if (value.is_none() || pods == 0) return;
  work_ += selectors_[id.row()].watchers.size();
  auto it = std::lower_bound(owners.by_value.begin(), owners.by_value.end(), value,
                             [](const ValueCount& c, LabelId v) { return c.value < v; });
  const bool was_there = it != owners.by_value.end() && it->value == value;
  if (!was_there) it = owners.by_value.insert(it, {value, 0});
  it->pods = by > 0 ? it->pods + pods : it->pods - pods;
  if (owners.weight != kKeepsAway) {
    const std::int64_t weight = std::int64_t{owners.weight} * pods * by;
    for (const LabelSetId w : selectors_[id.row()].watchers) draw(w, {owners.topology, value, weight});
    if (it->pods == 0) owners.by_value.erase(it);
    return;
  }
  const bool is_there = it->pods > 0;
  if (!is_there) owners.by_value.erase(it);
  if (is_there == was_there) return;
  bool is_news = false;
  for (const LabelSetId w : selectors_[id.row()].watchers)
    is_news = keep_away(w, owners.topology, value, by) || is_news;
  if (is_news) flip(owners.topology, value);
}

void Counts::count_owner(const OwnTerm& term, NodeId node, int by) {
  Owners* owners = find_owners(term);
  ASHLAR_CHECK(owners != nullptr);
  std::uint32_t& owned = selectors_[term.selector.row()].owned;
  if (owned == 0) begin_owned(term.selector);
  owned = static_cast<std::uint32_t>(static_cast<int>(owned) + by);
  put(owners->pods, term, node, by);
  if (owned_at_.size() <= node.row()) owned_at_.resize(node.row() + 1, 0);
  owned_at_[node.row()] = static_cast<std::uint32_t>(static_cast<int>(owned_at_[node.row()]) + by);
  count_in_domain(term.selector, *owners, topology_.value(term.topology, node), 1, by);
  if (owned == 0) end_owned(term.selector);
}

/// The first pod with a term about the selector comes: only now it matters which sets it means.
void Counts::begin_owned(PodSelectorId id) {
  insert_sorted(owned_, id);
  work_ += index_.sets_about(id) / kComparedOfACount;
  Selector& s = selectors_[id.row()];
  std::vector<LabelSetId>& watchers = s.watchers;
  if (std::exchange(s.watchers_at, 0) == watch_edition()) return;
  watchers.clear();
  index_.sets_of(id, found_sets_);
  for (const LabelSetId set : found_sets_)
    if (sets_[set.row()].constraints > 0) watchers.push_back(set);
}

void Counts::end_owned(PodSelectorId id) {
  erase_sorted(owned_, id);
  Selector& s = selectors_[id.row()];
  s.watchers_at = watch_edition();
  if (s.watchers.size() <= kWatchersKeptMax) return;
  s.watchers = {};
  s.watchers_at = 0;
}

/// The selectors that mean the set, of terms that placed pods have.
template <class Use>
void Counts::each_owned_of(LabelSetId set, Use&& use) {
  if (owned_.size() <= index_.listed_about(set)) {
    for (const PodSelectorId s : owned_)
      if (index_.matches(s, set)) use(s);
    return;
  }
  index_.selectors_of(set, found_);
  for (const PodSelectorId s : found_)
    if (selectors_[s.row()].owned > 0) use(s);
}

/// A watched set is matched by the selector from now on, or no longer.
void Counts::link(PodSelectorId selector, LabelSetId set, int by) {
  Selector& s = selectors_[selector.row()];
  by > 0 ? insert_sorted(s.watchers, set) : erase_sorted(s.watchers, set);
  for (const Owners& owners : s.owners)
    for (const ValueCount& v : owners.by_value)
      if (owners.weight != kKeepsAway)
        draw(set, {owners.topology, v.value, std::int64_t{owners.weight} * v.pods * by});
      else if (keep_away(set, owners.topology, v.value, by))
        flip(owners.topology, v.value);
}

void Counts::watch(LabelSetId id) {
  if (++sets_[id.row()].constraints > 1) return;
  ++watch_changes_;
  each_owned_of(id, [&](PodSelectorId s) { link(s, id, 1); });
}

void Counts::unwatch(LabelSetId id) {
  if (--sets_[id.row()].constraints > 0) return;
  ++watch_changes_;
  each_owned_of(id, [&](PodSelectorId s) { link(s, id, -1); });
}

// ---- rows ---------------------------------------------------------------------------------------------------------

void Counts::use(LabelSetId id, int by) {
  if (id.is_none()) return;
  std::uint32_t& users = sets_[id.row()].users;
  users = static_cast<std::uint32_t>(static_cast<int>(users) + by);
}

void Counts::use(PodSelectorId selector, ConstraintId by_constraint, int by) {
  ASHLAR_CHECK(selector.row() < selectors_.size());
  Selector& s = selectors_[selector.row()];
  s.users = static_cast<std::uint32_t>(static_cast<int>(s.users) + by);
  if (by_constraint.is_none()) return;
  const auto at = std::lower_bound(s.constraints.begin(), s.constraints.end(), by_constraint);
  const bool is_there = at != s.constraints.end() && *at == by_constraint;
  if (by > 0 && !is_there) s.constraints.insert(at, by_constraint);
  if (by < 0 && is_there) s.constraints.erase(at);
}

void Counts::use(ConstraintId id, const Constraint& constraint, int by, const NodeColumns& nodes) {
  // what it only prefers opens no node to it when pods come and go
  if (!constraint.near.selector.is_none()) use(constraint.near.selector, id, by);
  for (const SpreadTerm& term : constraint.spread) use(term.selector, id, by);
  for (const PodTerm& term : constraint.keeps_away) use(term.selector, id, by);
  for (const PodPreference& term : constraint.prefers_pods) use(term.selector, ConstraintId::none(), by);
  for (const SpreadTerm& term : constraint.prefers_spread) use(term.selector, ConstraintId::none(), by);
  if (!constraint.seen_as.is_none()) {
    ASHLAR_CHECK(constraint.seen_as.row() < sets_.size());
    use(constraint.seen_as, by);
    by > 0 ? watch(constraint.seen_as) : unwatch(constraint.seen_as);
  }
  each_own_term(constraint, [&](const OwnTerm& term) {
    Selector& s = selectors_[term.selector.row()];
    Owners* owners = find_owners(term);
    if (owners == nullptr) {
      owners = &s.owners.emplace_back(
          Owners{.topology = term.topology, .weight = term.weight, .constraints = 0, .pods = {}, .by_value = {}});
      topology_.use(term.topology, term.selector, nodes);
    }
    owners->constraints = static_cast<std::uint32_t>(static_cast<int>(owners->constraints) + by);
    if (owners->constraints > 0) return;
    ASHLAR_CHECK(owners->pods.empty());
    topology_.leave(term.topology, term.selector);
    s.owners.erase(s.owners.begin() + (owners - s.owners.data()));
  });
}

void Counts::define(LabelSetId id, const LabelSet& set) {
  ASHLAR_CHECK(!is_used(id));
  grown(sets_, id.row()).matched = {};
  ensure_sets(id.row() + 1);
  ensure_drawn(id.row() + 1);
  forget_drawn_steps(id);
  index_.define(id, set);
}

/// Fills an empty selector's counts from the placed pods of these sets.
void Counts::tally(Selector& selector, std::span<const LabelSetId> sets) {
  std::uint32_t pods = 0;
  for (const LabelSetId set : sets) pods += sets_[set.row()].pods;
  if (pods == 0) return;
  const auto add = [&](NodeId node) { ++grown(by_node_, node.row()); };
  if (pods <= placed_ / kFewPods) {
    for (const LabelSetId set : sets)
      for (std::uint32_t p = sets_[set.row()].first; p != kNoPod; p = pods_[p].next) add(pods_[p].node);
  } else {
    BitSet is_meant(sets_.size());
    for (const LabelSetId set : sets) is_meant.set(set.row());
    for (const Pod& pod : pods_)
      if (!pod.node.is_none() && is_meant.test(pod.set.row())) add(pod.node);
  }
  for (std::size_t n = 0; n < by_node_.size(); ++n)
    if (by_node_[n] > 0) selector.pods.push_back({NodeId(n), by_node_[n]});
  std::fill(by_node_.begin(), by_node_.end(), 0);
}

void Counts::define(PodSelectorId id, const PodSelector& selector) {
  ASHLAR_CHECK(!is_used(id));
  Selector& s = grown(selectors_, id.row());
  for (const NodeCount& c : s.pods) digest_ -= cell({id, LabelKeyId::none()}, c);
  s.pods = {};
  s.steps_before += s.steps.size() + 1;
  s.steps = {};
  s.watchers = {};
  s.watchers_at = 0;
  index_.define(id, selector);
  index_.sets_of(id, found_sets_);
  tally(s, found_sets_);
  for (const NodeCount& c : s.pods) digest_ += cell({id, LabelKeyId::none()}, c);
}

std::span<const NodeId> Counts::define(NamespaceId id, const NamespaceLabels& labels) {
  flipped_.clear();
  if (index_.is_like(id, labels)) return flipped_;
  std::vector<std::pair<PodSelectorId, LabelSetId>> before;
  const auto is_of_interest = [&](LabelSetId set) {
    return sets_[set.row()].pods > 0 || sets_[set.row()].constraints > 0;
  };
  for (const PodSelectorId s : index_.selecting_namespaces())
    for (const LabelSetId set : index_.sets_in(id))
      if (is_of_interest(set) && index_.matches(s, set)) before.emplace_back(s, set);
  index_.define(id, labels);
  const auto change = [&](PodSelectorId s, LabelSetId set, int by) {
    for (std::uint32_t p = sets_[set.row()].first; p != kNoPod; p = pods_[p].next) step(s, pods_[p].node, by);
    if (sets_[set.row()].constraints > 0 && selectors_[s.row()].owned > 0) link(s, set, by);
  };
  auto it = before.begin();
  for (const PodSelectorId s : index_.selecting_namespaces())
    for (const LabelSetId set : index_.sets_in(id)) {
      if (!is_of_interest(set)) continue;
      const bool was_matched = it != before.end() && *it == std::pair(s, set);
      if (was_matched) ++it;
      if (const bool is_matched = index_.matches(s, set); is_matched != was_matched)
        change(s, set, is_matched ? 1 : -1);
    }
  return flipped_;
}

// ---- pods and nodes -----------------------------------------------------------------------------------------------

void Counts::enter(MemberId member, LabelSetId labels, NodeId node) {
  Pod& pod = grown(pods_, member.row());
  Set& set = sets_[labels.row()];
  pod = {labels, node, set.first, kNoPod};
  if (set.first != kNoPod) pods_[set.first].before = member.value;
  set.first = member.value;
  ++set.pods;
  ++placed_;
}

void Counts::leave(MemberId member) {
  Pod& pod = pods_[member.row()];
  Set& set = sets_[pod.set.row()];
  if (pod.next != kNoPod) pods_[pod.next].before = pod.before;
  if (pod.before != kNoPod)
    pods_[pod.before].next = pod.next;
  else
    set.first = pod.next;
  pod = Pod();
  --set.pods;
  --placed_;
}

/// Into `found_`.
void Counts::find_selectors_of(LabelSetId id) {
  Set& set = sets_[id.row()];
  if (set.matched_at == index_.edition()) {
    found_ = set.matched;
    return;
  }
  index_.selectors_of(id, found_);
  if (found_.size() > kMatchedKeptMax) return;
  set.matched = found_;
  set.matched_at = index_.edition();
}

std::span<const NodeId> Counts::count(MemberId member, LabelSetId labels, const Constraint& constraint, NodeId node,
                                      int by) {
  flipped_.clear();
  found_.clear();
  if (!labels.is_none()) {
    by > 0 ? enter(member, labels, node) : leave(member);
    find_selectors_of(labels);
    for (const PodSelectorId s : found_) step(s, node, by);
    work_ += found_.size() + index_.about(index_.label_set(labels).ns) / kComparedOfACount;
  }
  each_own_term(constraint, [&](const OwnTerm& term) { count_owner(term, node, by); });
  return flipped_;
}

std::span<const NodeId> Counts::note_facts(NodeId node, bool is_live, const NodeFacts& facts) {
  flipped_.clear();
  const bool has_owners = node.row() < owned_at_.size() && owned_at_[node.row()] > 0;
  for (TopologyLabels::Label& label : topology_.labels()) {
    const LabelId after = is_live ? value_of(facts, label.key) : LabelId::none();
    const LabelId before = value_at(label.value_of, node.row());
    if (after == before) continue;
    TopologyLabels::put(label, node, after);
    if (!has_owners) continue;
    for (auto s = label.selectors.begin(); s != label.selectors.end(); ++s) {  // once for each of its terms
      if (s != label.selectors.begin() && *s == *(s - 1)) continue;
      for (Owners& owners : selectors_[s->row()].owners) {
        if (owners.topology != label.key) continue;
        const std::uint32_t pods = pods_at(owners.pods, node);
        count_in_domain(*s, owners, after, pods, 1);  // first: of two nodes that swap, neither opens a domain
        count_in_domain(*s, owners, before, pods, -1);
      }
    }
  }
  return flipped_;
}

bool Counts::is_like(const Counts& other) const {
  const auto are_sets = [](const Set& a, const Set& b) {
    return a.users == b.users && a.constraints == b.constraints && a.pods == b.pods;
  };
  const auto are_selectors = [](const Selector& a, const Selector& b) {
    const bool are_watched_alike = a.owned == b.owned && (a.owned == 0 || a.watchers == b.watchers);
    return a.users == b.users && a.pods == b.pods && are_watched_alike && a.owners.size() == b.owners.size();
  };
  return is_alike(other) && is_drawn_alike(other) && digest_ == other.digest_ && placed_ == other.placed_ &&
         std::equal(sets_.begin(), sets_.end(), other.sets_.begin(), other.sets_.end(), are_sets) &&
         std::equal(selectors_.begin(), selectors_.end(), other.selectors_.begin(), other.selectors_.end(),
                    are_selectors);
}

void Counts::rebuild(std::span<const Constraint> constraints, const NodeColumns& nodes) {
  Counts fresh;
  fresh.index_ = std::move(index_);
  fresh.index_.rebuild();
  fresh.sets_.resize(fresh.index_.label_set_rows());
  fresh.ensure_sets(fresh.sets_.size());
  fresh.ensure_drawn(fresh.sets_.size());
  fresh.selectors_.resize(fresh.index_.selector_rows());
  for (std::size_t row = 0; row < constraints.size(); ++row) fresh.use(ConstraintId(row), constraints[row], 1, nodes);
  *this = std::move(fresh);
}

}  // namespace ashlar
