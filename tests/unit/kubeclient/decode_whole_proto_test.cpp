// The objects that say everything, as protobuf messages: they must be read as their JSON is.
#include <gtest/gtest.h>

#include "envelope.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/proto/messages.h"
#include "whole_objects.h"

namespace ashlar::kube {
namespace {

using Fields = std::vector<std::pair<const char*, const char*>>;

template <class Pairs>
void put(Pairs* pairs, const Fields& fields) {
  for (const auto& [key, value] : fields) {
    auto& pair = *pairs->Add();
    pair.set_key(key);
    pair.set_value(value);
  }
}
template <class Pairs>
void put_amounts(Pairs* pairs, const Fields& fields) {
  for (const auto& [key, value] : fields) {
    auto& pair = *pairs->Add();
    pair.set_key(key);
    pair.mutable_value()->set_string(value);
  }
}
template <class Requirements>
void require(Requirements* requirements, const char* key, const char* op, const std::vector<const char*>& values) {
  auto& requirement = *requirements->Add();
  requirement.set_key(key);
  requirement.set_operator_(op);
  for (const char* value : values) requirement.add_values(value);
}
template <class Object>
void say_meta(Object& object) {
  pb::ObjectMeta& meta = *object.mutable_metadata();
  meta.set_name("x");
  meta.set_namespace_("s");
  meta.set_uid("u");
  meta.set_resourceversion("7");
  meta.mutable_creationtimestamp()->set_seconds(1);
  meta.mutable_deletiontimestamp()->set_seconds(2);
  put(meta.mutable_labels(), {{"b", "2"}, {"a", "1"}});
  put(meta.mutable_annotations(), {{"ashlar.dev/z", "9"}, {"ashlar.dev/y", "8"}, {"other", "7"}});
}
template <class Conditions>
void say_condition(Conditions* conditions, const char* type, const char* status) {
  auto& condition = *conditions->Add();
  condition.set_type(type);
  condition.set_status(status);
}
void say_port(pb::Container& container, int port, const char* ip, const char* protocol) {
  pb::ContainerPort& said = *container.add_ports();
  said.set_hostport(port);
  if (*ip != '\0') said.set_hostip(ip);
  if (*protocol != '\0') said.set_protocol(protocol);
}

pb::Pod whole_pod() {
  pb::Pod pod;
  say_meta(pod);
  pb::PodSpec& spec = *pod.mutable_spec();
  spec.set_nodename("n");
  spec.set_schedulername("sched");
  spec.set_priority(-3);
  spec.set_priorityclassname("high");
  for (int i = 0; i < 2; ++i) spec.add_schedulinggates();
  spec.mutable_schedulinggroup()->set_podgroupname("g");
  pb::Container& c = *spec.add_containers();
  c.set_name("c");
  say_port(c, 80, "0.0.0.0", "");
  say_port(c, 81, "1.2.3.4", "UDP");
  say_port(c, 82, "", "SCTP");
  say_port(c, 0, "", "");
  say_port(c, 84, "", "TCP");
  put_amounts(c.mutable_resources()->mutable_requests(), {{"cpu", "1"}, {"nvidia.com/gpu", "2"}});
  pb::Container& i = *spec.add_initcontainers();
  i.set_name("i");
  i.set_restartpolicy("Always");
  say_port(i, 90, "", "");
  put_amounts(i.mutable_resources()->mutable_requests(), {{"cpu", "2"}});
  pb::Container& j = *spec.add_initcontainers();
  j.set_name("j");
  j.set_restartpolicy("Never");
  say_port(j, 91, "", "");
  put_amounts(j.mutable_resources()->mutable_requests(), {{"memory", "5"}});
  put_amounts(spec.mutable_overhead(), {{"cpu", "10m"}});
  pb::PodStatus& status = *pod.mutable_status();
  status.set_phase("Running");
  status.set_nominatednodename("m");
  say_condition(status.mutable_conditions(), "Ready", "True");
  say_condition(status.mutable_conditions(), "PodScheduled", "True");
  pb::PodCondition& scheduled = *status.mutable_conditions(1);
  scheduled.set_reason("r");
  scheduled.set_message("m");
  scheduled.mutable_lasttransitiontime()->set_seconds(3);
  say_condition(status.mutable_conditions(), "Other", "False");
  return pod;
}

pb::Pod asking_pod() {
  pb::Pod pod;
  pod.mutable_metadata()->set_name("x");
  pb::PodSpec& spec = *pod.mutable_spec();
  put(spec.mutable_nodeselector(), {{"z", "1"}, {"y", "2"}});
  const char* const tolerations[][4] = {{"k", "Exists", "", "NoSchedule"},
                                        {"l", "", "v", ""},
                                        {"", "Exists", "", ""},
                                        {"m", "Equal", "w", "NoExecute"},
                                        {"", "Odd", "", ""}};
  for (const auto& [key, op, value, effect] : tolerations) {
    pb::Toleration& toleration = *spec.add_tolerations();
    toleration.set_key(key);
    toleration.set_operator_(op);
    toleration.set_value(value);
    toleration.set_effect(effect);
  }
  pb::NodeAffinity& nodes = *spec.mutable_affinity()->mutable_nodeaffinity();
  pb::NodeSelectorTerm& first =
      *nodes.mutable_requiredduringschedulingignoredduringexecution()->add_nodeselectorterms();
  require(first.mutable_matchexpressions(), "a", "In", {"1", "2"});
  require(first.mutable_matchexpressions(), "b", "Gt", {"5"});
  require(first.mutable_matchfields(), "metadata.name", "NotIn", {"n"});
  require(nodes.mutable_requiredduringschedulingignoredduringexecution()
              ->add_nodeselectorterms()
              ->mutable_matchexpressions(),
          "c", "Exists", {});
  pb::PreferredSchedulingTerm& seven = *nodes.add_preferredduringschedulingignoredduringexecution();
  seven.set_weight(7);
  require(seven.mutable_preference()->mutable_matchexpressions(), "d", "DoesNotExist", {});
  pb::PreferredSchedulingTerm& eight = *nodes.add_preferredduringschedulingignoredduringexecution();
  eight.set_weight(8);
  require(eight.mutable_preference()->mutable_matchfields(), "e", "Lt", {"1"});
  pb::PodAntiAffinity& apart = *spec.mutable_affinity()->mutable_podantiaffinity();
  pb::PodAffinityTerm& term = *apart.add_requiredduringschedulingignoredduringexecution();
  put(term.mutable_labelselector()->mutable_matchlabels(), {{"q", "1"}, {"p", "2"}});
  require(term.mutable_labelselector()->mutable_matchexpressions(), "f", "In", {"3"});
  put(term.mutable_namespaceselector()->mutable_matchlabels(), {{"n", "4"}});
  for (const char* ns : {"x", "y"}) term.add_namespaces(ns);
  term.set_topologykey("rack");
  apart.add_requiredduringschedulingignoredduringexecution()->set_topologykey("zone");
  apart.add_preferredduringschedulingignoredduringexecution();
  spec.mutable_affinity()->mutable_podaffinity()->add_preferredduringschedulingignoredduringexecution();
  spec.add_topologyspreadconstraints()->set_whenunsatisfiable("ScheduleAnyway");
  return pod;
}

void expect_same(const std::string& json, const pb::Pod& message) {
  const Pod a = decode_object<Pod>(json, Encoding::kJson).value(),
            b = decode_object<Pod>(in_envelope(message), Encoding::kProtobuf).value();
  for (const auto member :
       {&Pod::ns, &Pod::name, &Pod::uid, &Pod::scheduler_name, &Pod::node_name, &Pod::nominated_node_name,
        &Pod::priority_class, &Pod::group_name, &Pod::owner_uid, &Pod::owner_kind, &Pod::problem})
    EXPECT_EQ(a.*member, b.*member) << (a.*member).view();
  EXPECT_EQ(a.resource_version, b.resource_version);
  EXPECT_EQ(a.priority, b.priority);
  EXPECT_EQ(a.phase, b.phase);
  EXPECT_EQ(a.scheduling_gates, b.scheduling_gates);
  EXPECT_EQ(a.created, b.created);
  EXPECT_EQ(a.deletion_requested, b.deletion_requested);
  EXPECT_EQ(a.requests, b.requests);
  EXPECT_EQ(*a.labels, *b.labels);
  EXPECT_EQ(*a.annotations, *b.annotations);
  EXPECT_EQ(a.rules->ignored_soft.size(), b.rules->ignored_soft.size());
  PodRules rules = *b.rules;
  rules.ignored_soft = a.rules->ignored_soft;  // in the order of the message's fields
  EXPECT_EQ(*a.rules, rules);
  EXPECT_EQ(a.scheduled, b.scheduled);
  EXPECT_EQ(a.lacks_amounts, b.lacks_amounts);
}

TEST(DecodeWholeMessages, PodsAreReadAsTheirJson) {
  expect_same(kPod, whole_pod());
  expect_same(kAskingPod, asking_pod());
}

TEST(DecodeWholeMessages, NodesAreReadAsTheirJson) {
  pb::Node node;
  say_meta(node);
  node.mutable_spec()->set_unschedulable(true);
  pb::Taint& taint = *node.mutable_spec()->add_taints();
  taint.set_key("k");
  taint.set_value("v");
  taint.set_effect("NoExecute");
  node.mutable_spec()->add_taints()->set_key("e");
  put_amounts(node.mutable_status()->mutable_allocatable(), {{"cpu", "4"},
                                                             {"memory", "2Ki"},
                                                             {"ephemeral-storage", "3"},
                                                             {"pods", "110"},
                                                             {"nvidia.com/gpu", "8"},
                                                             {"a.b/c", "1"}});
  const std::pair<const char*, const char*> conditions[] = {
      {"DiskPressure", "True"}, {"Ready", "False"}, {"Other", "True"}};
  for (const auto& [type, status] : conditions)
    say_condition(node.mutable_status()->mutable_conditions(), type, status);
  EXPECT_EQ(decode_object<Node>(kNode, Encoding::kJson).value(),
            decode_object<Node>(in_envelope(node), Encoding::kProtobuf).value());
}

TEST(DecodeWholeMessages, OwnersGatesAndTimesAreReadByTheirRules) {
  const auto pod_of = [](const pb::Pod& message) {
    return decode_object<Pod>(in_envelope(message), Encoding::kProtobuf).value();
  };
  const auto owner_of = [&](const std::vector<std::pair<const char*, bool>>& owners) {
    pb::Pod pod;
    pod.mutable_metadata()->set_name("p");
    for (const auto& [uid, is_controller] : owners) {
      pb::OwnerReference& owner = *pod.mutable_metadata()->add_ownerreferences();
      owner.set_uid(uid);
      owner.set_kind("K" + std::string(uid));
      owner.set_controller(is_controller);
    }
    return pod_of(pod).owner_uid.str() + pod_of(pod).owner_kind.str();
  };
  EXPECT_EQ(owner_of({{"a", false}, {"b", false}}), "aKa");
  EXPECT_EQ(owner_of({{"a", false}, {"b", true}, {"c", true}, {"d", false}}), "bKb");
  pb::Pod pod;
  pod.mutable_metadata()->set_name("p");
  for (int i = 0; i < 300; ++i) pod.mutable_spec()->add_schedulinggates();
  pod.mutable_metadata()->mutable_creationtimestamp()->set_seconds(5);
  pod.mutable_metadata()->mutable_creationtimestamp()->set_nanos(7'999'999);
  EXPECT_EQ(pod_of(pod).scheduling_gates, 255);
  EXPECT_EQ(pod_of(pod).created, Millis(5'007));
  EXPECT_EQ(pod_of(pod).deletion_requested, Millis(0));
  pb::Pod together;
  together.mutable_metadata()->set_name("p");
  together.mutable_spec()
      ->mutable_affinity()
      ->mutable_podaffinity()
      ->add_requiredduringschedulingignoredduringexecution();
  EXPECT_EQ(pod_of(together).rules->unsupported, "");
  EXPECT_EQ(pod_of(together).rules->required_pod_affinity.size(), 1u);
  pb::Pod near;
  near.mutable_metadata()->set_name("p");
  auto& terms = *near.mutable_spec()
                     ->mutable_affinity()
                     ->mutable_nodeaffinity()
                     ->mutable_requiredduringschedulingignoredduringexecution();
  require(terms.add_nodeselectorterms()->mutable_matchfields(), "k", "Near", {});
  EXPECT_EQ(pod_of(near).rules->unsupported, "spec.affinity.nodeAffinity.required: operator");
}

TEST(DecodeWholeMessages, ListsAndEvents) {
  pb::PodList list;
  list.mutable_metadata()->set_resourceversion("5");
  list.mutable_metadata()->set_continue_("t");
  list.add_items()->mutable_metadata()->set_name("a");
  list.add_items()->mutable_metadata()->set_uid("nameless");
  const ListPage<Pod> page = decode_list<Pod>(in_envelope(list), Encoding::kProtobuf).value();
  EXPECT_EQ(page.resource_version + page.continue_token, "5t");
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].name, "a");
  EXPECT_EQ(page.nameless, std::vector<std::string>{"metadata.name is missing"});
  const auto event = [](const char* type, const std::string& object) {
    pb::WatchEvent said;
    said.set_type(type);
    said.mutable_object()->set_raw(object);
    return decode_watch_event<Pod>(said.SerializeAsString(), Encoding::kProtobuf).value();
  };
  const WatchEventKind kinds[] = {WatchEventKind::kAdded, WatchEventKind::kModified, WatchEventKind::kDeleted};
  const char* const types[] = {"ADDED", "MODIFIED", "DELETED"};
  for (int i = 0; i < 3; ++i) {
    const WatchEvent<Pod> read = event(types[i], in_envelope(whole_pod()));
    EXPECT_EQ(read.kind, kinds[i]);
    EXPECT_EQ(read.object.name, "x");
    EXPECT_EQ(read.resource_version, "7");
  }
  pb::Pod bookmark;
  bookmark.mutable_metadata()->set_resourceversion("8");
  EXPECT_EQ(event("BOOKMARK", in_envelope(bookmark)).resource_version, "8");
  EXPECT_FALSE(event("BOOKMARK", in_envelope(bookmark)).initial_events_end);
  put(bookmark.mutable_metadata()->mutable_annotations(), {{"k8s.io/initial-events-end", "false"}, {"other", "true"}});
  EXPECT_FALSE(event("BOOKMARK", in_envelope(bookmark)).initial_events_end);
  put(bookmark.mutable_metadata()->mutable_annotations(), {{"k8s.io/initial-events-end", "true"}});
  EXPECT_TRUE(event("BOOKMARK", in_envelope(bookmark)).initial_events_end);
  pb::Status status;
  status.set_message("m");
  status.set_reason("r");
  status.set_code(5);
  status.mutable_details()->set_retryafterseconds(9);
  const StatusText read = decode_status(in_envelope(status), Encoding::kProtobuf).value();
  EXPECT_EQ(read.message + read.reason + std::to_string(read.code) + std::to_string(read.retry_after_seconds), "mr59");
}

}  // namespace
}  // namespace ashlar::kube
