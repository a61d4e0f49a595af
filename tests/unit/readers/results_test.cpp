#include "sim/results/results.h"
#include "documented/documented.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

#include <numeric>
#include <set>

#include "fidelity/published_results.h"
#include "files.h"
#include "sim/results/output_file.h"
#include "sim/results/step_series.h"

namespace ashlar::sim {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::StartsWith;

PackingRun packed(std::int64_t total_milli, std::initializer_list<PackingEvent> events) {
  PackingMeter meter(total_milli);
  for (const PackingEvent& event : events) meter.add(event);
  PackingRun run{.seed = 42, .policy = "fgd"};
  meter.finish(run);
  return run;
}

TEST(PackingMeter, TakesTheMeanOfABinsEvents) {
  const PackingRun run = packed(100'000, {{9'600, 9'000, 500}, {10'400, 9'500, 700}, {20'000, 19'000, 0}});
  EXPECT_DOUBLE_EQ(*run.allocation_percent[10], 9.25);
  EXPECT_DOUBLE_EQ(*run.fragmented_percent[10], 0.6);
  EXPECT_NEAR(*run.fragment_ratio_percent[10], (100 * 500 / 91'000.0 + 100 * 700 / 90'500.0) / 2, 1e-12);
  EXPECT_DOUBLE_EQ(*run.allocation_percent[20], 19.0);
  EXPECT_FALSE(run.allocation_percent[15].has_value());
}

TEST(PackingMeter, RoundsEachEventsAllocationToTwoDecimals) {
  // 12,345 of 100,000 is 12.345 %, which binary holds as a little more or less; 7,765 of 62,120 is 12.5 % exactly.
  EXPECT_DOUBLE_EQ(*packed(100'000, {{10'000, 12'344, 0}}).allocation_percent[10], 12.34);
  EXPECT_DOUBLE_EQ(*packed(100'000, {{10'000, 12'346, 0}}).allocation_percent[10], 12.35);
  EXPECT_DOUBLE_EQ(*packed(100'000, {{10'000, 125, 0}}).allocation_percent[10], 0.12) << "a tie goes to the even digit";
  EXPECT_DOUBLE_EQ(*packed(100'000, {{10'000, 375, 0}}).allocation_percent[10], 0.38) << "a tie goes to the even digit";
}

TEST(PackingMeter, ALoadBetweenTwoBinsGoesToTheEvenOne) {
  EXPECT_TRUE(packed(100'000, {{10'500, 1, 0}}).allocation_percent[10].has_value());
  EXPECT_DOUBLE_EQ(*packed(100'000, {{10'500, 1'000, 0}, {12'000, 5'000, 0}}).allocation_percent[10], 1.0);
}

TEST(PackingMeter, AnEmptyBinTakesItsNeighbours) {
  const PackingRun run = packed(100'000, {{10'000, 1'000, 0}, {10'100, 3'000, 0}, {12'000, 8'000, 0}});
  EXPECT_DOUBLE_EQ(*run.allocation_percent[11], 4.0) << "the mean of three events";
  EXPECT_DOUBLE_EQ(*run.allocation_percent[9], 2.0);
  EXPECT_FALSE(run.allocation_percent[8].has_value());
  EXPECT_DOUBLE_EQ(*run.allocation_percent[13], 8.0);
}

TEST(PackingMeter, LeavesOutWhatIsBeyondTheLastBin) {
  const PackingRun run = packed(100'000, {{131'000, 90'000, 0}, {500'000, 90'000, 0}});
  EXPECT_DOUBLE_EQ(*run.allocation_percent[130], 90.0) << "an empty last bin has an upper neighbour too";
  EXPECT_FALSE(run.allocation_percent[129].has_value());
}

QueueRun four_jobs() {
  QueueMeter meter({"a", "empty", "b"});
  meter.add({.vc = 0, .submit = Millis(0), .end = Millis(10'000), .queued = Millis(0)});
  meter.add({.vc = 2, .submit = Millis(5'000), .end = Millis(105'000), .queued = Millis(60'000)});
  meter.add({.vc = 2, .submit = Millis(6'000), .end = Millis(16'500), .queued = Millis(500)});
  meter.add({.vc = 0, .submit = Millis(7'000), .end = Millis(17'000), .queued = Millis(0)});
  QueueRun run{.policy = "fifo"};
  meter.finish(run);
  return run;
}

TEST(QueueMeter, GivesMeansPercentilesAndMakespan) {
  const QueueRun run = four_jobs();
  EXPECT_EQ(run.jobs, 4);
  EXPECT_DOUBLE_EQ(run.mean_jct_seconds, (10 + 100 + 10.5 + 10) / 4);
  EXPECT_DOUBLE_EQ(run.mean_queue_seconds, 60.5 / 4);
  EXPECT_DOUBLE_EQ(run.p50_queue_seconds, 0) << "index floor(0.5 x 3) = 1 of 0, 0, 0.5, 60";
  EXPECT_DOUBLE_EQ(run.p90_queue_seconds, 0.5) << "index floor(0.9 x 3) = 2";
  EXPECT_DOUBLE_EQ(run.p99_jct_seconds, 10.5) << "index 2 of 10, 10, 10.5, 100";
  EXPECT_DOUBLE_EQ(run.makespan_seconds, 105);
}

TEST(QueueMeter, TheMakespanCountsFromTheFirstSubmission) {
  QueueMeter meter({"a"});
  meter.add({.vc = 0, .submit = Millis(7'000), .end = Millis(9'000), .queued = Millis(0)});
  meter.add({.vc = 0, .submit = Millis(6'000), .end = Millis(16'500), .queued = Millis(0)});
  QueueMeter same = meter;
  QueueRun run;
  meter.finish(run);
  EXPECT_DOUBLE_EQ(run.makespan_seconds, 10.5);
  same.came(Millis(5'000));
  same.finish(run);
  EXPECT_DOUBLE_EQ(run.makespan_seconds, 11.5) << "also of one that never ended";
}

TEST(QueueMeter, MeansOfNothingAreNoNumbersInTheTable) {
  QueueMeter meter({"a"});
  meter.came(Millis(5'000));
  QueueRun run{.policy = "fifo", .unfinished_jobs = 1};
  meter.finish(run);
  EXPECT_DOUBLE_EQ(run.makespan_seconds, 0);
  const Rows rows = queue_rows(std::span(&run, 1));
  EXPECT_EQ(rows[1], (std::vector<std::string>{"fifo", "0", "-", "-", "-", "-", "-", "-", "-", "0", "1", "0.000"}));
}

TEST(JobLines, HaveSecondsAndQuotedNames) {
  JobLines lines;
  lines.add("a,b", "v",
            {.vc = 0,
             .submit = Millis(500),
             .end = Millis(4'000),
             .queued = Millis(1'500),
             .started = Millis(1'000),
             .devices = 8,
             .priority = -2});
  EXPECT_EQ(lines.text(),
            "policy,vc,gpus,priority,submit_seconds,start_seconds,end_seconds,queue_seconds\n"
            "\"a,b\",v,8,-2,0.5,1,4,1.5\n");
}

TEST(QueueMeter, LeavesOutClustersWithoutJobs) {
  const QueueRun run = four_jobs();
  ASSERT_EQ(run.per_vc.size(), 2u);
  EXPECT_EQ(run.per_vc[1].vc, "b");
  EXPECT_DOUBLE_EQ(run.per_vc[1].mean_queue_seconds, 30.25);
}

TEST(QueueMeter, TheDistributionEndsAtAllJobsAndStaysSmall) {
  QueueMeter meter({"a"});
  for (int i = 0; i < 100'000; ++i)
    meter.add({.vc = 0, .submit = Millis(0), .end = Millis(i), .queued = Millis(i % 5'000 * 1'000)});
  QueueRun run;
  meter.finish(run);
  EXPECT_LE(run.waits.size(), kWaitPoints);
  EXPECT_DOUBLE_EQ(run.waits.back().seconds, 4'999);
  EXPECT_DOUBLE_EQ(run.waits.back().share, 1);
  EXPECT_DOUBLE_EQ(run.waits[run.waits.size() - 2].seconds, 4'998) << "ever closer towards the longest";
  for (const WaitPoint& point : run.waits)
    EXPECT_NEAR(point.share, (point.seconds + 1) / 5'000, 1e-9) << "20 jobs waited each of 0..4999 s";
  for (std::size_t i = 1; i < run.waits.size(); ++i) {
    EXPECT_LT(run.waits[i - 1].seconds, run.waits[i].seconds);
    EXPECT_LT(run.waits[i - 1].share, run.waits[i].share);
  }
}

TEST(QueueMeter, WithoutJobsIsZeroAndNotANumber) {
  QueueMeter meter({"a"});
  QueueRun run{.policy = "fifo"};
  meter.finish(run);
  EXPECT_EQ(queue_json(std::vector{run}).find("nan"), std::string::npos);
}

TEST(StepSeries, KeepsTheMeanOfEachBucketWhateverTheLength) {
  for (std::int64_t length : {5'000, 1'000'000, 900'000'000}) {
    StepSeries series;
    series.change(Millis(0), 4);
    series.change(Millis(length / 2), 8);
    const auto points = series.points(Millis(length), 10);
    ASSERT_FALSE(points.empty());
    EXPECT_LE(points.size(), StepSeries::kBuckets);
    EXPECT_DOUBLE_EQ(points.front().value, 40);
    EXPECT_DOUBLE_EQ(points.back().value, 80);
  }
}

TEST(StepSeries, LosesNoTime) {
  StepSeries series;
  std::uint32_t random = 3;
  std::int64_t at = 0;
  double value = 0, area = 0;
  for (int i = 0; i < 5'000; ++i) {
    random = random * 1664525u + 1013904223u;
    const std::int64_t next = at + random % 700'000;
    area += value * static_cast<double>(next - at);
    value = random % 100;
    series.change(Millis(next), value);
    at = next;
  }
  const auto points = series.points(Millis(at));
  double drawn = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double end_hours = i + 1 < points.size() ? points[i + 1].hours : static_cast<double>(at) / 3.6e6;
    drawn += points[i].value * (end_hours - points[i].hours) * 3.6e6;
  }
  EXPECT_NEAR(drawn / area, 1, 1e-9);
}

TEST(ResultsText, PackingJsonHasTheAgreedShape) {
  PackingRun run = packed(100'000, {{10'000, 9'000, 500}});
  run.refused_pods = 7;
  run.wall_seconds = 0.25;
  const std::string json = packing_json(std::vector{run});
  EXPECT_THAT(json, HasSubstr("\"kind\":\"PackingRunList\",\"runs\":[\n{\"seed\":42,\"policy\":\"fgd\",\"allocation_"
                              "percent\":{\"0\":null,\"1\":null"));
  EXPECT_THAT(json, HasSubstr("\"10\":9.0000,"));
  EXPECT_THAT(json, HasSubstr("\"130\":null},\"fragmented_percent\":{"));
  EXPECT_THAT(json, HasSubstr("\"130\":null},\"fragment_ratio_percent\":{"));
  EXPECT_THAT(json, HasSubstr("},\"refused_pods\":7,\"wall_seconds\":0.250000}]}"));
  EXPECT_EQ(undocumented(json), "");
}

TEST(ResultsText, QueueJsonIsAListOfRuns) {
  QueueRun run = four_jobs();
  run.preemptions = 3;
  run.unfinished_jobs = 2;
  run.busy_percent = {{0.5, 75}};
  run.waiting_jobs = {{0, 3}};
  const std::string json = queue_json(std::vector{run});
  EXPECT_THAT(json, HasSubstr("{\"a\":{\"jobs\":2,\"mean_jct_seconds\":10,\"mean_queue_seconds\":0},"
                              "\"b\":{\"jobs\":2,\"mean_jct_seconds\":55.25,\"mean_queue_seconds\":30.25}},"
                              "\"busy_percent\":[[0.5000,75.0000]],\"waiting_jobs\":[[0.0000,3.0000]],"
                              "\"wall_seconds\":0.000000}]}\n"));
  EXPECT_EQ(undocumented(json), "");
  EXPECT_THAT(queue_json(std::vector{run, run}), HasSubstr("\"wall_seconds\":0.000000},\n{\"policy\""));
}

TEST(ResultsText, NamesAreEscaped) {
  QueueRun run = four_jobs();
  run.policy = "a\"b,c\n";
  EXPECT_THAT(queue_json(std::vector{run}), HasSubstr("\"a\\\"b,c\\u000a\""));
  EXPECT_THAT(queue_csv(std::vector{run}), HasSubstr("\"a\"\"b,c\n\",ALL"));
}

TEST(ResultsText, TablesHaveRowsOfOneWidth) {
  const auto rows =
      packing_rows(std::vector{packed(100'000, {{10'000, 9'000, 500}}), packed(100'000, {{30'000, 9'000, 500}})});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0], ElementsAre("policy", "seed", "at 10 %", "at 30 %", "fragmented", "refused", "simulated in s"));
  EXPECT_THAT(rows[1], ElementsAre("fgd", "42", "9.0000", "", "0.5000", "0", "0.000"));
  const auto queue = queue_rows(std::vector{four_jobs()});
  EXPECT_EQ(queue[0].size(), queue[1].size());
}

TEST(OutputFile, IsWrittenWholeOrNotAtAll) {
  Folder folder;
  ASSERT_TRUE(write_whole_file(folder.path("out.json"), "first").ok());
  ASSERT_TRUE(write_whole_file(folder.path("out.json"), "second").ok());
  std::ifstream in(folder.path("out.json"));
  std::string text;
  in >> text;
  EXPECT_EQ(text, "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path("")), {}), 1) << "nothing is left beside it";
}

TEST(OutputFile, AFailureNamesTheFileAndLeavesNothing) {
  Folder folder;
  const auto written = write_whole_file(folder.path("absent/out.json"), "x");
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr("absent/out.json: cannot be written"));
  EXPECT_FALSE(write_whole_file(folder.path(""), "x").ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path("")));
}

TEST(OutputFile, WhatCouldNotBeWrittenWholeIsTakenAwayAgain) {
  Folder folder;
  ASSERT_TRUE(write_whole_file(folder.path("out.json"), "first").ok());
  const auto written = [&] {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{16, before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    auto result = write_whole_file(folder.path("out.json"), std::string(1000, 'x'));
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    return result;
  }();
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(std::filesystem::file_size(folder.path("out.json")), 5u) << "what was there stays";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path("")), {}), 1) << "nothing is left beside it";
}

TEST(OutputFile, KnowsAFileByAnySpellingAndLink) {
  Folder folder;
  const std::string input = folder.path("in.csv");
  ASSERT_TRUE(write_whole_file(input, "x").ok());
  ASSERT_TRUE(write_whole_file(folder.path("other"), "x").ok());
  std::filesystem::create_symlink("in.csv", folder.path("link"));
  const std::string inputs[] = {folder.path("none.csv"), input};
  for (const char* same : {"in.csv", "./in.csv", "link"})
    EXPECT_TRUE(is_one_of_files(folder.path(same), inputs)) << same;
  for (const char* other : {"other", "absent", "none.csv", ""})
    EXPECT_FALSE(is_one_of_files(folder.path(other), inputs)) << other;
}

TEST(OutputFile, WritesThroughToADevice) { EXPECT_TRUE(write_whole_file("/dev/null", "x").ok()); }

TEST(Expected, ComparesCurvesBinByBin) {
  LoadCurve ours, published;
  ours[3] = 5.0;
  published[3] = 5.004;
  ours[90] = 80.0;
  published[90] = 79.98;
  ours[91] = 1.0;
  const CurveDeviation deviation = compare(ours, published);
  EXPECT_NEAR(deviation.largest, 0.02, 1e-12);
  EXPECT_EQ(deviation.bin, 90u);
  EXPECT_EQ(deviation.one_sided_bins, 1u);
}

TEST(Expected, ReadsAPublishedPackingTable) {
  Folder folder;
  std::string header = "workload,sc_policy,tune,seed", row = "openb_pod_list_default,06-FGD,1.3,42";
  for (std::size_t k = 0; k < kLoadBins; ++k) {
    header += "," + std::to_string(k);
    row += k == 7 ? "," : "," + std::to_string(k) + ".5";
  }
  const auto table = read_expected_packing(folder.write("t.csv", header + "\n" + row + "\n"));
  ASSERT_TRUE(table.ok()) << table.error().message;
  const ExpectedPacking* found = find_expected(*table, "default", "fgd", 42);
  ASSERT_NE(found, nullptr);
  EXPECT_DOUBLE_EQ(*found->percent[130], 130.5);
  EXPECT_FALSE(found->percent[7].has_value());
  EXPECT_EQ(find_expected(*table, "default", "fgd", 43), nullptr);
  EXPECT_THAT(
      read_expected_packing(folder.write("t.csv", header + "\n" + row.replace(23, 6, "09-NEW") + "\n")).error().message,
      HasSubstr("expected a policy of the published tables"));
}

TEST(Expected, DifferencesAreJudgedAtTheTablesDigits) {
  Folder folder;
  const std::string header =
      "input,shrink,policy,walls,vc,jobs,mean_jct,mean_queue,p50_queue,p90_queue,p99_queue,p999_queue,p99_jct,makespan,"
      "preemptions\n";
  const auto table = read_expected_queue(folder.write(
      "e.csv", header + "x,1,fifo,isolated,b,2,55,30,,,,,,,\nx,1,fifo,isolated,ALL,4,32.6,15.2,0,2,0,0,11,105,0\n"));
  ASSERT_TRUE(table.ok()) << table.error().message;
  for (const auto& [shrink, is_ok] : {std::pair("0", false), {"1000", true}, {"1001", false}, {"-1", false}}) {
    const auto read =
        read_expected_queue(folder.write("s.csv", header + "x," + shrink + ",fifo,isolated,b,2,55,30,,,,,,,\n"));
    EXPECT_EQ(read.ok(), is_ok) << shrink;
  }
  QueueRun run = four_jobs();
  // 32.625 is 32.6 to one digit and 0.5 may be written 0 or 1, but 15.125 is not 15.2.
  EXPECT_THAT(differences(run, *table, "x", 1, false),
              ElementsAre("ALL mean queue: 15.12 against 15.2", "ALL p90 queue: 0.5 against 2"));
  run.preemptions = 2;
  EXPECT_THAT(differences(run, *table, "x", 1, false), ::testing::Contains("ALL preemptions: 2 against 0"));
  EXPECT_THAT(differences(run, *table, "x", 2, false), ElementsAre(HasSubstr("no row")));
}

TEST(ExpectedTraces, ThePublishedTablesRead) {
  ASHLAR_NEEDS_TRACES();
  for (const char* file : {"allo", "frag", "frag_ratio"}) {
    const auto table = read_expected_packing(traces + "/packing/fgd-expected/analysis_" + file + "_discrete.csv.zst");
    ASSERT_TRUE(table.ok()) << table.error().message;
    EXPECT_EQ(table->size(), 1020u);
  }
  const auto queue = read_expected_queue(traces + "/philly-p-expected.csv");
  ASSERT_TRUE(queue.ok()) << queue.error().message;
  EXPECT_EQ(queue->size(), 465u);
}

}  // namespace
}  // namespace ashlar::sim
