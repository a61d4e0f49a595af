// in_envelope: a message as the API server wraps its binary answers.
#pragma once

#include <string>

#include "kubeclient/proto/messages.h"

namespace ashlar::kube {

inline std::string in_envelope(const google::protobuf::MessageLite& message) {
  pb::Unknown envelope;
  message.SerializeToString(envelope.mutable_raw());
  return std::string("k8s\0", 4) + envelope.SerializeAsString();
}

}  // namespace ashlar::kube
