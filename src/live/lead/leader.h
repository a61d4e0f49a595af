// Leader: election by a coordination.k8s.io Lease. The holder renews it every retry period and stops writing when it
// could not renew for the renew deadline, on its monotonic clock; others take over when they have seen the lease
// unchanged for its whole duration on theirs. Clocks of different machines are never compared.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kubeclient/api.h"
#include "kubeclient/writes.h"

namespace ashlar::kube {

struct LeaderOptions {
  bool is_enabled = true;  ///< false: we lead from the start and ask nobody
  std::string lease_namespace = "kube-system", lease_name = "ashlar-scheduler";
  std::string identity;  ///< unique to this process
  Millis lease_duration{8'000}, renew_deadline{5'000}, retry_period{1'000};
};

/// How long what was sent at the last moment may be on its way, so that it arrives before anybody else may lead: the time between the renew deadline
/// and the end of the lease, less some for rounding.
Millis fence_slack(const LeaderOptions& options);

class Leader {
 public:
  struct Hooks {
    /// Can this process do the work now? Only then does it take the lease, except that a process which finds it free at
    /// its first look may take it once: replicas none of which can do the work do not pass it round. Empty: yes.
    std::function<bool()> may_take;
    std::function<void()> on_started;
    std::function<void()> on_stopped;  ///< the right to write is gone
    std::function<void(std::string)> log;
    std::function<Millis()> monotonic;  ///< never set back; default: the system's
  };
  Leader(Api& api, LeaderOptions options, Hooks hooks);

  void start();
  /// May a write be sent at this moment?
  bool may_write() const;
  bool is_leading() const { return is_leading_; }
  const std::string& holder() const { return seen_.holder; }
  /// Why the lease cannot be read or taken, in the server's words; empty where it can.
  const std::string& trouble() const { return trouble_.words; }
  /// Has the first answer about the lease come?
  bool has_seen_lease() const { return has_seen_; }
  /// Leads no longer, and renews no more: the lease ends by itself, when nothing that was sent under it can still arrive.
  void give_way(const std::string& why);
  /// Gives the lease back so that a standby need not wait; `on_done` runs in a later poll (or never, where the server is away).
  void release(std::function<void()> on_done);

 private:
  /// What the server refuses now, and what of it was said last.
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
  Millis renewed_;     ///< monotonic; when our last successful write was sent
  std::uint64_t timer_ = 0, deadline_timer_ = 0;
  std::uint64_t era_ = 0;  ///< increased with each loss: answers to what was asked before it say nothing
  bool is_leading_ = false, has_seen_ = false, is_released_ = false;
  bool is_first_look_ = true;
  std::shared_ptr<char> life_;
};

}  // namespace ashlar::kube
