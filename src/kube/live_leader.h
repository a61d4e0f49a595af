// Who may write? LiveLeader: election by a coordination.k8s.io Lease. One holder at a time: it renews every retry period, stops writing when it could
// not renew for the renew deadline (measured on the monotonic clock from the moment the last successful renewal was sent), and others take over when
// they have seen the lease unchanged for its whole duration on their own clock. Clocks of different machines are never compared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kube/api.h"
#include "kube/writes.h"

namespace ashlar::kube {

struct LeaderOptions {
  bool is_enabled = true;  ///< false: we lead from the start and ask nobody
  std::string lease_namespace = "kube-system", lease_name = "ashlar-scheduler";
  std::string identity;  ///< unique to this process
  Millis lease_duration{8'000}, renew_deadline{5'000}, retry_period{1'000};
};

class LiveLeader {
 public:
  struct Hooks {
    std::function<void()> on_started;
    std::function<void()> on_stopped;  ///< the right to write is gone
    std::function<void(std::string)> log;
    std::function<Millis()> monotonic;  ///< never set back; default: the system's
  };
  LiveLeader(Api& api, LeaderOptions options, Hooks hooks);

  void start();
  /// May a write be sent at this moment?
  bool may_write() const;
  bool is_leading() const { return is_leading_; }
  const std::string& holder() const { return seen_.holder; }
  /// Has the first answer about the lease come?
  bool has_seen_lease() const { return has_seen_; }
  /// Gives the lease back so that a standby need not wait; `on_done` runs in a later poll (or never, where the server is away).
  void release(std::function<void()> on_done);

 private:
  void look();
  void take_seen(Answer answer, Lease lease);
  void acquire(const Lease& previous, bool is_new);
  void renew();
  void look_as_leader();
  void take_written(Answer answer, Lease lease, Millis sent);
  void again(Millis delay);
  void lose(const std::string& why);

  Api& api_;
  LeaderOptions options_;
  Hooks hooks_;
  Lease seen_;
  std::string seen_version_;
  Millis seen_since_;  ///< monotonic; when the lease was last seen to change
  Millis renewed_;     ///< monotonic; when our last successful write was sent
  std::uint64_t timer_ = 0;
  bool is_leading_ = false, has_seen_ = false, is_released_ = false;
  std::shared_ptr<char> life_;
};

}  // namespace ashlar::kube
