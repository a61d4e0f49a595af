// Checks: the rules that no decision may break, looked up naively, member by member, from the state before and after.
// None of the engine's indexes or caches is used.
#pragma once

#include <string>

#include "engine/engine.h"
#include "model/plan.h"
#include "state/state.h"

namespace ashlar {

/// Would this member fit on the node, by a full recount of what is placed there? Empty if so, else why not.
std::string why_not(const State& state, MemberId member, NodeId node);

/// Replays the plan's binds on the state before it. Empty, or the first broken rule: a resource, port or device taken
/// twice, a node that is not allowed, a gang below its minimum or across domains, a quota exceeded, equal jobs out of
/// order, an assumption that the state after does not show.
std::string broken_rule(const State& before, const State& after, const Plan& plan, const OrderPolicy& order);

/// Empty, or a waiting job whose shape is closed though it could be placed now (profiles that skip, without quotas).
std::string missed_wake_up(State& state, Engine& engine);

/// Empty, or a view kept up to date that differs from one made anew.
std::string stale_view(State& state, Engine& engine);

}  // namespace ashlar
