// names: the names in a case and their dense rows: nodes, jobs, queues, levels, domains, models, labels, resources. A name gets the next row when it
// is first used; the core sees only rows.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "model/constraint.h"
#include "model/demand.h"

namespace ashlar::sim {

template <class IdType>
class NameTable {
 public:
  /// None if the name is not known.
  IdType find(std::string_view name) const {
    const auto it = std::find(names_.begin(), names_.end(), name);
    return it == names_.end() ? IdType::none() : IdType(static_cast<std::size_t>(it - names_.begin()));
  }
  IdType intern(std::string_view name) {
    if (const IdType known = find(name); !known.is_none()) return known;
    names_.emplace_back(name);
    return IdType(names_.size() - 1);
  }
  const std::string& name(IdType id) const { return names_[id.row()]; }
  std::size_t size() const { return names_.size(); }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
};

/// Plain values with a row each; equal values share a row.
template <class IdType, class Value>
class ValueTable {
 public:
  IdType find(const Value& value) const {
    const auto it = std::find(values_.begin(), values_.end(), value);
    return it == values_.end() ? IdType::none() : IdType(static_cast<std::size_t>(it - values_.begin()));
  }
  IdType add(Value value) {
    values_.push_back(std::move(value));
    return IdType(values_.size() - 1);
  }

 private:
  std::vector<Value> values_;
};

struct CaseNames {
  NameTable<NodeId> nodes;
  NameTable<JobId> jobs;
  NameTable<QueueId> queues;  ///< row 0 is "root"
  NameTable<DeviceClassId> models;
  NameTable<LevelId> levels;
  std::vector<NameTable<DomainId>> domains;  ///< [level]
  NameTable<ResourceId> resources;           ///< the fixed rows first
  NameTable<LabelKeyId> label_keys;
  NameTable<LabelId> labels;  ///< "key=value"
  ValueTable<DemandId, Demand> demands;
  ValueTable<ConstraintId, Constraint> constraints;
  std::vector<std::vector<MemberId>> members;  ///< [job] in rank order
  std::uint32_t member_count = 0;

  CaseNames() {
    queues.intern("root");
    for (const char* fixed : {"cpu", "memory", "storage", "pods"}) resources.intern(fixed);
  }
};

}  // namespace ashlar::sim
