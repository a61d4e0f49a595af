// philly: reader of Microsoft's Philly trace as published: cluster_job_log, a JSON array of jobs with their attempts
// (docs/reference/traces.md). Every malformed job is an Error with file, line, column and the expected form. Cost: one
// pass and a parse of each job; the text is held in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"

namespace ashlar::sim {

struct PhillyJob {
  std::string id;
  std::string vc;
  Millis submit;    ///< since the first submission of the file
  Millis duration;  ///< from the first attempt's start to the last attempt's end
  /// GPUs on each server of the first attempt that had any
  std::vector<std::int32_t> gpus_by_server;
};

struct PhillyTrace {
  std::vector<PhillyJob> jobs;  ///< in file order
  std::int64_t skipped = 0;     ///< jobs that never ran, or whose run time is not known
};

Result<PhillyTrace> read_philly(const std::string& path);

/// The same for text in memory; `name` stands for the file in messages.
Result<PhillyTrace> parse_philly(std::string_view text, const std::string& name);  // for tests

}  // namespace ashlar::sim
