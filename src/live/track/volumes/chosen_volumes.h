// ChosenVolumes: what the unbound claims of a pod with a place get there: volumes that are bound to them, or new ones
// made for the node. Others do not get them until the place is given back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kubeclient/volumes/volume_objects.h"

namespace ashlar::kube {

struct ChosenVolumes {
  struct Item {
    PersistentVolumeClaim claim;  ///< as it was when it was decided
    PersistentVolume volume;      ///< the same; without a name: a new one is made
    std::uint64_t taken_as = 0;   ///< see VolumeBook::assume; 0: another pod with the claim has taken it, and writes it
    bool is_own() const { return taken_as != 0; }
    bool is_new() const { return volume.name.empty(); }
  };
  PooledString node;
  std::vector<Item> items;
  std::string problem;  ///< why it cannot be had: others were faster; empty: it can
};

}  // namespace ashlar::kube
