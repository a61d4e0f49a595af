// binding_world: a random small world of nodes, classes and volumes, and pods with claims that come to it one after the
// other; the same for each scheduler but for the beginning of all names. Worlds do not concern each other.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/filters/drawn_cluster.h"

namespace ashlar::binding {

using filters::DrawnNode;
using filters::DrawnObject;
using filters::DrawnPod;
using Names = std::set<std::string>;

/// What happens next: a pod comes, with the claims that nobody had before; or a pod goes; or a volume is offered.
struct Step {
  enum class Kind { kPod, kRemoval, kVolume };
  Kind kind = Kind::kPod;
  DrawnPod pod = {};
  std::vector<DrawnObject> claims = {};
  std::size_t removed = 0;  ///< number of the step whose pod goes
  DrawnObject volume = {};
};

/// A class for which volumes are made.
struct MadeClass {
  std::string driver;
  std::string topology_key;  ///< a volume can be used where this label is the node's
  Names nodes;               ///< where the class allows a volume
  bool is_late = true;
};

struct World {
  std::string prefix;
  std::vector<DrawnNode> nodes;
  std::map<std::string, std::map<std::string, std::string>> labels;  ///< of each node
  std::vector<DrawnObject> objects;
  std::vector<Step> steps;
  std::map<std::string, Names> nodes_of_volume;               ///< where each of the volumes above can be used
  std::map<std::string, MadeClass> made;                      ///< by the name of the class
  std::map<std::string, std::size_t> volumes_max;             ///< of the driver plain.example.com, by node
  std::map<std::string, std::vector<std::string>> claims_of;  ///< names, by pod
  Names for_one_pod;                                          ///< claims
  Names plain_volumes;                                        ///< of the driver plain.example.com, of those above
};

struct WorldOptions {
  std::uint64_t seed = 1;
  std::size_t number = 0;
  std::string prefix;  ///< of all names
  std::string scheduler_name;
};
World draw_world(const WorldOptions& options);

/// The provisioner fails at the first node that it is told for this claim.
bool does_fail_first(const std::string& claim_without_prefix);

}  // namespace ashlar::binding
