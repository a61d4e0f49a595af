// ServedResources: the extended resources that Dynamic Resource Allocation serves by DeviceClasses, and how many nodes
// have them by a device plugin, so that a pod that requests one that no node has waits as one with resource claims.
// Cost: one lookup for each extended resource of a pod while there are such classes; of a node, a look at its columns.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <set>
#include <vector>

#include "kubeclient/reflector.h"
#include "live/track/names.h"

namespace ashlar::kube {

class ServedResources {
 public:
  explicit ServedResources(const ObjectNames& names) : names_(names) {}
  void take(Change<DeviceClassObject>&& change);
  /// A node has the second amounts, by column, in place of the first; none: it has gone, or was not there.
  void replace(const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after);
  /// The first, by name, of the DeviceClasses that serve a resource which no node has; empty: a node has it, or no
  /// class serves it.
  PooledString server_of(ResourceId id) const;
  bool is_empty() const { return servers_.empty(); }
  /// Something is served from now on, or no longer.
  bool has_news() const { return has_news_; }
  void forget_news() { has_news_ = false; }

 private:
  using Name = PooledString;
  template <class Value>
  using ByName = boost::unordered_flat_map<Name, Value, std::hash<Name>>;

  bool is_on_nodes(ResourceId id) const { return id.row() < nodes_with_.size() && nodes_with_[id.row()] > 0; }

  const ObjectNames& names_;
  ByName<Name> resources_;                 ///< by class: what it serves
  ByName<std::set<Name>> servers_;         ///< by resource: the classes
  std::vector<std::uint32_t> nodes_with_;  ///< by column: the nodes that have some of it
  bool has_news_ = false;
};

}  // namespace ashlar::kube
