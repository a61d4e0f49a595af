#include "kubeclient/pod_builder.h"

#include <algorithm>
#include <charconv>

#include "kubeclient/size_limits.h"
#include "kubeclient/volumes/disk_rules.h"
#include "text/quantity_text.h"

namespace ashlar::kube {
namespace {

/// Of resources that Dynamic Resource Allocation serves by the name of a DeviceClass: no node has an amount of them.
constexpr std::string_view kDeviceClassResourcePrefix = "deviceclass.resource.kubernetes.io/";

template <class T, std::size_t N>
std::shared_ptr<const T> share_among(std::shared_ptr<const T> (&remembered)[N], std::size_t& next, T&& value) {
  for (const std::shared_ptr<const T>& known : remembered)
    if (known && *known == value) return known;
  std::shared_ptr<const T> fresh = std::make_shared<const T>(std::forward<T>(value));
  remembered[next] = fresh;
  next = (next + 1) % N;
  return fresh;
}

/// Of an annotation, or of a label of the same name; both lists are in order.
PooledString setting_of(const PodBuilder& builder, std::string_view key) {
  for (const Labels* labels : {&builder.annotations, &builder.labels})
    if (const PooledString* found = find_label(*labels, key)) return *found;
  return {};
}

}  // namespace

void PodBuilder::reset() {
  pod = Pod();
  rules = PodRules();
  volumes = PodVolumes();
  labels.clear();
  annotations.clear();
  request.reset();
}

std::int32_t spread_number(std::int64_t stated) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(stated, 1, INT32_MAX));
}

std::int32_t preferred_weight(std::int64_t stated) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(stated, 0, 100));
}

void add_image(PodBuilder& builder, std::string_view image) {
  if (builder.rules.images.size() >= kPodImagesMax) return;
  const auto position = [&](char c) { return static_cast<std::int64_t>(image.rfind(c)); };  // -1: nowhere
  std::string name(image.substr(0, kImageNameBytesMax + 1));
  if (position(':') <= position('/')) name += ":latest";
  builder.rules.images.push_back(name.size() > kImageNameBytesMax ? PooledString() : PooledString(name));
}

void add_image(Node& node, std::string_view name, std::int64_t bytes) {
  if (node.images.size() >= kNodeImagesMax || name.empty() || name.size() > kImageNameBytesMax) return;
  node.images.push_back({PooledString(name), std::clamp<std::int64_t>(bytes, 0, kImageBytesMax)});
}

bool read_toleration_op(std::string_view op, Toleration& toleration) {
  toleration.exists = op == "Exists";
  toleration.compares = op == "Lt"   ? Toleration::Compares::kLess
                        : op == "Gt" ? Toleration::Compares::kGreater
                                     : Toleration::Compares::kNot;
  return toleration.exists || toleration.compares != Toleration::Compares::kNot || op == "Equal" || op.empty();
}

void PodBuilder::ignore(std::string_view path) {
  const PooledString text(path);
  if (std::find(rules.ignored_soft.begin(), rules.ignored_soft.end(), text) == rules.ignored_soft.end())
    rules.ignored_soft.push_back(text);
}

std::shared_ptr<const Labels> SharedParts::share(Labels&& labels) {
  return share_among(labels_, next_labels_, std::move(labels));
}
std::shared_ptr<const PodRules> SharedParts::share(PodRules&& rules) {
  return share_among(rules_, next_rules_, std::move(rules));
}

std::shared_ptr<const PodVolumes> SharedParts::share(PodVolumes&& volumes) {
  return share_among(volumes_, next_volumes_, std::move(volumes));
}

Pod finish_pod(PodBuilder& builder, SharedParts& shared) {
  builder.pod.requests = effective_request(builder.request);
  for (const Amount& amount : builder.pod.requests.extended)
    if (amount.value > 0 && amount.name.view().starts_with(kDeviceClassResourcePrefix))
      builder.refuse("spec.containers[].resources.requests (" + amount.name.str() + ")");
  name_ephemeral_claims(builder);
  keep_within_limits(builder);
  sort_by_key(builder.labels);
  sort_by_key(builder.annotations);
  sort_by_key(builder.rules.node_selector);
  builder.rules.gpu_classes = setting_of(builder, kGpuClassesSetting);
  builder.rules.gpu_capabilities = setting_of(builder, kGpuCapabilitiesSetting);
  if (!builder.labels.empty()) builder.pod.labels = shared.share(std::move(builder.labels));
  if (!builder.annotations.empty()) builder.pod.annotations = shared.share(std::move(builder.annotations));
  if (!builder.volumes.empty()) builder.pod.volumes = shared.share(std::move(builder.volumes));
  builder.pod.rules = shared.share(std::move(builder.rules));
  Pod pod = std::move(builder.pod);
  builder.reset();
  return pod;
}

Result<void> add_quantity(Resources& resources, std::string_view name, std::string_view quantity) {
  const bool is_cpu = name == "cpu";
  Result<std::int64_t> value = parse_quantity(quantity, is_cpu ? 1000 : 1, Overflow::kSaturate);
  if (!value) return invalid(std::string(name) + ": " + value.error().message);
  *value = std::min(*value, kAmountMax);
  if (*value < 0) return invalid(std::string(name) + ": quantity \"" + std::string(quantity) + "\" is negative");
  if (is_cpu)
    resources.cpu.value = *value;
  else if (name == "memory")
    resources.memory.value = *value;
  else if (name == "ephemeral-storage")
    resources.ephemeral_storage.value = *value;
  else {
    const PooledString text(name);
    const auto at = std::lower_bound(resources.extended.begin(), resources.extended.end(), text,
                                     [](const Amount& a, const PooledString& b) { return a.name < b; });
    if (at != resources.extended.end() && at->name == text)
      at->value = *value;
    else
      resources.extended.insert(at, {text, *value});
  }
  return {};
}

Result<void> add_allocatable(Node& node, std::string_view name, std::string_view quantity) {
  if (name != "pods") return add_quantity(node.allocatable, name, quantity);
  Result<std::int64_t> value = parse_quantity(quantity, 1, Overflow::kSaturate);
  if (!value) return invalid("pods: " + value.error().message);
  node.pods_max = std::clamp<std::int64_t>(*value, 0, kAmountMax);
  return {};
}

bool read_selector_op(std::string_view text, SelectorOp& op) {
  if (text == "In")
    op = SelectorOp::kIn;
  else if (text == "NotIn")
    op = SelectorOp::kNotIn;
  else if (text == "Exists")
    op = SelectorOp::kExists;
  else if (text == "DoesNotExist")
    op = SelectorOp::kDoesNotExist;
  else if (text == "Gt")
    op = SelectorOp::kGt;
  else if (text == "Lt")
    op = SelectorOp::kLt;
  else
    return false;
  return true;
}

bool read_taint_effect(std::string_view text, TaintEffect& effect) {
  if (text.empty())
    effect = TaintEffect::kAny;
  else if (text == "NoSchedule")
    effect = TaintEffect::kNoSchedule;
  else if (text == "PreferNoSchedule")
    effect = TaintEffect::kPreferNoSchedule;
  else if (text == "NoExecute")
    effect = TaintEffect::kNoExecute;
  else
    return false;
  return true;
}

PodPhase read_phase(std::string_view text) {
  if (text == "Pending" || text.empty()) return PodPhase::kPending;
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  if (text == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

ConditionStatus read_condition_status(std::string_view text) {
  if (text == "True") return ConditionStatus::kTrue;
  if (text == "False") return ConditionStatus::kFalse;
  return text.empty() ? ConditionStatus::kAbsent : ConditionStatus::kUnknown;
}

std::uint64_t read_resource_version(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

bool is_our_annotation(std::string_view key) { return key.starts_with(kOwnPrefix); }

void sort_by_key(Labels& labels) {
  if (!std::is_sorted(labels.begin(), labels.end(), [](const KeyValue& a, const KeyValue& b) { return a.key < b.key; }))
    std::sort(labels.begin(), labels.end(), [](const KeyValue& a, const KeyValue& b) { return a.key < b.key; });
}

}  // namespace ashlar::kube
