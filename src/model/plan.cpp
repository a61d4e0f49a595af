// Names of wake-ups and verdicts, and the fingerprint of a plan. The names are part of what users see in status,
// metrics, logs and cases: they never change. Cost of a fingerprint: a few multiplications for each action and reason.
#include "model/plan.h"

#include "base/digest.h"

namespace ashlar {
namespace {

class Hash {
 public:
  Hash& add(std::uint64_t value) {
    sum_ = hash_combine(sum_, value);
    return *this;
  }
  Hash& add(std::int64_t value) { return add(static_cast<std::uint64_t>(value)); }
  Hash& add(std::uint32_t value) { return add(static_cast<std::uint64_t>(value)); }
  template <class Tag>
  Hash& add(Id<Tag> id) {
    return add(id.value);
  }
  Hash& add(Millis time) { return add(time.value); }
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

void add_action(Hash& hash, const Bind& a) {
  hash.add(a.member).add(a.job).add(a.node).add(a.devices.low).add(a.devices.high);
}
void add_action(Hash& hash, const Evict& a) {
  hash.add(a.job).add(a.grace);
  if (!a.member.is_none() || !a.for_job.is_none()) hash.add(a.member).add(a.for_job);
}

void add_verdict(Hash& hash, const VerdictChange& change) {
  const Verdict& v = change.verdict;
  hash.add(change.job).add(static_cast<std::uint64_t>(v.kind)).add(static_cast<std::uint64_t>(v.wake_on)).add(v.at);
  hash.add(static_cast<std::uint64_t>(v.reasons.size()));
  for (const Reason& r : v.reasons) {
    hash.add(static_cast<std::uint64_t>(r.code)).add(r.subject);
    for (const std::int64_t number : r.numbers) hash.add(number);
  }
}

}  // namespace

std::string_view wake_name(const Verdict& verdict) {
  const bool never_fits = verdict.kind == VerdictKind::kNeverFits;
  switch (verdict.wake_on) {
    case WakeOn::kNothing:
      return "Nothing";
    case WakeOn::kCapacity:
      return never_fits ? "NodeAdded" : "JobEnded";
    case WakeOn::kQuota:
      if (!verdict.reasons.empty() && is_of_gate(verdict.reasons.front().code)) return "QueueReleased";
      return never_fits ? "QuotaRaised" : "QuotaFreed";
    case WakeOn::kMembers:
      return "MembersAdded";
    case WakeOn::kHeadOfQueue:
      return "HeadStarted";
    case WakeOn::kTime:
      return "TimePassed";
    case WakeOn::kConfiguration:
      return "ConfigurationChanged";
  }
  return "Unknown";
}

std::string_view stop_reason_name(StopReason reason) {
  static constexpr std::string_view kNames[] = {"",       "LowerPriority", "Newer", "Reclaimed", "WhileBorrowing",
                                                "Longer", "QueueStopped",  "Moved", "FairShare"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::string_view stop_reason_words(StopReason reason) {
  static constexpr std::string_view kWords[] = {"",
                                                "its priority is lower",
                                                "it is the newer one",
                                                "its queue had borrowed what is guaranteed to the other's",
                                                "both queues borrow, and its priority is lower",
                                                "it needs much longer yet",
                                                "its queue, or one above it, is stopped",
                                                "it has room elsewhere",
                                                "its queue borrows more for its weight"};
  return kWords[static_cast<std::size_t>(reason)];
}

std::string_view verdict_name(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kPending:
      return "Pending";
    case VerdictKind::kPlaced:
      return "Placed";
    case VerdictKind::kWaits:
      return "Waits";
    case VerdictKind::kNeverFits:
      return "NeverFits";
    case VerdictKind::kOverQuota:
      return "OverQuota";
  }
  return "Unknown";
}

std::uint64_t digest_of(const Plan& plan) {
  Hash hash;
  hash.add(plan.based_on)
      .add(plan.at)
      .add(plan.look_again_at)
      .add(plan.examined)
      .add(static_cast<std::uint64_t>(plan.actions.size()));
  for (const Action& action : plan.actions) {
    hash.add(static_cast<std::uint64_t>(action.index()));
    std::visit([&](const auto& a) { add_action(hash, a); }, action);
  }
  hash.add(static_cast<std::uint64_t>(plan.verdicts.size()));
  for (const VerdictChange& change : plan.verdicts) add_verdict(hash, change);
  return hash.sum();
}

}  // namespace ashlar
