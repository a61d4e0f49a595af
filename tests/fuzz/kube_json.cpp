// The API server's answers in JSON: objects, lists, watch events, failures.
#include "fuzz/fuzz.h"
#include "kubeclient/decode/decode.h"

namespace {

using namespace ashlar::kube;

template <class T>
void read_as(std::string_view bytes) {
  static_cast<void>(decode_object<T>(bytes).ok());
  static_cast<void>(decode_list<T>(bytes).ok());
  static_cast<void>(decode_watch_event<T>(bytes).ok());
}

void run(std::string_view bytes) {
  read_as<Namespace>(bytes);
  read_as<PriorityClass>(bytes);
  read_as<DeviceClassObject>(bytes);
  read_as<QueueObject>(bytes);
  read_as<PodGroup>(bytes);
  static_cast<void>(decode_object<Lease>(bytes).ok());
  static_cast<void>(decode_status(bytes, Encoding::kJson).ok());
}

}  // namespace

ASHLAR_FUZZ_TARGET(kube_json)
