// Which devices does a bound pod hold? What its annotation says counts where Ashlar may have written it and where it
// can be so.
#include <fstream>
#include <iterator>

#include "apijson/api_json.h"
#include "folders.h"
#include "kubeclient/decode/decode.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class Devices : public TrackerBench {
 protected:
  Devices() { see(node("n", 8)); }
  /// Bound to the node, with this text in the annotation.
  static Pod holding(Pod p, const std::string& devices) {
    p.node_name = PooledString("n");
    if (!devices.empty())
      p.annotations = std::make_shared<const Labels>(Labels{{PooledString("ashlar.dev/cards"), PooledString(devices)}});
    return p;
  }
  /// As the API server gave it after that commit had bound it.
  static Pod bound_by(const std::string& commit, const std::string& name) {
    std::ifstream in(std::string(ASHLAR_SOURCE_DIR) + "/tests/fixtures/bound-by-" + commit + "/pod-" + name + ".json");
    Result<Pod> read = object_of_json<Pod>(std::string(std::istreambuf_iterator<char>(in), {}));
    EXPECT_TRUE(read.ok()) << name;
    return read.ok() ? std::move(read).value() : Pod();
  }
  static Pod foreign(Pod p) {
    p.scheduler_name = PooledString("somebody-else");
    return p;
  }
  std::vector<std::int32_t> free_milli() const {
    const auto milli = state.cluster().device_free_milli(NodeId(0u));
    return {milli.begin(), milli.end()};
  }
  std::uint64_t overfull() const { return state.cluster().overfull_device_count(); }
};

TEST_F(Devices, WhatWasWrittenWithTheBindingIsReadBack) {
  see(holding(pod("p", 2), "0,1"));
  see(holding(share("q", 600), "3"));
  step();
  EXPECT_EQ(free_milli(), (std::vector<std::int32_t>{0, 0, 1000, 400, 1000, 1000, 1000, 1000}));
  EXPECT_EQ(idle_devices("n"), 5);
  see(share("r", 600));
  step();
  EXPECT_FALSE(record("r").devices.test(3));
}

TEST_F(Devices, WhatAc91413BoundKeepsItsDevicesAfterTheUpgrade) {
  for (const char* name : {"whole", "share"}) see(bound_by("ac91413", name));
  step();
  EXPECT_EQ(devices_text(record("whole", "default").devices), "1,2,3,4");
  EXPECT_EQ(devices_text(record("share", "default").devices), "0");
  EXPECT_EQ(free_milli(), (std::vector<std::int32_t>{700, 0, 0, 0, 0, 1000, 1000, 1000}));
  EXPECT_TRUE(said.empty()) << said[0];
  see(pod("three", 3));
  see(pod("one", 1));
  see(share("beside", 700));
  step();
  EXPECT_EQ(devices_text(record("three").devices), "5,6,7");
  EXPECT_EQ(where("one"), "") << "of what is left, a part is somebody's";
  EXPECT_EQ(devices_text(record("beside").devices), "0");
  EXPECT_EQ(overfull(), 0u);
}

/// Bound to the node with both annotations, or with those of them that are not empty.
Pod granted(Pod p, const std::string& devices, const std::string& grants, const std::string& memory = "") {
  p.node_name = PooledString("n");
  Labels labels;
  if (!devices.empty()) labels.push_back({PooledString("ashlar.dev/cards"), PooledString(devices)});
  if (!grants.empty()) labels.push_back({PooledString("ashlar.dev/gpu-grants"), PooledString(grants)});
  if (!memory.empty()) labels.push_back({PooledString("ashlar.dev/gpu-memory"), PooledString(memory)});
  p.annotations = std::make_shared<const Labels>(std::move(labels));
  return p;
}

/// As commit 954191c reads what a pod holds: the devices of ashlar.dev/cards, as many as the pod requests. Frozen.
std::vector<int> read_by_954191c(const Pod& pod, std::size_t requested) {
  const PooledString* text = find_label(*pod.annotations, "ashlar.dev/cards");
  if (text == nullptr) return {};
  std::vector<int> devices;
  for (std::size_t at = 0; at <= text->view().size();) {
    const std::size_t comma = std::min(text->view().find(',', at), text->view().size());
    const std::string number(text->view().substr(at, comma - at));
    if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) return {};
    devices.push_back(std::stoi(number));
    at = comma + 1;
  }
  return devices.size() == requested ? devices : std::vector<int>{};
}

// Upgrade and rollback on what a real server stored.
TEST_F(Devices, What594205f1BoundIsReadByTheReleaseBeforeAndByThisOne) {
  EXPECT_EQ(read_by_954191c(bound_by("594205f1", "whole"), 4), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(read_by_954191c(bound_by("594205f1", "share"), 1), std::vector<int>{0});
  for (const char* name : {"whole", "share"}) see(bound_by("594205f1", name));
  step();
  EXPECT_EQ(devices_text(record("whole", "default").devices), "1,2,3,4");
  EXPECT_EQ(devices_text(record("share", "default").devices), "0");
  EXPECT_EQ(free_milli(), (std::vector<std::int32_t>{700, 0, 0, 0, 0, 1000, 1000, 1000}));
  EXPECT_TRUE(said.empty()) << said[0];
  // After the rollback that release binds by ashlar.dev/cards alone, and this one takes over again.
  see(granted(pod("three", 3), "5,6,7", ""));
  see(granted(share("beside", 100), "0", ""));
  step();
  EXPECT_EQ(free_milli(), (std::vector<std::int32_t>{600, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(changed.empty()) << "nothing is written back for want of the new annotation";
  EXPECT_EQ(overfull(), 0u);
}

TEST_F(Devices, WhatAPodWasGrantedBeyondItsRequestIsReadBack) {
  see(granted(share("q", 200), "3", "3:250:8000"));
  see(granted(share("p", 300), "1", "1:400"));
  step();
  EXPECT_EQ(free_milli(), (std::vector<std::int32_t>{1000, 600, 1000, 750, 1000, 1000, 1000, 1000}));
  EXPECT_EQ(state.queues().used(QueueId(0u))[0], 650) << "its queue is charged with what it holds";
  EXPECT_TRUE(said.empty()) << said[0];
  gone(share("p", 300));
  gone(share("q", 200));
  step();
  EXPECT_EQ(idle_devices("n"), 8);
}

TEST_F(Devices, ABindingThatIsFoundUndoneTakesItsGrantsAlong) {
  is_answering = false;
  see(share("p", 500));
  step();
  const PodSlot slot = tracker.pods().find(PooledString("ns"), PooledString("p"));
  DeviceGrants more = tracker.grants_held(slot);
  ASSERT_EQ(more.size(), 1u);
  more[0].share.milli = MilliGpu(700);
  tracker.note_bound(slot, PooledString("n"), {record("p").devices, HeldGrantsPtr(new HeldGrants(more))});
  ASSERT_EQ(tracker.grants_held(slot), more);
  tracker.note_undone(slot, "it has no node");
  EXPECT_TRUE(tracker.grants_held(slot).empty()) << grants_text(tracker.grants_held(slot));
}

TEST_F(Devices, TheGrantsArePreferredToTheOlderAnnotation) {
  see(granted(share("p", 500), "3", "5:500"));
  step();
  EXPECT_EQ(devices_text(record("p").devices), "5");
  EXPECT_EQ(free_milli()[3], 1000);
}

TEST_F(Devices, APodKeepsWhatItWasBoundWithWhenItsRequestChanges) {
  see(share("p", 500));
  step();
  ASSERT_EQ(where("p"), "n");
  const std::string device = devices_text(record("p").devices);
  const auto mib = [&] { return state.cluster().device_free_mib(NodeId(0u))[std::stoul(device)]; };
  const std::int64_t before = mib();
  see(granted(share("p", 500), device, device + ":500", "1Gi"));
  step();
  EXPECT_EQ(mib(), before);
  EXPECT_EQ(grants_text(tracker.grants_held(tracker.pods().find(PooledString("ns"), PooledString("p")))),
            device + ":500");
}

TEST_F(Devices, AnOlderReleaseReadsWhatIsWrittenAndWhatItWroteIsRead) {
  see(share("p", 500));
  see(pod("q", 3));
  step();
  for (const auto& [name, count] : {std::pair("p", 1), std::pair("q", 3)}) {
    const PodSlot slot = tracker.pods().find(PooledString("ns"), PooledString(name));
    const Pod written =
        granted(pod(name, count), devices_text(record(name).devices), grants_text(tracker.grants_held(slot)));
    std::vector<int> devices;
    record(name).devices.each([&](int i) { devices.push_back(i); });
    EXPECT_EQ(read_by_954191c(written, static_cast<std::size_t>(count)), devices);
    const Result<DeviceGrants> grants = parse_grants(find_label(*written.annotations, "ashlar.dev/gpu-grants")->view());
    ASSERT_TRUE(grants.ok());
    EXPECT_TRUE(devices_of(*grants) == record(name).devices) << "both say the same";
  }
}

TEST_F(Devices, GrantsThatCannotBeAreLoggedAndWrittenAnew) {
  see(granted(share("p", 500), "3", "3:5000"));
  see(granted(pod("q", 2), "0,1", "0:1000"));
  step();
  EXPECT_EQ(devices_text(record("p").devices), "3");
  EXPECT_EQ(devices_text(record("q").devices), "0,1");
  EXPECT_EQ(free_milli(), (std::vector<std::int32_t>{0, 0, 1000, 500, 1000, 1000, 1000, 1000}));
  EXPECT_EQ(said,
            (std::vector<std::string>{
                "annotation ashlar.dev/gpu-grants of pod ns/p cannot be read: '3:5000' is not a GPU with what is held "
                "of it, such as 0-7:1000 (thousandths) or 3:500:40960 (thousandths and MiB); the GPUs in "
                "ashlar.dev/cards are counted, with what the pod requests of each, and the annotation is corrected",
                "annotation ashlar.dev/gpu-grants of pod ns/q names 1 GPUs, but the pod requests 2; the GPUs in "
                "ashlar.dev/cards are counted, with what the pod requests of each, and the annotation is corrected"}));
  EXPECT_EQ(changed, (std::vector<std::string>{"p", "q"}));
  see(granted(share("p", 500), "3", "3:5000"));
  see(granted(share("p", 500), "3", "3:500"));
  EXPECT_EQ(said.size(), 2u) << "said once";
  EXPECT_FALSE(record("p").are_devices_changed) << "as it was written";
}

// Neither of the two tells the GPUs: nothing can be written.
TEST_F(Devices, GrantsThatCannotBeBesideNoGpusAreLoggedAlone) {
  see(granted(pod("p", 2), "", "0:1000"));
  see(granted(pod("q", 2), "7", "nonsense"));
  step();
  EXPECT_EQ(idle_devices("n"), 4);
  EXPECT_TRUE(record("p").devices.is_empty() && record("q").devices.is_empty());
  EXPECT_TRUE(changed.empty());
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(
      said[0],
      "annotation ashlar.dev/gpu-grants of pod ns/p names 1 GPUs, but the pod requests 2; the requested number is "
      "counted, but it is not known which GPUs these are");
  EXPECT_EQ(said[2],
            "pod ns/q claims the GPUs '7' but requests 2; the requested number is counted, but it is not known which "
            "GPUs these are");
}

// A pod that names its node itself may write any annotation where no admission policy keeps it from that.
TEST_F(Devices, GrantsThatSayLessThanIsRequestedAreNotBelieved) {
  see(granted(pod("p", 2), "0,1", "0:1000,1:999"));
  see(granted(share("q", 500), "3", "3:499"));
  see(granted(share("m", 500), "4", "4:500", "1Gi"));
  step();
  EXPECT_EQ(free_milli(), (std::vector<std::int32_t>{0, 0, 1000, 500, 500, 1000, 1000, 1000}));
  EXPECT_EQ(state.queues().used(QueueId(0u))[0], 3000);
  ASSERT_EQ(said.size(), 3u);
  EXPECT_TRUE(said[0].find("of pod ns/p says less than the pod requests of each GPU;") != std::string::npos) << said[0];
}

TEST_F(Devices, GrantsThatAreChangedOrRemovedAreReported) {
  see(granted(share("p", 200), "3", "3:250"));
  step();
  see(granted(share("p", 200), "3", "3:100"));
  see(granted(share("p", 200), "3", "3:250"));
  see(granted(share("p", 200), "3", ""));
  step();
  EXPECT_EQ(free_milli()[3], 750);
  EXPECT_EQ(changed, (std::vector<std::string>{"p", "p"}));
  EXPECT_EQ(said,
            (std::vector<std::string>{
                "the GPUs of pod ns/p were changed from 3:250 to '3:100'; the pod keeps the GPUs it was bound with",
                "the GPUs of pod ns/p were changed from 3:250 to ''; the pod keeps the GPUs it was bound with"}));
}

TEST_F(Devices, GrantsAreNotMissedOnAPodOfAnOlderRelease) {
  see(granted(share("p", 500), "3", ""));
  step();
  see(granted(share("p", 500), "3", ""));
  step();
  EXPECT_TRUE(changed.empty());
}

TEST_F(Devices, GrantsOutlastTheNode) {
  see(granted(share("p", 200), "3", "3:250"));
  step();
  gone(node("n", 8));
  step();
  see(node("n", 8));
  step();
  EXPECT_EQ(free_milli()[3], 750);
}

TEST_F(Devices, GrantsOfDevicesThatTheNodeLacksForAWhileAreHeldAgain) {
  see(granted(share("q", 200), "5", "5:250"));
  see(granted(share("p", 300), "7", "7:400"));
  step();
  for (const std::int64_t fewer : {0, 3, 7}) {  // a device plugin that restarts
    see(node("n", fewer));
    step();
    see(node("n", 8));
    step();
    EXPECT_EQ(free_milli(), (std::vector<std::int32_t>{1000, 1000, 1000, 1000, 1000, 750, 1000, 600})) << fewer;
    EXPECT_EQ(state.queues().used(QueueId(0u))[0], 650) << fewer;
  }
  see(share("beside", 600));
  step();
  EXPECT_EQ(devices_text(record("beside").devices), "7");
}

TEST_F(Devices, AnotherSchedulersPodIsCountedByNumberWhateverItSays) {
  see(holding(foreign(pod("f", 1)), "0-7"));
  see(holding(pod("p", 1), "0"));
  step();
  EXPECT_EQ(idle_devices("n"), 6);
  EXPECT_EQ(overfull(), 0u);
  see(pod("six", 6));
  step();
  EXPECT_EQ(where("six"), "n");
}

TEST_F(Devices, AClaimOfAnotherNumberOfDevicesCountsByNumberAndIsSaid) {
  see(holding(pod("p", 1), "0-7"));
  step();
  EXPECT_EQ(idle_devices("n"), 7);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0],
            "pod ns/p claims the GPUs '0-7' but requests 1; the requested number is counted, but it is not known which "
            "GPUs these are");
}

/// A manifest that was saved of a pod with GPUs, with the GPUs taken out: its binding writes no devices.
TEST_F(Devices, APodWithoutDevicesClaimsNoneWhateverItsManifestSays) {
  see(granted(pod("p", 0), "6,7", "6-7:1000"));
  see(holding(pod("q", 0), "0-7"));
  step();
  EXPECT_EQ(idle_devices("n"), 8);
  EXPECT_EQ(said, std::vector<std::string>());
}

TEST_F(Devices, DevicesThatTheNodeDoesNotHaveAreCountedByNumber) {
  see(holding(pod("p", 2), "7,8"));
  see(holding(pod("q", 1), "99"));
  step();
  EXPECT_EQ(free_milli()[7], 0);
  EXPECT_EQ(idle_devices("n"), 5);
  EXPECT_EQ(overfull(), 0u);
}

TEST_F(Devices, ThatANodeLacksForAWhileBelongToTheirPodsAgainWhenTheyAreBack) {
  see(holding(pod("p", 2), "0,1"));
  see(holding(share("q", 600), "5"));
  see(pod("own", 2));
  step();
  EXPECT_EQ(devices_text(record("own").devices), "2,3");
  for (const std::int64_t fewer : {0, 3}) {  // a device plugin that restarts
    see(node("n", fewer));
    step();
    see(node("n", 8));
    step();
    EXPECT_EQ(free_milli(), (std::vector<std::int32_t>{0, 0, 0, 0, 1000, 400, 1000, 1000})) << fewer;
    EXPECT_EQ(idle_devices("n"), 3) << fewer;
  }
  see(pod("new", 3));
  step();
  EXPECT_EQ(devices_text(record("new").devices), "4,6,7");
  EXPECT_EQ(overfull(), 0u);
}

TEST_F(Devices, ADeviceThatTwoPodsClaimIsClosedAndTheOtherIsCounted) {
  see(holding(pod("p", 1), "0"));
  see(holding(pod("q", 1), "0"));
  step();
  EXPECT_EQ(overfull(), 1u);
  EXPECT_TRUE(state.cluster().overfull_devices(NodeId(0u)) == parse_devices("0"));
  EXPECT_EQ(idle_devices("n"), 6);
  see(pod("seven", 7));
  see(pod("six", 6));
  step();
  EXPECT_EQ(where("seven"), "");
  EXPECT_EQ(where("six"), "n");
  EXPECT_FALSE(record("six").devices.test(0));
  gone(holding(pod("q", 1), "0"));
  gone(pod("six", 6));
  step();
  EXPECT_EQ(overfull(), 0u);
  EXPECT_EQ(where("seven"), "n");
}

TEST_F(Devices, ThatTheNodesAnnotationCallsUnhealthyTakeNoNewPods) {
  const auto with_unhealthy = [](const std::string& list, std::int64_t gpus = 8) {
    Node n = node("n", gpus);
    if (!list.empty()) n.annotations = {{PooledString("ashlar.dev/unhealthy-gpus"), PooledString(list)}};
    return n;
  };
  see(holding(pod("p", 1), "0"));
  see(with_unhealthy("0,2-3"));
  see(pod("six", 6));
  see(pod("five", 5));
  step();
  EXPECT_EQ(where("p"), "n");
  EXPECT_EQ(where("six"), "");
  EXPECT_EQ(devices_text(record("five").devices), "1,4,5,6,7");
  EXPECT_TRUE(said.empty()) << said[0];
  gone(pod("five", 5));
  see(with_unhealthy("0,2;3"));
  see(with_unhealthy("0,2;3"));
  step();
  EXPECT_EQ(said, (std::vector<std::string>{"annotation ashlar.dev/unhealthy-gpus of node n is not a list of GPUs such "
                                            "as 0,2-3: '0,2;3'; until it is corrected, GPUs 0,2,3 stay unhealthy"}));
  EXPECT_EQ(idle_devices("n"), 5);
  said.clear();
  see(with_unhealthy("3,8"));
  step();
  EXPECT_EQ(said, (std::vector<std::string>{"annotation ashlar.dev/unhealthy-gpus of node n names GPUs that the node "
                                            "does not have: '3,8', of 8 counted from 0; unhealthy GPUs: 3"}));
  EXPECT_EQ(where("six"), "n");
  said.clear();
  see(with_unhealthy(""));
  step();
  EXPECT_EQ(state.cluster().unhealthy_device_count(), 0u);
  EXPECT_TRUE(said.empty()) << said[0];
  gone(pod("six", 6));
  gone(pod("p", 1));
  gone(node("n", 8));
  see(with_unhealthy("1", 2));
  step();
  EXPECT_EQ(idle_devices("n"), 1);
}

TEST_F(Devices, AKeyThatIsNearlyTheUnhealthyAnnotationIsLoggedOnce) {
  const auto with = [](const std::string& annotation, const std::string& label) {
    Node n = node("n", 8);
    if (!annotation.empty()) n.annotations = {{PooledString(annotation), PooledString("2")}};
    if (!label.empty()) n.labels.push_back({PooledString(label), PooledString("2")});
    return n;
  };
  see(with("ashlar.dev/unhealthy-gpu", ""));
  see(with("ashlar.dev/unhealthy-gpu", ""));
  step();
  EXPECT_EQ(said, (std::vector<std::string>{"ashlar.dev/unhealthy-gpu of node n is not a known key; did you mean "
                                            "\"ashlar.dev/unhealthy-gpus\"?"}));
  said.clear();
  see(with("", "ashlar.dev/unhealthy-gpus"));
  step();
  EXPECT_EQ(said, (std::vector<std::string>{
                      "ashlar.dev/unhealthy-gpus of node n is ignored as a label; write it as an annotation"}));
  EXPECT_EQ(state.cluster().unhealthy_device_count(), 0u);
  said.clear();
  see(with("ashlar.dev/unhealthy-gpus", "ashlar.dev/cards"));
  step();
  EXPECT_TRUE(said.empty()) << said[0];
  EXPECT_EQ(state.cluster().unhealthy_device_count(), 1u);
}

TEST_F(Devices, ANodeWhoseAnnotationsKeepChangingLogsAFewLinesAMinute) {
  const auto flip = [&](int i) {
    Node n = node("n", 8);
    n.annotations = {{PooledString("ashlar.dev/unhealthy-gpus"), PooledString("x" + std::to_string(i))}};
    see(n);
  };
  for (int i = 0; i < 100; ++i) flip(i);
  ASSERT_EQ(said.size(), 6u);
  EXPECT_EQ(said[0].find("left out"), std::string::npos);
  EXPECT_TRUE(said[5].ends_with("; more lines like this are left out for a minute")) << said[5];
  time = time + Millis(60'000);
  flip(100);
  ASSERT_EQ(said.size(), 7u);
  EXPECT_TRUE(said[6].ends_with("(94 more lines like this were left out before)")) << said[6];
  Node other = node("m", 8);
  other.annotations = {{PooledString("ashlar.dev/unhealthy-gpus"), PooledString("y")}};
  see(other);
  EXPECT_EQ(said.size(), 8u) << "each node has its own lines";
}

TEST_F(Devices, APodWhoseClaimKeepsChangingLogsAFewLinesAMinute) {
  see(node("n", 8));
  see(pod("p", 1));
  see(pod("q", 1, {}, "other"));
  step();
  said.clear();
  const auto claim = [&](Pod p, const std::string& devices) {
    p.node_name = PooledString("n");
    see(annotated(p, "ashlar.dev/cards", devices));
  };
  for (int i = 0; i < 50; ++i) {
    claim(pod("p", 1), "7");
    claim(pod("p", 1), "0");
  }
  EXPECT_EQ(said.size(), 6u);
  claim(pod("q", 1, {}, "other"), "7");
  EXPECT_EQ(said.size(), 7u) << "each namespace has its own lines";
}

/// A node of eight GPUs with this in its annotation.
Node stated(const std::string& text, std::int64_t gpus = 8) {
  Node n = ClusterObjects::node("n", gpus);
  n.labels.push_back({PooledString("nvidia.com/gpu.memory"), PooledString("81920")});
  n.labels.push_back({PooledString("nvidia.com/gpu.product"), PooledString("H100")});
  if (!text.empty()) n.annotations = {{PooledString("ashlar.dev/gpus"), PooledString(text)}};
  return n;
}

/// A pod that asks for a model.
Pod of_model(Pod p, const std::string& model) {
  auto rules = std::make_shared<PodRules>();
  rules->node_selector = {{PooledString("nvidia.com/gpu.product"), PooledString(model)}};
  p.rules = rules;
  return p;
}

TEST_F(Devices, ThatTheNodesAnnotationTellsApartAreChosenByModelAndMemory) {
  see(stated("0-1 island=0; 2-3 model=A100 memory=40Gi island=1 numa=1 switch=2;4 sliced"));
  see(of_model(pod("p", 2), "A100"));
  see(of_model(pod("q", 3), "A100"));
  step();
  EXPECT_EQ(devices_text(record("p").devices), "2,3");
  EXPECT_EQ(where("q"), "");
  EXPECT_TRUE(said.empty()) << said[0];
  const DeviceLayout* mixed = state.cluster().mixed_layout(NodeId(0u));
  ASSERT_NE(mixed, nullptr);
  EXPECT_EQ(mixed->devices[0].memory, MiB(81920));
  EXPECT_EQ(mixed->devices[2].memory, MiB(40960));
  EXPECT_EQ(mixed->devices[2].numa_node, 1);
  EXPECT_EQ(mixed->devices[2].pcie_switch, 2);
  EXPECT_EQ(mixed->devices[4].mode, DeviceMode::kSliced);
  see(pod("rest", 6));
  see(of_model(pod("five", 5), "H100"));
  step();
  EXPECT_EQ(where("rest"), "");
  EXPECT_EQ(devices_text(record("five").devices), "0,1,5,6,7") << "GPU 4 is cut into slices";
}

TEST_F(Devices, AnAnnotationThatCannotBeReadLeavesWhatWasStated) {
  see(stated("0-3 model=A100"));
  see(stated("0-3 modle=A100"));
  see(stated("0-3 modle=A100"));
  step();
  const std::string how =
      " (write e.g. 0-3 model=NVIDIA-H100-80GB-HBM3 memory=80Gi; 4-7 model=NVIDIA-A100-SXM4-40GB sliced)";
  EXPECT_EQ(said, (std::vector<std::string>{
                      "annotation ashlar.dev/gpus of node n cannot be read: \"modle=A100\" is not known; did you mean "
                      "\"model=\"?; until it is corrected, the GPUs are as stated before" +
                      how}));
  EXPECT_NE(state.cluster().mixed_layout(NodeId(0u)), nullptr);
  said.clear();
  see(stated("6-9 model=A100"));
  step();
  EXPECT_EQ(said, (std::vector<std::string>{"annotation ashlar.dev/gpus of node n names GPUs that the node does not "
                                            "have, which are left out: '6-9 model=A100', of 8 counted from 0"}));
  said.clear();
  see(stated(""));
  step();
  EXPECT_EQ(state.cluster().mixed_layout(NodeId(0u)), nullptr);
  see(stated("0 1 model=A100"));
  step();
  EXPECT_EQ(said,
            (std::vector<std::string>{
                "annotation ashlar.dev/gpus of node n cannot be read: \"1\" is not known; known: model=, memory=, "
                "island=, numa=, switch=, sliced; until it is corrected, all GPUs are as the node's labels say" +
                how}));
}

TEST_F(Devices, AnAnnotationCountsFromWhenTheNodeHasGpus) {
  see(stated("0-1 model=A100", 0));
  step();
  EXPECT_EQ(state.cluster().devices()[0], 0);
  see(stated("0-1 model=A100", 4));
  step();
  ASSERT_NE(state.cluster().mixed_layout(NodeId(0u)), nullptr);
  EXPECT_EQ(state.cluster().mixed_layout(NodeId(0u))->devices.size(), 4u);
}

TEST_F(Devices, LayoutsThatNoNodeHasAreGivenBackAndTheirRowsUsedAgain) {
  const auto layouts = [&] { return state.cluster().layouts().rows(); };
  see(stated("0-3 model=A100"));
  step();
  EXPECT_EQ(layouts(), 1u);
  for (const char* text : {"0-3 model=B", "0-3 model=C", "0-3 model=D", "0-3 model=E"}) {
    see(stated(text));
    step();
  }
  EXPECT_EQ(layouts(), 2u);
  see(stated("0-3 model=H100"));
  step();
  step();
  EXPECT_EQ(state.cluster().facts(NodeId(0u)).devices.layout, DeviceLayoutId::none()) << "all are alike";
  gone(node("n", 8));
  see(stated("0-3 model=A100"));
  step();
  EXPECT_EQ(layouts(), 2u);
  EXPECT_NE(state.cluster().mixed_layout(NodeId(0u)), nullptr);
}

TEST_F(Devices, SharesBeyondOneDeviceCloseIt) {
  see(holding(share("p", 600), "0"));
  see(holding(share("q", 600), "0"));
  step();
  EXPECT_EQ(free_milli()[0], -200);
  EXPECT_EQ(overfull(), 1u);
  EXPECT_EQ(idle_devices("n"), 7);
  see(share("r", 100));
  step();
  EXPECT_EQ(where("r"), "n");
  EXPECT_FALSE(record("r").devices.test(0));
}

TEST_F(Devices, WhatSomebodyElseWritesOnABoundPodChangesNothing) {
  see(share("p", 600));
  step();
  EXPECT_EQ(devices_text(record("p").devices), "0");
  for (int i = 0; i < 3; ++i) see(holding(share("p", 600), "7"));
  step();
  EXPECT_EQ(devices_text(record("p").devices), "0");
  EXPECT_EQ(free_milli()[0], 400);
  EXPECT_EQ(free_milli()[7], 1000);
  EXPECT_EQ(changed, std::vector<std::string>{"p"}) << "told once";
  see(holding(share("p", 600), "0"));
  see(holding(share("p", 600), ""));
  EXPECT_EQ(changed.size(), 2u);
  Pod resized = holding(share("p", 600), "7");
  resized.requests.cpu = MilliCores(2000);
  see(resized);
  step();
  EXPECT_EQ(free_milli()[0], 400) << "a resize does not make it believed";
}

}  // namespace
}  // namespace ashlar::kube
