// Driver: one turn of the loop that all four ways of running share: take events, apply them, decide, hand the plan
// over, keep a record. Events between two steps can be applied at once (catch_up); they still belong to the next step,
// for the decision and for the record.
#pragma once

#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/engine.h"
#include "engine/ports.h"
#include "state/state.h"

namespace ashlar {

/// Whether this step is worth a record. A step without events that looked at a job must be kept too: it may have drawn
/// random numbers or closed a class.
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
    catch_up();
    plan_ = engine_.decide(state_, ports_.clock.now());
    is_decided_ = true;
    ports_.actuator.submit(plan_);
    if (ports_.recorder != nullptr && has_news(batch_, plan_)) ports_.recorder->record(batch_, plan_, state_.digest());
    return plan_;
  }
  /// Takes all events and applies them, for callers that need the present state. Not from within a step.
  void catch_up() {
    if (is_decided_) {
      batch_.clear();
      if (batch_.capacity() > kBatchKept) batch_.shrink_to_fit();
      is_decided_ = false;
    }
    const std::size_t known = batch_.size();
    ports_.events.take(batch_);
    for (std::size_t i = known; i < batch_.size(); ++i) apply(state_, batch_[i]);
  }
  /// True if anything was applied that no step has decided on yet.
  bool is_behind() const { return !is_decided_ && !batch_.empty(); }
  /// Events of the last step, or since.
  const std::vector<Event>& batch() const { return batch_; }
  /// Events of the last step, for a copy of the state elsewhere. Only after a step: what was applied since belongs to
  /// the next one.
  std::vector<Event> take_batch() {
    ASHLAR_CHECK(is_decided_);
    return std::exchange(batch_, {});
  }

 private:
  static constexpr std::size_t kBatchKept = 1024;  ///< events; the memory of a larger batch is not kept

  State& state_;
  Engine& engine_;
  Ports ports_;
  std::vector<Event> batch_;
  bool is_decided_ = true;  ///< the batch belongs to a finished step
  Plan plan_;
};

}  // namespace ashlar
