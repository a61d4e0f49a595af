// object_protobuf: what is kept of one pod or node that is a sound message. An error inside it (a malformed quantity)
// is noted in `problem` and reading continues. Private to the folder.
#pragma once

#include <string>

#include "kubeclient/decode/unknown_fields.h"
#include "kubeclient/objects.h"
#include "kubeclient/proto/messages.h"

namespace ashlar::kube::proto {

void read_object(const pb::Pod& from, const UnknownFields& unknown, Pod& pod, std::string& problem);
void read_object(const pb::Node& from, const UnknownFields& unknown, Node& node, std::string& problem);

}  // namespace ashlar::kube::proto
