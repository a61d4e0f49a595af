// The volumes of pods in both encodings, and objects about volumes.
#include <gtest/gtest.h>

#include <algorithm>

#include "apijson/api_json.h"
#include "envelope.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/volumes/volume_objects.h"

namespace ashlar::kube {
namespace {

Pod pod_with(const std::string& volumes) {
  const Result<Pod> read =
      object_of_json<Pod>(R"({"metadata":{"name":"p","namespace":"ns"},"spec":{"volumes":)" + volumes + "}}");
  EXPECT_TRUE(read.ok()) << volumes;
  return read.ok() ? *read : Pod();
}

std::string label_of(const Pod& pod, const char* key) {
  const PooledString* found = pod.labels ? find_label(*pod.labels, key) : nullptr;
  return found == nullptr ? "none" : found->str();
}

TEST(DecodeVolumes, ClaimsAreNamedAndThoseOfEphemeralVolumesAfterThePod) {
  const Pod pod = pod_with(
      R"([{"name":"a","persistentVolumeClaim":{"claimName":"c"}},{"ephemeral":{},"name":"scratch"},{"name":"e","emptyDir":{}}])");
  ASSERT_TRUE(pod.volumes);
  EXPECT_EQ(pod.volumes->claims, (std::vector<ClaimUse>{{"c", false}, {"p-scratch", true}}));
  EXPECT_TRUE(pod.volumes->inline_disks.empty());
  EXPECT_TRUE(pod.rules->unsupported.empty());
  EXPECT_FALSE(pod_with(R"([{"name":"e","emptyDir":{}},{"name":"h","hostPath":{"path":"/"}}])").volumes);
}

TEST(DecodeVolumes, ADiskIsALabelAndARuleAgainstPodsOfTheNodeThatHaveIt) {
  const Pod both = pod_with(
      R"([{"name":"a","gcePersistentDisk":{"pdName":"d","readOnly":true}},{"name":"b","gcePersistentDisk":{"pdName":"d"}}])");
  EXPECT_EQ(label_of(both, "volume gce d"), "rw") << "one of them writes";
  const Pod reader = pod_with(R"([{"name":"a","gcePersistentDisk":{"pdName":"d","readOnly":true}}])");
  EXPECT_EQ(label_of(reader, "volume gce d"), "ro");
  const auto is_kept_away = [](const Pod& pod, const Pod& from) {
    return std::ranges::any_of(from.rules->required_anti_affinity, [&](const PodAffinityTerm& term) {
      EXPECT_EQ(term.topology_key, kNodeNameKey);
      EXPECT_TRUE(term.namespace_selector.present);
      return matches(term.selector, *pod.labels);
    });
  };
  const Pod writer = pod_with(R"([{"name":"a","gcePersistentDisk":{"pdName":"d"}}])");
  EXPECT_FALSE(is_kept_away(reader, reader)) << "both read";
  EXPECT_TRUE(is_kept_away(reader, writer));
  EXPECT_TRUE(is_kept_away(writer, reader));
  EXPECT_FALSE(is_kept_away(pod_with(R"([{"name":"a","gcePersistentDisk":{"pdName":"e"}}])"), writer)) << "another";
  const Pod ebs = pod_with(R"([{"name":"a","awsElasticBlockStore":{"volumeID":"aws://z/vol-1","readOnly":true}}])");
  EXPECT_TRUE(is_kept_away(ebs, ebs)) << "even if both read";
  EXPECT_EQ(ebs.volumes->inline_disks, (std::vector<AttachedVolume>{{"ebs.csi.aws.com", "vol-1"}}));
  const Pod rbd = pod_with(R"([{"name":"a","rbd":{"monitors":["m","n"],"image":"i","pool":"p"}}])");
  EXPECT_TRUE(
      is_kept_away(pod_with(R"([{"name":"a","rbd":{"monitors":["n"],"image":"i","pool":"p","readOnly":true}}])"), rbd));
  EXPECT_FALSE(is_kept_away(pod_with(R"([{"name":"a","rbd":{"monitors":["n"],"image":"i","pool":"q"}}])"), rbd));
  const Pod iscsi = pod_with(R"([{"name":"a","iscsi":{"iqn":"x","lun":1}}])");
  EXPECT_TRUE(is_kept_away(pod_with(R"([{"name":"a","iscsi":{"iqn":"x","lun":2,"readOnly":true}}])"), iscsi));
  EXPECT_FALSE(iscsi.volumes) << "no driver counts it";
}

TEST(DecodeVolumes, BothEncodingsAgree) {
  const char* const json =
      R"([{"name":"a","persistentVolumeClaim":{"claimName":"c"}},{"name":"e","ephemeral":{"volumeClaimTemplate":{}}},
{"name":"g","gcePersistentDisk":{"pdName":"d","readOnly":true}},{"name":"w","awsElasticBlockStore":{"volumeID":"vol-1"}},
{"name":"i","iscsi":{"iqn":"x","lun":1}},{"name":"r","rbd":{"monitors":["m"],"image":"i","pool":"p","readOnly":true}},
{"name":"z","azureDisk":{"diskURI":"u","kind":"managed"}},{"name":"y","cinder":{"volumeID":"v"}},
{"name":"x","portworxVolume":{"volumeID":"o"}},{"name":"s","csi":{"driver":"d"}}])";
  pb::Pod message;
  message.mutable_metadata()->set_name("p");
  message.mutable_metadata()->set_namespace_("ns");
  const auto add = [&](const char* name) {
    pb::Volume& volume = *message.mutable_spec()->add_volumes();
    volume.set_name(name);
    return volume.mutable_volumesource();
  };
  add("a")->mutable_persistentvolumeclaim()->set_claimname("c");
  add("e")->mutable_ephemeral();
  pb::GCEPersistentDiskVolumeSource& gce = *add("g")->mutable_gcepersistentdisk();
  gce.set_pdname("d");
  gce.set_readonly(true);
  add("w")->mutable_awselasticblockstore()->set_volumeid("vol-1");
  add("i")->mutable_iscsi()->set_iqn("x");
  pb::RBDVolumeSource& rbd = *add("r")->mutable_rbd();
  rbd.add_monitors("m");
  rbd.set_image("i");
  rbd.set_pool("p");
  rbd.set_readonly(true);
  add("z")->mutable_azuredisk()->set_diskuri("u");
  add("y")->mutable_cinder()->set_volumeid("v");
  add("x")->mutable_portworxvolume()->set_volumeid("o");
  add("s")->mutable_csi()->set_driver("d");
  const Pod of_json = pod_with(json);
  const Pod of_protobuf = decode_object<Pod>(in_envelope(message)).value();
  ASSERT_TRUE(of_json.volumes && of_protobuf.volumes);
  EXPECT_EQ(*of_json.volumes, *of_protobuf.volumes);
  EXPECT_EQ(of_json.volumes->inline_disks.size(), 5u);
  EXPECT_EQ(*of_json.labels, *of_protobuf.labels);
  EXPECT_EQ(*of_json.rules, *of_protobuf.rules);
}

TEST(DecodeVolumes, APodNamesNoMoreThanItsShare) {
  std::string many;
  for (int i = 0; i < 600; ++i)
    many += std::string(i == 0 ? "" : ",") + R"({"name":"v","persistentVolumeClaim":{"claimName":"c)" +
            std::to_string(i) + R"("}})";
  const Pod pod = pod_with("[" + many + "]");
  EXPECT_FALSE(pod.volumes);
  EXPECT_EQ(pod.rules->too_large, "spec.volumes names 600 claims and disks; the limit of a pod is 512");
}

PersistentVolume volume_of(void (*fill)(pb::PersistentVolume&)) {
  pb::PersistentVolume message;
  message.mutable_metadata()->set_name("v");
  fill(message);
  return decode_object<PersistentVolume>(in_envelope(message)).value();
}

TEST(DecodeVolumes, HandlesOfMigratedDisksAreThoseOfTheirDrivers) {
  EXPECT_EQ(volume_of([](pb::PersistentVolume& v) {
              v.mutable_spec()->mutable_persistentvolumesource()->mutable_gcepersistentdisk()->set_pdname("d");
              pb::StringPair& zone = *v.mutable_metadata()->add_labels();
              zone.set_key("topology.kubernetes.io/zone");
              zone.set_value("us-a");
            }).attached,
            (AttachedVolume{"pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/us-a/disks/d"}));
  EXPECT_EQ(volume_of([](pb::PersistentVolume& v) {
              v.mutable_spec()->mutable_persistentvolumesource()->mutable_gcepersistentdisk()->set_pdname("d");
              pb::StringPair& zone = *v.mutable_metadata()->add_labels();
              zone.set_key("failure-domain.beta.kubernetes.io/zone");
              zone.set_value("us-1-a__us-1-b");
            }).attached,
            (AttachedVolume{"pd.csi.storage.gke.io", "projects/UNSPECIFIED/regions/us-1/disks/d"}));
  EXPECT_EQ(volume_of([](pb::PersistentVolume& v) {
              v.mutable_spec()->mutable_persistentvolumesource()->mutable_awselasticblockstore()->set_volumeid(
                  "aws:///vol-9/");
            }).attached,
            (AttachedVolume{"ebs.csi.aws.com", "vol-9"}));
}

TEST(DecodeVolumes, WhatCannotBeReadOfAVolumeIsNamed) {
  EXPECT_EQ(volume_of([](pb::PersistentVolume& v) {
              pb::QuantityPair& storage = *v.mutable_spec()->add_capacity();
              storage.set_key("storage");
              storage.mutable_value()->set_string("-5Gi");
            }).problem,
            "spec.capacity: it is negative");
  const PersistentVolume broken = volume_of([](pb::PersistentVolume& v) {
    pb::NodeSelectorRequirement& r =
        *v.mutable_spec()->mutable_nodeaffinity()->mutable_required()->add_nodeselectorterms()->add_matchexpressions();
    r.set_key("zone");
    r.set_operator_("Near");
  });
  EXPECT_TRUE(broken.has_affinity);
  EXPECT_TRUE(broken.affinity.empty()) << "such a term matches no node, as upstream";
}

TEST(DecodeVolumes, AClassOfMoreTopologiesThanAreKeptAllowsNone) {
  pb::StorageClass message;
  message.mutable_metadata()->set_name("s");
  for (int i = 0; i < 100'000; ++i) {
    pb::TopologySelectorLabelRequirement& r = *message.add_allowedtopologies()->add_matchlabelexpressions();
    r.set_key("zone");
    r.add_values("z" + std::to_string(i));
  }
  const StorageClass read = decode_object<StorageClass>(in_envelope(message)).value();
  EXPECT_EQ(read.problem, "allowedTopologies has more than 4096 terms and values");
  EXPECT_EQ(read.allowed_topologies, std::vector<NodeTerm>(1));
}

TEST(DecodeVolumes, SelectorsAndLabelsOfMoreThanIsKeptAreDropped) {
  const auto fill = [](pb::LabelSelector& selector) {
    pb::LabelSelectorRequirement& r = *selector.add_matchexpressions();
    r.set_key("k");
    r.set_operator_("NotIn");
    for (int i = 0; i < 4096; ++i) r.add_values("v" + std::to_string(i));
  };
  pb::PersistentVolumeClaim claim;
  claim.mutable_metadata()->set_name("c");
  fill(*claim.mutable_spec()->mutable_selector());
  const PersistentVolumeClaim read = decode_object<PersistentVolumeClaim>(in_envelope(claim)).value();
  EXPECT_EQ(read.problem, "spec.selector has more than 4096 terms and values");
  EXPECT_TRUE(read.selector.expressions.empty());
  claim.mutable_spec()->mutable_selector()->mutable_matchexpressions(0)->mutable_values()->RemoveLast();
  EXPECT_EQ(decode_object<PersistentVolumeClaim>(in_envelope(claim)).value().problem, "");

  pb::CSIStorageCapacity capacity;
  capacity.mutable_metadata()->set_name("s");
  fill(*capacity.mutable_nodetopology());
  capacity.mutable_capacity()->set_string("5Gi");
  const CsiStorageCapacity told = decode_object<CsiStorageCapacity>(in_envelope(capacity)).value();
  EXPECT_EQ(told.problem, "nodeTopology has more than 4096 terms and values");
  EXPECT_FALSE(told.largest_volume);

  const PersistentVolume volume = volume_of([](pb::PersistentVolume& v) {
    for (int i = 0; i < 4097; ++i) v.mutable_metadata()->add_labels()->set_key("k" + std::to_string(i));
  });
  EXPECT_EQ(volume.problem, "metadata.labels has more than 4096 labels");
  EXPECT_TRUE(volume.labels.empty());
}

TEST(DecodeVolumes, ListsAndWatchesOfTheseKindsAreProtobufAlone) {
  pb::PersistentVolumeClaimList list;
  list.mutable_metadata()->set_resourceversion("7");
  list.add_items()->mutable_metadata()->set_name("c");
  list.mutable_items(0)->mutable_spec()->set_volumename("v");
  const Result<ListPage<PersistentVolumeClaim>> page = decode_list<PersistentVolumeClaim>(in_envelope(list));
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->items.size(), 1u);
  EXPECT_EQ(page->items[0].volume_name, "v");
  EXPECT_EQ(page->items[0].volume_mode, "Filesystem");
  EXPECT_FALSE(decode_list<PersistentVolumeClaim>("{}").ok());
  EXPECT_FALSE(decode_object<VolumeAttachment>("garbage").ok());
}

}  // namespace
}  // namespace ashlar::kube
