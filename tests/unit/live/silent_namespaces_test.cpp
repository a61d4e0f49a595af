// Namespaces whose bindings hang, fail or are answered late, in many at once: how long the bindings of others wait, and
// how many requests are under way at the server. Time is simulated, one millisecond after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "live/write/bind_queue.h"

namespace ashlar::kube {
namespace {

constexpr Millis kHangs{15'000};  ///< until the request's own timeout

/// What a namespace's webhook does: how long an answer to its nth binding takes that is sent at this time.
struct Answering {
  std::function<Millis(Millis, int)> takes;
  std::function<bool(int)> fails = [](int) { return false; };
};

class Server {
 public:
  static constexpr std::size_t kWindow = 64;
  std::map<std::string, Answering> hostile;   ///< every other namespace is answered in 10 ms
  std::map<std::string, Answering> innocent;  ///< but for these, whose waiting counts
  Millis stalls_at, stalls_for;               ///< the server itself: answers to all wait until it goes on

  void push(const std::string& ns) {
    queue_.push(ns, CommitTicket{.slot = static_cast<PodSlot>(pushed_.size())});
    pushed_.push_back({ns, now_});
  }
  void run(Millis time) {
    for (const Millis until = now_ + time; now_ < until; now_ += Millis(1)) turn();
  }
  /// Of the namespaces that are not hostile: how long any binding waited from its coming to its answer.
  Millis worst_wait() const {
    Millis worst;
    for (std::size_t slot = 0; slot < pushed_.size(); ++slot)
      if (!hostile.contains(pushed_[slot].ns))
        worst = std::max(worst, (answered_.contains(slot) ? answered_.at(slot) : now_) - pushed_[slot].at);
    return worst;
  }
  std::size_t most_under_way() const { return most_under_way_; }

 private:
  struct Pushed {
    std::string ns;
    Millis at;
  };
  struct UnderWay {
    std::uint64_t request;
    std::size_t slot;
    bool has_failed;
  };
  void turn() {
    while (!answers_.empty() && answers_.begin()->first <= now_) {
      const UnderWay one = answers_.begin()->second;
      answers_.erase(answers_.begin());
      end(one, one.has_failed);
    }
    queue_.find_slow(now_);
    while (const auto late = queue_.to_abandon(now_)) {
      const auto found =
          std::find_if(answers_.begin(), answers_.end(), [&](const auto& one) { return one.second.request == *late; });
      const UnderWay one = found->second;
      answers_.erase(found);
      end(one, true);
    }
    while (auto next = queue_.next(answers_.size() - std::min(answers_.size(), queue_.outside_window()), kWindow))
      send(*next);
    most_under_way_ = std::max(most_under_way_, answers_.size());
  }
  void send(const BindQueue::Next& next) {
    const std::uint64_t request = ++last_request_;
    queue_.note_sent(request, next.ns, now_);
    const std::string ns = next.ns.str();
    const Answering* answering = hostile.contains(ns)    ? &hostile.at(ns)
                                 : innocent.contains(ns) ? &innocent.at(ns)
                                                         : nullptr;
    const int number = sent_[ns]++;
    const Millis takes = answering == nullptr ? Millis(10) : std::min(answering->takes(now_, number), kHangs);
    const bool fails = takes == kHangs || (answering != nullptr && answering->fails(number));
    Millis at = now_ + takes;
    if (at >= stalls_at && at < stalls_at + stalls_for) at = stalls_at + stalls_for;
    answers_.emplace(at, UnderWay{request, next.ticket.slot, fails});
  }
  /// What has failed comes again.
  void end(const UnderWay& one, bool has_failed) {
    queue_.note_answered(one.request, now_, has_failed);
    if (has_failed)
      queue_.push(pushed_[one.slot].ns, CommitTicket{.slot = static_cast<PodSlot>(one.slot)});
    else
      answered_[one.slot] = now_;
  }

  BindQueue queue_;
  Millis now_{10'000};
  std::vector<Pushed> pushed_;
  std::multimap<Millis, UnderWay> answers_;
  std::map<std::size_t, Millis> answered_;
  std::map<std::string, int> sent_;
  std::uint64_t last_request_ = 0;
  std::size_t most_under_way_ = 0;
};

Answering hangs() {
  return {.takes = [](Millis, int) { return kHangs; }};
}
Answering takes(Millis time) {
  return {.takes = [time](Millis, int) { return time; }};
}
Answering hangs_from(Millis moment) {
  return {.takes = [moment](Millis now, int) { return now < moment ? Millis(10) : kHangs; }};
}

class SilentNamespaces : public ::testing::Test {
 protected:
  void make_hostile(int namespaces, const Answering& answering) {
    for (int n = 0; n < namespaces; ++n) server.hostile["hostile" + std::to_string(n)] = answering;
  }
  /// Bindings of each hostile one, and among them some of others: of one that is known, and of new ones.
  void attack(int pods, int others = 20) {
    int other = 0;
    const auto push_other = [&] {
      server.push(other % 2 == 0 ? "known" : "other" + std::to_string(other));
      ++other;
    };
    const int every = std::max<int>(1, static_cast<int>(server.hostile.size()) * pods / others);
    int count = 0;
    for (int i = 0; i < pods; ++i)
      for (const auto& [ns, answering] : server.hostile) {
        server.push(ns);
        if (++count % every == 0) push_other();
      }
    for (int i = 0; i < 100; ++i) {
      server.run(Millis(200));
      push_other();
    }
    server.run(Millis(2'000));
  }
  void make_known() {
    for (const auto& [ns, answering] : server.hostile) server.push(ns);
    server.push("known");
    server.run(Millis(2'000));
  }
  void expect(Millis wait, std::size_t under_way = 240) {
    EXPECT_LE(server.worst_wait(), wait) << server.worst_wait().value;
    EXPECT_LE(server.most_under_way(), under_way);
  }

  Server server;
};

TEST_F(SilentNamespaces, NoneIsHostile) {
  attack(0, 500);
  expect(Millis(100));
}

TEST_F(SilentNamespaces, OneOfManyPods) {
  make_hostile(1, hangs_from(Millis(12'000)));
  make_known();
  attack(500);
  expect(Millis(600));
}

TEST_F(SilentNamespaces, TwentyThatWereKnown) {
  make_hostile(20, hangs_from(Millis(12'000)));
  make_known();
  attack(20);
  expect(Millis(1'000));
}

TEST_F(SilentNamespaces, AHundredThatWereKnown) {
  make_hostile(100, hangs_from(Millis(12'000)));
  make_known();
  attack(4);
  expect(Millis(1'500), 90);
}

TEST_F(SilentNamespaces, TwoHundredNewOnesOfOnePod) {
  make_hostile(200, hangs());
  make_known();
  attack(1);
  expect(Millis(4'000), 110);
}

TEST_F(SilentNamespaces, FortyAfterARestart) {
  make_hostile(40, hangs());
  attack(10);
  expect(Millis(1'500), 64);
}

TEST_F(SilentNamespaces, ThatAreAnsweredNowAndThen) {
  make_hostile(25, {.takes = [](Millis now, int) { return now.value / 500 % 2 == 0 ? Millis(10) : kHangs; }});
  make_known();
  attack(400);
  expect(Millis(1'000));
}

TEST_F(SilentNamespaces, OfWhichEveryOtherBindingHangs) {
  make_hostile(20, {.takes = [](Millis, int number) { return number % 2 == 0 ? Millis(10) : kHangs; }});
  make_known();
  attack(40);
  expect(Millis(1'500));
}

TEST_F(SilentNamespaces, ThatAreAnsweredJustInTime) {
  make_hostile(20, takes(Millis(1'900)));
  make_known();
  attack(40);
  expect(Millis(1'000));
}

TEST_F(SilentNamespaces, OfWhichTwoBindingsOfThreeFail) {
  make_hostile(20, {.takes = [](Millis, int) { return Millis(300); }, .fails = [](int n) { return n % 3 != 0; }});
  make_known();
  attack(40);
  expect(Millis(1'500));
}

TEST_F(SilentNamespaces, BesideOneThatWasLateOnce) {
  make_hostile(20, hangs_from(Millis(12'000)));
  server.innocent["known"] = {.takes = [](Millis, int number) { return Millis(number == 1 ? 2'200 : 10); }};
  make_known();
  attack(20);
  expect(Millis(4'500));
}

TEST_F(SilentNamespaces, WhileTheServerItselfStallsOnce) {
  make_hostile(20, hangs_from(Millis(12'000)));
  make_known();
  server.stalls_at = Millis(15'000);
  server.stalls_for = Millis(2'600);
  attack(20);
  expect(Millis(5'000));
}

TEST_F(SilentNamespaces, AServerThatIsSlowForAllIsUsedAllTheSame) {
  make_hostile(1, {.takes = [](Millis now, int) { return now < Millis(12'000) ? Millis(10) : Millis(500); }});
  make_known();
  const int pods = 1'000;
  for (int i = 0; i < pods; ++i) server.push("hostile0");
  server.run(Millis(10'000));
  server.hostile.clear();
  EXPECT_LE(server.worst_wait(), Millis(10'000)) << "a hundred in a second";
}

}  // namespace
}  // namespace ashlar::kube
