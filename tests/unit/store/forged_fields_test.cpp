// Snapshots of a forged log, spoilt field by field with checks that hold: each is refused, or read as a state and an
// engine that go on.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "engine/engine_fields.h"
#include "random_world.h"
#include "state/state_fields.h"
#include "store/event_validation.h"
#include "store/fields.h"
#include "store/snapshot.h"

namespace ashlar::store {
namespace {

/// Spoils one field of a value, whichever it comes to.
class Spoiler {
 public:
  explicit Spoiler(std::uint64_t seed) : rng_(seed) {}

  template <class T>
  void spoil(T& value) {
    if constexpr (std::is_same_v<T, bool>)
      value = !value;
    else if constexpr (std::is_enum_v<T>)
      value = static_cast<T>(rng_.below(static_cast<std::uint64_t>(kLastOf<T>) + 1));
    else if constexpr (std::is_same_v<T, Rng> || std::is_same_v<T, double>)
      value = T(static_cast<double>(rng_.below(9)));
    else if constexpr (std::integral<T>)
      value = static_cast<T>(number());
    else if constexpr (IsId<T>::value)
      value =
          rng_.below(6) == 0 ? T::none() : T(static_cast<std::uint32_t>(rng_.below(rng_.below(9) == 0 ? 5000 : 12)));
    else if constexpr (IsQuantity<T>::value)
      spoil(value.value);
    else if constexpr (IsArray<T>::value)
      spoil(value[rng_.below(value.size())]);
    else if constexpr (IsPair<T>::value)
      spoil(value.second);
    else if constexpr (IsList<T>::value)
      spoil_list(value);
    else if constexpr (IsTree<T>::value)
      spoil_tree(value);
    else if constexpr (std::is_aggregate_v<T>) {
      std::uint64_t left = rng_.below(boost::pfr::tuple_size_v<T>);
      boost::pfr::for_each_field(value, [&](auto& field) {
        if (left-- == 0) spoil(field);
      });
    }
  }
  std::uint64_t below(std::uint64_t bound) { return rng_.below(bound); }

 private:
  std::int64_t number() {
    constexpr std::int64_t kExtremes[] = {-1, kNumberMax, -kNumberMax, INT64_MAX, INT64_MIN};
    if (rng_.below(5) == 0) return kExtremes[rng_.below(std::size(kExtremes))];
    return static_cast<std::int64_t>(rng_.below(2) == 0 ? 1000 * rng_.below(9) : rng_.below(12));
  }
  template <class T>
  void spoil_list(T& list) {
    const std::uint64_t how = rng_.below(8);
    if (list.empty() || how == 0) {
      list.emplace_back();
      spoil(list.back());
    } else if (how == 1) {
      list.pop_back();
    } else {
      auto at = list.begin() + static_cast<std::ptrdiff_t>(rng_.below(list.size()));
      spoil(*at);
    }
  }
  template <class T>
  void spoil_tree(T& tree) {
    if (tree.empty()) return;
    auto at = tree.begin();
    std::advance(at, rng_.below(tree.size()));
    if constexpr (requires { typename T::mapped_type; })
      if (rng_.below(4) != 0) return spoil(at->second);
    tree.erase(at);
  }

  Rng rng_;
};

struct SpoiltSnapshots {
  int accepted = 0, refused = 0;
};

/// Spoils one of the columns that `Fields` lists, and returns which.
template <class Fields, class Of>
std::uint64_t spoil_one(Of& of, Spoiler& spoiler) {
  std::uint64_t columns = 0;
  Fields::each(of, [&](auto&) { ++columns; });
  const std::uint64_t column_spoilt = spoiler.below(columns);
  std::uint64_t left = column_spoilt;
  Fields::each(of, [&](auto& column) {
    if (left-- == 0) spoiler.spoil(column);
  });
  return column_spoilt;
}

void decide_from_spoilt(std::string_view profile, std::uint64_t seed, SpoiltSnapshots& tried) {
  SCOPED_TRACE(std::string(profile) + ", seed " + std::to_string(seed));
  Spoiler spoiler(seed);
  Life life(profile, 1 + seed % 13);
  life.open();
  life.run(20 + static_cast<int>(seed % 40));
  std::string spoilt;
  for (std::uint64_t i = spoiler.below(2); i < 2; ++i)
    spoilt += spoiler.below(3) == 0
                  ? " column " + std::to_string(spoil_one<StateFields>(life.state, spoiler)) + " of the state"
                  : " column " + std::to_string(spoil_one<EngineFields>(life.engine, spoiler)) + " of the engine";
  SCOPED_TRACE(spoilt);
  std::string bytes;
  append_snapshot(bytes, life.state, life.engine);
  State state;
  Engine engine(life.engine.profile());
  if (!read_snapshot(bytes, state, engine).ok()) {
    ++tried.refused;
    return;
  }
  ++tried.accepted;
  Plan plan = life.plan;
  for (int step = 0; step < 30; ++step) {
    for (const Event& event : life.world.next(state, plan))
      if (refusal_of(state, event) == nullptr) apply(state, event);
    plan = engine.decide(state, life.world.now());
    ASSERT_TRUE(state.is_consistent()) << "after step " << step;
  }
}

TEST(ForgedFields, are_refused_or_can_be_decided_from) {
  SpoiltSnapshots tried;
  const char* many = std::getenv("ASHLAR_FORGED_FIELDS");
  const std::uint64_t seeds = many == nullptr ? 400 : std::strtoull(many, nullptr, 10);
  for (const std::string_view profile : {std::string_view("ashlar"), kByShare, std::string_view("srtf")})
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) decide_from_spoilt(profile, seed, tried);
  EXPECT_GT(tried.accepted, 100);
  EXPECT_GT(tried.refused, 100);
}

}  // namespace
}  // namespace ashlar::store
