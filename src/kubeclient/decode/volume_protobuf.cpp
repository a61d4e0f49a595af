#include "kubeclient/decode/volume_protobuf.h"

#include <set>

#include "kubeclient/decode/protobuf_parts.h"
#include "kubeclient/volumes/disk_rules.h"
#include "text/quantity_text.h"

namespace ashlar::kube::proto {
namespace {

/// Terms and values of one object: what has more is not read, and nothing is placed by it.
constexpr std::size_t kVolumeTermsMax = 4096;
constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";
constexpr std::string_view kMigratedPluginsAnnotation = "storage.alpha.kubernetes.io/migrated-plugins";
constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
constexpr std::string_view kOldZoneLabel = "failure-domain.beta.kubernetes.io/zone";
constexpr std::string_view kZoneDelimiter = "__";

const std::string* annotation(const pb::ObjectMeta& meta, std::string_view key) {
  for (const pb::StringPair& pair : meta.annotations())
    if (pair.key() == key) return &pair.value();
  return nullptr;
}

void note(std::string& problem, const std::string& text) {
  if (problem.empty()) problem = text;
}

/// Bytes; nothing if the quantity cannot be read.
std::optional<std::int64_t> bytes_of(const pb::Quantity& quantity, std::string_view where, std::string& problem) {
  const Result<std::int64_t> value = parse_quantity(quantity.string(), 1, Overflow::kSaturate);
  if (value && *value >= 0) return *value;
  note(problem, std::string(where) + ": " + (value ? "it is negative" : value.error().message));
  return std::nullopt;
}

template <class Pairs>
std::optional<std::int64_t> storage_of(const Pairs& amounts, std::string_view where, std::string& problem) {
  for (const pb::QuantityPair& pair : amounts)
    if (pair.key() == "storage") return bytes_of(pair.value(), where, problem);
  return std::nullopt;
}

template <class Texts>
void read_texts(const Texts& texts, std::vector<PooledString>& into) {
  for (const std::string& text : texts) into.emplace_back(text);
}

std::size_t count_of(const std::vector<Requirement>& requirements) {
  std::size_t count = 0;
  for (const Requirement& r : requirements) count += 1 + r.values.size();
  return count;
}

void note_too_many(std::string& problem, std::string_view where, std::string_view what) {
  note(problem, std::string(where) + " has more than " + std::to_string(kVolumeTermsMax) + " " + std::string(what));
}

/// Requirements that are too many together are dropped, and it says so.
void read_selector(const pb::LabelSelector& from, LabelSelector& selector, std::string_view where,
                   std::string& problem) {
  selector.present = true;
  read_labels(from.matchlabels(), selector.match_labels);
  sort_by_key(selector.match_labels);
  if (!read_requirements(from.matchexpressions(), selector.expressions))
    note(problem, std::string(where) + ": unknown operator");
  if (selector.match_labels.size() + count_of(selector.expressions) <= kVolumeTermsMax) return;
  selector.match_labels.clear();
  selector.expressions.clear();
  note_too_many(problem, where, "terms and values");
}

/// The class as old annotations name it, which come first.
PooledString class_of(const pb::ObjectMeta& meta, const std::string& stated) {
  const std::string* of_annotation = annotation(meta, kClassAnnotation);
  return of_annotation != nullptr ? *of_annotation : stated;
}

PooledString mode_of(const std::string& stated) { return stated.empty() ? "Filesystem" : stated; }

std::vector<std::string> split_zones(std::string_view text) {
  std::vector<std::string> zones;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(kZoneDelimiter, at);
    zones.emplace_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return zones;
    at = end + kZoneDelimiter.size();
  }
}

/// A disk in several zones is one of their region: "us-central1-a" is in "us-central1".
std::string gce_place(const Labels& labels) {
  const PooledString* label = find_label(labels, kOldZoneLabel);
  if (label == nullptr || label->empty()) label = find_label(labels, kZoneLabel);
  const std::vector<std::string> zones = split_zones(label == nullptr ? std::string_view() : label->view());
  if (zones.size() == 1) return "zones/" + (zones[0].empty() ? "UNSPECIFIED" : zones[0]);
  return "regions/" + zones[0].substr(0, zones[0].rfind('-'));
}

void read_source(const pb::PersistentVolumeSource& source, PersistentVolume& volume) {
  const auto attach = [&](MigratedPlugin plugin, const std::string& handle) {
    volume.plugin = plugin;
    volume.attached = {row_of(plugin).driver, handle};
  };
  if (source.has_csi()) volume.attached = {source.csi().driver(), source.csi().volumehandle()};
  if (source.has_awselasticblockstore())
    attach(MigratedPlugin::kAwsEbs, ebs_handle(source.awselasticblockstore().volumeid()));
  if (source.has_gcepersistentdisk())
    attach(MigratedPlugin::kGcePd, gce_handle(gce_place(volume.labels), source.gcepersistentdisk().pdname()));
  if (source.has_azuredisk()) attach(MigratedPlugin::kAzureDisk, source.azuredisk().diskuri());
  if (source.has_cinder()) attach(MigratedPlugin::kCinder, source.cinder().volumeid());
  if (source.has_portworxvolume()) attach(MigratedPlugin::kPortworx, source.portworxvolume().volumeid());
}

std::size_t count_of(const NodeTerm& term) { return 1 + count_of(term.expressions) + count_of(term.fields); }

/// Drops terms that are too many together, and says so.
void limit_terms(std::vector<NodeTerm>& terms, std::string_view where, std::string& problem) {
  std::size_t count = 0;
  for (const NodeTerm& term : terms) count += count_of(term);
  if (count <= kVolumeTermsMax) return;
  terms.clear();
  note_too_many(problem, where, "terms and values");
}

}  // namespace

void read_object(const pb::PersistentVolumeClaim& from, const UnknownFields& unknown, PersistentVolumeClaim& claim,
                 std::string& problem) {
  const pb::ObjectMeta& meta = from.metadata();
  const pb::PersistentVolumeClaimSpec& spec = from.spec();
  read_meta(meta, claim);
  for (const pb::OwnerReference& owner : meta.ownerreferences())
    if (owner.controller()) claim.controller_uid = owner.uid();
  read_texts(spec.accessmodes(), claim.access_modes);
  claim.request = storage_of(spec.resources().requests(), "spec.resources.requests", problem);
  if (spec.has_selector()) read_selector(spec.selector(), claim.selector, "spec.selector", problem);
  claim.volume_name = spec.volumename();
  claim.class_name = class_of(meta, spec.storageclassname());
  claim.volume_mode = mode_of(spec.volumemode());
  claim.attributes_class = spec.volumeattributesclassname();
  if (const std::string* node = annotation(meta, kSelectedNodeAnnotation); node != nullptr) {
    claim.has_selected_node = true;
    claim.selected_node = *node;
  }
  claim.is_bind_completed = annotation(meta, kBindCompletedAnnotation) != nullptr;
  claim.is_lost = from.status().phase() == "Lost";
  claim.unknown_spec_fields.assign(unknown.in_spec.begin(), unknown.in_spec.end());
  claim.unknown_fields = joined(unknown.elsewhere);
}

void read_object(const pb::PersistentVolume& from, const UnknownFields& unknown, PersistentVolume& volume,
                 std::string& problem) {
  volume.unknown_fields = joined(unknown.all());
  const pb::PersistentVolumeSpec& spec = from.spec();
  read_meta(from.metadata(), volume);
  read_labels(from.metadata().labels(), volume.labels);
  sort_by_key(volume.labels);
  if (volume.labels.size() > kVolumeTermsMax) {
    volume.labels.clear();
    note_too_many(problem, "metadata.labels", "labels");
  }
  volume.capacity = storage_of(spec.capacity(), "spec.capacity", problem).value_or(0);
  read_texts(spec.accessmodes(), volume.access_modes);
  volume.class_name = class_of(from.metadata(), spec.storageclassname());
  volume.volume_mode = mode_of(spec.volumemode());
  volume.attributes_class = spec.volumeattributesclassname();
  volume.has_claim = spec.has_claimref();
  volume.claim_ns = spec.claimref().namespace_();
  volume.claim_name = spec.claimref().name();
  volume.claim_uid = spec.claimref().uid();
  if (spec.nodeaffinity().has_required()) {
    volume.has_affinity = true;
    for (const pb::NodeSelectorTerm& from_term : spec.nodeaffinity().required().nodeselectorterms()) {
      NodeTerm term;
      // a term that cannot be read matches nothing, as upstream
      if (read_node_term(from_term, term)) volume.affinity.push_back(std::move(term));
    }
    limit_terms(volume.affinity, "spec.nodeAffinity", problem);
  }
  read_source(spec.persistentvolumesource(), volume);
  volume.is_available = from.status().phase() == "Available";
}

void read_object(const pb::StorageClass& from, const UnknownFields& unknown, StorageClass& storage_class,
                 std::string& problem) {
  storage_class.unknown_fields = joined(unknown.all());
  read_meta(from.metadata(), storage_class);
  storage_class.provisioner = from.provisioner();
  storage_class.waits_for_consumer = from.volumebindingmode() == "WaitForFirstConsumer";
  for (const pb::TopologySelectorTerm& from_term : from.allowedtopologies()) {
    NodeTerm& term = storage_class.allowed_topologies.emplace_back();
    for (const pb::TopologySelectorLabelRequirement& r : from_term.matchlabelexpressions()) {
      Requirement& requirement = term.expressions.emplace_back();
      requirement.key = r.key();
      read_texts(r.values(), requirement.values);
    }
  }
  if (std::size_t count = storage_class.allowed_topologies.size(); count > 0) {
    limit_terms(storage_class.allowed_topologies, "allowedTopologies", problem);
    if (storage_class.allowed_topologies.empty()) storage_class.allowed_topologies.emplace_back();  // matches nothing
  }
}

void read_object(const pb::CSINode& from, const UnknownFields& unknown, CsiNode& node, std::string&) {
  node.unknown_fields = joined(unknown.all());
  read_meta(from.metadata(), node);
  for (const pb::CSINodeDriver& driver : from.spec().drivers()) {
    CsiNode::Driver& kept = node.drivers.emplace_back();
    kept.name = driver.name();
    if (driver.allocatable().has_count()) kept.volumes_max = driver.allocatable().count();
  }
  const std::string* plugins = annotation(from.metadata(), kMigratedPluginsAnnotation);
  std::set<std::string> names;
  for (std::size_t at = 0; plugins != nullptr && at <= plugins->size();) {
    const std::size_t end = std::min(plugins->find(',', at), plugins->size());
    if (end > at) names.insert(plugins->substr(at, end - at));
    at = end + 1;
  }
  // of the others nothing depends on it
  for (const std::string& name : names)
    if (plugin_named(name) != MigratedPlugin::kNone) node.migrated_plugins.emplace_back(name);
}

void read_object(const pb::CSIDriver& from, const UnknownFields& unknown, CsiDriver& driver, std::string&) {
  driver.unknown_fields = joined(unknown.all());
  read_meta(from.metadata(), driver);
  driver.has_capacities = from.spec().storagecapacity();
  driver.must_be_on_node = from.spec().preventpodschedulingifmissing();
}

void read_object(const pb::CSIStorageCapacity& from, const UnknownFields& unknown, CsiStorageCapacity& capacity,
                 std::string& problem) {
  capacity.unknown_fields = joined(unknown.all());
  read_meta(from.metadata(), capacity);
  capacity.class_name = from.storageclassname();
  if (from.has_nodetopology()) read_selector(from.nodetopology(), capacity.topology, "nodeTopology", problem);
  if (from.has_maximumvolumesize())
    capacity.largest_volume = bytes_of(from.maximumvolumesize(), "maximumVolumeSize", problem);
  else if (from.has_capacity())
    capacity.largest_volume = bytes_of(from.capacity(), "capacity", problem);
  if (!problem.empty()) capacity.largest_volume.reset();
}

void read_object(const pb::VolumeAttachment& from, const UnknownFields& unknown, VolumeAttachment& attachment,
                 std::string&) {
  attachment.unknown_fields = joined(unknown.all());
  read_meta(from.metadata(), attachment);
  attachment.attacher = from.spec().attacher();
  attachment.volume_name = from.spec().source().persistentvolumename();
  attachment.node_name = from.spec().nodename();
}

}  // namespace ashlar::kube::proto
