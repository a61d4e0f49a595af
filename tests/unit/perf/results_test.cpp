// Tests of results: figures survive a file, finished cases are found, and goals are judged by paired rounds.
#include "cluster/perf/results.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <unistd.h>

namespace ashlar::bench::perf {
namespace {

Figure figure(const std::string& contestant, int round, double rate, const std::string& mode = "drained") {
  return {.case_name = "one",
          .mode = mode,
          .nodes = 10,
          .pods = 20,
          .round = round,
          .contestant = contestant,
          .bound = 20,
          .measured = 20,
          .rate = rate};
}

class ResultsFolder : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_ = testing::TempDir() + "perf_results_" + std::to_string(getpid());
};

TEST_F(ResultsFolder, FinishedCasesAreFoundAgain) {
  std::vector<Figure> figures{figure("ashlar", 0, 10.5), figure("kube-scheduler", 0, 2), figure("ashlar", 1, 11)};
  figures[0].p50_sent = 3.25;
  ASSERT_TRUE(ResultsFile::open(folder_)->append(figures).ok());
  const ResultsFile again = ResultsFile::open(folder_).value();
  EXPECT_EQ(again.finished(figure("", 0, 0), {"ashlar"}, 2), figures);
  EXPECT_TRUE(again.finished(figure("", 0, 0), {"ashlar", "kube-scheduler"}, 2).empty()) << "a round is missing";
  EXPECT_EQ(again.finished(figure("", 0, 0), {"ashlar", "kube-scheduler"}, 1).size(), 2u);
  EXPECT_TRUE(again.finished(figure("", 0, 0, "arriving"), {"ashlar"}, 1).empty());
}

TEST_F(ResultsFolder, ALineThatIsNoFigureIsNamed) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ + "/results.tsv") << line_of(figure("ashlar", 0, 1)) << "\nnonsense\n";
  const Result<ResultsFile> file = ResultsFile::open(folder_);
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().message.find("results.tsv:2: \"nonsense\""), std::string::npos) << file.error().message;
}

TEST(Results, RatiosAreThoseOfPairedRounds) {
  const TableRow row =
      row_of({figure("plain-client", 0, 100), figure("ashlar", 0, 90), figure("kube-scheduler", 0, 30),
              figure("plain-client", 1, 1000), figure("ashlar", 1, 300), figure("kube-scheduler", 1, 100)},
             {.times = 3});
  EXPECT_DOUBLE_EQ(row.times, 3);
  EXPECT_DOUBLE_EQ(row.share, 30);
  EXPECT_TRUE(row.is_met);
}

TEST(Results, AGoalIsMetByEitherLimit) {
  const std::vector<Figure> figures{figure("plain-client", 0, 100), figure("ashlar", 0, 86),
                                    figure("kube-scheduler", 0, 43)};
  EXPECT_TRUE(row_of(figures, {.times = 4}).is_met) << "86 % of the plain client";
  EXPECT_FALSE(row_of(figures, {.times = 4, .share = 87}).is_met);
  EXPECT_TRUE(row_of(figures, {.times = 2, .share = 87}).is_met);
}

TEST(Results, ArrivingPodsAreJudgedByThePlainClientAlone) {
  const std::vector<Figure> figures{figure("plain-client", 0, 100, "arriving"), figure("ashlar", 0, 50, "arriving"),
                                    figure("kube-scheduler", 0, 5, "arriving")};
  EXPECT_FALSE(row_of(figures, {.times = 4}).is_met);
}

TEST(Results, ARoundThatDidNotBindAllMissesItsGoal) {
  std::vector<Figure> figures{figure("plain-client", 0, 100), figure("ashlar", 0, 100), figure("kube-scheduler", 0, 1)};
  figures[1].bound = 19;
  EXPECT_FALSE(row_of(figures, {}).is_met);
}

TEST(Results, PercentilesAreValuesThatOccurred) {
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 0.99), 4);
  EXPECT_DOUBLE_EQ(percentile({}, 0.5), 0);
}

TEST(Results, APacedRowIsNotBehindKubeScheduler) {
  std::vector<Figure> figures{figure("ashlar", 0, 50, "paced"), figure("kube-scheduler", 0, 50, "paced")};
  figures[0].p50_sent = 4, figures[0].p99_sent = 19, figures[1].p50_sent = 4.5, figures[1].p99_sent = 20;
  EXPECT_TRUE(paced_row_of(figures).is_met);
  figures[1].p50_sent = 3;
  EXPECT_FALSE(paced_row_of(figures).is_met);
}

TEST(Results, WhatThePlainClientNeedsIsNoGoalOfAPacedRow) {
  std::vector<Figure> figures{figure("ashlar", 0, 50, "paced"), figure("plain-client", 0, 50, "paced")};
  figures[0].p50_sent = 4, figures[0].p99_sent = 19, figures[1].p50_sent = 3, figures[1].p99_sent = 12;
  const PacedRow row = paced_row_of(figures);
  EXPECT_TRUE(row.is_met);
  EXPECT_DOUBLE_EQ(row.plain_p50, 3);
  EXPECT_DOUBLE_EQ(row.plain_p99, 12);
}

}  // namespace
}  // namespace ashlar::bench::perf
