// gangs: which pods belong together. A gang is a PodGroup of the upstream API, several PodGroups that name it, or the
// pods that share the label ashlar.dev/gang in one namespace. This file has its record, the settings that pods express
// (size, within, prefer, queue, duration), and the order of ranks.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kubeclient/objects.h"
#include "live/track/gangs/group_settings.h"
#include "live/track/pod_table.h"

namespace ashlar::kube {

inline constexpr std::string_view kWithinLabel = "ashlar.dev/within";
inline constexpr std::string_view kPreferLabel = "ashlar.dev/prefer";
inline constexpr std::string_view kQueueLabel = "ashlar.dev/queue";
inline constexpr std::string_view kDurationLabel = "ashlar.dev/duration";
inline constexpr std::string_view kLateDurationLabel = "ashlar.dev/duration-p90";

/// Time before a gang that is short of members reports it on its pods: usually they are still being created.
inline constexpr Millis kGangPatience{5'000};

enum class GangKind : std::uint8_t {
  kLabelled,  ///< pods with one value of ashlar.dev/gang, or a single pod
  kPodGroup,  ///< the pods of a PodGroup: a gang, or a group of the gang that the PodGroup names
  kGroups,    ///< the PodGroups with one value of ashlar.dev/gang, and their pods
};

/// A pod's settings for its gang. `name` empty: a single pod. A pod without a gang that must stay within a domain is a
/// gang of one, `pod/NAME`.
struct GangSettings {
  PooledString name, within, prefer;
  std::uint32_t size = 0;  ///< 0: not stated (PodGroups state it themselves)
  GangKind kind = GangKind::kLabelled;
};
/// kInvalid names the label and the expected form.
Result<GangSettings> read_gang_settings(const Pod& pod);
/// The first label or annotation of the pod that is nearly one of ours (ashlar.dev/withn), or a resource of ours, as a
/// sentence; empty if there is none. An overlooked setting would place the pod wrongly. Other keys with the prefix are
/// ignored.
std::string mistyped_setting(const Pod& pod);

/// The key of ours that `key` was probably meant to be; empty if it is one of them, or resembles none.
std::string_view meant_key(std::string_view key, std::span<const std::string_view> known);

inline constexpr std::string_view kLonePodPrefix = "pod/";

struct GangRecord {
  PooledString ns, name;
  std::vector<PodSlot> pods;          ///< all of them: waiting, bound and held
  std::vector<GangSlot> groups;       ///< of a kGroups: its PodGroups, by rank
  std::vector<GangSlot> told_groups;  ///< of a kGroups: those of its job
  GangSlot whole = kNoGang;           ///< of a PodGroup that is a group: its gang, which has the job
  GroupSettings settings;             ///< of the PodGroup
  JobId job;                          ///< none while the engine does not know the gang
  QueueId queue;
  /// none although the setting below is not empty: no node has the label, or it is beyond the limit of levels
  LevelId within, prefer;
  PooledString within_setting;     ///< ashlar.dev/within of its pods; hard
  PooledString prefer_setting;     ///< ashlar.dev/prefer of its pods
  PooledString topology_key;       ///< of the PodGroup; hard
  std::uint32_t size = 1;          ///< members that must start together
  std::uint32_t in_engine = 0;     ///< pods that the engine knows as members
  std::uint32_t told_min = 1;      ///< members that must start together, as last reported to the engine
  std::uint32_t foreign_pods = 0;  ///< pods of other schedulers that name this PodGroup
  std::int32_t priority = 0;
  std::optional<std::int32_t> stated_priority;  ///< of the PodGroup
  bool stops_none = false;                      ///< its preemption policy
  bool leaves_whole = false;                    ///< its disruption mode
  PooledString priority_class;                  ///< of the PodGroup
  Estimate estimate;                            ///< the longest of its pods
  Millis first_seen;
  Millis submitted;                ///< its age in the engine's order, kept when it is submitted again; 0 before that
  PooledString bind_hold_detail;   ///< the server's message about a member that it does not bind
  std::uint64_t bind_hold = 0;     ///< number of the hold that has kept the gang back since; 0: none
  PodSlot bind_hold_pod = kNoPod;  ///< that member
  std::uint8_t bind_failures = 0;  ///< such holds since all members were bound
  PooledString foreign_pod_name;   ///< the scheduler that the last of the foreign pods names
  PooledString group_uid;          ///< of the PodGroup object; empty while there is none
  std::int64_t group_generation = 0;
  std::uint64_t group_condition_hash = 0, group_condition_words = 0;  ///< as of pods
  GangKind kind = GangKind::kLabelled;
  bool is_gang = true;   ///< false: a PodGroup of basic policy with a topology key: members one by one in one domain
  bool is_open = false;  ///< complete and valid, or started: its waiting members are in the engine
  /// all members that must start together were bound at the same time, and at least one still is; of a kGroups: each of
  /// its groups has started
  bool is_started = false;
  bool lacked_domain = false;  ///< the engine was given it before its domain was known
  bool is_dirty = false;
  bool is_stale = false;              ///< its queue changed after it was reported to the engine
  bool has_mixed_queues = false;      ///< its waiting pods belong to several queues
  bool has_quarantined = false;       ///< the scheduler once stopped because of one of its pods
  bool has_mixed_schedulers = false;  ///< its pods name several of the scheduler names that we serve
  bool has_timer = false;
  bool is_group_condition_due = false;
  bool is_group_refresh_due = false, is_group_condition_there = false;  ///< as of pods
  bool is_group_told = false;    ///< the PodGroup's condition is already True: it never reverts
  PooledString group_refusal;    ///< path of a field of the PodGroup that is not evaluated
  PooledString group_unknown;    ///< fields of its spec that only a newer Kubernetes has, without accepted ones
  PooledString group_problem;    ///< why the PodGroup cannot be read, if it never could
  Hold hold;                     ///< what holds it, as last evaluated
  std::uint64_t hold_found = 0;  ///< the edition of the levels at which it was; 0: something has changed since
  bool is_used = false;

  /// The level that all must share a domain of, as written; a PodGroup's own takes precedence.
  const PooledString& hard_setting() const { return topology_key.empty() ? within_setting : topology_key; }
  bool is_pod_group() const { return kind == GangKind::kPodGroup; }
  bool is_group() const { return whole != kNoGang; }
  /// A single pod with a hard topology requirement is placed as a gang of one, under a name that no label can have.
  bool is_lone_pod() const { return name.view().starts_with(kLonePodPrefix); }
  /// As users know it: of a lone pod the pod's.
  PooledString own_name() const {
    return is_lone_pod() ? PooledString(name.view().substr(kLonePodPrefix.size())) : name;
  }
  /// "gang g", "pod p", "PodGroup g"
  std::string said() const {
    if (is_group()) return "PodGroup " + name.str();
    return is_lone_pod() ? "pod " + name.str().substr(kLonePodPrefix.size()) : "gang " + name.str();
  }
};

class GangTable {
 public:
  GangSlot find(const PooledString& ns, const PooledString& name, GangKind kind) const {
    const auto it = slots_.find(Key{ns, name, kind});
    return it == slots_.end() ? kNoGang : it->second;
  }
  GangSlot find_or_add(const PooledString& ns, const PooledString& name, GangKind kind);
  void remove(GangSlot slot);
  const GangRecord& operator[](GangSlot slot) const { return records_[slot]; }
  /// To change the record now: the reference is not kept beyond a turn of the loop.
  GangRecord& edit(GangSlot slot) {
    journal_.note(slot);
    return records_[slot];
  }
  /// To change what is about its PodGroup's condition: readers do not read that.
  GangRecord& marks(GangSlot slot) { return records_[slot]; }
  std::size_t slots() const { return records_.size(); }

  // ---- a copy -------------------------------------------------------------------------------------------------------
  void start_journal() { journal_.start(); }
  void stop_journal() { journal_.stop(); }
  bool has_changes() const { return !journal_.is_empty(); }
  void take_changes(RowChanges<GangRecord>& out) { journal_.take(out, records_); }
  /// Brings a copy up to date.
  void put(RowChanges<GangRecord>&& changes);

 private:
  struct Key {
    PooledString ns, name;
    GangKind kind = GangKind::kLabelled;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& k) const {
      return (k.ns.hash() * 31 + k.name.hash()) * 3 + static_cast<std::size_t>(k.kind);
    }
  };
  boost::unordered_flat_map<Key, GangSlot, KeyHash> slots_;
  std::vector<GangRecord> records_;
  std::vector<GangSlot> spare_;
  RowJournal journal_;
};

/// Sorts pods of one gang by rank: the index label of their controller where it has one, else by name with numbers in
/// numeric order.
void sort_by_rank(const PodTable& pods, std::vector<PodSlot>& slots);
/// "worker-2" comes before "worker-10".
bool is_name_before(std::string_view a, std::string_view b);

}  // namespace ashlar::kube
