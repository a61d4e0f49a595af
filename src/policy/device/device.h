// device: which devices of a chosen node, one that fits, a member takes. Whole devices are the first idle ones
// (neighbours by index), but for island; the policies differ for shares:
//   island    whole devices of the island with the fewest idle ones that has enough, else of as few islands as
//             possible: the largest whole, the rest of the tightest; inside an island the same by NUMA node, then by
//             PCIe switch. Example: islands with 3 and 4 idle, two devices: of the first; five: the four and one of the
//             first. Shares, and all on a node of which no islands are known: as best-fit.
//   best-fit  the fitting device with the least free compute, first on ties. Example: 300, 600, 1000 free, a share of
//             250: the first device.
//   random    any fitting device, each as likely. Example: the same: one of the three.
//   fgd       the first device with the best integer FGD score (score/fgd.h).
// Cost: O(devices of the node).
#pragma once

#include "policy/node_view.h"

namespace ashlar {

DeviceMask choose_island_device(const NodeView& view, NodeId node);
DeviceMask choose_best_fit_device(const NodeView& view, NodeId node);
DeviceMask choose_random_device(const NodeView& view, NodeId node);
DeviceMask choose_fgd_device(const NodeView& view, NodeId node);

/// The first idle devices, as many as requested.
DeviceMask first_idle_devices(const NodeView& view, NodeId node);
/// Whether this device can take the requested share. Idle devices that are all owed to others cannot, nor any of a node
/// that owes more than it has (see Cluster::idle_devices).
bool share_fits_device(const NodeView& view, NodeId node, std::size_t device);

}  // namespace ashlar
