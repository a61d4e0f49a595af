// Catalog: the names and definitions of one simulated run as dense rows: accelerator models, demands, constraints, and
// kinds of jobs (the members of each kind). Cost: one hash lookup per query.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "model/constraint.h"
#include "model/demand.h"
#include "model/event.h"
#include "sim/world/class_names.h"

namespace ashlar::sim {

/// What one member of a job needs, `count` times.
struct MemberNeed {
  DemandId demand;
  ConstraintId constraint;
  std::uint32_t count = 1;
  std::uint32_t group = 0;  ///< of the kind's GangSpec
  friend bool operator==(const MemberNeed&, const MemberNeed&) = default;
};

/// Jobs that differ only in their times. All members are needed together.
struct JobKind {
  std::vector<MemberNeed> needs;  ///< in rank order
  LevelId within, prefer;
  GangSpecId spec = {};       ///< groups with domains of their own; none = it has none
  std::uint32_t members = 0;  ///< set by Catalog::add_kind, as is:
  std::int64_t devices = 0;
  friend bool operator==(const JobKind&, const JobKind&) = default;
};
using KindId = Id<struct KindTag>;

/// Devices, cores and memory of one member as a Demand; it also takes one pod slot.
struct MemberSize {
  DeviceRequest devices;
  MilliCores cpu;
  Bytes memory;
};
Demand demand_of(const MemberSize& size);

class Catalog {
 public:
  /// The row of a class, by its name or that of a model that it lists; new names get new rows. The empty name is
  /// none().
  DeviceClassId model(std::string_view name);
  /// The row if the name is known, else none().
  DeviceClassId find_model(std::string_view name) const;
  DemandId demand(const Demand& demand);
  /// Before its models are named.
  void define_class(const StatedClass& stated) { classes_.push_back(models_.define(stated)); }
  std::vector<CapabilityId> capabilities(const std::vector<std::string>& names) { return models_.capabilities(names); }
  /// "Any node", or one of these classes, with all of these capabilities.
  ConstraintId constraint(std::vector<DeviceClassId> models, std::vector<CapabilityId> capabilities = {});
  DeviceLayoutId layout(DeviceLayout layout);
  KindId add_kind(JobKind kind);
  GangSpecId gang_spec(const GangSpec& spec);

  const JobKind& kind(KindId id) const { return kinds_[id.row()]; }
  /// Appends the events that define every class, demand, constraint, list of groups and layout, at time 0.
  void define(std::vector<Event>& out) const;

 private:
  ClassNames models_;
  std::vector<DeviceClassDefined> classes_;
  std::vector<Demand> demands_;
  std::unordered_multimap<std::uint64_t, DemandId> demand_rows_;
  std::vector<Constraint> constraints_;
  std::vector<GangSpec> gang_specs_;
  std::vector<DeviceLayout> layouts_;
  std::vector<JobKind> kinds_;
};

}  // namespace ashlar::sim
