// render: the situation at one time of a case, in the case language.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"
#include "sim/case/case_file.h"
#include "sim/world/world.h"

namespace ashlar::sim {

/// The parts of a line; aligned and joined by join_lines.
struct CaseLine {
  std::string name;
  std::string rest;
};

/// For whom a job was last stopped, and by which rule; no reason: for none that is named.
struct CaseStop {
  JobId for_job;
  StopReason reason = StopReason::kNone;
  bool is_shrunk = false;  ///< it runs on without members beyond its minimum
};

CaseLine render_job(const CaseFile& file, const State& state, JobId job, const Verdict& verdict,
                    const CaseStop& stop = {});
/// One whose pods run on in their grace, as `world` knows them.
CaseLine render_leaving(const CaseFile& file, const State& state, const World& world, JobId job, const CaseStop& stop);
CaseLine render_queue(const CaseFile& file, const State& state, QueueId queue);
CaseLine render_node(const CaseFile& file, const State& state, NodeId node);
/// Names padded to the same width, two spaces between the columns.
std::vector<std::string> join_lines(const std::vector<CaseLine>& lines);

}  // namespace ashlar::sim
