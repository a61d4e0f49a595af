// Codec: events and plans as bytes and back, in the layout of fields.h and docs/reference/decision-log.md. Equal values
// have equal bytes, so plans are compared byte for byte; decoding tolerates any bytes and reports the offset of the
// first fault. Cost: some 100 ns to encode a pod's event.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "model/plan.h"
#include "policy/profile.h"
#include "store/bytes.h"

namespace ashlar::store {

/// Incremented whenever the bytes of an event, a plan, a profile or a snapshot change their meaning. A reader reads its
/// own version only.
inline constexpr std::uint32_t kFormatVersion = 25;

void encode_event(ByteWriter& out, const Event& event);
void decode_event(ByteReader& in, Event& event);
void encode_plan(ByteWriter& out, const Plan& plan);
void decode_plan(ByteReader& in, Plan& plan);

std::string bytes_of(const Event& event);
std::string bytes_of(const Plan& plan);
/// All bytes must be used. The Error names the offset of the first fault.
Result<Event> event_of(std::string_view bytes);  // for tests
Result<Plan> plan_of(std::string_view bytes);    // for tests

/// A profile is written in full, policies by name, so that a log replays without the file it came from. Bytes that name
/// a policy which this build does not have are an Error that names it.
std::string bytes_of(const Profile& profile);
Result<Profile> profile_of(std::string_view bytes);

/// The fault of a failed reader as an Error: "at byte 12: the bytes end early".
Error fault_of(const ByteReader& in);

}  // namespace ashlar::store
