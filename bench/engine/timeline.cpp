// Ends of running jobs that come and go while many run: a job that ends is the next on the timeline, one that starts
// lies anywhere behind it.
#include "state/time/timeline.h"

#include <string>
#include <vector>

#include "base/rng.h"
#include "parts.h"
#include "world.h"

namespace ashlar::bench {
namespace {

constexpr std::uint32_t kChanges = 100'000;

/// This many running jobs, in a steady state: the next one ends, another starts with a drawn duration of up to a day.
double change_seconds(std::uint32_t running) {
  Rng rng(11);
  const auto duration = [&] { return Millis(1 + static_cast<std::int64_t>(rng.below(86'400'000))); };
  Timeline timeline;
  for (std::uint32_t j = 0; j < running; ++j) timeline.add_end({duration(), 8, JobId(j)});
  const auto turn = [&](std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const Timeline::End next = timeline.ends().front();
      timeline.remove_end(next);
      timeline.add_end({next.at + duration(), 8, next.job});
    }
  };
  turn(2 * running);
  return seconds([&] { turn(kChanges); }) / kChanges;
}

}  // namespace

void measure_timeline(Report& report) {
  for (const std::uint32_t running : {1000u, 40'000u, 400'000u}) {
    const std::string what = std::to_string(running) + " running jobs, one ends and one starts: timeline";
    report.at_most(what, best_of(5, [&] { return change_seconds(running); }) * 1e6, "us", 1);
  }
}

}  // namespace ashlar::bench
