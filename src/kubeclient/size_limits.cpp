#include "kubeclient/size_limits.h"

#include <algorithm>
#include <string>

namespace ashlar::kube {
namespace {

/// Distinct topology keys kept of anti-affinity that is too large; a node has a few dozen labels.
constexpr std::size_t kTopologyKeysMax = 64;

/// Bytes of values, of lists of them and of what they are made of.
struct Size {
  static std::size_t of(const PooledString& text) { return kEntryBytes + text.view().size(); }
  static std::size_t of(const KeyValue& pair) { return of(pair.key) + of(pair.value); }
  static std::size_t of(const Requirement& r) { return of(r.key) + of(r.values); }
  static std::size_t of(const NodeTerm& term) { return kEntryBytes + of(term.expressions) + of(term.fields); }
  static std::size_t of(const PreferredTerm& preferred) { return of(preferred.term); }
  static std::size_t of(const Toleration& t) { return of(t.key) + of(t.value); }
  static std::size_t of(const HostPort& port) { return of(port.host_ip); }
  static std::size_t of(const LabelSelector& s) { return of(s.match_labels) + of(s.expressions); }
  static std::size_t of(const PodAffinityTerm& term) {
    return of(term.selector) + of(term.namespace_selector) + of(term.namespaces) + of(term.topology_key);
  }
  static std::size_t of(const PreferredPodTerm& preferred) { return of(preferred.term); }
  static std::size_t of(const TopologySpread& spread) {
    return of(spread.selector) + of(spread.topology_key) + of(spread.match_label_keys);
  }
  template <class T>
  static std::size_t of(const std::vector<T>& list) {
    std::size_t sum = 0;
    for (const T& one : list) sum += of(one);
    return sum;
  }
};

struct Field {
  std::string_view path;
  std::size_t bytes = 0;
};

std::string size_text(const Field& field, std::string_view limited) {
  return std::string(field.path) + " has " + std::to_string(field.bytes) + " bytes; the limit of " +
         std::string(limited) + " is " + std::to_string(kPodBytesMax) + " bytes (each key and value counts " +
         std::to_string(kEntryBytes) + " more than its length)";
}

std::size_t terms_about_pods(const PodRules& rules) {
  return rules.required_anti_affinity.size() + rules.preferred_anti_affinity.size() +
         rules.required_pod_affinity.size() + rules.preferred_pod_affinity.size() + rules.spread.size() +
         rules.preferred_spread.size();
}

void note_too_large(PodBuilder& builder, const std::string& text) {
  if (builder.rules.too_large.empty()) builder.rules.too_large = text;
}

/// The pod holds more than is known of it.
void close(PodBuilder& builder, const std::string& text) {
  builder.pod.lacks_amounts = true;
  if (builder.pod.problem.empty()) builder.pod.problem = text;
}

/// For each of its topology keys, a term that matches every pod of its own namespace, or of all namespaces where it may
/// mean others: it keeps away whom it would, and some more, but no pods of namespaces that it does not name.
std::vector<PodAffinityTerm> against_everything(const std::vector<PodAffinityTerm>& terms) {
  std::vector<PodAffinityTerm> out;
  for (const PodAffinityTerm& term : terms) {
    if (!term.selector.present) continue;  // means no pod
    PodAffinityTerm all;
    all.selector.present = true;
    all.namespace_selector.present = term.namespace_selector.present || !term.namespaces.empty();
    all.topology_key = term.topology_key;
    if (std::find(out.begin(), out.end(), all) != out.end()) continue;
    if (out.size() == kTopologyKeysMax) break;
    out.push_back(std::move(all));
  }
  return out;
}

/// Terms of node affinity, and what they require: each is compared with each node.
std::size_t parts_about_nodes(const PodRules& rules) {
  std::size_t parts = rules.node_selector.size();
  const auto add = [&](const NodeTerm& term) { parts += 1 + term.expressions.size() + term.fields.size(); };
  for (const NodeTerm& term : rules.required_affinity) add(term);
  for (const PreferredTerm& preferred : rules.preferred_affinity) add(preferred.term);
  return parts;
}

/// What is said of a pod that exceeds a limit; empty if none.
std::string excess_text(const PodRules& rules, std::size_t bytes, const Field& largest) {
  if (bytes > kPodBytesMax) return size_text(largest, "a pod's selectors, affinity, tolerations and host ports");
  const auto text = [](std::size_t count, std::string_view what, std::size_t limit) {
    return "spec has " + std::to_string(count) + " " + std::string(what) + "; the limit of a pod is " +
           std::to_string(limit);
  };
  if (const std::size_t terms = terms_about_pods(rules); terms > kPodTermsMax)
    return text(terms, "terms of pod affinity, anti-affinity and topology spread", kPodTermsMax);
  if (const std::size_t parts = parts_about_nodes(rules); parts > kPodNodePartsMax)
    return text(parts, "terms and requirements of node affinity and selector", kPodNodePartsMax);
  return {};
}

void limit_rules(PodBuilder& builder) {
  PodRules& rules = builder.rules;
  const Field fields[] = {
      {"spec.nodeSelector", Size::of(rules.node_selector)},
      {"spec.affinity.nodeAffinity", Size::of(rules.required_affinity) + Size::of(rules.preferred_affinity)},
      {"spec.tolerations", Size::of(rules.tolerations)},
      {"spec.containers[].ports", Size::of(rules.host_ports)},
      {"spec.affinity.podAntiAffinity",
       Size::of(rules.required_anti_affinity) + Size::of(rules.preferred_anti_affinity)},
      {"spec.affinity.podAffinity", Size::of(rules.required_pod_affinity) + Size::of(rules.preferred_pod_affinity)},
      {"spec.topologySpreadConstraints", Size::of(rules.spread) + Size::of(rules.preferred_spread)},
  };
  std::size_t sum = 0;
  for (const Field& field : fields) sum += field.bytes;
  const auto smaller = [](const Field& a, const Field& b) { return a.bytes < b.bytes; };
  const std::string text = excess_text(rules, sum, *std::max_element(std::begin(fields), std::end(fields), smaller));
  if (text.empty()) return;
  PodRules kept;
  kept.unsupported = rules.unsupported;
  kept.unknown_fields = std::move(rules.unknown_fields);
  kept.ignored_soft = std::move(rules.ignored_soft);
  if (builder.pod.node_name.empty()) {
    rules = std::move(kept);
    return note_too_large(builder, text);
  }
  const std::size_t of_ports = fields[3].bytes, of_others = Size::of(rules.required_anti_affinity);
  if (of_others > kPodBytesMax / 2 || rules.required_anti_affinity.size() > kPodTermsMax) {
    kept.required_anti_affinity = against_everything(rules.required_anti_affinity);
    if (kept.required_anti_affinity.size() == kTopologyKeysMax) close(builder, text);
  } else {
    kept.required_anti_affinity = std::move(rules.required_anti_affinity);
  }
  if (of_ports > kPodBytesMax / 2)
    close(builder, text);
  else
    kept.host_ports = std::move(rules.host_ports);
  rules = std::move(kept);
}

/// Those with our own prefix are kept if they are within the limit.
void limit_labels(PodBuilder& builder) {
  const std::size_t bytes = Size::of(builder.labels);
  if (bytes <= kPodBytesMax) return;
  note_too_large(builder, size_text({"metadata.labels", bytes}, "a pod's labels"));
  std::erase_if(builder.labels, [](const KeyValue& label) {
    return !label.key.view().starts_with(kOwnPrefix) && !label.key.view().starts_with(kDiskPrefix);
  });
  if (Size::of(builder.labels) > kPodBytesMax) builder.labels = {};
}

/// Every claim and disk is looked up whenever one of them changes.
void limit_volumes(PodBuilder& builder) {
  const std::size_t count = builder.volumes.claims.size() + builder.volumes.inline_disks.size();
  if (count <= kPodVolumesMax) return;
  const std::string text = "spec.volumes names " + std::to_string(count) + " claims and disks; the limit of a pod is " +
                           std::to_string(kPodVolumesMax);
  builder.volumes = PodVolumes();
  if (!builder.pod.node_name.empty()) return close(builder, text);
  note_too_large(builder, text);
}

/// The API server allows 256 KiB of annotations; many short ones cost several times that.
void limit_annotations(PodBuilder& builder) {
  const std::size_t bytes = Size::of(builder.annotations);
  if (bytes <= kPodBytesMax) return;
  note_too_large(builder, size_text({"metadata.annotations", bytes}, "a pod's annotations of ashlar.dev/"));
  std::erase_if(builder.annotations, [](const KeyValue& a) {
    const bool is_of_binding =
        a.key == kDevicesAnnotation || a.key == kGrantsAnnotation || a.key == kChargedQueueAnnotation;
    return !is_of_binding || Size::of(a) > kPodBytesMax / 4;
  });
}

void limit_resources(PodBuilder& builder) {
  std::vector<Amount>& extended = builder.pod.requests.extended;
  if (extended.size() <= kPodResourcesMax) return;
  const std::string text = "spec.containers[].resources.requests names " + std::to_string(extended.size()) +
                           " extended resources; the limit of a pod is " + std::to_string(kPodResourcesMax);
  extended = {};
  if (!builder.pod.node_name.empty()) return close(builder, text);
  note_too_large(builder, text);
}

/// One that has a node prefers none any more.
void limit_images(PodBuilder& builder) {
  if (!builder.pod.node_name.empty()) return builder.rules.images.clear();
  std::size_t bytes = 0;
  for (PooledString& name : builder.rules.images) {
    bytes += Size::of(name);
    if (bytes > kPodImageBytesMax) name = {};
  }
}

}  // namespace

void keep_within_limits(PodBuilder& builder) {
  limit_images(builder);
  limit_rules(builder);
  limit_labels(builder);
  limit_annotations(builder);
  limit_resources(builder);
  limit_volumes(builder);
}

}  // namespace ashlar::kube
