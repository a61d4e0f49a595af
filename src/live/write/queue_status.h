// QueueStatusWriter: the status of Queue objects: what they use, what they are sure to get, how many jobs run and wait,
// and whether they are in force. Cost: O(queues + kinds of waiting jobs) each kEvery; at most kWritesMax writes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "engine/engine.h"
#include "kubeclient/api.h"
#include "live/track/tracker.h"
#include "live/write/request_lane.h"
#include "state/state.h"

namespace ashlar::kube {

class QueueStatusWriter {
 public:
  static constexpr Millis kEvery{1000};          ///< between two times
  static constexpr std::size_t kWritesMax = 10;  ///< each time; those that were written longest ago first
  struct Hooks {
    std::function<bool()> may_write;
    OnLog log;
  };
  QueueStatusWriter(Api& api, Hooks hooks);

  /// Writes what is other than what was written last, if it is time.
  void step(const Engine& engine, const State& state, const Tracker& tracker);
  /// When to be called again; Millis::max(): there are no such objects.
  Millis due_in(const Tracker& tracker) const;

 private:
  struct Last {
    PooledString uid;
    ConditionStatus was_accepted = ConditionStatus::kAbsent;  ///< on the server, or as written last
    Millis since;                                             ///< it has been so
    std::string body = {};                                    ///< as written last; empty: nothing was
    Millis at = {};                                           ///< monotonic
    bool is_under_way = false;
  };
  struct Due {
    Millis at;
    std::string name, body;
  };
  void send(Due& due);

  Api& api_;
  Hooks hooks_;
  std::map<std::string, Last> last_;  ///< by name
  Millis next_{0};
  bool is_trouble_told_ = false;
  RequestLane lane_;
};

}  // namespace ashlar::kube
