// Answers of three releases about the same objects: what is known is read alike, and what only a newer one has is found.
#include "kubeclient/decode/server_fields.h"

#include "kubeclient/pod_builder.h"
#include "recorded.h"

namespace ashlar::kube {
namespace {

bool is_newer(const std::string& release) { return release == "1.38"; }

template <class T>
const T& named(const std::vector<T>& objects, const char* name) {
  for (const T& object : objects)
    if (object.name == name) return object;
  static const T kNone{};
  ADD_FAILURE() << "no " << name;
  return kNone;
}

std::string unknown_of(const std::vector<PooledString>& names) {
  std::string text;
  for (const PooledString& name : names) text += (text.empty() ? "" : " ") + name.str();
  return text;
}

void expect_rich_pod(const Pod& pod, const std::string& release) {
  EXPECT_TRUE(pod.problem.empty()) << release << ": " << pod.problem.view();
  EXPECT_EQ(pod.scheduler_name, "ashlar");
  EXPECT_EQ(pod.priority, 1000);
  EXPECT_EQ(pod.group_name, "gang");
  EXPECT_EQ(pod.generation, 1);
  EXPECT_EQ(pod.requests.cpu, MilliCores(2500));
  EXPECT_EQ(pod.requests.memory, Bytes(std::int64_t{1} << 30));
  EXPECT_EQ(amount_of(pod.requests, "nvidia.com/gpu"), 2);
  EXPECT_EQ(*find_label(*pod.labels, "app"), "train");
  EXPECT_EQ(*find_label(*pod.annotations, "ashlar.dev/gpu-memory"), "60Gi");
  const PodRules& rules = *pod.rules;
  EXPECT_TRUE(rules.unsupported.empty());
  EXPECT_TRUE(rules.ignored_soft.empty());
  EXPECT_EQ(*find_label(rules.node_selector, "rack"), "r0");
  EXPECT_EQ(rules.required_affinity.size(), 1u);
  ASSERT_EQ(rules.preferred_affinity.size(), 1u);
  EXPECT_EQ(rules.preferred_affinity[0].weight, 7);
  EXPECT_EQ(rules.tolerations.size(), 3u) << "with the two that the server adds";
  ASSERT_EQ(rules.required_anti_affinity.size(), 1u);
  EXPECT_EQ(rules.required_anti_affinity[0].topology_key, "kubernetes.io/hostname");
  ASSERT_EQ(rules.spread.size(), 1u);
  EXPECT_EQ(rules.spread[0].max_skew, 2);
  EXPECT_EQ(rules.host_ports.size(), 1u);
  ASSERT_TRUE(pod.volumes);
  EXPECT_EQ(pod.volumes->claims, (std::vector<ClaimUse>{{"late", false}}));
  EXPECT_EQ(unknown_of(rules.unknown_fields), is_newer(release) ? "Container.26 PodSpec.45" : "") << release;
}

void expect_running_pod(const Pod& pod, const std::string& release) {
  EXPECT_EQ(pod.node_name, "node-0");
  EXPECT_EQ(pod.phase, PodPhase::kRunning);
  EXPECT_EQ(pod.requests.cpu, MilliCores(3000));
  EXPECT_EQ(amount_of(pod.requests, "nvidia.com/gpu"), 3);
  EXPECT_EQ(pod.unknown_fields, is_newer(release) ? "PodStatus.23" : "") << release;
}

TEST(Releases, SayTheSameOfPods) {
  for (const std::string release : kReleases) {
    const std::vector<Pod> pods = recorded_list<Pod>(release, "pods.pb");
    EXPECT_EQ(pods.size(), 3u);
    expect_rich_pod(named(pods, "rich"), release);
    expect_running_pod(named(pods, "running"), release);
    EXPECT_EQ(named(pods, "plain").requests.cpu, MilliCores(0));
    EXPECT_EQ(amount_of(named(pods, "plain").requests, "nvidia.com/gpu"), 1);
  }
}

/// From before the pods were created.
TEST(Releases, SayTheSameInAWatch) {
  for (const std::string release : kReleases) {
    FrameSplitter frames(Encoding::kProtobuf);
    std::vector<WatchEvent<Pod>> events;
    const Result<void> fed = frames.feed(recorded(release, "pods-watch.pb"), [&](std::string_view frame) {
      Result<WatchEvent<Pod>> event = decode_watch_event<Pod>(frame);
      EXPECT_TRUE(event.ok()) << release;
      if (event) events.push_back(std::move(event).value());
      return true;
    });
    EXPECT_TRUE(fed.ok());
    EXPECT_FALSE(frames.has_partial_frame());
    ASSERT_EQ(events.size(), 5u) << release << ": three are added, one is bound, then runs";
    EXPECT_EQ(events[0].kind, WatchEventKind::kAdded);
    EXPECT_EQ(events[0].object.name, "rich");
    expect_rich_pod(events[0].object, release);
    EXPECT_TRUE(events[2].object.node_name.empty());
    EXPECT_EQ(events[3].kind, WatchEventKind::kModified);
    EXPECT_EQ(events[3].object.node_name, "node-0");
    EXPECT_EQ(events[3].object.scheduled.status, ConditionStatus::kTrue);
    expect_running_pod(events[4].object, release);
  }
}

TEST(Releases, SayTheSameOfANode) {
  for (const std::string release : kReleases) {
    const std::vector<Node> nodes = recorded_list<Node>(release, "nodes.pb");
    ASSERT_EQ(nodes.size(), 1u);
    const Node& node = nodes[0];
    EXPECT_EQ(node.name, "node-0");
    EXPECT_EQ(*find_label(node.labels, "rack"), "r0");
    EXPECT_EQ(node.allocatable.cpu, MilliCores(63'500));
    EXPECT_EQ(node.allocatable.memory, Bytes(std::int64_t{510} << 30));
    EXPECT_EQ(amount_of(node.allocatable, "nvidia.com/gpu"), 8);
    EXPECT_EQ(node.pods_max, 110);
    EXPECT_EQ(node.ready, ConditionStatus::kTrue);
    ASSERT_EQ(node.taints.size(), 2u) << "with the one that the server adds";
    EXPECT_EQ(node.taints[0].key, "gpu");
    EXPECT_EQ(node.unknown_fields, is_newer(release) ? "NodeSpec.9, NodeStatus.15" : "") << release;
  }
}

TEST(Releases, SayTheSameOfClaimsAndVolumes) {
  for (const std::string release : kReleases) {
    const auto claims = recorded_list<PersistentVolumeClaim>(release, "persistentvolumeclaims.pb");
    const PersistentVolumeClaim &bound = named(claims, "bound"), &late = named(claims, "late");
    EXPECT_TRUE(bound.is_bound());
    EXPECT_EQ(bound.volume_name, "volume-0");
    EXPECT_FALSE(late.is_bound());
    EXPECT_TRUE(late.is_for_one_pod());
    EXPECT_EQ(late.request, std::int64_t{2} << 30);
    EXPECT_EQ(late.class_name, "late");
    EXPECT_EQ(late.volume_mode, "Filesystem");
    EXPECT_EQ(*find_label(late.selector.match_labels, "tier"), "fast");
    for (const PersistentVolumeClaim* claim : {&bound, &late}) {
      EXPECT_EQ(unknown_of(claim->unknown_spec_fields), is_newer(release) ? "PersistentVolumeClaimSpec.10" : "");
      EXPECT_EQ(claim->unknown_fields, is_newer(release) ? "PersistentVolumeClaimStatus.11" : "") << release;
    }
    const auto volumes = recorded_list<PersistentVolume>(release, "persistentvolumes.pb");
    ASSERT_EQ(volumes.size(), 1u);
    EXPECT_EQ(volumes[0].capacity, std::int64_t{5} << 30);
    EXPECT_EQ(volumes[0].claim_name, "bound");
    EXPECT_EQ(volumes[0].affinity.size(), 1u);
    EXPECT_EQ(volumes[0].attached, (AttachedVolume{"disk.example.com", "h0"}));
    EXPECT_EQ(volumes[0].unknown_fields, is_newer(release) ? "PersistentVolumeSpec.11" : "") << release;
  }
}

TEST(Releases, SayTheSameOfWhatProvidesVolumes) {
  for (const std::string release : kReleases) {
    const auto expect_unknown = [&](const auto& object, const char* fields) {
      EXPECT_EQ(object.unknown_fields, is_newer(release) ? fields : "") << release;
    };
    const auto classes = recorded_list<StorageClass>(release, "storageclasses.pb");
    ASSERT_EQ(classes.size(), 1u);
    EXPECT_TRUE(classes[0].waits_for_consumer);
    EXPECT_EQ(classes[0].provisioner, "disk.example.com");
    ASSERT_EQ(classes[0].allowed_topologies.size(), 1u);
    expect_unknown(classes[0], "StorageClass.9");
    const auto nodes = recorded_list<CsiNode>(release, "csinodes.pb");
    ASSERT_EQ(nodes.size(), 1u);
    ASSERT_EQ(nodes[0].drivers.size(), 1u);
    EXPECT_EQ(nodes[0].drivers[0].volumes_max, 4);
    expect_unknown(nodes[0], "CSINodeDriver.5");
    const auto drivers = recorded_list<CsiDriver>(release, "csidrivers.pb");
    ASSERT_EQ(drivers.size(), 1u);
    EXPECT_TRUE(drivers[0].has_capacities);
    expect_unknown(drivers[0], "CSIDriverSpec.12");
    const auto capacities = recorded_list<CsiStorageCapacity>(release, "csistoragecapacities.pb");
    ASSERT_EQ(capacities.size(), 1u);
    EXPECT_EQ(capacities[0].largest_volume, std::int64_t{20} << 30);
    expect_unknown(capacities[0], "CSIStorageCapacity.6");
    const auto attachments = recorded_list<VolumeAttachment>(release, "volumeattachments.pb");
    ASSERT_EQ(attachments.size(), 1u);
    EXPECT_EQ(attachments[0].volume_name, "volume-0");
    expect_unknown(attachments[0], "VolumeAttachmentSpec.4");
  }
}

TEST(Releases, SayTheSameOfAPodGroup) {
  for (const std::string release : kReleases) {
    const std::vector<PodGroup> groups = recorded_list<PodGroup>(release, "podgroups.json");
    ASSERT_EQ(groups.size(), 1u);
    const PodGroup& group = groups[0];
    EXPECT_TRUE(group.problem.empty()) << release << ": " << group.problem.view();
    EXPECT_EQ(group.name, "gang");
    EXPECT_EQ(group.generation, 0) << "servers count none for this kind";
    EXPECT_EQ(group.min_count, 2);
    EXPECT_EQ(group.topology_key, "rack");
    EXPECT_EQ(group.priority_class, "high");
    EXPECT_EQ(group.priority, 1000);
    EXPECT_EQ(*find_label(group.annotations, "ashlar.dev/gang-within"), "block");
    EXPECT_EQ(group.scheduled.status, ConditionStatus::kFalse);
    EXPECT_EQ(group.scheduled.message, "0/1 nodes are available");
    EXPECT_TRUE(group.unsupported.empty());
    EXPECT_EQ(unknown_of(group.unknown_spec_fields), is_newer(release) ? "PodGroupSpec.newDefault" : "") << release;
    EXPECT_EQ(group.unknown_fields, is_newer(release) ? "PodGroupStatus.newDefault" : "") << release;
  }
}

TEST(Releases, DescribeWhatThisOneDoesNotKnow) {
  const auto unknown = [](const std::string& release, const std::string& file) {
    const Result<std::vector<std::string>> found = unknown_server_fields(recorded(release, file));
    EXPECT_TRUE(found.ok()) << release << " " << file;
    return found.ok() ? *found : std::vector<std::string>{};
  };
  for (const std::string release : {"1.36.3", "1.37.1"})
    for (const char* file : {"openapi-storage.json", "openapi-scheduling.json"})
      EXPECT_EQ(unknown(release, file), std::vector<std::string>{}) << release << " " << file;
  EXPECT_EQ(unknown("1.37.1", "openapi-core.json"), std::vector<std::string>{});
  EXPECT_EQ(unknown("1.36.3", "openapi-core.json"),
            std::vector<std::string>{"NodeAllocatableResourceClaimStatus.resources"})
      << "an alpha field of pods' status that 1.37 has no more";
  const std::string name = ".newDefault";
  EXPECT_EQ(unknown("1.38", "openapi-core.json"),
            (std::vector<std::string>{"Container" + name, "NodeSpec" + name, "NodeStatus" + name,
                                      "PersistentVolumeClaimSpec" + name, "PersistentVolumeClaimStatus" + name,
                                      "PersistentVolumeSpec" + name, "PodSpec" + name, "PodStatus" + name}));
  EXPECT_EQ(
      unknown("1.38", "openapi-storage.json"),
      (std::vector<std::string>{"PersistentVolumeSpec" + name, "CSIDriverSpec" + name, "CSINodeDriver" + name,
                                "CSIStorageCapacity" + name, "StorageClass" + name, "VolumeAttachmentSpec" + name}));
  EXPECT_EQ(unknown("1.38", "openapi-scheduling.json"),
            (std::vector<std::string>{"PodGroupSpec" + name, "PodGroupStatus" + name}));
}

}  // namespace
}  // namespace ashlar::kube
