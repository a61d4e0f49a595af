// ports: the four ports of the engine. Live Kubernetes, simulator and tests differ only in these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/event.h"
#include "model/plan.h"

namespace ashlar {

class State;

/// The current time. Live: the wall clock in milliseconds since 1970; simulation: virtual time.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Millis now() = 0;
};

/// Events since the last call.
class EventSource {
 public:
  virtual ~EventSource() = default;
  /// Appends all available events, in the order in which they must be applied.
  virtual void take(std::vector<Event>& out) = 0;
};

/// Carries a plan out. The results return as events; until then the engine assumes that it worked.
class Actuator {
 public:
  virtual ~Actuator() = default;
  virtual void submit(const Plan& plan) = 0;
};

/// Records decisions, so that they can be explained and replayed.
class Recorder {
 public:
  virtual ~Recorder() = default;
  /// `digest` is that of the state after the plan was assumed. Called for every step that had events or
  /// looked at a job (see has_news in driver.h); nothing may change the state between decide and this call.
  virtual void record(std::span<const Event> batch, const Plan& plan, std::uint64_t digest) = 0;
};

}  // namespace ashlar
