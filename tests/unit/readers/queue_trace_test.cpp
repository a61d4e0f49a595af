#include "sim/trace/queue_trace.h"

#include <gmock/gmock.h>

#include "files.h"

namespace ashlar::sim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(JobFile, ReadsBothHeadersAlike) {
  Folder folder;
  for (const char* header : {"vc,gpu_num,submit_time,duration,priority", "vc,g,s,d,p"}) {
    const auto trace =
        read_jobs(folder.write("jobs.csv", std::string(header) + "\nb,1,0,30,281\na,16,70,61,-20\nb,2,70,0.5,1\n"));
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_THAT(trace->vcs, ElementsAre("b", "a"));
    ASSERT_EQ(trace->jobs.size(), 3u);
    EXPECT_TRUE(trace->has_estimates);
    EXPECT_EQ(trace->jobs[1].vc, 1u);
    EXPECT_EQ(trace->jobs[1].gpus, 16);
    EXPECT_EQ(trace->jobs[1].submit, Millis(70000));
    EXPECT_EQ(trace->jobs[1].duration, Millis(61000));
    EXPECT_EQ(trace->jobs[1].estimate, Millis(-20000));
    EXPECT_EQ(trace->jobs[2].duration, Millis(500));
  }
}

TEST(JobFile, WithoutEstimatesBelievesTheDuration) {
  Folder folder;
  const auto trace = read_jobs(folder.write("jobs.csv", "vc,gpu_num,submit_time,duration\na,1,0,30\n"));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_FALSE(trace->has_estimates);
  EXPECT_EQ(trace->jobs[0].estimate, Millis(30000));
}

TEST(JobFile, MistakesNameFileLineColumnAndForm) {
  Folder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"vc,gpu_num,submit_time,duration\na,0,0,30\n",
       ":2:3: gpu_num: expected the number of GPUs of the job, a whole number from 1, got \"0\""},
      {"vc,gpu_num,submit_time,duration\na,1,-3,30\n",
       ":2:5: submit_time: expected the submit time, seconds from 0, got \"-3\""},
      {"vc,gpu_num,submit_time,duration\na,1,0,-30\n",
       ":2:7: duration: expected the run time, seconds from 0, got \"-30\""},
      {"vc,gpu_num,submit_time,duration\na,1,0,1e300\n", "duration: expected the run time"},
      {"vc,gpu_num,submit_time,duration\n,1,0,3\n", ":2:1: vc: expected the name of a virtual cluster, got nothing"},
      {"vc,gpu_num,duration\na,1,3\n", ":1:1: expected a column \"submit_time\" or \"s\""},
      {"vc,gpu_num,submit_time,duration\n", ":2:1: expected at least one job"},
  };
  for (const auto& [text, message] : cases) {
    const auto trace = read_jobs(folder.write("jobs.csv", text));
    ASSERT_FALSE(trace.ok()) << text;
    EXPECT_THAT(trace.error().message, AllOf(StartsWith(folder.path("jobs.csv")), HasSubstr(message)));
  }
}

TEST(VcFile, ReadsBothHeaders) {
  Folder folder;
  for (const char* header : {"vc,node num", ",num", "vc,num"}) {
    const auto vcs = read_vcs(folder.write("vcs.csv", std::string(header) + "\n6214e9,64\n7f04ca,32\n"));
    ASSERT_TRUE(vcs.ok()) << vcs.error().message;
    ASSERT_EQ(vcs->size(), 2u);
    EXPECT_EQ((*vcs)[0].vc, "6214e9");
    EXPECT_EQ((*vcs)[1].nodes, 32);
  }
}

TEST(VcFile, RefusesDoubledNamesAndNoNodes) {
  Folder folder;
  EXPECT_THAT(read_vcs(folder.write("v.csv", "vc,num\na,1\na,2\n")).error().message,
              HasSubstr("v.csv:3:1: vc: expected every virtual cluster once"));
  EXPECT_THAT(read_vcs(folder.write("v.csv", "vc,num\na,0\n")).error().message,
              HasSubstr("v.csv:2:3: num: expected the number of 8-GPU nodes"));
  EXPECT_THAT(read_vcs(folder.write("v.csv", "vc,nodes\na,0\n")).error().message,
              HasSubstr("expected a column \"node num\" or \"num\""));
  EXPECT_THAT(read_vcs(folder.write("v.csv", "name,num\na,1\n")).error().message,
              HasSubstr("expected a column \"vc\""));
}

TEST(VcFile, RefusesMoreNodesThanOneClusterCanHave) {
  Folder folder;
  std::string text = "vc,num\n";
  for (int v = 0; v < 3; ++v) text += "v" + std::to_string(v) + ",400000\n";
  EXPECT_THAT(read_vcs(folder.write("v.csv", text)).error().message,
              HasSubstr("v.csv:4:4: num: expected at most 1000000 nodes in the whole file"));
}

TEST(JobFile, ForAReplayKnowsItsVirtualClustersAndWholeSeconds) {
  Folder folder;
  const std::string head = "vc,gpu_num,submit_time,duration\na,1,0,30\n";
  const std::vector<VcNodes> vcs{{"a", 1}};
  EXPECT_TRUE(read_jobs_for_replay(folder.write("j.csv", head), vcs).ok());
  const auto error = [&](const std::string& row) {
    return read_jobs_for_replay(folder.write("j.csv", head + row), vcs).error().message;
  };
  EXPECT_THAT(error("b,1,0,30\n"), HasSubstr("j.csv:3:1: vc: expected a virtual cluster of the --vcs file, got \"b\""));
  EXPECT_THAT(error("a,1,0.5,30\n"), HasSubstr("j.csv:3:5: submit_time: expected whole seconds"));
  EXPECT_THAT(error("a,1,0,30.25\n"), HasSubstr("j.csv:3:7: duration: expected whole seconds"));
}

constexpr const char* kSwf =
    "; Version: 2.2\n"
    "; MaxProcs: 128\n"
    "\n"
    "  1   0  5  100   4 -1 -1   4  200 -1 1 3 1 1 0 1 -1 -1\n"
    "  2  10 -1   -1   4 -1 -1   4  200 -1 0 3 1 1 0 1 -1 -1\n"
    "  3  20  0   50  -1 -1 -1  16   -1 -1 1 3 1 1 2 1 -1 -1\n";

TEST(Swf, ReadsJobsThatRan) {
  Folder folder;
  const auto swf = read_swf(folder.write("t.swf", kSwf));
  ASSERT_TRUE(swf.ok()) << swf.error().message;
  EXPECT_EQ(swf->skipped, 1);
  ASSERT_EQ(swf->trace.jobs.size(), 2u);
  EXPECT_EQ(read_swf(folder.write("bom.swf", "\xef\xbb\xbf" + std::string(kSwf)))->trace.jobs.size(), 2u);
  EXPECT_THAT(swf->trace.vcs, ElementsAre("queue-0", "queue-2"));
  EXPECT_EQ(swf->trace.jobs[0].gpus, 4);
  EXPECT_EQ(swf->trace.jobs[0].estimate, Millis(200'000));
  EXPECT_EQ(swf->trace.jobs[1].gpus, 16);
  EXPECT_EQ(swf->trace.jobs[1].submit, Millis(20'000));
  EXPECT_EQ(swf->trace.jobs[1].estimate, Millis(50'000));
  const auto one = read_swf(folder.write("one.swf", "1 0 5 100 1 -1 -1 4 200 -1 1 3 1 1 0 1 -1 -1\n"));
  EXPECT_EQ(one->trace.jobs.at(0).gpus, 1) << "what it got, not what it asked for";
}

TEST(Swf, MistakesNameFileLineColumnAndForm) {
  Folder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"1 0 5 100 4\n", "t.swf:1:1: expected 18 fields"},
      {"1 0 5 100 4 -1 -1 4 200 -1 1 3 1 1 0 1 -1 -1 7\n",
       "t.swf:1:1: expected 18 fields separated by blanks (Standard Workload Format), got more"},
      {"1 0 5 x 4 -1 -1 4 200 -1 1 3 1 1 0 1 -1 -1\n",
       "t.swf:1:7: field 4: expected the run time, seconds from 0 or -1, got \"x\""},
      {"1 -5 5 100 4 -1 -1 4 200 -1 1 3 1 1 0 1 -1 -1\n", "t.swf:1:3: field 2: expected the submit time"},
      {"1 -1 5 100 4 -1 -1 4 200 -1 1 3 1 1 0 1 -1 -1\n", "t.swf:1:3: field 2: expected the submit time"},
      {"1 0 5 100 9999999 -1 -1 4 200 -1 1 3 1 1 0 1 -1 -1\n",
       "t.swf:1:11: field 5: expected at most 1000000 processors"},
      {"; nothing\n", "expected jobs in Standard Workload Format"},
  };
  for (const auto& [text, message] : cases) {
    const auto swf = read_swf(folder.write("t.swf", text));
    ASSERT_FALSE(swf.ok()) << text;
    EXPECT_THAT(swf.error().message, HasSubstr(message));
  }
}

TEST(QueueTraces, GarbageNeverCrashes) {
  Folder folder;
  const std::string texts[] = {"vc,g,s,d,p\na,1,2,3,4\nb,1,2,3,4\n", kSwf, "vc,num\na,1\nb,2\n"};
  std::uint32_t random = 7;
  const auto draw = [&random](std::uint32_t bound) {
    return (random = random * 1664525u + 1013904223u) / 65536 % bound;
  };
  for (int round = 0; round < 600; ++round) {
    std::string text = texts[round % 3];
    for (std::uint32_t edits = 1 + draw(4); edits > 0; --edits) {
      const std::size_t at = draw(static_cast<std::uint32_t>(text.size()));
      if (draw(2) == 0) {
        text.erase(at, 1 + draw(5));
      } else {
        text[at] = ",\n\";- \r9e."[draw(10)];
      }
      if (text.empty()) text = ",";
    }
    const std::string path = folder.write("f", text);
    static_cast<void>(read_jobs(path).ok());
    static_cast<void>(read_swf(path).ok());
    static_cast<void>(read_vcs(path).ok());
  }
  SUCCEED();
}

TEST(QueueTraces, ThePublishedInputsRead) {
  ASHLAR_NEEDS_TRACES();
  const auto jobs = read_jobs(traces + "/philly-p-octnov-replay-input.csv.xz");
  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  EXPECT_EQ(jobs->jobs.size(), 68503u);
  EXPECT_EQ(jobs->vcs.size(), 11u);
  double gpu_hours = 0;
  for (const TraceJob& job : jobs->jobs) gpu_hours += job.gpus * (static_cast<double>(job.duration.value) / 3.6e6);
  EXPECT_NEAR(gpu_hours, 690'860, 1);
  const auto week = read_jobs(traces + "/philly-lucid-week-replay-input.csv.xz");
  ASSERT_TRUE(week.ok()) << week.error().message;
  EXPECT_EQ(week->jobs.size(), 10650u);
  const auto vcs = read_vcs(traces + "/philly-vc-nodes.csv.xz");
  ASSERT_TRUE(vcs.ok()) << vcs.error().message;
  int nodes = 0;
  for (const VcNodes& vc : *vcs) nodes += vc.nodes;
  EXPECT_EQ(nodes, 352);
  EXPECT_EQ(read_vcs(traces + "/lucid-venus-vc-config.csv.xz").value().size(), 15u);
}

}  // namespace
}  // namespace ashlar::sim
