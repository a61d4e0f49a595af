// What the demo draws, without a cluster: a scene of a few jobs, looked at as plain text.
#include "apps/demo/view.h"
#include "apps/demo/play.h"
#include "apps/demo/scene_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace ashlar::demo {
namespace {

Job job(const std::string& name, const std::string& team, int members, int gpus, std::vector<int> nodes) {
  Job j;
  j.act = {.name = name, .team = team, .members = members, .gpus = gpus};
  j.pod_prefix = name;
  j.node_of_member = std::move(nodes);
  j.devices_of_member.resize(j.node_of_member.size());
  j.bound =
      static_cast<int>(std::count_if(j.node_of_member.begin(), j.node_of_member.end(), [](int n) { return n >= 0; }));
  return j;
}

class ViewTest : public ::testing::Test {
 protected:
  std::vector<std::string> lines(ViewOptions options) const {
    std::istringstream text(draw(scene_, Millis(12'000), Millis(120'000), options));
    std::vector<std::string> out;
    for (std::string line; std::getline(text, line);) out.push_back(line);
    return out;
  }
  Scene scene_;
};

TEST_F(ViewTest, ShowsDevicesByTeamInTheirRacks) {
  const std::string team = teams().front().name;
  scene_.add(job("train", team, 2, 4, {0, 9}));  // rack 0 and rack 1
  const std::vector<std::string> shown = lines({.has_colour = false, .width = 100, .news_lines = 3});
  EXPECT_EQ(shown[0], "Ashlar    12 s of 120   8 of 512 GPUs busy   0 jobs waiting");
  EXPECT_EQ(shown[2], "block 0");
  EXPECT_TRUE(shown[3].starts_with(" rack 0 LLLL.... ........ ")) << shown[3];
  EXPECT_TRUE(shown[4].starts_with(" rack 1 ........ LLLL.... ")) << shown[4];
}

TEST_F(ViewTest, ANoteStandsBelowTheFirstLine) {
  const std::vector<std::string> shown = lines({.has_colour = false, .width = 20, .note = "same engine, simulated"});
  EXPECT_EQ(shown[1], "same engine, simula…");
  EXPECT_EQ(shown[2], "");
  EXPECT_EQ(shown[3], "block 0");
}

TEST_F(ViewTest, NoLineIsWiderThanTheTerminal) {
  scene_.add(job("train", teams().front().name, 2, 8, {0, 9}));
  scene_.tell("+ demo/train (language)  2 x 8 GPUs in rack 0 and in another one");
  for (const int width : {20, 39, 79})
    for (const std::string& line : lines({.has_colour = false, .width = width, .note = "same engine, simulated"})) {
      const auto columns = std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(columns, width) << line;
    }
}

TEST_F(ViewTest, ATeamsBarLeavesRoomForItsNumbers) {
  const std::vector<std::string> shown = lines({.has_colour = false, .width = 60, .news_lines = 3});
  EXPECT_TRUE(std::ranges::any_of(shown, [](const std::string& line) { return line.ends_with(" 0 waiting"); }));
  const auto with = [&](const std::string& words) {
    return std::ranges::find_if(shown, [&](const std::string& line) { return line.find(words) != line.npos; });
  };
  ASSERT_NE(with("0 of 224 GPUs   0 waiting"), shown.end());
  ASSERT_NE(with("  0 GPUs          0 waiting"), shown.end()) << "a team without a quota";
  EXPECT_EQ(with("0 of 224 GPUs")->size(), with("  0 GPUs  ")->size());
}

TEST(Screen, WithoutATerminalPrintsANoteOnceAndNoNewsTwice) {
  Scene scene;
  testing::internal::CaptureStdout();
  {
    Screen screen(false, true);
    for (const int second : {1, 2}) {
      scene.tell("+ job " + std::to_string(second));
      screen.show(scene, Millis(second * 1'000), Millis(9'000), "note");
    }
    for (int i = 0; i < 300; ++i) scene.tell("~ more than is kept");
    scene.tell("+ last");
    screen.show(scene, Millis(3'000), Millis(9'000), "other note");
  }
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(printed.starts_with("note\n   1 s  + job 1\n   2 s  + job 2\nother note\n   3 s  ~ more")) << printed;
  EXPECT_TRUE(printed.ends_with("   3 s  + last\n")) << printed;
}

TEST_F(ViewTest, CountsWhoWaitsAndTellsTheLatestNews) {
  scene_.add(job("late", teams().front().name, 2, 8, {3, -1}));
  for (int i = 0; i < 5; ++i) scene_.tell("~ news " + std::to_string(i));
  const std::vector<std::string> shown = lines({.has_colour = false, .width = 100, .news_lines = 2});
  EXPECT_TRUE(shown[0].ends_with("   1 job waiting")) << shown[0];
  EXPECT_EQ(shown.back(), "  ~ news 4");
  EXPECT_EQ(shown[shown.size() - 2], "  ~ news 3");
  EXPECT_EQ(shown[shown.size() - 3], "latest decisions");
}

TEST_F(ViewTest, NewsCallJobsAsWhyDoesAndDoNotRepeatThemInTheReason) {
  scene_.add({.name = "train", .team = "vision", .members = 8, .gpus = 8}, Millis(0));
  scene_.add({.name = "notebook", .team = "research", .gpus = 1}, Millis(0));
  Job &gang = scene_.jobs()[0], &single = scene_.jobs()[1];
  scene_.note_wait(gang, "Gang train of 8: no capacity.");
  scene_.note_wait(gang, "QuotaExhausted: gang train of 8: queue vision uses 8 of its 8 GPUs");
  scene_.note_wait(gang, "gang train of 80: another gang's words");
  scene_.bind(single, 0, 3, "", Millis(0));
  const std::vector<std::string> expected = {
      "~ demo/train (vision)  waits: no capacity.",
      "~ demo/train (vision)  waits: QuotaExhausted: queue vision uses 8 of its 8 GPUs",
      "~ demo/train (vision)  waits: gang train of 80: another gang's words", "+ demo/notebook-0 (research)  node 3"};
  EXPECT_EQ(std::vector<std::string>(scene_.news().begin(), scene_.news().end()), expected);
}

TEST_F(ViewTest, SharesFillTheDeviceThatTheSchedulerNamed) {
  Job share = job("notebook", teams().front().name, 1, 0, {0});
  share.act.milli_gpu = 300;
  share.devices_of_member[0] = "5";
  scene_.add(share);
  EXPECT_TRUE(lines({.has_colour = false})[3].starts_with(" rack 0 .....L.. ")) << lines({.has_colour = false})[3];
}

TEST_F(ViewTest, ADeviceThatIsSharedIsBusyOnce) {
  for (const int k : {0, 1, 2}) {
    Job share = job("notebook-" + std::to_string(k), teams().front().name, 1, 0, {0});
    share.act.milli_gpu = 300;
    share.devices_of_member[0] = "5";
    scene_.add(share);
  }
  scene_.add(job("train", teams().front().name, 1, 4, {0}));
  const std::vector<std::string> shown = lines({.has_colour = false});
  EXPECT_TRUE(shown[3].starts_with(" rack 0 LLLL.L.. ")) << shown[3];
  EXPECT_NE(shown[0].find("   5 of 512 GPUs busy"), std::string::npos) << shown[0];
  EXPECT_TRUE(std::any_of(shown.begin(), shown.end(),
                          [](const std::string& line) { return line.find("    5 of ") != std::string::npos; }));
}

TEST_F(ViewTest, WhatIsCutSaysSo) {
  scene_.tell("~ team/job  waits: " + std::string(100, 'x'));
  EXPECT_EQ(lines({.has_colour = false, .width = 30}).back(), "  ~ team/job  waits: xxxxxxxx…");
  EXPECT_TRUE(lines({.has_colour = true, .width = 30}).back().ends_with("xxxxxxxx…\x1b[0m"));
  scene_.tell("~ fits");
  EXPECT_EQ(lines({.has_colour = false, .width = 8}).back(), "  ~ fits");
}

TEST(OwnWords, AreThoseBehindTheNumbersOfNodes) {
  EXPECT_EQ(own_words("0/64 nodes are available: 60 Insufficient nvidia.com/gpu, 4 node(s) had untolerated taint {a: "
                      "b}. gang g of 2: no capacity."),
            "gang g of 2: no capacity.");
  for (const char* whole : {"0/64 nodes are available: 64 Insufficient nvidia.com/gpu.",
                            "QuotaExhausted: queue vision uses 8 of its 8 GPUs. Wait.",
                            "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No "
                            "preemption victims found."})
    EXPECT_EQ(own_words(whole), whole);
}

TEST_F(ViewTest, IsCutToTheTerminalWithoutCountingColours) {
  scene_.tell("+ " + std::string(300, 'x'));
  const auto columns = [](const std::string& line) {
    int count = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\x1b')
        i = line.find('m', i);
      else if ((static_cast<unsigned char>(line[i]) & 0xC0) != 0x80)
        ++count;
    }
    return count;
  };
  for (const bool has_colour : {false, true})
    EXPECT_EQ(columns(lines({.has_colour = has_colour, .width = 60}).back()), 60);
}

TEST_F(ViewTest, ATerminalOfEightyColumnsShowsEveryDevice) {
  scene_.add(job("last", teams().front().name, 1, 8, {kNodesPerRack - 1}));
  const std::string squares = " ........", last = " LLLLLLLL";  // no space behind it
  std::string rack = " rack 0";
  for (int n = 1; n < kNodesPerRack; ++n) rack += squares;
  EXPECT_EQ(lines({.has_colour = false, .width = 79})[3], rack + last) << "the screen leaves the last column free";
}

TEST(KwokStages, AreBroughtAlong) {
  EXPECT_NE(file("kwok-stages.yaml").find("name: pod-ends"), std::string_view::npos);
}

}  // namespace
}  // namespace ashlar::demo
