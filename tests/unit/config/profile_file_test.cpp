// Profile files and pod lists: what is read, what is refused.
#include "config/profile_file.h"
#include "folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace ashlar::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kProfileHead = "apiVersion: config.ashlar.dev/v1alpha1\nkind: Profile\n";

std::string profile_error(const std::string& body) {
  const Result<ProfileSpec> p = parse_profile(kProfileHead + body, "p.yaml");
  return p.ok() ? "no error" : p.error().message;
}

/// Ids in the order of asking.
struct Models {
  std::map<std::string, unsigned, std::less<>> ids;
  ModelOf of() {
    return [this](std::string_view name) {
      return DeviceClassId(ids.emplace(name, static_cast<unsigned>(ids.size())).first->second);
    };
  }
};

std::vector<std::string> documented_profiles() {
  std::ifstream page(std::string(ASHLAR_SOURCE_DIR) + "/docs/reference/configuration.md");
  std::vector<std::string> blocks;
  bool is_inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "```yaml") {
      is_inside = true;
      blocks.emplace_back();
    } else if (line == "```")
      is_inside = false;
    else if (is_inside)
      blocks.back() += line + "\n";
  }
  blocks.erase(blocks.begin());
  return blocks;
}

TEST(ProfileFile, TheDocumentedExampleIsReadAsItSays) {
  const Result<ProfileSpec> read = parse_profile(documented_profiles().at(0), "p.yaml");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->profile.needs_mix());
  EXPECT_TRUE(read->check_mix().ok());
  Models models;
  const Profile p = resolved(*read, models.of());
  EXPECT_EQ(p.name, "pack-by-fragmentation");
  EXPECT_EQ(p.feasible.size(), 14u);
  ASSERT_EQ(p.tiers.size(), 2u);
  EXPECT_EQ(p.tiers[1].front()->name, "fgd");
  EXPECT_EQ(p.device->name, "fgd");
  EXPECT_EQ(p.blocking, Blocking::kEasy);
  ASSERT_EQ(p.mix.classes.size(), 3u) << "120 + 80 + 60 of 264 are more than 95 %";
  EXPECT_EQ(p.mix.classes[0].milli_each, 500);
  EXPECT_EQ(p.mix.classes[1].cpu_milli, 12000);
  EXPECT_EQ(p.mix.classes[2].devices, 0);
  EXPECT_EQ(p.mix.classes[0].frequency, 120.0 / 264.0 / (260.0 / 264.0));
}

/// A pod list of a cluster in which hardly two pods request the same.
TEST(ProfileFile, AMixOfMoreClassesThanAreComparedIsRefused) {
  const auto of_classes = [](int count) {
    std::string list = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";
    for (int i = 0; i < count; ++i) list += "p," + std::to_string(1000 + i) + ",1,1,1000\n";
    Result<ProfileSpec> spec = parse_profile(kProfileHead + "base: fgd\n", "p.yaml");
    spec->sample = parse_pod_list(list, "pods.csv").value();
    return *std::move(spec);
  };
  EXPECT_TRUE(of_classes(1077).check_mix().ok()) << "1024 of them are 95 %";
  EXPECT_EQ(of_classes(1080).check_mix().error().message,
            "profile \"fgd\": 1026 classes of pods make up 95 % of the mix, and at most 1024 are compared; round what "
            "they request, so that more pods are alike");
  ProfileSpec unused = of_classes(1080);
  unused.profile = builtin_profile("ashlar").value();
  EXPECT_TRUE(unused.check_mix().ok());
}

TEST(ProfileFile, TheQueueOrderIsTheDefaultUnlessNamed) {
  EXPECT_EQ(parse_profile(kProfileHead + "base: ashlar\n", "p.yaml")->profile.queue_order->name, "by-job");
  EXPECT_EQ(
      parse_profile(kProfileHead + "base: ashlar\nqueueOrder: least-share\n", "p.yaml")->profile.queue_order->name,
      "least-share");
}

TEST(ProfileFile, TheDocumentedPodListIsReadBesideTheFile) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "ashlar-profile-test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "p.yaml") << documented_profiles().at(1);
  std::filesystem::remove(folder / "pods.csv");
  EXPECT_THAT(read_profile((folder / "p.yaml").string()).error().message, HasSubstr("pods.csv: cannot be read"));
  std::ofstream(folder / "pods.csv") << "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\na,1000,1,1,500,V100|"
                                        "T4\nb,1000,2,1,500,V100|T4\nc,8000,1,2,1000,\n";
  const Result<ProfileSpec> read = read_profile((folder / "p.yaml").string());
  ASSERT_TRUE(read.ok()) << read.error().message;
  Models models;
  const Profile p = resolved(*read, models.of());
  EXPECT_EQ(p.name, "fgd");
  ASSERT_EQ(p.mix.classes.size(), 2u);
  EXPECT_THAT(p.mix.classes[0].models, ElementsAre(DeviceClassId(0u), DeviceClassId(1u)));
  EXPECT_EQ(models.ids.at("T4"), 1u);
  EXPECT_TRUE(p.mix.classes[1].models.empty());
}

TEST(ProfileFile, WithoutABaseThePartsMustBeThere) {
  EXPECT_THAT(profile_error("name: x\n"), HasSubstr("order is missing"));
  EXPECT_THAT(profile_error("order: fifo\n"), HasSubstr("card is missing"));
  EXPECT_EQ(profile_error("order: fifo\ncard: best-fit\nfeasible: [ready]\n"), "no error");
}

TEST(ProfileFile, NoProfileGoesWithoutTheRulesAboutNodes) {
  for (const char* body : {"order: fifo\ncard: best-fit\n",
                           "order: fifo\ncard: best-fit\nfeasible: [resources, ready]\n", "base: fgd\n"}) {
    const Result<ProfileSpec> read = parse_profile(kProfileHead + body, "p.yaml");
    ASSERT_TRUE(read.ok()) << read.error().message;
    for (const FeasiblePolicy& policy : feasible_policies())
      EXPECT_EQ(std::count(read->profile.feasible.begin(), read->profile.feasible.end(), &policy), 1)
          << body << policy.name;
  }
}

TEST(ProfileFile, SettingsOfAPaperAreData) {
  const Result<ProfileSpec> read =
      parse_profile(kProfileHead +
                        "base: fifo\norder: srtf\nplacement: consolidate\nvictim: "
                        "by-quota-unverified\ngrace: 30s\ncadence: 1s\nseed: 7\ndomainSearch: false\n",
                    "p.yaml");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->profile.victim, VictimRule::kByQuotaUnverified);
  EXPECT_EQ(read->profile.grace, Millis(30'000));
  EXPECT_EQ(read->profile.cadence, Millis(1000));
  EXPECT_EQ(read->profile.seed, 7u);
  EXPECT_TRUE(read->has_seed);
  EXPECT_FALSE(read->profile.is_default_domain_search);
  EXPECT_FALSE(read->profile.needs_mix());
  EXPECT_FALSE(parse_profile(kProfileHead + "base: random\n", "p.yaml").value().has_seed) << "a scenario's seed counts";
}

TEST(ProfileFile, WrongPartsAreRefusedInWords) {
  const std::pair<const char*, const char*> cases[] = {
      {"base: ashlar\ntiers: [[pack-tihgt]]\n",
       "p.yaml:4:10: unknown score policy \"pack-tihgt\"; did you mean \"pack-tight\"?"},
      {"base: ashlar\ntiers: [[prefer, random]]\n", "random must be alone in its tier"},
      {"base: ashlar\ntiers: [[prefer, prefer]]\n", "\"prefer\" is listed twice in one tier"},

      {"base: ashlar\ntiers: [pack-tight]\n", "a tier must be a list"},
      {"base: ashlar\ntiers: [[prefer],[prefer],[prefer],[prefer],[prefer]]\n", "at most 4 tiers"},
      {"base: ashlar\nfeasible: [ready, ready]\n", "listed twice"},
      {"base: ashlar\nqueueOrder: least-shared\n",
       "p.yaml:4:13: unknown queue order policy \"least-shared\"; did you mean \"least-share\"?"},
      {"base: srtf\nqueueOrder: least-share\n",
       "p.yaml:4:13: victim: by-quota-unverified puts the jobs of all queues in one order; it allows only the queue "
       "order "
       "by-job, not least-share"},
      {"base: ashlar\nblocking: eazy\n",
       "unknown blocking \"eazy\"; expected strict, skip, easy or easy-by-count; did you mean \"easy\"?"},
      {"base: ashlar\nageing: 367d\n", "p.yaml:4:9: ageing: at most 366 days"},
      {"base: srtf\ngrace: 61m\n", "p.yaml:4:8: grace must be at most 1h"},
      {"base: ashlar\nvictim: by-quota-unverified\n",
       "priority-age does not have; choose srtf or tiresias, for a simulation; the live scheduler has victim: none, "
       "priority, lost-work, kai or kueue"},
      {"base: sjf\nvictim: priority\n",
       "victim: priority needs an order by priority, which sjf is not; choose priority-age or priority-remaining"},
      {"base: ashlr\n", "did you mean \"ashlar\"?"},
      {"base: ashlar\nmix: {}\n", "mix takes either podList or classes"},
      {"base: fgd\nmix: {classes: [{cpu: 1, cards: 2, gpuMilli: 500}]}\n", "requires cards: 1"},
      {"base: fgd\nmix: {classes: [{cpu: 1, cards: 1, gpuMilli: 0}]}\n", "gpuMilli must be 1 to 1000"},
      {"base: fgd\nmix: {classes: [{cpus: 1}]}\n", "did you mean \"cpu\"?"},
      {"base: fgd\nmix: {classes: [7]}\n", "must be a map"},
      {"base: fgd\nmix: {classes: [{cpu: 1, count: 0}]}\n", "count must be an integer from 1"},
  };
  for (const auto& [body, words] : cases) EXPECT_THAT(profile_error(body), HasSubstr(words)) << body;
}

TEST(ProfileFile, NamesAndFilesAreToldApart) {
  EXPECT_EQ(find_profile("spread")->profile.name, "spread");
  EXPECT_THAT(find_profile("sprade").error().message, HasSubstr("did you mean \"spread\"?"));
  EXPECT_THAT(find_profile("no/such.yaml").error().message, HasSubstr("no/such.yaml: cannot be read"));
}

TEST(PodList, RowsOfOneClassAreCountedTogether) {
  const auto read = parse_pod_list(
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli\r\na,1000,5,1,500\r\nb,1000,7,1,500\n\nc,2000,5,1,1700\nd,500,5,0,"
      "0\n",
      "f");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 3u);
  EXPECT_EQ((*read)[0].devices, 0);
  EXPECT_EQ((*read)[1].count, 2);
  EXPECT_EQ((*read)[2].milli_each, 1000) << "more than a card is a card";
}

TEST(PodList, BadRowsAreRefusedWithTheirPlace) {
  const std::string head = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";
  const auto error = [&](const std::string& text) { return parse_pod_list(text, "f.csv").error().message; };
  EXPECT_THAT(error(""), StartsWith("f.csv:1:1: the header is missing"));
  EXPECT_THAT(error("name,cpu_milli,num_gpu\n"), StartsWith("f.csv:1:1: column gpu_milli is missing"));
  EXPECT_THAT(error(head + "a,1000,5,1\n"), StartsWith("f.csv:2:1: 4 columns where the header has 5"));
  EXPECT_THAT(error(head + "a,1000,5,-1,500\n"),
              StartsWith("f.csv:2:10: num_gpu must be an integer of at least 0, not \"-1\""));
  EXPECT_THAT(error(head + "a,10x,5,1,500\n"), StartsWith("f.csv:2:3: cpu_milli"));
  EXPECT_THAT(error(head + "a,10,5,129,500\n"), HasSubstr("num_gpu must be at most 128"));
  EXPECT_THAT(error(head + "a,10,5,1,0\n"), HasSubstr("gpu_milli must be at least 1"));
  EXPECT_THAT(error(head + "a,10,5,2,500\n"),
              StartsWith("f.csv:2:10: gpu_milli must be 1000 where num_gpu is above 1"));
  EXPECT_THAT(error(head + "a,10,5,0,700\n"), StartsWith("f.csv:2:10: gpu_milli must be 0 where num_gpu is 0"));
}

}  // namespace
}  // namespace ashlar::config
