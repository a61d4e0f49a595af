// Pods with volumes on a real server: bound claims, claims that wait for their first consumer (the test is the
// controller that binds volumes), disks that one node has once, limits of drivers.
#include "cluster/scheduler_world.h"

namespace ashlar::live_tests {
namespace {

constexpr const char* kVolumes = "/api/v1/persistentvolumes";
constexpr const char* kClaims = "/api/v1/namespaces/default/persistentvolumeclaims";
constexpr const char* kClasses = "/apis/storage.k8s.io/v1/storageclasses";
constexpr const char* kCsiNodes = "/apis/storage.k8s.io/v1/csinodes";

class LiveSchedulerVolumes : public SchedulerWorld {
 protected:
  void TearDown() override {
    for (const std::string& path : made_) {
      patch(path, R"({"metadata":{"finalizers":null}})");
      answer_of([&](OnAnswer done) { api_->send({.method = http::Method::kDelete, .path = path}, std::move(done)); });
    }
    SchedulerWorld::TearDown();
  }

  Answer patch(const std::string& path, const std::string& body) {
    return answer_of([&](OnAnswer done) {
      api_->send(
          {.method = http::Method::kPatch, .path = path, .body = body, .content_type = "application/merge-patch+json"},
          std::move(done));
    });
  }
  void must_patch(const std::string& path, const std::string& body) {
    const Answer answer = patch(path, body);
    ASSERT_TRUE(answer.ok()) << path << " " << answer.result.error().message;
  }
  void post(const std::string& collection, const std::string& name, const std::string& body) {
    const Answer answer = answer_of([&](OnAnswer done) {
      api_->send({.method = http::Method::kPost, .path = collection, .body = body}, std::move(done));
    });
    ASSERT_TRUE(answer.ok()) << name << " " << answer.result.error().message;
    made_.push_back(collection + "/" + name);
  }
  std::string read(const std::string& path) {
    return answer_of([&](OnAnswer done) { api_->send({.path = path}, std::move(done)); }).body;
  }
  /// The text of a field of metadata, wherever it is first.
  static std::string text_after(const std::string& json, const std::string& key) {
    const std::size_t at = json.find("\"" + key + "\":\"");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + key.size() + 4;
    return json.substr(begin, json.find('"', begin) - begin);
  }

  void post_class(const std::string& name, const std::string& provisioner, const std::string& more = "") {
    post(kClasses, name,
         R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":")" + name +
             R"("},"provisioner":")" + provisioner + R"(","volumeBindingMode":"WaitForFirstConsumer")" + more + "}");
  }
  void post_claim(const std::string& name, const std::string& of_class, const std::string& more = "") {
    post(kClaims, name,
         R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":")" + name +
             R"("},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":")" + of_class +
             R"(","resources":{"requests":{"storage":"1Gi"}})" + more + "}}");
  }
  /// A volume on one node; `claim`: its claim reference, with a comma.
  void post_volume(const std::string& name, const std::string& of_class, const std::string& node,
                   const std::string& source = R"("local":{"path":"/mnt"})", const std::string& claim = "") {
    post(
        kVolumes, name,
        R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":")" + name + R"("},"spec":{)" + claim +
            R"("capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":")" + of_class +
            R"(",)" + source +
            R"(,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/hostname","operator":"In","values":[")" +
            node + R"("]}]}]}}}})");
    must_patch(std::string(kVolumes) + "/" + name + "/status", R"({"status":{"phase":"Available"}})");
  }
  /// What the controller does once claim and volume are to be one.
  void bind(const std::string& claim, const std::string& volume) {
    must_patch(std::string(kClaims) + "/" + claim,
               R"({"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":")" +
                   volume + R"("}})");
    must_patch(std::string(kClaims) + "/" + claim + "/status", R"({"status":{"phase":"Bound"}})");
    must_patch(std::string(kVolumes) + "/" + volume + "/status", R"({"status":{"phase":"Bound"}})");
  }
  std::string selected_node(const std::string& claim) {
    return text_after(read(std::string(kClaims) + "/" + claim), "volume.kubernetes.io/selected-node");
  }
  /// The name of the claim that the volume is for.
  std::string claim_of(const std::string& volume) {
    const std::string json = read(std::string(kVolumes) + "/" + volume);
    const std::size_t at = json.find("\"claimRef\"");
    return at == std::string::npos ? "" : text_after(json.substr(at), "name");
  }
  void post_user(const std::string& name, const std::string& claim) {
    kube::PodSpec spec = gpu_pod(name, 1);
    spec.extra_spec_json = R"("volumes":[{"name":"data","persistentVolumeClaim":{"claimName":")" + claim + R"("}}])";
    post_pod(spec);
  }
  bool waits_because(const std::string& name, const std::string& why) {
    return wait([&] { return pod(name).scheduled.message.view().find(why) != std::string::npos; },
                std::chrono::seconds(20));
  }
  std::string told(const std::string& name) { return pod(name).scheduled.message.str(); }
  void post_named_nodes(std::size_t count) {
    post_nodes(count, [](std::size_t i) {
      kube::NodeSpec spec;
      spec.name = node_name(i);
      spec.labels = {{"kubernetes.io/hostname", node_name(i)}};
      spec.allocatable = {{"cpu", "64"}, {"memory", "512Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}};
      return spec;
    });
  }

  std::vector<std::string> made_;
};

TEST_F(LiveSchedulerVolumes, APodWaitsForItsClaimAndGoesWhereItsVolumeIs) {
  post_named_nodes(3);
  auto scheduler = start();
  post_user("p", "data-1");
  EXPECT_TRUE(waits_because("p", "persistentvolumeclaim \"data-1\" not found")) << told("p");
  post_volume("vol-1", "manual-1", node_name(1));
  post_claim("data-1", "manual-1", R"(,"volumeName":"vol-1")");
  EXPECT_TRUE(waits_because("p", "unbound immediate")) << told("p");
  bind("data-1", "vol-1");
  ASSERT_TRUE(wait_bound(1, "p")) << told("p");
  EXPECT_EQ(pod("p").node_name.str(), node_name(1));
}

TEST_F(LiveSchedulerVolumes, AClaimThatWaitsForItsConsumerGetsTheVolumeOfTheNode) {
  post_named_nodes(3);
  post_class("local-2", "kubernetes.io/no-provisioner");
  post_claim("data-2", "local-2");
  auto scheduler = start();
  post_user("p", "data-2");
  EXPECT_TRUE(waits_because("p", "persistent volumes to bind")) << told("p");
  post_volume("vol-2", "local-2", node_name(2));
  ASSERT_TRUE(wait([&] { return claim_of("vol-2") == "data-2"; })) << read(std::string(kVolumes) + "/vol-2");
  EXPECT_NE(read(std::string(kVolumes) + "/vol-2").find(R"("pv.kubernetes.io/bound-by-controller":"yes")"),
            std::string::npos);
  EXPECT_EQ(bound_count("p"), 0u) << "the controller has not bound them yet";
  bind("data-2", "vol-2");
  ASSERT_TRUE(wait_bound(1, "p")) << told("p");
  EXPECT_EQ(pod("p").node_name.str(), node_name(2));
}

TEST_F(LiveSchedulerVolumes, AVolumeIsMadeForTheNodeThatWasChosen) {
  post_named_nodes(3);
  post_class("made-3", "csi.example.com",
             R"(,"allowedTopologies":[{"matchLabelExpressions":[{"key":"kubernetes.io/hostname","values":[")" +
                 node_name(1) + R"("]}]}])");
  post_claim("data-3", "made-3");
  auto scheduler = start();
  post_user("p", "data-3");
  ASSERT_TRUE(wait([&] { return selected_node("data-3") == node_name(1); })) << read(kClaims);
  EXPECT_EQ(bound_count("p"), 0u);
  // the provisioner could not: it takes the node back, and the scheduler decides again
  must_patch(std::string(kClaims) + "/data-3",
             R"({"metadata":{"annotations":{"volume.kubernetes.io/selected-node":null}}})");
  ASSERT_TRUE(wait([&] { return selected_node("data-3") == node_name(1); })) << "decided anew";
  post_volume("vol-3", "made-3", node_name(1), R"("csi":{"driver":"csi.example.com","volumeHandle":"h"})",
              R"("claimRef":{"namespace":"default","name":"data-3"},)");
  bind("data-3", "vol-3");
  ASSERT_TRUE(wait_bound(1, "p")) << told("p");
  EXPECT_EQ(pod("p").node_name.str(), node_name(1));
}

TEST_F(LiveSchedulerVolumes, TwoClaimsDoNotGetOneVolume) {
  post_named_nodes(2);
  post_class("local-4", "kubernetes.io/no-provisioner");
  post_volume("vol-4a", "local-4", node_name(0));
  auto scheduler = start();
  for (const char* name : {"4a", "4b"}) {
    post_claim(std::string("data-") + name, "local-4");
    post_user(std::string("p-") + name, std::string("data-") + name);
  }
  ASSERT_TRUE(wait([&] { return !claim_of("vol-4a").empty(); }));
  const std::string first = claim_of("vol-4a"), second = first == "data-4a" ? "data-4b" : "data-4a";
  pause(Millis(1'000));
  EXPECT_EQ(claim_of("vol-4a"), first);
  post_volume("vol-4b", "local-4", node_name(1));
  ASSERT_TRUE(wait([&] { return claim_of("vol-4b") == second; }));
  bind(first, "vol-4a");
  bind(second, "vol-4b");
  EXPECT_TRUE(wait_bound(2, "p-"));
}

TEST_F(LiveSchedulerVolumes, ADiskIsOnANodeOnceUnlessItIsOnlyRead) {
  post_named_nodes(1);
  auto scheduler = start();
  const auto post_with_disk = [&](const std::string& name, const std::string& more) {
    kube::PodSpec spec = gpu_pod(name, 1);
    spec.extra_spec_json =
        R"("volumes":[{"name":"data","iscsi":{"targetPortal":"1.2.3.4:1","iqn":"iqn.2020-01.com.example:x","lun":0)" +
        more + "}}]";
    post_pod(spec);
  };
  post_with_disk("reads-1", R"(,"readOnly":true)");
  post_with_disk("reads-2", R"(,"readOnly":true)");
  ASSERT_TRUE(wait_bound(2, "reads-"));
  post_with_disk("writes", "");
  EXPECT_TRUE(waits_because("writes", "0/1 nodes")) << told("writes");
}

TEST_F(LiveSchedulerVolumes, ADriverAttachesNoMoreThanItsLimit) {
  post_named_nodes(1);
  post(
      kCsiNodes, node_name(0),
      R"({"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":")" + node_name(0) +
          R"("},"spec":{"drivers":[{"name":"csi.example.com","nodeID":"n","topologyKeys":[],"allocatable":{"count":1}}]}})");
  for (const char* name : {"6a", "6b"}) {
    post_volume(std::string("vol-") + name, "csi-6", node_name(0),
                R"("csi":{"driver":"csi.example.com","volumeHandle":")" + std::string(name) + R"("})");
    post_claim(std::string("data-") + name, "csi-6", R"(,"volumeName":"vol-)" + std::string(name) + R"(")");
    bind(std::string("data-") + name, std::string("vol-") + name);
  }
  auto scheduler = start();
  post_user("p-6a", "data-6a");
  ASSERT_TRUE(wait_bound(1, "p-6a")) << told("p-6a");
  post_user("p-6b", "data-6b");
  EXPECT_TRUE(waits_because("p-6b", "attachable-volumes-csi-csi.example.com")) << told("p-6b");
  must_patch(
      std::string(kCsiNodes) + "/" + node_name(0),
      R"({"spec":{"drivers":[{"name":"csi.example.com","nodeID":"n","topologyKeys":[],"allocatable":{"count":2}}]}})");
  EXPECT_TRUE(wait_bound(1, "p-6b")) << told("p-6b");
}

}  // namespace
}  // namespace ashlar::live_tests
