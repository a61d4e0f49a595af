// SelectorIndex: which selectors match which label sets, by inverted lists: a pod looks only at selectors that ask for
// one of its labels, a new selector only at label sets that have what it asks for. Cost: a pod O(its labels + selectors
// looked at); a new selector O(label sets that have a label it asks for), of which bits are set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/bitset.h"
#include "base/grown.h"
#include "base/id.h"
#include "model/pod_labels.h"

namespace ashlar {

/// Ascending rows by key.
template <class Key, class Row>
class RowLists {
 public:
  void add(Key key, Row row) {
    std::vector<Row>& list = grown(lists_, key.row());
    list.insert(std::lower_bound(list.begin(), list.end(), row), row);
  }
  void remove(Key key, Row row) {
    std::vector<Row>& list = lists_[key.row()];
    list.erase(std::lower_bound(list.begin(), list.end(), row));
  }
  std::size_t keys() const { return lists_.size(); }
  std::span<const Row> of(Key key) const {
    return key.row() < lists_.size() ? std::span<const Row>(lists_[key.row()]) : std::span<const Row>();
  }

 private:
  std::vector<std::vector<Row>> lists_;
};

class SelectorIndex {
 public:
  /// An unused row gets another value; an empty one is given back.
  void define(LabelSetId id, LabelSet set);
  void define(PodSelectorId id, PodSelector selector);
  void define(NamespaceId id, NamespaceLabels labels);

  const LabelSet& label_set(LabelSetId id) const { return sets_[id.row()]; }
  const PodSelector& selector(PodSelectorId id) const { return selectors_[id.row()]; }
  std::size_t label_set_rows() const { return sets_.size(); }
  std::size_t selector_rows() const { return selectors_.size(); }
  std::size_t namespace_rows() const { return namespaces_.size(); }
  bool is_like(NamespaceId id, const NamespaceLabels& labels) const;

  bool matches(PodSelectorId selector, LabelSetId set) const;
  /// Replaces `out` by the selectors that match the set.
  void selectors_of(LabelSetId set, std::vector<PodSelectorId>& out) const;
  /// Selectors that are compared with the set to find those that match it.
  std::size_t listed_about(LabelSetId set) const;
  /// Selectors that may match sets of that namespace: those that name it, or choose namespaces by their labels. At most
  /// as many are compared with one of its sets, which depends on the order in which rows were defined; this does not.
  std::size_t about(NamespaceId ns) const {
    return by_namespace_labels_ + (ns.row() < naming_.size() ? naming_[ns.row()] : 0);
  }
  /// Replaces `out` by the sets that the selector matches, ascending.
  void sets_of(PodSelectorId selector, std::vector<LabelSetId>& out) const;
  /// Whether a selector with these expressions chooses the namespace.
  bool means(const std::vector<LabelExpression>& of_namespace, NamespaceId ns) const;  // for tests
  /// Selectors that choose namespaces by their labels.
  std::span<const PodSelectorId> selecting_namespaces() const { return selecting_namespaces_; }
  /// Sets that sets_of() compares with the selector, at most.
  std::size_t sets_about(PodSelectorId id) const;
  /// Another number whenever a row has got another value: until then the same selectors match the same sets.
  std::uint64_t edition() const { return edition_; }
  /// Sets of one namespace.
  std::span<const LabelSetId> sets_in(NamespaceId ns) const { return sets_by_namespace_.of(ns); }
  /// Pairs of a selector and a set that were compared so far.
  std::uint64_t compared_count() const { return compared_; }  // for tests

  /// Builds the lists from the rows.
  void rebuild();

 private:
  friend struct StateFields;
  /// The requirement by which a selector is found: some values of a label, a key, or none.
  struct Place {
    enum class By : std::uint8_t { kNothing, kLabels, kKey, kAnything };
    By by = By::kNothing;
    std::size_t expression = 0;  ///< of the selector, for kLabels and kKey
    std::size_t sets = 0;        ///< that meet it
  };
  /// The key of a list of selectors: a namespace (none: selected by labels), and a label, a key or nothing.
  static std::uint64_t in_list(NamespaceId ns, LabelId label) {
    return (std::uint64_t{ns.value + 1} << 32) | label.value;
  }
  static std::uint64_t in_list(NamespaceId ns, LabelKeyId key) {
    return in_list(ns, LabelId(kLabelRowsMax + key.value));
  }
  static std::uint64_t in_list(NamespaceId ns) { return in_list(ns, LabelId(2 * kLabelRowsMax)); }
  static bool is_empty(const PodSelector& s) { return s.namespaces.empty() && !s.selects_namespaces; }
  const NamespaceLabels& labels_of(NamespaceId ns) const;
  bool means_namespace(const PodSelector& selector, NamespaceId ns) const;
  bool matches(const PodSelector& selector, const LabelSet& set) const;
  Place place_of(const PodSelector& selector) const;
  template <class Use>
  static void each_list(const PodSelector& selector, const Place& place, Use&& use);
  std::size_t sets_in_namespaces(const PodSelector& selector) const;
  template <class Use>
  void each_set_at(const PodSelector& selector, const Place& place, Use&& use) const;
  template <class Use>
  void each_list_about(const LabelSet& set, Use&& use) const;
  void list(LabelSetId id, bool is_in);
  void list(PodSelectorId id, bool is_in);
  void count_about(const PodSelector& selector, int by);
  BitSet bits_of(const LabelExpression& expression) const;
  BitSet bits_of_namespaces(const PodSelector& selector) const;

  std::vector<LabelSet> sets_;
  std::vector<PodSelector> selectors_;
  std::vector<NamespaceLabels> namespaces_;
  std::vector<Place> places_;  ///< by selector; derived, as all that follows
  RowLists<LabelId, LabelSetId> sets_by_label_;
  RowLists<LabelKeyId, LabelSetId> sets_by_key_;
  RowLists<NamespaceId, LabelSetId> sets_by_namespace_;
  std::size_t live_sets_ = 0;
  std::unordered_map<std::uint64_t, std::vector<PodSelectorId>> selectors_at_;  ///< by in_list()
  std::vector<PodSelectorId> selecting_namespaces_;
  std::size_t by_namespace_labels_ = 0;  ///< selectors that choose namespaces by their labels alone
  std::vector<std::uint32_t> naming_;    ///< other selectors, by namespace
  std::uint64_t edition_ = 1;
  mutable std::uint64_t compared_ = 0;
};

}  // namespace ashlar
