// A profile as bytes: policies by their names, rules by their codes, the FGD mix by its classes. Read back, the names
// are looked up again.
#include <optional>
#include <utility>

#include "policy/score/fgd/mix_limit.h"
#include "store/codec.h"
#include "store/fields.h"

namespace ashlar::store {

template <>
inline constexpr Blocking kLastOf<Blocking> = Blocking::kEasyByCount;
template <>
inline constexpr PlacementRule kLastOf<PlacementRule> = PlacementRule::kConsolidate;
template <>
inline constexpr VictimRule kLastOf<VictimRule> = VictimRule::kKueue;

namespace {

constexpr Millis kCadenceMax{std::int64_t{366} * 24 * 3600 * 1000};

/// The written part of a profile.
struct Written {
  std::string name;
  std::vector<std::string> feasible;
  std::vector<std::vector<std::string>> tiers;
  std::string device, order, queue_order;
  Blocking blocking = Blocking::kSkip;
  PlacementRule placement = PlacementRule::kScored;
  VictimRule victim = VictimRule::kNone;
  Millis grace;
  Millis half_life;
  Millis ageing;
  Millis cadence;
  std::vector<FgdClass> mix;
  std::uint64_t seed = 0;
  bool is_default_domain_search = true;
};

template <class Policy>
Result<const Policy*> known(const Policy* policy, const char* kind, const std::string& name) {
  if (policy != nullptr) return policy;
  return invalid("the profile uses the " + std::string(kind) + " policy \"" + name +
                 "\", which this build does not have");
}

}  // namespace

// `replay` is left out: it concerns the world of a replayed trace, not decisions.
static_assert(boost::pfr::tuple_size_v<Profile> == 17,
              "a field was added to Profile: write it here too, and raise kFormatVersion");

std::string bytes_of(const Profile& profile) {
  Written w{profile.name,
            {},
            {},
            std::string(profile.device->name),
            std::string(profile.order->name),
            std::string(profile.queue_order->name),
            profile.blocking,
            profile.placement,
            profile.victim,
            profile.grace,
            profile.half_life,
            profile.ageing,
            profile.cadence,
            profile.mix.classes,
            profile.seed,
            profile.is_default_domain_search};
  for (const FeasiblePolicy* policy : profile.feasible) w.feasible.emplace_back(policy->name);
  for (const auto& tier : profile.tiers) {
    w.tiers.emplace_back();
    for (const ScorePolicy* policy : tier) w.tiers.back().emplace_back(policy->name);
  }
  std::string out;
  ByteWriter writer(out);
  encode(writer, w);
  return out;
}

Result<Profile> profile_of(std::string_view bytes) {
  ByteReader in(bytes);
  Written w;
  decode(in, w);
  if (in.has_failed()) return fault_of(in);
  Profile profile;
  for (const std::string& name : w.feasible) {
    const auto policy = known(find_feasible(name), "feasible", name);
    if (!policy) return policy.error();
    profile.feasible.push_back(*policy);
  }
  if (w.tiers.size() > Profile::kTiersMax)
    return invalid("the profile has more than " + std::to_string(Profile::kTiersMax) + " tiers");
  for (const auto& tier : w.tiers) {
    profile.tiers.emplace_back();
    for (const std::string& name : tier) {
      const auto policy = known(find_score(name), "score", name);
      if (!policy) return policy.error();
      profile.tiers.back().push_back(*policy);
    }
  }
  const auto device = known(find_device(w.device), "card", w.device);
  if (!device) return device.error();
  const auto order = known(find_order(w.order), "order", w.order);
  if (!order) return order.error();
  const auto queue_order = known(find_queue_order(w.queue_order), "queue order", w.queue_order);
  if (!queue_order) return queue_order.error();
  if (w.grace < Millis(0) || w.grace > Profile::kGraceMax) return invalid("the profile's grace is impossible");
  if (w.half_life < Millis(0) || w.half_life > Profile::kHalfLifeMax)
    return invalid("the profile's half-life is impossible");
  if (w.ageing < Millis(0) || w.ageing > Profile::kAgeingMax) return invalid("the profile's ageing is impossible");
  if (w.cadence < Millis(0) || w.cadence > kCadenceMax) return invalid("the profile's cadence is impossible");
  if (w.mix.size() > kMixClassesMax)
    return invalid("the profile's mix has more than " + std::to_string(kMixClassesMax) + " classes");
  for (const FgdClass& c : w.mix) {
    const bool is_possible = c.cpu_milli >= 0 && c.cpu_milli <= kNumberMax && c.devices >= 0 &&
                             c.devices <= kDevicesPerNodeMax && c.milli_each >= 0 && c.milli_each <= kWholeDevice &&
                             c.frequency >= 0 && c.frequency <= 1;
    if (!is_possible) return invalid("the profile's mix has an impossible class");
  }
  profile.name = w.name;
  profile.device = *device;
  profile.order = *order;
  profile.queue_order = *queue_order;
  profile.blocking = w.blocking;
  profile.placement = w.placement;
  profile.victim = w.victim;
  profile.grace = w.grace;
  profile.half_life = w.half_life;
  profile.ageing = w.ageing;
  profile.cadence = w.cadence;
  profile.mix.classes = std::move(w.mix);
  profile.seed = w.seed;
  profile.is_default_domain_search = w.is_default_domain_search;
  Profile with_all_rules = profile;  // one that was added since is no fault of the log's
  add_mandatory_rules(with_all_rules.feasible);
  if (const std::optional<ProfileProblem> problem = validate(with_all_rules))
    return invalid("the profile cannot decide: " + problem->text);
  return profile;
}

}  // namespace ashlar::store
