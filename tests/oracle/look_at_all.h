// look_at_all: what an engine would start that looks at every waiting job, to compare with one that does not.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/engine.h"

namespace ashlar::oracle {

/// Members started by a plan, by job.
std::map<std::uint32_t, int> started_by(const Plan& plan);
/// What an engine would decide that looks at everybody. Reservations are renewed as they are due, or none is.
struct LookedAtAll {
  std::map<std::uint32_t, int> started;
  std::vector<Reservation> reservations;
};
enum class Renewal : std::uint8_t { kAsDue, kNone };
LookedAtAll look_at_all(const State& state, const Engine& engine, Millis now, Renewal renewal = Renewal::kAsDue);
/// What it decides that looks at the same jobs, and has made anew all that is in no snapshot.
LookedAtAll decide_anew(const State& state, const Engine& engine, Millis now);
/// What it would start; reservations are kept as they were made.
std::map<std::uint32_t, int> started_by_looking_at_all(const State& state, const Engine& engine, Millis now);

/// Was a reservation made that is another one for who looks at all: drawn by lot, which says who may pass; or made to a
/// job that waits for quota by now and was closed for want of room? Such a one stays promised against all, and who
/// looks at it anew promises it against those under its limit only.
bool depends_on_the_look(const State& state, const Engine& engine, Millis now);

}  // namespace ashlar::oracle
