#include "cluster/filters/drawn_cluster.h"

#include <algorithm>

#include "cluster/filters/draw.h"
#include "cluster/filters/draw_node.h"
#include "cluster/filters/draw_pod.h"
#include "cluster/filters/draw_storage.h"
#include "kubeclient/json_writer.h"
#include "kubeclient/writes.h"

namespace ashlar::filters {

const std::vector<DrawnNamespace>& drawn_namespaces() {
  static const std::vector<DrawnNamespace> kAll = {
      {"team-a", {{"team", "red"}}}, {"team-b", {{"team", "blue"}, {"guest", "yes"}}}, {"team-c", {}}};
  return kAll;
}

namespace {

/// `part`: 0 the cluster itself, 1 what changes in it.
Draw draw_of(std::uint64_t run_seed, std::size_t number, std::uint64_t part) {
  return Draw(mix64(run_seed * 0x9e3779b97f4a7c15ull + number * 2 + part));
}

/// Where two pods of a node have the same port, kube-scheduler takes it for free when the first of them goes.
bool may_go(const DrawnCluster& cluster, const DrawnPod& pod) {
  return !pod.has_host_ports || std::none_of(cluster.bound.begin(), cluster.bound.end(), [&](const DrawnPod& other) {
    return other.name != pod.name && other.node == pod.node && other.has_host_ports;
  });
}

/// What is removed stays in the list of claims: pods may name what is gone.
/// A merge patch of its labels; keys without a value are taken away.
DrawnPatch namespace_labels(std::string_view ns, std::string_view team, std::string_view guest) {
  kube::JsonWriter w;
  w.begin_object().key("metadata").begin_object().key("labels").begin_object();
  for (const auto& [key, value] : {std::pair<const char*, std::string_view>{"team", team}, {"guest", guest}}) {
    if (value.empty())
      w.key(key).raw("null");
    else
      w.member(key, value);
  }
  w.end_object().end_object().end_object();
  return {"/api/v1/namespaces/" + std::string(ns), w.take()};
}

void draw_pod_changes(Draw& draw, const DrawnCluster& cluster, DrawnChange& change) {
  for (const DrawnPod& pod : cluster.bound) {
    const bool is_gone =
        std::ranges::any_of(change.removed, [&](const DrawnPod& gone) { return gone.name == pod.name; });
    if (is_gone || pod.is_terminating || !draw.chance(25)) continue;
    DrawnPodChange now = draw_pod_change(draw, pod);
    if (now.is_terminating && pod.has_host_ports) now.is_terminating = false;
    if (!now.labels.empty()) change.labels.push_back({kube::pod_path(pod.ns, pod.name), now.labels});
    DrawnPod changed = pod;
    changed.status = now.status;
    changed.is_terminating = now.is_terminating;
    change.changed_pods.push_back(std::move(changed));
  }
}

/// `names`: of all nodes but the beacon.
void draw_node_changes(Draw& draw, const std::vector<std::string>& names, DrawnChange& change) {
  for (const std::string& name : names) {
    const unsigned what = static_cast<unsigned>(draw.between(0, 99));
    if (what < 35) change.nodes.push_back(draw_node(draw, name));
    if (what >= 35 && what < 47) change.removed_nodes.push_back(name);
    if (what >= 40 && what < 47) change.new_nodes.push_back(draw_node(draw, name));
  }
}

DrawnStorage changed_storage(DrawnStorage storage, const DrawnChange& change) {
  std::erase_if(storage.objects, [&](const DrawnObject& object) {
    return std::any_of(change.removed_objects.begin(), change.removed_objects.end(),
                       [&](const DrawnObject& removed) { return removed.path() == object.path(); });
  });
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(storage.objects, change.storage.objects);
  append(storage.claims, change.storage.claims);
  storage.disks.insert(change.storage.disks.begin(), change.storage.disks.end());
  return storage;
}

}  // namespace

DrawnCluster draw_cluster(std::uint64_t run_seed, std::size_t number, const DrawOptions& options) {
  Draw draw = draw_of(run_seed, number, 0);
  const std::string prefix = "c" + std::to_string(number) + "-";
  DrawnCluster cluster{.run_seed = run_seed, .number = number};
  std::vector<std::string> names;
  for (std::size_t i = 0, count = draw.between(5, 12); i < count; ++i) {
    cluster.nodes.push_back(draw_node(draw, prefix + "n" + std::to_string(i)));
    names.push_back(cluster.nodes.back().name);
  }
  cluster.storage = draw_storage(draw, {.cluster_prefix = prefix, .prefix = prefix}, names);
  for (const std::string& node : names)
    if (draw.chance(85)) cluster.storage.objects.push_back(draw_csi_node(draw, node));
  const PodSurroundings around{options, names, {prefix, cluster.storage}};
  for (const std::string& node : names)
    for (std::size_t left = draw.between(0, 4); left > 0; --left)
      cluster.bound.push_back(draw_bound_pod(draw, prefix + "b" + std::to_string(cluster.bound.size()), node, around));
  for (std::size_t i = 0; i < options.waiting; ++i)
    cluster.waiting.push_back(draw_waiting_pod(draw, prefix + "w" + std::to_string(i), around));
  cluster.nodes.push_back(beacon_node(prefix + "beacon"));
  cluster.beacon_storage = beacon_storage(prefix + "beacon", cluster.nodes.back().name);
  cluster.beacon = pod_for(prefix + "beacon", cluster.nodes.back().name, options, cluster.beacon_storage.claims);
  return cluster;
}

DrawnChange draw_change(const DrawnCluster& cluster, const DrawOptions& options) {
  Draw draw = draw_of(cluster.run_seed, cluster.number, 1);
  const std::string prefix = "c" + std::to_string(cluster.number) + "-";
  DrawnChange change;
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < cluster.nodes.size(); ++i) names.push_back(cluster.nodes[i].name);
  draw_node_changes(draw, names, change);
  for (const DrawnPod& pod : cluster.bound)
    if (draw.chance(30) && may_go(cluster, pod)) change.removed.push_back(pod);
  draw_pod_changes(draw, cluster, change);
  for (const DrawnNamespace& ns : drawn_namespaces())
    if (draw.chance(15))
      change.labels.push_back(namespace_labels(ns.name, draw.one_of({"", "red", "blue"}), draw.one_of({"", "yes"})));
  draw_storage_change(draw, cluster, names, change);
  const DrawnStorage storage = changed_storage(cluster.storage, change);
  const PodSurroundings around{options, names, {prefix, storage}};
  for (std::size_t i = 0, count = draw.between(0, names.size()); i < count; ++i)
    change.bound.push_back(draw_bound_pod(draw, prefix + "d" + std::to_string(i), draw.one_of(names), around));
  for (std::size_t i = 0; i < options.waiting; ++i)
    change.waiting.push_back(draw_waiting_pod(draw, prefix + "v" + std::to_string(i), around));
  change.beacon_node = beacon_node(prefix + "second");
  change.beacon_storage = beacon_storage(prefix + "second", change.beacon_node.name);
  change.beacon = pod_for(prefix + "second", change.beacon_node.name, options, change.beacon_storage.claims);
  return change;
}

std::vector<DrawnPatch> first_namespace_labels() {
  std::vector<DrawnPatch> patches;
  for (const DrawnNamespace& ns : drawn_namespaces()) {
    std::map<std::string_view, std::string_view> labels(ns.labels.begin(), ns.labels.end());
    patches.push_back(namespace_labels(ns.name, labels["team"], labels["guest"]));
  }
  return patches;
}

DrawnCluster changed(DrawnCluster cluster, const DrawnChange& change) {
  std::erase_if(cluster.nodes, [&](const DrawnNode& node) {
    return std::ranges::find(change.removed_nodes, node.name) != change.removed_nodes.end();
  });
  cluster.nodes.insert(cluster.nodes.end(), change.new_nodes.begin(), change.new_nodes.end());
  for (const std::string& name : change.removed_nodes) cluster.notes.push_back("node " + name + " was deleted");
  for (const DrawnPatch& patch : change.labels) cluster.notes.push_back("patch of " + patch.path + ": " + patch.body);
  for (const DrawnPod& pod : change.changed_pods) {
    if (!pod.status.empty()) cluster.notes.push_back("status of " + pod.name + ": " + pod.status);
    if (pod.is_terminating) cluster.notes.push_back(pod.name + " is being deleted");
  }
  for (const DrawnNode& now : change.nodes)
    for (DrawnNode& node : cluster.nodes)
      if (node.name == now.name) node = now;
  cluster.nodes.push_back(change.beacon_node);
  std::erase_if(cluster.bound, [&](const DrawnPod& pod) {
    return std::any_of(change.removed.begin(), change.removed.end(),
                       [&](const DrawnPod& removed) { return removed.name == pod.name; });
  });
  cluster.bound.insert(cluster.bound.end(), change.bound.begin(), change.bound.end());
  cluster.storage = changed_storage(std::move(cluster.storage), change);
  cluster.waiting = change.waiting;
  cluster.beacon = change.beacon;
  cluster.beacon_storage = change.beacon_storage;
  return cluster;
}

}  // namespace ashlar::filters
