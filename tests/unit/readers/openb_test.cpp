#include "sim/trace/openb.h"

#include <gmock/gmock.h>

#include <numeric>

#include "files.h"

namespace ashlar::sim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kNodes =
    "sn,cpu_milli,memory_mib,gpu,model\n"
    "node-b,64000,262144,2,P100\n"
    "node-a,96000,786432,8,G2\n"
    "node-c,32000,262144,0,\n";
constexpr const char* kPods =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
    "pod-1,12000,16384,1,1000,,LS,Running,0,12537496,0\n"
    "pod-0,6000,12288,1,460,G2|P100,BE,Pending,5,9,\n"
    "pod-2,4000,1024,0,0,,LS,Succeeded,5,9,7\n";

std::vector<OpenbNode> nodes(const Folder& folder) {
  auto read = read_openb_nodes(folder.write("nodes.csv", kNodes));
  EXPECT_TRUE(read.ok()) << read.error().message;
  return *read;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(OpenbNodes, AreReadInFileOrder) {
  Folder folder;
  const auto list = nodes(folder);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].name, "node-b");
  EXPECT_EQ(list[0].model, "P100");
  EXPECT_EQ(list[1].cpu, MilliCores(96000));
  EXPECT_EQ(list[1].memory, MiB(786432));
  EXPECT_EQ(list[1].gpus, 8);
  EXPECT_EQ(list[2].gpus, 0);
  EXPECT_THAT(sorted_by_name(list), ElementsAre(1u, 0u, 2u));
}

struct BadEdit {
  const char* from;
  const char* to;
  const char* message;  ///< what the error must contain
};

TEST(OpenbNodes, MistakesNameFileLineColumnAndForm) {
  Folder folder;
  const BadEdit edits[] = {
      {"96000,", "-96000,", ":3:8: cpu_milli: expected milli-cores, a whole number 0..1073741824, got \"-96000\""},
      {"8,G2", "129,G2", ":3:21: gpu: expected the number of GPUs of the node, a whole number 0..128, got \"129\""},
      {"8,G2", "8,", ":3:23: model: expected the model"},
      {"node-a", "node-b", ":3:1: sn: expected every node's name once"},
      {"node-a,", ",", ":3:1: sn: expected the node's name, got nothing"},
      {"cpu_milli", "cpu", ":1:1: expected a column \"cpu_milli\""},
      {"2,P100", "two,P100", "got \"two\""},
      {"262144,2,P100", "262144,2", ":2:"},
  };
  for (const BadEdit& edit : edits) {
    const auto read = read_openb_nodes(folder.write("nodes.csv", with(kNodes, edit.from, edit.to)));
    ASSERT_FALSE(read.ok()) << edit.message;
    EXPECT_THAT(read.error().message, AllOf(StartsWith(folder.path("nodes.csv")), HasSubstr(edit.message)));
    EXPECT_EQ(read.error().kind, Error::Kind::kInvalid);
  }
}

TEST(OpenbPods, AreReadWithTheirOptionalColumns) {
  Folder folder;
  const auto pods = read_openb_pods(folder.write("pods.csv", kPods), nodes(folder));
  ASSERT_TRUE(pods.ok()) << pods.error().message;
  ASSERT_EQ(pods->size(), 3u);
  const OpenbPod& shared = (*pods)[1];
  EXPECT_EQ(shared.name, "pod-0");
  EXPECT_EQ(shared.milli_each, MilliGpu(460));
  EXPECT_EQ(shared.gpu_spec, "G2|P100");
  EXPECT_THAT(shared.models, ElementsAre("G2", "P100"));
  EXPECT_EQ(shared.created, Millis(5000));
  EXPECT_EQ(shared.scheduled, std::nullopt);
  EXPECT_EQ((*pods)[2].gpus, 0);
  EXPECT_THAT(sorted_by_name(*pods), ElementsAre(1u, 0u, 2u));
}

TEST(OpenbPods, NeedOnlyTheFirstFiveColumns) {
  Folder folder;
  const auto pods = read_openb_pods(
      folder.write("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,2,8,1000\n"), nodes(folder));
  ASSERT_TRUE(pods.ok()) << pods.error().message;
  EXPECT_EQ((*pods)[0].milli_total(), MilliGpu(8000));
  EXPECT_TRUE((*pods)[0].models.empty());
  EXPECT_EQ((*pods)[0].created, std::nullopt);
}

TEST(OpenbPods, CapGpuMilliAtAWholeDevice) {
  Folder folder;
  const auto pods = read_openb_pods(folder.write("pods.csv", with(kPods, "1,1000,", "1,1500,")), nodes(folder));
  ASSERT_TRUE(pods.ok()) << pods.error().message;
  EXPECT_EQ((*pods)[0].milli_each, MilliGpu(1000));
}

TEST(OpenbPods, MistakesNameFileLineColumnAndForm) {
  Folder folder;
  const BadEdit edits[] = {
      {"12000,16384", "-12000,16384", ":2:7: cpu_milli: expected milli-cores"},
      {"12000,16384", "12000,17592186044416", ":2:13: memory_mib: expected MiB, a whole number 0..67108864"},
      {"12000,16384", "12000,-1", ":2:13: memory_mib: expected MiB"},
      {"1,460", "-1,460", ":3:18: num_gpu: expected the number of GPUs"},
      {"1,460", "1,-460", ":3:20: gpu_milli: expected thousandths of each GPU"},
      {"1,460", "2,460", ":3:20: gpu_milli: expected 1000"},
      {"1,460", "1,0", ":3:20: gpu_milli: expected thousandths of the GPU, 1..1000"},
      {"1,460", "0,460", ":3:20: gpu_milli: expected 0, because num_gpu is 0"},
      {"G2|P100", "G2|H100", ":3:27: gpu_spec: expected a GPU model of the node list (G2, P100), got \"H100\""},
      {"G2|P100", "G2||P100", ":3:24: gpu_spec: expected GPU models joined by |"},
      {"Pending,5,9", "Pending,x,9", ":3:43: creation_time: expected seconds since the start"},
      {"Pending,5,9", "Pending,5,4", ":3:45: deletion_time: expected a time not before creation_time"},
      {"5,9,7", "5,9,3", "scheduled_time: expected a time not before creation_time"},
      {"pod-2", "pod-1", ":4:1: name: expected every pod's name once"},
      {"gpu_milli", "milli", ":1:1: expected a column \"gpu_milli\""},
      {"num_gpu", "gpus", ":1:1: expected a column \"num_gpu\""},
  };
  for (const BadEdit& edit : edits) {
    const auto read = read_openb_pods(folder.write("pods.csv", with(kPods, edit.from, edit.to)), nodes(folder));
    ASSERT_FALSE(read.ok()) << edit.message;
    EXPECT_THAT(read.error().message, AllOf(StartsWith(folder.path("pods.csv")), HasSubstr(edit.message)));
  }
}

TEST(OpenbPods, AModelIsAskedInVainWhereNoNodeHasGpus) {
  Folder folder;
  const auto without =
      read_openb_nodes(folder.write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\nn,1000,1000,0,\n"));
  ASSERT_TRUE(without.ok());
  const auto read = read_openb_pods(folder.write("pods.csv", kPods), *without);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("gpu_spec: expected nothing, because no node has GPUs, got"));
}

TEST(OpenbPods, ModelsAreNotCheckedWithoutNodes) {
  Folder folder;
  EXPECT_TRUE(read_openb_pods(folder.write("pods.csv", with(kPods, "G2|P100", "H100")), {}).ok());
}

constexpr const char* kArrivals =
    "seed,kind,values\n42,arrival,2 0 1 1\n42,noderank,1 2 0\n43,noderank,0 1 2\n43,arrival,0\n";

TEST(Arrivals, AreReadBySeed) {
  Folder folder;
  const auto orders = read_arrivals(folder.write("a.csv", kArrivals), 3, 3);
  ASSERT_TRUE(orders.ok()) << orders.error().message;
  ASSERT_EQ(orders->size(), 2u);
  EXPECT_EQ((*orders)[0].seed, 42u);
  EXPECT_THAT((*orders)[0].arrivals, ElementsAre(2u, 0u, 1u, 1u));
  EXPECT_THAT((*orders)[0].node_ranks, ElementsAre(1u, 2u, 0u));
  EXPECT_THAT((*orders)[1].arrivals, ElementsAre(0u));
}

TEST(Arrivals, MistakesNameFileLineColumnAndForm) {
  Folder folder;
  const BadEdit edits[] = {
      {"2 0 1 1", "2 0 3 1",
       ":2:16: values: expected indices of pods sorted by name, whole numbers 0..2 separated by spaces, got \"3\""},
      {"2 0 1 1", "2 0 -1", "got \"-1\""},
      {"2 0 1 1", "2 0 x1 4", ":2:16: values: expected"},
      {"2 0 1 1", "", "expected at least one index, got nothing"},
      {"1 2 0", "1 2 2", ":3:1: values: expected each rank 0..2 once, one for each node, got rank 2 twice"},
      {"1 2 0", "1 2", "got 2 ranks"},
      {"1 2 0", "1 2 9", "indices of nodes"},
      {"42,noderank", "42,rank", ":3:4: kind: expected arrival or noderank, got \"rank\""},
      {"42,noderank,1 2 0\n", "", "expected a line of kind noderank for seed 42"},
      {"42,noderank,1 2 0", "42,arrival,1 2 0", ":3:4: kind: expected one line of each kind"},
      {"43,arrival", "-43,arrival", "seed: expected a seed"},
      {"seed,", "Seed,", "expected a column \"seed\""},
  };
  for (const BadEdit& edit : edits) {
    const auto read = read_arrivals(folder.write("a.csv", with(kArrivals, edit.from, edit.to)), 3, 3);
    ASSERT_FALSE(read.ok()) << edit.message;
    EXPECT_THAT(read.error().message, AllOf(StartsWith(folder.path("a.csv")), HasSubstr(edit.message)));
  }
}

TEST(Openb, GarbageNeverCrashes) {
  Folder folder;
  const auto list = nodes(folder);
  const std::string texts[] = {kNodes, kPods, kArrivals};
  std::uint32_t random = 1;
  const auto draw = [&random](std::uint32_t bound) {
    return (random = random * 1664525u + 1013904223u) / 65536 % bound;
  };
  for (int round = 0; round < 900; ++round) {
    std::string text = texts[round % 3];
    for (std::uint32_t edits = 1 + draw(4); edits > 0; --edits) {
      const std::size_t at = draw(static_cast<std::uint32_t>(text.size()));
      if (draw(2) == 0) {
        text.erase(at, 1 + draw(5));
      } else {
        text[at] = ",\n\"|- \r9\0x"[draw(10)];
      }
      if (text.empty()) text = ",";
    }
    const std::string path = folder.write("f.csv", text);
    if (round % 3 == 0) static_cast<void>(read_openb_nodes(path).ok());
    if (round % 3 == 1) static_cast<void>(read_openb_pods(path, list).ok());
    if (round % 3 == 2) static_cast<void>(read_arrivals(path, 3, 3).ok());
  }
  SUCCEED();
}

TEST(OpenbTraces, TheGpuNodesAreThoseOfThePaper) {
  ASHLAR_NEEDS_TRACES();
  const auto list = read_openb_nodes(traces + "/packing/openb/openb_node_list_gpu_node.csv.zst");
  ASSERT_TRUE(list.ok()) << list.error().message;
  std::int64_t gpus = 0, cores = 0;
  for (const OpenbNode& node : *list) {
    gpus += node.gpus;
    cores += node.cpu.value;
  }
  EXPECT_EQ(list->size(), 1213u);
  EXPECT_EQ(gpus, 6212);
  EXPECT_EQ(cores, 107'018'000);
  EXPECT_TRUE(read_openb_nodes(traces + "/packing/openb/openb_node_list_all_node.csv.zst").ok());
}

TEST(OpenbTraces, EveryPodListAndArrivalOrderReads) {
  ASHLAR_NEEDS_TRACES();
  const auto list = read_openb_nodes(traces + "/packing/openb/openb_node_list_gpu_node.csv.zst");
  ASSERT_TRUE(list.ok());
  int orders_read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(traces + "/packing/openb")) {
    const std::string file = entry.path().filename().string();
    constexpr std::string_view kPrefix = "openb_pod_list_";
    if (file.rfind(kPrefix, 0) != 0) continue;
    const auto pods = read_openb_pods(entry.path().string(), *list);
    ASSERT_TRUE(pods.ok()) << pods.error().message;
    const std::string name = file.substr(kPrefix.size(), file.find('.') - kPrefix.size());
    EXPECT_TRUE(name != "default" || pods->size() == 8152u);
    const std::string arrivals = traces + "/packing/fgd-arrivals/" + name + ".csv.xz";
    if (!std::filesystem::exists(arrivals)) continue;
    const auto orders = read_arrivals(arrivals, pods->size(), list->size());
    ASSERT_TRUE(orders.ok()) << orders.error().message;
    EXPECT_EQ(orders->size(), 5u);
    ++orders_read;
  }
  EXPECT_EQ(orders_read, 17);
}

}  // namespace
}  // namespace ashlar::sim
