// The table of what follows from the answer to a binding, row by row, and the words that are passed on.
#include "kubeclient/bind_outcome.h"

#include <gtest/gtest.h>

#include <vector>

namespace ashlar::kube {
namespace {

Answer of(int status, const std::string& body = "") {
  return to_answer(http::Response{.status = status, .body = body, .content_type = "application/json"});
}

TEST(BindOutcome, EachStatusHasItsOutcome) {
  const std::string success = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})";
  for (const int status : {200, 201, 202}) EXPECT_EQ(bind_outcome(of(status, success)), BindOutcome::kBound) << status;
  for (const char* body : {"", "{}", "null", "<html>", R"({"kind":"Status","status":"Failure"})",
                           R"({"kind":"Binding","status":"Success"})",
                           R"({"kind":"Status","status":{"phase":"Success"}})", R"({"kind":"Status"})"})
    EXPECT_EQ(bind_outcome(of(201, body)), BindOutcome::kUnknown) << body;
  for (const int status : {400, 401, 402, 403, 405, 406, 411, 413, 415, 418, 422, 431, 499})
    EXPECT_EQ(bind_outcome(of(status)), BindOutcome::kRefused) << status;
  EXPECT_EQ(bind_outcome(of(409)), BindOutcome::kConflict);
  EXPECT_EQ(bind_outcome(of(404)), BindOutcome::kMissing);
  EXPECT_EQ(bind_outcome(of(410)), BindOutcome::kMissing);
  EXPECT_EQ(bind_outcome(of(429)), BindOutcome::kThrottled);
  for (const int status : {301, 500, 501, 502, 503, 599})
    EXPECT_EQ(bind_outcome(of(status)), BindOutcome::kFailed) << status;
  EXPECT_EQ(bind_outcome(of(408)), BindOutcome::kUnknown);
  EXPECT_EQ(bind_outcome(of(504)), BindOutcome::kUnknown);
  EXPECT_EQ(bind_outcome(to_answer(Error{Error::Kind::kTimeout, "late"})), BindOutcome::kUnknown);
  EXPECT_EQ(bind_outcome(to_answer(Error{Error::Kind::kUnavailable, "refused"})), BindOutcome::kUnknown);
}

TEST(BindOutcome, EachHasTheNameOfTheMetricsLabel) {
  const std::vector<std::pair<BindOutcome, const char*>> rows{
      {BindOutcome::kBound, "Bound"},         {BindOutcome::kRefused, "Denied"},
      {BindOutcome::kConflict, "Conflict"},   {BindOutcome::kMissing, "NotFound"},
      {BindOutcome::kThrottled, "Throttled"}, {BindOutcome::kFailed, "ServerError"},
      {BindOutcome::kUnknown, "Unknown"}};
  ASSERT_EQ(rows.size(), kBindOutcomes);
  for (const auto& [outcome, name] : rows) EXPECT_EQ(name_of(outcome), name);
}

TEST(BindOutcome, HoldsDoubleUpToTheLongest) {
  EXPECT_EQ(hold_time(Millis(1'000), Millis(300'000), 1), Millis(1'000));
  EXPECT_EQ(hold_time(Millis(1'000), Millis(300'000), 2), Millis(2'000));
  EXPECT_EQ(hold_time(Millis(1'000), Millis(300'000), 9), Millis(256'000));
  EXPECT_EQ(hold_time(Millis(1'000), Millis(300'000), 10), Millis(300'000));
  EXPECT_EQ(hold_time(Millis(1'000), Millis(300'000), 255), Millis(300'000));
}

TEST(BindOutcome, WordsAreOneLineOfBoundedLengthAndWholeCharacters) {
  EXPECT_EQ(bounded_words("HTTP 422:\nno\tlicence"), "HTTP 422: no licence");
  EXPECT_EQ(bounded_words("x\n\x1b[31mred\x7f"), "x  [31mred ");
  EXPECT_EQ(bounded_words("a\xc2\x9b"
                          "31mb\xc2\x80\xc2\xa0\xc3\x9f"),
            "a 31mb \xc2\xa0\xc3\x9f")
      << "C1 too, and nothing else";
  EXPECT_EQ(bounded_words(std::string(400, 'x')), std::string(400, 'x'));
  EXPECT_EQ(bounded_words(std::string(401, 'x')), std::string(397, 'x') + "...");
  std::string umlauts = "x";  // then each begins at an odd place, and the cut would fall into one
  for (int i = 0; i < 300; ++i) umlauts += "\xc3\xa4";
  const std::string cut = bounded_words(umlauts);
  EXPECT_EQ(cut.size(), 1u + 2 * 198 + 3);
  EXPECT_EQ(cut.substr(cut.size() - 5), "\xc3\xa4...");
  EXPECT_EQ(bounded_words(umlauts.substr(1)).size(), 2u * 198 + 3);
}

TEST(BindOutcome, WordsAreShownInTheOrderInWhichTheyWereWritten) {
  for (const char* turn : {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066",
                           "\u2067", "\u2068", "\u2069"})
    EXPECT_EQ(bounded_words(std::string("a") + turn + "b" + turn), "a b ") << turn;
  const std::string others = "\u061b\u061d\u05d0\u200d\u2010\u2029\u202f\u2065\u206a\u20ac";
  EXPECT_EQ(bounded_words(others), others) << "nothing else";
  EXPECT_EQ(bounded_words("a\xe2"), "a?") << "cut off";
  EXPECT_EQ(bounded_words("a\xe2\x80"), "a??") << "cut off";
  EXPECT_EQ(bounded_words("a\xd8"), "a?") << "cut off";
  EXPECT_EQ(bounded_words("\xff"
                          "a\xc3\xa9\xc3, b"),
            "?a\xc3\xa9?, b")
      << "as an API server keeps it";
  EXPECT_EQ(bounded_words(std::string(396, 'x') + "\u202e\u202e"), std::string(396, 'x') + "...");
}

TEST(ServerHealth, IsReadFromTheStatus) {
  for (const int status : {200, 201, 401, 403, 404, 409, 410, 422})
    EXPECT_EQ(health_of(of(status)), ServerHealth::kSound) << status;
  for (const int status : {429, 502, 503}) EXPECT_EQ(health_of(of(status)), ServerHealth::kTrouble) << status;
  for (const int status : {408, 500, 504}) EXPECT_EQ(health_of(of(status)), ServerHealth::kUnclear) << status;
  EXPECT_EQ(health_of(to_answer(Error{Error::Kind::kTimeout, "late"})), ServerHealth::kUnclear);
  EXPECT_EQ(health_of(to_answer(Error{Error::Kind::kInternal, "stream reset"})), ServerHealth::kUnclear);
  EXPECT_EQ(health_of(to_answer(Error{Error::Kind::kUnavailable, "refused"})), ServerHealth::kTrouble);
}

}  // namespace
}  // namespace ashlar::kube
