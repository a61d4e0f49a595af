// trace_pods: the pods of a trace in any of the formats that `ashlar load` posts: openb lists, Philly's job log and the
// Standard Workload Format (docs/reference/traces.md). A job on several servers is a gang with one pod for each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "sim/trace/openb.h"

namespace ashlar::sim {

struct TracePod {
  std::string name;  ///< as the trace has it
  std::string gang;  ///< the job's name if it has several pods, else empty
  std::int32_t gang_size = 0;
  std::string queue;  ///< virtual cluster or queue; empty if the format has none
  MilliCores cpu;
  MiB memory;
  std::int32_t gpus = 0;
  MilliGpu milli_each;
  std::vector<std::string> models;  ///< empty: any
  std::optional<Millis> submit;     ///< since the start of the trace
  std::optional<Millis> duration;
};

struct TracePods {
  std::vector<TracePod> pods;  ///< by submission, pods of a job together
  std::int64_t jobs = 0;
  std::int64_t skipped = 0;  ///< jobs that never ran, or whose run time is not known
};

enum class TraceFormat : std::uint8_t { kOpenb, kPhilly, kSwf };

struct TracePodOptions {
  std::optional<TraceFormat> format;  ///< none: by the first character of the file
  std::int32_t gpus_per_pod = 8;      ///< of a job of the Standard Workload Format, which has no servers
  bool is_of_cores = false;           ///< its processors are CPU cores, and not GPUs
  std::int64_t jobs_max = INT64_MAX;  ///< the first ones by submission
};

/// '[' begins a Philly log, ';', a digit or '-' a file in Standard Workload Format, and anything else an openb list.
TraceFormat trace_format_of(std::string_view text);  // for tests

/// `nodes`: of an openb trace, to check its models; may be empty.
Result<TracePods> read_trace_pods(const std::string& path, const std::vector<OpenbNode>& nodes,
                                  const TracePodOptions& options);

}  // namespace ashlar::sim
