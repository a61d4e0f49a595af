// selecting_protobuf: what is kept of Services and controllers of pods, as object_protobuf.h. Private to the folder.
#pragma once

#include <string>

#include "kubeclient/decode/unknown_fields.h"
#include "kubeclient/proto/messages.h"
#include "kubeclient/selecting_objects.h"

namespace ashlar::kube::proto {

void read_object(const pb::Service& from, const UnknownFields& unknown, Service& service, std::string& problem);
void read_object(const pb::ReplicationController& from, const UnknownFields& unknown, ReplicationController& controller,
                 std::string& problem);
void read_object(const pb::ReplicaSet& from, const UnknownFields& unknown, ReplicaSet& set, std::string& problem);
void read_object(const pb::StatefulSet& from, const UnknownFields& unknown, StatefulSet& set, std::string& problem);

}  // namespace ashlar::kube::proto
