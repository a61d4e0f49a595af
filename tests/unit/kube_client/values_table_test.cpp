// Texts, times and JSON in tables: what is read or written at every edge of a rule.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kube/json_writer.h"
#include "kube/pod_draft.h"
#include "kube/request_budget.h"
#include "kube/text.h"

namespace ashlar::kube {
namespace {

using std::string_literals::operator""s;

TEST(JsonWriterTable, WritesEveryKindOfByte) {
  const std::string bad = "\xef\xbf\xbd";
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {"\x1f ~\x7f", "\\u001f ~\x7f"},
      {"\0"s, "\\u0000"},
      {"a\"b\\c\nd\re\tf\bg", "a\\\"b\\\\c\\nd\\re\\tf\\u0008g"},
      {"\x80x", bad + "x"},
      {"\xc1\xbfx", bad + bad + "x"},
      {"\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf"},
      {"\xc2x", bad + "x"},
      {"\xdf", bad},
      {"\xe0\x9f\xbf", bad + bad + bad},
      {"\xe0\xa0\x80\xe1\x80\x80\xef\xbf\xbf", "\xe0\xa0\x80\xe1\x80\x80\xef\xbf\xbf"},
      {"\xe1\x80x", bad + bad + "x"},
      {"\xe1x\x80", bad + "x" + bad},
      {"\xe1\x80", bad + bad},
      {"\xed\x9f\xbf\xed\xa0\x80", "\xed\x9f\xbf" + bad + bad + bad},
      {"\xf0\x8f\xbf\xbf", bad + bad + bad + bad},
      {"\xf0\x90\x80\x80\xf1\x80\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf1\x80\x80\x80\xf4\x8f\xbf\xbf"},
      {"\xf1\x80\x80x", bad + bad + bad + "x"},
      {"\xf1\x80x\x80", bad + bad + "x" + bad},
      {"\xf1\x80\x80", bad + bad + bad},
      {"\xf4\x90\x80\x80", bad + bad + bad + bad},
      {"\xf5\x80\x80\x80", bad + bad + bad + bad},
  };
  for (const auto& [text, expected] : cases) {
    JsonWriter w;
    w.string(text);
    EXPECT_EQ(w.text(), "\"" + expected + "\"");
  }
}

TEST(JsonWriterTable, PutsCommasBetweenValuesAlone) {
  JsonWriter w;
  w.begin_array().begin_array().end_array().begin_array().end_array().begin_object().end_object().begin_object().key("k").begin_array();
  w.integer(-1).integer(2).boolean(false).boolean(true).null().null().raw("3").raw("4").string("a").string("b").end_array();
  w.key("o").begin_object().end_object().member("t", "x").member("n", 5).member_bool("b", true).end_object().end_array();
  EXPECT_EQ(w.take(), R"([[],[],{},{"k":[-1,2,false,true,null,null,3,4,"a","b"],"o":{},"t":"x","n":5,"b":true}])");
  EXPECT_EQ(w.integer(1).take(), "1") << "a new value begins";
}

TEST(TimeTable, IsReadAtEveryEdge) {
  const std::string no = "no";
  const std::pair<std::string, std::string> cases[] = {
      {"1970-01-01T00:00:00Z", "0"},
      {"1970-01-01T00:00:00.9Z", "900"},
      {"1970-01-01T00:00:00.012Z", "12"},
      {"1970-01-01T00:00:00.1239999Z", "123"},
      {"1970-01-01T00:00:00.Z", "0"},
      {"1970-01-01t00:00:00z", "0"},
      {"1970-01-01T00:00:60Z", "60000"},
      {"1970-01-01T23:59:59Z", "86399000"},
      {"1970-01-01T24:00:00Z", "86400000"},
      {"1970-01-31T00:00:00Z", "2592000000"},
      {"1970-02-01T00:00:00Z", "2678400000"},
      {"1970-12-31T00:00:00Z", "31449600000"},
      {"1969-12-31T23:59:59.999Z", "-1"},
      {"2000-02-29T00:00:00Z", "951782400000"},
      {"2000-03-01T00:00:00Z", "951868800000"},
      {"1900-03-01T00:00:00Z", "-2203891200000"},
      {"0000-01-01T00:00:00Z", "-62167219200000"},
      {"9999-12-31T23:59:59Z", "253402300799000"},
      {"1970-01-01T00:00:00+00:00", "0"},
      {"1970-01-01T01:30:00+01:30", "0"},
      {"1969-12-31T22:15:00-01:45", "0"},
      {"1970-01-01T00:00:00", no},
      {"1970-01-01T00:00:00.5", no},
      {"1970-00-01T00:00:00Z", no},
      {"1970-13-01T00:00:00Z", no},
      {"1970-01-00T00:00:00Z", no},
      {"1970-01-32T00:00:00Z", no},
      {"1970-01-01T25:00:00Z", no},
      {"1970-01-01T00:60:00Z", no},
      {"1970-01-01T00:00:61Z", no},
      {"1970-01-01T00:00:00+1:00", no},
      {"1970-01-01T00:00:00+01", no},
      {"1970-01-01T00:00:00+01:0", no},
      {"1970-01-01T00:00:00*01:00", no},
      {"1970-01-01T00:00:00ZZ", no},
      {"197-01-01T00:00:00Z", no},
      {"1970/01-01T00:00:00Z", no},
      {"1970-01/01T00:00:00Z", no},
      {"1970-01-01 00:00:00Z", no},
      {"1970-01-01T00.00:00Z", no},
      {"1970-01-01T00:00.00Z", no},
      {"1970-01-01T0x:00:00Z", no},
      {"1970-01-01T00:0x:00Z", no},
      {"1970-01-01T00:00:0xZ", no},
      {"1970-01-01T:0:00:00Z", no},
  };
  for (const auto& [text, expected] : cases) {
    const Result<Millis> time = read_time(text);
    EXPECT_EQ(time.ok() ? std::to_string(time->value) : no, expected) << text;
  }
  EXPECT_EQ(read_time("once").error().message, "\"once\" is not a time such as 2026-01-31T12:00:00Z");
  EXPECT_EQ(read_time(std::string(41, 'x')).error().message, "\"" + std::string(40, 'x') + "\" is not a time such as 2026-01-31T12:00:00Z");
}

TEST(TextTable, ThePoolCountsItsBytesAndGivesThemBack) {
  const Text::PoolSize before = Text::pool_size();
  {
    const Text text(std::string(100'000, 'p'));
    const Text same = text;
    EXPECT_EQ(Text::pool_size().strings, before.strings + 1);
    EXPECT_GE(Text::pool_size().bytes, before.bytes + 100'000);
    EXPECT_LT(Text::pool_size().bytes, before.bytes + 110'000);
  }
  EXPECT_EQ(Text::pool_size().strings, before.strings);
  EXPECT_LT(Text::pool_size().bytes, before.bytes + 10'000);
}

TEST(TextTable, EveryLengthIsItself) {
  std::vector<Text> texts;
  std::string characters;
  for (int length = 0; length < 40; ++length) {
    texts.emplace_back(characters);
    characters += static_cast<char>('a' + length % 26);
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(texts[i].view(), characters.substr(0, i));
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(texts[i].content_hash(), texts[k].content_hash());
  }
  std::string other = characters;
  for (char& c : other) {
    const char was = std::exchange(c, '!');
    EXPECT_NE(Text(other).content_hash(), Text(characters).content_hash()) << "every character counts";
    c = was;
  }
}

TEST(BudgetTable, ItsLimitsAreExact) {
  RequestBudget budget;
  const Millis now(1'000);
  const auto trouble = [&](Millis at, Millis wish = {}) { budget.end(budget.begin(at), {ServerHealth::kTrouble, wish}, at); };
  std::vector<RequestBudget::Pass> passes;
  while (budget.may_send(now)) passes.push_back(budget.begin(now));
  EXPECT_EQ(passes.size(), 1024u);
  for (const auto& pass : passes) budget.end(pass, {}, now);
  for (int i = 0; i < 15; ++i) budget.end(budget.begin(now), {ServerHealth::kUnclear}, now);
  EXPECT_FALSE(budget.is_in_trouble());
  EXPECT_EQ(budget.next_at(), Millis(0));
  budget.end(budget.begin(now), {}, now);
  for (int i = 0; i < 16; ++i) {
    EXPECT_FALSE(budget.is_in_trouble()) << i;
    budget.end(budget.begin(now), {ServerHealth::kUnclear}, now);
  }
  EXPECT_TRUE(budget.is_in_trouble());
  Millis at = now;
  for (const int interval : {200, 400, 800, 1'600, 3'200, 5'000, 5'000}) {
    EXPECT_EQ(budget.next_at(), at + Millis(interval));
    EXPECT_FALSE(budget.may_send(at + Millis(interval - 1)));
    EXPECT_TRUE(budget.may_send(at + Millis(interval)));
    at += Millis(interval);
    trouble(at);
  }
  trouble(at, Millis(61'000));
  EXPECT_EQ(budget.next_at(), at + Millis(60'000)) << "no wish is followed for longer";
  budget.end(budget.begin(at), {}, at);
  EXPECT_FALSE(budget.is_in_trouble());
  passes.clear();
  while (budget.may_send(at)) passes.push_back(budget.begin(at));
  EXPECT_EQ(passes.size(), 8u);
  budget.end(passes.back(), {}, at);
  passes.pop_back();
  while (budget.may_send(at)) passes.push_back(budget.begin(at));
  EXPECT_EQ(passes.size(), 9u) << "one more for each sound answer";
}

}  // namespace
}  // namespace ashlar::kube
