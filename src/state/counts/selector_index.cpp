#include "state/counts/selector_index.h"

#include <utility>

namespace ashlar {
namespace {

using Op = LabelExpression::Op;

/// Up to this share of all sets each set is compared; beyond, sets of bits are.
constexpr std::size_t kFewSets = 32;

/// Which namespaces it means changes with their labels.
bool depends_on_labels(const PodSelector& s) {
  return s.selects_namespaces || std::any_of(s.also_within.begin(), s.also_within.end(),
                                             [](const NamespaceScope& n) { return n.selects_namespaces; });
}

void put_in(std::vector<PodSelectorId>& list, PodSelectorId id, bool is_in) {
  const auto at = std::lower_bound(list.begin(), list.end(), id);
  if (is_in)
    list.insert(at, id);
  else
    list.erase(at);
}

template <class Key, class Row>
void put_in(RowLists<Key, Row>& lists, Key key, Row row, bool is_in) {
  is_in ? lists.add(key, row) : lists.remove(key, row);
}

}  // namespace

const NamespaceLabels& SelectorIndex::labels_of(NamespaceId ns) const {
  static const NamespaceLabels kUnknown;
  return ns.row() < namespaces_.size() ? namespaces_[ns.row()] : kUnknown;
}

bool SelectorIndex::means(const std::vector<LabelExpression>& of_namespace, NamespaceId ns) const {
  return ashlar::means(of_namespace, labels_of(ns));
}

bool SelectorIndex::means_namespace(const PodSelector& s, NamespaceId ns) const {
  return ashlar::means_namespace(s, ns, labels_of(ns));
}

bool SelectorIndex::matches(const PodSelector& s, const LabelSet& set) const {
  ++compared_;
  return selects(s, set, labels_of(set.ns));
}

bool SelectorIndex::matches(PodSelectorId selector, LabelSetId set) const {
  return matches(selectors_[selector.row()], sets_[set.row()]);
}

bool SelectorIndex::is_like(NamespaceId id, const NamespaceLabels& labels) const { return labels_of(id) == labels; }

// ---- lists --------------------------------------------------------------------------------------------------------

void SelectorIndex::list(LabelSetId id, bool is_in) {
  const LabelSet& set = sets_[id.row()];
  if (set.ns.is_none()) return;
  for (const PodLabel& l : set.labels) {
    put_in(sets_by_label_, l.id, id, is_in);
    put_in(sets_by_key_, l.key, id, is_in);
  }
  put_in(sets_by_namespace_, set.ns, id, is_in);
  live_sets_ += is_in ? 1 : std::size_t(-1);
}

/// Values of a label before a key, before nothing; of several the one that the fewest sets have.
SelectorIndex::Place SelectorIndex::place_of(const PodSelector& s) const {
  if (is_empty(s)) return {};
  Place best{.by = Place::By::kAnything, .expression = 0, .sets = live_sets_};
  for (std::size_t i = 0; i < s.all.size(); ++i) {
    const LabelExpression& e = s.all[i];
    if (e.op != Op::kIn && e.op != Op::kExists) continue;
    Place place{.by = e.op == Op::kIn ? Place::By::kLabels : Place::By::kKey, .expression = i, .sets = 0};
    if (e.op == Op::kExists) place.sets = sets_by_key_.of(e.key).size();
    if (e.op == Op::kIn)
      for (const LabelId value : e.values) place.sets += sets_by_label_.of(value).size();
    if (place.by == best.by ? place.sets < best.sets : place.by < best.by) best = place;
  }
  return best;
}

/// The lists of selectors that hold this one; some maybe twice.
template <class Use>
void SelectorIndex::each_list(const PodSelector& s, const Place& place, Use&& use) {
  const auto in = [&](NamespaceId ns) {
    if (place.by == Place::By::kAnything) use(in_list(ns));
    if (place.by == Place::By::kKey) use(in_list(ns, s.all[place.expression].key));
    if (place.by == Place::By::kLabels)
      for (const LabelId value : s.all[place.expression].values) use(in_list(ns, value));
  };
  if (place.by == Place::By::kNothing) return;
  if (s.selects_namespaces) return in(NamespaceId::none());
  for (const NamespaceId ns : s.namespaces) in(ns);
}

void SelectorIndex::count_about(const PodSelector& s, int by) {
  if (s.selects_namespaces) {
    by_namespace_labels_ += static_cast<std::size_t>(by);
    return;
  }
  for (const NamespaceId ns : s.namespaces) grown(naming_, ns.row()) += static_cast<std::uint32_t>(by);
}

void SelectorIndex::list(PodSelectorId id, bool is_in) {
  const PodSelector& s = selectors_[id.row()];
  if (is_in) grown(places_, id.row()) = place_of(s);
  const Place& place = places_[id.row()];
  count_about(s, is_in ? 1 : -1);
  if (place.by != Place::By::kNothing && depends_on_labels(s)) put_in(selecting_namespaces_, id, is_in);
  each_list(s, place, [&](std::uint64_t key) {
    const auto found = selectors_at_.find(key);
    const bool is_there =
        found != selectors_at_.end() && std::binary_search(found->second.begin(), found->second.end(), id);
    if (is_there == is_in) return;  // a value that is named twice
    std::vector<PodSelectorId>& selectors = is_in ? selectors_at_[key] : found->second;
    put_in(selectors, id, is_in);
    if (selectors.empty()) selectors_at_.erase(found);
  });
}

void SelectorIndex::define(LabelSetId id, LabelSet set) {
  ++edition_;
  LabelSet& row = grown(sets_, id.row());
  list(id, false);
  row = std::move(set);
  list(id, true);
}

void SelectorIndex::define(PodSelectorId id, PodSelector selector) {
  ++edition_;
  PodSelector& row = grown(selectors_, id.row());
  grown(places_, id.row());
  list(id, false);
  row = std::move(selector);
  list(id, true);
}

void SelectorIndex::define(NamespaceId id, NamespaceLabels labels) {
  ++edition_;
  grown(namespaces_, id.row()) = std::move(labels);
}

void SelectorIndex::rebuild() {
  SelectorIndex fresh;
  fresh.sets_ = std::move(sets_);
  fresh.selectors_ = std::move(selectors_);
  fresh.namespaces_ = std::move(namespaces_);
  for (std::size_t row = 0; row < fresh.sets_.size(); ++row) fresh.list(LabelSetId(row), true);
  for (std::size_t row = 0; row < fresh.selectors_.size(); ++row) fresh.list(PodSelectorId(row), true);
  *this = std::move(fresh);
}

// ---- questions ----------------------------------------------------------------------------------------------------

/// The lists that may hold a selector which matches the set.
template <class Use>
void SelectorIndex::each_list_about(const LabelSet& set, Use&& use) const {
  const auto look_at = [&](std::uint64_t key) {
    if (const auto found = selectors_at_.find(key); found != selectors_at_.end()) use(found->second);
  };
  if (set.ns.is_none() || selectors_at_.empty()) return;
  for (const NamespaceId ns : {set.ns, NamespaceId::none()}) {
    if (ns.is_none() && selecting_namespaces_.empty()) return;
    for (const PodLabel& l : set.labels) {
      look_at(in_list(ns, l.id));
      look_at(in_list(ns, l.key));
    }
    look_at(in_list(ns));
  }
}

void SelectorIndex::selectors_of(LabelSetId id, std::vector<PodSelectorId>& out) const {
  out.clear();
  const LabelSet& set = sets_[id.row()];
  each_list_about(set, [&](const std::vector<PodSelectorId>& selectors) {
    for (const PodSelectorId s : selectors)
      if (matches(selectors_[s.row()], set)) out.push_back(s);
  });
}

std::size_t SelectorIndex::listed_about(LabelSetId id) const {
  std::size_t count = 0;
  each_list_about(sets_[id.row()], [&](const std::vector<PodSelectorId>& selectors) { count += selectors.size(); });
  return count;
}

BitSet SelectorIndex::bits_of(const LabelExpression& e) const {
  const bool is_positive = e.op == Op::kIn || e.op == Op::kExists;
  BitSet bits(sets_.size(), !is_positive && e.op != Op::kGreater && e.op != Op::kLess);
  const auto put = [&](std::span<const LabelSetId> sets) {
    for (const LabelSetId s : sets) bits.assign(s.row(), is_positive);
  };
  if (e.op == Op::kIn || e.op == Op::kNotIn)
    for (const LabelId value : e.values) put(sets_by_label_.of(value));
  if (e.op == Op::kExists || e.op == Op::kDoesNotExist) put(sets_by_key_.of(e.key));
  return bits;
}

BitSet SelectorIndex::bits_of_namespaces(const PodSelector& s) const {
  BitSet bits(sets_.size());
  const auto add = [&](NamespaceId ns) {
    for (const LabelSetId set : sets_by_namespace_.of(ns)) bits.set(set.row());
  };
  if (!s.selects_namespaces) {
    for (const NamespaceId ns : s.namespaces)
      if (means_namespace(s, ns)) add(ns);
    return bits;
  }
  for (std::size_t ns = 0; ns < sets_by_namespace_.keys(); ++ns)
    if (!sets_by_namespace_.of(NamespaceId(ns)).empty() && means_namespace(s, NamespaceId(ns))) add(NamespaceId(ns));
  return bits;
}

std::size_t SelectorIndex::sets_in_namespaces(const PodSelector& s) const {
  std::size_t sets = 0;
  for (const NamespaceId ns : s.namespaces) sets += sets_by_namespace_.of(ns).size();
  return s.selects_namespaces ? live_sets_ : sets;
}

template <class Use>
void SelectorIndex::each_set_at(const PodSelector& s, const Place& place, Use&& use) const {
  if (place.by == Place::By::kLabels) {
    const LabelExpression& e = s.all[place.expression];
    for (const LabelId value : e.values)
      for (const LabelSetId set : sets_by_label_.of(value)) use(set);
  } else if (place.by == Place::By::kKey) {
    for (const LabelSetId set : sets_by_key_.of(s.all[place.expression].key)) use(set);
  } else {
    for (const NamespaceId ns : s.namespaces)
      for (const LabelSetId set : sets_by_namespace_.of(ns)) use(set);
  }
}

std::size_t SelectorIndex::sets_about(PodSelectorId id) const {
  const PodSelector& s = selectors_[id.row()];
  return std::min(place_of(s).sets, sets_in_namespaces(s));
}

void SelectorIndex::sets_of(PodSelectorId id, std::vector<LabelSetId>& out) const {
  out.clear();
  const PodSelector& s = selectors_[id.row()];
  Place place = place_of(s);
  if (place.by == Place::By::kNothing) return;
  if (const std::size_t sets = sets_in_namespaces(s); !s.selects_namespaces && sets < place.sets)
    place = {.by = Place::By::kAnything, .expression = 0, .sets = sets};
  const bool has_list = place.by != Place::By::kAnything || !s.selects_namespaces;
  if (has_list && place.sets <= sets_.size() / kFewSets + kFewSets) {
    each_set_at(s, place, [&](LabelSetId set) {
      if (matches(s, sets_[set.row()])) out.push_back(set);
    });
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return;
  }
  BitSet bits = bits_of_namespaces(s);
  for (const LabelExpression& e : s.all) bits &= bits_of(e);
  bits.each([&](std::size_t row) {
    if (!s.skips_leaving || !sets_[row].is_leaving) out.emplace_back(row);
  });
}

}  // namespace ashlar
