// job_replay: queueing replays of published job traces, in whole seconds. Each virtual cluster is a separate cluster
// (ceil(nodes / shrink) nodes of 8 devices, own State, Engine and Driver) on any core, or all are pooled into one; the
// result does not depend on the number of threads. Cost: about 1 s for 68,503 jobs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/stop_rules.h"
#include "policy/profile.h"
#include "sim/results/results.h"
#include "sim/trace/queue_trace.h"
#include "sim/world/world.h"

namespace ashlar::sim {

/// Seconds that a restart adds to a job of one device, of up to eight, of more.
using RestartOverhead = std::array<std::int64_t, 3>;
inline constexpr RestartOverhead kPublishedOverhead{7, 30, 60};
/// "7,30,60".
Result<RestartOverhead> parse_restart_overhead(std::string_view text);

struct QueueReplay {
  const JobTrace& trace;
  std::span<const VcNodes> vcs;
  std::int32_t shrink = 1;
  bool is_pooled = false;
  RestartOverhead overhead = kPublishedOverhead;
  StopRules::Own stops = StopRules::Own::kLower;         ///< whom jobs stop, if the profile's victim rule asks for it
  bool has_series = false;                               ///< measure busy devices and waiting jobs over time
  std::uint32_t threads = 0;                             ///< 0 = as many as the machine has cores
  std::function<void(std::int64_t jobs_done)> progress;  ///< may be empty; called by one thread at a time
  OnOutcome ended = {};                                  ///< may be empty; for each cluster in turn, after the run
};

/// Errors: a job's virtual cluster has no nodes line; times that are not whole seconds. They begin with LINE: if they
/// refer to a line of the job file.
Result<void> check_replay(const QueueReplay& replay);
/// One profile on a checked replay; `policy` is its name in the results. If the profile stops running jobs, a restart
/// costs the overhead.
QueueRun run_queue(const QueueReplay& replay, std::string_view policy, const Profile& profile);
/// Under the profile's own name.
inline QueueRun run_queue(const QueueReplay& replay, const Profile& profile) {
  return run_queue(replay, profile.name, profile);
}

}  // namespace ashlar::sim
