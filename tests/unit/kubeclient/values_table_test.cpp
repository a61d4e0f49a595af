// Texts, times and JSON in tables: what is read or written at every edge of a rule.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kubeclient/json_writer.h"
#include "kubeclient/pod_builder.h"
#include "kubeclient/pooled_string.h"
#include "kubeclient/request_budget.h"
#include "text/moment_text.h"

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
  w.begin_array()
      .begin_array()
      .end_array()
      .begin_array()
      .end_array()
      .begin_object()
      .end_object()
      .begin_object()
      .key("k")
      .begin_array();
  w.integer(-1)
      .integer(2)
      .boolean(false)
      .boolean(true)
      .null()
      .null()
      .raw("3")
      .raw("4")
      .string("a")
      .string("b")
      .end_array();
  w.key("o")
      .begin_object()
      .end_object()
      .member("t", "x")
      .member("n", 5)
      .member_bool("b", true)
      .end_object()
      .end_array();
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
    const Result<Millis> time = parse_moment(text);
    EXPECT_EQ(time.ok() ? std::to_string(time->value) : no, expected) << text;
  }
  EXPECT_EQ(parse_moment("once").error().message, "\"once\" is not a time such as 2026-01-31T12:00:00Z");
  EXPECT_EQ(parse_moment(std::string(41, 'x')).error().message,
            "\"" + std::string(40, 'x') + "\" is not a time such as 2026-01-31T12:00:00Z");
}

TEST(TextTable, ThePoolCountsItsBytesAndGivesThemBack) {
  // Once before: its shard may give back here what earlier texts made its table grow to.
  { const PooledString text(std::string(100'000, 'p')); }
  const PooledString::PoolSize before = PooledString::pool_size();
  {
    const PooledString text(std::string(100'000, 'p'));
    const PooledString same = text;
    EXPECT_EQ(PooledString::pool_size().strings, before.strings + 1);
    EXPECT_GE(PooledString::pool_size().bytes, before.bytes + 100'000);
    EXPECT_LT(PooledString::pool_size().bytes, before.bytes + 110'000);
  }
  EXPECT_EQ(PooledString::pool_size().strings, before.strings);
  EXPECT_LT(PooledString::pool_size().bytes, before.bytes + 10'000);
}

TEST(TextTable, EveryLengthIsItself) {
  std::vector<PooledString> texts;
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
    EXPECT_NE(PooledString(other).content_hash(), PooledString(characters).content_hash()) << "every character counts";
    c = was;
  }
}

Resources request(std::int64_t cpu, std::int64_t memory, std::int64_t storage = 0, std::vector<Amount> extended = {}) {
  Resources r;
  r.cpu = MilliCores(cpu);
  r.memory = Bytes(memory);
  r.ephemeral_storage = Bytes(storage);
  r.extended = std::move(extended);
  return r;
}
ContainerBuilder container(const char* name, Resources requests, bool is_sidecar = false) {
  ContainerBuilder c;
  c.name = name;
  c.is_sidecar = is_sidecar;
  c.requests = std::move(requests);
  return c;
}
ContainerStatusBuilder status(const char* name, Resources granted) { return {name, {std::move(granted), {"cpu"}}, {}}; }

TEST(RequestTable, EveryKindOfAmountIsAddedAndRaised) {
  RequestParts draft;
  draft.containers = {container("a", request(1, 10, 100, {{"a/a", 1}, {"c/c", 2}})),
                      container("b", request(2, 20, 200, {{"b/b", 4}, {"c/c", 8}}))};
  EXPECT_EQ(effective_request(draft), request(3, 30, 300, {{"a/a", 1}, {"b/b", 4}, {"c/c", 10}}));
  draft.init_containers = {container("i", request(4, 5, 301, {{"a/a", 3}, {"d/d", 5}}))};
  EXPECT_EQ(effective_request(draft), request(4, 30, 301, {{"a/a", 3}, {"b/b", 4}, {"c/c", 10}, {"d/d", 5}}));
  draft.overhead = request(1, 1, 1, {{"a/a", 1}});
  EXPECT_EQ(effective_request(draft), request(5, 31, 302, {{"a/a", 4}, {"b/b", 4}, {"c/c", 10}, {"d/d", 5}}));
  draft.init_containers = {container("s", request(10, 0), true), container("t", request(20, 0), true),
                           container("i", request(1, 0))};
  draft.overhead = {};
  draft.containers.clear();
  EXPECT_EQ(effective_request(draft), request(31, 0)) << "the last one starts beside both that stay";
}

TEST(RequestTable, AStatusCountsForTheContainerOfItsName) {
  RequestParts draft;
  draft.containers = {container("a", request(4, 10, 0, {{"x/x", 1}, {"y/y", 2}})), container("b", request(1, 1))};
  draft.init_containers = {container("a", request(1, 1), true)};
  draft.statuses = {status("a", request(2, 40, 7, {{"y/y", 1}})), status("c", request(80, 80)),
                    status("a", request(3, 1))};
  EXPECT_EQ(effective_request(draft), request(6, 40 + 1 + 40, 14, {{"x/x", 1}, {"y/y", 2}}))
      << "the first of this name, for each container of it";
  draft.is_resize_infeasible = true;
  EXPECT_EQ(effective_request(draft), request(2 + 2, 40 + 40, 14, {{"x/x", 1}, {"y/y", 2}}))
      << "what its status says, it holds; b has none";
}

TEST(RequestTable, AmountsOfTheWholePod) {
  RequestParts draft;
  draft.containers = {container("a", request(5, 50, 500, {{"hugepages-2Mi", 8}, {"x/x", 1}}))};
  draft.pod_level.amounts = request(9, 90, 900, {{"hugepages-1Gi", 3}, {"hugepages-2Mi", 2}, {"x/x", 7}});
  EXPECT_EQ(effective_request(draft), draft.containers[0].requests) << "where nothing is said of the whole";
  const std::pair<std::vector<PooledString>, Resources> cases[] = {
      {{}, request(5, 50, 500, {{"hugepages-2Mi", 8}, {"x/x", 1}})},
      {{"cpu"}, request(9, 50, 500, {{"hugepages-2Mi", 8}, {"x/x", 1}})},
      {{"memory"}, request(5, 90, 500, {{"hugepages-2Mi", 8}, {"x/x", 1}})},
      {{"ephemeral-storage", "x/x"}, request(5, 50, 500, {{"hugepages-2Mi", 8}, {"x/x", 1}})},
      {{"hugepages-2Mi"}, request(5, 50, 500, {{"hugepages-2Mi", 2}, {"x/x", 1}})},
      {{"hugepages-1Gi", "cpu"}, request(9, 50, 500, {{"hugepages-1Gi", 3}, {"hugepages-2Mi", 8}, {"x/x", 1}})},
  };
  for (const auto& [names, expected] : cases) {
    draft.pod_level.names = names;
    EXPECT_EQ(effective_request(draft), expected);
  }
}

TEST(RequestTable, AFinishedDraftBeginsAnew) {
  PodBuilder draft;
  SharedParts shared;
  draft.pod.name = "p";
  draft.labels = {{"b", "1"}, {"a", "2"}};
  draft.annotations = {{"d", "3"}, {"c", "4"}};
  draft.rules.node_selector = {{"f", "5"}, {"e", "6"}};
  draft.request.containers = {container("a", request(1, 1))};
  draft.request.init_containers = {container("i", request(2, 2))};
  draft.request.statuses = {status("a", request(3, 3))};
  draft.request.statuses.push_back(status("i", request(4, 4)));
  draft.request.overhead = request(1, 1);
  draft.request.pod_level = {request(9, 0), {"cpu"}};
  draft.request.pod_level_allocated = draft.request.pod_level_in_force = {request(8, 0), {"cpu"}};
  draft.request.has_status_resources = true;
  draft.ignore("soft");
  draft.ignore("softer");
  draft.ignore("soft");
  draft.refuse("first");
  draft.refuse("second");
  const Pod pod = finish_pod(draft, shared);
  EXPECT_EQ(*pod.labels, (Labels{{"a", "2"}, {"b", "1"}}));
  EXPECT_EQ(*pod.annotations, (Labels{{"c", "4"}, {"d", "3"}}));
  EXPECT_EQ(pod.rules->node_selector, (Labels{{"e", "6"}, {"f", "5"}}));
  EXPECT_EQ(pod.rules->unsupported, "first");
  EXPECT_EQ(pod.rules->ignored_soft, (std::vector<PooledString>{"soft", "softer"}));
  EXPECT_EQ(pod.requests, request(10, 3));
  draft.request.is_resize_infeasible = true;
  draft.pod = Pod();
  draft.reset();
  EXPECT_FALSE(draft.request.is_resize_infeasible);
  draft.request.containers = {container("a", request(1, 1))};
  draft.request.init_containers = {container("i", request(0, 0))};
  const Pod next = finish_pod(draft, shared);
  EXPECT_EQ(next.requests, request(1, 1));
  EXPECT_EQ(*next.rules, PodRules());
  EXPECT_TRUE(next.labels->empty() && next.annotations->empty() && next.name.empty());
}

TEST(RequestTable, SettingsThatRestrictNodesAreRulesAndAnnotationsComeBeforeLabels) {
  PodBuilder draft;
  SharedParts shared;
  draft.labels = {{"ashlar.dev/gpu-classes", "H100"}, {"ashlar.dev/gpu-capabilities", "fp8"}, {"a", "1"}};
  draft.annotations = {{"ashlar.dev/queue", "q"}, {"ashlar.dev/gpu-capabilities", "mig,fp8"}};
  const Pod pod = finish_pod(draft, shared);
  EXPECT_EQ(pod.rules->gpu_classes, "H100");
  EXPECT_EQ(pod.rules->gpu_capabilities, "mig,fp8");
  EXPECT_EQ(*finish_pod(draft, shared).rules, PodRules());
}

TEST(RequestTable, TheLastEightKindsAreShared) {
  SharedParts shared;
  const auto labels = [&](int i) { return shared.share(Labels{{PooledString(std::to_string(i)), "v"}}); };
  const auto rules = [&](int i) {
    PodRules said;
    said.unsupported = std::to_string(i);
    return shared.share(std::move(said));
  };
  const auto first_labels = labels(0);
  const auto first_rules = rules(0);
  for (int i = 1; i < 8; ++i) {
    labels(i);
    rules(i);
  }
  EXPECT_EQ(labels(0), first_labels);
  EXPECT_EQ(rules(0), first_rules);
  labels(8);
  rules(8);
  EXPECT_NE(labels(0), first_labels) << "the ninth takes the place of the first";
  EXPECT_NE(rules(0), first_rules);
}

TEST(RequestTable, QuantitiesAreReadByTheirNames) {
  const std::int64_t most = std::int64_t{1} << 50;
  const std::pair<const char*, std::int64_t> amounts[] = {
      {"1", 1}, {"1125899906842623", most - 1}, {"1Pi", most}, {"1125899906842625", most}, {"9E", most}, {"1e40", most},
      {"0", 0}};
  for (const auto& [text, expected] : amounts)
    for (const char* name : {"memory", "ephemeral-storage", "x/x"}) {
      Resources r;
      ASSERT_TRUE(add_quantity(r, name, text).ok());
      const std::string kind = name;
      EXPECT_EQ(r, kind == "memory" ? request(0, expected)
                   : kind == "x/x"  ? request(0, 0, 0, {{"x/x", expected}})
                                    : request(0, 0, expected))
          << text;
    }
  Resources r;
  ASSERT_TRUE(add_quantity(r, "cpu", "1.0005").ok());
  EXPECT_EQ(r, request(1'001, 0));
  EXPECT_EQ(add_quantity(r, "x/x", "-1").error().message, "x/x: quantity \"-1\" is negative");
  EXPECT_EQ(r, request(1'001, 0)) << "nothing is kept of what is refused";
  EXPECT_EQ(amount_of(request(0, 0, 0, {{"a/a", 1}, {"b/b", 2}}), "b/b"), 2);
  EXPECT_EQ(amount_of(request(0, 0, 0, {{"a/a", 1}}), "a/b"), 0);
}

TEST(BudgetTable, ItsLimitsAreExact) {
  RequestBudget budget;
  const Millis now(1'000);
  const auto trouble = [&](Millis at, Millis wish = {}) {
    budget.end(budget.begin(at), {ServerHealth::kTrouble, wish}, at);
  };
  std::vector<RequestBudget::Pass> passes;
  while (budget.may_send(now)) passes.push_back(budget.begin(now));
  EXPECT_EQ(passes.size(), 1024u);
  for (const auto& pass : passes) budget.end(pass, {}, now);
  for (int i = 0; i < 15; ++i) budget.end(budget.begin(now), {ServerHealth::kUnclear}, now);
  EXPECT_FALSE(budget.is_in_trouble());
  EXPECT_EQ(budget.next_at(), Millis(0));
  budget.end(budget.begin(now), {}, now);
  for (int i = 0; i < 16; ++i) {
    budget.end(budget.begin(now), {ServerHealth::kUnclear}, now);
    EXPECT_FALSE(budget.is_in_trouble()) << i;
  }
  budget.end(budget.begin(now), {ServerHealth::kUnclear}, now + Millis(4'999));
  EXPECT_FALSE(budget.is_in_trouble()) << "for 5 s";
  Millis at = now + Millis(5'000);
  budget.end(budget.begin(at), {ServerHealth::kUnclear}, at);
  EXPECT_TRUE(budget.is_in_trouble());
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
