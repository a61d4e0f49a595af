// Reading on a thread of its own: what arrives, in which order, and what never does.
#include "live/watch/watch_thread.h"

#include <algorithm>
#include <thread>

#include "small_cluster.h"
#include "turnstile.h"

namespace ashlar::kube {
namespace {

class WatchThreadTest : public ::testing::Test {
 protected:
  ~WatchThreadTest() override {
    turnstile.open();
    thread.reset();
  }

  void make(std::size_t waiting_max = 50'000) {
    auto made = WatchThread::create({.api = {.access = cluster.access(), .seed = 7},
                                     .watches = {.log =
                                                     [this](LogLevel, const LogLine& line) {
                                                       log.push_back(line.message);
                                                       is_logged_here =
                                                           is_logged_here && std::this_thread::get_id() == here;
                                                     }},
                                     .wake =
                                         [this] {
                                           const std::lock_guard hold(lock);
                                           ++wakes;
                                           woken.notify_all();
                                         },
                                     .waiting_max = waiting_max,
                                     .monotonic = [this] { return turnstile.pass(); }});
    ASSERT_TRUE(made.ok()) << made.error().message;
    thread = std::move(made).value();
  }
  /// Waits for the reading thread to report something, and takes it.
  void take_next() {
    std::unique_lock hold(lock);
    woken.wait_for(hold, std::chrono::seconds(1), [this] { return wakes > 0; });
    wakes = 0;
    hold.unlock();
    status = thread->take(changes);
  }
  /// Takes nothing.
  template <class IsDone>
  static bool wait_for(IsDone&& is_done, std::chrono::milliseconds longest = std::chrono::seconds(60)) {
    const auto deadline = SmallCluster::Clock::now() + longest;
    while (!is_done() && SmallCluster::Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return is_done();
  }
  /// A term begins, and the reading thread waits until the first changes of it are taken: at most `waiting_max` may
  /// wait, and there are more at once.
  void begin_and_pause(std::size_t waiting_max) {
    make(waiting_max);
    thread->begin_term();
    ASSERT_TRUE(wait_for([this] {
      const std::lock_guard hold(lock);
      return wakes > 0;
    }));
    ASSERT_TRUE(wait_for([this] { return thread->is_paused(); }));
  }
  template <class IsDone>
  bool until(IsDone&& is_done) {
    const auto deadline = SmallCluster::Clock::now() + std::chrono::seconds(60);
    while (!is_done() && SmallCluster::Clock::now() < deadline) take_next();
    return is_done();
  }
  /// "node n, pod p", without what only says that a list is complete.
  std::string names() const {
    std::string text;
    for (const WatchedChange& change : changes) {
      const auto add = [&](const char* kind, const PooledString& name) {
        text += (text.empty() ? "" : ", ") + (kind + (" " + name.str()));
      };
      if (const auto* node = std::get_if<Change<Node>>(&change);
          node != nullptr && node->kind != Change<Node>::Kind::kSynced)
        add("node", node->object.name);
      if (const auto* pod = std::get_if<Change<Pod>>(&change);
          pod != nullptr && pod->kind != Change<Pod>::Kind::kSynced)
        add("pod", pod->object.name);
    }
    return text;
  }

  SmallCluster cluster;
  /// passed once a turn by the reading thread, between collecting and handing over
  Turnstile turnstile;
  std::mutex lock;
  std::condition_variable woken;
  int wakes = 0;
  const std::thread::id here = std::this_thread::get_id();
  bool is_logged_here = true;
  std::vector<std::string> log;
  std::vector<WatchedChange> changes;
  WatchStatus status;
  std::unique_ptr<WatchThread> thread;
};

TEST_F(WatchThreadTest, EverythingHasArrivedWhenItIsSynced) {
  cluster.put_node("n", 8);
  cluster.put_pod("p", 1);
  make();
  thread->begin_term();
  thread->start();
  ASSERT_TRUE(until([&] { return status.is_synced; }));
  EXPECT_EQ(names(), "node n, pod p") << "nodes come before the pods that name them";
  EXPECT_EQ(status.nodes, 1u);
  EXPECT_EQ(status.pods, 1u);
  EXPECT_GT(status.requests, 0u);
  EXPECT_TRUE(status.watches.at("pods").is_listed);
}

TEST_F(WatchThreadTest, AStandbyTakesNothingAndItsTermBeginsWithAllThatIsKnown) {
  cluster.put_node("n", 8);
  cluster.put_pod("p", 1);
  make();
  thread->start();
  ASSERT_TRUE(until([&] { return status.is_synced; }));
  EXPECT_EQ(names(), "");
  turnstile.close();  // nothing is handed over before it is looked at
  thread->begin_term();
  status = thread->take(changes);
  EXPECT_FALSE(status.is_synced) << "pods are listed again first";
  turnstile.open();
  ASSERT_TRUE(until([&] { return status.is_synced; }));
  EXPECT_TRUE(names().starts_with("node n, pod p")) << "[" << names() << "]";
}

TEST_F(WatchThreadTest, WhatWaitsToBeTakenIsLostWithItsTerm) {
  begin_and_pause(0);
  thread->end_term();
  thread->take(changes);
  EXPECT_TRUE(changes.empty());
}

TEST_F(WatchThreadTest, WhatWasCollectedButNotHandedOverYetIsLostWithItsTerm) {
  make();
  turnstile.close();
  thread->begin_term();
  turnstile.step();  // with the first changes of the term in its hands
  thread->end_term();
  turnstile.step();
  thread->take(changes);
  EXPECT_TRUE(changes.empty());
}

TEST_F(WatchThreadTest, ATermThatEndsBeforeTheThreadHasTurnedLeavesNothingToTheNext) {
  make();
  turnstile.close();
  thread->begin_term();
  thread->end_term();
  turnstile.step();
  turnstile.step();
  thread->take(changes);
  EXPECT_TRUE(changes.empty());
}

TEST_F(WatchThreadTest, AfterTheEndOfATermNothingIsKnownOfTheTimeAfterItYet) {
  cluster.put_node("n", 8);
  make();
  for (int i = 0; i < 3; ++i) {  // a list that is just made again hides the fault
    status = {};
    thread->begin_term();
    thread->start();
    ASSERT_TRUE(until([&] { return status.is_synced; }));
    turnstile.close();
    thread->stop();
    EXPECT_FALSE(thread->take(changes).is_synced);
    turnstile.step();
    EXPECT_FALSE(thread->take(changes).is_synced) << "handed over, but of the time before";
    turnstile.open();
  }
}

TEST_F(WatchThreadTest, AfterAStopItKnowsNothingAndBeginsAgain) {
  cluster.put_node("n", 8);
  make();
  thread->begin_term();
  thread->start();
  ASSERT_TRUE(until([&] { return status.is_synced; }));
  changes.clear();
  thread->stop();
  status = thread->take(changes);
  EXPECT_FALSE(status.is_synced);
  EXPECT_EQ(status.nodes, 0u);
  thread->begin_term();
  thread->start();
  ASSERT_TRUE(until([&] { return status.is_synced; }));
  EXPECT_EQ(names(), "node n");
}

TEST_F(WatchThreadTest, AThreadThatHangsDoesNotMoveAndOneThatWaitsToBeTakenDoes) {
  make();
  turnstile.close();
  thread->has_moved();
  EXPECT_FALSE(thread->has_moved());
  EXPECT_FALSE(thread->has_moved());
  turnstile.step();
  EXPECT_TRUE(thread->has_moved());
  EXPECT_FALSE(thread->has_moved());
  turnstile.open();
  thread.reset();
  wakes = 0;
  begin_and_pause(0);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(thread->has_moved());
}

TEST_F(WatchThreadTest, ATermThatEndsFreesAThreadThatWaitsToBeTaken) {
  begin_and_pause(0);
  thread->end_term();
  thread->start();
  EXPECT_TRUE(wait_for([&] { return cluster.count({"GET"}) > 0; })) << "though nothing was taken";
}

TEST_F(WatchThreadTest, ReadingPausesWhileTooMuchWaitsAndGoesOnWhenItIsTaken) {
  for (int n = 0; n < 20; ++n) cluster.put_node("n" + std::to_string(n), 8);
  cluster.put_pod("p", 1);
  begin_and_pause(1);
  thread->start();
  EXPECT_FALSE(wait_for([&] { return cluster.count({"GET"}) > 0; }, std::chrono::milliseconds(500)));
  EXPECT_TRUE(thread->is_paused());
  ASSERT_TRUE(until([&] { return status.is_synced; }));
  EXPECT_EQ(status.nodes, 20u);
  const std::string all = names();
  EXPECT_EQ(std::count(all.begin(), all.end(), ','), 20) << all;
  EXPECT_TRUE(all.ends_with("pod p")) << all;
}

TEST_F(WatchThreadTest, ItEndsWhileItWaitsToBeTaken) {
  begin_and_pause(0);
  thread.reset();
}

TEST_F(WatchThreadTest, ItsLogIsWrittenByWhoTakes) {
  cluster.refuse("nodes", 403);
  make();
  thread->start();
  const auto is_about_nodes = [](const std::string& line) { return line.find("nodes") != std::string::npos; };
  ASSERT_TRUE(until([&] { return std::any_of(log.begin(), log.end(), is_about_nodes); }));
  EXPECT_TRUE(is_logged_here);
}

}  // namespace
}  // namespace ashlar::kube
