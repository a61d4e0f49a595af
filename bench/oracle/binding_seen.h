// binding_seen: what the API server says of pods, claims and volumes, read anew from its lists as JSON.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "kubeclient/api.h"

namespace ashlar::binding {

struct SeenPod {
  std::string node;     ///< empty: it has none
  std::string refusal;  ///< reason and message of PodScheduled=False; empty: none
};
struct SeenClaim {
  std::string uid, volume, class_name, size, selected_node, provisioner;
  std::vector<std::string> access_modes;
  bool is_completed = false;
};
struct SeenVolume {
  std::string claim, claim_uid;  ///< of its reference
  std::string phase;
};
/// All by name, of the one namespace that worlds use.
struct Seen {
  std::map<std::string, SeenPod> pods;
  std::map<std::string, SeenClaim> claims;
  std::map<std::string, SeenVolume> volumes;
  /// Differs where something of this does.
  std::string digest() const;
};
Result<Seen> look(kube::Api& api);

}  // namespace ashlar::binding
