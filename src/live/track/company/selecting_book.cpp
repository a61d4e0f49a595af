#include "live/track/company/selecting_book.h"

#include <algorithm>

#include "live/track/hashes.h"

namespace ashlar::kube {
namespace {

/// A label that a pod must have; one that another requirement has already is not repeated.
void require(LabelSelector& all, const KeyValue& label) {
  const auto at =
      std::ranges::lower_bound(all.match_labels, label.key.view(), {}, [](const KeyValue& l) { return l.key.view(); });
  if (at == all.match_labels.end() || at->key != label.key)
    all.match_labels.insert(at, label);
  else if (at->value != label.value)  // no pod has both
    all.expressions.push_back({label.key, SelectorOp::kIn, {label.value}});
}

}  // namespace

std::size_t SelectingBook::SelectorHash::operator()(const LabelSelector& selector) const { return hash_of(selector); }

const LabelSelector* SelectingBook::find(const Key& key) const {
  const auto it = objects_.find(key);
  return it == objects_.end() ? nullptr : &it->second;
}

bool SelectingBook::list(Space& space, const LabelSelector& selector) {
  const auto [it, is_first] = space.selectors.try_emplace(selector);
  ++it->second.services;
  if (!is_first) return false;
  std::size_t fewest = SIZE_MAX;
  for (const KeyValue& label : selector.match_labels) {
    const auto listed = space.by_label.find(label);
    const std::size_t others = listed == space.by_label.end() ? 0 : listed->second.size();
    if (others >= fewest) continue;
    fewest = others;
    it->second.listed_by = label;
  }
  space.by_label[it->second.listed_by].push_back(&it->first);
  return true;
}

bool SelectingBook::unlist(Space& space, const LabelSelector& selector) {
  const auto it = space.selectors.find(selector);
  if (--it->second.services > 0) return false;
  const auto listed = space.by_label.find(it->second.listed_by);
  std::erase(listed->second, &it->first);
  if (listed->second.empty()) space.by_label.erase(listed);
  space.selectors.erase(it);
  return true;
}

void SelectingBook::set(const Key& key, LabelSelector selector) {
  const LabelSelector* known = find(key);
  if (known == nullptr ? !selector.present : *known == selector) return;
  Space& space = spaces_[key.ns];
  const bool is_service = key.kind == SelectingKind::kService;
  News news{.kind = key.kind, .name = key.name, .before = {}, .after = {}};
  if (known != nullptr) {
    if (is_service && unlist(space, *known)) news.before = *known;
    objects_.erase(key);
    --space.objects;
  }
  if (selector.present) {
    if (is_service && list(space, selector)) news.after = selector;
    objects_[key] = std::move(selector);
    ++space.objects;
  }
  const bool is_news = !is_service || news.before.present || news.after.present;
  if (is_news) space.edition = ++editions_;
  if (space.objects == 0) spaces_.erase(key.ns);
  if (is_news) news_[key.ns].push_back(std::move(news));
}

std::uint64_t SelectingBook::edition(const PooledString& ns) const {
  const auto it = spaces_.find(ns);
  return it == spaces_.end() ? 0 : it->second.edition;
}

LabelSelector SelectingBook::selector_of(const PooledString& ns, const Labels& labels, SelectingKind controller_kind,
                                         const PooledString& controller_name) const {
  LabelSelector all;
  const auto space = spaces_.find(ns);
  if (space == spaces_.end()) return all;
  std::size_t selecting = 0;
  for (const KeyValue& label : labels) {
    const auto listed = space->second.by_label.find(label);
    if (listed == space->second.by_label.end()) continue;
    for (const LabelSelector* services : listed->second) {
      if (!matches(*services, labels)) continue;
      if (++selecting > kServicesMax) return {};
      for (const KeyValue& required : services->match_labels) require(all, required);
    }
  }
  const LabelSelector* controller =
      controller_kind == SelectingKind::kNone ? nullptr : find({controller_kind, ns, controller_name});
  if (controller != nullptr) {
    if (controller_kind == SelectingKind::kReplicationController)  // its labels come before those of Services
      for (const KeyValue& own : controller->match_labels)
        std::erase_if(all.match_labels, [&](const KeyValue& l) { return l.key == own.key; });
    for (const KeyValue& required : controller->match_labels) require(all, required);
    all.expressions.insert(all.expressions.end(), controller->expressions.begin(), controller->expressions.end());
  }
  all.present = !all.match_labels.empty() || !all.expressions.empty();
  return all;
}

bool SelectingBook::News::concerns(const Labels& labels, SelectingKind controller_kind,
                                   const PooledString& controller_name) const {
  if (kind != SelectingKind::kService) return kind == controller_kind && name == controller_name;
  return (before.present && matches(before, labels)) || (after.present && matches(after, labels));
}

}  // namespace ashlar::kube
