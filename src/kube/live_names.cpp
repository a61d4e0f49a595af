#include "kube/live_names.h"

namespace ashlar::kube {

namespace {
constexpr std::string_view kFixedResources[] = {"cpu", "memory", "ephemeral-storage", "pods"};
}  // namespace

LiveNames::LiveNames(std::vector<LiveLevel> nested)
    : nested_(static_cast<std::uint32_t>(nested.size())), levels_(std::move(nested)), node_name_key_("metadata.name") {
  domain_names_.resize(levels_.size());
}

ResourceId LiveNames::resource(const Text& name) {
  if (const ResourceId known = find_resource(name); !known.is_none()) return known;
  if (extended_.size() + resource::kFirstExtended >= resource::kColumnsMax) return ResourceId::none();
  return ResourceId(extended_.of(name).value + resource::kFirstExtended);
}

ResourceId LiveNames::find_resource(const Text& name) const {
  for (std::uint32_t r = 0; r < resource::kFirstExtended; ++r)
    if (name == kFixedResources[r]) return ResourceId(r);
  const ResourceId found = extended_.find(name);
  return found.is_none() ? found : ResourceId(found.value + resource::kFirstExtended);
}

Text LiveNames::resource_name(ResourceId id) const {
  if (id.value < resource::kFirstExtended) return Text(kFixedResources[id.value]);
  return extended_.name(ResourceId(id.value - resource::kFirstExtended));
}

LabelId LiveNames::label(const Text& key, const Text& value) {
  const auto [it, is_new] = labels_.try_emplace(PairKey{key, value}, LabelId(static_cast<std::uint32_t>(label_texts_.size())));
  if (is_new) label_texts_.emplace_back(key, value);
  return it->second;
}

std::string LiveNames::label_text(LabelId id) const {
  if (id.row() >= label_texts_.size()) return {};
  const auto& [key, value] = label_texts_[id.row()];
  return key.str() + "=" + value.str();
}

LevelId LiveNames::find_level(const Text& name) const {
  for (std::size_t l = 0; l < levels_.size(); ++l)
    if (levels_[l].name == name || levels_[l].label == name) return LevelId(l);
  return LevelId::none();
}

LevelId LiveNames::level_of_label(const Text& label, bool& is_new) {
  is_new = false;
  if (const LevelId known = find_level(label); !known.is_none()) return known;
  if (levels_.size() >= Topology::kLevelsMax) return LevelId::none();
  is_new = true;
  levels_.push_back({label, label});
  domain_names_.emplace_back();
  return LevelId(levels_.size() - 1);
}

DomainId LiveNames::domain(LevelId level, DomainId parent, const Text& value) {
  std::vector<Text>& names = domain_names_[level.row()];
  const PairKey key{Text(), value, level.value, parent.value};
  const auto [it, is_new] = domains_.try_emplace(key, DomainId(static_cast<std::uint32_t>(names.size())));
  if (is_new) names.push_back(value);
  return it->second;
}

Text LiveNames::domain_name(LevelId level, DomainId domain) const {
  if (level.row() >= domain_names_.size() || domain.row() >= domain_names_[level.row()].size()) return {};
  return domain_names_[level.row()][domain.row()];
}

std::uint32_t LiveNames::address(const Text& host_ip) {
  return host_ip.empty() || host_ip == "0.0.0.0" || host_ip == "::" ? 0 : addresses_.of(host_ip).value + 1;
}

}  // namespace ashlar::kube
