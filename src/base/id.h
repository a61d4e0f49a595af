// Id<Tag>: dense row numbers of the columns (node 0, node 1, ...). One type per kind of thing, so that a node id cannot
// be passed for a device id. Names live in side tables at the edge; the core never sees a string.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace ashlar {

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNoneValue = 0xffffffffu;
  std::uint32_t value = kNoneValue;

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t v) : value(v) {}
  constexpr explicit Id(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}
  constexpr explicit Id(int v) : value(static_cast<std::uint32_t>(v)) {}

  static constexpr Id none() { return Id(); }
  constexpr bool is_none() const { return value == kNoneValue; }
  /// Row index for columns. Meaningless on none().
  constexpr std::size_t row() const { return value; }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using NodeId = Id<struct NodeTag>;                ///< row of a node
using JobId = Id<struct JobTag>;                  ///< row of a job: a gang, or a single pod as a gang of one
using MemberId = Id<struct MemberTag>;            ///< row of one member (pod) of a job
using QueueId = Id<struct QueueTag>;              ///< row of a queue in the tree; 0 is the root
using DomainId = Id<struct DomainTag>;            ///< row of a topology domain, dense within its level
using LevelId = Id<struct LevelTag>;              ///< topology level, 0 is the outermost
using DemandId = Id<struct DemandTag>;            ///< interned Demand
using ConstraintId = Id<struct ConstraintTag>;    ///< interned Constraint (which nodes are allowed at all)
using ResourceId = Id<struct ResourceTag>;        ///< column of a node resource (cpu, memory, ..., extended)
using LabelId = Id<struct LabelTag>;              ///< interned label key=value, of a node or a pod
using LabelKeyId = Id<struct LabelKeyTag>;        ///< interned label key
using LabelSetId = Id<struct LabelSetTag>;        ///< interned labels of a pod, with its namespace
using PodSelectorId = Id<struct PodSelectorTag>;  ///< interned selector of pods
using NamespaceId = Id<struct NamespaceTag>;      ///< row of a namespace
using DeviceClassId = Id<struct ModelTag>;        ///< interned device class: of a name, or of one accelerator model
using DeviceModelId = Id<struct ModelNameTag>;    ///< interned name of an accelerator model that a class lists
using CapabilityId = Id<struct CapabilityTag>;    ///< interned name of what a device class can do
using DeviceLayoutId = Id<struct LayoutTag>;      ///< interned DeviceLayout
using ImageId = Id<struct ImageTag>;              ///< row of a name of a container image
using GangSpecId = Id<struct GangSpecTag>;        ///< interned GangSpec
using DeviceGrantsId = Id<struct GrantsTag>;      ///< interned DeviceGrants

}  // namespace ashlar

template <class Tag>
struct std::hash<ashlar::Id<Tag>> {
  std::size_t operator()(const ashlar::Id<Tag>& id) const noexcept { return id.value * 0x9e3779b97f4a7c15ull; }
};
