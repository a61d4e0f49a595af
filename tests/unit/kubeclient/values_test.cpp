#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

#include "kubeclient/decode/json_reader.h"
#include "kubeclient/json_writer.h"
#include "kubeclient/pod_builder.h"
#include "kubeclient/pooled_string.h"
#include "text/moment_text.h"

namespace ashlar::kube {
namespace {

TEST(PooledString, EqualStringsAreOneObject) {
  const PooledString a("zone-eu-west"), b(std::string("zone-eu-") + "west"), c("zone-us");
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.view().data(), b.view().data());
  EXPECT_FALSE(a == c);
  EXPECT_TRUE(a == "zone-eu-west");
  EXPECT_TRUE(PooledString("a") < PooledString("b"));
}

TEST(PooledString, EmptyIsEmpty) {
  EXPECT_TRUE(PooledString().empty());
  EXPECT_TRUE(PooledString("").empty());
  EXPECT_EQ(PooledString(), PooledString(""));
  EXPECT_EQ(PooledString().view(), "");
}

TEST(PooledString, MemoryReturnsWithTheLastUser) {
  const PooledString::PoolSize before = PooledString::pool_size();
  {
    std::vector<PooledString> many;
    for (int i = 0; i < 1000; ++i) many.emplace_back("text-for-the-pool-test-" + std::to_string(i));
    std::vector<PooledString> copies = many;
    EXPECT_EQ(PooledString::pool_size().strings, before.strings + 1000);
  }
  EXPECT_EQ(PooledString::pool_size().strings, before.strings);
}

TEST(PooledString, ThreadsMayInternAndDropTheSameStrings) {
  const PooledString::PoolSize before = PooledString::pool_size();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 20'000; ++i) {
        const PooledString text("shared-" + std::to_string(i % 7));
        const PooledString copy = text;
        ASSERT_EQ(copy.view().substr(0, 7), "shared-");
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(PooledString::pool_size().strings, before.strings);
}

TEST(JsonWriter, WritesNestedValuesWithTheirCommas) {
  JsonWriter w;
  w.begin_object()
      .member("a", 1)
      .key("b")
      .begin_array()
      .string("x")
      .boolean(true)
      .null()
      .begin_object()
      .end_object()
      .end_array();
  w.member_bool("c", false).key("d").raw("[1,2]").end_object();
  EXPECT_EQ(w.text(), R"({"a":1,"b":["x",true,null,{}],"c":false,"d":[1,2]})");
}

TEST(JsonWriter, EscapesSoThatAParserReadsTheSameText) {
  std::string text = "quote\" back\\ tab\t line\n bell\x07 zero";
  text += '\0';
  text += "é € \xf0\x9f\x98\x80 end";
  JsonWriter w;
  w.begin_object().member("t", text).end_object();
  simdjson::ondemand::document document = json::Parser::of_thread().parse(w.text());
  EXPECT_EQ(std::string_view(document["t"].get_string()), text);
}

TEST(JsonWriter, ReplacesBytesThatAreNoUtf8) {
  JsonWriter w;
  w.string(
      "a\xff"
      "b\xc3"
      "c\xed\xa0\x80"
      "d\xf5\x80\x80\x80"
      "e\xc0\x80"
      "f\xf4\x90\x80\x80");
  EXPECT_NO_THROW({
    const std::string document = "{\"t\":" + w.text() + "}";
    auto parsed = json::Parser::of_thread().parse(document);
    EXPECT_TRUE(std::string_view(parsed["t"].get_string())
                    .starts_with("a\xef\xbf\xbd"
                                 "b"));
    EXPECT_EQ(document.find('\xf4'), std::string::npos) << "beyond the last character that there is";
    EXPECT_EQ(document.find('\xed'), std::string::npos);
  });
}

TEST(Time, ReadsRfc3339) {
  EXPECT_EQ(parse_moment("1970-01-01T00:00:00Z").value(), Millis(0));
  EXPECT_EQ(parse_moment("2026-11-21T09:02:02Z").value(), Millis(1795251722000));
  EXPECT_EQ(parse_moment("2026-11-21T10:02:02.123456+01:00").value(), Millis(1795251722123));
  EXPECT_EQ(parse_moment("2024-02-29T12:00:00z").value(), Millis(1709208000000));
  for (const char* text : {"", "2026", "2026-13-01T00:00:00Z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00",
                           "2026-01-01T00:00:00Zx", "x026-01-01T00:00:00Z"})
    EXPECT_FALSE(parse_moment(text).ok()) << text;
}

Resources amounts(std::int64_t cpu, std::int64_t memory, std::int64_t gpus = 0) {
  Resources r;
  r.cpu = MilliCores(cpu);
  r.memory = Bytes(memory);
  if (gpus > 0) r.extended.push_back({"nvidia.com/gpu", gpus});
  return r;
}

TEST(EffectiveRequest, IsTheLargerOfRunningAndStarting) {
  RequestParts draft;
  draft.containers = {{"a", false, amounts(500, 10, 1)}, {"b", false, amounts(700, 20, 2)}};
  draft.init_containers = {{"init", false, amounts(2000, 5)}};
  EXPECT_EQ(effective_request(draft), amounts(2000, 30, 3));
}

TEST(EffectiveRequest, CountsSidecarsForAllThatFollows) {
  RequestParts draft;
  draft.containers = {{"main", false, amounts(1000, 100)}};
  draft.init_containers = {
      {"first", false, amounts(1500, 0)}, {"sidecar", true, amounts(300, 50)}, {"second", false, amounts(1200, 10)}};
  // Running: 1000 + 300; starting: max(1500, 300, 300 + 1200).
  EXPECT_EQ(effective_request(draft), amounts(1500, 150));
}

TEST(EffectiveRequest, AddsOverheadAndLetsPodLevelAmountsReplaceCpuAndMemory) {
  RequestParts draft;
  draft.containers = {{"main", false, amounts(1000, 100, 1)}};
  draft.overhead = amounts(10, 7);
  draft.pod_level = {amounts(300, 0), {"cpu"}};
  EXPECT_EQ(effective_request(draft), amounts(310, 107, 1));
}

TEST(EffectiveRequest, TakesTheLargerOfSpecAndStatusWhileAResizeIsUnderWay) {
  RequestParts draft;
  draft.containers = {{"main", false, amounts(1000, 400, 1)}};
  draft.statuses = {{"main", {amounts(2000, 100), {"cpu", "memory"}}, {}}};
  EXPECT_EQ(effective_request(draft), amounts(2000, 400, 1));
  draft.is_resize_infeasible = true;
  EXPECT_EQ(effective_request(draft), amounts(2000, 100, 1))
      << "an infeasible spec does not count, extended resources stay";
}

TEST(EffectiveRequest, OfAllContainersTogetherIsCappedLikeThatOfOne) {
  RequestParts draft;
  constexpr std::int64_t kMost = std::int64_t{1} << 50;  // a pod of 8,192 containers would otherwise wrap a node's sum
  draft.containers.assign(8'192, {"a", false, amounts(kMost, 1)});
  draft.overhead = amounts(std::numeric_limits<std::int64_t>::max(), 2);
  EXPECT_EQ(effective_request(draft), amounts(kMost, 8'194));
}

TEST(EffectiveRequest, IsTheLargestSumNotTheSumOfTheLargest) {
  RequestParts draft;
  draft.containers = {{"a", false, amounts(1000, 0)}, {"b", false, amounts(2000, 0)}};
  draft.statuses = {{"a", {amounts(2000, 0), {"cpu"}}, {}}, {"b", {amounts(1000, 0), {"cpu"}}, {}}};
  EXPECT_EQ(effective_request(draft), amounts(3000, 0)) << "one shrinks, the other grows";
  draft.statuses[1].in_force = {amounts(1500, 0), {"cpu"}};
  EXPECT_EQ(effective_request(draft), amounts(3500, 0)) << "a as granted, b as it is";
}

TEST(EffectiveRequest, AShrinkOfTheWholePodCountsOnceItIsInForce) {
  RequestParts draft;
  draft.containers = {{"main", false, amounts(100, 10, 2)}};
  draft.pod_level = {amounts(1000, 0), {"cpu"}};
  draft.pod_level_allocated = {amounts(1000, 0, 2), {"cpu", "nvidia.com/gpu"}};
  EXPECT_EQ(effective_request(draft).cpu, MilliCores(1000)) << "status.resources is not there";
  draft.has_status_resources = true;
  draft.pod_level_in_force = {amounts(90'000, 20, 2), {"cpu", "memory", "nvidia.com/gpu"}};
  EXPECT_EQ(effective_request(draft), amounts(90'000, 20, 2)) << "the kubelet has not taken them away yet";
  draft.pod_level.amounts.cpu = MilliCores(200'000);
  EXPECT_EQ(effective_request(draft).cpu, MilliCores(200'000));
  draft.is_resize_infeasible = true;
  EXPECT_EQ(effective_request(draft), amounts(90'000, 20, 2)) << "what will never be granted does not count";
}

TEST(EffectiveRequest, AnInfeasibleResizeKeepsWhatCannotBeResized) {
  RequestParts draft;
  draft.containers = {{"main", false, amounts(5000, 10, 4)}, {"new", false, amounts(7, 0)}};
  draft.statuses = {{"main", {amounts(1000, 10), {"cpu", "memory"}}, {}}};
  draft.is_resize_infeasible = true;
  EXPECT_EQ(effective_request(draft), amounts(1000, 10, 4))
      << "a container without a status holds nothing, as upstream";
  draft.statuses.clear();
  EXPECT_EQ(effective_request(draft), amounts(0, 0, 4));
}

TEST(LabelSelector, FollowsKubernetes) {
  const Labels labels{{"app", "train"}, {"tier", "gpu"}};
  EXPECT_FALSE(matches({}, labels)) << "an absent selector selects nothing";
  EXPECT_TRUE(matches({.present = true}, labels)) << "an empty one everything";
  EXPECT_TRUE(matches({.present = true, .match_labels = {{"app", "train"}}}, labels));
  EXPECT_FALSE(matches({.present = true, .match_labels = {{"app", "web"}}}, labels));
  const auto with = [](const char* key, SelectorOp op, std::vector<PooledString> values) {
    return LabelSelector{.present = true, .expressions = {{key, op, std::move(values)}}};
  };
  EXPECT_TRUE(matches(with("tier", SelectorOp::kIn, {"cpu", "gpu"}), labels));
  EXPECT_FALSE(matches(with("tier", SelectorOp::kNotIn, {"gpu"}), labels));
  EXPECT_TRUE(matches(with("absent", SelectorOp::kNotIn, {"gpu"}), labels));
  EXPECT_TRUE(matches(with("app", SelectorOp::kExists, {}), labels));
  EXPECT_FALSE(matches(with("app", SelectorOp::kDoesNotExist, {}), labels));
}

TEST(PooledString, TheHashOfItsCharactersOutlivesTheString) {
  const auto hash_of = [](const std::string& text) { return PooledString(text).content_hash(); };
  const std::uint64_t before = hash_of("a string that nobody else uses");
  EXPECT_EQ(hash_of("a string that nobody else uses"), before);
  EXPECT_NE(hash_of("a string that nobody else used"), before);
  EXPECT_EQ(PooledString().content_hash(), 0u);
}

/// Tenants choose names; who knew the hash could choose many that collide. Three children, since two processes agree on
/// a byte now and then.
TEST(TextDeathTest, EveryProcessHashesAnotherWay) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a child that starts anew instead of one that is forked
  const auto byte_of_hash = [] { return static_cast<int>(PooledString("team-a/train-0").content_hash() & 0xff); };
  std::vector<int> seen{byte_of_hash()};
  const auto note = [&](int status) {
    seen.push_back(WEXITSTATUS(status));
    return WIFEXITED(status);
  };
  for (int i = 0; i < 3; ++i) EXPECT_EXIT(std::_Exit(byte_of_hash()), note, "");
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_NE(std::count(seen.begin(), seen.end(), seen[0]), 4) << "one in 16 million runs may do so by chance";
}

}  // namespace
}  // namespace ashlar::kube
