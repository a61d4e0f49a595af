// The reflector against a server that follows a script: what it reports, and what it asks for, after each kind of
// trouble.
#include "kubeclient/reflector.h"

#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "../http/loopback.h"

namespace ashlar::kube {
namespace {

using http::Loopback;

std::string ns_json(const std::string& name, int version, const std::string& uid) {
  return R"({"metadata":{"name":")" + name + R"(","uid":")" + uid + R"(","resourceVersion":")" +
         std::to_string(version) + R"("}})";
}
std::string list_json(int version, const std::string& items, const std::string& token = "") {
  return R"({"metadata":{"resourceVersion":")" + std::to_string(version) + R"(","continue":")" + token +
         R"("},"items":[)" + items + "]}";
}
std::string event_of(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
std::string bookmark_at(int version) {
  return event_of("BOOKMARK", R"({"metadata":{"resourceVersion":")" + std::to_string(version) + R"("}})");
}
std::string expired() {
  return event_of("ERROR", R"({"kind":"Status","reason":"Expired","code":410,"message":"too old"})");
}

/// One scripted answer: a whole response, or the chunks of a watch that then ends.
struct Step {
  int status = 200;
  std::string body;
  bool is_watch = false;
  bool breaks_off = false;
};
Step list(std::string body) { return {.body = std::move(body)}; }
Step watch(std::string events) { return {.body = std::move(events), .is_watch = true}; }

class Scripted : public ::testing::Test {
 protected:
  /// Plays the steps in order (the last one again and again: an idle watch) and follows until `until` says so.
  void play(std::vector<Step> steps, const std::function<bool()>& until, ReflectorOptions options = {}) {
    steps.push_back({.is_watch = true});
    std::size_t next = 0;
    Loopback server([this, &steps, &next](http::Wire& wire, const std::string& request) {
      {
        const std::lock_guard lock(mutex_);
        asked_.push_back(request.substr(4, request.find(" HTTP") - 4));
      }
      const Step& step = steps[std::min(next++, steps.size() - 1)];
      if (!step.is_watch) {
        wire.say("HTTP/1.1 " + std::to_string(step.status) +
                 " X\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: " +
                 std::to_string(step.body.size()) + "\r\n\r\n" + step.body);
        return;
      }
      wire.say(
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: "
          "chunked\r\n\r\n");
      // Cut in the middle, so that events cross chunk borders.
      if (!step.body.empty())
        wire.say(Loopback::chunk(step.body.substr(0, step.body.size() / 2)) +
                 Loopback::chunk(step.body.substr(step.body.size() / 2)));
      if (step.body.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(300));
      if (!step.breaks_off) wire.say(Loopback::chunk(""));
    });
    auto api = Api::create({.access = {.origin = "test", .server = server.url()}, .seed = 7});
    ASSERT_TRUE(api.ok());
    options.path = "/api/v1/namespaces";
    options.backoff_min = Millis(5);
    options.backoff_max = Millis(20);
    options.on_error = [this](const Error& error) { errors_.push_back(error.message); };
    Reflector<Namespace> reflector(**api, options, [this](Change<Namespace>&& change) {
      log_ += "+~-="[static_cast<int>(change.kind)] + change.object.name.str() +
              (change.object.resource_version != 0 ? std::to_string(change.object.resource_version) : "") + " ";
    });
    reflector.start();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!until() && std::chrono::steady_clock::now() < deadline) (*api)->poll(Millis(20));
    counters_ = reflector.counters();
    version_ = reflector.resource_version();
    EXPECT_TRUE(until()) << "gave up; log so far: " << log_;
  }
  bool logged(const std::string& text) const { return log_.find(text) != std::string::npos; }
  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  std::mutex mutex_;
  std::vector<std::string> asked_, errors_;
  std::string log_, version_;
  ReflectorCounters counters_;
};

TEST_F(Scripted, ListsThenFollowsEveryChangeOnce) {
  play({list(list_json(10, ns_json("a", 3, "ua") + "," + ns_json("b", 4, "ub"))),
        watch(event_of("ADDED", ns_json("c", 11, "uc")) + event_of("MODIFIED", ns_json("a", 12, "ua")) +
              event_of("DELETED", ns_json("b", 13, "ub")))},
       [&] { return logged("-b"); });
  EXPECT_EQ(log_, "+a3 +b4 = +c11 ~a12 -b13 ");
  const auto requests = asked();
  EXPECT_NE(requests[1].find("watch=1"), std::string::npos);
  EXPECT_NE(requests[1].find("resourceVersion=10&"), std::string::npos) << requests[1];
  EXPECT_NE(requests[1].find("allowWatchBookmarks=true"), std::string::npos);
}

TEST_F(Scripted, AsksForAllPagesOfAList) {
  play({list(list_json(10, ns_json("a", 3, "ua"), "next/1")), list(list_json(10, ns_json("b", 4, "ub")))},
       [&] { return logged("="); }, {.page_items = 1});
  EXPECT_EQ(log_, "+a3 +b4 = ");
  EXPECT_NE(asked()[1].find("limit=1&continue=next%2F1"), std::string::npos) << asked()[1];
}

TEST_F(Scripted, DropsDuplicatesAndStaleVersions) {
  play({list(list_json(10, ns_json("a", 5, "ua"))),
        watch(event_of("ADDED", ns_json("a", 5, "ua")) + event_of("MODIFIED", ns_json("a", 4, "ua")) +
              event_of("MODIFIED", ns_json("a", 12, "ua")) + event_of("MODIFIED", ns_json("a", 12, "ua")) +
              event_of("DELETED", ns_json("nobody", 13, "x")) + event_of("ADDED", ns_json("end", 14, "ue")))},
       [&] { return logged("+end"); });
  EXPECT_EQ(log_, "+a5 = ~a12 +end14 ");
  EXPECT_EQ(counters_.stale_dropped, 4u);
}

TEST_F(Scripted, GoesOnFromTheLastBookmarkWhenAWatchEnds) {
  play({list(list_json(10, "")), watch(event_of("ADDED", ns_json("a", 11, "ua")) + bookmark_at(40)),
        watch(event_of("ADDED", ns_json("b", 41, "ub")))},
       [&] { return logged("+b"); });
  EXPECT_EQ(log_, "= +a11 +b41 ") << "no second list";
  EXPECT_NE(asked()[2].find("resourceVersion=40&"), std::string::npos) << asked()[2];
  EXPECT_EQ(counters_.bookmarks, 1u);
}

TEST_F(Scripted, ABrokenStreamLosesNothing) {
  Step broken = watch(event_of("ADDED", ns_json("a", 11, "ua")) + R"({"type":"ADDED","obj)");
  broken.breaks_off = true;
  play({list(list_json(10, "")), broken, watch(event_of("ADDED", ns_json("b", 12, "ub")))},
       [&] { return logged("+b"); });
  EXPECT_EQ(log_, "= +a11 +b12 ");
  EXPECT_NE(asked()[2].find("resourceVersion=11&"), std::string::npos) << asked()[2];
}

TEST_F(Scripted, AnExpiredVersionIsListedAgainAndOnlyTheDifferenceReported) {
  play({list(list_json(10, ns_json("a", 3, "ua") + "," + ns_json("b", 4, "ub") + "," + ns_json("c", 5, "uc"))),
        watch(expired()),
        list(list_json(50, ns_json("a", 3, "ua") + "," + ns_json("b", 44, "ub") + "," + ns_json("d", 45, "ud")))},
       [&] { return logged("-c ="); });
  EXPECT_EQ(log_, "+a3 +b4 +c5 = ~b44 +d45 -c = ");
  EXPECT_EQ(counters_.expired, 1u);
  EXPECT_EQ(counters_.lists, 2u);
}

TEST_F(Scripted, AnExpiredVersionMayAlsoBeAnHttpStatus) {
  play({list(list_json(10, "")),
        {.status = 410, .body = R"({"kind":"Status","reason":"Expired","code":410,"message":"too old"})"},
        list(list_json(50, ns_json("a", 44, "ua")))},
       [&] { return logged("+a44 ="); });
  EXPECT_EQ(counters_.expired, 1u);
}

TEST_F(Scripted, ASuccessorOfTheSameNameEndsThePredecessor) {
  play({list(list_json(10, ns_json("a", 3, "old"))),
        watch(event_of("ADDED", ns_json("a", 12, "new")) + event_of("DELETED", ns_json("a", 11, "old")) +
              event_of("MODIFIED", ns_json("a", 13, "new")))},
       [&] { return logged("~a13"); });
  EXPECT_EQ(log_, "+a3 = -a +a12 ~a13 ") << "the late deletion of the old one must not remove the new one";
}

TEST_F(Scripted, UnreadableEventsAreNamedAndListedAnew) {
  play({list(list_json(10, ns_json("a", 3, "ua"))),
        watch(event_of("ADDED", ns_json("b", 11, "ub")) + "{\"type\":\"ADDED\",\"object\":{{{\n" +
              event_of("ADDED", ns_json("lost", 12, "ul"))),
        list(list_json(50, ns_json("a", 3, "ua") + "," + ns_json("b", 11, "ub") + "," + ns_json("lost", 12, "ul")))},
       [&] { return logged("+lost12 ="); });
  EXPECT_EQ(log_, "+a3 = +b11 +lost12 = ");
  EXPECT_EQ(counters_.bad_events, 1u);
  ASSERT_FALSE(errors_.empty());
  EXPECT_NE(errors_[0].find("watch event"), std::string::npos) << errors_[0];
}

std::string unreadable_json(const std::string& name, int version, const std::string& uid) {
  return R"({"metadata":{"name":")" + name + R"(","uid":")" + uid + R"(","resourceVersion":")" +
         std::to_string(version) + R"(","creationTimestamp":"once"}})";
}

TEST_F(Scripted, AnObjectThatCannotBeReadIsReportedAndNoReasonToListAgain) {
  play({list(list_json(10, ns_json("a", 3, "ua") + "," + unreadable_json("b", 4, "ub"))),
        watch(event_of("MODIFIED", unreadable_json("a", 11, "ua")) +
              event_of("MODIFIED", unreadable_json("a", 11, "ua")) +
              event_of("MODIFIED", unreadable_json("a", 12, "ua")) +
              event_of("DELETED", unreadable_json("b", 13, "ub")) + event_of("ADDED", ns_json("c", 14, "uc")))},
       [&] { return logged("+c14"); });
  EXPECT_EQ(log_, "+a3 +b4 = ~a11 ~a12 -b13 +c14 ");
  EXPECT_EQ(counters_.lists, 1u);
  EXPECT_EQ(counters_.unreadable, 1u) << "a; b is gone";
  EXPECT_EQ(counters_.bad_events, 3u) << "one for each version";
}

TEST_F(Scripted, WhatARelistCannotReadIsNotDeleted) {
  play({list(list_json(10, ns_json("a", 3, "ua") + "," + ns_json("b", 4, "ub"))), watch(expired()),
        list(list_json(50, unreadable_json("a", 44, "ua") + R"(,{"metadata":{"resourceVersion":"45"}})"))},
       [&] { return logged("~a44 ="); });
  EXPECT_EQ(log_, "+a3 +b4 = ~a44 = ") << "b may be the one that has no name";
  ASSERT_FALSE(errors_.empty());
}

TEST_F(Scripted, FailingListsAreTriedAgain) {
  play({{.status = 500, .body = "oh"},
        {.status = 429, .body = "{}"},
        list("garbage"),
        list(list_json(10, ns_json("a", 3, "ua")))},
       [&] { return logged("="); });
  EXPECT_EQ(log_, "+a3 = ");
  EXPECT_EQ(errors_.size(), 3u);
}

TEST(RetryPace, OneAttemptAnIntervalWhoeverMakesIt) {
  RetryPace pace(Millis(250));
  EXPECT_EQ(pace.ask(Millis(1'000)), Millis(0));
  EXPECT_EQ(pace.ask(Millis(1'000)), Millis(250));
  EXPECT_EQ(pace.ask(Millis(1'200)), Millis(50));
  EXPECT_EQ(pace.ask(Millis(1'250)), Millis(0));
}

TEST_F(Scripted, AServerThatAsksForPatienceIsLeftAloneForSoLong) {
  const auto began = std::chrono::steady_clock::now();
  play({{.status = 429, .body = R"({"kind":"Status","message":"busy","details":{"retryAfterSeconds":1}})"},
        list(list_json(10, ns_json("a", 3, "ua")))},
       [&] { return logged("="); });
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(990))
      << "the back-off of this test ends after 20 ms; timers count whole milliseconds";
}

TEST_F(Scripted, AnObjectNewerThanTheListIsKept) {
  // A list served from a lagging cache does not know "b" yet; the watch from its version will confirm or delete it.
  play({list(list_json(10, ns_json("a", 3, "ua"))), watch(event_of("ADDED", ns_json("b", 30, "ub")) + expired()),
        list(list_json(20, ns_json("a", 3, "ua"))), watch(event_of("DELETED", ns_json("b", 31, "ub")))},
       [&] { return logged("-b"); }, {.page_items = 0});
  EXPECT_EQ(log_, "+a3 = +b30 = -b31 ");
}

TEST_F(Scripted, ARestoredServerIsBelieved) {
  // Consistent list with an older version than the one already seen: the store went back in time.
  play({list(list_json(100, ns_json("a", 90, "ua") + "," + ns_json("b", 91, "ub"))), watch(expired()),
        list(list_json(50, ns_json("a", 40, "ua")))},
       [&] { return logged("-b ="); });
  EXPECT_EQ(log_, "+a90 +b91 = ~a40 -b = ");
}

TEST_F(Scripted, SelectorsAreSentWithListsAndWatches) {
  play({list(list_json(10, ""))}, [&] { return asked().size() >= 2; },
       {.field_selector = "status.phase!=Failed", .label_selector = "a in (b)"});
  for (const std::string& request : asked()) {
    EXPECT_NE(request.find("fieldSelector=status.phase%21%3DFailed"), std::string::npos) << request;
    EXPECT_NE(request.find("labelSelector=a%20in%20%28b%29"), std::string::npos) << request;
  }
}

}  // namespace
}  // namespace ashlar::kube
