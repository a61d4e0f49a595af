// The runs of bench_cluster, one function each. Every run uses a fresh namespace, starts its scheduler anew and deletes
// its pods afterwards.
#pragma once

#include <optional>
#include <string>

#include "arena.h"

namespace ashlar::bench {

struct DrainResult {
  bool is_complete = false;
  double rate = 0;              ///< pods/s between first and last bind; if not complete, those bound by the time given
  double to_first_seconds = 0;  ///< scheduler start to first bind
  double writes_per_pod = 0;    ///< API writes after the start, everything included, until they cease
  double lane_empty_seconds = 0;  ///< last bind to the last write
  double scheduler_cpu_seconds = 0;
  double resident_mib = 0;
};
/// Pods exist, then the scheduler starts.
DrainResult drain(Arena& arena, const Scheduler& scheduler, const Batch& batch, double patience_seconds);

/// The scheduler runs, then the pods come. Rate between first and last bind.
DrainResult arrive(Arena& arena, const Scheduler& scheduler, const Batch& batch, double patience_seconds);

/// Seconds from the last creation of a gang's pods to its last bind; nothing if it was not bound in time.
std::optional<double> last_bind_after_last_create(Arena& arena, const Scheduler& scheduler, const Batch& gang,
                                                  double patience_seconds);

/// The same for a critical gang that comes when `after_bound` of a backlog's pods are bound.
std::optional<double> critical_amid_backlog(Arena& arena, const Scheduler& scheduler, const Batch& backlog,
                                            const Batch& critical, std::size_t after_bound);

struct RefusalResult {
  double group_seconds = -1;      ///< last creation to the PodGroup's condition with its reason; -1 = not seen
  double first_pod_seconds = -1;  ///< ... to the first pod condition of the gang
  double all_pods_seconds = -1;
  std::string message;
};
/// How soon does everybody know that a gang does not fit?
RefusalResult refusal(Arena& arena, const Scheduler& scheduler, const Batch& gang, double patience_seconds);

struct KindsResult {
  bool is_bound = false;          ///< every pod that got room was bound
  std::size_t rounds = 0;         ///< pods that ended, each giving room to one that waits
  double to_first_seconds = 0;    ///< from the first end to the first bind, when the scheduler has just begun
  double slowest_seconds = 0;     ///< from one end to the bind that it allows, of the rounds after the first
  double lease_age_seconds = 0;   ///< the longest that the Lease stood unrenewed, as seen four times a second
  std::size_t lease_holders = 0;  ///< how many names it carried, one is right
  double resident_mib = 0;
};
/// A full cluster where `waiting` pods wait, no two alike. Pods end one after the other, nodes are relabelled
/// meanwhile: does the scheduler keep its Lease, and how soon is the room taken?
KindsResult kinds(Arena& arena, const Batch& waiting, std::size_t nodes, std::size_t rounds);

/// Start of the scheduler to the bind of one pod that waits, on a cluster that is already full of bound pods.
DrainResult start_to_first_bind(Arena& arena, const Scheduler& scheduler);

}  // namespace ashlar::bench
