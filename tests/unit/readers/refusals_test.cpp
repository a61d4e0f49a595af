// What readers say of files that are not there or not right: whole messages, by what stands in the file.
#include <gtest/gtest.h>

#include "fidelity/published_results.h"
#include "files.h"
#include "sim/trace/csv.h"
#include "sim/trace/openb.h"
#include "sim/trace/queue_trace.h"

namespace ashlar::sim {
namespace {

using testing::Folder;

/// The message without the folder in front, or "no error".
template <class T>
std::string said(const Folder& folder, const Result<T>& result) {
  if (result.ok()) return "no error";
  const std::string& message = result.error().message;
  return message.starts_with(folder.path("")) ? message.substr(folder.path("").size()) : message;
}

TEST(Readers, AFileThatIsNotThereIsNamedByAllOfThem) {
  const Folder folder;
  const std::string path = folder.path("absent.csv"),
                    expected = "absent.csv: cannot be read: No such file or directory";
  EXPECT_EQ(said(folder, read_jobs(path)), expected);
  EXPECT_EQ(said(folder, read_jobs_for_replay(path, {})), expected);
  EXPECT_EQ(said(folder, read_vcs(path)), expected);
  EXPECT_EQ(said(folder, read_swf(path)), expected);
  EXPECT_EQ(said(folder, read_expected_packing(path)), expected);
  EXPECT_EQ(said(folder, read_expected_queue(path)), expected);
  EXPECT_EQ(said(folder, read_openb_nodes(path)), expected);
  EXPECT_EQ(said(folder, read_openb_pods(path, {})), expected);
  EXPECT_EQ(said(folder, read_arrivals(path, 1, 1)), expected);
}

TEST(Readers, AFileWithoutRowsIsRefused) {
  const Folder folder;
  EXPECT_EQ(said(folder, read_vcs(folder.write("v.csv", "vc,num\n"))),
            "v.csv:2:1: expected at least one virtual cluster, got none");
  EXPECT_EQ(said(folder, read_swf(folder.write("t.swf", "; nothing\n\n"))),
            "t.swf:1:1: expected jobs in Standard Workload Format (18 fields a line), got none that ran");
}

std::string swf_line(const std::string& submit, const std::string& run, const std::string& allocated,
                     const std::string& requested, const std::string& time, const std::string& queue = "1") {
  return "1 " + submit + " 0 " + run + " " + allocated + " -1 -1 " + requested + " " + time + " -1 1 1 1 1 " + queue +
         " 1 -1 -1\n";
}

TEST(SwfFields, AreTakenOrRefusedOneByOne) {
  const Folder folder;
  const auto message = [&](const std::string& line) { return said(folder, read_swf(folder.write("t.swf", line))); };
  EXPECT_EQ(message(swf_line("-1", "10", "4", "4", "20")),
            "t.swf:1:3: field 2: expected the submit time, seconds from 0, got \"-1\"");
  EXPECT_EQ(message(swf_line("-2", "10", "4", "4", "20")),
            "t.swf:1:3: field 2: expected the submit time, seconds from 0 or -1, got \"-2\"");
  EXPECT_EQ(message(swf_line("0", "ten", "4", "4", "20")),
            "t.swf:1:7: field 4: expected the run time, seconds from 0 or -1, got \"ten\"");
  EXPECT_EQ(message(swf_line("0", "10", "4x", "4", "20")),
            "t.swf:1:10: field 5: expected the number of allocated processors or -1, got \"4x\"");
  EXPECT_EQ(message(swf_line("0", "10", "4", "inf", "20")),
            "t.swf:1:18: field 8: expected the number of requested processors or -1, got \"inf\"");
  EXPECT_EQ(message(swf_line("0", "10", "4", "4", "1e99")),
            "t.swf:1:20: field 9: expected the requested time, seconds from 0 or -1, got \"1e99\"");
  EXPECT_EQ(message(swf_line("0", "10", "1000001", "4", "20")),
            "t.swf:1:10: field 5: expected at most 1000000 processors, got \"1000001\"");
  EXPECT_EQ(message(swf_line("0", "10", "-1", "1000001", "20")),
            "t.swf:1:19: field 8: expected at most 1000000 processors, got \"1000001\"");
  EXPECT_EQ(message(swf_line("0", "10", "1000000", "4", "20")), "no error");
  EXPECT_EQ(message("\t1 2 3\r\n"),
            "t.swf:1:1: expected 18 fields separated by blanks (Standard Workload Format), got 3");
  EXPECT_EQ(message("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19\n"),
            "t.swf:1:1: expected 18 fields separated by blanks (Standard Workload Format), got more");
}

TEST(SwfFields, JobsThatDidNotRunOrHaveNoWidthAreLeftOut) {
  const Folder folder;
  const auto swf = read_swf(
      folder.write("t.swf", swf_line("0", "0", "4", "4", "20") + swf_line("0", "1", "0", "0", "20") +
                                swf_line("0", "1", "-1", "-1", "20") + swf_line("0", "1", "0", "1", "0", "7")));
  ASSERT_TRUE(swf.ok()) << swf.error().message;
  EXPECT_EQ(swf->skipped, 3);
  ASSERT_EQ(swf->trace.jobs.size(), 1u);
  EXPECT_EQ(swf->trace.jobs[0].gpus, 1);
  EXPECT_EQ(swf->trace.jobs[0].line, 4u);
  EXPECT_EQ(swf->trace.jobs[0].estimate, Millis(1000)) << "a requested time of 0 is no estimate";
  EXPECT_FALSE(swf->trace.has_estimates);
  EXPECT_EQ(swf->trace.vcs, std::vector<std::string>{"queue-7"});
}

TEST(JobFile, RowsKnowTheirLineAndTheirVirtualCluster) {
  const Folder folder;
  const std::vector<VcNodes> vcs{{"a", 1}, {"b", 1}};
  const auto jobs = read_jobs_for_replay(folder.write("j.csv", "vc,g,s,d\nb,1000000,0,0\n\na,1,5,6\nb,2,7,8\n"), vcs);
  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  EXPECT_EQ(jobs->vcs, (std::vector<std::string>{"b", "a"}));
  std::string rows;
  for (const TraceJob& j : jobs->jobs)
    rows += std::to_string(j.line) + ":" + std::to_string(j.vc) + "," + std::to_string(j.gpus) + "," +
            std::to_string(j.submit.value) + "," + std::to_string(j.duration.value) + "," +
            std::to_string(j.estimate.value) + " ";
  EXPECT_EQ(rows, "2:0,1000000,0,0,0 4:1,1,5000,6000,6000 5:0,2,7000,8000,8000 ");
  EXPECT_EQ(said(folder, read_jobs(folder.write("j.csv", "vc,g,s,d\nb,1000001,0,0\n"))),
            "j.csv:2:3: g: expected the number of GPUs of the job, a whole number from 1, got \"1000001\"");
}

TEST(CsvRefusals, ShowTheCellAndPointAtIt) {
  const auto message = [](const std::string& text, auto&& read) {
    auto csv = CsvReader::from_text(text, "f.csv");
    if (!csv.ok()) return csv.error().message;
    while (csv->next_row()) read(*csv);
    return csv->failed() ? csv->error().message : std::string("no error");
  };
  const auto numbers = [](CsvReader& csv) { csv.integer(csv.find("b"), {0, 9, "a digit"}); };
  EXPECT_EQ(message("a,b\n1, 10\n", numbers), "f.csv:2:3: b: expected a digit, got \" 10\"");
  EXPECT_EQ(message("a,b\n1, 9\t\n2,0\n", numbers), "no error");
  EXPECT_EQ(message("a,b\n1,-1\n", numbers), "f.csv:2:3: b: expected a digit, got \"-1\"");
  EXPECT_EQ(message("a,b\n1,\n", numbers), "f.csv:2:3: b: expected a digit, got nothing");
  EXPECT_EQ(message("a,b\n1,\"1\n\"\n", numbers), "f.csv:2:3: b: expected a digit, got \"1?\"");
  EXPECT_EQ(message("a,b\n1," + std::string(60, 'x') + "\n", numbers),
            "f.csv:2:3: b: expected a digit, got \"" + std::string(60, 'x') + "\"");
  EXPECT_EQ(message("a,b\n1," + std::string(61, 'x') + "\n", numbers),
            "f.csv:2:3: b: expected a digit, got \"" + std::string(60, 'x') + "...\"");
  EXPECT_EQ(message("a,b\n1,2,3\n", numbers), "f.csv:2:5: expected 2 cells (a,b), got 3");
  EXPECT_EQ(message("a,b\n12\n", numbers), "f.csv:2:1: expected 2 cells (a,b), got 1");
  EXPECT_EQ(message("a,,\n1,2,3\n", [](CsvReader& csv) { csv.reject({1}, "something else"); }),
            "f.csv:2:3: expected something else, got \"2\"");
  EXPECT_EQ(message("a, a \n", numbers), "f.csv:1:3: expected every column name once, got \" a \"");
  EXPECT_EQ(message("", numbers), "f.csv:1:1: expected a header line with column names, got an empty file");
  EXPECT_EQ(message("a,\"b\n", numbers), "f.csv:1:3: expected a closing quote \" before the end of the file");
  EXPECT_EQ(message("a,b\n\n1,\"2\"x\n", numbers),
            "f.csv:3:3: expected a comma or a line end after the closing quote, got \"x\"");
  EXPECT_EQ(message("a,b\n\"x\ny\",\"2\nz\n\"q\n", numbers),
            "f.csv:2:7: expected a comma or a line end after the closing quote, got \"q\"");
  EXPECT_EQ(message("a,b\r\n\"1\"\r\n", numbers), "f.csv:2:1: expected 2 cells (a,b), got 1");
  EXPECT_EQ(message("a,b\n1,2\n", [](CsvReader& csv) { csv.column_either("x", "y"); }),
            "f.csv:1:1: expected a column \"x\" or \"y\", got the header \"a,b\"");
  EXPECT_EQ(message("a,b\n1,2\n", [](CsvReader& csv) { csv.reject_line("all of it is wrong"); }),
            "f.csv:2:1: all of it is wrong");
  const auto reals = [](CsvReader& csv) { csv.real(csv.find("b"), "a number"); };
  EXPECT_EQ(message("a,b\n1,inf\n", reals), "f.csv:2:3: b: expected a number, got \"inf\"");
  EXPECT_EQ(message("a,b\n1,1e999\n", reals), "f.csv:2:3: b: expected a number, got \"1e999\"");
  EXPECT_EQ(message("a,b\n1,1.5x\n", reals), "f.csv:2:3: b: expected a number, got \"1.5x\"");
  EXPECT_EQ(message("a,b\n1, 1.5 \n", reals), "no error");
}

TEST(ExpectedTables, EveryFigureThatDiffersIsNamed) {
  const Folder folder;
  const std::string header =
      "input,shrink,policy,walls,vc,jobs,mean_jct,mean_queue,p50_queue,p90_queue,p99_queue,p999_queue,p99_jct,makespan,"
      "preemptions\n";
  const auto table = read_expected_queue(
      folder.write("e.csv", header + "x,2,fifo,pooled,ALL,5,1,2,3,4,5,6,7,8,9\nx,2,fifo,pooled,a,6,10,20,,,,,,,\n"
                                     "x,2,fifo,pooled,b,1,1,1,,,,,,,\nx,2,fifo,isolated,ALL,4,1,1,,,,,,,\n"));
  ASSERT_TRUE(table.ok()) << table.error().message;
  QueueRun run{.policy = "fifo", .jobs = 4, .per_vc = {{"a", 4, 10.4, 21.6}}};
  const std::vector<std::string> expected = {"ALL jobs: 4 against 5",
                                             "ALL mean JCT: 0.00 against 1.0",
                                             "ALL mean queue: 0.00 against 2.0",
                                             "ALL p50 queue: 0.0 against 3",
                                             "ALL p90 queue: 0.0 against 4",
                                             "ALL p99 queue: 0.0 against 5",
                                             "ALL p99.9 queue: 0.0 against 6",
                                             "ALL p99 JCT: 0.0 against 7",
                                             "ALL makespan: 0.0 against 8",
                                             "ALL preemptions: 0 against 9",
                                             "a jobs: 4 against 6",
                                             "a mean queue: 21.6 against 20",
                                             "b is missing"};
  EXPECT_EQ(differences(run, *table, "x", 2, true), expected);
  EXPECT_EQ(differences(run, *table, "y", 2, true),
            std::vector<std::string>{"the table has no row for y, shrink 2, fifo"});
  const auto message = [&](const std::string& row) {
    return said(folder, read_expected_queue(folder.write("e.csv", header + row)));
  };
  EXPECT_EQ(message("x,1,fifo,walled,ALL,4,1,1,,,,,,,\n"),
            "e.csv:2:10: walls: expected isolated or pooled, got \"walled\"");
  EXPECT_EQ(message("x,1001,fifo,pooled,ALL,4,1,1,,,,,,,\n"),
            "e.csv:2:3: shrink: expected a divisor of node counts, a whole number 1..1000, got \"1001\"");
  EXPECT_EQ(message("x,1,fifo,pooled,ALL,4,1,1,x,,,,,,\n"), "e.csv:2:27: p50_queue: expected a number, got \"x\"");
  EXPECT_EQ(message("x,1,fifo,pooled,ALL,4,1,1,,,,,,,-1\n"),
            "e.csv:2:33: preemptions: expected a whole number from 0, got \"-1\"");
}

}  // namespace
}  // namespace ashlar::sim
