#include "kubeclient/decode/selecting_protobuf.h"

#include "kubeclient/decode/protobuf_parts.h"

namespace ashlar::kube::proto {
namespace {

/// Labels, keys and values of one selector: what has more selects no pods.
constexpr std::size_t kSelectorPartsMax = 128;

void limit(LabelSelector& selector, std::string& problem) {
  std::size_t parts = selector.match_labels.size();
  for (const Requirement& r : selector.expressions) parts += 1 + r.values.size();
  if (parts <= kSelectorPartsMax) return;
  selector = {};
  problem = "spec.selector has more than " + std::to_string(kSelectorPartsMax) + " labels and values";
}

/// A map of labels. None: it selects no pods.
template <class Pairs>
void read_map(const Pairs& pairs, LabelSelector& selector, std::string& problem) {
  selector.present = pairs.size() > 0;
  read_labels(pairs, selector.match_labels);
  sort_by_key(selector.match_labels);
  limit(selector, problem);
}

void read_selector(const pb::LabelSelector& from, LabelSelector& selector, std::string& problem) {
  selector.present = true;
  read_labels(from.matchlabels(), selector.match_labels);
  sort_by_key(selector.match_labels);
  if (read_requirements(from.matchexpressions(), selector.expressions)) return limit(selector, problem);
  selector = {};
  problem = "spec.selector: unknown operator";
}

template <class Message, class Owner>
void read_common(const Message& from, const UnknownFields& unknown, Owner& owner) {
  owner.unknown_fields = joined(unknown.all());
  read_meta(from.metadata(), owner);
}

}  // namespace

void read_object(const pb::Service& from, const UnknownFields& unknown, Service& service, std::string& problem) {
  read_common(from, unknown, service);
  read_map(from.spec().selector(), service.selector, problem);
}

void read_object(const pb::ReplicationController& from, const UnknownFields& unknown, ReplicationController& controller,
                 std::string& problem) {
  read_common(from, unknown, controller);
  read_map(from.spec().selector(), controller.selector, problem);
}

void read_object(const pb::ReplicaSet& from, const UnknownFields& unknown, ReplicaSet& set, std::string& problem) {
  read_common(from, unknown, set);
  if (from.spec().has_selector()) read_selector(from.spec().selector(), set.selector, problem);
}

void read_object(const pb::StatefulSet& from, const UnknownFields& unknown, StatefulSet& set, std::string& problem) {
  read_common(from, unknown, set);
  if (from.spec().has_selector()) read_selector(from.spec().selector(), set.selector, problem);
}

}  // namespace ashlar::kube::proto
