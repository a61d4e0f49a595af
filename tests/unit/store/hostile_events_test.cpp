// Events of a forged log: whatever event_validation lets pass can be applied and decided on, and leaves a state whose
// counts agree. The events are drawn field by field, with few rows, so that they meet each other, and with extremes.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "engine/engine.h"
#include "policy/profile.h"
#include "state/state.h"
#include "random_world.h"
#include "store/codec.h"
#include "store/event_validation.h"
#include "store/fields.h"

namespace ashlar::store {
namespace {

class Forger {
 public:
  explicit Forger(std::uint64_t seed) : rng_(seed) {}

  Event event() {
    Event event;
    event.at = Millis(one_in(20) ? number() : now_ += static_cast<std::int64_t>(rng_.below(50)));
    draw_alternative(event.body, rng_.below(std::variant_size_v<EventBody>));
    return event;
  }
  bool one_in(std::uint64_t n) { return rng_.below(n) == 0; }
  std::int64_t now() const { return now_; }

 private:
  static constexpr std::uint64_t kRows = 6;

  std::int64_t number() {
    constexpr std::int64_t kExtremes[] = {-1, kNumberMax, -kNumberMax, INT64_MAX, INT64_MIN, kNumberMax - 1};
    if (one_in(8)) return kExtremes[rng_.below(std::size(kExtremes))];
    if (one_in(3)) return static_cast<std::int64_t>(1000 * rng_.below(9));
    return static_cast<std::int64_t>(rng_.below(12));
  }
  template <class V, std::size_t I = 0>
  void draw_alternative(V& value, std::size_t index) {
    if constexpr (I < std::variant_size_v<V>) {
      if (index != I) return draw_alternative<V, I + 1>(value, index);
      std::variant_alternative_t<I, V> alternative{};
      draw(alternative);
      value = std::move(alternative);
    }
  }
  template <class T>
  void draw(T& value) {
    if constexpr (std::is_same_v<T, bool>)
      value = one_in(2);
    else if constexpr (std::is_enum_v<T>)
      value = static_cast<T>(rng_.below(static_cast<std::uint64_t>(kLastOf<T>) + 1));
    else if constexpr (std::unsigned_integral<T>)
      value = one_in(12) ? static_cast<T>(-1) : one_in(12) ? static_cast<T>(1u << 20) : static_cast<T>(rng_.below(5));
    else if constexpr (std::signed_integral<T>)
      value = static_cast<T>(sizeof(T) == 8 ? number() : std::clamp(number(), -kSmallNumberMax, kSmallNumberMax));
    else if constexpr (IsId<T>::value)
      value = one_in(6) ? T::none() : T(static_cast<std::uint32_t>(rng_.below(one_in(9) ? 70 : kRows)));
    else if constexpr (IsQuantity<T>::value)
      draw(value.value);
    else if constexpr (IsArray<T>::value) {
      for (auto& element : value) draw(element);
    } else if constexpr (IsList<T>::value) {
      value.resize(one_in(3) ? 0 : rng_.below(6));
      for (auto& element : value) draw(element);
    } else if constexpr (IsVariant<T>::value)
      draw_alternative(value, rng_.below(std::variant_size_v<T>));
    else
      boost::pfr::for_each_field(value, [&](auto& field) { draw(field); });
  }

  Rng rng_;
  std::int64_t now_ = 0;
};

std::map<std::string,std::pair<long,long>> stats;
long held=0, grouped=0, bound=0;
void live(std::uint64_t seed, std::string_view profile, int events) {
  SCOPED_TRACE(std::string(profile) + ", seed " + std::to_string(seed));
  Forger forger(seed);
  RandomWorld world(seed);
  State state;
  Engine engine(profile_named(profile));
  Rng draws(seed);
  Plan plan;
  const bool is_sane = seed % 3 != 0;
  std::vector<Event> batch;
  if (is_sane) batch = world.opening();
  std::int64_t base = is_sane ? world.now().value : 0;
  for (int i = 0; i < events; ++i) {
    if (is_sane && draws.below(2) == 0)
      batch = world.next(state, plan);
    else if (i > 0 || !is_sane) {
      batch = {forger.event()};
      if (is_sane) base = world.now().value;
      if (batch[0].at.value < 1000000) batch[0].at = Millis(batch[0].at.value + base);
    }
    for (const Event& event : batch) {
      auto& st = stats[std::string(kind_name(event.body))];
      ++st.second;
      if (refusal_of(state, event) != nullptr) continue;
      ++st.first;
      apply(state, event);
      ASSERT_TRUE(state.is_consistent()) << "after event " << i << ", " << kind_name(event.body);
    }
    if (draws.below(3) != 0) continue;
    std::int64_t now = base + forger.now();
    if (draws.below(6) == 0) now -= 3000;
    plan = engine.decide(state, Millis(std::max<std::int64_t>(now, 0)));
    for (auto& h : state.holds()) held += h.yields() && !h.parts.empty();
    grouped += state.gangs().count();
    bound += plan.actions.size();
    ASSERT_TRUE(state.is_consistent()) << "after the decision behind event " << i;
  }
}

TEST(HostileEvents, what_is_let_pass_can_be_applied_and_decided_on) {
  for (const std::string_view profile : builtin_profile_names())
    for (std::uint64_t seed = 1; seed <= 20; ++seed) live(seed, profile, 1500);
  for (auto& [k, v] : stats) std::printf("%s %ld/%ld\n", k.c_str(), v.first, v.second);
  std::printf("held %ld grouped %ld bound %ld\n", held, grouped, bound);
}

}  // namespace
}  // namespace ashlar::store
