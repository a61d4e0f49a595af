// Nodes and pods in a few words, as the API server would tell of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "kubeclient/objects.h"

namespace ashlar::kube {

struct ClusterObjects {
  static Node node(const std::string& name, std::int64_t gpus, Labels labels = {}) {
    Node n;
    n.name = PooledString(name);
    n.ready = ConditionStatus::kTrue;
    n.allocatable.cpu = MilliCores(64'000);
    n.allocatable.memory = Bytes(std::int64_t{512} << 30);
    n.pods_max = 110;
    n.allocatable.extended = {{PooledString("ashlar.dev/gpu-milli"), gpus * 1000},
                              {PooledString("nvidia.com/gpu"), gpus}};
    n.labels = std::move(labels);
    return n;
  }
  static Pod pod(const std::string& name, std::int64_t gpus, Labels labels = {}, const std::string& ns = "ns") {
    Pod p;
    p.ns = PooledString(ns);
    p.name = PooledString(name);
    p.uid = PooledString("uid-" + ns + "-" + name);
    p.scheduler_name = PooledString("ashlar");
    p.requests.cpu = MilliCores(1000);
    if (gpus > 0) p.requests.extended = {{PooledString("nvidia.com/gpu"), gpus}};
    p.labels = std::make_shared<const Labels>(std::move(labels));
    return p;
  }
  static Pod share(const std::string& name, std::int64_t milli) {
    Pod p = pod(name, 0);
    p.requests.extended = {{PooledString("ashlar.dev/gpu-milli"), milli}};
    return p;
  }
  static Pod gang_pod(const std::string& gang, int index, int size, std::int64_t gpus) {
    return pod(gang + "-" + std::to_string(index), gpus,
               {{PooledString("ashlar.dev/gang"), PooledString(gang)},
                {PooledString("ashlar.dev/gang-size"), PooledString(std::to_string(size))}});
  }
  /// The pod with this annotation and no other.
  static Pod annotated(Pod p, const std::string& key, const std::string& value) {
    p.annotations = std::make_shared<const Labels>(Labels{{PooledString(key), PooledString(value)}});
    return p;
  }
  /// The pod with another label added.
  static Pod with(Pod p, const std::string& key, const std::string& value) {
    Labels labels = p.labels ? *p.labels : Labels();
    labels.push_back({PooledString(key), PooledString(value)});
    p.labels = std::make_shared<const Labels>(std::move(labels));
    return p;
  }
  static Pod on(Pod p, const std::string& node_name) {
    p.node_name = PooledString(node_name);
    return p;
  }
  /// A PodGroup of the gang policy; with a topology key, in one domain of it.
  static PodGroup group(const std::string& name, int min_count, const std::string& topology_key = "") {
    PodGroup g;
    g.ns = PooledString("ns");
    g.name = PooledString(name);
    g.uid = PooledString("uid-" + name);
    g.min_count = min_count;
    g.topology_key = PooledString(topology_key);
    return g;
  }
  /// The pod GROUP-INDEX of a PodGroup.
  static Pod member(const std::string& group, int index, std::int64_t gpus = 8) {
    Pod p = pod(group + "-" + std::to_string(index), gpus);
    p.group_name = PooledString(group);
    return p;
  }
  static Pod under(Pod p, PodRules rules) {
    p.rules = std::make_shared<const PodRules>(std::move(rules));
    return p;
  }
};

}  // namespace ashlar::kube
