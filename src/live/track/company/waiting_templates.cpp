#include "live/track/company/waiting_templates.h"

#include <algorithm>

#include "base/digest.h"
#include "live/track/hashes.h"

namespace ashlar::kube {

const Labels& WaitingTemplates::Template::its_labels() const {
  static const Labels kNone;
  return labels ? *labels : kNone;
}

std::size_t WaitingTemplates::Hash::operator()(const Template& t) const {
  const std::uint64_t of_labels = hash_combine(t.ns.hash(), hash_of(t.its_labels()));
  return static_cast<std::size_t>(
      hash_combine(hash_combine(of_labels, t.controller.hash()), static_cast<std::uint64_t>(t.controller_kind)));
}

std::size_t WaitingTemplates::MarkHash::operator()(const Mark& m) const {
  const std::uint64_t of_label = hash_combine(hash_combine(m.ns.hash(), m.key.hash()), m.value.hash());
  return static_cast<std::size_t>(hash_combine(of_label, static_cast<std::uint64_t>(m.controller_kind)));
}

void WaitingTemplates::sort_once(Slots& slots) {
  std::ranges::sort(slots);
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
}

void WaitingTemplates::list(Entry& entry) {
  const Template& one = entry.first;
  for (const KeyValue& label : one.its_labels())
    by_mark_[{one.ns, label.key, label.value, SelectingKind::kNone}].push_back(&entry);
  if (one.controller_kind != SelectingKind::kNone)
    by_mark_[{one.ns, one.controller, {}, one.controller_kind}].push_back(&entry);
}

void WaitingTemplates::list_all() {
  by_mark_.clear();
  for (Entry& entry : templates_) list(entry);
}

void WaitingTemplates::note(const PodRecord& pod, PodSlot slot) {
  const auto [it, is_new] =
      templates_.try_emplace(Template{pod.ns, pod.controller_name, pod.labels, pod.controller_kind});
  if (is_new) list(*it);
  it->second.push_back(slot);
  ++noted_;
}

const WaitingTemplates::Listed& WaitingTemplates::listed(const Mark& mark) const {
  static const Listed kNone;
  const auto it = by_mark_.find(mark);
  return it == by_mark_.end() ? kNone : it->second;
}

const WaitingTemplates::Listed& WaitingTemplates::candidates(const PooledString& ns,
                                                             const LabelSelector& selector) const {
  static const Listed kNone;  // a Service without labels selects nothing
  const Listed* fewest = selector.match_labels.empty() ? &kNone : nullptr;
  for (const KeyValue& label : selector.match_labels) {
    const Listed& with_it = listed({ns, label.key, label.value, SelectingKind::kNone});
    if (fewest == nullptr || with_it.size() < fewest->size()) fewest = &with_it;
  }
  return *fewest;
}

void WaitingTemplates::take_of(const Listed& candidates, const SelectingBook::News& news, Slots& taken) {
  for (Entry* entry : candidates) {
    auto& [one, slots] = *entry;
    ++compared_;
    if (!news.concerns(one.its_labels(), one.controller_kind, one.controller)) continue;
    noted_ -= slots.size();
    taken.insert(taken.end(), slots.begin(), slots.end());
    slots.clear();
  }
}

std::vector<PodSlot> WaitingTemplates::take(const PooledString& ns, std::span<const SelectingBook::News> news) {
  Slots taken;
  for (const SelectingBook::News& one : news) {
    if (one.kind == SelectingKind::kService) {
      take_of(candidates(ns, one.before), one, taken);
      if (one.after != one.before) take_of(candidates(ns, one.after), one, taken);
    } else {
      take_of(listed({ns, one.name, {}, one.kind}), one, taken);
    }
  }
  sort_once(taken);
  return taken;
}

}  // namespace ashlar::kube
