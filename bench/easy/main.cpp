// bench_easy: does EASY hold jobs without need? Plays scenarios under easy blocking, draws jobs that it holds, and asks
// the oracle whether each would have delayed the first waiting jobs ahead of it; then the mean queue beside skip's. The
// exit status is 1 if a limit is exceeded.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "bench_report.h"
#include "engine/quota.h"
#include "folders.h"
#include "held.h"
#include "oracle.h"
#include "sim/scenario/run.h"
#include "worlds.h"

namespace {

using namespace ashlar;
using namespace ashlar::bench;

constexpr double kRatioMax = 1.2;

Profile profile_with(Blocking blocking) {
  Profile profile = std::move(builtin_profile("ashlar")).value();
  profile.blocking = blocking;
  return profile;
}

/// What became of the drawn jobs.
struct Tally {
  int drawn = 0, delays_by_engine = 0, delays_alone = 0, in_vain = 0, without_head = 0;
  double delay_seconds = 0;  ///< of the first head that would be later, over those that delay
  double wait_seconds = 0;   ///< of the heads without the job
  std::map<std::string, int> why_in_vain, why_delays;
  std::map<std::string, std::string> example;
};

struct Judged {
  bool delays_by_engine = false, delays_alone = false;
  Millis later{0};
};

/// Whether any head starts later with the job in these places.
Judged judge(const Moment& moment, const std::vector<Start>& without, const std::vector<Start>& alone,
             const std::vector<JobId>& heads, const Places& places) {
  Judged judged;
  const std::vector<Start> with = starts_by_the_engine(moment, heads, &places);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    if (with[h].at > without[h].at && !judged.delays_by_engine) {
      judged.delays_by_engine = true;
      judged.later = with[h].at == Millis::max() ? Millis(0) : with[h].at - without[h].at;
    }
    judged.delays_alone = judged.delays_alone || start_alone(moment, heads[h], &places).at > alone[h].at;
  }
  return judged;
}

const Reservation* binding_reservation(const State& state, const Engine& engine, JobId job, Millis now) {
  const Millis end = state.job(job).late_end_if_started(now);
  const Reservation* first = nullptr;
  for (const Reservation& r : engine.reservations())
    if (r.at != Millis::max() && end > r.at && r.entry < engine.pending().entry_of(job) &&
        r.concerns(state, state.job(job).queue) && (first == nullptr || r.entry < first->entry))
      first = &r;
  return first;
}

std::string what_it_waits_for(const State& state, JobId head, JobId job) {
  const std::optional<Reason> refusal = quota_refusal(state, head);
  if (!refusal) return "nodes";
  return state.queues().is_within(state.job(job).queue, QueueId(refusal->subject)) ? "quota that both use"
                                                                                   : "quota of other queues";
}

/// In words, for the groups of the report.
std::string reason_of(State& state, Engine& engine, JobId job, Millis now, const std::vector<Start>& without) {
  const Reservation* bound = binding_reservation(state, engine, job, now);
  if (bound == nullptr) return "no reservation of the engine binds it";
  const auto head =
      std::find_if(without.begin(), without.end(), [&](const Start& s) { return s.job == bound->entry.job; });
  std::string text = "head waits for " + what_it_waits_for(state, bound->entry.job, job);
  if (could_start(state, engine, bound->entry.job)) text = "its head is itself held";
  if (head != without.end() && head->at < bound->at) text += "; promised later than it starts";
  if (!bound->spares_quota_for(state, job)) return text + "; held for quota";
  return text + "; held for nodes";
}

void look_at(State& state, Engine& engine, Millis now, JobId job, Tally& tally) {
  ++tally.drawn;
  const std::vector<JobId> heads = heads_before(state, engine, job);
  if (heads.empty()) ++tally.without_head;
  const Moment moment{state, engine, now};
  const std::vector<Start> without = starts_by_the_engine(moment, heads);
  std::vector<Start> alone;
  std::vector<NodeId> of_heads;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    alone.push_back(start_alone(moment, heads[h]));
    of_heads.insert(of_heads.end(), alone[h].nodes.begin(), alone[h].nodes.end());
    of_heads.insert(of_heads.end(), without[h].nodes.begin(), without[h].nodes.end());
  }
  std::sort(of_heads.begin(), of_heads.end());
  of_heads.erase(std::unique(of_heads.begin(), of_heads.end()), of_heads.end());
  Judged judged = judge(moment, without, alone, heads, *places_now(state, engine, job));
  bool is_elsewhere = false;
  if (judged.delays_by_engine || judged.delays_alone)
    if (const auto elsewhere = places_now(state, engine, job, of_heads)) {
      const Judged there = judge(moment, without, alone, heads, *elsewhere);
      is_elsewhere = !there.delays_by_engine && !there.delays_alone;
      if (is_elsewhere) judged = there;
    }
  tally.delays_by_engine += judged.delays_by_engine;
  tally.delays_alone += judged.delays_alone;
  const bool is_in_vain = !judged.delays_by_engine && !judged.delays_alone;
  tally.in_vain += is_in_vain;
  tally.delay_seconds += static_cast<double>(judged.later.value) / 1000;
  if (!without.empty() && without[0].at != Millis::max())
    tally.wait_seconds += static_cast<double>((without[0].at - now).value) / 1000;
  const std::string why = reason_of(state, engine, job, now, without) + (is_elsewhere ? "; other nodes would do" : "") +
                          (is_in_vain || judged.delays_by_engine == judged.delays_alone ? ""
                           : judged.delays_by_engine                                    ? "; alone it would not"
                                                     : "; by the engine it would not");
  ++(is_in_vain ? tally.why_in_vain : tally.why_delays)[why];
  if (is_in_vain && !tally.example.contains(why)) {
    const Reservation* bound = binding_reservation(state, engine, job, now);
    char text[200];
    std::snprintf(text, sizeof text, "at %lld ms job row %u, %lld devices, for %lld s%s",
                  static_cast<long long>(now.value), job.value, static_cast<long long>(state.job(job).devices_total),
                  static_cast<long long>(state.job(job).remaining.value / 1000),
                  bound == nullptr ? "" : (", head promised " + std::to_string(bound->at.value)).c_str());
    tally.example[why] = text;
  }
}

/// Waits until the start by the width of jobs.
struct Waits {
  struct Sum {
    std::int64_t jobs = 0;
    double seconds = 0, longest = 0;
  };
  std::map<std::int64_t, Sum> by_devices;

  void add(const State& state, const Plan& plan) {
    JobId before;
    for (const Action& action : plan.actions) {
      const auto* bind = std::get_if<Bind>(&action);
      if (bind == nullptr || bind->job == before) continue;
      before = bind->job;
      const double seconds = static_cast<double>((plan.at - state.job(bind->job).submitted).value) / 1000;
      Sum& sum = by_devices[state.job(bind->job).devices_total];
      ++sum.jobs;
      sum.seconds += seconds;
      sum.longest = std::max(sum.longest, seconds);
    }
  }
};

struct Outcome {
  double mean_queue = 0;
  Waits waits;
  std::int64_t held = 0;
  Tally tally;
};

/// Two runs: one counts the held jobs, the other looks at those drawn of them.
Outcome play(const sim::ScenarioRun& simulation, int draws, std::uint64_t seed) {
  const Profile easy = profile_with(Blocking::kEasy);
  Outcome outcome;
  HeldJobs counted;
  outcome.mean_queue = simulation
                           .run(easy, {},
                                [&](State& state, Engine& engine, const Plan& plan) {
                                  counted.newly(state, engine);
                                  outcome.waits.add(state, plan);
                                })
                           .mean_queue_seconds;
  outcome.held = counted.count();
  if (outcome.held == 0 || draws == 0) return outcome;
  Rng rng(seed);
  std::vector<std::int64_t> drawn;
  for (int i = 0; i < draws; ++i)
    drawn.push_back(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(outcome.held))));
  std::sort(drawn.begin(), drawn.end());
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  HeldJobs again;
  std::int64_t ordinal = 0;
  std::size_t next = 0;
  simulation.run(easy, {}, [&](State& state, Engine& engine, const Plan& plan) {
    if (next == drawn.size()) return;
    for (const JobId job : again.newly(state, engine)) {
      if (next < drawn.size() && ordinal == drawn[next]) {
        look_at(state, engine, plan.at, job, outcome.tally);
        ++next;
      }
      ++ordinal;
    }
  });
  return outcome;
}

void print(const Tally& tally) {
  std::printf(
      "    drawn %d: %d delay a head if the engine goes on deciding, %d if nothing else starts; %d held in vain\n",
      tally.drawn, tally.delays_by_engine, tally.delays_alone, tally.in_vain);
  if (tally.without_head > 0) std::printf("    %d have no head ahead of them that cannot start\n", tally.without_head);
  if (tally.drawn > 0)
    std::printf("    first head starts after %.1f s on average; delayed by %.1f s where it is\n",
                tally.wait_seconds / tally.drawn,
                tally.delays_by_engine == 0 ? 0 : tally.delay_seconds / tally.delays_by_engine);
  for (const auto& [why, count] : tally.why_in_vain)
    std::printf("    in vain %5d  %s (%s)\n", count, why.c_str(), tally.example.at(why).c_str());
  for (const auto& [why, count] : tally.why_delays) std::printf("    delays  %5d  %s\n", count, why.c_str());
}

sim::ScenarioRun run_of(const sim::Scenario& scenario) {
  Result<sim::ScenarioRun> made = sim::ScenarioRun::make(scenario);
  if (!made) {
    std::fprintf(stderr, "bench easy: %s\n", made.error().message.c_str());
    std::exit(1);
  }
  return *std::move(made);
}

}  // namespace

int main(int argc, char** argv) {
  int draws = 200, worlds = 20;
  std::int64_t jobs = 200'000;
  std::uint64_t seed = 1;
  std::string path = ASHLAR_SOURCE_DIR "/bench/sim_million.yaml";
  CLI::App app("Does EASY hold jobs without need?");
  app.add_option("--scenario", path, "what to play")->capture_default_str();
  app.add_option("--jobs", jobs, "of the scenario's first stream; 0: as the scenario says")->capture_default_str();
  app.add_option("--draw", draws, "held jobs to look at")->capture_default_str();
  app.add_option("--worlds", worlds, "smaller drawn worlds beside it")->capture_default_str();
  app.add_option("--seed", seed, "of the draws")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  Report report("EASY beside skip, and what it holds");
  Result<sim::Scenario> scenario = sim::read_scenario(path);
  if (!scenario) {
    std::fprintf(stderr, "bench easy: %s\n", scenario.error().message.c_str());
    return 1;
  }
  if (jobs > 0 && !scenario->arrivals.empty()) scenario->arrivals.front().count = jobs;
  const sim::ScenarioRun simulation = run_of(*scenario);
  Waits skip_waits;
  const double skip = simulation
                          .run(profile_with(Blocking::kSkip), {},
                               [&](State& state, Engine&, const Plan& plan) { skip_waits.add(state, plan); })
                          .mean_queue_seconds;
  const Outcome easy = play(simulation, draws, seed);
  std::printf("  %s, %lld jobs: %lld held at some time\n", path.c_str(), static_cast<long long>(jobs),
              static_cast<long long>(easy.held));
  print(easy.tally);
  std::printf("    width of jobs in devices: mean and longest wait under skip, under easy, in seconds\n");
  for (const auto& [devices, under_skip] : skip_waits.by_devices) {
    const Waits::Sum& under_easy = easy.waits.by_devices.at(devices);
    std::printf("    %4lld  %8.1f %8.0f   %8.1f %8.0f\n", static_cast<long long>(devices),
                under_skip.seconds / static_cast<double>(under_skip.jobs), under_skip.longest,
                under_easy.seconds / static_cast<double>(under_easy.jobs), under_easy.longest);
  }
  report.note("mean queue, skip", skip, "s");
  report.note("mean queue, easy", easy.mean_queue, "s");
  report.note("ratio (wanted: at most 1.2, or nothing held in vain)", easy.mean_queue / skip, "");
  const bool is_near = easy.mean_queue <= kRatioMax * skip;
  report.at_most("held in vain of those drawn", is_near ? 0 : easy.tally.in_vain, "jobs", 0);

  Tally all;
  double small_skip = 0, small_easy = 0;
  for (int w = 0; w < worlds; ++w) {
    const Result<sim::Scenario> small =
        sim::parse_scenario(drawn_world(seed * 1000 + static_cast<std::uint64_t>(w)), "drawn");
    if (!small) {
      std::fprintf(stderr, "bench easy: %s\n", small.error().message.c_str());
      return 1;
    }
    const sim::ScenarioRun run = run_of(*small);
    small_skip += run.run(profile_with(Blocking::kSkip)).mean_queue_seconds / worlds;
    Outcome one = play(run, std::max(draws / 20, 1), seed);
    small_easy += one.mean_queue / worlds;
    all.drawn += one.tally.drawn;
    all.delays_by_engine += one.tally.delays_by_engine;
    all.delays_alone += one.tally.delays_alone;
    all.in_vain += one.tally.in_vain;
    all.without_head += one.tally.without_head;
    all.delay_seconds += one.tally.delay_seconds;
    all.wait_seconds += one.tally.wait_seconds;
    for (auto& [why, count] : one.tally.why_in_vain) all.why_in_vain[why] += count;
    for (auto& [why, count] : one.tally.why_delays) all.why_delays[why] += count;
    for (auto& [why, text] : one.tally.example) all.example.try_emplace(why, "world " + std::to_string(w) + " " + text);
  }
  if (worlds > 0) {
    std::printf("  %d drawn worlds\n", worlds);
    print(all);
    report.note("mean queue over the drawn worlds, skip", small_skip, "s");
    report.note("mean queue over the drawn worlds, easy", small_easy, "s");
    report.at_most("held in vain of those drawn there", all.in_vain, "jobs", 0);
  }
  return report.finish();
}
