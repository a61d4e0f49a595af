// What is said of pods that wait for something that is on no node: a volume, a topology label.
#include <gtest/gtest.h>

#include <string>

#include "volume_bench.h"

namespace ashlar::kube {
namespace {

constexpr const char* kZone = "topology.kubernetes.io/zone";

class NowhereText : public VolumeBench {
 protected:
  std::string headline(const std::string& name) {
    const TextContext context{tracker.tables(), state, state.now()};
    const JobId job = record(name).job;
    return headline_text(context, job, reported_reasons(context, job, engine.verdict_of(job)), "now");
  }
};

TEST_F(NowhereText, AClaimForWhichThereIsNoVolumeWaitsForOne) {
  for (const char* zone : {"a", "b", "c"}) see(node(std::string("n-") + zone, 8, {{kZone, zone}}));
  see(storage_class("late", "kubernetes.io/no-provisioner"));
  see(at(volume("small"), kZone, {"a"}));
  see(claim("data", "late", 5));
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(verdict_of("p").message,
            "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind.");
  EXPECT_EQ(headline("p"),
            "3 nodes are excluded by its volumes: there is no volume that its claim \"data\" (storage class \"late\") "
            "could be "
            "bound to, and none can be made");
  see(at(volume("large", "late", 9), kZone, {"b"}));
  step();
  EXPECT_EQ(where("p"), "n-b");
}

TEST_F(NowhereText, ATopologyLabelThatNoNodeHasIsNamed) {
  see(node("n0", 8, {{"l/rack", "r0"}}));
  PodRules apart, beside;
  TopologySpread spread;
  spread.selector = {.present = true, .match_labels = {{"app", "web"}}};
  for (const char* key : {"l/rack", "l/room"}) {
    spread.topology_key = key;
    apart.spread.push_back(spread);
  }
  beside.required_pod_affinity = {{.selector = spread.selector, .topology_key = "l/room"}};
  see(under(pod("apart", 1), apart));
  see(under(pod("beside", 1), beside));
  step();
  EXPECT_EQ(headline("apart"), "1 node is excluded by its topology spread constraints: no node has the label l/room");
  EXPECT_EQ(
      verdict_of("apart").message,
      "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label).");
  EXPECT_EQ(headline("beside"), "1 node is excluded by its pod affinity: no node has the label l/room");
  see(node("n1", 8, {{"l/rack", "r0"}, {"l/room", "a"}}));
  step();
  EXPECT_EQ(headline("beside"),
            "2 nodes are excluded by its pod affinity: no domain of l/room has pods with app=web; 1 "
            "node lacks the label");
}

TEST_F(NowhereText, TheLabelThatWasProbablyMeantIsNamed) {
  see(node("n0", 8, {{kZone, "a"}}));
  PodRules apart, beside;
  TopologySpread spread;
  spread.selector = {.present = true, .match_labels = {{"app", "web"}}};
  spread.topology_key = "zone";
  apart.spread = {spread};
  beside.required_pod_affinity = {{.selector = spread.selector, .topology_key = "topology.kubernetes.io/zones"}};
  see(under(pod("apart", 1), apart));
  see(under(pod("beside", 1), beside));
  see(with(gang_pod("g", 0, 1, 1), "ashlar.dev/within", "zone"));
  step();
  const std::string meant = " (did you mean \"topology.kubernetes.io/zone\"?)";
  EXPECT_EQ(headline("apart"),
            "1 node is excluded by its topology spread constraints: no node has the label zone" + meant);
  EXPECT_EQ(headline("beside"),
            "1 node is excluded by its pod affinity: no node has the label topology.kubernetes.io/zones" + meant);
  EXPECT_EQ(waits("g-0"),
            "0/1 nodes are available: gang g must stay within one domain of zone, but no node has that "
            "label" +
                meant + ".");
}

TEST_F(NowhereText, TheLevelThatWasProbablyMeantIsNamed) {
  see(node("n0", 8, {{kZone, "a"}}));
  see(with(gang_pod("g", 0, 1, 1), "ashlar.dev/within", "rak"));
  step();
  EXPECT_EQ(hold_of("g-0").detail,
            "gang g must stay within one domain of rak, but no node has that label (did you mean \"rack\"?)");
  see(node("n0", 8, {{"l/block", "b"}, {"l/rac", "r"}}));
  see(with(gang_pod("h", 0, 1, 1), "ashlar.dev/within", "rack"));
  step();
  EXPECT_EQ(verdict_of("h-0").message,
            "0/1 nodes are available. Gang h of 1: no node has the label l/rack (did you mean \"l/rac\"?).");
}

}  // namespace
}  // namespace ashlar::kube
