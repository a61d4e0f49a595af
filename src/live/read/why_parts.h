// why_parts: parts of the answer of `why`: the reasons of a verdict, when the job can start, and why a gang is held for
// a while.
#pragma once

#include "kubeclient/json_writer.h"
#include "live/read/pod_text.h"
#include "live/read/read_replica.h"
#include "model/plan.h"

namespace ashlar::kube {

/// The member "reasons", the binding one first.
void write_reasons(JsonWriter& w, const TextContext& context, JobId job, const Verdict& verdict);
/// The member "start": when the waiting job starts, or the one ahead that holds it; nothing if that is not known. Cost:
/// that of start_times().
void write_start(JsonWriter& w, ReadReplica& replica, JobId job);

/// Of a pod that may be placed, outside the engine: a PodGroup was added to its gang, or left it, while bindings of the
/// gang are under way. Empty: it is not so.
std::string renewal_text(const Tables& tables, const GangRecord& gang);

/// Of a pod that was stopped: for which job, and by which rule.
std::string leaving_text(const PodRecord& pod);

}  // namespace ashlar::kube
