// Driver: one turn of the loop that all four ways of running share: take what happened, apply it, decide, hand the plan over, keep a record.
#pragma once

#include <vector>

#include "engine/engine.h"
#include "engine/ports.h"
#include "state/state.h"

namespace ashlar {

/// Is this step worth a record? A step without events that looked at a job must be kept too: it may have drawn random numbers or closed a shape.
inline bool has_news(const std::vector<Event>& batch, const Plan& plan) {
  return !batch.empty() || !plan.actions.empty() || !plan.verdicts.empty() || plan.examined > 0;
}

class Driver {
 public:
  struct Ports {
    Clock& clock;
    EventSource& events;
    Actuator& actuator;
    Recorder* recorder = nullptr;  ///< optional
  };
  Driver(State& state, Engine& engine, Ports ports) : state_(state), engine_(engine), ports_(ports) {}

  /// Takes all events, applies them, decides once. Returns the plan, valid until the next step.
  const Plan& step() {
    batch_.clear();
    if (batch_.capacity() > kBatchKept) batch_.shrink_to_fit();
    ports_.events.take(batch_);
    for (const Event& event : batch_) apply(state_, event);
    plan_ = engine_.decide(state_, ports_.clock.now());
    ports_.actuator.submit(plan_);
    if (ports_.recorder != nullptr && has_news(batch_, plan_)) ports_.recorder->record(batch_, plan_, state_.digest());
    return plan_;
  }
  /// Events of the last step.
  const std::vector<Event>& batch() const { return batch_; }

 private:
  static constexpr std::size_t kBatchKept = 1024;  ///< events; the room of a larger batch is not kept

  State& state_;
  Engine& engine_;
  Ports ports_;
  std::vector<Event> batch_;
  Plan plan_;
};

}  // namespace ashlar
