// Scenario: what `ashlar sim run` simulates, as read from YAML (docs/reference/scenario.md). Only plain values; random
// ones are drawn in arrivals.h. Unknown keys are Errors with file, line, column and the nearest known key.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "model/event.h"
#include "text/stated_classes.h"

namespace ashlar::sim {

/// A level of the topology and the node label that names a node's domain in it.
struct ScenarioLevel {
  std::string name;
  std::string label;
};

/// A device of a node on which they are not all alike, or of which more is known.
struct ScenarioDevice {
  std::string model;  ///< empty = none
  MiB memory{0};      ///< 0 = not stated
  std::uint8_t island = 0, numa_node = 0, pcie_switch = 0;
  bool is_sliced = false;
  friend bool operator==(const ScenarioDevice&, const ScenarioDevice&) = default;
};

/// One node, after `count` and the `{i}` patterns of its group were expanded.
struct ScenarioNode {
  std::string name;
  MilliCores cpu;
  Bytes memory;
  std::int32_t pods = 110;
  std::int32_t gpus = 0;
  MiB gpu_memory{0};                                        ///< of each device; 0 = not stated
  std::string model;                                        ///< empty = none
  std::vector<ScenarioDevice> devices;                      ///< each of them; none if they are all as above
  std::vector<std::pair<std::string, std::string>> labels;  ///< ascending by key
};

/// A queue. Parents come before their children.
struct ScenarioQueue {
  std::string name;
  std::int32_t parent = -1;  ///< index into Scenario::queues; -1 = below the root
  QuotaVector quota{kUnlimited, kUnlimited, kUnlimited};
  std::vector<QuotaShare> shares = {};
  QueueRank rank = {};
  StopRules stops = {};
};

/// The distribution of run times. Parameters in seconds.
struct DurationDistribution {
  enum class Kind : std::uint8_t { kFixed, kExponential, kLognormal, kUniform };
  Kind kind = Kind::kFixed;
  double first = 0;   ///< fixed: the value; exponential: mean; lognormal: median; uniform: smallest
  double second = 0;  ///< lognormal: sigma of the logarithm; uniform: largest
  Millis min{1};      ///< draws are clamped to [min, max]
  Millis max = Millis::max();
};

/// Like members of a job.
struct MemberShape {
  std::int32_t members = 1;
  std::int32_t gpus = 0;      ///< devices of each member
  MilliGpu milli_each{1000};  ///< of each device; below 1000 only with gpus = 1
  MiB gpu_memory{0};
  MilliCores cpu;
  Bytes memory;
  std::vector<std::string> models;        ///< names of classes or of their models; empty = any
  std::vector<std::string> capabilities;  ///< of the class of its devices
  std::string within, prefer;             ///< levels of the group's own, or empty
};

/// A shape of jobs in an arrival stream.
struct JobShape {
  std::string name;
  double weight = 1;
  std::vector<MemberShape> groups;  ///< in rank order; never empty; a single member in all = a single pod
  std::int32_t kinds = 1;           ///< equally frequent; those after the first request 1, 2, ... MiB of memory more
  std::string within, prefer;       ///< names of levels, or empty
  std::int32_t priority = 0;
  DurationDistribution duration;
  double estimate_error = 0;                            ///< sigma of the logarithm of (estimate / duration); 0 = exact
  double late_factor = 1;                               ///< p90 / p50 of the estimate
  bool has_estimate = true;                             ///< false: the duration is unknown
  std::vector<std::pair<std::int32_t, double>> queues;  ///< index into Scenario::queues and weight; never empty
};

/// A stream of generated jobs.
struct ArrivalStream {
  enum class Process : std::uint8_t { kPoisson, kUniform };
  std::string name;
  Process process = Process::kPoisson;
  /// one of rate_per_hour and load, or neither: count jobs arrive before until or the horizon
  std::optional<double> rate_per_hour;
  std::optional<double> load;         ///< demanded share of all devices: mean device-time of a job x rate / devices
  std::optional<std::int64_t> count;  ///< stop after that many jobs
  Millis start{0};
  std::optional<Millis> until;  ///< stop then
  std::uint64_t seed = 0;       ///< of this stream
  std::vector<JobShape> jobs;   ///< never empty
};

/// Jobs from a file instead.
struct ScenarioTrace {
  enum class Format : std::uint8_t { kSwf, kCsv };
  Format format = Format::kCsv;
  /// relative paths are relative to the scenario's folder, and already joined with it
  std::string path;
  bool is_processors = false;        ///< the width counts CPU cores, not devices
  std::int32_t gpus_per_member = 8;  ///< wider jobs become gangs of members of this size; the last one takes the rest
  MilliCores cpu_per_gpu;
  Bytes memory_per_gpu;
  /// index into Scenario::queues; -1 = by the trace's own names (a missing queue is an Error of the run)
  std::int32_t queue = -1;
  std::int32_t priority = 0;          ///< of all its jobs
  std::optional<std::int64_t> limit;  ///< only that many jobs
  double time_scale = 1;              ///< submit times are multiplied by this
};

/// A node that is temporarily unavailable.
struct ScenarioFailure {
  std::uint32_t node = 0;  ///< index into Scenario::nodes
  Millis at;
  std::optional<Millis> lasts;  ///< none = for good
};

/// A node that is held for a time: it takes no new jobs but those of a queue, and runs those that it has to their end.
struct ScenarioHold {
  std::uint32_t node = 0;  ///< index into Scenario::nodes
  Millis at;
  std::optional<Millis> lasts;  ///< none = for good
  Millis announced{0};          ///< this long before: jobs that will have ended by then may still start
  std::int32_t queue = -1;      ///< index into Scenario::queues, with those below it; -1 = a maintenance, for nobody
};

/// Nodes that fail at random, independently.
struct ScenarioFailureProcess {
  Millis mean_between;          ///< of one node
  std::optional<Millis> lasts;  ///< none = for good
  Millis start{0}, until;
  std::uint64_t seed = 0;
};

struct Scenario {
  std::string path;
  std::string title;
  std::uint64_t seed = 1;
  std::optional<Millis> horizon;      ///< the run stops here; none = when all work is done
  std::vector<std::string> profiles;  ///< built-in names or paths of profile files, run side by side; never empty
  std::vector<ScenarioLevel> levels;  ///< outermost first
  std::vector<StatedClass> classes;
  std::vector<ScenarioNode> nodes;
  std::vector<ScenarioQueue> queues;  ///< never empty: without any in the file there is one, "default"
  std::vector<ArrivalStream> arrivals;
  std::vector<ScenarioTrace> traces;
  std::vector<ScenarioFailure> failures;  ///< ascending by time
  std::vector<ScenarioFailureProcess> failure_processes;
  std::vector<ScenarioHold> holds;  ///< maintenances and reservations, ascending by the time when they are announced
  /// Run time that a stop adds to a job of at most one GPU, of up to eight, of more.
  std::array<Millis, 3> restart{};
  std::int64_t devices() const;  ///< of all nodes together
};

/// A limit against typing errors; more is an Error.
inline constexpr std::int64_t kScenarioJobsMax = 100'000'000;

Result<Scenario> read_scenario(const std::string& path);
/// The same for text in memory; `path` stands for the file in messages and anchors relative paths.
Result<Scenario> parse_scenario(const std::string& text, const std::string& path);  // for tests

}  // namespace ashlar::sim
