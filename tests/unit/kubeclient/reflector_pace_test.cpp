// When a reflector asks again, and for what: by a clock of the test's own and the jitter of a known seed, so that every
// delay is known to the millisecond.
#include <memory>
#include <vector>

#include "paced.h"

namespace ashlar::kube {
namespace {

TEST_F(Paced, HowAWatchEndsSaysWhatIsAskedNextAndWhen) {
  struct Way {
    const char* what;
    Step end;
    const char* next;
    std::int64_t base;        ///< of the jittered delay; 0: at once
    std::int64_t millis = 0;  ///< or the delay itself
  };
  const std::string fine = event("ADDED", object("a", 11, "ua"));
  const Way ways[] = {
      {"the server's limit, too soon", watch("", Millis(999)), "watch", 100},
      {"the server's limit", watch("", Millis(1'000)), "watch", 0},
      {"expired before it began", refusal("410 Gone"), "list", 0},
      {"expired", watch(kExpired), "list", 0},
      {"trouble", refusal("500 No"), "watch", 100},
      {"trouble that takes its time", refusal("429 No\r\nRetry-After: 2"), "watch", 0, 2'000},
      {"trouble that takes too long", refusal("429 No\r\nRetry-After: 61"), "watch", 0, 60'000},
      {"no right", refusal("403 No"), "list", 100},
      {"no such kind", refusal("404 No"), "list", 100},
      {"a question that is not understood", refusal("400 No"), "list", 100},
      {"another trouble, told inside", watch(event("ERROR", R"({"kind":"Status","code":500,"message":"no"})")), "watch",
       100},
      {"what cannot be read", watch(fine + "{{{\n"), "list", 100},
      {"broken off", {.body = fine, .is_watch = true, .breaks_off = true}, "watch", 100},
  };
  for (const Way& way : ways) {
    SCOPED_TRACE(way.what);
    open({list(10), way.end});
    Reflector<Namespace> reflector = follow();
    reflector.start();
    settle();
    jitter.uniform();  // the watch's length
    if (way.base == 0 && way.millis == 0) {
      EXPECT_EQ(asked(), (Asked{"list", "watch", way.next}));
    } else {
      EXPECT_EQ(asked(), (Asked{"list", "watch"}));
      expect_next_in(way.base > 0 ? jittered(way.base) : Millis(way.millis));
      EXPECT_EQ(asked(), Asked{way.next});
    }
  }
}

TEST_F(Paced, FailingListsAreAskedLessAndLessOften) {
  open({list(1), watch("", Millis(1'000)), refusal("410 Gone"), refusal("429 No\r\nRetry-After: 5")});
  Reflector<Namespace> reflector = follow();
  reflector.start();
  settle();
  EXPECT_EQ(asked(), (Asked{"list", "watch", "watch", "list"}));
  for (int i = 0; i < 3; ++i) jitter.uniform();  // two watches' lengths and a delay shorter than the server's wish
  expect_next_in(Millis(5'000));
  for (const int base : {400, 800, 1600, 3000, 3000}) expect_next_in(jittered(base));
  EXPECT_EQ(asked(), Asked(6, "list"));
  EXPECT_EQ(reflector.list_trouble(), "HTTP 500: no");
  EXPECT_FALSE(reflector.is_path_gone());
  EXPECT_FALSE(reflector.is_synced());
  EXPECT_EQ(reflector.counters().errors, 8u);
  EXPECT_EQ(reflector.counters().expired, 1u);
  EXPECT_EQ(reflector.counters().lists, 8u);
  EXPECT_EQ(errors.back(), "/api/v1/namespaces: HTTP 500: no");
  reflector.list_from("/elsewhere");
  settle();
  EXPECT_EQ(asked_in_full().at(0).substr(0, 27), "GET /elsewhere?limit=2000 H") << "at once";
  jitter.uniform();  // what was given up
  expect_next_in(jittered(100));
}

TEST_F(Paced, AListThatComesBackToAnEarlierPageIsAFailedList) {
  open({list(5, object("a", 3, "ua"), "x"), list(5, object("b", 4, "ub"), "y"), list(5, object("c", 5, "uc"), "x"),
        list(5, object("a", 3, "ua"), "x"), list(5)});
  Reflector<Namespace> reflector = follow();
  reflector.start();
  settle();
  EXPECT_EQ(asked(), Asked(3, "list"));
  EXPECT_EQ(reflector.list_trouble(), "the server's list does not end: the same \"continue\" token twice");
  EXPECT_EQ(errors, Asked{"/api/v1/namespaces: " + reflector.list_trouble()});
  EXPECT_EQ(reflector.counters().errors, 1u);
  EXPECT_FALSE(reflector.is_synced());
  expect_next_in(jittered(100));
  EXPECT_EQ(asked(), (Asked{"list", "list", "watch"})) << "a token of the last list may come again";
  EXPECT_TRUE(reflector.is_synced());
}

TEST_F(Paced, AListMayHaveAHundredPagesWithoutAnObjectOneAfterAnotherAndNoMore) {
  std::vector<Step> steps;
  for (int page = 0; page <= 100; ++page) steps.push_back(list(5, "", std::to_string(page)));
  for (int page = 0; page < 100; ++page) steps.push_back(list(5, "", std::to_string(page)));
  steps.push_back(list(5, object("a", 3, "ua"), "more"));
  for (int page = 0; page < 100; ++page) steps.push_back(list(5, "", std::to_string(page) + " more"));
  steps.push_back(list(5));
  open(std::move(steps));
  Reflector<Namespace> reflector = follow();
  reflector.start();
  settle();
  EXPECT_EQ(asked(), Asked(101, "list"));
  EXPECT_EQ(errors, Asked{"/api/v1/namespaces: the server's list does not end: more than 100 pages without an object"});
  expect_next_in(jittered(100));
  EXPECT_TRUE(reflector.is_synced());
  EXPECT_EQ(log, (Asked{"!", "+a3", "=", "!"})) << "the last is the watch";
}

/// A page whose body has this many bytes.
Step page_of(std::size_t bytes, const std::string& token = "") {
  Step step = list(5, "", token);
  step.body.append(bytes - step.body.size(), ' ');
  return step;
}

/// The numbers of objects that were asked for.
std::vector<std::string> limits_in(const Asked& requests) {
  std::vector<std::string> limits;
  for (const std::string& line : requests) {
    const std::size_t at = line.find("limit=");
    if (at != std::string::npos) limits.push_back(line.substr(at + 6, line.find_first_of("& ", at) - at - 6));
  }
  return limits;
}

TEST_F(Paced, APageThatIsTooLongIsAskedForAgainWithFewerObjects) {
  open({page_of(1001), page_of(1001), page_of(1000, "x"), page_of(251, "y"), page_of(250, "z"), page_of(250, "u"),
        page_of(1001), page_of(250)});
  Reflector<Namespace> reflector = follow({.page_items = 20, .page_bytes_max = 1000});
  reflector.start();
  settle();
  const Asked requests = asked_in_full();
  EXPECT_EQ(limits_in(requests), (Asked{"20", "2", "1", "1", "1", "2", "4", "1"}));
  EXPECT_NE(requests.at(7).find("limit=1&continue=u"), std::string::npos) << "the same page: " << requests.at(7);
  EXPECT_TRUE(reflector.is_synced());
  EXPECT_EQ(errors, Asked{"/api/v1/namespaces: HTTP 500: no"}) << "the watch's";
}

TEST_F(Paced, APageOfOneObjectThatIsTooLongFailsTheListWhichBeginsAnewWithWholePages) {
  open({page_of(1001), page_of(1001), page_of(1000)});
  Reflector<Namespace> reflector = follow({.page_items = 8, .page_bytes_max = 1000});
  reflector.start();
  settle();
  EXPECT_EQ(limits_in(asked_in_full()), (Asked{"8", "1"}));
  EXPECT_EQ(errors, Asked{"/api/v1/namespaces: the answer to /api/v1/namespaces?limit=1 is longer than 1000 bytes"});
  EXPECT_EQ(reflector.counters().errors, 1u);
  EXPECT_FALSE(reflector.is_synced());
  expect_next_in(jittered(100));
  EXPECT_EQ(limits_in(asked_in_full()), Asked{"8"});
  EXPECT_TRUE(reflector.is_synced());
}

TEST_F(Paced, AListInOneAnswerIsReadWhateverItsLength) {
  open({page_of(5000)});
  Reflector<Namespace> reflector = follow({.page_items = 0, .page_bytes_max = 1000});
  reflector.start();
  settle();
  EXPECT_TRUE(reflector.is_synced());
}

TEST_F(Paced, WhereNothingMayBeReadItIsAskedSeldom) {
  for (const char* head : {"403 No", "404 No", "406 No"}) {
    SCOPED_TRACE(head);
    open(std::vector<Step>(11, refusal(head)));
    Reflector<Namespace> reflector = follow();
    reflector.start();
    settle();
    for (const int base : {100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000}) expect_next_in(jittered(base));
    EXPECT_EQ(reflector.is_path_gone(), std::string(head) != "403 No");
    expect_next_in(jittered(30'000));
    EXPECT_FALSE(reflector.is_path_gone()) << "500 says nothing of it";
    expect_next_in(jittered(3'000));
  }
}

TEST_F(Paced, NoNumberOfFailuresIsTooLarge) {
  open({});
  Reflector<Namespace> reflector = follow({.backoff_min = Millis(1), .backoff_max = Millis(40)});
  reflector.start();
  settle();
  for (const int base : {1, 2, 4, 8, 16, 32}) {
    const Millis delay = jittered(base);
    if (delay > Millis(0))
      expect_next_in(delay);
    else
      later(Millis(0)), settle();
  }
  for (int i = 0; i < 70; ++i) expect_next_in(jittered(40));
}

TEST_F(Paced, AfterFiveWatchesThatFailedTheListIsAskedForAgain) {
  const std::pair<Step, Asked> cases[] = {
      {refusal("500 No"), {"watch", "watch", "watch", "watch", "list"}},
      {watch(event("ERROR", R"({"kind":"Status","code":500,"message":"no"})")),
       {"watch", "watch", "watch", "watch", "list"}},
      {watch(""), {"watch", "watch", "watch", "watch", "list"}},
      {{.is_watch = true, .breaks_off = true}, {"watch", "watch", "watch", "watch", "watch"}},
  };
  for (const auto& [end, expected] : cases) {
    std::vector<Step> steps(6, end);
    steps[0] = list(10);
    open(steps);
    Reflector<Namespace> reflector = follow();
    reflector.start();
    settle();
    jitter.uniform();
    asked();
    for (const int base : {100, 200, 400, 800, 1600}) {
      expect_next_in(jittered(base));
      if (base < 1600) jitter.uniform();
    }
    EXPECT_EQ(asked(), expected);
    EXPECT_EQ(reflector.is_synced(), expected.back() == "watch");
  }
}

TEST_F(Paced, OnlyAWatchThatLastedEndsTheGrowthOfDelays) {
  const std::string bookmark = event("BOOKMARK", R"({"metadata":{"resourceVersion":"12"}})");
  for (const Step& next : {watch(bookmark), watch(event("ADDED", object("a", 12, "u"))), watch("", Millis(1'000))}) {
    const bool lasts = next.lives.value > 0;
    open({list(10), refusal("500 No"), refusal("500 No"), next, watch("")});
    Reflector<Namespace> reflector = follow();
    reflector.start();
    settle();
    for (const int base : {100, 200}) {
      jitter.uniform();
      expect_next_in(jittered(base));
    }
    jitter.uniform();
    if (lasts)
      EXPECT_EQ(reflector.counters().watches, 4u) << "it went on at once";
    else
      expect_next_in(jittered(400));
    jitter.uniform();
    expect_next_in(jittered(lasts ? 100 : 800));
  }
}

TEST_F(Paced, ASecondExpiryInARowHasToWait) {
  const std::string bookmark = event("BOOKMARK", R"({"metadata":{"resourceVersion":"12"}})");
  for (const Step& expired : {refusal("410 Gone"), watch(kExpired), watch(bookmark + kExpired)}) {
    SCOPED_TRACE(expired.head + " " + expired.body);
    open({list(10), expired, list(11), expired, list(12), watch("")});
    Reflector<Namespace> reflector = follow();
    reflector.start();
    settle();
    EXPECT_EQ(asked(), (Asked{"list", "watch", "list", "watch"})) << "or list and watch chase each other";
    for (int i = 0; i < 2; ++i) jitter.uniform();
    expect_next_in(jittered(200));
    EXPECT_EQ(asked(), (Asked{"list", "watch"}));
    EXPECT_EQ(reflector.counters().expired, 2u);
    EXPECT_EQ(reflector.resource_version(), "12");
  }
}

TEST_F(Paced, AnExpiryAfterAWatchThatLastedIsListedAtOnce) {
  Step expired = watch(kExpired, Millis(1'000));
  open({list(10), refusal("500 No"), expired, list(11), expired, list(12), watch("")});
  Reflector<Namespace> reflector = follow();
  reflector.start();
  settle();
  jitter.uniform();
  expect_next_in(jittered(100));
  EXPECT_EQ(asked(), (Asked{"list", "watch", "watch", "list", "watch", "list", "watch"}));
}

TEST_F(Paced, ListsThatCannotBeReadAreAskedForAgain) {
  open({{.body = "garbage"},
        list(10, R"({"metadata":{"resourceVersion":"4"}})", "more"),
        refusal("410 Gone"),
        list(10)});
  Reflector<Namespace> reflector = follow();
  reflector.start();
  settle();
  EXPECT_NE(reflector.list_trouble(), "");
  expect_next_in(jittered(100));
  EXPECT_EQ(reflector.counters().expired, 1u) << "the token";
  EXPECT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors[1].substr(0, 84),
            "/api/v1/namespaces: an object of the list cannot be read, not even its name: metadat");
  expect_next_in(jittered(200));
  EXPECT_EQ(reflector.counters().bad_events, 2u);
  EXPECT_EQ(reflector.counters().lists, 3u);
  EXPECT_EQ(reflector.list_trouble(), "");
  EXPECT_EQ(log, (std::vector<std::string>{"!", "!", "!", "=", "!"}));
}

TEST_F(Paced, ReflectorsThatShareAPaceTakeTurns) {
  const auto pace = std::make_shared<RetryPace>(Millis(250));
  open({});
  Reflector<Namespace> reflector = follow({.pace = pace});
  reflector.start();
  settle();
  Millis due = jittered(100);
  later(due - Millis(1));
  EXPECT_EQ(pace->ask(now()), Millis(0)) << "another one's turn";
  expect_next_in(Millis(1) + Millis(249));
  due = jittered(200);
  if (due < Millis(249)) {
    expect_next_in(Millis(250));
    due = jittered(400);
  }
  later(due);
  settle();
  due = jittered(800);
  later(due - Millis(249));
  EXPECT_EQ(pace->ask(now()), Millis(0));
  expect_next_in(Millis(250));
}

TEST_F(Paced, QuestionsAreWrittenInFull) {
  struct Case {
    ReflectorOptions options;
    std::string list, watch;
  };
  const double share = jitter.uniform();
  const auto seconds = [&](int from, int to) {
    return std::to_string(static_cast<int>((from + (to - from) * share) / 1000));
  };
  const std::string watched = "watch=1&allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=";
  const Case cases[] = {
      {{}, "/api/v1/namespaces?limit=2000", "/api/v1/namespaces?" + watched + seconds(300'000, 600'000)},
      {{.page_items = 1}, "/api/v1/namespaces?limit=1", "/api/v1/namespaces?" + watched + seconds(300'000, 600'000)},
      {{.page_items = 0},
       "/api/v1/namespaces?resourceVersion=0",
       "/api/v1/namespaces?" + watched + seconds(300'000, 600'000)},
      {{.page_items = 0,
        .from_watch_cache = false,
        .watch_timeout_min = Millis(2'500),
        .watch_timeout_max = Millis(2'500)},
       "/api/v1/namespaces?limit=0",
       "/api/v1/namespaces?" + watched + "2"},
      {{.field_selector = "a=b",
        .label_selector = "c d",
        .path = "/p",
        .watch_timeout_min = Millis(0),
        .watch_timeout_max = Millis(999)},
       "/p?limit=2000&fieldSelector=a%3Db&labelSelector=c%20d",
       "/p?" + watched + "1&fieldSelector=a%3Db&labelSelector=c%20d"},
  };
  for (const Case& c : cases) {
    open({list(10), refusal("500 No")});
    Reflector<Namespace> reflector = follow(c.options);
    reflector.start();
    settle();
    const Asked heads = asked_in_full();
    ASSERT_EQ(heads.size(), 2u);
    EXPECT_EQ(heads[0].substr(0, heads[0].find(" HTTP")), "GET " + c.list);
    EXPECT_EQ(heads[1].substr(0, heads[1].find(" HTTP")), "GET " + c.watch);
    for (const std::string& head : heads)
      EXPECT_NE(head.find("\r\nAccept: application/json\r\n"), std::string::npos) << head;
  }
  open({{.body = std::string("k8s\0\x12\x06\x0a\x04\x12\x02", 10) + "10"}, refusal("500 No")});
  Reflector<Pod> pods = follow<Pod>();
  pods.start();
  settle();
  const Asked heads = asked_in_full();
  EXPECT_EQ(heads.at(0).find("GET /api/v1/pods?limit=2000 HTTP"), 0u);
  EXPECT_NE(heads.at(0).find("\r\nAccept: application/vnd.kubernetes.protobuf\r\n"), std::string::npos) << heads[0];
  ASSERT_EQ(heads.size(), 2u) << errors.at(0);
  EXPECT_NE(heads[1].find("\r\nAccept: application/vnd.kubernetes.protobuf;stream=watch\r\n"), std::string::npos)
      << heads[1];
}

TEST_F(Paced, AWatchInAnotherEncodingThanAskedIsAnErrorThatNamesBoth) {
  const Step page{.body = std::string("k8s\0\x12\x06\x0a\x04\x12\x02", 10) + "10"};
  Step wrong = watch(event("ADDED", object("a", 11, "ua")));
  wrong.head = "200 OK\r\nContent-Type: application/json";
  open({page, wrong, page});
  Reflector<Pod> pods = follow<Pod>();
  pods.start();
  settle();
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0],
            "/api/v1/pods: the watch is answered with application/json instead of "
            "application/vnd.kubernetes.protobuf;stream=watch; a proxy before the API server may change requests");
}

TEST_F(Paced, ARefusalIsToldByItsStatusWhateverItsEncoding) {
  const Step page{.body = std::string("k8s\0\x12\x06\x0a\x04\x12\x02", 10) + "10"};
  open({page, refusal("500 No\r\nContent-Type: application/json"), watch("", Millis(1'000)), watch("")});
  Reflector<Pod> pods = follow<Pod>();
  pods.start();
  settle();
  EXPECT_EQ(errors, Asked{"/api/v1/pods: HTTP 500: no"});
  EXPECT_EQ(asked(), (Asked{"list", "watch"}));
  jitter.uniform();
  expect_next_in(jittered(100));
  EXPECT_EQ(asked(), (Asked{"watch", "watch"})) << "and one that does not name its encoding is followed";
  EXPECT_EQ(errors.size(), 1u);
}

TEST_F(Paced, APageOfObjectsWithoutANameIsNotEmpty) {
  std::vector<Step> steps;
  for (int page = 0; page <= 100; ++page)
    steps.push_back(list(5, R"({"metadata":{"resourceVersion":"4"}})", std::to_string(page)));
  steps.push_back(list(5));
  open(std::move(steps));
  Reflector<Namespace> reflector = follow();
  reflector.start();
  settle();
  EXPECT_TRUE(reflector.is_synced());
  EXPECT_EQ(reflector.counters().bad_events, 101u);
}

TEST_F(Paced, AListIsAsOldAsItsFirstPage) {
  open({list(5, object("a", 3, "ua"), "x"), list(9, object("b", 4, "ub"))});
  Reflector<Namespace> reflector = follow();
  reflector.start();
  settle();
  EXPECT_EQ(reflector.resource_version(), "5");
  EXPECT_NE(asked_in_full().at(2).find("resourceVersion=5&"), std::string::npos);
}

TEST_F(Paced, WhatIsMissingFromAListIsGoneOnceAllItsObjectsHaveNamesAgain) {
  const std::string nameless = R"({"metadata":{"resourceVersion":"4"}})";
  open({list(5, object("a", 3, "ua")), refusal("410 Gone"), list(6, nameless), refusal("403 No"), list(7)});
  Reflector<Namespace> reflector = follow();
  reflector.start();
  settle();
  EXPECT_EQ(reflector.known_objects(), 1u) << "it may be the one without a name";
  for (int i = 0; i < 2; ++i) jitter.uniform();
  expect_next_in(jittered(200));
  EXPECT_EQ(reflector.known_objects(), 0u);
  EXPECT_NE(std::ranges::find(log, "-a"), log.end());
}

TEST_F(Paced, AListThatSucceedsEndsWhatWasRefusedBefore) {
  std::vector<Step> steps{refusal("404 No"), list(1)};
  for (int i = 0; i < 4; ++i) steps.push_back(refusal("500 No"));
  open(std::move(steps));
  Reflector<Namespace> reflector = follow();
  reflector.start();
  settle();
  EXPECT_TRUE(reflector.is_path_gone());
  expect_next_in(jittered(100));
  EXPECT_FALSE(reflector.is_path_gone());
  for (const int base : {200, 400, 800, 1600, 3000}) {
    jitter.uniform();  // a watch's length
    expect_next_in(jittered(base));
  }
  expect_next_in(jittered(3000));
}

TEST_F(Paced, WhoListsAgainWhenAListFailsDoesNotWait) {
  open({refusal("500 No"), list(1), watch("")});
  Reflector<Namespace> reflector = follow();
  on_note = [&] {
    if (log.size() == 1) reflector.relist();
  };
  reflector.start();
  settle();
  EXPECT_EQ(asked(), (Asked{"list", "list", "watch"}));
  on_note = {};
}

TEST_F(Paced, WhoListsAgainWhenAListIsCompleteIsListedForOnce) {
  open({list(1), list(2), watch("")});
  Reflector<Namespace> reflector = follow();
  on_note = [&] {
    if (log.size() == 1) reflector.relist();
  };
  reflector.start();
  settle();
  EXPECT_EQ(reflector.counters().lists, 2u);
  EXPECT_EQ(asked(), (Asked{"list", "list", "watch"}));
  on_note = {};
}

}  // namespace
}  // namespace ashlar::kube
