// queue_trace: readers of job traces for queueing replays: the job file with virtual clusters, the file of nodes per
// virtual cluster, and the Standard Workload Format (docs/reference/traces.md). Rows keep their order, which decides
// ties. Cost: one pass; 70,000 jobs in about 20 ms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"

namespace ashlar::sim {

struct TraceJob {
  std::uint32_t vc = 0;   ///< index into JobTrace::vcs
  std::int32_t gpus = 1;  ///< devices, or processors of a Standard Workload Format trace
  Millis submit;          ///< since the start of the trace
  Millis duration;        ///< true run time
  /// estimated run time; may be negative (published noisy estimates are); see JobTrace::has_estimates
  Millis estimate;
  std::uint32_t line = 0;  ///< of the file, from 1
};

struct JobTrace {
  std::vector<std::string> vcs;  ///< names in order of first appearance
  std::vector<TraceJob> jobs;    ///< in file order
  bool has_estimates = false;    ///< false: the file has no such column, and `estimate` is the duration
};

/// Nodes of one virtual cluster.
struct VcNodes {
  std::string vc;
  std::int32_t nodes = 0;
};

/// Columns vc,gpu_num,submit_time,duration[,priority] or vc,g,s,d[,p], in seconds (fractions of at most a millisecond);
/// others are ignored.
Result<JobTrace> read_jobs(const std::string& path);

/// Further requirements of a queueing replay: whole seconds, and virtual clusters that `vcs` has.
Result<JobTrace> read_jobs_for_replay(const std::string& path, const std::vector<VcNodes>& vcs);

/// Columns vc (or an unnamed first one) and "node num" or num. At most 1,000,000 nodes in all.
Result<std::vector<VcNodes>> read_vcs(const std::string& path);

/// Standard Workload Format (Feitelson, version 2.2): lines of 18 fields, `;` comments. Jobs that never ran (run time
/// or processors unknown or zero) are left out and counted. vc = "queue-<field 15>"; estimate = requested time if
/// given, else the run time.
struct SwfTrace {
  JobTrace trace;
  std::int64_t skipped = 0;  ///< jobs without run time or processors
};
Result<SwfTrace> read_swf(const std::string& path);

}  // namespace ashlar::sim
