#include "cluster/filters/manifest.h"

#include <algorithm>
#include <set>

namespace ashlar::filters {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text.empty() ? "none" : text;
}

std::string node_line(const NodeVerdict& verdict) {
  std::string text = "#   " + verdict.node + ": Ashlar " + (verdict.is_allowed ? "allows it" : "refuses it by ");
  if (!verdict.is_allowed) text += joined(verdict.refused_by);
  if (!verdict.short_of.empty()) text += " (short of " + joined(verdict.short_of) + ")";
  return text + "\n";
}

/// The nodes on which the two differ; all, if the pod was not judged or contradicts itself, or others are in the domains of
/// these.
std::set<std::string> differing_nodes(const Difference& d) {
  const std::vector<std::string> ours = d.ours.allowed();
  std::vector<std::string> both;
  std::set_symmetric_difference(ours.begin(), ours.end(), d.theirs.begin(), d.theirs.end(), std::back_inserter(both));
  std::set<std::string> names(both.begin(), both.end());
  const bool has_domains = d.pod.body.find("topologyKey") != std::string::npos;
  if (names.empty() || has_domains)
    for (const DrawnNode& node : d.cluster.nodes) names.insert(node.name);
  return names;
}

/// All that the pod and those that are shown may name.
std::vector<std::string> words_of(const Difference& d) {
  std::vector<std::string> texts{d.pod.body};
  for (const DrawnPod& pod : d.cluster.bound) texts.push_back(pod.body);
  return texts;
}

/// Claims only where a pod names them; what is said of nodes, for those shown.
bool concerns(const DrawnObject& object, const std::set<std::string>& nodes, const std::vector<std::string>& texts) {
  if (object.collection.ends_with("csinodes")) return nodes.contains(object.name);
  if (!object.collection.ends_with("persistentvolumeclaims")) return true;
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return text.find("\"" + object.name + "\"") != std::string::npos; });
}

}  // namespace

std::string difference_text(const Difference& d) {
  const std::set<std::string> nodes = differing_nodes(d);
  std::string text = "# seed " + std::to_string(d.cluster.run_seed) + ", cluster " + std::to_string(d.cluster.number) +
                     ", pod " + d.pod.ns + "/" + d.pod.name + "\n# kube-scheduler allows: " + joined(d.theirs) +
                     "\n# Ashlar allows: " + joined(d.ours.allowed()) + "\n";
  if (!d.ours.words.empty()) text += "# Ashlar: " + d.ours.words + "\n";
  if (!d.their_words.empty()) text += "# kube-scheduler: " + d.their_words + "\n";
  text += "# " + d.fresh + "\n";
  for (const NodeVerdict& verdict : d.ours.nodes)
    if (nodes.contains(verdict.node)) text += node_line(verdict);
  std::string statuses;
  const auto add = [&](const std::string& body) { text += "---\n" + body + "\n"; };
  for (const DrawnNode& node : d.cluster.nodes)
    if (nodes.contains(node.name)) add(node.body);
  const std::vector<std::string> texts = words_of(d);
  for (const DrawnObject& object : d.cluster.storage.objects)
    if (concerns(object, nodes, texts)) add(object.body);
  for (const DrawnPod& pod : d.cluster.bound) {
    if (!nodes.contains(pod.node) && !pod.keeps_others_away) continue;
    add(pod.body);
    for (const DrawnObject& claim : pod.owned) add(claim.body);
    if (!pod.status.empty()) statuses += "# status of " + pod.name + ": " + pod.status + "\n";
    if (pod.is_terminating) statuses += "# " + pod.name + " is being deleted\n";
  }
  add(d.pod.body);
  for (const DrawnObject& claim : d.pod.owned) add(claim.body);
  for (const std::string& note : d.cluster.notes) statuses += "# " + note + "\n";
  return text + statuses;
}

}  // namespace ashlar::filters
