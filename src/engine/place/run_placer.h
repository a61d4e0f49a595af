// RunPlacer: places runs of like members of a gang inside a scope, one after the other: level by level over as few
// domains as possible, beside the members that are placed, in the preferred domain if it holds them. Whatever it does
// not place leaves the trial unchanged. Cost: O(domains of the level + nodes of the scope) for each run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/place/placement.h"
#include "engine/place/scope.h"
#include "engine/place/small_packing.h"
#include "engine/place/spreader.h"

namespace ashlar {

/// Members with preferences about each other that are placed one by one, since each is compared on all nodes anew. Of a
/// run of more the places of its own members count for none of them.
inline constexpr std::size_t kSeenMembersMax = 1024;
/// Whether the places of members like this one change which nodes are better for the next.
bool has_wishes_about_itself(const State& state, MemberId member);

class RunPlacer {
 public:
  RunPlacer(const PlacementContext& context, JobId job) : context_(context), state_(context.trial.state()), job_(job) {}

  /// A part inside the gang's scope: in the tightest domain of the part's own level that holds it, if it has such a
  /// level. A part that has members stays where they are.
  bool place_part(const Scope& hard, const Part& part);
  /// All parts, one after the other, in a few orders.
  bool place_parts(const Scope& hard, const std::vector<Part>& parts);
  /// Parts that do not fit one kind after the other: on few nodes every combination is tried, also of the domains of
  /// those parts that have a level of their own, within a budget for the whole job.
  bool place_exactly(const Scope& hard, std::span<const Part> parts);
  /// Domains with enough capacity inside the hard scope for each run taken alone, tightest first; then those that have
  /// it once members open nodes to others.
  std::vector<DomainId> domains_with_room(const Scope& hard, LevelId level, std::span<const Run> runs);
  /// Unlike members share what is free: if that is less than the sum of their requests there is no need to try.
  bool has_devices_for_all(const Scope& scope, std::span<const Run> runs) const;
  /// How many of the part's members fit in each domain of its own level inside the hard scope, each kind taken alone.
  std::vector<std::uint64_t> members_by_domain(const Scope& hard, const Part& part);
  FitTable& view(const Run& run) {
    return context_.fit_tables.counted(state_, run.demand, run.constraint, context_.draws.next());
  }

  /// The job's one member that comes after all others.
  void is_last_of_its_job(bool is_so) { is_last_of_its_job_ = is_so; }
  /// Nothing more is tried: the search has looked at that many nodes.
  void stop_after_looks(std::size_t nodes);
  /// The one at which the search ended, if it did.
  std::optional<Reason> limit() const;

 private:
  /// By domain: members that nodes could take which affinity or spread closes to them now; empty: there are none.
  std::vector<std::uint64_t> room_to_open(const Scope& hard, LevelId level, const Run& run);
  bool place_in(const Scope& hard, const Part& part);
  bool place_runs(const Scope& hard, const Scope& soft, const Part& part);
  bool place_in_order(const Scope& hard, const Scope& soft, const Part& part, std::span<const Run> runs);
  bool place_run(const Scope& hard, const Scope& soft, const Part& part, const Run& run);
  /// One of several runs that are tried in one domain after the other was placed, since this work of counting.
  void note_counted(std::uint64_t before);
  bool place_each(const Run& run);
  bool place_in_same_domains(const Run& run, const Scope& hard, const std::vector<Spreader::Share>& shares);
  void add_wishes(const FitTable& v, const Scope& hard, LevelId level, std::vector<std::uint64_t>& wishes) const;
  /// Members whose rules about other pods may concern each other; see OneByOne.
  bool place_one_by_one(const Scope& hard, const Scope& soft, const Run& run);
  bool search_one_by_one(const Scope& hard, std::span<const Part> parts);
  bool carry_out(const std::vector<NodeId>& nodes, const SmallPacking& packing, std::span<const Part> parts);
  std::vector<NodeId> nodes_for_exact_search(const Scope& hard, std::span<const Part> parts);
  void gather(const FitTable& v, const Scope& hard, const Scope& soft);
  std::uint64_t room_in(const FitTable& v, const Scope& hard, const Scope& part) const;
  std::span<const std::uint32_t> room_inside(FitTable& v, const Scope& hard, LevelId level);
  std::uint32_t placed_of(const Part& part) const;
  Scope scope_of_the_others(const FitTable& v, const Scope& hard, const Part& part, std::uint64_t count) const;
  DomainId domain_of_the_others(LevelId level, const Part& part) const;
  Scope preferred_scope(FitTable& v, const Scope& hard, LevelId prefer, std::uint64_t count);
  std::uint32_t next_level(LevelId level) const;
  void take(const FitTable& v, const Run& run, const std::vector<Spreader::Share>& shares);

  const PlacementContext& context_;
  State& state_;
  JobId job_;
  bool is_last_of_its_job_ = false;
  std::uint32_t runs_left_ = kRunsTriedMax;
  std::uint32_t exact_steps_ = kExactStepsMax;
  std::size_t looks_ = 0;  ///< after which it was stopped
  std::vector<NodeId> nodes_;
  std::vector<std::uint32_t> room_inside_;

  /// Members put on a node by the exact search for one job; about 1 ms.
  static constexpr std::uint32_t kExactStepsMax = 4'000;
};

}  // namespace ashlar
