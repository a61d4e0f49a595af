// Required anti-affinity whose selector is absent: it means no pod, and is valid.
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class TermsOfNobody : public TrackerBench {
 protected:
  /// On nodes of the zone; away from no pod.
  static Pod alone_in(const std::string& name, const std::string& zone) {
    PodRules rules;
    rules.node_selector = {{PooledString("zone"), PooledString(zone)}};
    PodAffinityTerm term;
    term.topology_key = PooledString("zone");
    rules.required_anti_affinity = {term};
    return under(pod(name, 1), rules);
  }
};

/// The row of the pod's node selector was given back while the engine still had it: the next use of the row ended the
/// scheduler.
TEST_F(TermsOfNobody, ABoundPodKeepsTheConstraintThatTheEngineHasOfIt) {
  for (const char* zone : {"a", "b"}) see(node(zone, 8, {{PooledString("zone"), PooledString(zone)}}));
  see(alone_in("p", "a"));
  for (int i = 0; i < 3; ++i) step();
  ASSERT_EQ(where("p"), "a");
  see(alone_in("q", "b"));
  for (int i = 0; i < 3; ++i) step();
  EXPECT_EQ(where("q"), "b");
  gone(alone_in("p", "a"));
  step();
  see(alone_in("r", "a"));
  for (int i = 0; i < 3; ++i) step();
  EXPECT_EQ(where("r"), "a");
}

}  // namespace
}  // namespace ashlar::kube
