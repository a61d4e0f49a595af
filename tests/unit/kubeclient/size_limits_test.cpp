// What is kept of a pod that is far larger than any real one, in both encodings.
#include "kubeclient/size_limits.h"

#include <gtest/gtest.h>

#include <functional>

#include "envelope.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/proto/messages.h"

namespace ashlar::kube {
namespace {
namespace limits {

constexpr int kMany = 5'000;  // values of 8 bytes: 120,000 bytes

std::string value(int i) { return "v" + std::to_string(1'000'000 + i); }

/// The pod, and the strings that live as long as it does.
struct Kept {
  Pod pod;
  std::int64_t strings = 0;
};
Kept kept(const std::function<void(pb::Pod&)>& fill) {
  const auto before = static_cast<std::int64_t>(PooledString::pool_size().strings);
  pb::Pod message;
  message.mutable_metadata()->set_name("p");
  fill(message);
  Result<Pod> pod = decode_object<Pod>(in_envelope(message));
  EXPECT_TRUE(pod.ok());
  if (!pod.ok()) return {};
  return {*pod, static_cast<std::int64_t>(PooledString::pool_size().strings) - before};
}

void add_affinity(pb::Pod& message, int values) {
  auto& expression = *message.mutable_spec()
                          ->mutable_affinity()
                          ->mutable_nodeaffinity()
                          ->mutable_requiredduringschedulingignoredduringexecution()
                          ->add_nodeselectorterms()
                          ->add_matchexpressions();
  expression.set_key("k");
  expression.set_operator_("In");
  for (int i = 0; i < values; ++i) expression.add_values(value(i));
}

}  // namespace limits

using namespace limits;  // NOLINT(google-build-using-namespace): beside those of other files

TEST(PodLimits, AWaitingPodWithHugeNodeAffinityKeepsNothingOfIt) {
  const Kept huge = kept([](pb::Pod& message) { add_affinity(message, kMany); });
  EXPECT_EQ(huge.pod.rules->too_large,
            "spec.affinity.nodeAffinity has 120033 bytes; the limit of a pod's selectors, affinity, tolerations and "
            "host ports is 65536 bytes (each key and value counts 16 more than its length)");
  EXPECT_FALSE(huge.pod.rules->has_required_affinity);
  EXPECT_TRUE(huge.pod.rules->required_affinity.empty());
  EXPECT_LT(huge.strings, 20);
  EXPECT_TRUE(huge.pod.problem.empty());
}

TEST(PodLimits, TheLimitIsTheLastSizeThatIsKept) {
  const auto with_rest = [](std::size_t rest) {
    return kept([&](pb::Pod& message) {
      add_affinity(message, 2'000);  // 16 of the term, 17 of the key, 24 of each value
      message.mutable_spec()
          ->mutable_affinity()
          ->mutable_nodeaffinity()
          ->mutable_requiredduringschedulingignoredduringexecution()
          ->mutable_nodeselectorterms(0)
          ->mutable_matchexpressions(0)
          ->add_values(std::string(rest, 'x'));
    });
  };
  const std::size_t rest = kPodBytesMax - 33 - 2'000 * 24 - kEntryBytes;
  EXPECT_TRUE(with_rest(rest).pod.rules->too_large.empty());
  EXPECT_EQ(with_rest(rest).pod.rules->required_affinity.size(), 1u);
  EXPECT_FALSE(with_rest(rest + 1).pod.rules->too_large.empty());
}

TEST(PodLimits, EmptyTermsAndValuesCountToo) {
  const Kept terms = kept([](pb::Pod& message) {
    auto& required = *message.mutable_spec()
                          ->mutable_affinity()
                          ->mutable_nodeaffinity()
                          ->mutable_requiredduringschedulingignoredduringexecution();
    for (int i = 0; i < kMany; ++i) required.add_nodeselectorterms();
  });
  EXPECT_FALSE(terms.pod.rules->too_large.empty());
  const Kept tolerations = kept([](pb::Pod& message) {
    for (int i = 0; i < kMany; ++i) message.mutable_spec()->add_tolerations()->set_operator_("Exists");
  });
  EXPECT_TRUE(tolerations.pod.rules->too_large.view().starts_with("spec.tolerations has 160000 bytes"));
  EXPECT_TRUE(tolerations.pod.rules->tolerations.empty());
}

TEST(PodLimits, WhatNoLongerMattersOfABoundPodIsLeftOutWithoutAWord) {
  const Kept bound = kept([](pb::Pod& message) {
    add_affinity(message, kMany);
    message.mutable_spec()->set_nodename("n");
    auto& term = *message.mutable_spec()
                      ->mutable_affinity()
                      ->mutable_podantiaffinity()
                      ->add_requiredduringschedulingignoredduringexecution();
    term.set_topologykey("rack");
    auto& port = *message.mutable_spec()->add_containers()->add_ports();
    port.set_hostport(80);
  });
  EXPECT_TRUE(bound.pod.rules->too_large.empty() && bound.pod.problem.empty());
  EXPECT_FALSE(bound.pod.lacks_amounts);
  EXPECT_TRUE(bound.pod.rules->required_affinity.empty());
  EXPECT_EQ(bound.pod.rules->host_ports.size(), 1u);
  EXPECT_EQ(bound.pod.rules->required_anti_affinity.size(), 1u);
}

TEST(PodLimits, HugeAntiAffinityOfABoundPodCountsAgainstEveryPod) {
  const Kept bound = kept([](pb::Pod& message) {
    message.mutable_spec()->set_nodename("n");
    for (const char* key : {"rack", "zone", "rack"}) {
      auto& term = *message.mutable_spec()
                        ->mutable_affinity()
                        ->mutable_podantiaffinity()
                        ->add_requiredduringschedulingignoredduringexecution();
      term.set_topologykey(key);
      auto& expression = *term.mutable_labelselector()->add_matchexpressions();
      expression.set_key("k");
      expression.set_operator_("In");
      for (int i = 0; i < kMany; ++i) expression.add_values(value(i));
      if (std::string_view(key) == "zone") term.add_namespaces("other");
    }
  });
  PodAffinityTerm of_own;
  of_own.selector.present = true;
  of_own.topology_key = "rack";
  std::vector<PodAffinityTerm> terms = {of_own, of_own};
  terms[1].topology_key = "zone";
  terms[1].namespace_selector.present = true;  // it means others: of all namespaces
  EXPECT_EQ(bound.pod.rules->required_anti_affinity, terms);
  EXPECT_LT(bound.strings, 20);
  EXPECT_FALSE(bound.pod.lacks_amounts);
}

/// This many terms of each of the six kinds.
void add_terms(pb::Pod& message, int of_each) {
  auto& spec = *message.mutable_spec();
  auto& affinity = *spec.mutable_affinity()->mutable_podaffinity();
  auto& anti = *spec.mutable_affinity()->mutable_podantiaffinity();
  for (int i = 0; i < of_each; ++i) {
    affinity.add_requiredduringschedulingignoredduringexecution()->set_topologykey("rack");
    affinity.add_preferredduringschedulingignoredduringexecution()->set_weight(1);
    anti.add_requiredduringschedulingignoredduringexecution()->set_topologykey("rack");
    anti.add_preferredduringschedulingignoredduringexecution()->set_weight(1);
    for (const char* when : {"DoNotSchedule", "ScheduleAnyway"}) {
      auto& spread = *spec.add_topologyspreadconstraints();
      spread.set_topologykey("rack");
      spread.set_maxskew(1);
      spread.set_whenunsatisfiable(when);
    }
  }
}

TEST(PodLimits, OfTermsAboutPodsSixtyFourAreKept) {
  const auto of = [](int of_each, int more) {
    return kept([=](pb::Pod& message) {
      add_terms(message, of_each);
      for (int i = 0; i < more; ++i)
        message.mutable_spec()
            ->mutable_affinity()
            ->mutable_podantiaffinity()
            ->add_requiredduringschedulingignoredduringexecution()
            ->mutable_labelselector();
    });
  };
  const Kept most = of(10, 4);
  EXPECT_TRUE(most.pod.rules->too_large.empty()) << most.pod.rules->too_large.view();
  EXPECT_EQ(most.pod.rules->required_anti_affinity.size(), 14u);
  const Kept beyond = of(10, 5);
  EXPECT_EQ(beyond.pod.rules->too_large,
            "spec has 65 terms of pod affinity, anti-affinity and topology spread; the limit of a pod is 64");
  EXPECT_TRUE(beyond.pod.rules->required_anti_affinity.empty());
  EXPECT_TRUE(beyond.pod.problem.empty());
}

TEST(PodLimits, OfABoundPodWithMoreTermsRequiredAntiAffinityMattersAndBeyondTheLimitItIsAgainstEveryPod) {
  const auto of = [](int required) {
    return kept([=](pb::Pod& message) {
      message.mutable_spec()->set_nodename("n");
      auto& anti = *message.mutable_spec()->mutable_affinity()->mutable_podantiaffinity();
      for (int i = 0; i < required; ++i) {
        auto& term = *anti.add_requiredduringschedulingignoredduringexecution();
        term.set_topologykey("rack");
        auto& label = *term.mutable_labelselector()->add_matchlabels();
        label.set_key("a");
        label.set_value(value(i));
      }
      for (int i = 0; i < 65; ++i) anti.add_preferredduringschedulingignoredduringexecution()->set_weight(1);
    });
  };
  const Kept few = of(64);
  EXPECT_EQ(few.pod.rules->required_anti_affinity.size(), 64u);
  EXPECT_TRUE(few.pod.rules->preferred_anti_affinity.empty());
  const Kept many = of(65);
  ASSERT_EQ(many.pod.rules->required_anti_affinity.size(), 1u);
  EXPECT_FALSE(many.pod.rules->required_anti_affinity[0].namespace_selector.present) << "its own namespace";
  EXPECT_TRUE(many.pod.rules->too_large.empty() && many.pod.problem.empty());
  EXPECT_FALSE(many.pod.lacks_amounts);
}

TEST(PodLimits, TermsAndRequirementsAboutNodesAreCounted) {
  const auto of = [](int terms, int selected) {
    return kept([=](pb::Pod& message) {
      auto& affinity = *message.mutable_spec()->mutable_affinity()->mutable_nodeaffinity();
      auto& required = *affinity.mutable_requiredduringschedulingignoredduringexecution();
      for (int i = 0; i < terms; ++i) {
        auto& expression = *required.add_nodeselectorterms()->add_matchexpressions();
        expression.set_key("k");
        expression.set_operator_("Exists");
      }
      for (int i = 0; i < selected; ++i) {
        auto& label = *message.mutable_spec()->add_nodeselector();
        label.set_key(value(i));
        label.set_value("v");
      }
    });
  };
  EXPECT_EQ(of(127, 2).pod.rules->too_large, "");
  EXPECT_EQ(of(127, 2).pod.rules->required_affinity.size(), 127u);
  EXPECT_EQ(of(127, 3).pod.rules->too_large,
            "spec has 257 terms and requirements of node affinity and selector; the limit of a pod is 256");
  EXPECT_TRUE(of(127, 3).pod.rules->required_affinity.empty());
}

TEST(PodLimits, ABoundPodWithMoreTopologyKeysThanAreKeptClosesItsNode) {
  const Kept bound = kept([](pb::Pod& message) {
    message.mutable_spec()->set_nodename("n");
    for (int i = 0; i < kMany; ++i) {
      auto& term = *message.mutable_spec()
                        ->mutable_affinity()
                        ->mutable_podantiaffinity()
                        ->add_requiredduringschedulingignoredduringexecution();
      term.set_topologykey(value(i));
      term.mutable_labelselector();
    }
  });
  EXPECT_EQ(bound.pod.rules->required_anti_affinity.size(), 64u);
  EXPECT_TRUE(bound.pod.lacks_amounts);
  EXPECT_TRUE(bound.pod.problem.view().starts_with("spec.affinity.podAntiAffinity has 120000 bytes; the limit of"));
}

TEST(PodLimits, ABoundPodWithCountlessHostPortsClosesItsNode) {
  const Kept bound = kept([](pb::Pod& message) {
    message.mutable_spec()->set_nodename("n");
    for (int i = 1; i <= kMany; ++i) {
      auto& port = *message.mutable_spec()->add_containers()->add_ports();
      port.set_hostport(i);
    }
  });
  EXPECT_TRUE(bound.pod.rules->host_ports.empty());
  EXPECT_TRUE(bound.pod.lacks_amounts);
  EXPECT_TRUE(bound.pod.problem.view().starts_with("spec.containers[].ports has 80000 bytes"));
}

TEST(PodLimits, OfTooManyLabelsOurOwnAreKept) {
  const Kept waiting = kept([](pb::Pod& message) {
    for (int i = 0; i < kMany; ++i) {
      auto& label = *message.mutable_metadata()->add_labels();
      label.set_key(value(i));
    }
    auto& ours = *message.mutable_metadata()->add_labels();
    ours.set_key("ashlar.dev/queue");
    ours.set_value("q");
  });
  EXPECT_TRUE(
      waiting.pod.rules->too_large.view().starts_with("metadata.labels has 200049 bytes; the limit of a pod's"));
  EXPECT_EQ(*waiting.pod.labels, (Labels{{"ashlar.dev/queue", "q"}}));
  EXPECT_LT(waiting.strings, 20);
}

TEST(PodLimits, OfTooManyAnnotationsTheDevicesAreKept) {
  const Kept bound = kept([](pb::Pod& message) {
    message.mutable_spec()->set_nodename("n");
    const auto annotate = [&](const std::string& key, const std::string& text) {
      auto& annotation = *message.mutable_metadata()->add_annotations();
      annotation.set_key(key);
      annotation.set_value(text);
    };
    for (int i = 0; i < kMany; ++i) annotate("ashlar.dev/" + value(i), "");
    annotate("ashlar.dev/cards", "0,1");
  });
  EXPECT_EQ(*bound.pod.annotations, (Labels{{"ashlar.dev/cards", "0,1"}}));
  EXPECT_LT(bound.strings, 20);
}

TEST(PodLimits, ExtendedResourcesBeyondAllNodesAreNotCounted) {
  const auto with = [](int names, const std::string& node) {
    return kept([&](pb::Pod& message) {
      message.mutable_spec()->set_nodename(node);
      auto& requests = *message.mutable_spec()->add_containers()->mutable_resources()->mutable_requests();
      for (int i = 0; i < names; ++i) {
        auto& pair = *requests.Add();
        pair.set_key("example.com/" + value(i));
        pair.mutable_value()->set_string("1");
      }
    });
  };
  EXPECT_EQ(with(kPodResourcesMax, "").pod.requests.extended.size(), kPodResourcesMax);
  const Kept waiting = with(kPodResourcesMax + 1, "");
  EXPECT_TRUE(waiting.pod.requests.extended.empty());
  EXPECT_EQ(waiting.pod.rules->too_large,
            "spec.containers[].resources.requests names 129 extended resources; the limit of a pod is 128");
  const Kept bound = with(kPodResourcesMax + 1, "n");
  EXPECT_TRUE(bound.pod.lacks_amounts);
  EXPECT_FALSE(bound.pod.problem.empty());
}

TEST(PodLimits, AListOfManyMegabytesIsReadObjectByObject) {
  pb::PodList list;
  list.mutable_metadata()->set_resourceversion("7");
  for (int i = 0; i < 20; ++i) {
    pb::Pod& pod = *list.add_items();
    pod.mutable_metadata()->set_name("p" + std::to_string(i));
    auto& annotation = *pod.mutable_metadata()->add_annotations();
    annotation.set_key("note");
    annotation.set_value(std::string(1u << 20, 'x'));
  }
  const Result<ListPage<Pod>> page = decode_list<Pod>(in_envelope(list));
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_EQ(page->resource_version, "7");
  ASSERT_EQ(page->items.size(), 20u);
  EXPECT_EQ(page->items[19].name, "p19");
}

}  // namespace
}  // namespace ashlar::kube
