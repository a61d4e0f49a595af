// What a reflector reports, in which order, what it counts, and that it falls silent wherever its owner stops it.
#include <memory>
#include <vector>

#include "paced.h"

namespace ashlar::kube {
namespace {

using Log = std::vector<std::string>;

std::string unreadable(const std::string& name, int version, const std::string& uid) {
  return R"({"metadata":{"name":")" + name + R"(","uid":")" + uid + R"(","resourceVersion":")" +
         std::to_string(version) + R"(","creationTimestamp":"once"}})";
}
std::string bookmark(int version) {
  return event("BOOKMARK", R"({"metadata":{"resourceVersion":")" + std::to_string(version) + R"("}})");
}

/// A little of everything: pages, events of each kind, a successor, what cannot be read, an expiry, and a list that
/// lacks some.
std::vector<Step> a_life() {
  return {list(10, object("a", 3, "ua") + "," + object("b", 4, "ub"), "more"), list(10, object("c", 5, "uc")),
          watch(event("ADDED", object("d", 11, "ud")) + event("MODIFIED", object("a", 12, "ua2")) +
                event("DELETED", object("b", 13, "ub")) + bookmark(14) + event("MODIFIED", unreadable("c", 15, "uc")) +
                kExpired),
          list(20, object("e", 16, "ue") + R"(,{"metadata":{}},)" + object("a", 12, "ua2")), refusal("500 No")};
}
const Log kLife = {"+a3", "+b4", "+c5", "=", "+d11", "-a", "+a12", "-b13", "~c15", "!", "!", "+e16", "=", "!"};

TEST_F(Paced, ALifeIsReportedInOrderAndCounted) {
  open(a_life());
  Reflector<Namespace> reflector = follow();
  EXPECT_FALSE(reflector.is_synced());
  reflector.start();
  reflector.start();
  settle();
  EXPECT_EQ(log, kLife);
  EXPECT_TRUE(reflector.is_synced());
  EXPECT_EQ(reflector.known_objects(), 4u) << "c and d may be the one that has no name";
  EXPECT_EQ(reflector.resource_version(), "20");
  EXPECT_EQ(reflector.last_contact(), now());
  const ReflectorCounters& counted = reflector.counters();
  EXPECT_EQ(counted.lists, 2u);
  EXPECT_EQ(counted.watches, 2u);
  EXPECT_EQ(counted.events, 4u);
  EXPECT_EQ(counted.bookmarks, 1u);
  EXPECT_EQ(counted.stale_dropped, 0u);
  EXPECT_EQ(counted.bad_events, 2u);
  EXPECT_EQ(counted.expired, 1u);
  EXPECT_EQ(counted.errors, 2u);
  EXPECT_EQ(counted.unreadable, 1u);
}

TEST_F(Paced, AReflectorThatIsStoppedSaysNothingMore) {
  for (std::size_t last = 1; last <= kLife.size(); ++last) {
    open(a_life());
    Reflector<Namespace> reflector = follow();
    on_note = [&] {
      if (log.size() == last) reflector.stop();
    };
    reflector.start();
    settle();
    const std::size_t asked_before = asked().size();
    for (int i = 0; i < 10; ++i) later(Millis(1'000));
    settle();
    EXPECT_EQ(log, Log(kLife.begin(), kLife.begin() + static_cast<std::ptrdiff_t>(last)));
    EXPECT_FALSE(reflector.is_synced()) << last;
    EXPECT_EQ(asked().size(), 0u) << last << " of " << asked_before;
  }
}

TEST_F(Paced, WhatAListLacksIsDeletedInTheOrderOfNames) {
  const auto group = [](const char* ns, const std::string& name) { return object(name, 3, "u" + name, ns); };
  std::string before, after;
  for (const char* name : {"f", "b", "d", "a", "e", "c", "kept"})
    before += (before.empty() ? "" : ",") + group("y", name) + "," + group("x", name);
  after = group("x", "kept") + "," + group("y", "kept");
  for (std::size_t last = 0; last <= 12; ++last) {
    open({list(10, before), watch(kExpired), list(20, after), refusal("500 No")});
    Log gone;
    Reflector<PodGroup>* stopped = nullptr;
    Reflector<PodGroup> reflector(*api, {.path = "/groups"}, [&](Change<PodGroup>&& change) {
      if (change.kind != Change<PodGroup>::Kind::kDeleted) return;
      gone.push_back(change.object.ns.str() + "/" + change.object.name.str() + "/" + change.object.uid.str());
      if (gone.size() == last) stopped->stop();
    });
    stopped = &reflector;
    reflector.start();
    settle();
    Log expected = {"x/a/ua", "x/b/ub", "x/c/uc", "x/d/ud", "x/e/ue", "x/f/uf",
                    "y/a/ua", "y/b/ub", "y/c/uc", "y/d/ud", "y/e/ue", "y/f/uf"};
    if (last > 0) expected.resize(last);
    EXPECT_EQ(gone, expected);
    EXPECT_EQ(reflector.known_objects(), 14 - expected.size());
  }
}

TEST_F(Paced, AListKeepsWhatIsNewerAndDeletesWhatIsAsOldAsItself) {
  struct Case {
    const char* what;
    int seen, listed;
    ReflectorOptions options;
    Log end;
  };
  const Case cases[] = {
      {"newer than a list from a cache", 21, 20, {.page_items = 0}, {"="}},
      {"as old as a list from a cache", 20, 20, {.page_items = 0}, {"-a", "="}},
      {"newer than a list that must be believed", 21, 20, {.page_items = 5}, {"-a", "="}},
      {"newer than a list that must be believed, whole",
       21,
       20,
       {.page_items = 0, .from_watch_cache = false},
       {"-a", "="}},
      {"newer than what says no version", 21, 0, {.page_items = 0}, {"-a", "="}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    open({list(10), watch(event("ADDED", object("a", c.seen, "ua")) + kExpired), list(c.listed), refusal("500 No")});
    Reflector<Namespace> reflector = follow(c.options);
    reflector.start();
    settle();
    Log expected = {"=", "+a" + std::to_string(c.seen), "!"};
    expected.insert(expected.end(), c.end.begin(), c.end.end());
    expected.push_back("!");
    EXPECT_EQ(log, expected);
  }
}

TEST_F(Paced, EventsMoveTheVersionBeforeTheyAreReported) {
  Log versions;
  open({list(10, object("x", 1, "ux")),
        watch(event("ADDED", object("a", 11, "ua")) + event("MODIFIED", object("a", 12, "ua")) + bookmark(13) +
              event("DELETED", object("a", 14, "ua")) + event("ADDED", object("n", 0, "un")) +
              event("DELETED", object("x", 0, "ux"))),
        refusal("500 No")});
  Reflector<Namespace>* told = nullptr;
  Reflector<Namespace> reflector(*api, {}, [&](Change<Namespace>&&) { versions.push_back(told->resource_version()); });
  told = &reflector;
  reflector.start();
  settle();
  EXPECT_EQ(versions, (Log{"", "10", "11", "12", "14", "14", "14"})) << "an event without a version leaves it";
  EXPECT_EQ(reflector.counters().events, 5u);
}

TEST_F(Paced, StaleEventsAreCountedAndStaleListsAreNot) {
  open({list(10, object("a", 5, "ua")),
        watch(event("MODIFIED", object("a", 5, "ua")) + event("MODIFIED", object("a", 4, "ua")) +
              event("DELETED", object("z", 6, "uz")) + event("DELETED", object("a", 6, "other")) +
              event("MODIFIED", object("a", 0, "ua")) + kExpired),
        list(20, object("a", 5, "ua")), refusal("500 No")});
  Reflector<Namespace> reflector = follow();
  reflector.start();
  settle();
  EXPECT_EQ(log, (Log{"+a5", "=", "~a", "!", "~a5", "=", "!"})) << "what has no version is never old";
  EXPECT_EQ(reflector.counters().stale_dropped, 4u);
}

TEST_F(Paced, WhatCannotBeReadIsCountedOnceForEachVersionAndForgottenWhenItIsReadOrGone) {
  const std::string nameless_uid = R"({"metadata":{"name":"a","resourceVersion":"13","creationTimestamp":"once"}})";
  open({list(10, unreadable("a", 5, "ua") + "," + unreadable("b", 6, "ub") + "," + unreadable("c", 7, "uc") + "," +
                     unreadable("d", 8, "ud")),
        watch(event("MODIFIED", object("b", 11, "ub")) + event("DELETED", unreadable("c", 12, "uc")) +
              event("MODIFIED", nameless_uid) + kExpired),
        list(20, object("a", 13, "ua") + "," + object("b", 11, "ub")), refusal("500 No")});
  Reflector<Namespace> reflector = follow();
  std::vector<std::uint64_t> unread;
  on_note = [&] { unread.push_back(reflector.counters().unreadable); };
  reflector.start();
  settle();
  on_note = nullptr;
  EXPECT_EQ(log, (Log{"+a5", "+b6", "+c7", "+d8", "=", "~b11", "-c12", "~a13", "!", "-d", "=", "!"}));
  EXPECT_EQ(unread, (std::vector<std::uint64_t>{1, 2, 3, 4, 4, 3, 2, 2, 2, 1, 1, 1}));
  EXPECT_EQ(reflector.counters().bad_events, 5u);
}

TEST_F(Paced, ARelistReportsTheDifferenceAndWorksOnlyWhereItRuns) {
  open({list(10, object("a", 3, "ua")), refusal("500 No"), list(20, object("b", 4, "ub")), refusal("500 No"), list(30),
        refusal("500 No")});
  Reflector<Namespace> reflector = follow();
  reflector.relist();
  EXPECT_EQ(api->in_flight(), 0u) << "it was never started";
  reflector.start();
  settle();
  reflector.relist();
  EXPECT_FALSE(reflector.is_synced());
  settle();
  EXPECT_EQ(log, (Log{"+a3", "=", "!", "+b4", "-a", "=", "!"}));
  reflector.stop();
  reflector.relist();
  later(Millis(60'000));
  EXPECT_EQ(api->in_flight(), 0u);
  reflector.start();
  settle();
  EXPECT_EQ(log, (Log{"+a3", "=", "!", "+b4", "-a", "=", "!", "-b", "=", "!"}));
  EXPECT_EQ(asked(), (Log{"list", "watch", "list", "watch", "list", "watch"}));
}

TEST_F(Paced, ARelistTakesThePlaceOfTheListUnderWay) {
  open({list(10, object("a", 3, "ua")), refusal("500 No")});
  Reflector<Namespace> reflector = follow();
  reflector.start();
  reflector.relist();
  EXPECT_EQ(api->in_flight(), 1u);
  settle();
  EXPECT_EQ(log, (Log{"+a3", "=", "!"}));
  EXPECT_EQ(asked(), (Log{"list", "watch"}));
}

TEST_F(Paced, HalfAnEventAtTheEndOfAWatchIsNotPutBeforeTheNextWatchsFirst) {
  open({list(10), watch(event("ADDED", object("a", 11, "ua")) + R"({"type":"AD)", Millis(1'000)),
        watch(event("ADDED", object("b", 12, "ub")))});
  Reflector<Namespace> reflector = follow();
  reflector.start();
  settle();
  EXPECT_EQ(log, (Log{"=", "+a11", "+b12"}));
  EXPECT_EQ(asked(), (Log{"list", "watch", "watch"}));
}

TEST_F(Paced, WhatAReflectorAskedEndsWithIt) {
  open({list(10)});
  {
    Reflector<Namespace> reflector = follow();
    reflector.start();
    EXPECT_EQ(api->in_flight(), 1u);
    reflector.stop();
    EXPECT_EQ(api->in_flight(), 0u);
    reflector.start();
    EXPECT_EQ(api->in_flight(), 1u);
  }
  EXPECT_EQ(api->in_flight(), 0u);
  settle();
  EXPECT_EQ(log, Log{});
  EXPECT_EQ(asked(), Log{});
}

TEST_F(Paced, AStopEndsItsOwnQuestionsAndTimersAlone) {
  open({refusal("200 OK"), refusal("500 No"), refusal("200 OK")});
  int ended = 0, rung = 0;
  const http::RequestId first = api->send({.path = "/first"}, [&](const Answer&) { ++ended; });
  settle();
  EXPECT_EQ(first, 1u);
  api->after(Millis(50'000), [&] { ++rung; });  // the first timer
  Reflector<Namespace> reflector = follow();
  reflector.start();
  settle();
  for (int i = 0; i < 3; ++i) {
    reflector.stop();
    reflector.start();
  }
  reflector.stop();
  EXPECT_LE(api->in_flight(), 1u) << "what it gave up is about to be dropped";
  later(Millis(50'000));
  EXPECT_EQ(rung, 1);
  settle();
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(log, Log{"!"});
}

TEST_F(Paced, OfAPredecessorTheDeletionIsReportedWithItsNamespaceAndUid) {
  open({list(10, object("a", 3, "old", "x") + "," + object("b", 4, "ub", "x")),
        watch(event("ADDED", object("a", 11, "new", "x")) +
              event("DELETED", R"({"metadata":{"name":"b","namespace":"x","resourceVersion":"12",)"
                               R"("creationTimestamp":"once"}})"))});
  std::vector<std::string> gone;
  Reflector<PodGroup> reflector(*api, {.path = "/groups"}, [&](Change<PodGroup>&& change) {
    if (change.kind == Change<PodGroup>::Kind::kDeleted)
      gone.push_back(change.object.ns.str() + "/" + change.object.name.str() + "/" + change.object.uid.str());
  });
  reflector.start();
  settle();
  EXPECT_EQ(gone, (std::vector<std::string>{"x/a/old", "x/b/ub"}));
}

}  // namespace
}  // namespace ashlar::kube
