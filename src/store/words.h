// words: decisions as text: placements, verdicts and events with the names in the log, for replay's report.
#pragma once

#include <string>
#include <vector>

#include "model/event.h"
#include "model/plan.h"
#include "store/names.h"

namespace ashlar::store {

/// "node1 gpu 0-3"; several members: "node1 gpu 0-7, node2 gpu 0-7, ... (16 members)".
std::string placement_in_words(const std::vector<Bind>& binds, const NameTable& names);
/// "waits: InsufficientGpu (3, 4000, 8000), wakes on Capacity".
std::string verdict_in_words(const Verdict& verdict, const NameTable& names);
std::string action_in_words(const Action& action, const NameTable& names);
/// A job by name, or "job 17".
std::string job_in_words(JobId job, const NameTable& names);

}  // namespace ashlar::store
