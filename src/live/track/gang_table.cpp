#include "live/track/gang_table.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "kubeclient/bind_outcome.h"
#include "kubeclient/pod_builder.h"
#include "live/track/translate.h"
#include "text/nearest_name.h"

namespace ashlar::kube {
namespace {

constexpr std::uint32_t kGangSizeMax = 100'000;  ///< a larger number is a typing error

constexpr std::string_view kIndexLabels[] = {"batch.kubernetes.io/job-completion-index", "apps.kubernetes.io/pod-index",
                                             "leaderworkerset.sigs.k8s.io/worker-index"};
constexpr std::uint32_t kNoIndex = 0xffffffffu;

std::uint32_t index_of(const PodRecord& pod) {
  if (!pod.labels) return kNoIndex;
  for (const std::string_view key : kIndexLabels) {
    const PooledString* value = find_label(*pod.labels, key);
    if (value == nullptr) continue;
    const std::string_view text = value->view();
    std::uint32_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error == std::errc() && end == text.data() + text.size()) return index;
  }
  return kNoIndex;
}

constexpr std::string_view kSettings[] = {kGangLabel,         kGangSizeLabel,         kWithinLabel,       kPreferLabel,
                                          kQueueLabel,        kDurationLabel,         kLateDurationLabel, kGpuMemoryAsk,
                                          kGpuClassesSetting, kGpuCapabilitiesSetting};
/// keys with our prefix that are looked at: a tenant may write thousands, on each of many updates
constexpr std::size_t kOwnKeysMax = 32;

}  // namespace

std::string_view meant_key(std::string_view key, std::span<const std::string_view> known) {
  if (key == kDevicesAnnotation || key == kGrantsAnnotation || key == kChargedQueueAnnotation ||
      std::find(known.begin(), known.end(), key) != known.end())
    return {};
  const std::string_view typed = key.substr(kOwnPrefix.size());
  for (const std::string_view setting : known) {
    const std::string_view meant = setting.substr(kOwnPrefix.size());
    const std::size_t near = meant.size() <= 5 ? 1 : 2;
    const bool may_be_near = std::max(typed.size(), meant.size()) - std::min(typed.size(), meant.size()) <= near;
    if (may_be_near && edit_distance(typed, meant) <= near) return setting;
  }
  return {};
}

std::string mistyped_setting(const Pod& pod) {
  std::size_t looked_at = 0;
  for (const auto& labels : {pod.labels, pod.annotations}) {
    if (!labels) continue;
    for (const auto& [key, value] : *labels) {
      if (!is_our_annotation(key.view())) continue;
      if (++looked_at > kOwnKeysMax) return {};
      if (key.view() == kGangWithinAnnotation || key.view() == kGangRankAnnotation)
        return key.str() + " is an annotation of PodGroups, not of pods";
      if (key == PooledString(kGpuMilliResource))
        return key.str() + " is a resource, not a label: write it under resources.limits of a container";
      if (const std::string_view meant = meant_key(key.view(), kSettings); !meant.empty())
        return key.str() + " is not a known key" + meant_text(meant);
    }
  }
  return {};
}

Result<GangSettings> read_gang_settings(const Pod& pod) {
  GangSettings setting;
  if (const PooledString* within = find_setting(pod, kWithinLabel)) setting.within = *within;
  if (const PooledString* prefer = find_setting(pod, kPreferLabel)) setting.prefer = *prefer;
  if (!pod.group_name.empty()) {
    setting.name = pod.group_name;
    setting.kind = GangKind::kPodGroup;
    return setting;
  }
  const PooledString* name = find_setting(pod, kGangLabel);
  const PooledString* size = find_setting(pod, kGangSizeLabel);
  if (name == nullptr || name->empty()) {
    if (size != nullptr)
      return invalid("has ashlar.dev/gang-size but not ashlar.dev/gang; name the gang whose pods start together");
    if (setting.within.empty()) return setting;
    // Its hard topology requirement binds as in a gang of one. The slash keeps its name distinct from label values.
    setting.name = PooledString(std::string(kLonePodPrefix) + pod.name.str());
    setting.size = 1;
    return setting;
  }
  if (bounded_words(name->view(), kDetailMax) != name->view())
    return invalid("ashlar.dev/gang is not a valid name: it has control characters, or is too long");
  if (name->view().find('/') != std::string_view::npos)
    return invalid("ashlar.dev/gang is not a valid name: it has a slash");
  setting.name = *name;
  if (size == nullptr)
    return invalid("has ashlar.dev/gang but not ashlar.dev/gang-size; state how many pods start together");
  const std::string_view text = size->view();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), setting.size);
  if (error != std::errc() || end != text.data() + text.size() || setting.size == 0 || setting.size > kGangSizeMax)
    return invalid("ashlar.dev/gang-size is '" + std::string(text.substr(0, 64)) +
                   "'; it must be a whole number from 1 to " + std::to_string(kGangSizeMax));
  return setting;
}

GangSlot GangTable::find_or_add(const PooledString& ns, const PooledString& name, GangKind kind) {
  if (const GangSlot known = find(ns, name, kind); known != kNoGang) return known;
  GangSlot slot = static_cast<GangSlot>(records_.size());
  if (spare_.empty()) {
    records_.emplace_back();
  } else {
    slot = spare_.back();
    spare_.pop_back();
  }
  GangRecord& g = edit(slot);
  g = GangRecord{};
  g.ns = ns;
  g.name = name;
  g.kind = kind;
  g.is_used = true;
  slots_.emplace(Key{ns, name, kind}, slot);
  return slot;
}

void GangTable::remove(GangSlot slot) {
  GangRecord& g = edit(slot);
  slots_.erase(Key{g.ns, g.name, g.kind});
  g = GangRecord{};
  spare_.push_back(slot);
}

void GangTable::put(RowChanges<GangRecord>&& changes) {
  for (auto& [slot, record] : changes) {
    if (slot >= records_.size()) records_.resize(slot + 1);
    GangRecord& mine = records_[slot];
    const auto key_of = [](const GangRecord& g) { return Key{g.ns, g.name, g.kind}; };
    if (mine.is_used)
      if (const auto it = slots_.find(key_of(mine)); it != slots_.end() && it->second == slot) slots_.erase(it);
    if (record.is_used) slots_[key_of(record)] = slot;
    mine = std::move(record);
  }
}

bool is_name_before(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[k])) {
      if (a[i] != b[k]) return a[i] < b[k];
      ++i;
      ++k;
      continue;
    }
    std::size_t a_end = i, b_end = k;
    while (a_end < a.size() && is_digit(a[a_end])) ++a_end;
    while (b_end < b.size() && is_digit(b[b_end])) ++b_end;
    std::string_view x = a.substr(i, a_end - i), y = b.substr(k, b_end - k);
    while (x.size() > 1 && x.front() == '0') x.remove_prefix(1);
    while (y.size() > 1 && y.front() == '0') y.remove_prefix(1);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
    i = a_end;
    k = b_end;
  }
  if (a.size() - i != b.size() - k) return a.size() - i < b.size() - k;
  return a < b;
}

void sort_by_rank(const PodTable& pods, std::vector<PodSlot>& slots) {
  struct Keyed {
    std::uint32_t index;
    PodSlot slot;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(slots.size());
  for (const PodSlot s : slots) keyed.push_back({index_of(pods[s]), s});
  std::sort(keyed.begin(), keyed.end(), [&](const Keyed& a, const Keyed& b) {
    return a.index != b.index ? a.index < b.index : is_name_before(pods[a.slot].name, pods[b.slot].name);
  });
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = keyed[i].slot;
}

}  // namespace ashlar::kube
