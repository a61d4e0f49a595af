// volume_protobuf: what is kept of claims, volumes and storage classes, and of what CSI drivers say, as
// object_protobuf.h. Private to the folder.
#pragma once

#include <string>

#include "kubeclient/decode/unknown_fields.h"
#include "kubeclient/proto/messages.h"
#include "kubeclient/volumes/volume_objects.h"

namespace ashlar::kube::proto {

void read_object(const pb::PersistentVolumeClaim& from, const UnknownFields& unknown, PersistentVolumeClaim& claim,
                 std::string& problem);
void read_object(const pb::PersistentVolume& from, const UnknownFields& unknown, PersistentVolume& volume,
                 std::string& problem);
void read_object(const pb::StorageClass& from, const UnknownFields& unknown, StorageClass& storage_class,
                 std::string& problem);
void read_object(const pb::CSINode& from, const UnknownFields& unknown, CsiNode& node, std::string& problem);
void read_object(const pb::CSIDriver& from, const UnknownFields& unknown, CsiDriver& driver, std::string& problem);
void read_object(const pb::CSIStorageCapacity& from, const UnknownFields& unknown, CsiStorageCapacity& capacity,
                 std::string& problem);
void read_object(const pb::VolumeAttachment& from, const UnknownFields& unknown, VolumeAttachment& attachment,
                 std::string& problem);

}  // namespace ashlar::kube::proto
