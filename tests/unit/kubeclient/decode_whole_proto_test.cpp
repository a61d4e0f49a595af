// Parts of pods as protobuf messages, read by their rules.
#include <gtest/gtest.h>

#include "apijson/api_json.h"
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
template <class Requirements>
void require(Requirements* requirements, const char* key, const char* op, const std::vector<const char*>& values) {
  auto& requirement = *requirements->Add();
  requirement.set_key(key);
  requirement.set_operator_(op);
  for (const char* value : values) requirement.add_values(value);
}

TEST(DecodeWholeMessages, OwnersGatesAndTimesAreReadByTheirRules) {
  const auto pod_of = [](const pb::Pod& message) { return decode_object<Pod>(in_envelope(message)).value(); };
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
  const ListPage<Pod> page = decode_list<Pod>(in_envelope(list)).value();
  EXPECT_EQ(page.resource_version + page.continue_token, "5t");
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].name, "a");
  EXPECT_EQ(page.nameless, std::vector<std::string>{"metadata.name is missing"});
  const auto event = [](const char* type, const std::string& object) {
    pb::WatchEvent said;
    said.set_type(type);
    said.mutable_object()->set_raw(object);
    return decode_watch_event<Pod>(said.SerializeAsString()).value();
  };
  const WatchEventKind kinds[] = {WatchEventKind::kAdded, WatchEventKind::kModified, WatchEventKind::kDeleted};
  const char* const types[] = {"ADDED", "MODIFIED", "DELETED"};
  for (int i = 0; i < 3; ++i) {
    const WatchEvent<Pod> read = event(types[i], protobuf_of("Pod", kPod));
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
