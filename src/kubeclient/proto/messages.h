// messages: Kubernetes' messages under one short name, ashlar::kube::pb. Slow to compile: included by decoders and by
// what writes protobuf, nowhere else.
#pragma once

#include "kubeclient/proto/identity.pb.h"
#include "kubeclient/proto/k8s.io/api/apps/v1/generated.pb.h"
#include "kubeclient/proto/k8s.io/api/core/v1/generated.pb.h"
#include "kubeclient/proto/k8s.io/api/storage/v1/generated.pb.h"
#include "kubeclient/proto/k8s.io/apimachinery/pkg/runtime/generated.pb.h"
#include "kubeclient/proto/pairs.pb.h"

// NOLINTBEGIN(google-build-using-namespace): generated names, one namespace for each package
namespace ashlar::kube::pb {
using namespace k8s::io::api::apps::v1;
using namespace k8s::io::api::core::v1;
using namespace k8s::io::api::storage::v1;
using namespace k8s::io::apimachinery::pkg::api::resource;
using namespace k8s::io::apimachinery::pkg::apis::meta::v1;
using namespace k8s::io::apimachinery::pkg::runtime;
}  // namespace ashlar::kube::pb
// NOLINTEND(google-build-using-namespace)
