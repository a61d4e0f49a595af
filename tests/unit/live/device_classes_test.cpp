// Device classes of the configuration: nodes and limits by any of their names, pods that name classes and capabilities.
#include "apijson/api_json.h"
#include "kubeclient/decode/decode.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

const std::string kProduct = "nvidia.com/gpu.product";

class Classes : public TrackerBench {
 protected:
  Classes()
      : TrackerBench(TrackerOptions{
            .queues = {{"team", "", {kUnlimited, kUnlimited, kUnlimited}, {{"nvidia.com/gpu", "H100-PCIe", 3'000}}}},
            .device_classes = {{"H100", {"H100-SXM", "H100-PCIe"}, {"fp8", "nvlink"}}, {"A100", {}, {"mig"}}}}) {}
  static Node of_model(const std::string& name, const std::string& model, std::int64_t gpus = 2) {
    return node(name, gpus, {{PooledString(kProduct), PooledString(model)}});
  }
  /// As the API server has it, with this in its metadata and spec.
  static Pod stated(const std::string& name, int gpus, const std::string& metadata, const std::string& spec = "") {
    const std::string text = R"({"metadata":{"namespace":"ns","name":")" + name + R"(","uid":"uid-ns-)" + name +
                             R"(",)" + metadata + R"(},"spec":{"schedulerName":"ashlar",)" + spec +
                             R"("containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":")" +
                             std::to_string(gpus) + R"("},"requests":{"nvidia.com/gpu":")" + std::to_string(gpus) +
                             R"("}}}]}})";
    Result<Pod> read = object_of_json<Pod>(text);
    EXPECT_TRUE(read.ok()) << text;
    return read.ok() ? std::move(read).value() : Pod();
  }
  static std::string annotation(const std::string& key, const std::string& value) {
    return R"("annotations":{"ashlar.dev/)" + key + R"(":")" + value + R"("})";
  }
  static Pod capable(const std::string& name, int gpus, const std::string& capabilities) {
    return stated(name, gpus, annotation("gpu-capabilities", capabilities));
  }
  static Pod of_classes(const std::string& name, int gpus, const std::string& classes) {
    return stated(name, gpus, annotation("gpu-classes", classes));
  }
  static Pod selecting(const std::string& name, int gpus, const std::string& model) {
    return stated(name, gpus, R"("labels":{"a":"b"})", R"("nodeSelector":{")" + kProduct + R"(":")" + model + R"("},)");
  }
  std::string held(const std::string& name) {
    const PodRecord& r = record(name);
    return r.phase == PodRecord::Phase::kHeld && r.hold == HoldReason::kMalformed ? r.hold_detail.str() : "not held";
  }
};

TEST_F(Classes, NodesOfAllItsModelsAreOfTheClass) {
  see(of_model("a", "H100-SXM"));
  see(of_model("b", "H100-PCIe"));
  see(of_model("c", "H100"));
  see(of_model("d", "L4"));
  step();
  const auto class_of = [&](const char* name) {
    return tracker.names().models.name(state.cluster().models()[tracker.names().nodes.find(PooledString(name)).row()]);
  };
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(class_of(name), "H100") << name;
  EXPECT_EQ(class_of("d"), "L4") << "a model that no class lists is one of its own";
}

TEST_F(Classes, PodsThatNameCapabilitiesGetGpusThatHaveThem) {
  see(of_model("h", "H100-SXM"));
  see(of_model("a", "A100"));
  see(capable("p", 1, "fp8, nvlink"));
  see(capable("q", 1, "mig"));
  see(stated("by-label", 1, R"("labels":{"ashlar.dev/gpu-capabilities":"mig"})"));
  see(capable("r", 1, "mig"));
  see(capable("s", 1, "fp8,mig"));
  step();
  EXPECT_EQ(where("p"), "h");
  EXPECT_EQ(where("q"), "a");
  EXPECT_EQ(where("by-label"), "a");
  EXPECT_EQ(where("r"), "");
  EXPECT_EQ(where("s"), "");
  EXPECT_EQ(verdict_of("r").message,
            "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had no GPU with the capability mig.");
  EXPECT_EQ(verdict_of("s").message,
            "0/2 nodes are available: 1 node(s) had no GPU with the capability fp8, 1 node(s) had no GPU with the "
            "capability mig. It would not fit this cluster even if it were empty.");
}

TEST_F(Classes, AnotherAnnotationIsHeededWhileThePodWaits) {
  see(of_model("a", "A100"));
  see(capable("p", 1, "fp8"));
  step();
  EXPECT_EQ(where("p"), "");
  see(capable("p", 1, "mig"));
  step();
  EXPECT_EQ(where("p"), "a");
}

TEST_F(Classes, APodThatNamesAClassMayHaveAnyOfItsModels) {
  see(of_model("sxm", "H100-SXM"));
  see(of_model("pcie", "H100-PCIe"));
  see(of_model("a", "A100", 8));
  see(of_model("l", "L4", 1));
  for (const char* name : {"p", "q"}) see(of_classes(name, 2, "H100"));
  see(of_classes("r", 1, "H100-SXM,L4"));
  step();
  EXPECT_EQ(where("p") + where("q"), where("p") == "sxm" ? "sxmpcie" : "pciesxm");
  EXPECT_EQ(where("r"), "l");
}

/// The kubelet compares the labels by itself and would reject a pod on a node with another one.
TEST_F(Classes, ANodeSelectorOfAModelIsOfThatLabelAlone) {
  see(of_model("sxm", "H100-SXM", 8));
  see(of_model("pcie", "H100-PCIe", 2));
  see(selecting("p", 2, "H100-PCIe"));
  see(selecting("q", 1, "H100-PCIe"));
  see(selecting("r", 1, "H100"));
  step();
  EXPECT_EQ(where("p"), "pcie");
  EXPECT_EQ(where("q"), "");
  EXPECT_EQ(where("r"), "") << "no node has this label";
}

TEST_F(Classes, ANodeAffinityOfItsModelsIsOfTheirLabelsToo) {
  see(of_model("h", "H100", 8));
  see(of_model("sxm", "H100-SXM", 2));
  const std::string terms =
      R"([{"matchExpressions":[{"key":")" + kProduct + R"(","operator":"In","values":["H100-SXM","H100-PCIe"]}]}])";
  see(stated("p", 1, R"("labels":{"a":"b"})",
             R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)" +
                 terms + "}}},"));
  step();
  EXPECT_EQ(where("p"), "sxm");
  const Constraint& c = tracker.translator().constraint_of(record("p").constraint);
  EXPECT_EQ(c.models.size(), 1u) << "both are of one class";
  EXPECT_EQ(c.any_of.size(), 1u);
}

TEST_F(Classes, ANodeSelectorBesideClassesMustHoldToo) {
  see(of_model("sxm", "H100-SXM"));
  see(of_model("l", "L4"));
  see(stated("p", 1, annotation("gpu-classes", "L4"), R"("nodeSelector":{")" + kProduct + R"(":"H100-SXM"},)"));
  see(stated("q", 1, annotation("gpu-classes", "H100"), R"("nodeSelector":{")" + kProduct + R"(":"H100-SXM"},)"));
  step();
  EXPECT_EQ(where("p"), "");
  EXPECT_EQ(where("q"), "sxm");
}

TEST_F(Classes, OfANodeWithSeveralEachGpuIsJudgedByItself) {
  Node both = node("both", 4);
  both.annotations = {{PooledString(kStatedDevicesAnnotation), PooledString("0-1 model=H100-PCIe; 2-3 model=A100")}};
  see(both);
  see(capable("p", 1, "mig"));
  see(capable("q", 2, "fp8"));
  see(of_classes("r", 1, "A100"));
  step();
  EXPECT_EQ(devices_text(record("p").devices), "2");
  EXPECT_EQ(devices_text(record("q").devices), "0,1");
  EXPECT_EQ(devices_text(record("r").devices), "3");
}

TEST_F(Classes, ALimitOfOneModelIsOfItsClass) {
  see(of_model("sxm", "H100-SXM", 8));
  for (const char* name : {"p", "q"}) see(stated(name, 2, R"("labels":{"ashlar.dev/queue":"team"})"));
  step();
  EXPECT_EQ(where("p"), "sxm");
  EXPECT_EQ(where("q"), "");
  EXPECT_EQ(verdict_of("q").message, "QuotaExhausted: queue team uses 2 of its 3 GPUs on H100 nodes");
}

TEST_F(Classes, WhatCannotBeReadOrMetHoldsThePod) {
  see(of_model("h", "H100"));
  const std::pair<Pod, const char*> cases[] = {
      {capable("p", 1, "fp9"),
       "ashlar.dev/gpu-capabilities: no device class of the configuration has the capability \"fp9\"; did you mean "
       "\"fp8\"?"},
      {capable("q", 1, "fp8,,mig"),
       "ashlar.dev/gpu-capabilities: \"fp8,,mig\" is not a list of names separated by commas"},
      {capable("r", 1, ""), "ashlar.dev/gpu-capabilities: \"\" is not a list of names separated by commas"},
      {of_classes("s", 1, ","), "ashlar.dev/gpu-classes: \",\" is not a list of names separated by commas"},
      {capable("t", 0, "fp8"),
       "requests ashlar.dev/gpu-capabilities but no GPU; add nvidia.com/gpu or ashlar.dev/gpu-milli to "
       "resources.limits"},
      {stated("u", 1, annotation("gpu-capabilites", "fp8")),
       "ashlar.dev/gpu-capabilites is not a known key; did you mean \"ashlar.dev/gpu-capabilities\"?"},
  };
  for (const auto& [pod, text] : cases) see(pod);
  step();
  for (const auto& [pod, text] : cases) EXPECT_EQ(held(pod.name.str()), text);
  see(capable("p", 1, "fp8"));
  step();
  EXPECT_EQ(where("p"), "h");
}

/// Nobody but the pod knows the class, so the pod waits until a node comes that has it; its condition names what it may have meant.
TEST_F(Classes, AClassThatNobodyKnowsIsReportedWithTheKnownOnes) {
  see(of_model("sxm", "H100-SXM"));
  see(of_model("l", "L40S"));
  const auto told = [&](const char* name) { return verdict_of(name).message; };
  const std::string refused =
      "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. It would not fit this cluster "
      "even "
      "if it were empty. No node has GPUs of ";
  see(of_classes("typo", 1, "H10O"));
  see(of_classes("far", 1, "MI300X"));
  see(of_classes("second", 4, "H100,L4OS"));
  see(selecting("selects", 1, "L40X"));
  see(of_classes("scarce", 4, "A100"));
  see(of_classes("model", 1, "H100-PCIe"));
  step();
  EXPECT_EQ(told("typo"),
            refused + "\"H10O\", and no device class of the configuration has that name; did you mean \"H100\"?");
  const JobId typo = record("typo").job;
  const Reason mismatch{ReasonCode::kModelMismatch, 0, {2, 0, 0}};
  EXPECT_EQ(
      reason_text({tracker.tables(), state}, typo, mismatch),
      "2 nodes have GPUs of another model: no node has GPUs of \"H10O\", and no device class of the configuration "
      "has that name; did you mean \"H100\"?");
  EXPECT_EQ(reason_text({tracker.tables(), state}, record("scarce").job, mismatch),
            "2 nodes have GPUs of another model");
  EXPECT_EQ(told("far"), refused +
                             "\"MI300X\", and no device class of the configuration has that name; known: H100, "
                             "A100, L40S.");
  EXPECT_TRUE(
      told("second").ends_with("No node has GPUs of \"L4OS\", and no device class of the configuration has "
                               "that name; did you mean \"L40S\"?"))
      << told("second");
  EXPECT_TRUE(
      told("selects").ends_with("\"L40X\", and no device class of the configuration has that name; did you mean "
                                "\"L40S\"?"))
      << told("selects");
  EXPECT_EQ(told("scarce").find("No node has GPUs of"), std::string::npos) << "the configuration has it";
  EXPECT_EQ(where("model"), "sxm") << "any model of the class will do";
  see(of_model("mi", "MI300X"));
  step();
  EXPECT_EQ(where("far"), "mi");
}

TEST_F(Classes, AGangReportsAClassThatOneOfItsPodsMistakes) {
  see(of_model("sxm", "H100-SXM", 8));
  for (int i = 0; i < 2; ++i)
    see(stated("g-" + std::to_string(i), 1,
               R"("annotations":{"ashlar.dev/gang":"g","ashlar.dev/gang-size":"2")" +
                   std::string(i == 1 ? R"(,"ashlar.dev/gpu-classes":"H10O"})" : "}")));
  step();
  EXPECT_TRUE(
      verdict_of("g-0").message.ends_with("No node has GPUs of \"H10O\", and no device class of the "
                                          "configuration has that name; did you mean \"H100\"?"))
      << verdict_of("g-0").message;
}

/// A class whose models nobody names for a while keeps its row.
TEST_F(Classes, KeepTheirRowsWhenNamesAreGivenBack) {
  const DeviceClassId before = tracker.names().device_class(PooledString("H100-SXM"));
  tracker.names().keep_only({});
  EXPECT_EQ(tracker.names().device_class(PooledString("H100-SXM")), before);
  EXPECT_EQ(tracker.names().models.name(before), "H100");
}

}  // namespace
}  // namespace ashlar::kube
