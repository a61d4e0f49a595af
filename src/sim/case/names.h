// names: the names in a case and their dense rows: nodes, jobs, queues, levels, domains, models, labels, resources. A
// name gets the next row when it is first used; the core sees only rows.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "model/constraint.h"
#include "model/demand.h"
#include "model/gang.h"
#include "model/node.h"
#include "model/pod_labels.h"
#include "names/interned.h"
#include "sim/world/class_names.h"

namespace ashlar::sim {

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
  const Value& value(IdType id) const { return values_[id.row()]; }

 private:
  std::vector<Value> values_;
};

struct CaseNames {
  Interned<NodeId> nodes;
  Interned<JobId> jobs;
  Interned<QueueId> queues;  ///< row 0 is "root"
  ClassNames models;
  Interned<LevelId> levels;
  std::vector<Interned<DomainId>> domains;  ///< [level]
  Interned<ResourceId> resources;           ///< the fixed rows first
  Interned<LabelKeyId> label_keys;
  Interned<LabelId> labels;  ///< "key=value"
  ValueTable<DemandId, Demand> demands;
  ValueTable<ConstraintId, Constraint> constraints;
  ValueTable<LabelSetId, LabelSet> label_sets;
  ValueTable<PodSelectorId, PodSelector> pod_selectors;
  ValueTable<DeviceLayoutId, DeviceLayout> layouts;
  ValueTable<GangSpecId, GangSpec> gang_specs;
  std::vector<std::vector<MemberId>> members;  ///< [job] in rank order
  std::uint32_t member_count = 0;

  CaseNames() {
    queues.of("root");
    for (const char* fixed : {"cpu", "memory", "storage", "pods"}) resources.of(fixed);
  }
};

}  // namespace ashlar::sim
