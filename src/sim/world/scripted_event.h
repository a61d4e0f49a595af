// ScriptedEvent: something that happens at a given time of a simulated run: an event for the engine, or a fact about
// the world around it. Scripts of them come from `.case` files and from random histories.
#pragma once

#include <variant>

#include "base/id.h"
#include "base/quantity.h"
#include "model/event.h"

namespace ashlar::sim {

/// The next bind of this member fails.
struct RejectNext {
  MemberId member;
};
/// The real run time of this job once it is bound, and how much of that it has run before.
struct RunsFor {
  JobId job;
  Millis duration;
  Millis already{0};
};

struct ScriptedEvent {
  Millis at;
  std::variant<EventBody, RejectNext, RunsFor> what;
};

}  // namespace ashlar::sim
