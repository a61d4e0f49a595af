// Philly's job log as published: what is read of it, and what is said about what is wrong in it.
#include "sim/trace/philly.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace ashlar::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string attempt(const std::string& start, const std::string& end, const std::string& detail) {
  return R"({"start_time": )" + start + R"(, "end_time": )" + end + R"(, "detail": [)" + detail + "]}";
}

std::string job(const std::string& id, const std::string& submitted, const std::string& attempts) {
  return R"({"status": "Pass", "vc": "ee9e8c", "jobid": ")" + id + "\",\n \"attempts\": [" + attempts +
         "],\n \"submitted_time\": \"" + submitted + "\", \"user\": \"ce2f4c\"}";
}

const std::string kTwoServers = R"({"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu7"]})";
const std::string kOneServer = R"({"ip": "m1", "gpus": ["gpu3"]})";
const std::string kRan = attempt(R"("2017-10-07 01:00:10")", R"("2017-10-07 01:00:50")", kOneServer);

PhillyTrace trace_of(const std::string& text) {
  Result<PhillyTrace> trace = parse_philly(text, "log");
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return trace.ok() ? *std::move(trace) : PhillyTrace{};
}

std::string error_of(const std::string& text) {
  const Result<PhillyTrace> trace = parse_philly(text, "log");
  return trace.ok() ? "no error" : trace.error().message;
}

TEST(Philly, AJobRunsFromItsFirstStartToItsLastEnd) {
  const PhillyTrace trace = trace_of("[" +
                                     job("j_1", "2017-10-07 23:59:59",
                                         attempt(R"("2017-10-08 00:00:09")", R"("None")", kTwoServers) + "," +
                                             attempt("null", R"("2017-10-09 00:00:10")", kOneServer)) +
                                     ",\n" + job("j_2", "2017-10-07 23:59:29", kRan) + "]\n");
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].id, "j_1");
  EXPECT_EQ(trace.jobs[0].vc, "ee9e8c");
  EXPECT_EQ(trace.jobs[0].submit, Millis(30'000)) << "after the first submission of the file";
  EXPECT_EQ(trace.jobs[0].duration, Millis(86'401'000));
  EXPECT_THAT(trace.jobs[0].gpus_by_server, ElementsAre(2, 1));
  EXPECT_EQ(trace.jobs[1].submit, Millis(0));
  EXPECT_EQ(trace.jobs[1].duration, Millis(40'000));
  EXPECT_THAT(trace.jobs[1].gpus_by_server, ElementsAre(1));
  EXPECT_EQ(trace.skipped, 0);
}

TEST(Philly, JobsThatNeverRanOrHaveNoKnownRunTimeAreLeftOutAndCounted) {
  const std::string at = "2017-10-07 01:00:00", start = R"("2017-10-07 01:00:10")";
  const PhillyTrace trace =
      trace_of("[" + job("ran", at, kRan) + "," + job("no-attempt", at, "") + "," +
               job("runs-still", at, attempt(start, "null", kOneServer)) + "," +
               job("no-start", at, attempt("\"None\"", start, kOneServer)) + "," +
               job("no-time", at, attempt(start, start, kOneServer)) + "," +
               job("no-gpu", at, attempt(start, R"("2017-10-07 02:00:00")", R"({"ip": "m1", "gpus": []})")) + "]");
  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].id, "ran");
  EXPECT_EQ(trace.skipped, 5);
}

TEST(Philly, ErrorsNameTheLineTheColumnAndTheForm) {
  const std::string good = job("a", "2017-10-07 01:00:00", kRan), at = "2017-10-07 01:00:00";
  const std::string late = attempt(R"("2017-10-07 01:00:10")", R"("2017-10-07 01:00:09")", kOneServer);
  const std::pair<std::string, std::string> wrong[] = {
      {"", "log:1:1: expected a list of jobs in brackets (Philly's cluster_job_log)"},
      {"{}", "log:1:1: expected a list of jobs"},
      {"[]", "log:1:1: expected at least one job that ran, got none"},
      {"[" + good, "log:3:60: expected a comma or the end of the list of jobs"},
      {"[" + good + "]\nx", "log:4:1: expected nothing after the list of jobs"},
      {"[" + good + ",\n]", "log:4:1: expected a job, an object in braces"},
      {"[\n 7]", "log:2:2: expected a job, an object in braces"},
      {"[\n {\"a\": 1", "log:2:2: this job has no end; is the file whole?"},
      {"[\n{\"a\": tru}]", "log:2:"},
      {"[\n{\"a\": [1}]}]", "log:2:"},
      {"[{}]", "log:1:2: jobid: expected a text that is not empty"},
      {"[" + good + ",\n" + job("b", "7 October", kRan) + "]",
       "log:6:2: submitted_time: expected a time such as \"2017-10-07 01:11:39\""},
      {"[" + job("b", "2017-02-30 01:00:00", kRan) + "]", "log:3:2: submitted_time: expected a time"},
      {"[" + job("b", "2017-10-07 24:00:00", kRan) + "]", "log:3:2: submitted_time: expected a time"},
      {"[" + job("", at, kRan) + "]", "log:1:37: jobid: expected a text that is not empty"},
      {"[" + job("b", at, "7") + "]", "log:2:2: attempts: expected a list of objects"},
      {"[" + job("b", at, kRan + ",\n" + late) + "]", "log:3:39: end_time: expected a time not before its start_time"},
      {"[" + job("b", at, kRan + ",\n" + attempt("7", "null", "")) + "]", "log:3:2: start_time: expected a time"},
      {"[" + job("b", at, attempt("null", "null", "{}")) + "]", "detail: expected servers with \"gpus\""}};
  for (const auto& [text, message] : wrong) EXPECT_THAT(error_of(text), HasSubstr(message)) << text;
}

TEST(Philly, GarbageNeverCrashes) {
  const std::string whole = "[" + job("j_1", "2017-10-07 01:00:00", kRan) + "," +
                            job("j_2", "2017-10-07 01:00:00", attempt("null", "\"None\"", kTwoServers)) + "]";
  std::uint32_t random = 11;
  const auto draw = [&random](std::uint32_t bound) {
    return (random = random * 1664525u + 1013904223u) / 65536 % bound;
  };
  for (int round = 0; round < 2'000; ++round) {
    std::string text = whole;
    for (std::uint32_t edits = 1 + draw(3); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = draw(static_cast<std::uint32_t>(text.size()));
      if (draw(2) == 0)
        text.erase(at, 1 + draw(6));
      else
        text[at] = "{}[]\",:\\ n7"[draw(11)];
    }
    static_cast<void>(parse_philly(text, "log").ok());
  }
  SUCCEED();
}

}  // namespace
}  // namespace ashlar::sim
