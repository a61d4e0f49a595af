// groups_hold: why the PodGroups of a gang do not make one, as text.
#pragma once

#include <string>

#include "live/track/tables.h"

namespace ashlar::kube {

/// Two names of one level, or one name.
bool is_same_level(const Tables& t, const PooledString& a, const PooledString& b);
/// Contradictions between the annotations of its PodGroups, or more of them than it may have; empty if there are none.
/// What has started need not agree on the number.
std::string groups_trouble(const Tables& t, const GangRecord& g);
/// As many PodGroups exist as the gang has.
bool has_all_groups(const Tables& t, const GangRecord& g);
/// "1 of 2 groups of gang g are there (PodGroup a); ...".
std::string missing_groups_text(const Tables& t, const GangRecord& g);

}  // namespace ashlar::kube
