// pod_labels: what selectors see of pods, as values: the labels of a pod with its namespace, and selectors of pods.
// Each distinct value is one row, so that pods of one template share theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/id.h"
#include "model/constraint.h"

namespace ashlar {

/// Rows of labels and label keys index columns of the counts; a larger one is corrupt.
inline constexpr std::uint32_t kLabelRowsMax = 1u << 22;
/// Of a preference for or against pods; those of Kubernetes are 1..100.
inline constexpr std::int32_t kPodWeightMax = 100;

/// A label of a pod or of a namespace.
struct PodLabel {
  LabelKeyId key;
  LabelId id;  ///< interned key=value
  friend bool operator==(const PodLabel&, const PodLabel&) = default;
};

/// What selectors see of a pod: its namespace and its labels.
struct LabelSet {
  NamespaceId ns;
  std::vector<PodLabel> labels;  ///< ascending by key
  bool is_leaving = false;       ///< the pod is being deleted
  friend bool operator==(const LabelSet&, const LabelSet&) = default;
};

struct NamespaceLabels {
  bool is_known = false;         ///< false: any namespace selector may mean it
  std::vector<PodLabel> labels;  ///< ascending by key
  friend bool operator==(const NamespaceLabels&, const NamespaceLabels&) = default;
};

/// Some namespaces: those listed, and those on whose labels all of `of_namespace` hold.
struct NamespaceScope {
  std::vector<NamespaceId> namespaces;  ///< ascending
  bool selects_namespaces = false;
  std::vector<LabelExpression> of_namespace;
  friend bool operator==(const NamespaceScope&, const NamespaceScope&) = default;
};

/// Pods of certain namespaces on whose labels all expressions hold. A selector of no namespace matches nothing.
struct PodSelector {
  std::vector<NamespaceId> namespaces;  ///< ascending
  bool selects_namespaces = false;      ///< also those on whose labels all of `of_namespace` hold
  std::vector<LabelExpression> of_namespace;
  std::vector<LabelExpression> all;
  bool skips_leaving = false;                    ///< not those that are being deleted
  std::vector<NamespaceScope> also_within = {};  ///< the namespace is in each of these too
  bool has_scope_of(const PodSelector& o) const {
    return namespaces == o.namespaces && selects_namespaces == o.selects_namespaces && of_namespace == o.of_namespace;
  }
  void swap_scope(PodSelector& o) {
    std::swap(namespaces, o.namespaces);
    std::swap(selects_namespaces, o.selects_namespaces);
    std::swap(of_namespace, o.of_namespace);
  }
  friend bool operator==(const PodSelector&, const PodSelector&) = default;
};

/// Whether labels are ascending by key and rows within their bounds, as all code relies on.
bool are_sound_labels(const std::vector<PodLabel>& labels);
bool is_sound_label_set(const LabelSet& set);
bool is_sound_selector(const PodSelector& selector);
/// Whether all selectors of the constraint's rules are among this many rows.
bool has_known_selectors(const Constraint& constraint, std::size_t rows);
/// The same of a constraint's rules about other pods: labels are given, and numbers are at least 1.
bool is_sound_company(const Constraint& constraint);

/// Whether one expression holds on these labels, ascending by key. Semantics of Kubernetes label selectors: a missing
/// key satisfies kNotIn and kDoesNotExist only, and nothing satisfies kGreater and kLess.
bool holds(const LabelExpression& expression, const std::vector<PodLabel>& labels);
/// Whether a selector chooses a namespace by such labels of it; one that is not known may be meant.
bool means(const std::vector<LabelExpression>& of_namespace, const NamespaceLabels& labels);
/// Whether pods of a namespace with these labels are among those of the selector.
bool means_namespace(const PodSelector& selector, NamespaceId ns, const NamespaceLabels& labels);
/// Whether it selects pods of that set, in a namespace of these labels.
bool selects(const PodSelector& selector, const LabelSet& set, const NamespaceLabels& of_its_namespace);
/// Whether all do.
bool hold(const std::vector<LabelExpression>& all, const std::vector<PodLabel>& labels);

}  // namespace ashlar
