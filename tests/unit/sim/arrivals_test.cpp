// The jobs that a scenario's streams and traces give, one by one: the same on every machine, so they can be written
// down.
#include "sim/scenario/arrivals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "scenario_text.h"

namespace ashlar::sim {
namespace {

std::string text_of(const SimJob& job) {
  std::string text = std::to_string(job.submit.value) + "+" + std::to_string(job.duration.value) + " kind " +
                     std::to_string(job.kind.value) + " queue " + std::to_string(job.queue.value) + " vc " +
                     std::to_string(job.vc) + " rank " + std::to_string(job.order_hint);
  if (job.estimate.p50 != Millis::max())
    text += " expects " + std::to_string(job.estimate.p50.value) + ".." + std::to_string(job.estimate.p90.value);
  if (job.priority != 0) text += " priority " + std::to_string(job.priority);
  return text + "\n";
}

/// Of this process alone.
std::string temporary(const std::string& name) {
  return ::testing::TempDir() + std::to_string(::getpid()) + "-" + name;
}

/// The first jobs of a scenario, a line each.
std::string jobs_of(const Scenario& s, int most = 12) {
  Catalog catalog;
  Result<ScenarioWork> work = ScenarioWork::make(s, catalog);
  if (!work) return work.error().message;
  const JobFeed feed = work->feed();
  std::string text = "expected " + std::to_string(work->jobs_expected()) + "\n";
  SimJob job;
  for (int k = 0; k < most && feed(job); ++k) text += text_of(job);
  for (const std::string& note : work->notes()) text += note + "\n";
  return text;
}

const std::string kNodes = "nodes: [{count: 2, cpu: 8, memory: 1Gi, gpus: 8}]\n";

TEST(Arrivals, UniformStreamsComeAtEvenTimesAndTiesByTheirOrder) {
  EXPECT_EQ(jobs_of(scenario(
                kNodes +
                "arrivals:\n"
                "- {process: uniform, rate: 1/s, count: 3, start: 1s, jobs: [{gpus: 1, duration: 7s, priority: 3}]}\n"
                "- {process: uniform, count: 4, until: 8s, jobs: [{gpus: 2, duration: 2s, estimate: none}]}\n"
                "- {process: uniform, rate: 1/s, until: 3s, start: 1s, jobs: [{duration: {fixed: 1s, min: 4s}}]}\n")),
            "expected 7\n"
            "0+2000 kind 1 queue 1 vc 0 rank 2000\n"
            "1000+7000 kind 0 queue 1 vc 0 rank 7000 expects 7000..7000 priority 3\n"
            "1000+4000 kind 2 queue 1 vc 0 rank 4000 expects 4000..4000\n"
            "2000+7000 kind 0 queue 1 vc 0 rank 7000 expects 7000..7000 priority 3\n"
            "2000+2000 kind 1 queue 1 vc 0 rank 2000\n"
            "2000+4000 kind 2 queue 1 vc 0 rank 4000 expects 4000..4000\n"
            "3000+7000 kind 0 queue 1 vc 0 rank 7000 expects 7000..7000 priority 3\n"
            "4000+2000 kind 1 queue 1 vc 0 rank 2000\n"
            "6000+2000 kind 1 queue 1 vc 0 rank 2000\n");
}

TEST(Arrivals, PoissonStreamsDrawTimesShapesQueuesAndDurations) {
  EXPECT_EQ(jobs_of(scenario(
                kNodes +
                "queues: [{name: a}, {name: b}, {name: c}]\n"
                "arrivals:\n- {rate: 60/h, count: 10, seed: 3, queue: c, jobs: [{weight: 1, gpus: 1, duration: "
                "{exponential: 10s}},"
                " {weight: 2, gpus: 2, duration: {uniform: {from: 1s, to: 3s}}, queues: {a: 3, b: 1}},"
                " {weight: 1, gpus: 3, duration: {lognormal: {median: 10s, sigma: 1}}, estimate: {error: 0.5}}]}\n")),
            "expected 10\n"
            "7225+1146 kind 1 queue 1 vc 0 rank 1146 expects 1146..1146\n"
            "21859+2777 kind 1 queue 1 vc 0 rank 2777 expects 2777..2777\n"
            "62385+16819 kind 2 queue 3 vc 2 rank 22242 expects 22242..22242\n"
            "101640+2598 kind 1 queue 1 vc 0 rank 2598 expects 2598..2598\n"
            "123562+1900 kind 0 queue 3 vc 2 rank 1900 expects 1900..1900\n"
            "176764+45706 kind 2 queue 3 vc 2 rank 56923 expects 56923..56923\n"
            "189490+1432 kind 1 queue 2 vc 1 rank 1432 expects 1432..1432\n"
            "197223+2390 kind 1 queue 2 vc 1 rank 2390 expects 2390..2390\n"
            "274596+22907 kind 0 queue 3 vc 2 rank 22907 expects 22907..22907\n"
            "308147+6414 kind 0 queue 3 vc 2 rank 6414 expects 6414..6414\n");
}

TEST(Arrivals, AnEstimateHasItsP90AsAFactor) {
  EXPECT_EQ(
      jobs_of(scenario(kNodes + "arrivals:\n- {process: uniform, rate: 1/s, count: 1, jobs: [{gpus: 1, duration: 7s, "
                                "estimate: {p90: 2.5}}]}\n")),
      "expected 1\n0+7000 kind 0 queue 1 vc 0 rank 7000 expects 7000..17500\n");
  const std::string with_error =
      "arrivals:\n- {rate: 60/h, count: 2, seed: 3, jobs: [{gpus: 1, duration: 10s, estimate: {error: 0.5";
  EXPECT_EQ(jobs_of(scenario(kNodes + with_error + ", p90: 2}}]}\n")),
            "expected 2\n7225+10000 kind 0 queue 1 vc 0 rank 13003 expects 13003..26006\n"
            "64181+10000 kind 0 queue 1 vc 0 rank 4832 expects 4832..9664\n");
}

TEST(Arrivals, ALoadSetsThePace) {
  // Half of 16 devices by jobs that hold 8 for 4 s: one every 4 s. Or by jobs that hold 6.5 device-seconds in the mean:
  // one every 0.8125 s.
  EXPECT_EQ(jobs_of(scenario(
                kNodes +
                "arrivals:\n- {process: uniform, load: 0.5, count: 3, jobs: [{members: 2, gpus: 4, duration: 4s}]}\n")),
            "expected 3\n"
            "0+4000 kind 0 queue 1 vc 0 rank 4000 expects 4000..4000\n"
            "4000+4000 kind 0 queue 1 vc 0 rank 4000 expects 4000..4000\n"
            "8000+4000 kind 0 queue 1 vc 0 rank 4000 expects 4000..4000\n");
  EXPECT_EQ(jobs_of(scenario(
                kNodes +
                "arrivals:\n- {process: uniform, load: 0.5, count: 3, seed: 1, jobs: [{gpu_milli: 500, duration: 4s},"
                " {weight: 3, gpus: 1, duration: 8s}]}\n")),
            "expected 3\n"
            "0+8000 kind 1 queue 1 vc 0 rank 8000 expects 8000..8000\n"
            "813+8000 kind 1 queue 1 vc 0 rank 8000 expects 8000..8000\n"
            "1625+8000 kind 1 queue 1 vc 0 rank 8000 expects 8000..8000\n");
}

TEST(Arrivals, ACountIsSpreadOverItsWindow) {
  const std::string four =
      "arrivals: [{count: 4, process: uniform, start: 2s, jobs: [{duration: 1s, estimate: none}]}]\n";
  EXPECT_EQ(jobs_of(scenario(kNodes + "horizon: 10s\n" + four)),
            "expected 4\n2000+1000 kind 0 queue 1 vc 0 rank 1000\n4000+1000 kind 0 queue 1 vc 0 rank 1000\n"
            "6000+1000 kind 0 queue 1 vc 0 rank 1000\n8000+1000 kind 0 queue 1 vc 0 rank 1000\n");
}

TEST(Arrivals, APoissonCountComesWholeAndEvenlyOverItsWindow) {
  const Scenario s = scenario(kNodes + "horizon: 100s\narrivals: [{count: 100000, jobs: [{duration: 1s}]}]\n");
  Catalog catalog;
  const Result<ScenarioWork> work = ScenarioWork::make(s, catalog);
  ASSERT_TRUE(work.ok());
  const JobFeed feed = work->feed();
  int tenths[10] = {};
  SimJob job;
  while (feed(job)) ++tenths[job.submit.value / 10'000];
  int sum = 0;
  for (const int tenth : tenths) {
    EXPECT_NEAR(tenth, 10'000, 500);
    sum += tenth;
  }
  EXPECT_EQ(sum, 100'000);
}

TEST(Arrivals, AStreamEndsBeforeItsLastInstant) {
  EXPECT_EQ(
      jobs_of(scenario(kNodes + "arrivals:\n- {process: uniform, rate: 1/s, until: 2s, jobs: [{duration: 1s}]}\n")),
      "expected 0\n"
      "0+1000 kind 0 queue 1 vc 0 rank 1000 expects 1000..1000\n"
      "1000+1000 kind 0 queue 1 vc 0 rank 1000 expects 1000..1000\n");
}

TEST(Arrivals, TracesAreOrderedScaledCutAndSplitIntoMembers) {
  const std::string path = temporary("arrivals.csv");
  std::ofstream(path) << "vc,gpu_num,submit_time,duration,priority\nb,20,9,1,5\na,8,3,2,0\nb,1,3,3,-4\na,16,100,4,4\n";
  const std::string head = kNodes + "queues: [{name: a}, {name: b}]\n";
  EXPECT_EQ(jobs_of(scenario(head + "trace: {path: " + path + ", format: csv, time_scale: 0.5, limit: 3}\n")),
            "expected 3\n"
            "1500+2000 kind 1 queue 1 vc 0 rank 0 expects 1..1\n"
            "1500+3000 kind 0 queue 2 vc 1 rank -4000 expects 1..1\n"
            "4500+1000 kind 2 queue 2 vc 1 rank 5000 expects 5000..5000\n");
  EXPECT_EQ(jobs_of(scenario(
                head + "trace: {path: " + path +
                ", format: csv, queue: b}\n"
                "arrivals: [{process: uniform, count: 1, until: 5s, start: 3s, queue: a, jobs: [{duration: 1s}]}]\n")),
            "expected 5\n"
            "3000+1000 kind 0 queue 1 vc 0 rank 1000 expects 1000..1000\n"
            "3000+2000 kind 2 queue 2 vc 1 rank 0 expects 1..1\n"
            "3000+3000 kind 1 queue 2 vc 1 rank -4000 expects 1..1\n"
            "9000+1000 kind 4 queue 2 vc 1 rank 5000 expects 5000..5000\n"
            "100000+4000 kind 3 queue 2 vc 1 rank 4000 expects 4000..4000\n");
  EXPECT_EQ(
      jobs_of(scenario(kNodes + "queues: [{name: a}, {name: c}]\ntrace: {path: " + path + ", format: csv}\n")),
      path + ":2: virtual cluster 'b' is not a queue of test.yaml; add it to queues, or give the trace one queue");
  EXPECT_EQ(jobs_of(scenario(head + "trace: {path: " + path + ".absent, format: csv}\n")),
            path + ".absent: cannot be read: No such file or directory");
  std::ofstream(path + ".swf")
      << "1 0 -1 100 4 -1 -1 4 200 -1 1 1 1 -1 1 -1 -1 -1\n2 0 -1 0 4 -1 -1 4 60 -1 1 1 1 -1 1 -1 -1 -1\n";
  EXPECT_EQ(jobs_of(scenario(kNodes + "trace: {path: " + path + ".swf, format: swf, width: cpu, per_member: 3}\n")),
            std::string("expected 1\n"
                        "0+100000 kind 0 queue 1 vc 0 rank 200000 expects 200000..200000\n") +
                path + ".swf: 1 of 2 jobs are skipped: they have no run time or no processors\n");
  EXPECT_EQ(jobs_of(scenario(kNodes + "trace: {path: " + path + ".none, format: swf}\n")),
            path + ".none: cannot be read: No such file or directory");
  std::ofstream(path) << "vc,gpu_num,submit_time,duration\na,1,2000000000,1\n";
  EXPECT_EQ(jobs_of(scenario(head + "trace: {path: " + path + ", format: csv, time_scale: 1000}\n")),
            path + ": a submit time of 2000000000 s times time_scale lies beyond 30,000 years");
}

TEST(Arrivals, ALoadIsExactForTheShortestJobs) {
  EXPECT_EQ(jobs_of(scenario(
                kNodes + "arrivals: [{process: uniform, load: 0.001, count: 3, jobs: [{gpus: 1, duration: 1ms}]}]\n")),
            "expected 3\n0+1 kind 0 queue 1 vc 0 rank 1 expects 1..1\n63+1 kind 0 queue 1 vc 0 rank 1 expects 1..1\n"
            "125+1 kind 0 queue 1 vc 0 rank 1 expects 1..1\n")
      << "16 cards for a thousandth of the time: one every 62.5 ms";
}

TEST(Arrivals, JobsOfNoLengthTakeAMillisecondSoThatALoadOfThemEnds) {
  EXPECT_EQ(jobs_of(scenario(kNodes + "arrivals: [{process: uniform, load: 0.0625, until: 3ms, jobs: [{gpus: 1, "
                                      "duration: {uniform: {from: 0s, to: 0s}, min: 0s}}]}]\n")),
            "expected 0\n0+1 kind 0 queue 1 vc 0 rank 1 expects 1..1\n1+1 kind 0 queue 1 vc 0 rank 1 expects 1..1\n"
            "2+1 kind 0 queue 1 vc 0 rank 1 expects 1..1\n");
}

TEST(Arrivals, KindsSayWhatEachMemberAsks) {
  const std::string path = temporary("kinds.csv");
  std::ofstream(path) << "vc,gpu_num,submit_time,duration\na,20,0,1\na,3,0,1\na,16,0,1\n";
  Catalog catalog;
  const Scenario s = scenario(kNodes + "topology: [rack]\ntrace: {path: " + path +
                              ", format: csv, cpu_per_gpu: 0.5, memory_per_gpu: 1Ki}\n" +
                              "arrivals: [{count: 1, until: 1s, jobs: [{members: 3, gpu_milli: 250, gpu_memory: 1Gi, "
                              "cpu: 1, duration: 1s, within: "
                              "node, prefer: rack}]}]\n");
  ASSERT_TRUE(ScenarioWork::make(s, catalog).ok());
  std::vector<Event> events;
  catalog.define(events);
  std::vector<Demand> demands;
  for (const Event& e : events)
    if (const auto* d = std::get_if<DemandDefined>(&e.body)) demands.push_back(d->demand);
  std::string text;
  for (std::uint32_t k = 0; k < 4; ++k) {
    const JobKind& kind = catalog.kind(KindId(k));
    text += "kind " + std::to_string(k) + " members " + std::to_string(kind.members) + " within " +
            std::to_string(kind.within.value) + " prefer " + std::to_string(kind.prefer.value) + ":";
    for (const MemberNeed& need : kind.needs) {
      const Demand& d = demands[need.demand.row()];
      text += " " + std::to_string(need.count) + " x " + std::to_string(d.devices.count) + " of " +
              std::to_string(d.devices.milli_each.value) + "/" + std::to_string(d.devices.memory_each.value);
      for (const ResourceAmount& a : d.amounts)
        text += " r" + std::to_string(a.resource.value) + "=" + std::to_string(a.amount);
    }
    text += "\n";
  }
  EXPECT_EQ(text,
            "kind 0 members 3 within 1 prefer 0: 3 x 1 of 250/1024 r0=1000 r3=1\n"
            "kind 1 members 1 within 4294967295 prefer 4294967295: 1 x 3 of 1000/0 r0=1500 r1=3072 r3=1\n"
            "kind 2 members 2 within 4294967295 prefer 4294967295: 2 x 8 of 1000/0 r0=4000 r1=8192 r3=1\n"
            "kind 3 members 3 within 4294967295 prefer 4294967295: 2 x 8 of 1000/0 r0=4000 r1=8192 r3=1 1 x 4 of "
            "1000/0 r0=2000 r1=4096 r3=1\n");
}

}  // namespace
}  // namespace ashlar::sim
