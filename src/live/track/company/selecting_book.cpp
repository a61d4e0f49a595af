#include "live/track/company/selecting_book.h"

#include <algorithm>

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

const LabelSelector* SelectingBook::find(const Key& key) const {
  const auto it = objects_.find(key);
  return it == objects_.end() ? nullptr : &it->second.selector;
}

void SelectingBook::list(Space& space, const Key& key, Object& object) {
  if (key.kind != SelectingKind::kService) return;
  std::size_t fewest = SIZE_MAX;
  for (const KeyValue& label : object.selector.match_labels) {
    const auto listed = space.services.find(label);
    const std::size_t others = listed == space.services.end() ? 0 : listed->second.size();
    if (others >= fewest) continue;
    fewest = others;
    object.listed_by = label;
  }
  space.services[object.listed_by].push_back(key.name);
}

void SelectingBook::unlist(Space& space, const Key& key, const Object& object) {
  if (key.kind != SelectingKind::kService) return;
  const auto listed = space.services.find(object.listed_by);
  std::erase(listed->second, key.name);
  if (listed->second.empty()) space.services.erase(listed);
}

void SelectingBook::set(const Key& key, LabelSelector selector) {
  const LabelSelector* known = find(key);
  if (known == nullptr ? !selector.present : *known == selector) return;
  Space& space = spaces_[key.ns];
  News news{.kind = key.kind, .name = key.name, .before = {}, .after = {}};
  if (known != nullptr) {
    const auto it = objects_.find(key);
    unlist(space, key, it->second);
    news.before = std::move(it->second.selector);
    objects_.erase(it);
    --space.objects;
  }
  if (selector.present) {
    Object& object = objects_[key];
    object.selector = std::move(selector);
    list(space, key, object);
    news.after = object.selector;
    ++space.objects;
  }
  space.edition = ++editions_;
  if (space.objects == 0) spaces_.erase(key.ns);
  if (key.kind != SelectingKind::kService) news.before = news.after = {};
  news_[key.ns].push_back(std::move(news));
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
  for (const KeyValue& label : labels) {
    const auto listed = space->second.services.find(label);
    if (listed == space->second.services.end()) continue;
    for (const PooledString& name : listed->second) {
      const LabelSelector& service = *find({SelectingKind::kService, ns, name});
      if (!matches(service, labels)) continue;
      for (const KeyValue& required : service.match_labels) require(all, required);
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
