// rehearsal: what the demo shows while its control plane is still being built: the script on the simulator, again and
// again, until everything that the real demo needs is there or the process that builds it has ended.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "apps/demo/score.h"
#include "apps/demo/script.h"
#include "apps/demo/view.h"
#include "base/result.h"

namespace ashlar::demo {

/// The build of the control plane beside the demo, as `./dev demo` starts it.
struct ControlPlaneBuild {
  pid_t process = 0;  ///< 0: nobody builds
  Millis usually;     ///< how long it takes on an idle machine; 0 = not known
  std::string log;    ///< file, for messages; may be empty
};

/// "same engine, simulated; Kubernetes is being built: 3 of about 12 min".
std::string build_note(Millis elapsed, Millis usually);  // for tests

/// Whether a process is still running. It need not be a child.
class ProcessWatch {
 public:
  explicit ProcessWatch(pid_t process);
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;
  bool is_running() const;

 private:
  int descriptor_ = -1;
};

struct Rehearsal {
  Script script;
  ControlPlaneBuild build;
  std::function<std::string()> lacking;  ///< a binary of the real demo that is not there yet; empty: none
  bool repeats = true;                   ///< from the beginning after its end; else the last picture stays
  std::function<bool()> goes_on;         ///< false: the user has ended it
};
/// Until nothing lacks, or the user ends it; kNotFound if the build has ended and something lacks, with the end of its
/// log. Draws ten times a second.
Result<void> rehearse(const Rehearsal& rehearsal, Screen& screen);

/// The script once on the simulator, at the speed of a clock, to its end unless the user ends it.
Score play_simulated(const Script& script, Screen& screen, const std::function<bool()>& goes_on);

}  // namespace ashlar::demo
