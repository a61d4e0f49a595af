// remedy_text: the changes that would let a job start, for people: what would have to be so, in the words of its
// objects.
#pragma once

#include <string>
#include <string_view>

#include "engine/explain/explain.h"
#include "live/track/gang_table.h"
#include "live/track/tables.h"

namespace ashlar::kube {

/// The change that would have to hold: "it had 7 members". `gang`: of the job, if it is one.
std::string remedy_text(const Tables& tables, const GangRecord* gang, const Remedy& remedy);
/// "FewerMembers".
std::string_view remedy_name(Remedy::Kind kind);

}  // namespace ashlar::kube
