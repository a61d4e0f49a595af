// protobuf: the protobuf half of decode.h: pods and nodes in Kubernetes' envelope ("k8s\0" + runtime.Unknown). Private
// to the folder.
#pragma once

#include <string_view>

#include "kubeclient/decode/decode.h"

namespace ashlar::kube::proto {

template <class T>
Result<T> decode_object(std::string_view body);
template <class T>
Result<ListPage<T>> decode_list(std::string_view body);
template <class T>
Result<WatchEvent<T>> decode_watch_event(std::string_view frame);
Result<StatusText> decode_status(std::string_view body);

}  // namespace ashlar::kube::proto
