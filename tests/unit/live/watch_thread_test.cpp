// Reading on a thread of its own: what arrives, in which order, and what never does.
#include "live/watch/watch_thread.h"

#include <algorithm>
#include <thread>

#include "small_cluster.h"

namespace ashlar::kube {
namespace {

class WatchThreadTest : public ::testing::Test {
 protected:
  ~WatchThreadTest() override { thread.reset(); }

  void make(std::size_t waiting_max = 50'000) {
    auto made = WatchThread::create({.api = {.access = cluster.access(), .seed = 7},
                                     .watches = {.encoding = Encoding::kJson,
                                                 .log =
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
                                     .waiting_max = waiting_max});
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
  template <class IsDone>
  bool until(IsDone&& is_done) {
    const auto deadline = SmallCluster::Clock::now() + std::chrono::seconds(20);
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
  thread->begin_term();
  status = thread->take(changes);
  EXPECT_FALSE(status.is_synced) << "pods are listed again first";
  ASSERT_TRUE(until([&] { return status.is_synced; }));
  EXPECT_TRUE(names().starts_with("node n, pod p")) << "[" << names() << "]";
}

TEST_F(WatchThreadTest, WhatWasReportedToATermThatEndedNeverComes) {
  cluster.put_node("n", 8);
  cluster.put_pod("p", 1);
  make();
  thread->begin_term();
  thread->start();
  ASSERT_TRUE(until([&] { return status.is_synced; }));
  cluster.put_pod("q", 1);
  thread->end_term();
  changes.clear();
  status = thread->take(changes);
  EXPECT_FALSE(status.is_synced) << "nothing is known of the time after it yet";
  thread->stop();
  thread->start();
  ASSERT_TRUE(until([&] { return status.is_synced; }));
  EXPECT_EQ(status.pods, 2u);
  EXPECT_EQ(names(), "");
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

TEST_F(WatchThreadTest, ReadingPausesWhileTooMuchWaitsAndGoesOnWhenItIsTaken) {
  for (int n = 0; n < 20; ++n) cluster.put_node("n" + std::to_string(n), 8);
  cluster.put_pod("p", 1);
  make(1);
  thread->begin_term();
  thread->start();
  ASSERT_TRUE(until([&] { return status.is_synced; }));
  EXPECT_EQ(status.nodes, 20u);
  const std::string all = names();
  EXPECT_EQ(std::count(all.begin(), all.end(), ','), 20) << all;
  EXPECT_TRUE(all.ends_with("pod p")) << all;
}

TEST_F(WatchThreadTest, ItEndsWhileItWaitsToBeTaken) {
  for (int n = 0; n < 20; ++n) cluster.put_node("n" + std::to_string(n), 8);
  make(0);
  thread->begin_term();
  thread->start();
  std::unique_lock hold(lock);
  ASSERT_TRUE(woken.wait_for(hold, std::chrono::seconds(20), [this] { return wakes > 0; }));
  hold.unlock();
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
