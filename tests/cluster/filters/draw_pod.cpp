#include "cluster/filters/draw_pod.h"

#include <algorithm>

#include "cluster/filters/draw_containers.h"
#include "cluster/filters/draw_rules.h"
#include "cluster/filters/storage_objects.h"
#include "cluster/filters/vocabulary.h"

namespace ashlar::filters {
namespace {

using kube::JsonWriter;

/// A pod is not tried before the claims that it owns are there.
constexpr const char* kGates = R"([{"name":"example.com/claims"}])";

/// Up to the spec.
void begin_pod(JsonWriter& w, const DrawnPod& pod, const Pairs& labels) {
  w.begin_object().member("apiVersion", "v1").member("kind", "Pod");
  w.key("metadata").begin_object().member("name", pod.name).member("namespace", pod.ns);
  write_pairs(w, "labels", labels);
  w.end_object().key("spec").begin_object();
}

/// Amounts of the pod as a whole: no less than its containers request, or the server refuses it.
void write_pod_level(JsonWriter& w, Draw& draw) {
  Pairs amounts;
  if (draw.chance(70)) amounts.emplace_back("cpu", draw.one_of({"1", "2", "3"}));
  if (draw.chance(70)) amounts.emplace_back("memory", draw.one_of({"1Gi", "2Gi", "3Gi"}));
  const bool has_huge_pages = !amounts.empty() && draw.chance(12);
  if (has_huge_pages) amounts.emplace_back("hugepages-2Mi", draw.one_of({"4Mi", "32Mi", "64Mi"}));
  if (amounts.empty()) return;
  w.key("resources").begin_object();
  // the server takes limits for requests
  const bool has_limits = has_huge_pages || draw.chance(20);
  if (!has_limits || draw.chance(50)) write_pairs(w, "requests", amounts);
  if (has_limits) write_pairs(w, "limits", amounts);
  w.end_object();
}

void write_overhead(JsonWriter& w, Draw& draw, bool may_be_fraction) {
  Pairs amounts{{"cpu", may_be_fraction ? "500u" : draw.one_of({"100m", "250m"})}};
  if (draw.chance(60)) amounts.emplace_back("memory", may_be_fraction ? "1500m" : "64Mi");
  write_pairs(w, "overhead", amounts);
}

/// Such as each node can mount.
void write_simple_volumes(JsonWriter& w, Draw& draw, bool needs_scratch) {
  if (needs_scratch)
    w.begin_object().member("name", "scratch").key("emptyDir").begin_object().end_object().end_object();
  if (draw.chance(3)) {
    w.begin_object().member("name", "inline").key("csi").begin_object();
    w.member("driver", draw.one_of({kPlainDriver, kInsistingDriver})).end_object().end_object();
  }
  if (!draw.chance(10)) return;
  const std::string kind = draw.one_of({"configMap", "secret", "hostPath"});
  w.begin_object().member("name", "more").key(kind).begin_object();
  w.member(kind == "hostPath" ? "path"
           : kind == "secret" ? "secretName"
                              : "name",
           kind == "hostPath" ? "/more" : "more");
  w.end_object().end_object();
}

/// What both kinds of pods may have.
DrawnContainers write_common(JsonWriter& w, Draw& draw, const VolumeSources& sources, DrawnPod& pod) {
  const bool is_waiting = pod.node.empty();
  const bool is_on_host_network = draw.chance(6);
  if (is_on_host_network) w.member_bool("hostNetwork", true);
  const bool has_own_users = is_on_host_network ? draw.chance(60) : draw.chance(3);
  if (has_own_users) w.member_bool("hostUsers", false);
  const bool is_light = pod.is_about_volumes;
  DrawnContainers drawn = write_containers(
      w, draw, {.is_waiting = is_waiting, .is_on_host_network = is_on_host_network, .is_light = is_light});
  drawn.needs_features = drawn.needs_features || (is_on_host_network && has_own_users);
  w.key("volumes").begin_array();
  write_simple_volumes(w, draw, drawn.needs_bind_options);
  write_drawn_volumes(w, draw, sources, pod);
  w.end_array();
  if (!is_light && draw.chance(10)) write_overhead(w, draw, !drawn.has_fraction && draw.chance(40));
  if (!is_light && draw.chance(12)) write_pod_level(w, draw);
  return drawn;
}

/// Of a container that is resized in place.
void write_container_status(JsonWriter& w, Draw& draw, const std::string& name) {
  w.begin_object().member("name", name).member("image", "i");
  w.member("imageID", "i").member_bool("ready", true).member("restartCount", std::int64_t{0});
  const auto amounts = [&] {
    return Pairs{{"cpu", draw.one_of({"100m", "250m", "750m", "1"})},
                 {"memory", draw.one_of({"64Mi", "512Mi", "768Mi"})}};
  };
  if (draw.chance(80)) write_pairs(w, "allocatedResources", amounts());
  if (draw.chance(60)) {
    w.key("resources").begin_object();
    write_pairs(w, "requests", amounts());
    w.end_object();
  }
  w.end_object();
}

/// Of a resize in place, what the kubelet says of some containers and of the whole pod. Of an infeasible one Ashlar
/// keeps the extended resources that a status lacks; kube-scheduler counts nothing: such pods get none.
void write_resize(JsonWriter& w, Draw& draw, const DrawnContainers& containers) {
  const bool may_be_infeasible = !containers.has_extended;
  const Pairs granted{{"cpu", draw.one_of({"100m", "250m", "750m", "1"})},
                      {"memory", draw.one_of({"64Mi", "512Mi", "768Mi"})}};
  const Pairs in_force{{"cpu", draw.one_of({"100m", "500m", "1"})}, {"memory", draw.one_of({"32Mi", "512Mi", "1Gi"})}};
  w.key("containerStatuses").begin_array();
  for (const std::string& name : containers.names)
    if (name == containers.names.front() || draw.chance(60)) write_container_status(w, draw, name);
  w.end_array();
  if (!containers.init_names.empty() && draw.chance(60)) {
    w.key("initContainerStatuses").begin_array();
    for (const std::string& name : containers.init_names)
      if (draw.chance(70)) write_container_status(w, draw, name);
    w.end_array();
  }
  if (draw.chance(30)) write_pairs(w, "allocatedResources", granted);
  if (draw.chance(30)) {
    w.key("resources").begin_object();
    if (draw.chance(80)) write_pairs(w, "requests", in_force);
    w.end_object();
  }
  if (!draw.chance(50)) return;
  const bool is_in_progress = draw.chance(25);
  w.key("conditions").begin_array().begin_object();
  w.member("type", is_in_progress ? "PodResizeInProgress" : "PodResizePending");
  w.member("status", draw.chance(90) ? "True" : "False");
  if (!is_in_progress) w.member("reason", may_be_infeasible && draw.chance(70) ? "Infeasible" : "Deferred");
  w.end_object().end_array();
}

/// A bound pod may have ended. One with host ports has not: where two pods of a node have the same port, kube-scheduler
/// takes it for free when the first of them ends.
std::string draw_status(Draw& draw, const DrawnContainers& containers) {
  JsonWriter w;
  w.begin_object().key("status").begin_object();
  if (draw.chance(30))
    w.member("phase", containers.has_host_ports ? "Running" : draw.one_of({"Succeeded", "Failed"}));
  else
    write_resize(w, draw, containers);
  w.end_object().end_object();
  return w.take();
}

/// A pod that may run on most nodes, and would rather be on some.
DrawnPod draw_preferring_pod(Draw& draw, DrawnPod pod, const PodSurroundings& around) {
  JsonWriter w;
  begin_pod(w, pod, draw_pod_labels(draw));
  w.member("schedulerName", around.options.scheduler_name);
  write_containers(w, draw, {.is_waiting = true, .is_light = true});
  if (draw.chance(60))
    w.key("tolerations")
        .raw(R"([{"operator":"Exists","effect":"NoSchedule"},{"operator":"Exists","effect":"NoExecute"}])");
  else
    write_tolerations(w, draw, pod.features);
  write_affinity(w, draw,
                 {.has_node_affinity = draw.chance(10),
                  .has_pod_affinity = draw.chance(5),
                  .has_pod_anti_affinity = draw.chance(8),
                  .has_preferences = draw.chance(75),
                  .preferred_terms_max = 3},
                 around.nodes, pod.features);
  if (draw.chance(50)) write_topology_spread(w, draw, draw.chance(15));
  w.end_object().end_object();
  pod.body = w.take();
  return pod;
}

}  // namespace

DrawnPod draw_bound_pod(Draw& draw, const std::string& name, const std::string& node, const PodSurroundings& around) {
  DrawnPod pod{.ns = draw.one_of({"team-a", "team-b", "team-c"}), .name = name, .node = node};
  JsonWriter w;
  begin_pod(w, pod, draw_pod_labels(draw));
  w.member("schedulerName", draw.chance(50) ? around.options.scheduler_name : "default-scheduler")
      .member("nodeName", node);
  const DrawnContainers containers = write_common(w, draw, around.volumes, pod);
  pod.has_host_ports = containers.has_host_ports;
  pod.keeps_others_away = draw.chance(12);
  write_affinity(w, draw,
                 {.has_node_affinity = false,
                  .has_pod_affinity = draw.chance(around.options.is_about_preferences ? 20 : 5),
                  .has_pod_anti_affinity = pod.keeps_others_away,
                  .has_preferences = around.options.is_about_preferences && draw.chance(40),
                  .preferred_terms_max = 2},
                 {node}, pod.features);
  w.end_object().end_object();
  pod.body = w.take();
  if (draw.chance(22)) pod.status = draw_status(draw, containers);
  pod.is_terminating = draw.chance(8);
  return pod;
}

DrawnPodChange draw_pod_change(Draw& draw, const DrawnPod& pod) {
  DrawnPodChange change;
  if (draw.chance(50)) {
    JsonWriter w;
    w.begin_object().key("metadata").begin_object().key("labels").begin_object();
    const Pairs now = draw_pod_labels(draw);
    for (const char* key : {"app", "version", "track"}) {
      const auto it = std::ranges::find(now, key, [](const auto& label) { return label.first; });
      if (it == now.end())
        w.key(key).raw("null");
      else
        w.member(key, it->second);
    }
    w.end_object().end_object().end_object();
    change.labels = w.take();
  }
  if (draw.chance(30))
    change.status =
        draw_status(draw, {.names = {"main-0"}, .has_extended = true, .has_host_ports = pod.has_host_ports});
  change.is_terminating = draw.chance(15);
  return change;
}

DrawnPod draw_waiting_pod(Draw& draw, const std::string& name, const PodSurroundings& around) {
  const DrawOptions& options = around.options;
  DrawnPod pod{.ns = draw.one_of({"team-a", "team-b", "team-c"}), .name = name};
  if (options.is_about_preferences) return draw_preferring_pod(draw, std::move(pod), around);
  pod.is_about_volumes = draw.chance(45);
  JsonWriter w;
  begin_pod(w, pod, draw_pod_labels(draw));
  w.member("schedulerName", options.scheduler_name);
  const DrawnContainers drawn = write_common(w, draw, around.volumes, pod);
  if (!pod.owned.empty()) w.key("schedulingGates").raw(kGates);
  if (pod.is_about_volumes && draw.chance(80)) {
    if (draw.chance(75)) w.key("tolerations").raw(R"([{"operator":"Exists"}])");
  } else {
    if (draw.chance(18)) write_node_selector(w, draw);
    if (draw.chance(55)) write_tolerations(w, draw, pod.features);
    write_affinity(w, draw,
                   {.has_node_affinity = draw.chance(28),
                    .has_pod_affinity = options.has_company && draw.chance(25),
                    .has_pod_anti_affinity = options.has_company && draw.chance(30),
                    .has_preferences = draw.chance(15)},
                   around.nodes, pod.features);
    if (draw.chance(options.has_company ? 35 : 8)) {
      write_topology_spread(w, draw, options.has_company);
      if (drawn.needs_features) pod.features.insert("spread, and features of nodes");
    }
  }
  w.end_object().end_object();
  pod.body = w.take();
  return pod;
}

DrawnPod pod_for(const std::string& name, const std::string& node, const DrawOptions& options,
                 const std::vector<DrawnClaim>& claims) {
  DrawnPod pod{.ns = "team-a", .name = name};
  JsonWriter w;
  begin_pod(w, pod, {});
  w.member("schedulerName", options.scheduler_name);
  w.key("containers").begin_array().begin_object().member("name", "main").member("image", "pause");
  w.end_object().end_array();
  w.key("volumes").begin_array();
  for (const DrawnClaim& claim : claims) {
    w.begin_object().member("name", "v" + std::to_string(&claim - claims.data()));
    w.key("persistentVolumeClaim").begin_object().member("claimName", claim.name).end_object().end_object();
  }
  w.end_array();
  w.key("tolerations").begin_array().begin_object().member("operator", "Exists").end_object().end_array();
  w.key("affinity").begin_object().key("nodeAffinity").begin_object();
  w.key("requiredDuringSchedulingIgnoredDuringExecution").begin_object().key("nodeSelectorTerms").begin_array();
  w.begin_object().key("matchFields").begin_array().begin_object().member("key", "metadata.name");
  w.member("operator", "In");
  write_strings(w, "values", {node});
  w.end_object().end_array().end_object().end_array().end_object().end_object().end_object();
  w.end_object().end_object();
  pod.body = w.take();
  return pod;
}

}  // namespace ashlar::filters
