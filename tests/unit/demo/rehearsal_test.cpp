// The demo without a cluster: the script on the simulator, and the wait for the control plane's build.
#include "apps/demo/rehearsal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "apps/demo/simulated_play.h"

namespace ashlar::demo {
namespace {

const Job& job_of(const Scene& scene, const std::string& name) {
  const auto job =
      std::find_if(scene.jobs().begin(), scene.jobs().end(), [&](const Job& j) { return j.act.name == name; });
  EXPECT_NE(job, scene.jobs().end()) << name;
  return *job;
}

bool has_news(const Scene& scene, const std::string& words) {
  return std::any_of(scene.news().begin(), scene.news().end(),
                     [&](const std::string& line) { return line.find(words) != std::string::npos; });
}

TEST(SimulatedPlay, TheEngineDecidesTheSameScript) {
  const Script script = short_story();
  SimulatedPlay play(script);
  play.advance_to(Millis(3'400));
  EXPECT_EQ(job_of(play.scene(), "fill-0").racks(), 1);
  EXPECT_EQ(job_of(play.scene(), "fill-0").bound, kNodesPerRack);
  EXPECT_EQ(job_of(play.scene(), "chat").devices_of_member[0].size(), 1u) << "the device is named";
  EXPECT_EQ(job_of(play.scene(), "foundation").bound, 0) << "it is all or nothing";
  EXPECT_TRUE(has_news(play.scene(),
                       "~ demo/foundation (language)  waits: the best rack (rack-0) has capacity for 7 of 8 members"));
  EXPECT_TRUE(has_news(play.scene(),
                       "~ demo/impossible (serving)  waits: it would not fit this cluster even if it were empty"));
  EXPECT_FALSE(play.is_over());
  play.advance_to(Millis(13'000));
  EXPECT_TRUE(job_of(play.scene(), "foundation").is_over);
  EXPECT_FALSE(play.is_over()) << "one job waits";
  play.advance_to(script.length);
  EXPECT_TRUE(play.is_over());
}

TEST(SimulatedPlay, EveryJobOfTheStoryThatCanRunDoes) {
  const Script script = two_minutes();
  SimulatedPlay play(script);
  play.advance_to(script.length);
  ASSERT_EQ(play.scene().jobs().size(), script.acts.size());
  for (const Job& job : play.scene().jobs()) EXPECT_EQ(job.is_bound(), job.act.can_ever_run()) << job.act.name;
  EXPECT_TRUE(has_news(play.scene(), "~ demo/render (vision)  waits: QuotaExhausted: queue vision uses"));
}

TEST(SimulatedPlay, TimeInSmallStepsOrInOneChangesNothing) {
  SimulatedPlay slow(two_minutes()), fast(two_minutes());
  for (int t = 0; t <= 118'000; t += 100) slow.advance_to(Millis(t));
  fast.advance_to(Millis(118'000));
  EXPECT_EQ(slow.scene().news(), fast.scene().news());
}

TEST(SimulatedPlay, EndsWhenTheLastJobHas) {
  Script script{.acts = {{.at = Millis(10), .name = "one", .team = "research", .gpus = 1, .runs_for = Millis(50)}},
                .length = Millis(5'000)};
  SimulatedPlay play(script);
  EXPECT_FALSE(play.is_over());
  play.advance_to(Millis(100));
  EXPECT_TRUE(play.is_over());
}

TEST(BuildNote, CountsTheMinutes) {
  EXPECT_EQ(build_note(Millis(200'000), Millis(700'000)),
            "same engine, simulated; Kubernetes is being built: 3 of about 12 min");
  EXPECT_EQ(build_note(Millis(0), Millis(61'000)),
            "same engine, simulated; Kubernetes is being built: 0 of about 2 min");
  EXPECT_EQ(build_note(Millis(800'000), Millis(700'000)),
            "same engine, simulated; Kubernetes is being built: 13 min so far");
}

/// A process that does nothing until it is ended.
class Builder {
 public:
  Builder() : pid_(fork()) {
    if (pid_ != 0) return;
    for (;;) pause();
  }
  ~Builder() { end(); }
  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

class RehearsalTest : public ::testing::Test {
 protected:
  /// What it prints without a terminal.
  std::string rehearse_and_print() {
    testing::internal::CaptureStdout();
    {
      Screen screen(false, false);
      outcome_ = rehearse(rehearsal_, screen);
    }
    return testing::internal::GetCapturedStdout();
  }
  Builder builder_;
  int looks_ = 0;
  Rehearsal rehearsal_{.script = short_story(),
                       .build = {.process = builder_.pid(), .usually = Millis(60'000), .log = ""},
                       .lacking = [this] { return ++looks_ < 4 ? "kwok" : ""; },
                       .repeats = false,
                       .goes_on = [] { return true; }};
  Result<void> outcome_;
};

TEST_F(RehearsalTest, EndsWhenNothingLacksAnyMore) {
  const std::string printed = rehearse_and_print();
  EXPECT_TRUE(outcome_.ok());
  EXPECT_EQ(looks_, 4);
  EXPECT_TRUE(printed.starts_with("same engine, simulated; Kubernetes is being built: 0 of about 1 min\n")) << printed;
  EXPECT_NE(printed.find("+ demo/notebook-0-0 (research)  node 0"), std::string::npos) << printed;
}

TEST_F(RehearsalTest, ShowsNothingIfNothingLacks) {
  rehearsal_.lacking = [] { return ""; };
  EXPECT_EQ(rehearse_and_print(), "");
  EXPECT_TRUE(outcome_.ok());
}

TEST_F(RehearsalTest, ABuildThatFailsIsAnErrorWithTheEndOfItsLog) {
  const std::string log = testing::TempDir() + "rehearsal_" + std::to_string(getpid()) + ".log";
  std::ofstream(log) << "no space left on device\n";
  rehearsal_.build.log = log;
  rehearsal_.lacking = [this] {
    if (++looks_ == 2) builder_.end();
    return "kwok";
  };
  rehearse_and_print();
  ASSERT_FALSE(outcome_.ok());
  EXPECT_EQ(outcome_.error().message, "the build of the control plane has ended without kwok; the whole log is " + log +
                                          ", its end:\nno space left on device\n");
  unlink(log.c_str());
}

TEST_F(RehearsalTest, ABuildThatEndsWithEverythingInPlaceIsNoError) {
  rehearsal_.lacking = [this] {
    builder_.end();  // between the look at the process and the look at the files
    return "";
  };
  rehearse_and_print();
  EXPECT_TRUE(outcome_.ok());
}

TEST_F(RehearsalTest, TheUserEndsItAtOnce) {
  rehearsal_.lacking = [] { return "kwok"; };
  rehearsal_.goes_on = [this] { return ++looks_ < 3; };
  rehearse_and_print();
  EXPECT_TRUE(outcome_.ok());
}

TEST_F(RehearsalTest, StartsAgainOnlyWhereThePictureIsDrawnInPlace) {
  rehearsal_.script = {
      .acts = {{.at = Millis(0), .name = "one", .team = "research", .gpus = 1, .runs_for = Millis(50)}},
      .length = Millis(5'000)};
  rehearsal_.lacking = [this] { return ++looks_ < 8 ? "kwok" : ""; };
  const std::string printed = rehearse_and_print();
  EXPECT_NE(printed.find("demo/one-0"), std::string::npos) << printed;
  EXPECT_EQ(printed.find("demo/one-0"), printed.rfind("demo/one-0")) << printed;
}

}  // namespace
}  // namespace ashlar::demo
