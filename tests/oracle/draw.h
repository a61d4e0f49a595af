// Draw: random small worlds in which every option may meet every other: levels nested and free-standing with `within`
// and `prefer` together, unlike members, shares with and without memory, several resources, selectors, taints, quotas,
// members that run already, elastic minima, foreign pods.
#pragma once

#include "base/rng.h"
#include "plain.h"

namespace ashlar::oracle {

struct DrawOptions {
  int nodes_max = 8;
  int members_max = 9;
  int waiting_jobs_max = 3;
  bool has_running = true;  ///< jobs that sit there already, partly placed ones and foreign pods too
  bool has_quota = true;
  bool has_unlike_devices = true;  ///< some nodes: of two models, of unlike memory, or cut into slices
  bool has_nine_queues = false;    ///< the root and eight below it, without limits
  bool has_groups = false;         ///< gangs have groups with a minimum and a level of their own; drawn last
  bool has_capabilities = false;   ///< of models, which some constraints name; the world is otherwise the same
  bool is_one_by_one = false;      ///< a waiting job would, as a rule, fit into the empty cluster alone
};

/// The same world for the same stream.
PlainWorld draw_world(Rng& rng, const DrawOptions& options);

/// "unlike within-free prefer elastic": what kind of question the job is, for counts.
std::string kind_of(const PlainWorld& world, int job);

}  // namespace ashlar::oracle
