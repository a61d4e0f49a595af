// Traces: openb's lists, jobs and their virtual clusters, Philly's job log, the Standard Workload Format; packed ones
// too.
#include "fuzz/fuzz.h"
#include "sim/trace/openb.h"
#include "sim/trace/philly.h"
#include "sim/trace/queue_trace.h"
#include "sim/trace/text_source.h"
#include "sim/trace/trace_pods.h"

namespace {

using namespace ashlar::sim;

void run(std::string_view bytes) {
  const ashlar::fuzz::File file(bytes);
  const auto nodes = read_openb_nodes(file.path());
  static_cast<void>(read_openb_pods(file.path(), nodes.ok() ? *nodes : std::vector<OpenbNode>{}).ok());
  static_cast<void>(read_arrivals(file.path(), 4, 4).ok());
  static_cast<void>(read_jobs(file.path()).ok());
  const auto vcs = read_vcs(file.path());
  static_cast<void>(read_jobs_for_replay(file.path(), vcs.ok() ? *vcs : std::vector<VcNodes>{{"a", 1}}).ok());
  static_cast<void>(read_swf(file.path()).ok());
  static_cast<void>(parse_philly(bytes, "philly").ok());
  static_cast<void>(read_trace_pods(file.path(), {}, {}).ok());
  static_cast<void>(printable(bytes));
}

}  // namespace

ASHLAR_FUZZ_TARGET(traces)
