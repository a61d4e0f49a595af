#include "oracle/binding_world.h"

#include <algorithm>

#include "base/digest.h"
#include "base/rng.h"
#include "cluster/filters/draw.h"
#include "cluster/filters/storage_objects.h"
#include "cluster/filters/vocabulary.h"
#include "kubeclient/json_writer.h"

namespace ashlar::binding {
namespace {

using filters::ClaimSpec;
using filters::Draw;
using filters::kHostname;
using filters::kZone;
using kube::JsonWriter;

constexpr const char* kNamespace = "team-a";
constexpr std::string_view kWorld = "example.com/world";
constexpr const char* kNotDriven = R"("local":{"path":"/mnt"})";

/// Draws one world.
class WorldDraw {
 public:
  explicit WorldDraw(const WorldOptions& options)
      : draw_(mix64(options.seed * 0x9e3779b97f4a7c15ull + options.number)), options_(options) {
    world_.prefix = options.prefix;
  }
  World all();

 private:
  std::string name(const std::string& end) const { return world_.prefix + end; }
  /// Of the world's nodes, which alone its pods may use.
  std::string label() const { return world_.prefix.substr(0, world_.prefix.size() - 1); }
  void add_nodes();
  void add_classes();
  void add_capacities();
  DrawnObject draw_volume(const std::string& end);
  /// Nodes with one of the values for the label.
  Names nodes_with(std::string_view key, const std::vector<std::string>& values) const;
  Step draw_pod(std::size_t number);
  std::string draw_claim(Step& step, DrawnPod& pod, const std::string& end);
  void write_claims(JsonWriter& w, Step& step, DrawnPod& pod, std::size_t number);

  Draw draw_;
  const WorldOptions& options_;
  World world_;
  std::vector<std::string> node_names_, shared_;  ///< claims that others may name too
  std::size_t volumes_ = 0;
};

void WorldDraw::add_nodes() {
  for (std::size_t i = 0, count = draw_.between(3, 4); i < count; ++i) {
    const std::string node = name("n" + std::to_string(i));
    const std::map<std::string, std::string> labels{{std::string(kHostname), node},
                                                    {std::string(kZone), draw_.one_of({"z0", "z1"})},
                                                    {std::string(kWorld), label()}};
    JsonWriter w;
    w.begin_object().member("apiVersion", "v1").member("kind", "Node").key("metadata").begin_object();
    w.member("name", node);
    filters::write_pairs(w, "labels", {labels.begin(), labels.end()});
    w.end_object().key("status").begin_object();
    for (const char* kind : {"capacity", "allocatable"})
      filters::write_pairs(w, kind, {{"cpu", "8"}, {"memory", "8Gi"}, {"pods", "110"}});
    w.key("conditions").begin_array().begin_object().member("type", "Ready").member("status", "True");
    w.member("reason", "Drawn").end_object().end_array().end_object().end_object();
    world_.nodes.push_back({node, w.take()});
    world_.labels[node] = labels;
    node_names_.push_back(node);
    std::vector<filters::NodeDriver> drivers{{filters::kPlainDriver, std::nullopt},
                                             {filters::kSizedDriver, std::nullopt}};
    if (draw_.chance(35)) {
      world_.volumes_max[node] = draw_.between(1, 2);
      drivers[0].volumes_max = static_cast<std::int64_t>(world_.volumes_max[node]);
    }
    if (draw_.chance(85)) drivers.push_back({filters::kInsistingDriver, std::nullopt});
    world_.objects.push_back(filters::csi_node(node, drivers, std::nullopt));
  }
}

Names WorldDraw::nodes_with(std::string_view key, const std::vector<std::string>& values) const {
  Names names;
  for (const auto& [node, labels] : world_.labels)
    if (std::ranges::find(values, labels.at(std::string(key))) != values.end()) names.insert(node);
  return names;
}

void WorldDraw::add_classes() {
  const auto add = [&](const char* end, std::string_view driver, bool is_late) {
    const std::string of = name(end);
    filters::ClassSpec spec{of, driver, is_late};
    if (driver != filters::kNoProvisioner) {
      MadeClass made{.driver = std::string(driver),
                     .topology_key = std::string(draw_.chance(50) ? kZone : kHostname),
                     .nodes = Names(node_names_.begin(), node_names_.end()),
                     .is_late = is_late};
      if (draw_.chance(60)) {
        const std::string value = made.topology_key == kZone ? draw_.one_of({"z0", "z1"}) : draw_.one_of(node_names_);
        spec.topologies = filters::allowed_topology(made.topology_key, {value});
        made.nodes = nodes_with(made.topology_key, {value});
      }
      world_.made[of] = std::move(made);
    }
    world_.objects.push_back(filters::storage_class(spec));
  };
  add("late", filters::kNoProvisioner, true);
  add("made", filters::kPlainDriver, true);
  add("sized", filters::kSizedDriver, true);
  add("insists", filters::kInsistingDriver, true);
  add("now", filters::kNoProvisioner, false);
  add("now-made", filters::kPlainDriver, false);
}

void WorldDraw::add_capacities() {
  for (const char* zone : {"z0", "z1"}) {
    if (!draw_.chance(70)) continue;
    const std::string more = R"("capacity":")" + draw_.one_of({"1Gi", "2Gi", "10Gi"}) +
                             R"(","nodeTopology":{"matchLabels":{")" + std::string(kZone) + R"(":")" + zone + R"(",")" +
                             std::string(kWorld) + R"(":")" + label() + "\"}}";
    world_.objects.push_back(filters::storage_capacity(name(std::string("cap-") + zone), name("sized"), more));
  }
}

/// Sizes of a world are unlike, so that the smallest one that will do is always the same.
DrawnObject WorldDraw::draw_volume(const std::string& end) {
  filters::VolumeSpec of{.name = name(end),
                         .class_name = name(draw_.one_of({"late", "late", "late", "now", "made"})),
                         .source = kNotDriven};
  of.size = std::to_string(1024 * draw_.between(1, 4) + 7 * volumes_++) + "Mi";
  of.access = {"ReadWriteOnce", "ReadWriteMany"};
  if (draw_.chance(12)) of.access = {"ReadWriteOncePod"};
  if (draw_.chance(25)) of.labels = {{"tier", "gold"}};
  // before it is bound, the volume of a claim counts by its class, of which no driver makes any
  if (!of.class_name.ends_with("late") && draw_.chance(50)) {
    of.source = filters::csi_source(filters::kPlainDriver, of.name);
    world_.plain_volumes.insert(of.name);
  }
  Names& nodes = world_.nodes_of_volume[of.name];
  if (draw_.chance(55)) {
    const std::vector<std::string> there{draw_.one_of(node_names_)};
    of.affinity = filters::has_label(kHostname, there);
    nodes = nodes_with(kHostname, there);
  } else if (of.source == kNotDriven || draw_.chance(60)) {
    const std::vector<std::string> zones{draw_.one_of({"z0", "z1"})};
    of.affinity = filters::has_label(kZone, zones);
    nodes = nodes_with(kZone, zones);
  } else {
    nodes = Names(node_names_.begin(), node_names_.end());
  }
  return filters::volume(of);
}

/// A new claim of the pod; its name.
std::string WorldDraw::draw_claim(Step& step, DrawnPod& pod, const std::string& end) {
  const std::string kind =
      draw_.one_of({"late", "late", "late", "late", "made", "made", "sized", "insists", "now", "now-made"});
  ClaimSpec spec{.ns = kNamespace, .name = name(end), .class_name = name(kind)};
  spec.size = draw_.one_of({"1Gi", "1Gi", "2Gi", "3Gi"});
  pod.features.insert("claim of class " + kind);
  if (draw_.chance(12)) {
    spec.access = {"ReadWriteOncePod"};
    world_.for_one_pod.insert(spec.name);
    pod.features.insert("claim for one pod");
  }
  if (kind == "late" && draw_.chance(12)) {
    spec.selector = R"({"matchLabels":{"tier":"gold"}})";
    pod.features.insert("claim with a selector");
  }
  // a shared volume of a limited driver is counted once more by Ashlar, on purpose
  if (kind == "late" && draw_.chance(40)) shared_.push_back(spec.name);
  if (does_fail_first(end) && world_.made.contains(spec.class_name) && world_.made[spec.class_name].is_late)
    pod.features.insert("provisioning that fails once");
  step.claims.push_back(filters::claim(spec));
  return spec.name;
}

void WorldDraw::write_claims(JsonWriter& w, Step& step, DrawnPod& pod, std::size_t number) {
  std::vector<std::string>& claims = world_.claims_of[pod.name];
  const auto add = [&](const std::string& claim) {
    if (std::ranges::find(claims, claim) != claims.end()) return;
    w.begin_object().member("name", "v" + std::to_string(claims.size())).key("persistentVolumeClaim").begin_object();
    w.member("claimName", claim).end_object().end_object();
    claims.push_back(claim);
  };
  if (draw_.chance(20) && !shared_.empty()) {
    add(draw_.one_of(shared_));
    pod.features.insert("claim that another pod has");
  }
  const std::size_t count = draw_.chance(55) ? 1 : draw_.between(0, 3);
  for (std::size_t i = 0; i < count; ++i)
    add(draw_claim(step, pod, "c" + std::to_string(number) + "-" + std::to_string(i)));
  if (count > 1) pod.features.insert("several claims");
  if (!draw_.chance(12)) return;
  const std::string of = draw_.one_of({"late", "made"});
  w.begin_object().member("name", "own").key("ephemeral").begin_object().key("volumeClaimTemplate").begin_object();
  filters::write_claim_spec(w, {.ns = kNamespace, .name = "", .class_name = name(of)});
  w.end_object().end_object().end_object();
  claims.push_back(pod.name + "-own");
  pod.features.insert("ephemeral volume");
}

Step WorldDraw::draw_pod(std::size_t number) {
  Step step;
  DrawnPod pod{.ns = kNamespace, .name = name("p" + std::to_string(number))};
  JsonWriter w;
  w.begin_object().member("apiVersion", "v1").member("kind", "Pod").key("metadata").begin_object();
  w.member("name", pod.name).end_object().key("spec").begin_object();
  w.member("schedulerName", options_.scheduler_name);
  w.key("containers").begin_array().begin_object().member("name", "main").member("image", "pause");
  w.end_object().end_array().key("nodeSelector").begin_object().member(kWorld, label());
  if (draw_.chance(15)) w.member(kZone, draw_.one_of({"z0", "z1"}));
  w.end_object().key("volumes").begin_array();
  write_claims(w, step, pod, number);
  w.end_array().end_object().end_object();
  pod.body = w.take();
  step.pod = std::move(pod);
  return step;
}

World WorldDraw::all() {
  add_nodes();
  add_classes();
  add_capacities();
  for (std::size_t i = 0, count = draw_.between(3, 7); i < count; ++i)
    world_.objects.push_back(draw_volume("pv" + std::to_string(i)));
  std::vector<std::size_t> pods;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i > 2 && draw_.chance(12)) {
      world_.steps.push_back({.kind = Step::Kind::kRemoval, .removed = draw_.one_of(pods)});
    } else if (i > 2 && draw_.chance(20)) {
      world_.steps.push_back({.kind = Step::Kind::kVolume, .volume = draw_volume("later" + std::to_string(i))});
    } else {
      pods.push_back(world_.steps.size());
      world_.steps.push_back(draw_pod(i));
    }
  }
  return std::move(world_);
}

}  // namespace

World draw_world(const WorldOptions& options) { return WorldDraw(options).all(); }

bool does_fail_first(const std::string& claim_without_prefix) {
  std::uint64_t sum = 0;
  for (const char c : claim_without_prefix) sum = mix64(sum + static_cast<unsigned char>(c));
  return sum % 4 == 0;
}

}  // namespace ashlar::binding
