// Pods, nodes, Services, controllers of pods and failures in Kubernetes' protobuf.
#include "fuzz/fuzz.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/selecting_objects.h"

namespace {

using namespace ashlar::kube;

template <class T>
void read_as(std::string_view bytes) {
  static_cast<void>(decode_object<T>(bytes).ok());
  static_cast<void>(decode_list<T>(bytes).ok());
  static_cast<void>(decode_watch_event<T>(bytes).ok());
}

void run(std::string_view bytes) {
  read_as<Pod>(bytes);
  read_as<Node>(bytes);
  read_as<Service>(bytes);
  read_as<ReplicationController>(bytes);
  read_as<ReplicaSet>(bytes);
  read_as<StatefulSet>(bytes);
  static_cast<void>(decode_status(bytes, Encoding::kProtobuf).ok());
}

}  // namespace

ASHLAR_FUZZ_TARGET(kube_protobuf)
