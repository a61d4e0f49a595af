// CaseFile: a case as values. The language is described in docs/reference/case-language.md. Reading costs O(length); a
// wrong line gives an error with line, column and the expected form.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "policy/profile.h"
#include "sim/case/names.h"
#include "sim/case/words.h"
#include "sim/world/scripted_event.h"

namespace ashlar::sim {

/// What is expected at a time: lines first_line..end_line-1 (counted from 1) of the file.
struct CaseBlock {
  Millis at;
  int header_line = 0;
  int first_line = 0;
  int end_line = 0;
};

/// What a block shows besides a line per job.
struct CaseShows {
  bool reasons = false;   ///< every reason of a waiting job, not only the binding one
  bool queues = false;    ///< usage and limits
  bool nodes = false;     ///< what is free
  bool examined = false;  ///< jobs looked at since the previous block
  bool stops = false;     ///< evictions since then
};

struct CaseFile {
  std::vector<std::string> lines;
  CaseNames names;
  Profile profile;
  Millis binding{0};  ///< from a decision to the answer of the cluster
  CaseShows shows;
  std::vector<ScriptedEvent> scripted_events;  ///< in order of time
  std::vector<CaseBlock> blocks;               ///< in order of time
};

/// Reads a case; `where` is its name for errors ("where:line:column: message").
Result<CaseFile> read_case(std::string_view text, std::string_view where);

}  // namespace ashlar::sim
