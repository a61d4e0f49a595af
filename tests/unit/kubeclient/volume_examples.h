// Objects about volumes with whatever is evaluated of them, and what the decoder keeps of each in words.
#pragma once

#include <string>

namespace ashlar::kube {

/// Also of other kinds.
struct VolumeExample {
  const char* message;
  const char* text;
};

inline constexpr VolumeExample kVolumeExamples[] = {
    {"PersistentVolumeClaim", R"pb(
       metadata {
         name: "c"
         namespace: "ns"
         ownerReferences { uid: "o" controller: true }
         annotations { key: "volume.kubernetes.io/selected-node" value: "n" }
       }
       spec {
         accessModes: "ReadWriteOnce"
         selector {
           matchLabels { key: "a" value: "1" }
           matchExpressions { key: "b" operator: "NotIn" values: "2" }
         }
         resources {
           requests {
             key: "storage"
             value { string: "5Gi" }
           }
         }
         volumeName: "v"
         storageClassName: "s"
         volumeMode: "Block"
         volumeAttributesClassName: "t"
       }
       status { phase: "Lost" }
     )pb"},
    {"PersistentVolume", R"pb(
       metadata {
         name: "v"
         labels { key: "topology.kubernetes.io/zone" value: "z" }
       }
       spec {
         capacity {
           key: "storage"
           value { string: "5Gi" }
         }
         persistentVolumeSource { csi { driver: "d" volumeHandle: "h" } }
         accessModes: "ReadWriteOnce"
         claimRef { namespace: "ns" name: "c" uid: "u" }
         storageClassName: "s"
         volumeMode: "Block"
         nodeAffinity {
           required {
             nodeSelectorTerms {
               matchExpressions { key: "a" operator: "NotIn" values: "1" }
               matchFields { key: "metadata.name" operator: "NotIn" values: "n" }
             }
           }
         }
         volumeAttributesClassName: "t"
       }
       status { phase: "Available" }
     )pb"},
    {"PersistentVolume", R"pb(metadata { name: "v" }
                              spec { persistentVolumeSource { gcePersistentDisk { pdName: "p" } } })pb"},
    {"PersistentVolume", R"pb(metadata { name: "v" }
                              spec { persistentVolumeSource { awsElasticBlockStore { volumeID: "vol-1" } } })pb"},
    {"PersistentVolume", R"pb(metadata { name: "v" }
                              spec { persistentVolumeSource { cinder { volumeID: "p" } } })pb"},
    {"PersistentVolume", R"pb(metadata { name: "v" }
                              spec { persistentVolumeSource { azureDisk { diskURI: "p" } } })pb"},
    {"PersistentVolume", R"pb(metadata { name: "v" }
                              spec { persistentVolumeSource { portworxVolume { volumeID: "p" } } })pb"},
    {"StorageClass", R"pb(
       metadata { name: "s" }
       provisioner: "d"
       volumeBindingMode: "WaitForFirstConsumer"
       allowedTopologies { matchLabelExpressions { key: "zone" values: "a" } }
     )pb"},
    {"CSINode", R"pb(
       metadata {
         name: "n"
         annotations { key: "storage.alpha.kubernetes.io/migrated-plugins" value: "kubernetes.io/gce-pd" }
       }
       spec {
         drivers {
           name: "d"
           allocatable { count: 3 }
         }
       }
     )pb"},
    {"CSIDriver", R"pb(
       metadata { name: "d" }
       spec { storageCapacity: true preventPodSchedulingIfMissing: true }
     )pb"},
    {"CSIStorageCapacity", R"pb(
       metadata { name: "k" namespace: "ns" }
       nodeTopology { matchLabels { key: "zone" value: "a" } }
       storageClassName: "s"
       capacity { string: "9Gi" }
       maximumVolumeSize { string: "7Gi" }
     )pb"},
    {"CSIStorageCapacity", R"pb(
       metadata { name: "k" }
       nodeTopology { matchExpressions { key: "zone" operator: "NotIn" values: "a" } }
       capacity { string: "9Gi" }
     )pb"},
    {"VolumeAttachment", R"pb(
       metadata { name: "a" }
       spec {
         attacher: "d"
         source { persistentVolumeName: "v" }
         nodeName: "n"
       }
     )pb"},
};

/// Pods with volumes of each kind that matters.
inline constexpr const char* kVolumePod = R"pb(
  metadata { name: "p" }
  spec {
    volumes {
      name: "c"
      volumeSource { persistentVolumeClaim { claimName: "c" } }
    }
    volumes {
      name: "e"
      volumeSource { ephemeral {} }
    }
    volumes { volumeSource { gcePersistentDisk { pdName: "d" } } }
    volumes { volumeSource { awsElasticBlockStore { volumeID: "vol-1" } } }
    volumes { volumeSource { iscsi { iqn: "i" } } }
    volumes { volumeSource { rbd { monitors: "m" image: "i" pool: "p" } } }
    volumes { volumeSource { azureDisk { diskURI: "u" } } }
    volumes { volumeSource { cinder { volumeID: "v" } } }
    volumes { volumeSource { portworxVolume { volumeID: "w" } } }
    volumes { volumeSource { csi { driver: "d" } } }
  }
)pb";

}  // namespace ashlar::kube
