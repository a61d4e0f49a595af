// score: what the users of a cluster would have felt during a play, counted from its scene in the same way under every
// scheduler. docs/benchmarks.md says how each number is computed.
#pragma once

#include <span>
#include <string>

#include "apps/demo/scene.h"
#include "apps/demo/script.h"

namespace ashlar::demo {

/// A gang that starts later than this after its creation has waited.
inline constexpr Millis kNoticedWait{2'000};  // for tests

struct Score {
  std::string label;
  int gangs = 0;              ///< in the script
  int gangs_started = 0;      ///< all members bound
  int gangs_waited = 0;       ///< longer than kNoticedWait; those that never started too
  Millis wait_sum, wait_max;  ///< of these, from creation to the last bind, or to the end of the play
  int gangs_split = 0;        ///< started, members in more than one rack although one could have held them all
  /// held by members of gangs while other members had no place
  double lost_gpu_seconds = 0;
  /// of GPUs that are given to more than they have: whole ones and shares together
  double double_booked_gpu_seconds = 0;
  double idle_gpu_seconds = 0;  ///< idle while waiting work would have fitted by count
  Millis finished;              ///< last job over; the script's length if some never ran
  int jobs_left = 0;
  Millis mean_wait() const { return gangs_waited == 0 ? Millis(0) : Millis(wait_sum.value / gangs_waited); }
};

/// The comparison as people read it, in lines of at most 79 columns: what is played, with the heads of the columns; the
/// numbers of one scheduler, for which its name is the line above; what the columns mean.
std::string comparison_head(const Script& script);
std::string comparison_row(const Score& score);
std::string comparison_legend();

/// The scores of one script, one for each scheduler, as JSON (docs/reference/json.md, DemoComparison), on one line.
std::string comparison_json(const Script& script, std::span<const Score> scores);

class ScoreKeeper {
 public:
  /// Call about ten times a second; what is counted by time is counted by these steps.
  void look(const Scene& scene, Millis now);
  /// Of a play from `start` to `end`.
  Score finish(const Scene& scene, Millis start, Millis end);

 private:
  Score score_;
  Millis last_look_ = Millis::max();
};

}  // namespace ashlar::demo
