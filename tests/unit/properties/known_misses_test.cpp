// Lives in which a job once slept though it could be placed, found by WakeUps.AreNeverMissed.
#include <gtest/gtest.h>

#include "checks.h"
#include "engine/engine.h"
#include "history.h"
#include "model/plan.h"

namespace ashlar {
namespace {

/// "" where no job sleeps that could be placed, else which one after how many moves.
std::string missed_in(const std::vector<Move>& moves, std::size_t woken_at_once) {
  State state;
  Engine engine(profile_with(Blocking::kSkip));
  engine.limit_woken_at_once(woken_at_once);
  Outside outside({.has_quota = false,
                   .has_holds = true,
                   .has_company = true,
                   .has_health = true,
                   .has_layouts = true,
                   .has_gangs = true,
                   .has_grants = true});
  std::string missed;
  const auto decide = [&](const std::vector<Event>& batch) {
    for (const Event& event : batch) apply(state, event);
    const Plan plan = engine.decide(state, outside.now());
    outside.learn(plan);
    if (missed.empty() && plan.look_again_at > plan.at) missed = missed_wake_up(state, engine);
    return plan.look_again_at;
  };
  Millis again = decide(outside.begin());
  for (std::size_t m = 0; m < moves.size() && missed.empty(); ++m) {
    again = decide(outside.act(moves[m], state));
    for (int k = 0; k < 20 && again <= outside.now(); ++k) again = decide({});
    if (!missed.empty()) missed += " after move " + std::to_string(m);
  }
  return missed;
}

/// A pod shares an idle device of a node that owes one to a hold: others may share that device now.
TEST(KnownMisses, AShareOnANodeThatOwesDevices) {
  EXPECT_EQ(missed_in({{3, 27, 11, 20},
                       {0, 10, 54, 53},
                       {11, 0, 0, 0},
                       {0, 0, 0, 28},
                       {11, 0, 0, 0},
                       {7, 13, 24, 23},
                       {11, 0, 0, 0},
                       {11, 63, 0, 22},
                       {24, 43, 0, 48},
                       {3, 5, 31, 17},
                       {25, 0, 0, 0},
                       {18, 58, 4, 0},
                       {22, 0, 23, 5},
                       {11, 4, 0, 0},
                       {11, 27, 55, 55},
                       {11, 4, 0, 0},
                       {11, 0, 0, 0},
                       {11, 7, 15, 41},
                       {11, 19, 0, 1}},
                      SIZE_MAX),
            "");
}

}  // namespace
}  // namespace ashlar
