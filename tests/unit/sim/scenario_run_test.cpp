// Scenarios: generated work, topology, quota and failing nodes, by results that can be worked out by hand or by their
// laws.
#include "folders.h"
#include "sim/scenario/run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "policy/profile.h"
#include "scenario_text.h"
#include "sim/scenario/duration_distribution.h"

namespace ashlar::sim {
namespace {

QueueRun run(const Scenario& s, const std::string& profile = "ashlar") {
  Result<ScenarioRun> made = ScenarioRun::make(s);
  if (!made) throw std::runtime_error(made.error().message);
  return made->run(*builtin_profile(profile));
}

const char* const kFourNodes =
    "nodes: [{count: 4, name: 'n{i}', cpu: 32, memory: 256Gi, gpus: 8, topology: {rack: 'r{i/2}'}}]\ntopology: "
    "[rack]\n";

std::string job(const std::string& text) {
  return "  - {count: 1, until: 1s, process: uniform, jobs: [{" + text + "}]}\n";
}

TEST(ScenarioRun, AGangBoundToARackWaitsForARack) {
  // 3 x 8 devices never fit a rack of two nodes; 2 x 8 do.
  const QueueRun r =
      run(scenario(kFourNodes + std::string("arrivals:\n") + job("members: 3, gpus: 8, within: rack, duration: 10s") +
                   job("members: 2, gpus: 8, within: rack, duration: 10s")));
  EXPECT_EQ(r.jobs, 1);
  EXPECT_EQ(r.unfinished_jobs, 1);
  EXPECT_DOUBLE_EQ(r.mean_queue_seconds, 0);
}

TEST(ScenarioRun, EachGroupOfAGangIsBoundToARackOfItsOwn) {
  const auto ended = [](const std::string& groups) {
    return run(scenario(kFourNodes + std::string("arrivals:\n") + job("groups: [" + groups + "], duration: 10s"))).jobs;
  };
  EXPECT_EQ(ended("{members: 2, gpus: 8, within: rack}, {members: 2, gpus: 8, within: rack}"), 1);
  EXPECT_EQ(ended("{members: 3, gpus: 8}, {cpu: 1}"), 1);
  EXPECT_EQ(ended("{members: 3, gpus: 8, within: rack}, {cpu: 1}"), 0) << "no rack has three nodes";
  EXPECT_EQ(ended("{members: 3, gpus: 8, prefer: rack}, {cpu: 1}"), 1);
  EXPECT_EQ(ended("{members: 8, gpus: 1, within: node}, {members: 2, gpus: 4, within: node}"), 1);
}

TEST(ScenarioRun, AJobGetsGpusOfItsModelAndMemoryOnANodeWithSeveral) {
  const char* const kMixed =
      "nodes: [{cpu: 32, memory: 256Gi, gpu_memory: 80Gi, gpus: [{count: 2, model: H100}, {count: 2, model: A100, "
      "gpu_memory: 40Gi}, {model: A100, sliced: true}]}]\n";
  const auto queued = [&](const std::string& jobs) { return run(scenario(kMixed + ("arrivals:\n" + jobs))); };
  EXPECT_DOUBLE_EQ(queued(job("gpus: 2, models: H100, duration: 10s") + job("gpus: 2, models: A100, duration: 10s"))
                       .mean_queue_seconds,
                   0);
  EXPECT_DOUBLE_EQ(queued(job("gpus: 2, models: H100, duration: 10s") + job("gpus: 1, models: H100, duration: 10s"))
                       .mean_queue_seconds,
                   5);
  EXPECT_EQ(queued(job("gpus: 3, models: A100, duration: 10s")).unfinished_jobs, 1) << "one is cut into slices";
  EXPECT_EQ(queued(job("gpus: 3, gpu_memory: 60Gi, duration: 10s")).unfinished_jobs, 1);
  EXPECT_EQ(queued(job("gpus: 4, gpu_memory: 40Gi, duration: 10s")).jobs, 1);
}

TEST(ScenarioRun, JobsThatNameAClassOrItsCapabilitiesGetGpusOfAnyOfItsModels) {
  const char* const kTwoModels =
      "classes: [{name: H100, models: [SXM, PCIe], capabilities: [fp8, mig]}, {name: A100, capabilities: mig}]\n"
      "nodes: [{cpu: 32, memory: 256Gi, gpus: 2, model: SXM}, {cpu: 32, memory: 256Gi, gpus: 2, model: PCIe}, "
      "{cpu: 32, memory: 256Gi, gpus: 2, model: A100}]\n";
  const auto ended = [&](const std::string& job_text) {
    const QueueRun r = run(scenario(kTwoModels + ("arrivals:\n" + job(job_text + ", duration: 10s"))));
    return r.jobs;
  };
  EXPECT_EQ(ended("members: 2, gpus: 2, models: H100"), 1);
  EXPECT_EQ(ended("members: 2, gpus: 2, models: PCIe"), 1) << "the model stands for its class";
  EXPECT_EQ(ended("members: 3, gpus: 2, models: H100"), 0);
  EXPECT_EQ(ended("members: 2, gpus: 2, capabilities: [fp8, mig]"), 1);
  EXPECT_EQ(ended("members: 3, gpus: 2, capabilities: fp8"), 0);
  EXPECT_EQ(ended("members: 3, gpus: 2, capabilities: mig"), 1);
  EXPECT_EQ(ended("gpus: 2, capabilities: fp8, models: A100"), 0);
}

TEST(ScenarioRun, AQuotaHoldsJobsBackUntilItIsFree) {
  const std::string text = kFourNodes + std::string("queues: [{name: team, quota: {gpus: 8}}]\narrivals:\n") +
                           job("gpus: 8, duration: 10s") + job("gpus: 8, duration: 10s");
  const QueueRun r = run(scenario(text));
  EXPECT_EQ(r.jobs, 2);
  EXPECT_DOUBLE_EQ(r.mean_queue_seconds, 5);
  EXPECT_DOUBLE_EQ(r.makespan_seconds, 20);
}

TEST(ScenarioRun, AQueueBorrowsOnlySoMuchAndKeepsWhatItDoesNotLend) {
  const auto waits = [](const std::string& queues) {
    const std::string text = kFourNodes + ("queues: [" + queues + "]\narrivals:\n") +
                             job("gpus: 8, duration: 10s, queue: team") + job("gpus: 8, duration: 10s, queue: team");
    return run(scenario(text)).mean_queue_seconds;
  };
  EXPECT_DOUBLE_EQ(waits("{name: team, guarantee: {gpus: 8}, weight: 2, priority: 1}"), 0);
  EXPECT_DOUBLE_EQ(waits("{name: team, guarantee: {gpus: 8}, borrowLimit: {gpus: 7}}"), 5);
  EXPECT_DOUBLE_EQ(waits("{name: team}, {name: kept, guarantee: {gpus: 24}, lendLimit: {gpus: 0}}"), 5);
}

/// Heads of several queues hold jobs of each other's classes: a decision wakes no class for ever. (Once it did, here.)
const char* const kManyHeads = R"(seed: 1004
topology: [rack]
nodes:
  - {count: 15, cpu: 96, memory: 1Ti, gpus: 8, topology: {rack: "r{i/3}"}}
queues:
  - {name: q0}
  - {name: q1, quota: {gpus: 35}}
  - {name: q2, quota: {gpus: 38}}
  - {name: q3, quota: {gpus: 27}}
arrivals:
  - load: 0.89
    count: 1500
    queues: {q0: 3, q1: 1, q2: 3, q3: 2}
    jobs:
      - {weight: 55, members: 1, gpus: 1, cpu: 8, memory: 64Gi, duration: {lognormal: {median: 64m, sigma: 1.2}, max: 1d}}
      - {weight: 15, members: 1, gpus: 2, cpu: 16, memory: 128Gi, duration: {lognormal: {median: 62m, sigma: 1.2}, max: 1d}}
      - {weight: 12, members: 1, gpus: 4, cpu: 32, memory: 256Gi, duration: {lognormal: {median: 48m, sigma: 1.2}, max: 1d}}
      - {weight: 8, members: 1, gpus: 8, cpu: 64, memory: 512Gi, duration: {lognormal: {median: 11m, sigma: 1.2}, max: 1d}}
      - {weight: 2, members: 2, gpus: 8, cpu: 64, memory: 512Gi, duration: {lognormal: {median: 50m, sigma: 1.2}, max: 1d}}
      - {weight: 4, members: 1, gpus: 8, cpu: 64, memory: 512Gi, within: rack, duration: {lognormal: {median: 29m, sigma: 1.2}, max: 1d}}
)";

TEST(ScenarioRun, HeadsThatHoldOneAnothersLikeComeToAnEnd) {
  const QueueRun r = run(scenario(kManyHeads));
  EXPECT_EQ(r.jobs, 1500);
  EXPECT_EQ(r.unfinished_jobs, 0);
}

TEST(ScenarioRun, AWatchSeesEveryDecisionAndChangesNothing) {
  const Scenario s = scenario(kFourNodes + std::string("queues: [{name: team, quota: {gpus: 8}}]\narrivals:\n") +
                              job("gpus: 8, duration: 10s") + job("gpus: 8, duration: 10s"));
  Result<ScenarioRun> made = ScenarioRun::make(s);
  ASSERT_TRUE(made);
  std::vector<Millis> starts;
  const QueueRun watched =
      made->run(*builtin_profile("ashlar"), {}, [&](State& state, Engine& engine, const Plan& plan) {
        starts.insert(starts.end(), plan.actions.size(), plan.at);
        Trial trial(state);
        if (engine.pending().size() > 0) engine.try_place(trial, JobId(1u));
      });
  EXPECT_EQ(starts, (std::vector{Millis(0), Millis(10'000)}));
  EXPECT_DOUBLE_EQ(watched.makespan_seconds, 20);
}

TEST(ScenarioRun, TheMakespanCountsFromTheFirstSubmission) {
  const std::string late =
      kFourNodes +
      std::string("horizon: 1h\narrivals: [{count: 2, until: 120s, start: 100s, process: uniform, jobs: [{gpus: ");
  EXPECT_DOUBLE_EQ(run(scenario(late + "8, duration: 30s}]}]\n")).makespan_seconds, 40)
      << "the second one comes after ten seconds";
  const std::string never = "arrivals:\n" + job("members: 3, gpus: 8, within: rack, duration: 1s");
  EXPECT_DOUBLE_EQ(run(scenario(kFourNodes + never +
                                "  - {count: 1, until: 20s, start: 10s, process: uniform, jobs: [{duration: 5s}]}\n"))
                       .makespan_seconds,
                   15)
      << "the first one never starts";
}

TEST(ScenarioRun, AJobThatLosesItsNodeStartsOver) {
  const std::string text =
      "nodes: [{count: 1, name: only, cpu: 32, memory: 256Gi, gpus: 8}]\nfailures: [{node: only, at: 60s, for: "
      "30s}]\narrivals:\n" +
      job("gpus: 8, duration: 100s");
  const QueueRun r = run(scenario(text));
  EXPECT_EQ(r.jobs, 1);
  EXPECT_DOUBLE_EQ(r.makespan_seconds, 190);
  EXPECT_DOUBLE_EQ(r.mean_queue_seconds, 30);
  EXPECT_EQ(r.preemptions, 0);
}

TEST(ScenarioRun, ANodeInMaintenanceFinishesItsJobsAndTakesNoOther) {
  const std::string node = "nodes: [{count: 1, name: only, cpu: 32, memory: 256Gi, gpus: 8}]\n";
  const std::string jobs = "arrivals:\n" + job("gpus: 4, duration: 100s") + job("gpus: 8, duration: 10s");
  const auto makespan = [&](const std::string& maintenance) {
    return run(scenario(node + maintenance + jobs)).makespan_seconds;
  };
  EXPECT_DOUBLE_EQ(makespan(""), 110);
  EXPECT_DOUBLE_EQ(makespan("maintenance: [{node: only, at: 50s, for: 200s}]\n"), 260);
  EXPECT_DOUBLE_EQ(makespan("maintenance: [{node: only, at: 50s, for: 20s}]\n"), 110);
  EXPECT_DOUBLE_EQ(makespan("maintenance: [{node: only, at: 50s, for: 200s}, {node: only, at: 60s, for: 400s}]\n"),
                   470);
  EXPECT_EQ(run(scenario(node + "maintenance: [{node: only, at: 50s}]\n" + jobs)).unfinished_jobs, 1);
}

TEST(ScenarioRun, AMaintenanceThatIsAnnouncedLetsJobsStartThatEndBefore) {
  const std::string text =
      "nodes: [{count: 1, name: only, cpu: 32, memory: 256Gi, gpus: 8}]\n"
      "maintenance: [{node: only, at: 50s, for: 100s, announced: 50s}]\narrivals:\n" +
      job("gpus: 8, duration: 60s") + job("gpus: 8, duration: 40s");
  EXPECT_DOUBLE_EQ(run(scenario(text)).makespan_seconds, 210) << "40 s at once, 60 s from 150 s on";
}

TEST(ScenarioRun, AReservedNodeTakesTheJobsOfItsQueue) {
  const std::string text =
      "nodes: [{count: 1, name: only, cpu: 32, memory: 256Gi, gpus: 8}]\nqueues: [{name: mine}, {name: other}]\n"
      "reservations: [{node: only, queue: mine, at: 0s, for: 100s}]\narrivals:\n"
      "  - {queue: other, count: 1, until: 1s, process: uniform, jobs: [{gpus: 8, duration: 10s}]}\n"
      "  - {queue: mine, count: 1, until: 1s, process: uniform, jobs: [{gpus: 8, duration: 20s}]}\n";
  EXPECT_DOUBLE_EQ(run(scenario(text)).makespan_seconds, 110);
}

TEST(ScenarioRun, ANodeThatFailsInItsMaintenanceIsStillInItWhenItReturns) {
  const std::string text =
      "nodes: [{count: 1, name: only, cpu: 32, memory: 256Gi, gpus: 8}]\n"
      "maintenance: [{node: only, at: 10s, for: 290s}]\nfailures: [{node: only, at: 20s, for: 30s}]\narrivals:\n" +
      job("gpus: 1, duration: 25s");
  EXPECT_DOUBLE_EQ(run(scenario(text)).makespan_seconds, 325);
}

TEST(ScenarioRun, MembersOfAGangMayDiffer) {
  // The workers take all four nodes; the leader needs the cores that they leave, and a second gang waits for all of it.
  const std::string text = kFourNodes + std::string("arrivals:\n") +
                           job("groups: [{cpu: 2}, {members: 4, gpus: 8, cpu: 30}], duration: 10s") +
                           job("groups: [{cpu: 2}, {members: 4, gpus: 8, cpu: 30}], duration: 10s");
  const QueueRun r = run(scenario(text));
  EXPECT_EQ(r.jobs, 2);
  EXPECT_DOUBLE_EQ(r.makespan_seconds, 20);
  EXPECT_EQ(run(scenario(kFourNodes + std::string("arrivals:\n") +
                         job("groups: [{cpu: 3}, {members: 4, gpus: 8, cpu: 30}], duration: 10s")))
                .unfinished_jobs,
            1);
}

TEST(ScenarioRun, KindsOfAShapeDifferInMemory) {
  // 256 GiB a node: the first two kinds fit, the third needs a MiB too much.
  const std::string text = kFourNodes + std::string("arrivals: [{count: 300, until: 1h, jobs: [{kinds: 3, memory: ") +
                           std::to_string((256ll << 30) - (1ll << 20)) + ", duration: 1s}]}]\n";
  const QueueRun r = run(scenario(text));
  EXPECT_EQ(r.jobs + r.unfinished_jobs, 300);
  EXPECT_NEAR(static_cast<double>(r.unfinished_jobs), 100, 40);
}

TEST(ScenarioRun, NodesFailAtRandomAsOftenAsStated) {
  // One node, which fails every hour on average and returns at once: a job of an hour is started over e - 1 times on
  // average, and takes e - 1 hours.
  const std::string text =
      "nodes: [{cpu: 8, memory: 1Gi, gpus: 1}]\nfailures: [{mean_between: 1h, for: 1ms, until: 4000h}]\n"
      "arrivals: [{process: uniform, rate: 0.1/h, count: 300, jobs: [{gpus: 1, duration: 1h}]}]\n";
  const QueueRun r = run(scenario(text));
  EXPECT_EQ(r.jobs, 300);
  EXPECT_NEAR(r.mean_jct_seconds, 3600 * (std::exp(1.0) - 1), 900);
}

TEST(ScenarioRun, FailuresThatOverlapKeepTheNodeAwayUntilTheLastHasEnded) {
  const std::string text =
      "nodes: [{count: 1, name: only, cpu: 32, memory: 256Gi, gpus: 8}]\n"
      "failures: [{node: only, at: 60s, for: 30s}, {node: only, at: 70s, for: 200s}, {node: only, at: 80s, for: "
      "10s}]\narrivals:\n" +
      job("gpus: 8, duration: 100s");
  EXPECT_DOUBLE_EQ(run(scenario(text)).makespan_seconds, 370);
}

TEST(ScenarioRun, AStreamSoSlowThatNothingComesEndsTheRun) {
  const std::string text =
      "horizon: 100d\nnodes: [{count: 1, cpu: 32, memory: 256Gi, gpus: 8}]\narrivals:\n"
      "  - {rate: 0.000002/h, jobs: [{gpus: 1, duration: 1s}]}\n";
  EXPECT_LE(run(scenario(text)).jobs, 1);
}

TEST(ScenarioRun, MeansOfVeryLongJobsStayWithinTheirNumbers) {
  const std::string text =
      "nodes: [{count: 1, cpu: 32, memory: 256Gi, gpus: 8}]\narrivals:\n"
      "  - {count: 5000, until: 5000s, process: uniform, jobs: [{gpus: 8, duration: 36500d}]}\n";
  const QueueRun r = run(scenario(text), "fifo");
  EXPECT_EQ(r.jobs, 5000);
  EXPECT_NEAR(r.mean_queue_seconds, 36500.0 * 86400 * 4999 / 2, 5000);
}

TEST(ScenarioRun, AGangThatLosesAMemberGetsItBackElsewhereAndStartsOver) {
  const std::string text = kFourNodes +
                           std::string("failures: [{node: n0, at: 60s}, {node: n2, at: 60s}]\narrivals:\n") +
                           job("members: 2, gpus: 8, within: rack, duration: 100s") +
                           job("members: 2, gpus: 8, within: rack, duration: 30s");
  // Both racks lose a node at 60 s; the short gang is gone by then. The long one needs two nodes of one rack and its
  // rack has one left for good.
  const QueueRun r = run(scenario(text));
  EXPECT_EQ(r.jobs, 1);
  EXPECT_EQ(r.unfinished_jobs, 1);
  const std::string healed = kFourNodes + std::string("failures: [{node: n0, at: 60s}]\narrivals:\n") +
                             job("members: 2, gpus: 8, duration: 100s");
  EXPECT_DOUBLE_EQ(run(scenario(healed)).makespan_seconds, 160);
}

TEST(ScenarioRun, TheHorizonEndsTheRunAndWhatIsLeftIsCounted) {
  const QueueRun r = run(scenario(kFourNodes + std::string("horizon: 50s\narrivals:\n") +
                                  job("gpus: 1, duration: 100s") + job("gpus: 1, duration: 10s")));
  EXPECT_EQ(r.jobs, 1);
  EXPECT_EQ(r.unfinished_jobs, 1);
}

TEST(ScenarioRun, TheSameScenarioTwiceIsTheSameAndEveryPolicySeesTheSameJobs) {
  const Scenario s = scenario(
      kFourNodes +
      std::string(
          "seed: 5\narrivals: [{load: 0.9, count: 2000, jobs: [{weight: 3, gpus: 1, duration: {exponential: 10m}}, "
          "{gpus: 4, members: 2, duration: {lognormal: {median: 5m, sigma: 1}}, estimate: {error: 0.5}}]}]\n"));
  for (const char* profile : {"ashlar", "fifo-skip", "sjf", "easy", "srtf", "tiresias", "spread"}) {
    QueueRun first = run(s, profile), second = run(s, profile);
    first.wall_seconds = second.wall_seconds = 0;
    EXPECT_EQ(queue_json({&first, 1}), queue_json({&second, 1})) << profile;
    EXPECT_EQ(first.jobs, 2000) << profile;
  }
}

TEST(ScenarioRun, AStreamKeepsTheLoadThatItWasGiven) {
  const QueueRun r =
      run(scenario("nodes: [{count: 50, name: 'n{i}', cpu: 64, memory: 256Gi, gpus: 8}]\nhorizon: 200h\narrivals: "
                   "[{load: 0.6, jobs: "
                   "[{weight: 4, gpus: 1, duration: {exponential: 30m}}, {gpus: 8, duration: {lognormal: {median: 20m, "
                   "sigma: 0.8}, max: 4h}}]}]\n"));
  double sum = 0;
  std::size_t counted = 0;
  for (const SeriesPoint& p : r.busy_percent)
    if (p.hours > 10) {
      sum += p.value;
      ++counted;
    }
  EXPECT_NEAR(sum / static_cast<double>(counted), 60, 2);
}

TEST(ScenarioRun, AGangBoundToANodeSharesIt) {
  const std::string nodes = "nodes: [{count: 2, name: 'n{i}', cpu: 32, memory: 256Gi, gpus: 8}]\narrivals:\n";
  // Two halves of a node each: the second gang takes the other node, the third waits for one of them.
  const std::string half = job("members: 2, gpus: 3, within: node, duration: 10s");
  const QueueRun r = run(scenario(nodes + half + half + half));
  EXPECT_EQ(r.jobs, 3);
  EXPECT_DOUBLE_EQ(r.mean_queue_seconds, 10 / 3.0);
}

TEST(ScenarioRun, AStandardWorkloadFormatTraceIsPlayed) {
  const std::string path = ::testing::TempDir() + "tiny.swf";
  // Two jobs of 4 processors on 4 cores: the second waits for the first.
  std::ofstream(path) << "; MaxProcs: 4\n1 0 -1 100 4 -1 -1 4 200 -1 1 1 1 -1 1 -1 -1 -1\n2 10 -1 50 4 -1 -1 4 60 -1 1 "
                         "1 1 -1 1 -1 -1 -1\n";
  const QueueRun r =
      run(scenario("nodes: [{name: n, cpu: 4, memory: 1Gi}]\ntrace: {path: " + path + ", format: swf, width: cpu}\n"),
          "fifo-skip");
  EXPECT_EQ(r.jobs, 2);
  EXPECT_DOUBLE_EQ(r.makespan_seconds, 150);
  EXPECT_DOUBLE_EQ(r.mean_queue_seconds, 45);
}

TEST(ScenarioRun, WhatGivesBackWhatItTookEndsWithAnIdleCluster) {
  const QueueRun r =
      run(scenario(kFourNodes + std::string("failures: [{node: n1, at: 1h, for: 1h}, {node: n3, at: 2h, "
                                            "for: 3h}]\narrivals: [{load: 0.8, count: 500, jobs: "
                                            "[{gpus: 2, duration: {exponential: 20m}}, {gpus: 4, members: "
                                            "3, within: rack, duration: {exponential: 20m}}]}]\n")));
  EXPECT_EQ(r.jobs, 500);
  ASSERT_FALSE(r.busy_percent.empty());
  double most = 0;
  for (const SeriesPoint& p : r.busy_percent) {
    EXPECT_GE(p.value, 0);
    most = std::max(most, p.value);
  }
  EXPECT_LE(most, 100);
}

TEST(ScenarioRun, TheDocumentedScenarioRuns) {
  std::ifstream file(ASHLAR_SOURCE_DIR "/docs/reference/scenario.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  const std::size_t begin = page.find("```yaml\n") + 8;
  const QueueRun r = run(scenario(page.substr(begin, page.find("```", begin) - begin)));
  // Its horizon comes before its 20,000th job.
  EXPECT_GT(r.jobs, 12000);
  EXPECT_GT(r.unfinished_jobs, 0);
  EXPECT_LT(r.unfinished_jobs, 500);
}

TEST(ScenarioRun, TheExampleRunsUnderItsProfiles) {
  const Result<Scenario> example = read_scenario(ASHLAR_SOURCE_DIR "/examples/two-teams.yaml");
  ASSERT_TRUE(example.ok()) << example.error().message;
  for (const std::string& profile : example->profiles) {
    const QueueRun r = run(*example, profile);
    EXPECT_GT(r.jobs, 12000) << profile;
    EXPECT_LT(r.unfinished_jobs, 500) << profile;
  }
}

/// A stream's keys, each there or not.
struct StreamKeys {
  bool has_count, has_until, has_horizon, has_start;
  const char* pace;
  const char* process;
  std::string text() const {
    return std::string(has_horizon ? "horizon: 1h\n" : "") +
           "nodes: [{cpu: 96, memory: 1Ti, gpus: 8}]\narrivals:\n- {process: " + process + pace +
           (has_count ? ", count: 10" : "") + (has_until ? ", until: 30m" : "") + (has_start ? ", start: 10m" : "") +
           ", jobs: [{gpus: 1, duration: 10m}]}\n";
  }
};

void expect_that_it_runs_or_is_refused(const StreamKeys& keys) {
  const bool has_end = keys.has_until || keys.has_horizon, has_pace = *keys.pace != 0;
  const Result<Scenario> parsed = parse_scenario(keys.text(), "s");
  ASSERT_EQ(parsed.ok(), has_pace ? keys.has_count || has_end : keys.has_count && has_end) << keys.text();
  if (!parsed) return;
  const QueueRun r = run(*parsed);
  const std::int64_t came = r.jobs + r.unfinished_jobs;
  EXPECT_GT(came, 0) << keys.text();
  if (keys.has_count) {
    EXPECT_LE(came, 10) << keys.text();
  }
  if (!has_pace || !has_end) {
    EXPECT_EQ(came, 10) << keys.text();
  }
  if (!has_pace && keys.has_until) {
    EXPECT_EQ(r.jobs, 10) << "they end 40 minutes after the start at the latest\n" << keys.text();
  }
}

TEST(ScenarioRun, EveryStreamThatTheReaderAcceptsRuns) {
  for (const char* process : {"poisson", "uniform"})
    for (const char* pace : {"", ", rate: 30/h", ", load: 0.5"})
      for (unsigned keys = 0; keys < 16; ++keys)
        expect_that_it_runs_or_is_refused({.has_count = (keys & 1) != 0,
                                           .has_until = (keys & 2) != 0,
                                           .has_horizon = (keys & 4) != 0,
                                           .has_start = (keys & 8) != 0,
                                           .pace = pace,
                                           .process = process});
}

TEST(DurationDistribution, DrawsFollowTheLawAndItsMean) {
  Rng rng(3);
  const DurationDistribution laws[] = {
      {.kind = DurationDistribution::Kind::kExponential, .first = 100},
      {.kind = DurationDistribution::Kind::kLognormal, .first = 100, .second = 1},
      {.kind = DurationDistribution::Kind::kUniform, .first = 50, .second = 150},
      {.kind = DurationDistribution::Kind::kLognormal, .first = 100, .second = 1, .max = Millis(200000)}};
  const double means[] = {100000, 100000 * std::exp(0.5), 100000, 0};
  for (std::size_t i = 0; i < std::size(laws); ++i) {
    double sum = 0;
    for (int k = 0; k < 200000; ++k) sum += static_cast<double>(draw_duration(laws[i], rng).value);
    EXPECT_NEAR(sum / 200000 / mean_of(laws[i]), 1, 0.02) << i;
    if (means[i] > 0) {
      EXPECT_NEAR(mean_of(laws[i]) / means[i], 1, 0.001) << i;
    }
  }
}

TEST(NormalQuantile, EqualsTabledValues) {
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-9);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-8);
  EXPECT_NEAR(normal_quantile(0.001), -3.090232306167813, 1e-8);
}

}  // namespace
}  // namespace ashlar::sim
