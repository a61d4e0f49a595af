// Events of a forged log: whatever the validation lets pass can be applied and decided on, and leaves a state whose counts
// agree, also that of another profile beside it (ashlar replay --policy). The events are drawn field by field, with few rows, so that they meet each other, and with extremes; every
// other one is of a life that could be, so that there is something to spoil.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "alternatives.h"
#include "base/rng.h"
#include "random_world.h"
#include "store/codec.h"
#include "store/event_validation.h"
#include "store/fields.h"
#include "store/profile_comparison.h"

namespace ashlar::store {
namespace {

class Forger {
 public:
  explicit Forger(std::uint64_t seed) : rng_(seed) {}

  /// At that time, or now and then at an impossible one.
  Event event(Millis now) {
    Event event;
    event.at = one_in(20) ? Millis(number()) : now;
    draw_one_of(event.body);
    return event;
  }
  bool one_in(std::uint64_t n) { return rng_.below(n) == 0; }

 private:
  static constexpr std::uint64_t kRows = 6, kFarRows = 70;

  std::int64_t number() {
    constexpr std::int64_t kExtremes[] = {-1, kNumberMax, -kNumberMax, INT64_MAX, INT64_MIN, kNumberMax - 1};
    if (one_in(8)) return kExtremes[rng_.below(std::size(kExtremes))];
    return static_cast<std::int64_t>(one_in(3) ? 1000 * rng_.below(9) : rng_.below(12));
  }
  template <class V>
  void draw_one_of(V& value) {
    draw_alternative(value, rng_.below(std::variant_size_v<V>), [this](auto& alternative) { draw(alternative); });
  }
  template <class T>
  void draw(T& value) {
    if constexpr (std::is_same_v<T, bool>)
      value = one_in(2);
    else if constexpr (std::is_enum_v<T>)
      value = static_cast<T>(rng_.below(static_cast<std::uint64_t>(kLastOf<T>) + 1));
    else if constexpr (std::unsigned_integral<T>)
      value = one_in(12) ? static_cast<T>(-1) : static_cast<T>(one_in(12) ? 1u << 20 : rng_.below(5));
    else if constexpr (std::signed_integral<T>)
      value = static_cast<T>(sizeof(T) == 8 ? number() : std::clamp<std::int64_t>(number(), INT32_MIN, INT32_MAX));
    else if constexpr (IsId<T>::value)
      value = one_in(6) ? T::none() : T(static_cast<std::uint32_t>(rng_.below(one_in(9) ? kFarRows : kRows)));
    else if constexpr (IsQuantity<T>::value)
      draw(value.value);
    else if constexpr (IsArray<T>::value)
      for (auto& element : value) draw(element);
    else if constexpr (IsList<T>::value) {
      value.resize(one_in(3) ? 0 : rng_.below(6));
      for (auto& element : value) draw(element);
    } else if constexpr (IsVariant<T>::value)
      draw_one_of(value);
    else
      boost::pfr::for_each_field(value, [&](auto& field) { draw(field); });
  }

  Rng rng_;
};

struct Tried {
  int passed = 0, refused = 0;
};

void live(std::string_view profile, std::uint64_t seed, Tried& tried) {
  SCOPED_TRACE(std::string(profile) + ", seed " + std::to_string(seed));
  constexpr int kSteps = 200;
  Forger forger(seed);
  RandomWorld world(seed);
  State state;
  Engine engine(profile_named(profile));
  ProfileComparison second(profile_named(profile == "srtf" ? "tiresias" : "spread"), engine.options(), state);
  std::vector<Event> batch = world.opening();
  Plan plan;
  for (int step = 0; step < kSteps; ++step) {
    const bool is_forged = step > 0 && !forger.one_in(3);
    if (is_forged)
      batch = {forger.event(world.now()), forger.event(world.now())};
    else if (step > 0)
      batch = world.next(state, plan);
    for (const Event& event : batch) {
      const bool is_refused = refusal_of(state, event) != nullptr;
      if (is_forged) ++(is_refused ? tried.refused : tried.passed);
      if (is_refused) continue;
      apply(state, event);
      second.apply(event);
      ASSERT_TRUE(state.is_consistent()) << "after step " << step << ", " << kind_name(event.body);
    }
    plan = engine.decide(state, world.now());
    ASSERT_TRUE(state.is_consistent()) << "after the decision of step " << step;
    second.decide(state, plan);
    ASSERT_TRUE(second.state().is_consistent()) << "the other's, after step " << step;
  }
}

TEST(ForgedEvents, that_are_let_pass_can_be_applied_and_decided_on) {
  Tried tried;
  for (const std::string_view profile : {std::string_view("ashlar"), kByShare, std::string_view("srtf")})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) live(profile, seed, tried);
  EXPECT_GT(tried.passed, 3000);
  EXPECT_GT(tried.refused, 3000);
}

}  // namespace
}  // namespace ashlar::store
