#include "live/lead/leader.h"

#include <chrono>

#include "kubeclient/bind_outcome.h"

namespace ashlar::kube {

Millis steady_now() {
  return Millis(
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}
namespace {

// A failed renewal is repeated after this part of the period: often enough within the deadline, and at most two a
// second with the default period.
constexpr std::int64_t kRetryFraction = 2;
constexpr Millis kSlackMin{500};
// A lease that cannot be read or taken is tried each retry period. The trouble is logged again after the first interval
// if unchanged, and after the second if the message differs: messages may contain a time.
constexpr Millis kTroubleSaidAgain{300'000}, kOtherTroubleSaid{10'000};

}  // namespace

Millis fence_slack(const LeaderOptions& options) {
  if (!options.is_enabled) return Millis(20'000);
  return std::max(kSlackMin, options.lease_duration - options.renew_deadline - kSlackMin);
}

Leader::Leader(Api& api, LeaderOptions options, Hooks hooks)
    : api_(api), options_(std::move(options)), hooks_(std::move(hooks)), life_(std::make_shared<char>()) {
  if (!hooks_.monotonic) hooks_.monotonic = steady_now;
}

void Leader::start() {
  if (options_.is_enabled) return look();
  is_leading_ = has_seen_ = true;
  if (hooks_.on_started) hooks_.on_started();
}

bool Leader::may_write() const {
  if (!is_leading_) return false;
  return !options_.is_enabled || hooks_.monotonic() < renewed_ + options_.renew_deadline;
}

bool Leader::may_take_now() const { return is_first_look_ || !hooks_.may_take || hooks_.may_take(); }

void Leader::again(Millis delay) {
  api_.cancel_timer(timer_);
  timer_ = api_.after(delay, [this, life = std::weak_ptr<char>(life_)] {
    if (life.expired()) return;
    if (is_released_) return;
    if (is_leading_)
      renew();
    else
      look();
  });
}

void Leader::look() {
  get_lease(api_, options_.lease_namespace, options_.lease_name,
            [this, life = std::weak_ptr<char>(life_), era = era_](const Answer& answer, const Lease& lease) {
              if (!life.expired() && era == era_) take_seen(answer, lease);
            });
}

/// As long as no replica has led, nothing else reports why.
void Leader::note_trouble(const std::string& doing, const Error& error) {
  trouble_.words = doing + ": " + bounded_words(error.message);
  const Millis now = hooks_.monotonic();
  const Millis pause = trouble_.words == trouble_.said ? kTroubleSaidAgain : kOtherTroubleSaid;
  if (!trouble_.said.empty() && now < trouble_.said_at + pause) return;
  trouble_.said = trouble_.words;
  trouble_.said_at = now;
  if (hooks_.log) hooks_.log(trouble_.words);
}

void Leader::take_seen(const Answer& answer, const Lease& lease) {
  if (is_released_) return;
  const Millis now = hooks_.monotonic();
  if (!answer.ok()) {
    if (answer.result.error().kind == Error::Kind::kNotFound) {
      has_seen_ = true;
      seen_ = {};
      const bool may_take = may_take_now();
      is_first_look_ = false;
      return may_take ? acquire({}, true) : again(options_.retry_period);
    }
    note_trouble("could not read the lease", answer.result.error());
    return again(options_.retry_period);
  }
  if (!has_seen_ || lease.resource_version != seen_version_) seen_since_ = now;
  has_seen_ = true;
  seen_ = lease;
  seen_version_ = lease.resource_version;
  const bool is_free = lease.holder.empty() || lease.holder == options_.identity;
  // The holder's own duration counts, so that replicas with different settings do not overlap.
  const Millis duration(std::max<std::int64_t>(lease.duration_seconds, 1) * 1000);
  const bool may_take = may_take_now();
  is_first_look_ = false;
  if (may_take && (is_free || now >= seen_since_ + duration)) return acquire(lease, false);
  trouble_.words.clear();
  again(options_.retry_period);
}

void Leader::acquire(const Lease& previous, bool is_new) {
  Lease lease = previous;
  lease.ns = PooledString(options_.lease_namespace);
  lease.name = PooledString(options_.lease_name);
  lease.holder = options_.identity;
  lease.duration_seconds = static_cast<std::int32_t>((options_.lease_duration.value + 999) / 1000);
  lease.acquired = lease.renewed = api_.now();
  if (!is_new && previous.holder != options_.identity) ++lease.transitions;
  const Millis sent = hooks_.monotonic();
  const auto on_answer = [this, life = std::weak_ptr<char>(life_), era = era_, sent](const Answer& answer,
                                                                                     const Lease& written) {
    if (!life.expired() && era == era_) take_written(answer, written, sent);
  };
  if (is_new)
    create_lease(api_, lease, on_answer);
  else
    update_lease(api_, lease, on_answer);
}

void Leader::renew() {
  if (hooks_.monotonic() >= renewed_ + options_.renew_deadline)
    return lose("could not renew the lease within its deadline");
  Lease lease = seen_;
  lease.renewed = api_.now();
  const Millis sent = hooks_.monotonic();
  update_lease(api_, lease,
               [this, life = std::weak_ptr<char>(life_), era = era_, sent](const Answer& answer, const Lease& written) {
                 if (!life.expired() && era == era_) take_written(answer, written, sent);
               });
}

void Leader::take_written(const Answer& answer, const Lease& lease, Millis sent) {
  if (is_released_) return;
  api_.budget().note_other(health_of(answer));
  const bool is_other = answer.ok() && lease.holder != options_.identity;  // not what was written
  if (answer.ok() && !is_other) {
    seen_ = lease;
    seen_version_ = lease.resource_version;
    seen_since_ = hooks_.monotonic();
    renewed_ = sent;
    trouble_.words.clear();
    const bool is_new = !is_leading_;
    is_leading_ = has_seen_ = true;
    again(options_.retry_period);
    watch_deadline();
    if (is_new && hooks_.on_started) hooks_.on_started();
    return;
  }
  if (is_other) {
    if (is_leading_) return look_as_leader();
    note_trouble("could not acquire the lease",
                 {Error::Kind::kInternal, "the API server answers that " + bounded_words(lease.holder) + " holds it"});
    return again(options_.retry_period);
  }
  const Error::Kind kind = answer.result.error().kind;
  if (!is_leading_) {
    const bool is_race = kind == Error::Kind::kConflict;  // another replica was faster
    if (!is_race) note_trouble("could not acquire the lease", answer.result.error());
    return again(is_race ? Millis(50) : options_.retry_period);
  }
  if (hooks_.log) hooks_.log("could not renew the lease: " + bounded_words(answer.result.error().message));
  if (kind == Error::Kind::kNotFound) return lose("the lease was deleted");
  if (kind == Error::Kind::kConflict) return look_as_leader();
  if (hooks_.monotonic() >= renewed_ + options_.renew_deadline)
    return lose("could not renew the lease within its deadline");
  again(Millis(options_.retry_period.value / kRetryFraction));
}

/// A renewal that timed out may have been written all the same: then the lease is still ours, at another version.
void Leader::look_as_leader() {
  get_lease(api_, options_.lease_namespace, options_.lease_name,
            [this, life = std::weak_ptr<char>(life_), era = era_](const Answer& answer, const Lease& lease) {
              if (life.expired() || era != era_ || is_released_ || !is_leading_) return;
              if (!answer.ok()) return again(Millis(options_.retry_period.value / kRetryFraction));
              if (lease.holder != options_.identity) return lose("another replica holds the lease");
              seen_ = lease;
              seen_version_ = lease.resource_version;
              renew();
            });
}

/// A renewal may be unanswered for longer than the deadline: what was sent under the lease must still be cancelled in
/// time.
void Leader::watch_deadline() {
  api_.cancel_timer(deadline_timer_);
  const Millis left = renewed_ + options_.renew_deadline - hooks_.monotonic();
  deadline_timer_ = api_.after(std::max(left, Millis(0)), [this, life = std::weak_ptr<char>(life_)] {
    if (life.expired()) return;
    if (!is_leading_ || is_released_) return;
    if (may_write()) return watch_deadline();
    lose("could not renew the lease within its deadline");
  });
}

void Leader::give_way(const std::string& why) {
  if (is_leading_ && options_.is_enabled) lose(why);
}

void Leader::lose(const std::string& why) {
  ++era_;
  is_leading_ = false;
  has_seen_ = false;  // the remembered lease is our own write: start watching it again
  if (hooks_.log) hooks_.log("no longer the leader: " + why);
  again(options_.retry_period);
  if (hooks_.on_stopped) hooks_.on_stopped();
}

void Leader::release(std::function<void()> on_done) {
  is_released_ = true;
  api_.cancel_timer(timer_);
  if (!is_leading_ || !options_.is_enabled) return on_done();
  is_leading_ = false;
  Lease lease = seen_;
  lease.holder.clear();
  lease.duration_seconds = 1;
  lease.renewed = api_.now();
  update_lease(api_, lease, [on_done = std::move(on_done)](const Answer&, const Lease&) { on_done(); });
}

}  // namespace ashlar::kube
