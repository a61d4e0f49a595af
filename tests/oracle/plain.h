// Plain: a small cluster with its queues and jobs as bare numbers, and the naive answers to what may be placed where.
// Nothing here knows the engine: rules are written down a second time, and searches try everything. Only `events_of`
// speaks the model's language, to tell the engine the same world.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/event.h"
#include "model/plan.h"

namespace ashlar::oracle {

enum PlainResource : std::uint8_t { kCores, kGigabytes, kPodSlots, kAdapters, kPlainResources };
inline constexpr int kPlainLevelsMax = 4;
inline constexpr int kNowhere = -1;
inline constexpr int kPlainModels = 2, kPlainCapabilities = 2;

struct PlainDevice {
  int model = 0;
  std::int64_t mib = 0;  ///< 0 = not known, not checked
  bool is_sliced = false;
  friend bool operator==(const PlainDevice&, const PlainDevice&) = default;
};

struct PlainNode {
  int devices = 0;
  std::int64_t device_mib = 0;  ///< 0 = not known, not checked
  /// Row of PlainWorld::layouts, and each device as it says; kNowhere and none: all are of `model` and `device_mib`.
  int layout = kNowhere;
  std::vector<PlainDevice> each = {};
  std::array<std::int64_t, kPlainResources> has{};
  int model = 0, zone = 0;
  bool is_there = true, is_ready = true;
  /// kNowhere = none, else the row of a TaintEffect
  int taint = kNowhere;
  std::array<int, kPlainLevelsMax> domain{kNowhere, kNowhere, kNowhere, kNowhere};  ///< by level
  PlainDevice device(int c) const {
    return each.empty() ? PlainDevice{model, device_mib} : each[static_cast<std::size_t>(c)];
  }
};

struct PlainDemand {
  std::array<std::int64_t, kPlainResources> asks{};
  int devices = 0;
  std::int32_t milli = 1000;
  std::int64_t mib = 0;
  int port = 0;  ///< 0 = none
  bool is_share() const { return milli < 1000; }
};

struct PlainConstraint {
  int model = kNowhere, zone = kNowhere;  ///< kNowhere = any
  int not_zone = kNowhere, wished_zone = kNowhere;
  bool tolerates = false;
  int capability = kNowhere;  ///< that its devices must have; kNowhere = none
  unsigned able = 0;          ///< models that have it, a bit each
  bool takes_model(int of) const { return model == kNowhere || model == of; }
  bool takes(int of) const { return takes_model(of) && (capability == kNowhere || (able >> of & 1) != 0); }
};

struct PlainMember {
  int demand = 0, constraint = 0;
  int node = kNowhere;
  std::vector<int> devices;  ///< fewer than asked: the others are of that node, nobody knows which
  /// not there yet: another scheduler keeps the node for it, against jobs of its priority and below
  bool is_nominated = false;
  int group = 0;  ///< index into PlainJob::groups, if it has any
  bool is_placed() const { return node != kNowhere; }
  void take_off() { put(kNowhere, {}); }
  void put(int on, std::vector<int> which, bool is_held = false) {
    node = on;
    devices = std::move(which);
    is_nominated = is_held;
  }
};

/// Members of a gang that start with at least `min` of them, in one domain of a level of their own if `within` says so.
struct PlainGroup {
  int min = 0;
  int within = kNowhere, prefer = kNowhere;
};

struct PlainJob {
  std::vector<PlainMember> members;  ///< in rank order
  int min = 1;
  int within = kNowhere, prefer = kNowhere;
  std::vector<PlainGroup> groups;  ///< none: `min` of all of them start together
  bool is_each_needed = false;     ///< the groups' minima do not count
  int queue = 0;
  std::int32_t priority = 0;
  std::int64_t submitted_ms = 0;
  std::int64_t p50_ms = INT64_MAX;    ///< of its run; INT64_MAX = not known
  std::int64_t lasts_ms = INT64_MAX;  ///< in nine of ten cases; INT64_MAX = not known, or it has run before
  bool is_ours = true;
  int placed() const;
  /// Members that are missing to its minimum, or to those of its groups.
  int lacking() const;
  int placed_of(int group) const;
  /// Members that are missing to the minimum of a group.
  int lacking_of(int group) const;
  /// This many of the waiting members must be placed next, the first in the order of `waiting`.
  int needed() const { return lacking() > 0 ? lacking() : 1; }
  /// Ranks of the first `count` waiting members: those that groups lack, then the others.
  std::vector<int> waiting(int count) const;
  /// All ranks that may be those placed next: of unlike members more than are needed any may be among them. `waiting` of
  /// those needed comes first.
  std::vector<std::vector<int>> choices() const;
  /// Whether as many members exist as must start together.
  bool has_enough_members() const;
};

/// The limit of a queue in milli-GPU and cores; kUnlimited never binds. Row 0 is the root; parents come before
/// children.
struct PlainQueue {
  int parent = kNowhere;
  std::int64_t milli_max = kUnlimited, cores_max = kUnlimited;
};

struct PlainWorld {
  int nested = 0, orthogonal = 0;
  std::vector<std::vector<PlainDevice>> layouts;
  std::vector<PlainNode> nodes;
  std::vector<PlainDemand> demands;
  std::vector<PlainConstraint> constraints;
  std::vector<PlainQueue> queues{{}};
  std::vector<PlainJob> jobs;
  /// By capability: the models that have it, a bit each.
  std::array<unsigned, kPlainCapabilities> able{};
};
/// From now on the model has these capabilities, a bit each.
void define_model(PlainWorld& world, int model, unsigned capabilities);

struct PlainBind {
  int job = 0, rank = 0, node = 0;
  std::vector<int> devices;
};

/// The rows that events_of gives to members: job by job, in rank order.
int member_row(const PlainWorld& world, int job, int rank);
PlainBind bind_of(const PlainWorld& world, std::uint32_t member, std::uint32_t node, const DeviceMask& devices);
NodeFacts facts_of(const PlainNode& node, int levels);
PlainNode plain_of(const PlainWorld& world, const NodeFacts& facts);
/// Definitions, nodes, every job, and a Bound with stated devices for each placed member.
std::vector<Event> events_of(const PlainWorld& world);

/// Carries the binds out one by one. Empty, or the first rule that one of them breaks; `world` is then in between.
std::string broken_rule(PlainWorld& world, const std::vector<PlainBind>& binds);

/// The one rule, of those that do not change with what is running, that refuses the node first; kNone where none does.
ReasonCode lasting_refusal(const PlainNode& node, const PlainConstraint& constraint);
bool is_port_taken(const PlainWorld& world, int node, const PlainDemand& demand);
std::int64_t amount_left(const PlainWorld& world, int node, PlainResource resource);
/// What a member asks of devices, and of which model they must be or what they must be able to do.
struct PlainAsk {
  PlainDemand demand;
  PlainConstraint constraint = {};
};
/// Devices apart from everything else: has the node some for one such member?
bool has_devices_for(const PlainWorld& world, int node, const PlainAsk& ask);
std::int64_t most_device_memory(const PlainWorld& world, int node, const PlainAsk& ask);
/// Milli-GPU that such a member could use there: of the idle devices, or of the one device with most left for a share.
std::int64_t milli_left_for(const PlainWorld& world, int node, const PlainAsk& ask);
/// Would the members that the job needs put this queue (kNowhere: any) over its limit; `is_alone`: though nobody else
/// were there?
bool is_over_quota(const PlainWorld& world, int job, int queue, bool is_alone);

/// Which devices a nominated member is taken to get, of those that the node has: idle ones for whole devices, the
/// tightest that fits for a share.
std::vector<int> devices_taken_to_get(const PlainWorld& world, int node, const PlainAsk& ask);
/// The world without the nominations that the job outranks.
PlainWorld without_outranked(PlainWorld world, int job);

/// Fills in devices of the bind's node for its member, looking from device `first` on; false where the node cannot take
/// the member. `is_forced`: cores, memory, slots, adapters and ports do not matter.
bool find_devices(const PlainWorld& world, PlainBind& bind, int first, bool is_forced);

enum class Answer : std::uint8_t { kYes, kNo, kUnknown };
/// Can the waiting members that the job needs next be placed together, whatever the arrangement? kUnknown where the
/// search was given up.
Answer can_be_placed(const PlainWorld& world, int job);
/// Could the members that the job needs next be placed on the same nodes with nobody else there than those of its gang
/// that run, all of them ready and without taints?
Answer could_ever_run(const PlainWorld& world, int job);

}  // namespace ashlar::oracle
