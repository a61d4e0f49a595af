// node_devices: the GPUs of a node as a case states them: by a shape such as h100x8 or h100x4+a100x4, and by options
// that say more of them. Each GPU is stated by itself; a node whose GPUs are all alike gets no layout.
#pragma once

#include <vector>

#include "sim/case/reading.h"

namespace ashlar::sim {

/// A node being read.
struct StatedNode {
  NodeFacts facts;
  std::vector<DeviceFacts> devices;
};

/// The GPUs of a node as last stated.
std::vector<DeviceFacts> devices_of(const CaseReading& c, const NodeFacts& facts);
/// "cpu", or models and numbers of GPUs.
void take_shape(CaseReading& c, Words& words, StatedNode& node);
/// "card-memory=80GiB", "islands=2", "numa=2", "switches=4" or "sliced=0-3" at the cursor; false if it is none of them.
bool take_device_option(Words& words, std::vector<DeviceFacts>& devices);
/// Brings what the facts say of the GPUs up to date; a new layout is defined at that time.
void settle_devices(CaseReading& c, StatedNode& node, Millis at);

}  // namespace ashlar::sim
