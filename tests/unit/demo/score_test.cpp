// What the comparison counts, in scenes whose numbers are known; and its script, on the simulator.
#include "apps/demo/score.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "apps/demo/simulated_play.h"
#include "documented/documented.h"

namespace ashlar::demo {
namespace {

Act act(const std::string& name, int members, int gpus) {
  return {.name = name, .team = teams().front().name, .members = members, .gpus = gpus};
}

class ScoreTest : public ::testing::Test {
 protected:
  Job& add(const Act& what, Millis at) {
    scene_.add(what, at);
    return scene_.jobs().back();
  }
  Scene scene_;
  ScoreKeeper keeper_;
};

TEST_F(ScoreTest, APartOfAGangLosesItsDevicesUntilTheLastMemberIsBound) {
  Job& job = add(act("late", 3, 8), Millis(1'000));
  scene_.bind(job, 0, 0, "", Millis(2'000));
  scene_.bind(job, 1, 1, "", Millis(5'000));
  scene_.bind(job, 2, 2, "", Millis(7'000));
  const Score score = keeper_.finish(scene_, Millis(0), Millis(20'000));
  EXPECT_DOUBLE_EQ(score.lost_gpu_seconds, 8 * 5 + 8 * 2);
  EXPECT_EQ(score.gangs_started, 1);
  EXPECT_EQ(score.gangs_waited, 1);
  EXPECT_EQ(score.wait_max, Millis(6'000));
}

TEST_F(ScoreTest, AGangThatNeverStartsHasWaitedAndLostToTheEnd) {
  Job& job = add(act("never", 2, 4), Millis(1'000));
  scene_.bind(job, 0, 0, "", Millis(4'000));
  const Score score = keeper_.finish(scene_, Millis(1'000), Millis(10'000));
  EXPECT_DOUBLE_EQ(score.lost_gpu_seconds, 4 * 6);
  EXPECT_EQ(score.gangs_started, 0);
  EXPECT_EQ(score.gangs_waited, 1);
  EXPECT_EQ(score.wait_sum, Millis(9'000));
  EXPECT_EQ(score.jobs_left, 1);
  EXPECT_EQ(score.finished, Millis(9'000));
}

TEST(Comparison, AsJsonHasTheDocumentedFieldsInMilliseconds) {
  Script script;
  script.acts = {act("a", 2, 4)};
  script.acts.front().runs_for = Millis(1'500);
  script.length = Millis(75'000);
  const Score first{.label = "\"one\"",
                    .gangs = 21,
                    .gangs_started = 20,
                    .gangs_waited = 2,
                    .wait_sum = Millis(9'000),
                    .wait_max = Millis(6'000),
                    .gangs_split = 3,
                    .lost_gpu_seconds = 1.2344,
                    .double_booked_gpu_seconds = 0.4,
                    .idle_gpu_seconds = 7,
                    .finished = Millis(62'000),
                    .jobs_left = 1};
  Score second;
  second.label = "two";
  const std::string text = comparison_json(script, std::vector{first, second});
  EXPECT_EQ(undocumented(text), "");
  EXPECT_EQ(unprinted("DemoComparison", {text}), "");
  EXPECT_EQ(
      text,
      R"({"apiVersion":"ashlar.dev/v1alpha1","kind":"DemoComparison","jobs":1,"neededGpuMillis":12000,"lengthMillis":75000,"rows":[)"
      R"({"scheduler":"\"one\"","lostGpuMillis":1234,"gangs":21,"gangsStarted":20,"gangsWaited":2,"meanWaitMillis":4500,)"
      R"("longestWaitMillis":6000,"gangsSplit":3,"doubleBookedGpuMillis":400,"idleGpuMillis":7000,"finishedMillis":62000,"jobsLeft":1},)"
      R"({"scheduler":"two","lostGpuMillis":0,"gangs":0,"gangsStarted":0,"gangsWaited":0,"meanWaitMillis":0,"longestWaitMillis":0,)"
      R"("gangsSplit":0,"doubleBookedGpuMillis":0,"idleGpuMillis":0,"finishedMillis":0,"jobsLeft":0}]})"
      "\n");
}

/// The columns of each line of a text.
std::vector<std::size_t> widths(const std::string& text) {
  std::vector<std::size_t> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) found.push_back(line.size());
  return found;
}

TEST(Comparison, FitsATerminalOfEightyColumns) {
  Score worst{.gangs = 21,
              .gangs_waited = 21,
              .wait_sum = Millis(21 * 75'000),
              .wait_max = Millis(75'000),
              .gangs_split = 21,
              .lost_gpu_seconds = 512.0 * 75,
              .double_booked_gpu_seconds = 512.0 * 75,
              .finished = Millis(75'000),
              .jobs_left = 173};
  const std::string row = comparison_row(worst);
  EXPECT_EQ(row, "         10.67  21 of 21 (75 s, 75 s)       21      10.67   > 75 s    173\n");
  worst.jobs_left = 0;
  EXPECT_TRUE(comparison_row(worst).ends_with("  75 s      0\n"));
  const std::string head = comparison_head(contended());
  EXPECT_EQ(widths(head).back(), widths(row).back()) << head << row;
  EXPECT_TRUE(head.starts_with("A busy minute of 173 jobs that need 5.1 GPU-hours, twice on kube-scheduler,\n"));
  for (const std::size_t width : widths(head + row + comparison_legend())) EXPECT_LE(width, 79u) << head << row;
}

TEST_F(ScoreTest, ShortWaitsAndSinglePodsAreNotCountedAsWaitingGangs) {
  Job& quick = add(act("quick", 2, 1), Millis(0));
  for (const std::size_t member : {0u, 1u}) scene_.bind(quick, member, 0, "", kNoticedWait);
  add(act("single", 1, 1), Millis(0));
  const Score score = keeper_.finish(scene_, Millis(0), Millis(30'000));
  EXPECT_EQ(score.gangs, 1);
  EXPECT_EQ(score.gangs_waited, 0);
  EXPECT_EQ(score.mean_wait(), Millis(0));
}

TEST_F(ScoreTest, AGangIsSplitOnlyIfARackCouldHoldIt) {
  const int last_of_rack = kNodesPerRack - 1;
  for (const auto& [name, gpus] : std::map<std::string, int>{{"small", 4}, {"small-too", 8}}) {
    Job& job = add(act(name, 2, gpus), Millis(0));
    for (const std::size_t member : {0u, 1u})
      scene_.bind(job, member, last_of_rack + static_cast<int>(member), "", Millis(1));
  }
  Job& large = add(act("large", kNodesPerRack + 1, 8), Millis(0));
  for (int m = 0; m <= kNodesPerRack; ++m) scene_.bind(large, static_cast<std::size_t>(m), 16 + m, "", Millis(1));
  Job& whole = add(act("whole", 2, 8), Millis(0));
  for (const std::size_t member : {0u, 1u}) scene_.bind(whole, member, 40 + static_cast<int>(member), "", Millis(1));
  EXPECT_EQ(keeper_.finish(scene_, Millis(0), Millis(1'000)).gangs_split, 2);
}

TEST_F(ScoreTest, SharesBesideWholeDevicesAreBookedTwiceOnlyBeyondWhatTheNodeHas) {
  Act share = act("share", 1, 0);
  share.milli_gpu = 500;
  scene_.bind(add(act("whole", 1, kGpusPerNode - 1), Millis(0)), 0, 3, "", Millis(1));
  for (const char* name : {"a", "b"}) {
    share.name = name;
    scene_.bind(add(share, Millis(0)), 0, 3, "", Millis(1));
  }
  keeper_.look(scene_, Millis(1'000));
  keeper_.look(scene_, Millis(2'000));  // seven and two halves: it fits
  share.name = "c";
  scene_.bind(add(share, Millis(0)), 0, 3, "", Millis(1));
  keeper_.look(scene_, Millis(4'000));
  EXPECT_DOUBLE_EQ(keeper_.finish(scene_, Millis(0), Millis(4'000)).double_booked_gpu_seconds, 2);
}

TEST_F(ScoreTest, DevicesAreIdleForAJobThatWouldFitThem) {
  scene_.bind(add(act("runs", 1, 8), Millis(0)), 0, 0, "", Millis(1));
  add(act("waits", 63, 8), Millis(0));
  keeper_.look(scene_, Millis(1'000));
  keeper_.look(scene_, Millis(2'000));
  EXPECT_DOUBLE_EQ(keeper_.finish(scene_, Millis(0), Millis(2'000)).idle_gpu_seconds, 63 * 8);
  ScoreKeeper full;
  add(act("too large", 64, 8), Millis(0));
  scene_.jobs()[1].is_over = true;
  full.look(scene_, Millis(1'000));
  full.look(scene_, Millis(2'000));
  EXPECT_DOUBLE_EQ(full.finish(scene_, Millis(0), Millis(2'000)).idle_gpu_seconds, 0);
}

TEST(Contended, HasWhatUsersCompeteFor) {
  const Script script = contended();
  bool has_share = false, has_urgent = false, has_rack = false;
  std::map<Millis, int> large_at;  // GPUs of gangs larger than a rack, by instant
  for (const Act& act : script.acts) {
    EXPECT_TRUE(act.can_ever_run()) << act.name;
    EXPECT_LE(act.gpus_total(), kNodes * kGpusPerNode) << act.name;
    has_share |= act.milli_gpu > 0;
    has_urgent |= act.priority_class == kCriticalClass;
    has_rack |= act.within == "rack" && act.gpus_total() == kNodesPerRack * kGpusPerNode;
    if (act.gpus_total() > kNodesPerRack * kGpusPerNode) large_at[act.at] += act.gpus_total();
  }
  EXPECT_TRUE(has_share && has_urgent && has_rack);
  EXPECT_TRUE(std::any_of(large_at.begin(), large_at.end(), [](const auto& entry) {
    return entry.second > kNodes * kGpusPerNode * 2 / 3;
  })) << "two gangs of which each alone would find room";
  EXPECT_TRUE(
      std::is_sorted(script.acts.begin(), script.acts.end(), [](const Act& a, const Act& b) { return a.at < b.at; }));
}

TEST(Contended, NothingIsLostSplitOrLeftOnTheSimulator) {
  SimulatedPlay play(contended(), false);
  ScoreKeeper keeper;
  Millis now;
  for (; !play.is_over(); now += Millis(100)) {
    play.advance_to(now);
    keeper.look(play.scene(), now);
  }
  const Score score = keeper.finish(play.scene(), Millis(0), now);
  EXPECT_EQ(score.jobs_left, 0);
  EXPECT_EQ(score.gangs_started, score.gangs);
  EXPECT_GT(score.gangs_waited, 0) << "it is contended";
  EXPECT_EQ(score.gangs_split, 0);
  EXPECT_DOUBLE_EQ(score.lost_gpu_seconds, 0);
  EXPECT_DOUBLE_EQ(score.double_booked_gpu_seconds, 0);
}

TEST(Contended, StatesTheWorkInGpuHours) {
  const Script script{.acts = {{.members = 2, .gpus = 8, .runs_for = Millis(900'000)},
                               {.milli_gpu = 500, .runs_for = Millis(3'600'000)}},
                      .length = Millis(1)};
  EXPECT_DOUBLE_EQ(script.gpu_hours(), 4.5);
}

}  // namespace
}  // namespace ashlar::demo
