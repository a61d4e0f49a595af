// case_run: plays a case through the engine's own Driver in virtual time and renders what each block shows. The world
// around it answers every bind after the case's binding delay, ends jobs when they have run, and refuses the binds that
// fail according to the case. Cost: that of the engine.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/case/case_file.h"

namespace ashlar::sim {

/// Lines of every block, in order, already aligned. An Error if the engine never comes to rest.
Result<std::vector<std::vector<std::string>>> play_case(const CaseFile& file);

/// The fingerprint of all its plans; with `are_all_asked`, each job is asked about after every one, which changes none.
Result<std::uint64_t> digest_of_case(const CaseFile& file, bool are_all_asked);  // for tests

}  // namespace ashlar::sim
