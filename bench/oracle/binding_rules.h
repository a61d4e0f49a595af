// binding_rules: what must hold of every bound pod with claims, by which scheduler ever; and worlds and outcomes as text.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "oracle/binding_seen.h"
#include "oracle/binding_world.h"

namespace ashlar::binding {

/// Sentences about what does not hold. `made`: where volumes of the provisioner can be used.
std::vector<std::string> broken_rules(const World& world, const Seen& seen, const std::map<std::string, Names>& made);

/// "bound to n1" or "waits (Unschedulable: ...)", with the volumes of its claims; names without the world's prefix.
std::string outcome_of(const World& world, const Seen& seen, const std::string& pod);
/// A name without the prefix of its world.
std::string plain_name(const World& world, std::string name);
/// All objects of the world, in the order in which they come.
std::string manifest_of(const World& world);

}  // namespace ashlar::binding
