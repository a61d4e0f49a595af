// CaseReading: a case being read, line by line: the content of its statements so far, the parsers of their parts, and
// the statements about nodes and jobs. Used by case_file.cpp, which lists them.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/case/case_file.h"
#include "sim/case/requests.h"

namespace ashlar::sim {

struct CaseReading {
  CaseFile& file;
  std::vector<NodeFacts> facts;            ///< [node] as last stated
  std::vector<NodeId> lost;                ///< and not added again
  std::vector<DeviceMask> unhealthy;       ///< [node] as last stated
  std::vector<std::uint32_t> next_domain;  ///< [level] for domains named by number
  std::vector<QueueDefined> queues;        ///< as last stated
  std::vector<StatedClass> classes;        ///< the same
  /// Parents named before their own statement, with the error if there is none.
  std::vector<std::pair<QueueId, CaseError>> later_parents;
  std::vector<JobId> holds;             ///< jobs that are holds
  std::vector<LabelSetId> labels_of;    ///< [member] none: it has none
  std::vector<GangSpec> groups_of_job;  ///< [job] none: it has none
  bool has_profile = false;             ///< a statement gave it
  bool keeps_pods_away = false;         ///< a pod of the case has anti-affinity, which others must heed
  std::uint32_t nested = 0;
  std::int64_t devices = 0;  ///< of all nodes
  Millis latest{0};
  Millis block_at{-1};
};

inline void add_event(CaseReading& c, Millis at, std::variant<EventBody, RejectNext, RunsFor> what) {
  c.file.scripted_events.push_back({at, std::move(what)});
}

/// The row of the value, which is announced by an event of that kind when it is new.
template <class Defined, class IdType, class Value>
IdType row_of(CaseReading& c, Millis at, ValueTable<IdType, Value>& table, const Value& value) {
  IdType id = table.find(value);
  if (!id.is_none()) return id;
  id = table.add(value);
  add_event(c, at, EventBody(Defined{id, value}));
  return id;
}

/// Optional "at TIME", then the end of the line. Times never run backwards.
Millis take_at(CaseReading& c, Words& words);
/// A node of the case; with `may_be_unknown`, "#99" is row 99, which may never have existed.
NodeId take_node(CaseReading& c, Words& words, bool may_be_unknown = false);
/// A node of the case that is not lost.
NodeId take_node_that_is_there(CaseReading& c, Words& words);
/// A job of the case that is not a hold.
JobId take_job(CaseReading& c, Words& words);
/// An error if the job is a hold.
void refuse_hold(const CaseReading& c, Words& words, JobId job);
LevelId take_level(CaseReading& c, Words& words);
QueueId take_queue(CaseReading& c, Words& words);
/// "NAME" (all members) or "NAME/RANK".
struct JobOrMember {
  JobId job;
  MemberId member;
};
JobOrMember take_member(CaseReading& c, Words& words);
/// The members of the case that a statement refers to: the one named, or all of its job. Empty only if the statement
/// has failed.
std::vector<MemberId> take_members(CaseReading& c, Words& words);

/// The index of the setting's value among these; an error that lists them if it is none of them.
std::size_t take_choice(Words& words, const KeyValue& setting, std::span<const std::string_view> names);
/// The word as a duration: "30s".
Millis take_duration(Words& words, std::string_view text);

// read_cluster.cpp
/// Levels must be known before the first node: looks through all lines for them.
void find_levels(CaseReading& c);
void read_levels(CaseReading& c, Words& words);
void read_cluster(CaseReading& c, Words& words);
void read_class(CaseReading& c, Words& words);
void read_node(CaseReading& c, Words& words);
void read_add(CaseReading& c, Words& words);
void read_change(CaseReading& c, Words& words);
void read_cordon(CaseReading& c, Words& words);
void read_uncordon(CaseReading& c, Words& words);
void read_device_health(CaseReading& c, Words& words);
void read_lose(CaseReading& c, Words& words);
void read_drain(CaseReading& c, Words& words);

// queue_statements.cpp
void read_queue(CaseReading& c, Words& words);
void read_quota(CaseReading& c, Words& words);
void read_guarantee(CaseReading& c, Words& words);
void read_weight(CaseReading& c, Words& words);
void read_hold(CaseReading& c, Words& words);
void read_drain_queue(CaseReading& c, Words& words);
void read_stop(CaseReading& c, Words& words);
void read_release(CaseReading& c, Words& words);
void read_usage(CaseReading& c, Words& words);
/// The error of the first parent that has no statement.
std::optional<CaseError> missing_parent(const CaseReading& c);

// read_jobs.cpp
void read_job(CaseReading& c, Words& words);
void read_gang(CaseReading& c, Words& words);
void read_foreign(CaseReading& c, Words& words);
void read_grow(CaseReading& c, Words& words);
void read_reserve(CaseReading& c, Words& words);
void read_maintenance(CaseReading& c, Words& words);

// job_changes.cpp
void read_leaving(CaseReading& c, Words& words);
void read_end(CaseReading& c, Words& words);
void read_reject(CaseReading& c, Words& words);
void read_bind(CaseReading& c, Words& words);
void read_evict(CaseReading& c, Words& words);
void read_priority(CaseReading& c, Words& words);
void read_estimate(CaseReading& c, Words& words);
void read_checkpoint(CaseReading& c, Words& words);
void read_nominate(CaseReading& c, Words& words);

}  // namespace ashlar::sim
