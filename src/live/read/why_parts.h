// why_parts: members of the answer of `why`: the reasons of a verdict, and when the job can start.
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

}  // namespace ashlar::kube
