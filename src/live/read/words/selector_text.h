// selector_text: requirements on labels, and the pods that a selector means, as people write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "live/track/names.h"
#include "model/constraint.h"
#include "state/counts/selector_index.h"

namespace ashlar::kube {

/// "ssd": the value of a label.
std::string value_text(const ObjectNames& names, LabelId label);
/// "disktype=ssd, zone in (a, b)".
std::string expressions_text(const ObjectNames& names, const std::vector<LabelExpression>& all);
/// A selector that means none.
inline constexpr std::string_view kNoPods = "no pods";
/// "app=web", "all pods" or "no pods"; unless only those of `own` are meant, " of all", " of selected" or " of other
/// namespaces".
std::string selector_text(const ObjectNames& names, const SelectorIndex& index, PodSelectorId selector,
                          NamespaceId own);

}  // namespace ashlar::kube
