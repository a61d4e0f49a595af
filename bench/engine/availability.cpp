// The availability profiles that reservations ask: what a start or an end costs that they follow, and what a question
// costs, beside 40,000 running jobs of one device each.
#include "engine/reserve/availability.h"

#include <string>
#include <vector>

#include "parts.h"
#include "world.h"

namespace ashlar::bench {
namespace {

constexpr std::uint32_t kNodes = 5000, kRounds = 300, kPerRound = 32;

/// Each device has a job that ends within a day.
struct Full {
  World w;
  Rng rng{11};
  DemandId one;

  Full() {
    w.add_nodes(kNodes);
    one = w.demand(1, 4000);
    for (std::uint32_t n = 0; n < kNodes; ++n)
      for (int d = 0; d < kDevices; ++d) start_on(NodeId(n));
    w.decide();
  }
  Millis duration() { return Millis(1 + static_cast<std::int64_t>(rng.below(86'400'000))); }
  void start_on(NodeId n) {
    w.tell(Bound{w.state.job(w.submit({.demand = one, .duration = duration()})).first, n, {}});
  }
  /// The next job ends, and another takes its device.
  void turn() {
    const Timeline::End next = w.state.timeline().ends().front();
    const NodeId n = w.state.member(w.state.job(next.job).first).node;
    apply(w.state, Event{next.at, Ended{next.job}});
    start_on(n);
  }
};

SlotRequest slots(std::int32_t devices, std::int64_t count, LevelId within) {
  return {.kind = {.devices = devices, .classes = {}}, .count = count, .within = within};
}

/// Seconds to follow one start or one end and answer, less what an answer costs.
double follow_seconds(Full& full, const SlotRequest& request) {
  Availability availability;
  const auto ask = [&] {
    availability.bring_up(full.w.state, full.w.state.now());
    availability.earliest_fit(full.w.state, request);
  };
  ask();
  double follows = 0, asks = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    for (std::uint32_t i = 0; i < kPerRound; ++i) full.turn();
    full.w.decide();
    follows += seconds(ask);
    asks += seconds(ask);
  }
  return (follows - asks) / (2.0 * kRounds * kPerRound);
}

double ask_seconds(Full& full, const SlotRequest& request) {
  constexpr int kAsks = 1000;
  Availability availability;
  availability.bring_up(full.w.state, full.w.state.now());
  availability.earliest_fit(full.w.state, request);
  return seconds([&] {
           for (int i = 0; i < kAsks; ++i) {
             availability.bring_up(full.w.state, full.w.state.now());
             availability.earliest_fit(full.w.state, request);
           }
         }) /
         kAsks;
}

}  // namespace

void measure_availability(Report& report) {
  Full full;
  struct Case {
    const char* what;
    SlotRequest request;
  };
  const Case cases[] = {{"512 x 1 within a block", slots(1, 512, kBlock)},
                        {"64 x 8 within a block", slots(8, 64, kBlock)},
                        {"16 x 8 within a rack", slots(8, 16, kRack)},
                        {"512 x 8 anywhere", slots(8, 512, {})}};
  const std::string beside = "40,000 running jobs, availability of ";
  for (const auto& [what, request] : cases) {
    report.at_most(beside + what + ": a start or an end",
                   best_of(3, [&] { return follow_seconds(full, request); }) * 1e6, "us", 1);
    report.at_most(beside + what + ": when, without a change",
                   best_of(3, [&] { return ask_seconds(full, request); }) * 1e6, "us", 5);
  }
  report.note(
      beside + "512 x 1 within a block: made anew",
      best_of(3, [&] { return seconds([&] { Availability().earliest_fit(full.w.state, slots(1, 512, kBlock)); }); }) *
          1e6,
      "us");
}

}  // namespace ashlar::bench
