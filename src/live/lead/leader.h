// Leader: election by a coordination.k8s.io Lease. The holder renews it every retry period and stops writing if it
// could not renew within the renew deadline, on its monotonic clock; others take over when they have seen the lease
// unchanged for its whole duration on theirs. Clocks of different machines are never compared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kubeclient/api.h"
#include "kubeclient/writes.h"

namespace ashlar::kube {

/// Milliseconds of a clock that never jumps; from when is arbitrary.
Millis steady_now();

struct LeaderOptions {
  bool is_enabled = true;  ///< false: this process leads from the start, without an election
  std::string lease_namespace = "kube-system", lease_name = "ashlar-scheduler";
  std::string identity;  ///< unique to this process
  Millis lease_duration{8'000}, renew_deadline{5'000}, retry_period{1'000};
};

/// How long a request sent at the last moment may be in flight and still arrive before another replica may lead: the
/// time between the renew deadline and the end of the lease, less a margin for rounding.
Millis fence_slack(const LeaderOptions& options);

class Leader {
 public:
  struct Hooks {
    /// Why this process cannot do the work now; empty: it can. Only then does it take the lease, except that a process
    /// which finds the lease free at its first look may take it once: replicas none of which can do the work do not
    /// pass it round.
    std::function<bool()> may_take;
    std::function<void()> on_started;
    std::function<void()> on_stopped;  ///< the right to write has ended
    std::function<void(std::string)> log;
    std::function<Millis()> monotonic;  ///< never set back; default: the system's
  };
  Leader(Api& api, LeaderOptions options, Hooks hooks);

  void start();
  /// Whether a write may be sent at this moment.
  bool may_write() const;
  bool is_leading() const { return is_leading_; }
  const std::string& holder() const { return seen_.holder; }
  /// Why the lease cannot be read or taken, in the server's words; empty if it can.
  const std::string& trouble() const { return trouble_.words; }
  /// Whether the first answer about the lease has arrived.
  bool has_seen_lease() const { return has_seen_; }
  /// Stops leading and renewing: the lease expires by itself, when nothing that was sent under it can still arrive.
  void give_way(const std::string& why);
  /// Releases the lease so that a standby need not wait; `on_done` runs in a later poll (or never, if the server is
  /// unreachable).
  void release(std::function<void()> on_done);

 private:
  /// What the server refuses now, and what was last logged about it.
  struct Trouble {
    std::string words, said;
    Millis said_at;
  };

  void look();
  void note_trouble(const std::string& doing, const Error& error);
  void take_seen(const Answer& answer, const Lease& lease);
  void acquire(const Lease& previous, bool is_new);
  void renew();
  void look_as_leader();
  void take_written(const Answer& answer, const Lease& lease, Millis sent);
  void again(Millis delay);
  void watch_deadline();
  bool may_take_now() const;
  void lose(const std::string& why);

  Api& api_;
  LeaderOptions options_;
  Hooks hooks_;
  Trouble trouble_;
  Lease seen_;
  std::string seen_version_;
  Millis seen_since_;  ///< monotonic; when the lease was last seen to change
  Millis renewed_;     ///< monotonic; when the last successful renewal was sent
  std::uint64_t timer_ = 0, deadline_timer_ = 0;
  std::uint64_t era_ = 0;  ///< incremented with each loss: answers to earlier requests are ignored
  bool is_leading_ = false, has_seen_ = false, is_released_ = false;
  bool is_first_look_ = true;
  std::shared_ptr<char> life_;
};

}  // namespace ashlar::kube
