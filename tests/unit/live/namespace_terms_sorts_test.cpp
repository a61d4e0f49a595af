// Each sort of term about other pods counts towards the limit of a namespace.
#include <gtest/gtest.h>

#include <functional>

#include "live/track/company/namespace_terms.h"

namespace ashlar::kube::term_sorts {
namespace {

const PooledString kNs("ns");

PodAffinityTerm sorted_term(const char* key = "zone") {
  PodAffinityTerm t;
  t.topology_key = key;
  t.selector.present = true;
  return t;
}
TopologySpread sorted_spread(const char* key = "zone", const char* by = "revision", const char* app = "web") {
  TopologySpread s;
  s.topology_key = key;
  s.selector.present = true;
  s.selector.match_labels = {{PooledString("app"), PooledString(app)}};
  s.match_label_keys = {PooledString(by)};
  return s;
}
PodRecord pod_of_terms(PodRules rules, const PooledString& ns = kNs) {
  PodRecord pod;
  pod.ns = ns;
  pod.rules = std::make_shared<const PodRules>(std::move(rules));
  return pod;
}

TEST(NamespaceTermsSorts, TermsOfEachSortCountAndThoseOfUnlikeSortsAreUnlike) {
  const std::vector<std::function<void(PodRules&)>> sorts = {
      [](PodRules& r) { r.required_anti_affinity.push_back(sorted_term()); },
      [](PodRules& r) { r.required_pod_affinity.push_back(sorted_term()); },
      [](PodRules& r) {
        r.preferred_anti_affinity.push_back({1, sorted_term()});
      },
      [](PodRules& r) {
        r.preferred_anti_affinity.push_back({2, sorted_term()});
      },
      [](PodRules& r) {
        r.preferred_pod_affinity.push_back({1, sorted_term()});
      },
      [](PodRules& r) {
        r.preferred_pod_affinity.push_back({2, sorted_term()});
      },
      [](PodRules& r) { r.spread.push_back(sorted_spread()); },
      [](PodRules& r) { r.spread.push_back(sorted_spread("rack")); },
      [](PodRules& r) { r.spread.push_back(sorted_spread("zone", "release")); },
      [](PodRules& r) { r.spread.push_back(sorted_spread("zone", "revision", "db")); },
      [](PodRules& r) { r.preferred_spread.push_back(sorted_spread()); },
  };
  NamespaceTerms terms;
  std::vector<PodRecord> pods;
  std::size_t count = 0;
  for (const auto& add : sorts) {
    PodRules rules;
    add(rules), add(rules);
    pods.push_back(pod_of_terms(std::move(rules)));
    terms.note(pods.back());
    EXPECT_TRUE(terms.lets_in(pods.back(), static_cast<PodSlot>(pods.size())));
    EXPECT_EQ(terms.terms_in(kNs), count += 2) << pods.size();
  }
  EXPECT_EQ(terms.kinds(), sorts.size());
  PodRules rules;
  sorts.front()(rules), sorts.front()(rules);
  pods.push_back(pod_of_terms(std::move(rules), PooledString("other")));
  terms.note(pods.back());
  EXPECT_EQ(terms.kinds(), sorts.size() + 1) << "another namespace";
  for (PodRecord& pod : pods) terms.forget(pod);
  EXPECT_EQ(terms.kinds(), 0u);
  EXPECT_EQ(terms.terms_in(kNs), 0u);
}

}  // namespace
}  // namespace ashlar::kube::term_sorts
