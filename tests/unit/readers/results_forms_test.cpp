// The written forms of results, whole.
#include <gtest/gtest.h>

#include "sim/results/results.h"

namespace ashlar::sim {
namespace {

QueueRun queue_run() {
  return {.policy = "fifo,\"x\"",
          .jobs = 1'234'567,
          .unfinished_jobs = 1'000,
          .mean_jct_seconds = 98'765.43,
          .mean_queue_seconds = 0.05,
          .p50_queue_seconds = 1,
          .p90_queue_seconds = 999.4,
          .p99_queue_seconds = 999.6,
          .p999_queue_seconds = 123'456,
          .p99_jct_seconds = 7.5,
          .makespan_seconds = 12'345'678,
          .preemptions = 100,
          .per_vc = {{"a,b", 2, 1.5, 0.25}},
          .wall_seconds = 1.25};
}

std::string joined(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const auto& row : rows) {
    for (const std::string& cell : row) text += cell + "|";
    text += "\n";
  }
  return text;
}

TEST(ResultsForms, OfQueueing) {
  const QueueRun run = queue_run();
  EXPECT_EQ(joined(queue_rows({&run, 1})),
            "policy|jobs|mean JCT s|mean queue s|p50 queue s|p90 queue s|p99 queue s|p99.9 queue s|makespan "
            "s|preemptions|unfinished|simulated in s|\n"
            "fifo,\"x\"|1,234,567|98,765.4|0.1|1|999|1,000|123,456|12,345,678|100|1,000|1.250|\n");
  EXPECT_EQ(joined(narrow_queue_rows({&run, 1})),
            "policy|jobs|JCT s|queue s|p50|p90|p99|p99.9|makespan s|preempted|unfinished|\n"
            "fifo,\"x\"|1,234,567|98,765.4|0.1|1|999|1,000|123,456|12,345,678|100|1,000|\n");
  EXPECT_EQ(queue_csv({&run, 1}),
            "policy,vc,jobs,mean_jct_seconds,mean_queue_seconds,p50_queue_seconds,p90_queue_seconds,p99_queue_seconds,"
            "p999_queue_seconds,p99_jct_"
            "seconds,makespan_seconds,preemptions,unfinished_jobs,wall_seconds\n"
            "\"fifo,\"\"x\"\"\",\"a,b\",2,1.5,0.25,,,,,,,,,\n"
            "\"fifo,\"\"x\"\"\",ALL,1234567,98765.43,0.05,1,999.4,999.6,123456,7.5,12345678,100,1000,1.250000\n");
  EXPECT_EQ(queue_json({&run, 1}),
            "{\"apiVersion\":\"ashlar.dev/v1alpha1\",\"kind\":\"QueueRunList\",\"runs\":[\n"
            "{\"policy\":\"fifo,\\\"x\\\"\",\"jobs\":1234567,\"unfinished_jobs\":1000,\"mean_jct_seconds\":98765.43,"
            "\"p99_jct_seconds\":7.5,\"mean_queue_seconds\":0.05,\"p50_queue_seconds\":1,\"p90_queue_seconds\":999.4,"
            "\"p99_queue_seconds\":999.6,\"p999_queue_seconds\":123456,\"makespan_seconds\":12345678,"
            "\"preemptions\":100,\"per_vc\":{\"a,b\":{\"jobs\":2,\"mean_jct_seconds\":1.5,"
            "\"mean_queue_seconds\":0.25}},\"wall_seconds\":1.250000}]}\n");
  const QueueRun empty{.policy = "none"};
  EXPECT_EQ(joined(queue_rows({&empty, 1})),
            "policy|jobs|mean JCT s|mean queue s|p50 queue s|p90 queue s|p99 queue s|p99.9 queue s|makespan "
            "s|preemptions|unfinished|simulated in s|\n"
            "none|0|-|-|-|-|-|-|-|0|0|0.000|\n");
  EXPECT_EQ(queue_json({}), "{\"apiVersion\":\"ashlar.dev/v1alpha1\",\"kind\":\"QueueRunList\",\"runs\":[]}\n");
}

TEST(ResultsForms, OfPacking) {
  PackingRun run{.seed = 7, .policy = "a\rb"};
  run.allocation_percent[0] = 0.5;
  run.allocation_percent[9] = 8.25;
  run.allocation_percent[10] = 9.123456;
  run.fragmented_percent[10] = 1.0;
  run.fragmented_percent[100] = 2.5;
  run.fragment_ratio_percent[10] = 3;
  run.refused_pods = 4;
  run.wall_seconds = 0.0625;
  EXPECT_EQ(packing_csv({&run, 1}),
            "seed,policy,load_percent,allocation_percent,fragmented_percent,fragment_ratio_percent,refused_pods,wall_"
            "seconds\n"
            "7,\"a\rb\",0,0.5000,,,4,0.062500\n"
            "7,\"a\rb\",9,8.2500,,,4,0.062500\n"
            "7,\"a\rb\",10,9.1235,1.0000,3.0000,4,0.062500\n");
  EXPECT_EQ(joined(packing_rows({&run, 1})),
            "policy|seed|at 10 %|fragmented|refused|simulated in s|\n"
            "a\rb|7|9.1235|2.5000|4|0.062|\n");
  run.allocation_percent.fill(50.0);
  EXPECT_EQ(joined(narrow_packing_rows({&run, 1})),
            "policy|seed|at 100 %|at 110 %|at 120 %|at 130 %|fragmented|refused|\n"
            "a\rb|7|50.0000|50.0000|50.0000|50.0000|2.5000|4|\n");
  EXPECT_EQ(packing_json({}), "{\"apiVersion\":\"ashlar.dev/v1alpha1\",\"kind\":\"PackingRunList\",\"runs\":[]}\n");
}

}  // namespace
}  // namespace ashlar::sim
