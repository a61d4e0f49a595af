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

}  // namespace
}  // namespace ashlar::kube
