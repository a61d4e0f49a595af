// CaseReader: the state of reading one case, line by line; each statement is one function of a table. Used by case_file.cpp alone.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/case/case_file.h"
#include "sim/case/requests.h"

namespace ashlar::sim {

class CaseReader {
 public:
  explicit CaseReader(CaseFile& file) : file_(file) {}

  /// Levels must be known before the first node: looks through all lines for them.
  void find_levels();
  /// One statement; false and an error in `words` where it is none.
  void read_statement(Words& words);
  /// The clock of the blocks: statements after a block must not lie before it.
  void open_block(Words& words);
  bool has_nodes() const { return !facts_.empty(); }

 private:
  struct Statement {
    std::string_view word;
    void (CaseReader::*read)(Words& words);
    std::string_view form;
  };
  static std::span<const Statement> statements();

  // read_cluster.cpp
  void read_cluster(Words& words);
  void read_node(Words& words);
  void read_add(Words& words);
  void read_change(Words& words);
  void read_cordon(Words& words);
  void read_uncordon(Words& words);
  void read_lose(Words& words);
  void read_drain(Words& words);
  void read_levels(Words& words);
  void take_shape(Words& words, NodeFacts& facts);
  bool take_node_option(Words& words, NodeFacts& facts);
  void take_domains(Words& words, NodeFacts& facts);
  void set_domain(Words& words, NodeFacts& facts, LevelId level, std::string_view name);
  void finish_node(NodeId node, NodeFacts facts, Millis at);
  void set_ready(Words& words, bool is_ready);

  // read_jobs.cpp
  void read_job(Words& words);
  void read_gang(Words& words);
  void read_foreign(Words& words);
  void read_grow(Words& words);
  void read_end(Words& words);
  void read_reject(Words& words);
  void read_bind(Words& words);
  void read_evict(Words& words);
  void read_priority(Words& words);
  void read_estimate(Words& words);
  void read_nominate(Words& words);
  struct JobForm;
  void take_groups(Words& words, std::vector<MemberAsk>& groups);
  void take_job_options(Words& words, JobForm& form);
  void finish_job(Words& words, JobForm form, std::string_view name);
  void add_members(Words& words, JobId job, const std::vector<MemberAsk>& groups, std::vector<MemberSpec>& out);
  DeviceMask take_devices_of_node(Words& words);
  JobId take_new_job(Words& words);

  // case_file.cpp
  void read_queue(Words& words);
  void read_quota(Words& words);
  void read_profile(Words& words);
  void read_binding(Words& words);
  void read_show(Words& words);
  void read_tick(Words& words);
  void take_quota(Words& words, QuotaVector& quota);
  /// Optional "at TIME", then the end of the line. Times never run backwards.
  Millis take_at(Words& words);
  void happen(Millis at, std::variant<EventBody, RejectNext, RunsFor> what) { file_.scripted_events.push_back({at, std::move(what)}); }
  /// A node of the case; where `may_be_unknown`, "#99" is row 99, which may never have existed.
  NodeId take_node(Words& words, bool may_be_unknown = false);
  /// A node of the case that is not lost.
  NodeId take_node_that_is_there(Words& words);
  JobId take_job(Words& words, bool may_be_unknown = false);
  LevelId take_level(Words& words);
  QueueId take_queue(Words& words);
  /// "NAME" (all members) or "NAME/RANK".
  struct JobOrMember {
    JobId job;
    MemberId member;
  };
  JobOrMember take_member(Words& words);
  /// The members of the case that a statement is about: the one named, or all of its job. Empty only where the statement has failed.
  std::vector<MemberId> take_members(Words& words);

  CaseFile& file_;
  std::vector<NodeFacts> facts_;            ///< [node] as last told
  std::vector<NodeId> lost_;                ///< and not added again
  std::vector<std::uint32_t> next_domain_;  ///< [level] for domains named by number
  std::vector<std::pair<QueueId, QuotaVector>> quotas_;
  std::vector<QueueId> parents_;  ///< [queue]
  std::uint32_t nested_ = 0;
  std::int64_t devices_ = 0;  ///< of all nodes
  Millis latest_{0};
  Millis block_at_{-1};
};

}  // namespace ashlar::sim
