// Reserving: a small cluster whose jobs run as long as they are said to, and the reservations that its engine makes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"

namespace ashlar {

inline constexpr QueueId kAll{0u}, kLimited{1u}, kOther{2u}, kBelow{3u}, kFree{4u};
inline constexpr DemandId kTwoDevices{5u}, kSixDevices{6u}, kManyCores{7u}, kNothing{8u};
inline constexpr QuotaVector kNoLimit{kUnlimited, kUnlimited, kUnlimited};

constexpr QuotaVector gpus(std::int64_t count) { return {count * 1000, kUnlimited, kUnlimited}; }

/// Nodes of eight devices and 64 cores; a queue under a quota of seven devices with one below it, one under a quota of
/// four, and one without.
class Reserving : public testing::Test {
 protected:
  explicit Reserving(std::uint32_t nodes) : state_(small_state(nodes)), engine_(*builtin_profile("ashlar")) {
    tell(state_, QueueDefined{kLimited, kAll, gpus(7)});
    tell(state_, QueueDefined{kOther, kAll, gpus(4)});
    tell(state_, QueueDefined{kBelow, kLimited, kNoLimit});
    tell(state_, QueueDefined{kFree, kAll, kNoLimit});
    const auto define = [&](DemandId id, std::int32_t devices) {
      tell(state_, DemandDefined{id, {{{resource::kPods, 1}}, {devices, MilliGpu(1000), MiB(0)}, {}}});
    };
    define(kTwoDevices, 2);
    define(kSixDevices, 6);
    define(kNothing, 0);
    tell(state_, DemandDefined{kManyCores, {.amounts = {{resource::kCpu, 62'000}, {resource::kPods, 1}}}});
  }

  struct Asked {
    std::uint32_t job;
    DemandId demand;
    QueueId queue;
    std::int64_t seconds;
  };
  void submit(const Asked& asked) {
    Workload w = workload(asked.job, asked.job, 1, asked.demand);
    w.queue = asked.queue;
    w.estimate = {Millis(asked.seconds * 1000), Millis(asked.seconds * 1000)};
    tell(state_, Submitted{w}, state_.now());
  }
  void run(const Asked& asked, NodeId node) {
    submit(asked);
    tell(state_, Bound{MemberId(asked.job), node, {}}, state_.now());
  }
  void expect_until(std::uint32_t job, std::int64_t seconds, Millis at) {
    tell(state_, EstimateChanged{JobId(job), {Millis(seconds * 1000), Millis(seconds * 1000)}}, at);
  }
  Plan decide_at(Millis now) {
    tell(state_, Tick{}, now);
    return engine_.decide(state_, now);
  }
  /// A job that outlasts all others asks for the reservations of those ahead of it.
  void ask(std::uint32_t job, QueueId queue) { submit({job, kOneDevice, queue, 100'000}); }
  /// One that outlasts them too, but takes no devices and no quota.
  void ask_for_nothing(std::uint32_t job, QueueId queue) { submit({job, kNothing, queue, 100'000}); }
  const Reservation* of(std::uint32_t job) const {
    const auto all = engine_.reservations();
    const auto it = std::ranges::find_if(all, [&](const Reservation& r) { return r.entry.job == JobId(job); });
    return it == all.end() ? nullptr : &*it;
  }

  State state_;
  Engine engine_;
};

}  // namespace ashlar
