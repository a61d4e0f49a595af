// What is said of pods that taints keep off nodes: the taint that most nodes have, and what helps.
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class Tolerations : public TrackerBench {
 protected:
  static Node tainted(const std::string& name, const std::string& key, const std::string& value,
                      kube::TaintEffect effect = kube::TaintEffect::kNoSchedule) {
    Node n = node(name, 8);
    n.taints = {{PooledString(key), PooledString(value), effect}};
    return n;
  }
  std::string text_of_pod() {
    const TextContext context{tracker.tables(), state, state.now()};
    const JobId job = record("p").job;
    return reason_text(context, job, engine.verdict_of(job).reasons.at(0));
  }
  /// The part, or else the whole text.
  std::string found(const std::string& part) {
    const std::string text = text_of_pod();
    return text.find(part) == std::string::npos ? text : part;
  }
};

TEST_F(Tolerations, ATaintIsNamedWithWhatToleratesIt) {
  see(tainted("n0", "team", "blue"));
  see(pod("p", 0));
  step();
  EXPECT_EQ(text_of_pod(),
            "1 node has a taint that is not tolerated: team=blue:NoSchedule; tolerated by {key: team, value: \"blue\", "
            "effect: NoSchedule}");
}

TEST_F(Tolerations, OfSeveralTaintsThatOfMostNodesIsNamedFirst) {
  see(tainted("n0", "team", "blue"));
  for (const char* name : {"n1", "n2"}) see(tainted(name, "spot", "", kube::TaintEffect::kNoExecute));
  see(pod("p", 0));
  step();
  EXPECT_EQ(text_of_pod(),
            "3 nodes have taints that are not tolerated: 2 of them spot:NoExecute (tolerated by {key: spot, operator: "
            "Exists, effect: NoExecute}), 1 of them team=blue:NoSchedule (tolerated by {key: team, value: \"blue\", "
            "effect: NoSchedule})");
}

TEST_F(Tolerations, ThreeAreNamedAndTheOthersCounted) {
  for (int n = 0; n < 5; ++n) see(tainted("n" + std::to_string(n), "node.kubernetes.io/t" + std::to_string(n), ""));
  see(pod("p", 0));
  step();
  const std::string cure = " (Kubernetes removes it once the node is in order)";
  EXPECT_EQ(text_of_pod(), "5 nodes have taints that are not tolerated: 1 of them node.kubernetes.io/t0:NoSchedule" +
                               cure + ", 1 of them node.kubernetes.io/t1:NoSchedule" + cure +
                               ", 1 of them node.kubernetes.io/t2:NoSchedule" + cure + ", and 2 more taints");
}

TEST_F(Tolerations, ThoseOfNodesThatThePodDoesNotNameAreLeftOut) {
  Node named = tainted("n0", "team", "blue");
  named.labels = {{PooledString("pool"), PooledString("a")}};
  see(named);
  for (const char* name : {"n1", "n2"}) see(tainted(name, "spot", ""));
  PodRules rules;
  rules.node_selector = {{PooledString("pool"), PooledString("a")}};
  see(under(pod("p", 0), rules));
  step();
  EXPECT_EQ(text_of_pod(),
            "1 node has a taint that is not tolerated: team=blue:NoSchedule; tolerated by {key: team, value: \"blue\", "
            "effect: NoSchedule}");
}

TEST_F(Tolerations, OfATaintThatKubernetesSetsItIsSaidWhatRemovesIt) {
  Node cordoned = node("n0", 8);
  cordoned.unschedulable = true;
  see(cordoned);
  see(pod("p", 0));
  step();
  EXPECT_EQ(text_of_pod(),
            "1 node has a taint that is not tolerated: node.kubernetes.io/unschedulable:NoSchedule; kubectl uncordon "
            "NODE removes it");
}

TEST_F(Tolerations, OfOneThatKubernetesRemovesByItselfThatIsSaid) {
  see(tainted("n0", "team", "blue"));
  for (const char* name : {"n1", "n2"}) see(tainted(name, "node.kubernetes.io/not-ready", ""));
  see(pod("p", 0));
  step();
  EXPECT_EQ(text_of_pod(),
            "3 nodes have taints that are not tolerated: 2 of them node.kubernetes.io/not-ready:NoSchedule (Kubernetes "
            "removes it once the node is in order), 1 of them team=blue:NoSchedule (tolerated by {key: team, value: "
            "\"blue\", effect: NoSchedule})");
}

TEST_F(Tolerations, OfFourTheLastIsOneTaint) {
  for (int n = 0; n < 4; ++n) see(tainted("n" + std::to_string(n), "k" + std::to_string(n), ""));
  see(pod("p", 0));
  step();
  EXPECT_TRUE(text_of_pod().ends_with(", and 1 more taint")) << text_of_pod();
}

TEST_F(Tolerations, ThoseOfACloudAreRemovedByItAndKeysThatOnlyBeginLikeThemAreNot) {
  see(tainted("n0", "node.cloudprovider.kubernetes.io/uninitialized", "true"));
  see(tainted("n1", "node.cloudprovider.example/x", ""));
  see(tainted("n2", "node.kubernetes.example/x", ""));
  see(pod("p", 0));
  step();
  for (const char* part : {"uninitialized=true:NoSchedule (Kubernetes removes it once the node is in order)",
                           "tolerated by {key: node.cloudprovider.example/x, operator: Exists, effect: NoSchedule}",
                           "tolerated by {key: node.kubernetes.example/x, operator: Exists, effect: NoSchedule}"})
    EXPECT_EQ(found(part), part);
}

TEST_F(Tolerations, TaintsThatDifferInOnePartAreSeveral) {
  see(tainted("n0", "team", "blue"));
  see(tainted("n1", "team", "blue", kube::TaintEffect::kNoExecute));
  see(tainted("n2", "pool", "blue"));
  see(pod("p", 0));
  step();
  for (const char* part :
       {"1 of them team=blue:NoSchedule", "1 of them team=blue:NoExecute", "1 of them pool=blue:NoSchedule"})
    EXPECT_EQ(found(part), part);
}

TEST_F(Tolerations, OnlyThoseOfNodesThatThePodNamesByAffinityOrModelCount) {
  PodRules by_affinity, by_model;
  by_affinity.has_required_affinity = true;
  by_affinity.required_affinity = {{.expressions = {{"pool", SelectorOp::kNotIn, {"b"}}}, .fields = {}}};
  by_model.gpu_classes = PooledString("H100");
  for (const bool is_by_model : {false, true}) {
    Node named = tainted("n0", "team", "blue");
    named.labels = {{"pool", "a"}, {"nvidia.com/gpu.product", "H100"}};
    see(named);
    for (const char* name : {"n1", "n2"}) {
      Node other = tainted(name, "spot", "");
      other.labels = {{"pool", "b"}, {"nvidia.com/gpu.product", "A100"}};
      see(other);
    }
    Pod p = pod("p", 1);
    if (is_by_model) p = annotated(std::move(p), "ashlar.dev/gpu-classes", "H100");
    see(under(p, is_by_model ? by_model : by_affinity));
    step();
    const std::string part = "1 node has a taint that is not tolerated: team=blue:NoSchedule;";
    EXPECT_EQ(found(part), part);
    gone(p);
    step();
  }
}

}  // namespace
}  // namespace ashlar::kube
