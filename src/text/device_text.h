// device_text: lists of a node's devices, and what is held of them, as people and annotations write them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/demand.h"
#include "model/device_grant.h"

namespace ashlar {

/// "0,1,5" or "0-3,6"; empty if the text is malformed.
DeviceMask parse_devices(std::string_view text);
/// "0,1,5", as annotations carry it.
std::string devices_text(const DeviceMask& devices);
/// "0-3,6", for people.
std::string device_ranges(const DeviceMask& devices);

/// "0-7:1000" or "3:500:40960,5:250:0:3": devices, thousandths of each, MiB of each if counted, and its slices as the
/// bits of a number if there are any. In any order; kInvalid says what is wrong with which part.
Result<DeviceGrants> parse_grants(std::string_view text);
/// The same, neighbours of the same share together.
std::string grants_text(std::span<const DeviceGrant> grants);

}  // namespace ashlar
