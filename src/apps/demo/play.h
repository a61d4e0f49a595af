// play: plays a script on a cluster: jobs are created at their times, deleted when they have run, and the scene records
// everything that happens. The same play is given to any scheduler; the comparison shows its score.
#pragma once

#include <functional>
#include <string>

#include "apps/demo/scene.h"
#include "apps/demo/scene_watch.h"
#include "apps/demo/script.h"

namespace ashlar::demo {

/// Files that the demo includes, by name: kwok-stages.yaml (deploy/), kwok's behaviour for pods and nodes. Empty if
/// there is none of that name.
std::string_view file(std::string_view name);

struct PlayOptions {
  std::string ns = "demo";
  std::string scheduler_name = "ashlar";
  bool keeps_waiting_jobs = false;             ///< those that wait at the end stay, for `ashlar why`
  bool has_groups = true;                      ///< gangs get a PodGroup
  bool has_queues = true;                      ///< jobs name their team's queue, with its quota
  std::function<bool(const Scene&)> on_frame;  ///< about ten times a second; false ends the play
};

/// The result of a play.
struct Score {
  std::string label;
  int gangs = 0;                ///< in the script
  int gangs_started = 0;        ///< all members bound
  int gangs_split = 0;          ///< started, members in more than one rack although one could have held them all
  double idle_gpu_seconds = 0;  ///< devices idle while waiting work would have fitted by count
  double finished_seconds = 0;  ///< last job over; the script's length if some never ran
  int jobs_left = 0;
};

class Play {
 public:
  Play(kube::Api& api, Script script, PlayOptions options);
  /// From the first act until all jobs are over or the script's length has passed.
  Score run();
  Scene& scene() { return scene_; }

 private:
  void raise(const Act& act);
  void end_what_has_run();
  void count_idle(Millis step, Score& score);
  void remove_pods(Job& job);

  kube::Api& api_;
  Script script_;
  PlayOptions options_;
  Scene scene_;
  SceneWatch watch_;
  std::size_t next_ = 0;
};

/// Posts the demo's 64 nodes with their racks and blocks; returns when all exist.
Result<void> post_nodes(kube::Api& api);

}  // namespace ashlar::demo
