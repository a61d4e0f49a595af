#include "cluster/filters/draw_node.h"

#include <iterator>

#include "base/digest.h"
#include "cluster/filters/vocabulary.h"

namespace ashlar::filters {
namespace {

using kube::JsonWriter;

constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";
constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";

Pairs draw_labels(Draw& draw, const std::string& name) {
  Pairs labels;
  // kubelets may be given a name that is not the node's, or the same one
  if (draw.chance(95)) labels.emplace_back(kHostname, draw.chance(7) ? "one-host" : name);
  const auto add = [&](std::string_view key, unsigned percent) {
    if (draw.chance(percent)) labels.emplace_back(key, draw_label_value(draw, key));
  };
  add(kZone, 90);
  add(kRack, 60);
  add(kRegion, 40);
  add(kOldZone, 12);
  add(kOldRegion, 8);
  add(kGceZone, 30);
  add(kEbsZone, 30);
  add("disk", 60);
  add("size", 60);
  add("nvidia.com/gpu.product", 40);
  add("spare", 25);
  return labels;
}

void write_taint(JsonWriter& w, std::string_view key, const std::string& value, std::string_view effect) {
  w.begin_object().member("key", key);
  if (!value.empty()) w.member("value", value);
  w.member("effect", effect).end_object();
}

void write_taints(JsonWriter& w, Draw& draw, bool is_ready, bool is_unschedulable) {
  w.key("taints").begin_array();
  if (draw.chance(35)) {
    const std::string key = draw_taint_key(draw), value = draw_taint_value(draw);
    write_taint(w, key, value, draw.one_of({"NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"}));
    // another effect, since key and effect together are unique
    if (draw.chance(15))
      write_taint(w, "maintenance", draw_taint_value(draw), draw.one_of({"NoSchedule", "NoExecute"}));
  }
  if (draw.chance(18))
    write_taint(w, kTier, draw_tier(draw, false), draw.one_of({"NoSchedule", "NoSchedule", "NoExecute"}));
  // what the node controllers would add
  if (!is_ready) write_taint(w, kNotReadyTaint, "", "NoSchedule");
  if (is_unschedulable && draw.chance(50)) write_taint(w, kUnschedulableTaint, "", "NoSchedule");
  w.end_array();
}

Pairs draw_allocatable(Draw& draw) {
  Pairs amounts{{"cpu", draw.one_of({"1", "2", "4", "8", "1500m"})},
                {"memory", draw.one_of({"1Gi", "2Gi", "4Gi", "8Gi", "2000000000", "1536Mi"})},
                {"pods", draw.chance(8) ? draw.one_of({"0", "3"}) : "110"}};
  if (draw.chance(85)) amounts.emplace_back("ephemeral-storage", draw.one_of({"2Gi", "10Gi", "1G"}));
  if (draw.chance(55)) amounts.emplace_back("nvidia.com/gpu", draw.one_of({"0", "1", "4", "8"}));
  if (draw.chance(75)) amounts.emplace_back("example.com/foo", draw.one_of({"1", "2", "5"}));
  if (draw.chance(55)) amounts.emplace_back("example.com/bar", draw.one_of({"1", "3"}));
  if (draw.chance(50)) amounts.emplace_back("hugepages-2Mi", draw.one_of({"4Mi", "64Mi"}));
  return amounts;
}

/// An image is as large on all nodes of a cluster: kube-scheduler takes the size of the node that it sees first.
std::int64_t image_size(std::string_view image, std::string_view node) {
  constexpr std::int64_t kSizes[] = {1'000'000, 30'000'000, 400'000'000, 900'000'000, 2'500'000'000};
  std::uint64_t hash = 0;
  for (const std::string_view part : {image, node.substr(0, node.rfind('n'))})
    for (const char c : part) hash = hash_combine(hash, static_cast<std::uint64_t>(c));
  return kSizes[hash % std::size(kSizes)];
}

void write_images(JsonWriter& w, Draw& draw, std::string_view node) {
  w.key("images").begin_array();
  for (const char* name : {"pause:latest", "large:latest", "large:v1", "small:v1"}) {
    if (!draw.chance(40)) continue;
    w.begin_object();
    write_strings(w, "names", {name});
    w.member("sizeBytes", image_size(name, node)).end_object();
  }
  w.end_array();
}

void write_status(JsonWriter& w, Draw* draw, std::string_view node, const Pairs& allocatable, bool is_ready,
                  const std::vector<std::string>& features) {
  w.key("status").begin_object();
  write_pairs(w, "capacity", allocatable);
  write_pairs(w, "allocatable", allocatable);
  w.key("conditions").begin_array().begin_object().member("type", "Ready");
  w.member("status", is_ready ? "True" : "False").member("reason", "Drawn").end_object().end_array();
  if (!features.empty()) write_strings(w, "declaredFeatures", features);
  if (draw != nullptr) write_images(w, *draw, node);
  w.end_object();
}

}  // namespace

DrawnNode draw_node(Draw& draw, const std::string& name) {
  const bool is_ready = draw.chance(96), is_unschedulable = draw.chance(14);
  JsonWriter w;
  w.begin_object().member("apiVersion", "v1").member("kind", "Node");
  w.key("metadata").begin_object().member("name", name);
  write_pairs(w, "labels", draw_labels(draw, name));
  w.end_object().key("spec").begin_object();
  if (is_unschedulable) w.member_bool("unschedulable", true);
  write_taints(w, draw, is_ready, is_unschedulable);
  w.end_object();
  std::vector<std::string> features;
  for (const std::string_view feature : kFeatures)
    if (draw.chance(55)) features.emplace_back(feature);
  write_status(w, &draw, name, draw_allocatable(draw), is_ready, features);
  w.end_object();
  return {name, w.take()};
}

DrawnNode beacon_node(const std::string& name) {
  JsonWriter w;
  w.begin_object().member("apiVersion", "v1").member("kind", "Node");
  w.key("metadata").begin_object().member("name", name).end_object().key("spec").begin_object();
  w.key("taints").begin_array();
  write_taint(w, "beacon", "", "NoSchedule");
  w.end_array().end_object();
  write_status(w, nullptr, name, {{"cpu", "8"}, {"memory", "8Gi"}, {"pods", "110"}}, true, {});
  w.end_object();
  return {name, w.take()};
}

}  // namespace ashlar::filters
