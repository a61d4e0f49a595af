// The case language itself: errors name their place and the expected form, updating keeps what people wrote, spacing
// does not count.
#include <gtest/gtest.h>

#include <string>

#include "sim/case/case.h"

namespace ashlar {
namespace {

const std::string kCluster = "# A case.\ncluster 1 x h100x8\n";
const std::string kBlock = "---- at 1s\n";

std::string error_of(const std::string& text) {
  const Result<sim::CaseOutcome> outcome = sim::run_case(text, "x.case");
  return outcome.ok() ? "no error" : outcome.error().message;
}

void expect_error(const std::string& text, const std::string& place, const std::string& form) {
  const std::string error = error_of(text);
  EXPECT_TRUE(error.starts_with("x.case:" + place)) << error;
  EXPECT_NE(error.find(form), std::string::npos) << error;
}

TEST(CaseLanguage, NamesLineColumnAndFormOfWhatIsWrong) {
  expect_error(kCluster + "job a 6 gpux at 0s\n" + kBlock, "3:9:", "\"4 gpu\" or \"500 milli\"");
  expect_error(kCluster + "job a 6 gpu at never\n" + kBlock,
               "3:16:", "\"never\" is not a duration; write for example 90s");
  expect_error(kCluster + "jb a 6 gpu at 0s\n" + kBlock, "3:1:", "did you mean \"job\"?");
  expect_error(kCluster + "job a 1 gpu queue team-a at 0s\n" + kBlock, "3:19:", "no queue \"team-a\"");
  expect_error(kCluster + "job a 1 gpu within rack at 0s\n" + kBlock, "3:20:", "no level \"rack\"");
  expect_error(kCluster + "job a 1 gpu at 0s\njob a 1 gpu at 0s\n" + kBlock, "4:5:", "already");
  expect_error(kCluster + "end b at 0s\n" + kBlock, "3:5:", "no job \"b\"");
  expect_error(kCluster + "lose node7 at 0s\n" + kBlock, "3:6:", "no node \"node7\"");
  expect_error("cluster 2 x h100x999\n" + kBlock, "1:13:", "1 to 128");
  for (const std::string shape : {"h100", "x8", "h100x", "h100x8y", "h100x99999999999"})
    expect_error("cluster 2 x " + shape + "\n" + kBlock, "1:13:", "\"" + shape + "\" is not a shape");
  expect_error("profile ashlr\n" + kCluster + kBlock, "1:9:", "ashlar");
  expect_error(kCluster + "gang g 2 4 gpu at 0s\n" + kBlock, "3:10:", "groups such as");
}

TEST(CaseLanguage, OnlyAddBringsALostNodeBack) {
  for (const std::string statement : {"cordon", "uncordon", "drain", "change"})
    expect_error(kCluster + "lose node0 at 0s\n" + statement + " node0 at 1s\n" + kBlock,
                 "4:" + std::to_string(statement.size() + 2) + ":",
                 "node \"node0\" is lost; expected a node of the cluster; \"add node NAME SHAPE\" adds it again");
  EXPECT_EQ(error_of(kCluster +
                     "lose node0 at 0s\nlose node0 at 0s\nadd node node0 h100x4 at 0s\ncordon node0 at 1s\n" + kBlock),
            "no error");
  EXPECT_EQ(error_of(kCluster + "drain node0 at 0s\nuncordon node0 at 0s\n" + kBlock), "no error");
}

TEST(CaseLanguage, RowsThatNobodyHasAreToldApartFromJobs) {
  for (const char* statement : {"bind #99 node0 at 0s\n", "reject #99 at 0s\n", "nominate #99 node0 at 0s\n"})
    expect_error(kCluster + statement + kBlock, "3:" + std::to_string(std::string(statement).find('#') + 1) + ":",
                 "a row without a job");
  EXPECT_EQ(
      error_of(kCluster + "bind #99/0 node0 at 0s\nreject #99/0 at 0s\nnominate #99/0 node0 at 0s\nend #99 at 0s\n" +
               kBlock),
      "no error");
  EXPECT_EQ(error_of(kCluster + "job a 1 gpu at 0s\nbind #0 node0 at 0s\n" + kBlock), "no error");
}

TEST(CaseLanguage, KeepsNumbersWithinTheirBounds) {
  expect_error(kCluster + "job a 1 gpu wish 101 zone=a at 0s\n" + kBlock,
               "3:18:", "not within 1 to 100; expected a weight");
  expect_error(kCluster + "job a 1 gpu wish 2147483648 zone=a at 0s\n" + kBlock,
               "3:18:", "not within 1 to 100; expected a weight");
  expect_error("profile ashlar cadence=0.1ms\n" + kCluster + kBlock, "1:16:", "not a whole number of milliseconds");
  expect_error("# Large.\ncluster 60000 x h100x8\ncluster 60000 x h100x8\n" + kBlock, "3:9:", "at most 100000");
  expect_error("# Large.\ncluster 100000 x h100x128\n" + kBlock, "2:18:", "at most 1000000");
}

TEST(CaseLanguage, RefusesProfilesThatCannotDecideAndTreesThatAreTooDeep) {
  expect_error("profile ashlar victim=by-quota-unverified\n" + kCluster + kBlock, "1:16:", "choose srtf or tiresias");
  expect_error("profile ashlar score=random+prefer\n" + kCluster + kBlock, "1:16:", "random must be alone in its tier");
  expect_error("profile fgd\n" + kCluster + kBlock, "1:9:", "fgd needs a mix");
  std::string deep = kCluster + "queue q0\n";
  for (int i = 1; i < 20; ++i) deep += "queue q" + std::to_string(i) + " parent q" + std::to_string(i - 1) + "\n";
  expect_error(deep + kBlock, "18:", "at most 15 below one another");
  std::string from_below = kCluster;
  for (int i = 19; i > 0; --i) from_below += "queue q" + std::to_string(i) + " parent q" + std::to_string(i - 1) + "\n";
  expect_error(from_below + "queue q0\n" + kBlock, "17:", "at most 15 below one another");
  expect_error(kCluster + "queue a parent a\n" + kBlock, "3:16:", "a queue cannot be its own parent");
  expect_error(kCluster + "queue a parent b\nqueue c\n" + kBlock, "3:16:", "there is no queue \"b\"");
}

TEST(CaseLanguage, HasOneProfileBeforeTheFirstJob) {
  expect_error("profile ashlar\nprofile fifo\n" + kCluster + kBlock, "2:9:", "the profile is given twice");
  expect_error(kCluster + "job a 1 gpu at 0s\nprofile fifo\n" + kBlock, "4:9:", "must come before the first job");
  EXPECT_EQ(error_of(kCluster + "profile fifo\njob a 1 gpu at 0s\n" + kBlock), "no error");
}

TEST(CaseLanguage, NestedDomainsContainWholeOnesUnlessTheyLieAcross) {
  expect_error("# A case.\ncluster 6 x h100x8 racks of 2 blocks of 3\n" + kBlock,
               "2:41:", "domains of 3 nodes cannot contain whole domains of 2");
  EXPECT_EQ(error_of("# A case.\nlevels rack across rail\ncluster 6 x h100x8 racks of 2 rails of 3\n" + kBlock),
            "no error");
}

TEST(CaseLanguage, RefusesTooManyLevelsAfterNodesThatLieInThem) {
  std::string wide = "# Seventeen levels.\ncluster 2 x h100x8",
              stated = "# As many.\n" + kCluster + "job a 1 gpu within nvlink at 0s\nlevels";
  for (int i = 0; i < 17; ++i) wide += " level l" + std::to_string(i) + " of 1", stated += " l" + std::to_string(i);
  expect_error(wide + "\n" + kBlock, "1:1:", "at most 16");
  expect_error(stated + "\n" + kBlock, "5:", "at most 16");
}

TEST(CaseLanguage, WantsTimesInOrderAndSomethingExpected) {
  expect_error(kCluster + "job a 1 gpu at 5s\njob b 1 gpu at 4s\n" + kBlock,
               "4:16:", "statements must be in order of time; expected 5s or later");
  expect_error(kCluster + "job a 1 gpu at 5s\n" + kBlock, "4:9:", "order of time");
  expect_error(kCluster + kBlock + "\njob a 1 gpu at 1s\n" + kBlock,
               "5:16:", "this time is not after the block above; expected a time after 1s");
  expect_error(kCluster + "job a 1 gpu at 0s\n", "4:1:", "---- at 1s");
}

TEST(CaseLanguage, SpacingDoesNotCount) {
  const auto outcome =
      sim::run_case(kCluster + "job a 2 gpu at 0s\n" + kBlock + "a      node0   gpu 0-1   # both\n", "x.case");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_TRUE(outcome->is_as_expected());
}

TEST(CaseLanguage, ADifferenceShowsBothSides) {
  const auto outcome = sim::run_case(kCluster + "job a 2 gpu at 0s\n" + kBlock + "a  node0 gpu 0\n", "x.case");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  const std::string diff = sim::diff_text(*outcome, "x.case", false);
  EXPECT_NE(diff.find("x.case:4: ---- at 1s"), std::string::npos) << diff;
  EXPECT_NE(diff.find("  - a  node0 gpu 0\n"), std::string::npos) << diff;
  EXPECT_NE(diff.find("  + a  node0 gpu 0-1\n"), std::string::npos) << diff;
  EXPECT_EQ(diff.find('\x1b'), std::string::npos);
  EXPECT_NE(sim::diff_text(*outcome, "x.case", true).find('\x1b'), std::string::npos);
}

TEST(CaseLanguage, WhatIsMissingAndWhatIsTooMuchStandsWhereItBelongs) {
  const auto diff_of = [](const std::string& expected) {
    const auto outcome = sim::run_case(
        kCluster + "job a 1 gpu at 0s\njob b 1 gpu at 0s\njob c 1 gpu at 0s\n" + kBlock + expected, "x.case");
    return outcome.ok() ? sim::diff_text(*outcome, "x.case", false) : outcome.error().message;
  };
  const std::string a = "a  node0 gpu 0\n", b = "b  node0 gpu 1\n", c = "c  node0 gpu 2\n";
  const std::string head = "x.case:6: ---- at 1s\n", tail = "  (- expected, + actual)\n";
  EXPECT_EQ(diff_of(a + b + c), "");
  EXPECT_EQ(diff_of(a + b + c + "d  node0 gpu 3\n"),
            head + "    " + a + "    " + b + "    " + c + "  - d  node0 gpu 3\n" + tail);
  EXPECT_EQ(diff_of(b), head + "  + " + a + "    " + b + "  + " + c + tail);
  EXPECT_EQ(diff_of(c + b + a), head + "  - " + c + "  - " + b + "    " + a + "  + " + b + "  + " + c + tail);
  EXPECT_EQ(diff_of(a + a + c), head + "    " + a + "  - " + a + "  + " + b + "    " + c + tail);
  EXPECT_EQ(diff_of(""), head + "  + " + a + "  + " + b + "  + " + c + tail);
}

TEST(CaseLanguage, AnUpdateKeepsCommentsAndThenNothingDiffers) {
  const std::string text =
      kCluster + "job a 2 gpu at 0s\n" + kBlock + "# who is where\nb  node9\n\njob b 1 gpu at 2s\n---- at 2s\n";
  const auto outcome = sim::run_case(text, "x.case");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(
      outcome->updated,
      kCluster + "job a 2 gpu at 0s\n" + kBlock +
          "# who is where\na  node0 gpu 0-1\n\njob b 1 gpu at 2s\n---- at 2s\na  node0 gpu 0-1\nb  node0 gpu 2\n");
  const auto again = sim::run_case(outcome->updated, "x.case");
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->is_as_expected());
  EXPECT_EQ(again->updated, outcome->updated);
}

TEST(CaseLanguage, AStatementRightBehindABlockIsRefusedBeforeAnUpdateOverwritesIt) {
  const std::string head = kCluster + "job a 2 gpu at 0s\n" + kBlock + "a  node0 gpu 0-1\n";
  expect_error(head + "end a at 2s\n---- at 2s\n",
               "6:1:", "the statement \"end\" stands directly after a block; expected an empty line before it");
  expect_error(head + "queue q quota gpu=1 at 2s\n", "6:1:", "the statement \"queue\"");
  expect_error(head + "node big h100x8 at 2s\n", "6:1:", "the statement \"node\"");
  const auto reads = [](const std::string& text) { return sim::run_case(text, "x.case").ok(); };
  EXPECT_TRUE(reads(head + "\nend a at 2s\n\n---- at 2s\n"));
  EXPECT_TRUE(reads(head + "gone  node0 gpu 2\n")) << "a line that is no statement is compared";
  EXPECT_TRUE(reads(kCluster + "job end 2 gpu at 0s\n" + kBlock + "end  node0 gpu 0-1\n")) << "a job of that name";
  EXPECT_TRUE(reads("show queues nodes\nqueue q quota gpu=4\n" + kCluster + "job a 1 gpu queue q at 0s\n" + kBlock +
                    "a  node0 gpu 0\nqueue  root  unused\nqueue  q  gpu=1/4\nnode  node0  idle=7/8\n"));
}

TEST(CaseLanguage, TheDesignsExampleGoesAsWritten) {
  const auto outcome = sim::run_case(
      "cluster  2 x h100x8\njob  a   6 gpu  at 0s\njob  b   6 gpu  at 0s\ngang c   2 x 4 gpu  within nvlink  at "
      "1s\n---- at 1s\n"
      "a  node0 gpu 0-5\nb  node1 gpu 0-5\nc  waits  Within nvlink  best-island-free=2 needs=8  wake-on=JobEnded\n",
      "x.case");
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_TRUE(outcome->is_as_expected()) << sim::diff_text(*outcome, "x.case", false);
}

}  // namespace
}  // namespace ashlar
