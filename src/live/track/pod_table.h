// PodTable: one record per pod with what is needed to decide, bind and explain, found by namespace and name or by the
// engine's member row. Changed records can be taken, for the readers' copy of the table. About 250 bytes per record;
// names are pooled, label sets and rules shared.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/grown.h"
#include "base/id.h"
#include "kubeclient/objects.h"
#include "live/track/row_journal.h"
#include "model/demand.h"
#include "model/device_grant.h"
#include "model/workload.h"

namespace ashlar::kube {

using PodSlot = std::uint32_t;
inline constexpr PodSlot kNoPod = 0xffffffffu;
inline constexpr std::uint32_t kNoTerms = 0xffffffffu;
using GangSlot = std::uint32_t;
inline constexpr GangSlot kNoGang = 0xffffffffu;

struct VolumeTerms;

/// Why a pod of ours is not shown to the engine.
enum class HoldReason : std::uint8_t {
  kNone,
  kGated,         ///< spec.schedulingGates; detail = their names
  kDeleting,      ///< deletion was requested
  kUnsupported,   ///< a hard field that is not evaluated; detail = its path
  kUnknownField,  ///< its spec has fields of a newer Kubernetes; detail = their names
  /// one of our own labels or annotations cannot be read, or a field is too large; detail says which and why
  kMalformed,
  kQueueUnknown,    ///< detail = the queue's name
  kQueueForbidden,  ///< its queue is not open to its namespace; detail = the sentence
  kTermsFull,       ///< its namespace has as many terms about other pods as it may; detail = the sentence
  kQuarantined,     ///< the scheduler once stopped because of it; detail = the sentence
  kBindFailed,      ///< the API server does not bind it; detail = the server's message. Also of a whole gang
  kUnreadable,      ///< a part of it cannot be read; detail says which and why
  kForeign,         ///< another scheduler's pod, kept only because it names a PodGroup; detail = the scheduler's name
  kVolumes,         ///< its claims are not such that it could be placed; detail = kube-scheduler's sentence
  kVolumesUnreadable,  ///< what its volumes need is not known; detail = why
  // Of a whole gang; its pods are then kWaiting, outside the engine. The detail has the full text.
  kMembersMissing,    ///< fewer pods than must start together
  kGroupMissing,      ///< its PodGroup does not exist (yet)
  kGroupsUnreadable,  ///< PodGroups cannot be read at all
  kGroupRefused,      ///< it cannot be placed in its present form
  kNoSuchDomain,      ///< no node has the label of the domain that it must stay in: other nodes would help
};

/// Why a pod or a gang is held, and about what.
struct Hold {
  HoldReason reason = HoldReason::kNone;
  std::string detail;
};

/// What a pod holds of its devices, for a record and the readers' copy of it. The pointer takes 8 bytes of a record.
struct HeldGrants : boost::intrusive_ref_counter<HeldGrants> {
  explicit HeldGrants(DeviceGrants held) : list(std::move(held)) {}
  const DeviceGrants list;
};
using HeldGrantsPtr = boost::intrusive_ptr<const HeldGrants>;

/// Devices that were chosen for a pod or read back, with what it holds of each where that is not what it requests.
struct PodDevices {
  DeviceMask devices;
  HeldGrantsPtr grants;  ///< null: as much of each as it requests
  PodDevices() = default;
  PodDevices(const DeviceMask& mask) : devices(mask) {}  // as much as it requests
  PodDevices(const DeviceMask& mask, HeldGrantsPtr held) : devices(mask), grants(std::move(held)) {}
};

struct PodRecord {
  enum class Phase : std::uint8_t {
    kFree,
    kHeld,           ///< waits outside the engine; see hold
    kWaiting,        ///< ours, may be placed
    kAssumed,        ///< the engine chose a node; the binding is queued or under way
    kBound,          ///< confirmed by the API server, on a node that we know
    kOnUnknownNode,  ///< bound to a node that we do not know (yet, or any more): holds nothing
    kNominated,      ///< another scheduler's, with a place reserved by nomination
    kLeaving,        ///< stopped for others, and not gone yet: still on `node_name`, and not in the engine
  };
  PooledString ns, name, uid;
  PooledString node_name;  ///< as reported by the API server; empty while not bound
  /// a node that was removed while the binding to it was under way: it may be bound there; empty: none
  PooledString unanswered_node;
  PooledString within, prefer;   ///< its settings for the gang's domains
  PooledString controller_name;  ///< as of Pod
  PooledString named_queue;      ///< by its own label or annotation; empty: the namespace determines it
  std::shared_ptr<const Labels> labels;
  std::shared_ptr<const PodRules> rules;
  std::shared_ptr<const PodVolumes> volumes;        ///< null: none that matter
  std::shared_ptr<const VolumeTerms> volume_terms;  ///< where they can be used; null: on every node
  PooledString volume_problem;  ///< see volume_hold; where that is none: the claim for which there is no volume
  PooledString hold_detail;
  /// kAssumed: what its binding waits for, in words; empty: for nothing. kLeaving: for whom it was stopped, and why it
  PooledString bind_wait;
  MemberId member;  ///< none while the engine does not know it
  JobId job;
  DemandId demand;
  ConstraintId constraint;
  LabelSetId label_set;  ///< as which the engine counts it
  NodeId node;           ///< kAssumed, kBound, kNominated
  NodeId mounted_on;     ///< as which its volumes are counted; kAssumed, kBound
  QueueId queue;
  GangSlot gang = kNoGang;            ///< the one that is a job
  GangSlot group = kNoGang;           ///< its PodGroup, where that is a group of the gang
  GangSlot foreign_pod_of = kNoGang;  ///< another scheduler's pod: the PodGroup that it names
  std::uint32_t generation = 0;       ///< of the slot; late answers compare
  std::uint32_t bind_attempt = 0;     ///< of the last binding requested
  std::int32_t priority = 0;
  std::uint32_t gang_size = 0;     ///< its setting for the gang's size; 0: none
  std::uint32_t terms = kNoTerms;  ///< as what NamespaceTerms counts it
  DeviceMask devices;              ///< chosen or read back
  HeldGrantsPtr grants;            ///< what it holds of them; null: as much of each as it requests
  Millis created;
  Millis seen;    ///< when we first saw it eligible
  Millis placed;  ///< when it was bound, as the server says it; 0: not known
  /// is_leaving, kLeaving: by when its grace is over, or when it was decided. Of one that has stayed after all: until
  /// when no job is to stop it
  Millis leaves_by;
  Estimate estimate;  ///< as it states
  /// of labels and annotations as last seen, see owner_hash() in pods/pod_changes.cpp
  std::uint64_t owner_hash = 0;
  std::uint64_t bind_hold = 0;  ///< number of the last hold after a failed binding
  /// the edition of the nodes when its place was chosen, see Tracker::is_place_outdated
  std::uint64_t chosen_at = 0;
  std::int64_t spec_generation = 0;
  std::uint64_t condition_hash = 0;   ///< of reason and message of PodScheduled=False on the server; 0 = none
  std::uint64_t condition_words = 0;  ///< the same without the numbers
  Phase phase = Phase::kFree;
  SelectingKind controller_kind = SelectingKind::kNone;
  HoldReason hold = HoldReason::kNone;
  HoldReason volume_hold = HoldReason::kNone;  ///< its volumes keep it from being placed
  bool is_ours = false;
  bool is_condition_due = false;
  bool is_refresh_due = false;       ///< the numbers of its condition are to be brought up to date
  bool is_condition_there = false;   ///< the server has PodScheduled=False, in whatever words
  bool is_refusal_due = false;       ///< an event FailedScheduling about it is still to be sent
  bool is_bind_under_way = false;    ///< a binding was sent, and its result is not known yet
  bool is_bound_seen = false;        ///< the API server has reported its node, not only answered the binding
  bool closes_node = false;          ///< holds more than could be read of it: nothing new is placed on its node
  bool are_devices_changed = false;  ///< another writer changed them in an annotation
  bool has_stated_grants = false;    ///< an annotation says what it holds of each device: it is to stay
  bool has_charged_queue = false;    ///< its queue is the one that its binding names
  bool is_leaving = false;           ///< it is being deleted
  bool has_lost_claim = false;       ///< kAssumed: another pod has a claim of it that is for one pod
  bool stops_none = false;           ///< its preemption policy: no others are stopped for it
  std::uint8_t bind_failures = 0;    ///< bindings given up since the last success
  std::uint8_t times_kept = 0;       ///< that it was stopped and has stayed all the same
  std::uint8_t scheduler = 0;        ///< index of the scheduler name, of those that we serve

  /// What the pod itself names: a PodGroup, or a gang.
  GangSlot named_gang() const { return group != kNoGang ? group : gang; }
  bool is_in_engine() const { return !member.is_none(); }
  /// For a pod that runs: for how long its job is to be protected from the start of its run.
  Millis protected_for() const { return placed.value > 0 && leaves_by > placed ? leaves_by - placed : Millis(0); }
  /// Its gang does without it now.
  bool is_apart() const { return phase == Phase::kHeld || phase == Phase::kOnUnknownNode || phase == Phase::kLeaving; }
  const Labels& its_labels() const {
    static const Labels kNone;
    return labels ? *labels : kNone;
  }
};

class PodTable {
 public:
  PodSlot find(const PooledString& ns, const PooledString& name) const {
    const auto it = slots_.find(Key{ns, name});
    return it == slots_.end() ? kNoPod : it->second;
  }
  PodSlot add(const PooledString& ns, const PooledString& name) {
    PodSlot slot = static_cast<PodSlot>(records_.size());
    if (spare_.empty()) {
      records_.emplace_back();
    } else {
      slot = spare_.back();
      spare_.pop_back();
    }
    PodRecord& r = records_[slot];
    r.ns = ns;
    r.name = name;
    slots_.emplace(Key{ns, name}, slot);
    journal_.note(slot);
    return slot;
  }
  void remove(PodSlot slot) {
    PodRecord& r = edit(slot);
    slots_.erase(Key{r.ns, r.name});
    const std::uint32_t generation = r.generation + 1;
    r = PodRecord{};
    r.generation = generation;
    spare_.push_back(slot);
  }
  const PodRecord& operator[](PodSlot slot) const { return records_[slot]; }
  /// To change the record now: the reference is not kept beyond a turn of the loop.
  PodRecord& edit(PodSlot slot) {
    journal_.note(slot);
    return records_[slot];
  }
  /// To change what is about its condition, and is_refusal_due: readers do not read that.
  PodRecord& marks(PodSlot slot) { return records_[slot]; }
  bool is_current(PodSlot slot, std::uint32_t generation) const {
    return slot < records_.size() && records_[slot].generation == generation;
  }

  PodSlot of_member(MemberId member) const { return value_at(by_member_, member.row(), kNoPod); }
  void set_member(PodSlot slot, MemberId member) {
    if (member.row() >= by_member_.size()) by_member_.resize(member.row() + 1, kNoPod);
    by_member_[member.row()] = slot;
    edit(slot).member = member;
  }
  void clear_member(PodSlot slot) {
    PodRecord& r = edit(slot);
    ASHLAR_CHECK(!r.member.is_none());
    by_member_[r.member.row()] = kNoPod;
    r.member = MemberId::none();
  }
  std::size_t slots() const { return records_.size(); }
  std::size_t size() const { return slots_.size(); }

  // ---- a copy -------------------------------------------------------------------------------------------------------
  void start_journal() { journal_.start(); }
  void stop_journal() { journal_.stop(); }
  bool has_changes() const { return !journal_.is_empty(); }
  void take_changes(RowChanges<PodRecord>& out) { journal_.take(out, records_); }
  /// Brings a copy up to date. It finds pods by name, not by member.
  void put(RowChanges<PodRecord>&& changes) {
    for (auto& [slot, record] : changes) {
      if (slot >= records_.size()) records_.resize(slot + 1);
      PodRecord& mine = records_[slot];
      const bool has_other_name = mine.ns != record.ns || mine.name != record.name;
      if (has_other_name && !mine.name.empty())
        if (const auto it = slots_.find(Key{mine.ns, mine.name}); it != slots_.end() && it->second == slot)
          slots_.erase(it);
      if (has_other_name && !record.name.empty()) slots_[Key{record.ns, record.name}] = slot;
      mine = std::move(record);
    }
  }

 private:
  struct Key {
    PooledString ns, name;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& k) const { return k.ns.hash() * 31 + k.name.hash(); }
  };
  boost::unordered_flat_map<Key, PodSlot, KeyHash> slots_;
  std::vector<PodRecord> records_;
  std::vector<PodSlot> spare_;
  std::vector<PodSlot> by_member_;
  RowJournal journal_;
};

}  // namespace ashlar::kube
