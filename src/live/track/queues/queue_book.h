// QueueBook: the queues that objects of the API server state, beside those of the configuration, and what is wrong with
// them. A queue of which not all is known starts nothing until it is: the limits above it could not hold it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "kubeclient/reflector.h"
#include "live/track/queues/queue_settings.h"

namespace ashlar::kube {

class QueueBook {
 public:
  static constexpr std::size_t kMax = 10'000;  ///< objects
  using Read = std::function<Result<QueueSettings>(const QueueObject&)>;

  /// One object as it is in force.
  struct Stated {
    QueueSettings settings;  ///< as last read
    PooledString name, uid;
    std::int64_t generation = 0;
    Condition accepted;       ///< its condition on the server, when it was last seen
    std::string unreadable;   ///< why its spec is not in force; empty: it is
    std::string misplaced;    ///< why it is not below the queue that it names
    bool is_known = false;    ///< its spec was read once
    bool is_there = true;     ///< false: deleted; its jobs that run still count
    bool is_refused = false;  ///< it is no queue: the configuration has one of its name, or there are too many
  };

  QueueBook(const std::vector<QueueSettings>& configured, Read read);

  /// `define(settings)` is called for each queue that is another one now, parents first.
  void take(Change<QueueObject>&& change, const std::function<void(const QueueSettings&)>& define);

  /// Whether pods may name it: it is configured, or an object states it.
  bool has(const std::string& name) const;
  const std::map<std::string, Stated>& stated() const { return stated_; }
  /// What is wrong with it, and what is done meanwhile; empty: nothing.
  static std::string trouble(const Stated& queue);

 private:
  /// As the engine is to have it: what is wrong with its place is noted.
  QueueSettings in_force(Stated& queue);
  bool are_too_many() const;
  const QueueSettings* known(const std::string& name) const;
  std::string place_problem(const Stated& queue) const;
  void define_with_those_below(const std::string& name, const std::function<void(const QueueSettings&)>& define,
                               std::set<std::string>& done);

  std::map<std::string, QueueSettings> configured_;
  Read read_;
  std::map<std::string, Stated> stated_;
  std::map<std::string, std::set<std::string>> below_;  ///< objects by the parent that they name
};

}  // namespace ashlar::kube
