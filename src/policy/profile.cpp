// The built-in profiles, as a table of names. A profile that reproduces a paper does so by its rows only.
#include "policy/profile.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/check.h"
#include "text/nearest_name.h"

namespace ashlar {
namespace {

using Tiers = std::initializer_list<std::initializer_list<std::string_view>>;

constexpr Millis kEverySecond{1000}, kEveryMinute{60000};
/// their simulator counts down second by second: a job's end is seen one second after its last
constexpr Millis kCountedDown{1000};

Profile composed(std::string_view name, Tiers tiers, std::string_view device, std::string_view order) {
  Profile p;
  p.name = name;
  add_mandatory_rules(p.feasible);
  for (const auto& tier : tiers) {
    p.tiers.emplace_back();
    for (const std::string_view s : tier) p.tiers.back().push_back(find_score(s));
  }
  p.device = find_device(device);
  p.order = find_order(order);
  return p;
}

Profile ashlar_profile(std::string_view name) {
  Profile p = composed(name, {{"prefer"}, {"best-fit-domain"}, {"pack-tight"}}, "island", "priority-age");
  p.blocking = Blocking::kEasy;
  return p;
}

Profile spread_profile(std::string_view name) {
  Profile p = composed(name, {{"prefer"}, {"spread"}}, "island", "priority-age");
  p.blocking = Blocking::kEasy;
  p.is_default_domain_search = false;
  return p;
}

/// The experiments of FGD (USENIX ATC'23): one score, arrivals in order, no job waits for another.
Profile packing_profile(std::string_view name, std::string_view device) {
  Profile p = composed(name, {}, device, "fifo");
  p.tiers = {{find_score(name)}};
  p.is_default_domain_search = false;
  return p;
}

/// KAI-Scheduler: its turns, on the fullest nodes.
Profile kai_profile(std::string_view name) {
  Profile p = composed(name, {{"prefer"}, {"pack-tight"}}, "island", "priority-age");
  p.queue_order = find_queue_order("kai");
  p.victim = VictimRule::kKai;
  p.is_default_domain_search = false;
  return p;
}

/// Helios' simulator (SC'21): nodes by consolidation, one queue in the given order.
Profile queue_profile(std::string_view name, std::string_view order, Blocking blocking) {
  Profile p = composed(name, {}, "best-fit", order);
  p.blocking = blocking;
  p.placement = PlacementRule::kConsolidate;
  p.is_default_domain_search = false;
  return p;
}

Profile preemptive_profile(std::string_view name, std::string_view order, Millis cadence) {
  Profile p = queue_profile(name, order, Blocking::kSkip);
  p.victim = VictimRule::kByQuotaUnverified;
  p.cadence = cadence;
  p.replay.end_lag = kCountedDown;
  return p;
}

Profile estimating_profile(std::string_view name) {
  Profile p = queue_profile(name, "qssf", Blocking::kStrict);
  p.replay.ranks_by_estimate = true;
  return p;
}

/// Kueue 0.20: the order in which it admits, on the fullest nodes.
Profile kueue_profile(std::string_view name) {
  Profile p = kai_profile(name);
  p.queue_order = find_queue_order(name);
  p.victim = VictimRule::kKueue;
  return p;
}

/// By which rule jobs are stopped where others start in these turns.
VictimRule victim_of(Turns turns) {
  switch (turns) {
    case Turns::kKai:
      return VictimRule::kKai;
    case Turns::kKueue:
    case Turns::kKueueFair:
      return VictimRule::kKueue;
    case Turns::kOwn:
      return VictimRule::kNone;
  }
  return VictimRule::kNone;
}

struct Row {
  std::string_view name;
  Profile (*make)(std::string_view name);
};

constexpr Row kProfiles[] = {
    {"ashlar", ashlar_profile},
    {"spread", spread_profile},
    {"fgd", [](std::string_view n) { return packing_profile(n, "fgd"); }},
    {"best-fit", [](std::string_view n) { return packing_profile(n, "best-fit"); }},
    {"dotprod", [](std::string_view n) { return packing_profile(n, "best-fit"); }},
    {"gpu-packing", [](std::string_view n) { return packing_profile(n, "best-fit"); }},
    {"gpu-clustering", [](std::string_view n) { return packing_profile(n, "best-fit"); }},
    {"random", [](std::string_view n) { return packing_profile(n, "random"); }},
    {"fifo", [](std::string_view n) { return queue_profile(n, "fifo", Blocking::kStrict); }},
    {"fifo-skip", [](std::string_view n) { return queue_profile(n, "fifo", Blocking::kSkip); }},
    {"easy", [](std::string_view n) { return queue_profile(n, "fifo", Blocking::kEasyByCount); }},
    {"sjf", [](std::string_view n) { return queue_profile(n, "sjf", Blocking::kStrict); }},
    {"sjf-skip", [](std::string_view n) { return queue_profile(n, "sjf", Blocking::kSkip); }},
    {"qssf", estimating_profile},
    {"qssf-oracle", [](std::string_view n) { return queue_profile(n, "qssf-oracle", Blocking::kStrict); }},
    {"tiresias", [](std::string_view n) { return preemptive_profile(n, "tiresias", kEveryMinute); }},
    {"srtf", [](std::string_view n) { return preemptive_profile(n, "srtf", kEverySecond); }},
    {"kai", kai_profile},
    {"kueue-classic", kueue_profile},
    {"kueue-fair", kueue_profile},
};

constexpr auto kNames = [] {
  std::array<std::string_view, std::size(kProfiles)> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kProfiles[i].name;
  return names;
}();

}  // namespace

bool Profile::needs_mix() const {
  const auto is_fgd = [](const ScorePolicy* s) { return s->name == "fgd"; };
  const bool scores = std::any_of(tiers.begin(), tiers.end(),
                                  [&](const auto& tier) { return std::any_of(tier.begin(), tier.end(), is_fgd); });
  return scores || (device != nullptr && device->name == "fgd");
}

void Profile::lower_by_what_is_free(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) const {
  for (const FeasiblePolicy* policy : feasible)
    if (!policy->is_by_facts()) policy->lower(view, rows, fits);
}

void add_mandatory_rules(std::vector<const FeasiblePolicy*>& feasible) {
  std::vector<const FeasiblePolicy*> all;
  const auto add = [&](const FeasiblePolicy& policy, bool is_by_facts) {
    if (policy.is_by_facts() == is_by_facts && std::find(all.begin(), all.end(), &policy) == all.end())
      all.push_back(&policy);
  };
  for (const bool is_by_facts : {true, false}) {
    for (const FeasiblePolicy* policy : feasible) add(*policy, is_by_facts);
    for (const FeasiblePolicy& policy : feasible_policies()) add(policy, is_by_facts);
  }
  feasible = std::move(all);
}

bool is_exclusive(const ScorePolicy& policy) { return policy.add_domain != nullptr || policy.is_drawn; }

std::string must_be_alone(const ScorePolicy& policy) { return std::string(policy.name) + " must be alone in its tier"; }

std::optional<ProfileProblem> validate(const Profile& profile) {
  const auto missing = [](std::string_view key) {
    return ProfileProblem{key, std::string(key) + " is missing; name one or start from a built-in profile by \"base\""};
  };
  if (profile.order == nullptr) return missing("order");
  if (profile.device == nullptr) return missing("card");
  for (const FeasiblePolicy& policy : feasible_policies())
    if (std::find(profile.feasible.begin(), profile.feasible.end(), &policy) == profile.feasible.end())
      return ProfileProblem{"feasible", "the rule " + std::string(policy.name) + " is missing; every profile needs it"};
  if (profile.tiers.size() > Profile::kTiersMax)
    return ProfileProblem{"tiers", "at most " + std::to_string(Profile::kTiersMax) + " tiers are compared, not " +
                                       std::to_string(profile.tiers.size())};
  for (const auto& tier : profile.tiers)
    for (const ScorePolicy* policy : tier)
      if (tier.size() > 1 && is_exclusive(*policy)) return ProfileProblem{"tiers", must_be_alone(*policy)};
  if (profile.grace < Millis(0) || profile.grace > Profile::kGraceMax)
    return ProfileProblem{"grace", "grace must be at most 1h"};
  const bool is_by_quota = profile.victim == VictimRule::kByQuotaUnverified;
  if (is_by_quota && profile.order->running == nullptr)
    return ProfileProblem{"victim", "victim: by-quota-unverified needs an order of running jobs, which " +
                                        std::string(profile.order->name) +
                                        " does not have; choose srtf or tiresias, for a simulation; the live scheduler "
                                        "has victim: none, priority, lost-work, kai or kueue"};
  if (profile.queue_order == nullptr) return missing("queueOrder");
  if (const VictimRule own = victim_of(profile.queue_order->turns); own != VictimRule::kNone) {
    if (profile.victim != VictimRule::kNone && profile.victim != own)
      return ProfileProblem{"victim", "the queue order " + std::string(profile.queue_order->name) +
                                          " allows victim: none or " + (own == VictimRule::kKai ? "kai" : "kueue")};
  } else if (profile.victim == VictimRule::kKai) {
    return ProfileProblem{"victim", "victim: kai needs the queue order kai"};
  } else if (profile.victim == VictimRule::kKueue) {
    return ProfileProblem{"victim", "victim: kueue needs the queue order kueue-classic or kueue-fair"};
  }
  if (profile.stops_for_a_place() && !profile.order->is_by_priority)
    return ProfileProblem{"victim",
                          std::string(profile.stops_by_lost_work() ? "victim: lost-work" : "victim: priority") +
                              " needs an order by priority, which " + std::string(profile.order->name) +
                              " is not; choose priority-age or priority-remaining"};
  if (is_by_quota && profile.queue_order->key != nullptr)
    return ProfileProblem{"queueOrder",
                          "victim: by-quota-unverified puts the jobs of all queues in one order; it allows only the "
                          "queue order by-job, not " +
                              std::string(profile.queue_order->name)};
  return std::nullopt;
}

std::span<const std::string_view> builtin_profile_names() { return kNames; }

Result<Profile> builtin_profile(std::string_view name) {
  const auto row =
      std::find_if(std::begin(kProfiles), std::end(kProfiles), [&](const Row& r) { return r.name == name; });
  if (row == std::end(kProfiles))
    return invalid("unknown profile \"" + std::string(name) + "\"" + did_you_mean(name, kNames));
  Profile p = row->make(name);
  for (const auto& tier : p.tiers)
    for (const auto* s : tier) ASHLAR_CHECK(s != nullptr);
  ASHLAR_CHECK(!validate(p));
  return p;
}

}  // namespace ashlar
