// SchedulerMetrics: counters and histograms of the loop thread, written in Prometheus' text format on request, by any
// thread. Names and labels are those of docs/reference/metrics.md; none of them carries a pod or job name, and the name
// of a queue only if the reader may see it. Cost: a few nanoseconds per observation, a microsecond for one with a
// queue, O(queues + nodes x levels) for the text.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "kubeclient/pooled_string.h"
#include "model/plan.h"

namespace ashlar::kube {

class ReadReplica;

/// State of the decision log.
struct LogFacts {
  std::uint64_t steps_lost = 0;
  bool is_stopped = false;  ///< it cannot be written at present
};

/// What belongs to the process rather than to a leadership.
struct ProcessFacts {
  std::string version;
  bool is_leading = false, is_ready = false;
  std::uint64_t requests = 0, request_failures = 0, connections = 0;
  struct Watch {
    std::string_view resource;
    std::uint64_t lists = 0, watches = 0, events = 0, errors = 0, objects = 0, unreadable = 0;
    std::optional<Millis> silent;  ///< absent if the kind is not watched (yet)
    bool is_listed = false;
    std::uint64_t expired = 0;
  };
  std::map<std::string_view, Watch> watches;
  std::optional<LogFacts> decision_log;  ///< absent if none is kept
  std::uint64_t replicas_given_up = 0;
  bool is_replica_given_up = false;  ///< and no other has begun yet
};

/// The audience of the metrics: any client of the probes' port, or one that may also use the read API.
enum class MetricsReader : std::uint8_t { kAnybody, kOperator };

class SchedulerMetrics {
 public:
  SchedulerMetrics();
  ~SchedulerMetrics();

  void observe_step(double seconds, const Plan& plan);
  /// From when a pod was first seen eligible to its confirmed binding.
  void observe_decision(bool is_gang, Millis latency);
  /// From when the engine received a job to its placement.
  void observe_queue_wait(const PooledString& queue, Millis wait);
  /// A gang was placed; `level`: the innermost one that holds it whole.
  void observe_gang(const PooledString& queue, const std::string& level);

  /// `replica`: of the present leadership; null on standby. For the public audience, series are summed over the queues,
  /// which are usually named after tenants.
  std::string text(ReadReplica* replica, const ProcessFacts& process, MetricsReader reader = MetricsReader::kOperator);

 private:
  struct Series;
  std::unique_ptr<Series> series_;
};

}  // namespace ashlar::kube
