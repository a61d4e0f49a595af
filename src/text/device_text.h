// device_text: lists of a node's devices as people and annotations write them.
#pragma once

#include <string>
#include <string_view>

#include "model/demand.h"

namespace ashlar {

/// "0,1,5" or "0-3,6"; empty if the text is malformed.
DeviceMask parse_devices(std::string_view text);
/// "0,1,5", as annotations carry it.
std::string devices_text(const DeviceMask& devices);
/// "0-3,6", for people.
std::string device_ranges(const DeviceMask& devices);

}  // namespace ashlar
