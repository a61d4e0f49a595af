// The pods of a trace, whatever its format.
#include "sim/trace/trace_pods.h"

#include <gmock/gmock.h>

#include "files.h"

namespace ashlar::sim {
namespace {

using testing::Folder;
using ::testing::HasSubstr;

const char* const kOpenb =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time\n"
    "late,4000,8192,1,460,9,19\nearly,1000,1024,8,1000,2,2\n";
const char* const kPhilly =
    R"([{"vc": "v1", "jobid": "app_1", "submitted_time": "2017-10-07 01:00:05", "attempts": [{"start_time": "2017-10-07 01:00:10",
  "end_time": "2017-10-07 01:01:10", "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu0"]}]}]},
 {"vc": "v2", "jobid": "app_2", "submitted_time": "2017-10-07 01:00:00", "attempts": []},
 {"vc": "v2", "jobid": "app_3", "submitted_time": "2017-10-07 01:00:00", "attempts": [{"start_time": "2017-10-07 01:00:10",
  "end_time": "2017-10-07 01:00:11", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]}])";
const char* const kSwf =
    "; Version: 2.2\n1 10 0 60 20 -1 -1 20 90 -1 1 1 1 1 3 1 -1 -1\n2 0 0 -1 4 -1 -1 4 -1 -1 1 1 1 1 3 1 -1 -1\n"
    "3 5 0 30 4 -1 -1 4 -1 -1 1 1 1 1 4 1 -1 -1\n";

TracePods pods_of(const std::string& text, const TracePodOptions& options = {}) {
  const Folder folder;
  const Result<TracePods> pods = read_trace_pods(folder.write("trace", text), {}, options);
  EXPECT_TRUE(pods.ok()) << pods.error().message;
  return pods.ok() ? *pods : TracePods{};
}

/// "name gang*size queue cpu memory gpus*milli submit duration" of each pod.
std::string told(const TracePods& pods) {
  std::string text;
  for (const TracePod& p : pods.pods) {
    text += p.name + " " + p.gang + "*" + std::to_string(p.gang_size) + " " + (p.queue.empty() ? "-" : p.queue) + " " +
            std::to_string(p.cpu.value) + " " + std::to_string(p.memory.value) + " " + std::to_string(p.gpus) + "*" +
            std::to_string(p.milli_each.value) + " " + std::to_string(p.submit ? p.submit->value : -1) + " " +
            std::to_string(p.duration ? p.duration->value : -1) + "\n";
  }
  return text + std::to_string(pods.jobs) + " jobs, " + std::to_string(pods.skipped) + " skipped";
}

TEST(TracePods, OfAnOpenbListAreItsPodsByCreation) {
  EXPECT_EQ(told(pods_of(kOpenb)),
            "early *0 - 1000 1024 8*1000 2000 -1\nlate *0 - 4000 8192 1*460 9000 10000\n2 jobs, 0 skipped");
}

TEST(TracePods, OfPhillyAreOnePerServer) {
  EXPECT_EQ(told(pods_of(kPhilly)),
            "app_3 *0 v2 0 0 1*1000 0 1000\napp_1-0 app_1*2 v1 0 0 2*1000 5000 60000\napp_1-1 app_1*2 v1 0 0 1*1000 "
            "5000 60000\n2 jobs, 1 skipped");
}

TEST(TracePods, OfTheStandardWorkloadFormatAreWholePodsAndTheRest) {
  EXPECT_EQ(told(pods_of(kSwf)),
            "job-4 *0 queue-4 0 0 4*1000 5000 30000\njob-2-0 job-2*3 queue-3 0 0 8*1000 10000 60000\njob-2-1 job-2*3 "
            "queue-3 0 0 8*1000 10000 60000\njob-2-2 job-2*3 queue-3 0 0 4*1000 10000 60000\n2 jobs, 1 skipped");
  EXPECT_EQ(told(pods_of(kSwf, {.format = TraceFormat::kSwf, .gpus_per_pod = 16, .is_of_cores = true, .jobs_max = 1})),
            "job-4 *0 queue-4 4000 0 0*1000 5000 30000\n1 jobs, 1 skipped");
}

TEST(TracePods, TheLimitCountsJobsAndSplitsNone) {
  EXPECT_EQ(pods_of(kPhilly, {.format = {}, .jobs_max = 2}).pods.size(), 3u);
  EXPECT_EQ(pods_of(kPhilly, {.format = {}, .jobs_max = 1}).pods.size(), 1u);
  EXPECT_EQ(pods_of(kPhilly, {.format = {}, .jobs_max = 0}).pods.size(), 0u);
}

TEST(TracePods, TheFormatIsKnownByTheFirstCharacter) {
  EXPECT_EQ(trace_format_of(" \n[{"), TraceFormat::kPhilly);
  EXPECT_EQ(trace_format_of("{"), TraceFormat::kPhilly);
  EXPECT_EQ(trace_format_of("; Version: 2.2"), TraceFormat::kSwf);
  EXPECT_EQ(trace_format_of("\xef\xbb\xbf  1 2"), TraceFormat::kSwf);
  EXPECT_EQ(trace_format_of("-1 2"), TraceFormat::kSwf);
  EXPECT_EQ(trace_format_of("name,num_gpu"), TraceFormat::kOpenb);
  EXPECT_EQ(trace_format_of(""), TraceFormat::kOpenb);
}

TEST(TracePods, AWrongLineIsNamedWhateverTheFormat) {
  const Folder folder;
  const auto error_of = [&](const std::string& text, const TracePodOptions& options = {}) {
    const Result<TracePods> pods = read_trace_pods(folder.write("trace", text), {}, options);
    return pods.ok() ? "no error" : pods.error().message;
  };
  EXPECT_THAT(error_of("; c\n1 2 3\n"), HasSubstr("trace:2:1: expected 18 fields separated by blanks"));
  EXPECT_THAT(error_of("[\n{\"jobid\": 7}]"), HasSubstr("trace:2:2: jobid: expected a text"));
  EXPECT_THAT(error_of("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,x,1,1,1000\n"),
              HasSubstr("trace:2:3: cpu_milli"));
  EXPECT_THAT(error_of(kSwf, {.format = TraceFormat::kPhilly}), HasSubstr("trace:1:1: expected a list of jobs"));
  EXPECT_THAT(read_trace_pods(folder.path("nosuch"), {}, {}).error().message, HasSubstr("nosuch"));
}

}  // namespace
}  // namespace ashlar::sim
