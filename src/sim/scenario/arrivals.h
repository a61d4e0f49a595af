// arrivals: the jobs of a scenario: streams drawn from distributions, and traces. Jobs are drawn one at a time as the
// run needs them, so a million of them take no memory; the same scenario gives the same jobs on every machine, whatever
// the policy.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/scenario/scenario.h"
#include "sim/trace/queue_trace.h"
#include "sim/world/catalog.h"
#include "sim/world/world.h"

namespace ashlar::sim {

/// Everything that a scenario's work needs, read and interned once; feeds for several runs are created from it.
class ScenarioWork {
 public:
  /// Reads the traces and adds models, demands and kinds of jobs to the catalog. Errors: unreadable traces, a load
  /// without devices, a trace's virtual cluster that names no queue.
  static Result<ScenarioWork> make(const Scenario& scenario, Catalog& catalog);

  /// All jobs in order of submission; ties by the order of streams and traces in the file. The work and the scenario
  /// must outlive the feed.
  JobFeed feed() const;
  /// The number of jobs that will arrive, if known; else 0.
  std::int64_t jobs_expected() const;
  /// What was left out of the traces, a sentence each.
  std::span<const std::string> notes() const { return notes_; }

  /// A shape of an arrival stream, ready to draw.
  struct Shape {
    const JobShape* spec = nullptr;
    std::vector<KindId> kinds;                                   ///< never empty
    double weight_up_to = 0;                                     ///< cumulative
    std::vector<std::pair<std::uint32_t, double>> queues_up_to;  ///< queue and cumulative weight
  };
  struct Stream {
    const ArrivalStream* spec = nullptr;
    std::vector<Shape> shapes;
    double gap_millis = 0;  ///< mean time between arrivals
    /// if only the number of jobs is given: exactly that many arrive before this time
    std::optional<Millis> spread_until;
  };
  struct Trace {
    const ScenarioTrace* spec = nullptr;
    JobTrace jobs;
    std::vector<std::uint32_t> order;                    ///< rows by submission
    std::vector<std::uint32_t> queue_of_vc;              ///< index into Scenario::queues
    std::vector<std::pair<std::int32_t, KindId>> kinds;  ///< by width, ascending
  };

 private:
  std::vector<Stream> streams_;
  std::vector<Trace> traces_;
  std::vector<std::string> notes_;
};

/// Jobs may request to be placed within one node. That level always exists, independent, after the scenario's own.
inline constexpr std::string_view kNodeLevel = "node";

/// Row of a scenario's queue: 0 is the root.
inline QueueId queue_row(std::uint32_t index) { return QueueId(index + 1); }

}  // namespace ashlar::sim
