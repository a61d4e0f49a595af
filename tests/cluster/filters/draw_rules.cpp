#include "cluster/filters/draw_rules.h"

namespace ashlar::filters {
namespace {

using kube::JsonWriter;

void write_node_expression(JsonWriter& w, Draw& draw) {
  const std::string key = draw.chance(92) ? draw_label_key(draw) : std::string(kHostname);
  const bool is_number = key == "size" && draw.chance(75);
  const std::string op = is_number ? draw.one_of({"Gt", "Lt"})
                                   : draw.one_of({"In", "In", "In", "NotIn", "NotIn", "Exists", "DoesNotExist"});
  w.begin_object().member("key", key).member("operator", op);
  if (is_number) {
    write_strings(w, "values", {draw.one_of({"1", "2", "3", "7", "007", "6", "9223372036854775807"})});
  } else if (op == "In" || op == "NotIn") {
    std::vector<std::string> values;
    for (std::size_t left = draw.between(1, 3); left > 0; --left) values.push_back(draw_label_value(draw, key));
    write_strings(w, "values", values);
  }
  w.end_object();
}

void write_node_term(JsonWriter& w, Draw& draw, const std::vector<std::string>& nodes) {
  w.begin_object();
  const std::size_t expressions = draw.between(0, 2);
  if (expressions > 0) {
    w.key("matchExpressions").begin_array();
    for (std::size_t left = expressions; left > 0; --left) write_node_expression(w, draw);
    w.end_array();
  }
  if (draw.chance(expressions == 0 ? 75 : 10)) {
    w.key("matchFields").begin_array();
    w.begin_object().member("key", "metadata.name").member("operator", draw.one_of({"In", "NotIn", "NotIn"}));
    write_strings(w, "values", {draw.one_of(nodes)});
    w.end_object().end_array();
  }
  w.end_object();
}

void write_node_affinity(JsonWriter& w, Draw& draw, const AffinityOptions& options,
                         const std::vector<std::string>& nodes) {
  w.key("nodeAffinity").begin_object();
  if (options.has_node_affinity) {
    w.key("requiredDuringSchedulingIgnoredDuringExecution").begin_object().key("nodeSelectorTerms");
    w.raw(draw_node_terms(draw, nodes)).end_object();
  }
  if (options.has_preferences) {
    w.key("preferredDuringSchedulingIgnoredDuringExecution").begin_array();
    for (std::size_t left = draw.between(1, options.preferred_terms_max); left > 0; --left) {
      w.begin_object().member("weight", static_cast<std::int64_t>(draw.between(1, 100))).key("preference");
      write_node_term(w, draw, nodes);
      w.end_object();
    }
    w.end_array();
  }
  w.end_object();
}

std::string draw_pod_value(Draw& draw, std::string_view key) {
  if (key == "app") return draw.one_of({"web", "db", "cache"});
  if (key == "track") return draw.one_of({"stable", "canary"});
  return draw.one_of({"v1", "v2"});
}

void write_label_expression(JsonWriter& w, Draw& draw) {
  const std::string key = draw.one_of({"app", "app", "app", "version", "track", "nobody"});
  const std::string op = draw.one_of({"In", "In", "NotIn", "Exists", "DoesNotExist"});
  w.begin_object().member("key", key).member("operator", op);
  if (op == "In" || op == "NotIn") write_strings(w, "values", {draw_pod_value(draw, key), draw_pod_value(draw, key)});
  w.end_object();
}

/// Of pods.
void write_label_selector(JsonWriter& w, Draw& draw) {
  w.key("labelSelector").begin_object();
  if (draw.chance(55)) write_pairs(w, "matchLabels", {{"app", draw_pod_value(draw, "app")}});
  if (draw.chance(40)) {
    w.key("matchExpressions").begin_array();
    for (std::size_t left = draw.between(1, 2); left > 0; --left) write_label_expression(w, draw);
    w.end_array();
  }
  w.end_object();
}

/// Of which the server adds the pod's own values to the selector; a pod may lack the label.
std::vector<std::string> draw_label_keys(Draw& draw) {
  if (draw.chance(60)) return {"version"};
  return draw.chance(50) ? std::vector<std::string>{"track"} : std::vector<std::string>{"version", "track"};
}

/// As JSON.
std::string draw_namespace_selector(Draw& draw) {
  JsonWriter w;
  w.begin_object();
  if (draw.chance(50)) write_pairs(w, "matchLabels", {{"team", draw.one_of({"red", "blue"})}});
  if (draw.chance(30)) {
    w.key("matchExpressions").begin_array().begin_object().member("key", draw.one_of({"team", "guest"}));
    w.member("operator", draw.one_of({"Exists", "DoesNotExist"})).end_object().end_array();
  }
  return w.end_object().take();
}

/// The selector of namespaces; empty: none.
std::string write_pod_term(JsonWriter& w, Draw& draw) {
  w.begin_object().member("topologyKey", draw.one_of({kZone, kHostname, kHostname, kHostname, kRack, kRegion}));
  const bool has_selector = draw.chance(95);
  if (has_selector) write_label_selector(w, draw);
  if (draw.chance(20))
    write_strings(w, "namespaces", {draw.one_of({"team-a", "team-b", "team-c"})});
  else if (draw.chance(12))
    write_strings(w, "namespaces", {"team-c", draw.one_of({"team-a", "team-b", "nowhere"})});
  const std::string namespaces = draw.chance(40) ? draw_namespace_selector(draw) : std::string();
  if (!namespaces.empty()) w.key("namespaceSelector").raw(namespaces);
  if (has_selector && draw.chance(5)) {
    write_strings(w, "matchLabelKeys", {"version"});
    write_strings(w, "mismatchLabelKeys", {"track"});
  } else if (has_selector && draw.chance(12)) {
    write_strings(w, draw.one_of({"matchLabelKeys", "mismatchLabelKeys"}), draw_label_keys(draw));
  }
  w.end_object();
  return namespaces;
}

void write_pod_terms(JsonWriter& w, Draw& draw, std::string_view kind, bool is_required, unsigned preferred_max,
                     std::set<std::string>& features) {
  const bool is_preferred = preferred_max > 0;
  if (!is_required && !is_preferred) return;
  w.key(kind).begin_object();
  if (is_required) {
    w.key("requiredDuringSchedulingIgnoredDuringExecution").begin_array();
    std::set<std::string> namespaces;
    for (std::size_t left = draw.chance(30) ? 2 : 1; left > 0; --left) namespaces.insert(write_pod_term(w, draw));
    if (namespaces.size() > 1) features.insert("terms that select unlike namespaces");
    w.end_array();
  }
  if (is_preferred) {
    w.key("preferredDuringSchedulingIgnoredDuringExecution").begin_array();
    for (std::size_t left = draw.between(1, preferred_max); left > 0; --left) {
      w.begin_object().member("weight", static_cast<std::int64_t>(draw.between(1, 100))).key("podAffinityTerm");
      write_pod_term(w, draw);
      w.end_object();
    }
    w.end_array();
  }
  w.end_object();
}

/// By number.
void write_comparison(JsonWriter& w, Draw& draw) {
  w.begin_object().member("key", kTier).member("operator", draw.one_of({"Lt", "Gt"}));
  w.member("value", draw_tier(draw, true));
  const std::string effect = draw.one_of({"", "", "NoSchedule", "NoExecute"});
  if (!effect.empty()) w.member("effect", effect);
  w.end_object();
}

}  // namespace

Pairs draw_pod_labels(Draw& draw) {
  Pairs labels;
  if (draw.chance(85)) labels.emplace_back("app", draw_pod_value(draw, "app"));
  if (draw.chance(60)) labels.emplace_back("version", draw_pod_value(draw, "version"));
  if (draw.chance(35)) labels.emplace_back("track", draw_pod_value(draw, "track"));
  return labels;
}

void write_node_selector(JsonWriter& w, Draw& draw) {
  Pairs labels;
  std::set<std::string> keys;
  for (std::size_t left = draw.chance(20) ? 2 : 1; left > 0; --left) {
    const std::string key = draw_label_key(draw);
    if (keys.insert(key).second) labels.emplace_back(key, draw_label_value(draw, key));
  }
  write_pairs(w, "nodeSelector", labels);
}

void write_tolerations(JsonWriter& w, Draw& draw, std::set<std::string>& features) {
  w.key("tolerations").begin_array();
  if (draw.chance(35)) {
    write_comparison(w, draw);
    features.insert("toleration Lt or Gt");
  }
  for (std::size_t left = draw.between(1, 3); left > 0; --left) {
    const bool is_of_all = draw.chance(8);
    const std::string op = is_of_all ? "Exists" : draw.one_of({"", "Equal", "Exists", "Exists"});
    w.begin_object();
    if (!is_of_all)
      w.member("key", draw.chance(75) ? draw_taint_key(draw)
                                      : draw.one_of({"maintenance", "node.kubernetes.io/unschedulable",
                                                     "node.kubernetes.io/not-ready", "beacon"}));
    if (!op.empty()) w.member("operator", op);
    if (op != "Exists") w.member("value", draw_taint_value(draw));
    const std::string effect = draw.one_of({"", "NoSchedule", "NoExecute", "PreferNoSchedule"});
    if (!effect.empty()) w.member("effect", effect);
    if (effect == "NoExecute" && draw.chance(30)) w.member("tolerationSeconds", std::int64_t{60});
    w.end_object();
  }
  w.end_array();
}

std::string draw_node_terms(Draw& draw, const std::vector<std::string>& nodes) {
  JsonWriter w;
  w.begin_array();
  for (std::size_t left = draw.between(1, 3); left > 0; --left) write_node_term(w, draw, nodes);
  return w.end_array().take();
}

void write_affinity(JsonWriter& w, Draw& draw, const AffinityOptions& options, const std::vector<std::string>& nodes,
                    std::set<std::string>& features) {
  if (!options.has_node_affinity && !options.has_pod_affinity && !options.has_pod_anti_affinity &&
      !options.has_preferences)
    return;
  w.key("affinity").begin_object();
  if (options.has_node_affinity || options.has_preferences) write_node_affinity(w, draw, options, nodes);
  const auto preferred_max = [&] {
    return options.has_preferences && draw.chance(50) ? options.preferred_terms_max : 0;
  };
  write_pod_terms(w, draw, "podAffinity", options.has_pod_affinity, preferred_max(), features);
  write_pod_terms(w, draw, "podAntiAffinity", options.has_pod_anti_affinity, preferred_max(), features);
  w.end_object();
}

void write_topology_spread(JsonWriter& w, Draw& draw, bool is_hard) {
  w.key("topologySpreadConstraints").begin_array();
  std::set<std::string> keys;  // a key has one constraint of each kind
  for (std::size_t left = draw.chance(40) ? draw.between(2, 3) : 1; left > 0; --left) {
    const std::string key = draw.one_of({kZone, kZone, kHostname, kHostname, kRack, kRack, kRegion});
    const bool refuses = is_hard && draw.chance(85);
    if (!keys.insert(key + (refuses ? " must" : " may")).second) continue;
    w.begin_object().member("topologyKey", key).member("maxSkew", static_cast<std::int64_t>(draw.between(1, 3)));
    w.member("whenUnsatisfiable", refuses ? "DoNotSchedule" : "ScheduleAnyway");
    const bool has_selector = draw.chance(92);
    if (has_selector) write_label_selector(w, draw);
    if (refuses && draw.chance(25)) w.member("minDomains", static_cast<std::int64_t>(draw.between(1, 5)));
    if (draw.chance(30)) w.member("nodeAffinityPolicy", draw.one_of({"Honor", "Ignore"}));
    if (draw.chance(40)) w.member("nodeTaintsPolicy", draw.one_of({"Honor", "Ignore"}));
    if (has_selector && draw.chance(15)) write_strings(w, "matchLabelKeys", draw_label_keys(draw));
    w.end_object();
  }
  w.end_array();
}

}  // namespace ashlar::filters
