// Small queueing replays whose results can be worked out by hand.
#include "sim/replay/job_replay.h"

#include <gtest/gtest.h>

#include "config/profile_file.h"
#include "policy/profile.h"

namespace ashlar::sim {
namespace {

struct Row {
  std::int32_t gpus;
  std::int64_t submit, duration;
  std::int64_t estimate = 0;
  std::uint32_t vc = 0;
};

JobTrace trace_of(std::initializer_list<Row> rows, std::vector<std::string> vcs = {"a"}) {
  JobTrace trace{.vcs = std::move(vcs), .jobs = {}, .has_estimates = true};
  for (const Row& r : rows)
    trace.jobs.push_back({r.vc, r.gpus, Millis(r.submit * 1000), Millis(r.duration * 1000), Millis(r.estimate * 1000)});
  return trace;
}

QueueRun run(const JobTrace& trace, const std::string& policy, std::vector<VcNodes> vcs = {{"a", 1}},
             bool is_pooled = false) {
  const QueueReplay replay{.trace = trace, .vcs = vcs, .is_pooled = is_pooled, .has_series = true};
  const Result<void> checked = check_replay(replay);
  EXPECT_TRUE(checked.ok());
  return run_queue(replay, *builtin_profile(policy));
}

TEST(QueueReplay, StrictFifoMakesASmallJobWaitBehindAWideOneAndSkipDoesNot) {
  const JobTrace trace = trace_of({{6, 0, 100}, {8, 1, 10}, {2, 2, 20}});
  const QueueRun strict = run(trace, "fifo"), skip = run(trace, "fifo-skip");
  // Strict: 8 devices at 100, then 2 devices at 110. Waits 0 + 99 + 108.
  EXPECT_DOUBLE_EQ(strict.mean_queue_seconds, (0 + 99 + 108) / 3.0);
  EXPECT_DOUBLE_EQ(strict.makespan_seconds, 130);
  // Skip: 2 devices at once, 8 devices at 100.
  EXPECT_DOUBLE_EQ(skip.mean_queue_seconds, 99 / 3.0);
}

TEST(QueueReplay, TheMakespanCountsFromTheFirstSubmission) {
  EXPECT_DOUBLE_EQ(run(trace_of({{8, 1000, 100}, {8, 1001, 10}}), "fifo").makespan_seconds, 110);
}

TEST(QueueReplay, EasyLetsAJobPassOnlyIfItEndsBeforeTheReservation) {
  const JobTrace fits = trace_of({{6, 0, 100}, {8, 1, 10}, {2, 2, 98}});
  EXPECT_DOUBLE_EQ(run(fits, "easy").mean_queue_seconds, 99 / 3.0);
  const JobTrace too_long = trace_of({{6, 0, 100}, {8, 1, 10}, {2, 2, 99}});
  EXPECT_DOUBLE_EQ(run(too_long, "easy").mean_queue_seconds, (0 + 99 + 108) / 3.0);
}

TEST(QueueReplay, ShortestJobGoesFirst) {
  const JobTrace trace = trace_of({{8, 0, 50}, {8, 1, 40}, {8, 2, 10}});
  EXPECT_DOUBLE_EQ(run(trace, "sjf").mean_queue_seconds, (0 + (60 - 1) + (50 - 2)) / 3.0);
}

TEST(QueueReplay, QssfOrdersByItsEstimateTimesDevicesAndTheOracleByTheTruth) {
  // The estimates say that the long job is short.
  const JobTrace trace = trace_of({{8, 0, 50, 50}, {8, 1, 100, 1}, {8, 2, 10, 90}});
  EXPECT_DOUBLE_EQ(run(trace, "qssf").mean_queue_seconds, (0 + 49 + 148) / 3.0);
  EXPECT_DOUBLE_EQ(run(trace, "qssf-oracle").mean_queue_seconds, (0 + 59 + 48) / 3.0);
}

TEST(QueueReplay, SrtfStopsALongJobAndChargesItsRestart) {
  const JobTrace trace = trace_of({{8, 0, 100}, {8, 10, 20}});
  const QueueRun r = run(trace, "srtf");
  EXPECT_EQ(r.preemptions, 1);
  // The short one runs 10..31 (its end is seen a second late); the long one starts again at 31 with 90 + 30 s to go and
  // is seen to end at 152.
  EXPECT_DOUBLE_EQ(r.makespan_seconds, 152);
  EXPECT_DOUBLE_EQ(r.mean_queue_seconds, 21 / 2.0);
  EXPECT_DOUBLE_EQ(r.mean_jct_seconds, (152 + 21) / 2.0);
}

TEST(QueueReplay, AStoppedJobRunsOnForItsGraceAndItsPlaceIsTakenAfterIt) {
  const JobTrace trace = trace_of({{8, 0, 100}, {8, 10, 20}});
  const std::vector<VcNodes> vcs{{"a", 1}};
  Profile profile = *builtin_profile("srtf");
  profile.grace = Millis(15'000);
  const QueueRun r = run_queue({.trace = trace, .vcs = vcs}, profile);
  EXPECT_EQ(r.preemptions, 1);
  // The short one runs 25..46; the long one, stopped at 25, again from 46 with 75 + 30 s to go.
  EXPECT_DOUBLE_EQ(r.makespan_seconds, 152);
  EXPECT_DOUBLE_EQ(r.mean_queue_seconds, (15 + 21) / 2.0);
}

TEST(QueueReplay, TiresiasDecidesOnTheMinuteAndFavoursWhoeverHasHadLittle) {
  // 8 devices pass 18,000 GPU-seconds after 2,250 s, so at the next minute (2,280 s) the newcomer takes over.
  const JobTrace trace = trace_of({{8, 0, 5000}, {8, 100, 60}});
  const QueueRun r = run(trace, "tiresias");
  EXPECT_EQ(r.preemptions, 1);
  // Newcomer: 2280..2341; the long one again from 2400 with 2720 + 30 s to go, seen to end at 5151.
  EXPECT_DOUBLE_EQ(r.makespan_seconds, 5151);
  EXPECT_DOUBLE_EQ(r.mean_queue_seconds, ((2280 - 100) + (2400 - 2280)) / 2.0);
}

TEST(QueueReplay, AWideJobTakesWholeNodesAndItsRemainderTheNextOne) {
  // 12 devices on two nodes: 8 on one, 4 on the other; 4 more fit beside them, 5 do not.
  EXPECT_DOUBLE_EQ(run(trace_of({{12, 0, 50}, {4, 0, 10}}), "fifo", {{"a", 2}}).mean_queue_seconds, 0);
  EXPECT_DOUBLE_EQ(run(trace_of({{12, 0, 50}, {5, 0, 10}}), "fifo", {{"a", 2}}).mean_queue_seconds, 25);
}

TEST(QueueReplay, WallsKeepJobsOutOfOtherClustersAndPoolingTakesThemAway) {
  const JobTrace trace = trace_of({{8, 0, 50, 0, 0}, {8, 0, 50, 0, 0}, {8, 0, 10, 0, 1}}, {"a", "b"});
  const std::vector<VcNodes> vcs{{"a", 1}, {"b", 1}};
  const QueueRun walled = run(trace, "fifo", vcs), pooled = run(trace, "fifo", vcs, true);
  EXPECT_DOUBLE_EQ(walled.mean_queue_seconds, 50 / 3.0);
  EXPECT_DOUBLE_EQ(pooled.mean_queue_seconds, 50 / 3.0);
  ASSERT_EQ(pooled.per_vc.size(), 2u);
  EXPECT_DOUBLE_EQ(walled.per_vc[1].mean_queue_seconds, 0);
  EXPECT_DOUBLE_EQ(pooled.per_vc[1].mean_queue_seconds, 50);
}

TEST(QueueReplay, ThreadsDoNotChangeTheResult) {
  JobTrace trace{.vcs = {"a", "b", "c"}, .jobs = {}, .has_estimates = false};
  for (std::int64_t i = 0; i < 600; ++i)
    trace.jobs.push_back({static_cast<std::uint32_t>(i % 3), static_cast<std::int32_t>(1 + i * 7 % 16),
                          Millis(i * 11000), Millis((1 + i * 37 % 900) * 1000), Millis(0)});
  const std::vector<VcNodes> vcs{{"a", 2}, {"b", 3}, {"c", 4}};
  QueueReplay replay{.trace = trace, .vcs = vcs, .threads = 1};
  QueueRun alone = run_queue(replay, *builtin_profile("srtf"));
  replay.threads = 3;
  QueueRun together = run_queue(replay, *builtin_profile("srtf"));
  alone.wall_seconds = together.wall_seconds = 0;
  EXPECT_EQ(queue_json({&alone, 1}), queue_json({&together, 1}));
  EXPECT_EQ(alone.jobs, 600);
}

TEST(QueueReplay, JobsWiderThanTheClusterStayAndAreCounted) {
  const QueueRun r = run(trace_of({{16, 0, 10}, {1, 0, 10}}), "fifo-skip");
  EXPECT_EQ(r.jobs, 1);
  EXPECT_EQ(r.unfinished_jobs, 1);
}

TEST(QueueReplay, BusyDevicesOverTimeAddUpToTheWorkDone) {
  const QueueRun r = run(trace_of({{4, 0, 1024}, {8, 0, 1024}}), "fifo");
  double sum = 0;
  for (const SeriesPoint& p : r.busy_percent) sum += p.value / static_cast<double>(r.busy_percent.size());
  EXPECT_NEAR(sum, 75, 0.5);  // half of the devices, then all of them
}

// What their papers' simulators did belongs to the profiles, so that one of another name that starts from them replays
// alike.
TEST(QueueReplay, AProfileThatOnlyNamesItsBaseReplaysLikeIt) {
  JobTrace trace{.vcs = {"a"}, .jobs = {}, .has_estimates = true};
  for (std::int64_t i = 0; i < 200; ++i)
    trace.jobs.push_back({0, static_cast<std::int32_t>(1 + i * 7 % 8), Millis(i * 40'000),
                          Millis((30 + i * 371 % 9000) * 1000), Millis((30 + i * 53 % 5000) * 1000)});
  const std::vector<VcNodes> vcs{{"a", 2}};
  const QueueReplay replay{.trace = trace, .vcs = vcs};
  for (const char* base : {"srtf", "qssf", "tiresias", "fifo", "easy"}) {
    const std::string text =
        "apiVersion: config.ashlar.dev/v1alpha1\nkind: Profile\nname: mine\nbase: " + std::string(base) + "\n";
    QueueRun named = run_queue(replay, *builtin_profile(base));
    QueueRun based = run_queue(replay, base, config::parse_profile(text, "mine.yaml")->profile);
    named.wall_seconds = based.wall_seconds = 0;
    EXPECT_EQ(queue_json({&named, 1}), queue_json({&based, 1})) << base;
  }
  const std::string exact =
      "apiVersion: config.ashlar.dev/v1alpha1\nkind: Profile\nname: mine\nbase: srtf\nreplay: {endLag: 0}\n";
  EXPECT_LT(run_queue(replay, config::parse_profile(exact, "mine.yaml")->profile).mean_jct_seconds,
            run_queue(replay, *builtin_profile("srtf")).mean_jct_seconds);
}

TEST(QueueReplayInput, RejectsWhatItCannotReplay) {
  const JobTrace trace = trace_of({{1, 0, 10}});
  const std::vector<VcNodes> other{{"b", 1}}, good{{"a", 1}};
  EXPECT_EQ(check_replay({.trace = trace, .vcs = other}).error().message,
            "0: vc: expected a virtual cluster of the --vcs file, got \"a\"");
  EXPECT_FALSE(check_replay({.trace = trace, .vcs = good, .shrink = 0}).ok());
  JobTrace fractional = trace;
  fractional.jobs[0].duration = Millis(1500);
  fractional.jobs[0].line = 17;
  EXPECT_EQ(check_replay({.trace = fractional, .vcs = good}).error().message,
            "17: duration: expected whole seconds (queueing replays count nothing else), got 1.500000");
}

TEST(RestartOverheadText, ReadsThreeNumbersAndNothingElse) {
  EXPECT_EQ(*parse_restart_overhead("40,40,60"), (RestartOverhead{40, 40, 60}));
  for (const char* bad : {"", "7", "7,30", "7,30,60,90", "7,30,x", "-1,30,60", "9223372036854775,1,1", "7, 30,60"})
    EXPECT_FALSE(parse_restart_overhead(bad).ok()) << bad;
}

}  // namespace
}  // namespace ashlar::sim
