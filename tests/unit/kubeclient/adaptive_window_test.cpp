// How many requests may be under way: one more after each window of sound answers, half as many at overload.
#include "kubeclient/adaptive_window.h"

#include <gtest/gtest.h>

#include <vector>

namespace ashlar::kube {
namespace {

class WindowOfRequests : public ::testing::Test {
 protected:
  using Pass = AdaptiveWindow::Pass;
  /// Sends until the window is full.
  std::vector<Pass> fill() {
    std::vector<Pass> sent;
    while (sent.size() < window.size()) sent.push_back(window.begin(sent.size(), now));
    return sent;
  }
  void answer(const std::vector<Pass>& sent, ServerHealth health = ServerHealth::kSound, Millis after = Millis(5)) {
    now = now + after;
    for (const Pass pass : sent) window.end(pass, health, now);
  }

  Millis now{1'000};
  AdaptiveWindow window{{.start = 8, .floor = 2, .ceiling = 10}};
};

TEST_F(WindowOfRequests, GrowsByOneWithEachWindowOfAnswersUpToItsCeiling) {
  std::vector<Pass> sent = fill();
  const Pass last = sent.back();
  sent.pop_back();
  answer(sent);
  EXPECT_EQ(window.size(), 8u) << "seven answers are no window";
  answer({last});
  EXPECT_EQ(window.size(), 9u);
  for (int i = 0; i < 5; ++i) answer(fill());
  EXPECT_EQ(window.size(), 10u);
}

TEST_F(WindowOfRequests, ThatIsNeverFullDoesNotGrow) {
  for (int i = 0; i < 100; ++i) answer({window.begin(0, now)});
  EXPECT_EQ(window.size(), 8u);
}

TEST_F(WindowOfRequests, IsHalvedOnceForAllThatWasUnderWayWhenTheServerIsInTrouble) {
  const std::vector<Pass> sent = fill();
  answer({sent[0]}, ServerHealth::kTrouble);
  EXPECT_EQ(window.size(), 4u);
  answer({sent.begin() + 1, sent.end()}, ServerHealth::kTrouble);
  EXPECT_EQ(window.size(), 4u) << "one decrease for one window";
  EXPECT_EQ(window.decreases(), 1u);
  answer({window.begin(0, now)}, ServerHealth::kTrouble);
  EXPECT_EQ(window.size(), 2u);
  answer({window.begin(0, now)}, ServerHealth::kTrouble);
  EXPECT_EQ(window.size(), 2u) << "its floor";
}

TEST_F(WindowOfRequests, LateAnswersOfAnEarlierWindowDoNotMakeItGrow) {
  const std::vector<Pass> sent = fill();
  answer({sent[0]}, ServerHealth::kTrouble);
  answer({sent.begin() + 1, sent.end()});
  EXPECT_EQ(window.size(), 4u);
}

TEST_F(WindowOfRequests, IsHalvedWhenAQuarterOfItsAnswersFailsOrTimesOut) {
  std::vector<Pass> sent = fill();
  answer({sent[0]}, ServerHealth::kUnclear);
  answer({sent.begin() + 1, sent.end()});
  EXPECT_EQ(window.size(), 9u) << "one of eight may be one webhook's fault";
  sent = fill();
  answer({sent.begin(), sent.begin() + 3}, ServerHealth::kUnclear);
  EXPECT_EQ(window.size(), 9u);
  answer({sent.begin() + 3, sent.end()});
  EXPECT_EQ(window.size(), 4u);
}

TEST_F(WindowOfRequests, IsHalvedWhenEvenTheFastestAnswerIsMuchSlowerThanTheBest) {
  answer(fill(), ServerHealth::kSound, Millis(100));
  ASSERT_EQ(window.size(), 9u);
  answer(fill(), ServerHealth::kSound, Millis(799));
  EXPECT_EQ(window.size(), 10u) << "not eight times the best";
  std::vector<Pass> sent = fill();
  const Pass fast = sent.back();
  sent.pop_back();
  answer({fast}, ServerHealth::kSound, Millis(100));
  answer(sent, ServerHealth::kSound, Millis(5'000));
  EXPECT_EQ(window.size(), 10u) << "one was fast: the others may be one tenant's";
  answer(fill(), ServerHealth::kSound, Millis(1'000));
  EXPECT_EQ(window.size(), 5u);
}

TEST_F(WindowOfRequests, AnswersWithinHalfASecondAreNeverSlow) {
  answer(fill(), ServerHealth::kSound, Millis(1));
  answer(fill(), ServerHealth::kSound, Millis(499));
  EXPECT_EQ(window.size(), 10u);
}

TEST_F(WindowOfRequests, OfAServerThatHasBecomeSlowerForGoodGrowsAgain) {
  answer(fill(), ServerHealth::kSound, Millis(80));
  for (int i = 0; i < 30; ++i) answer(fill(), ServerHealth::kSound, Millis(1'000));
  EXPECT_EQ(window.size(), 10u);
}

TEST_F(WindowOfRequests, FixedStaysAsItIs) {
  window = AdaptiveWindow(AdaptiveWindow::fixed(3));
  for (int i = 0; i < 5; ++i) answer(fill());
  answer(fill(), ServerHealth::kTrouble);
  EXPECT_EQ(window.size(), 3u);
}

TEST(WindowOfRequestsLimits, AreAnEighthAndTwiceOfTheStart) {
  const AdaptiveWindow::Limits limits = AdaptiveWindow::around(64);
  EXPECT_EQ(limits.start, 64u);
  EXPECT_EQ(limits.floor, 8u);
  EXPECT_EQ(limits.ceiling, 128u);
  EXPECT_EQ(AdaptiveWindow::around(1).floor, 1u);
}

}  // namespace
}  // namespace ashlar::kube
