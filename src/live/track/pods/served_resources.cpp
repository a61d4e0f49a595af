#include "live/track/pods/served_resources.h"

#include <algorithm>

#include "base/grown.h"

namespace ashlar::kube {

void ServedResources::take(Change<DeviceClassObject>&& change) {
  if (change.kind == Change<DeviceClassObject>::Kind::kSynced) return;
  const bool is_gone = change.kind == Change<DeviceClassObject>::Kind::kDeleted;
  const DeviceClassObject& object = change.object;
  if (!is_gone && !object.problem.empty()) return;  // what was last read of it stays
  const Name resource = is_gone ? Name() : object.extended_resource;
  const auto known = resources_.find(object.name);
  if (resource == (known == resources_.end() ? Name() : known->second)) return;
  if (known != resources_.end()) {
    const auto servers = servers_.find(known->second);
    servers->second.erase(object.name);
    if (servers->second.empty()) servers_.erase(servers);
    resources_.erase(known);
  }
  if (!resource.empty()) {
    resources_[object.name] = resource;
    servers_[resource].insert(object.name);
  }
  has_news_ = true;
}

void ServedResources::replace(const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after) {
  const auto has = [](const std::vector<std::int64_t>& amounts, std::size_t column) {
    return column < amounts.size() && amounts[column] > 0;
  };
  const std::size_t columns = std::max(before.size(), after.size());
  for (std::size_t column = resource::kFirstExtended; column < columns; ++column) {
    if (has(before, column) == has(after, column)) continue;
    const ResourceId id(column);
    const bool was_on_nodes = is_on_nodes(id);
    has(after, column) ? ++grown(nodes_with_, column) : --nodes_with_[column];
    if (is_on_nodes(id) != was_on_nodes && servers_.contains(names_.resource_name(id))) has_news_ = true;
  }
}

PooledString ServedResources::server_of(ResourceId id) const {
  if (servers_.empty() || id.row() < resource::kFirstExtended || is_on_nodes(id)) return {};
  const auto servers = servers_.find(names_.resource_name(id));
  return servers == servers_.end() ? Name() : *servers->second.begin();
}

}  // namespace ashlar::kube
