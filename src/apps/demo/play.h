// play: plays a script on a cluster: jobs are created at their times, deleted when they have run, and the scene records
// everything that happens. The same play is given to any scheduler; the comparison shows its score.
#pragma once

#include <functional>
#include <string>

#include "apps/demo/scene.h"
#include "apps/demo/scene_watch.h"
#include "apps/demo/score.h"
#include "apps/demo/script.h"

namespace ashlar::demo {

/// Files that the demo includes, by name: kwok-stages.yaml (deploy/), kwok's behaviour for pods and nodes. Empty if
/// there is none of that name.
std::string_view file(std::string_view name);

struct PlayOptions {
  std::string ns = kStoryNamespace;
  std::string scheduler_name = "ashlar";
  bool keeps_waiting_jobs = false;             ///< those that wait at the end stay, for `ashlar why`
  bool has_groups = true;                      ///< gangs get a PodGroup
  bool has_queues = true;                      ///< jobs name their team's queue, with its quota
  std::function<bool(const Scene&)> on_frame;  ///< about ten times a second; false ends the play
};

class Play {
 public:
  Play(kube::Api& api, Script script, PlayOptions options);
  /// From the first act until all jobs are over or the script's length has passed.
  Score run();
  Scene& scene() { return scene_; }

 private:
  /// Creates the jobs of all acts that are due. Pods of jobs that come at the same instant are created in turn, as
  /// independent controllers create them.
  void raise_due(Millis elapsed);
  void create_group(const Act& act);
  void create_pod(const Act& act, int member);
  void end_what_has_run();
  void remove_pods(Job& job);

  kube::Api& api_;
  Script script_;
  PlayOptions options_;
  Scene scene_;
  SceneWatch watch_;
  std::size_t next_ = 0;
  int removals_open_ = 0;
};

/// Posts the demo's 64 nodes with their racks and blocks; returns when all exist.
Result<void> post_nodes(kube::Api& api);

}  // namespace ashlar::demo
