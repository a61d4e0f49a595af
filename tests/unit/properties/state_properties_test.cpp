// What holds for the state whatever happens to it: trials leave no trace, what is done can be undone, derived columns
// equal a recount.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "history.h"
#include "policy/feasible_policy.h"
#include "policy/node/selector.h"
#include "policy/node/taints.h"
#include "state/cluster/usable_devices.h"
#include "state/state_fields.h"
#include "state/trial.h"

namespace ashlar {
namespace {

constexpr OutsideOptions kWithAllButHolds{.has_company = true,
                                          .has_images = true,
                                          .has_health = true,
                                          .has_layouts = true,
                                          .has_gangs = true,
                                          .has_grants = true};

/// A state with a history behind it, nothing decided by an engine.
State lived(const std::vector<Move>& moves, Outside& outside) {
  State state;
  for (const Event& event : outside.begin()) apply(state, event);
  for (const Move& move : moves)
    for (const Event& event : outside.act(move, state)) apply(state, event);
  return state;
}

/// Lifts some or all holds of a node, perhaps puts the waiting member there, and perhaps puts them back; or expects another end of a
/// job that is not started.
void try_hold(Trial& trial, const Move& move, MemberId member) {
  State& state = trial.state();
  const JobId job = state.member(member).job;
  if (move.c % 3 == 0) {
    if (!state.job(job).is_started) trial.expect_end(job, Millis(8000 * move.c));
    return;
  }
  const HeldPlace place = state.yielding()[static_cast<std::size_t>(move.b) % state.yielding().size()];
  std::vector<MemberId> lifted;
  for (const HeldPlace& other : state.yielding_on(place.node))
    if (move.c % 2 == 0 || other.member == place.member) lifted.push_back(other.member);
  trial.lift(lifted);
  if (state.job(job).is_ours && !state.member(member).is_placed()) {
    const DeviceRequest& asked = state.demand(state.member(member).demand).devices;
    trial.place(member, place.node, choose_devices(state.cluster(), place.node, asked, {}));
  }
  if (move.c % 3 == 1) trial.put_back(lifted);
}

/// Whether the trial has given back the job's quota, and not taken it again.
bool is_given_back(const Trial& trial, JobId job) {
  return std::ranges::count_if(trial.steps(),
                               [&](const Trial::Step& step) {
                                 const auto* charge = std::get_if<Trial::QuotaCharge>(&step);
                                 return charge != nullptr && charge->job == job;
                               }) %
             2 ==
         1;
}

void charge_quota(Trial& trial, JobId job) {
  if (is_given_back(trial, job))
    trial.take_quota_again(job);
  else
    trial.give_back_quota(job);
}

/// After it the columns of queues are those of what is placed.
void take_all_quota_again(Trial& trial) {
  for (std::size_t row = 0; row < trial.state().job_rows(); ++row)
    if (is_given_back(trial, JobId(row))) trial.take_quota_again(JobId(row));
}

/// Places, evicts or charges the same in another trial.
void repeat(const Trial::Step& step, Trial& other) {
  if (const auto* placement = std::get_if<Trial::Placement>(&step))
    other.place(placement->member, placement->node, placement->devices);
  if (const auto* eviction = std::get_if<Trial::Eviction>(&step)) other.evict(eviction->member);
  if (const auto* charge = std::get_if<Trial::QuotaCharge>(&step)) charge_quota(other, charge->job);
}

/// Of each queue and each dimension or key, where it is not 0.
struct Usage {
  std::size_t queue = 0, counter = 0;
  std::int64_t used = 0;
  friend bool operator==(const Usage&, const Usage&) = default;
};
std::vector<Usage> usage_of(const QueueTree& queues) {
  std::vector<Usage> usage;
  const auto add = [&](std::size_t queue, std::size_t counter, std::int64_t used) {
    if (used != 0) usage.push_back({queue, counter, used});
  };
  for (std::size_t q = 0; q < queues.rows(); ++q) {
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) add(q, d, queues.used(QueueId(q))[d]);
    for (std::size_t k = 0; k < queues.keys().size(); ++k) add(q, kQuotaDimensions + k, queues.used(k, QueueId(q)));
  }
  return usage;
}

std::vector<Millis> late_ends(const State& state) {
  std::vector<Millis> ends;
  for (std::size_t row = 0; row < state.job_rows(); ++row) ends.push_back(state.job(JobId(row)).ends_by);
  return ends;
}

struct Tries {
  bool blocks = true, lifts = true, charges = true;
};

/// Puts a waiting member on a node or takes a placed one off, blocks what the member needs there, or gives back the quota
/// of its job or takes it again; nothing if that is not possible.
void try_something(Trial& trial, const Move& move, const Tries& tries = {}) {
  State& state = trial.state();
  if (state.member_rows() == 0 || state.cluster().rows() == 0) return;
  const MemberId member(static_cast<std::size_t>(move.a) % state.member_rows());
  const NodeId node(static_cast<std::size_t>(move.b) % state.cluster().rows());
  if (!state.is_live(member)) return;
  const JobId job = state.member(member).job;
  if (tries.charges && move.kind % 4 == 2 && state.job(job).members_placed > 0) return charge_quota(trial, job);
  if (is_given_back(trial, job)) trial.take_quota_again(job);  // before its members move
  if (tries.lifts && move.kind % 4 == 1 && !state.yielding().empty()) return try_hold(trial, move, member);
  const Demand& demand = state.demand(state.member(member).demand);
  if (tries.blocks && move.kind % 5 == 0 && state.cluster().is_live(node))
    trial.block(node, demand, choose_devices(state.cluster(), node, demand.devices, {}));
  else if (state.member(member).is_placed())
    trial.evict(member);
  else if (state.cluster().is_live(node))
    trial.place(member, node, choose_devices(state.cluster(), node, demand.devices, {}));
}

RC_GTEST_PROP(State, IsConsistentAfterEveryEvent, ()) {
  Outside outside({.has_holds = true,
                   .has_company = true,
                   .has_images = true,
                   .has_health = true,
                   .has_layouts = true,
                   .has_gangs = true,
                   .has_grants = true});
  State state;
  for (const Event& event : outside.begin()) apply(state, event);
  for (const Move& move : *some_moves()) {
    for (const Event& event : outside.act(move, state)) {
      apply(state, event);
      RC_LOG() << move << " " << kind_name(event.body);
      RC_ASSERT(state.is_consistent());
      RC_ASSERT(StateFields::are_sound(state));
    }
  }
}

RC_GTEST_PROP(State, IsTheSameAfterTheSameEvents, ()) {
  const auto moves = *some_moves();
  const OutsideOptions options{.has_holds = true,
                               .has_company = true,
                               .has_images = true,
                               .has_health = true,
                               .has_layouts = true,
                               .has_gangs = true,
                               .has_grants = true};
  Outside first(options), second(options);
  RC_ASSERT(lived(moves, first).digest() == lived(moves, second).digest());
}

RC_GTEST_PROP(State, ListsTheMembersOnEachNode, ()) {
  Outside outside;
  State state = lived(*some_moves(), outside);
  Trial trial(state);
  for (const Move& move : *some_moves()) try_something(trial, move);
  for (std::size_t n = 0; n < state.cluster().rows(); ++n) {
    std::vector<MemberId> naive;
    for (std::size_t m = 0; m < state.member_rows(); ++m)
      if (state.member(MemberId(m)).node == NodeId(n)) naive.emplace_back(m);
    RC_ASSERT(state.members_on(NodeId(n)) == naive);
  }
  trial.unblock();
}

/// Pods that match the selector on the node, and those that have its term of the zone, one by one.
std::pair<std::uint32_t, std::uint32_t> recounted(const State& state, PodSelectorId selector, NodeId node) {
  std::uint32_t pods = 0, owners = 0;
  const SelectorIndex& index = state.cluster().counts().index();
  const PodSelector& s = index.selector(selector);
  for (std::size_t row = 0; row < state.member_rows(); ++row) {
    const Member& m = state.member(MemberId(row));
    if (m.phase == Member::Phase::kAbsent || m.node != node) continue;
    if (!m.labels.is_none()) {
      const LabelSet& set = index.label_set(m.labels);
      const bool is_listed = std::count(s.namespaces.begin(), s.namespaces.end(), set.ns) > 0;
      const bool is_meant = is_listed || (s.selects_namespaces && index.means(s.of_namespace, set.ns));
      pods += is_meant && hold(s.all, set.labels) ? 1 : 0;
    }
    for (const PodTerm& term : state.cluster().constraint(m.constraint).keeps_away)
      owners += term == PodTerm{selector, LabelKeyId(1u)} ? 1 : 0;
  }
  return {pods, owners};
}

void expect_counts_as_recounted(const State& state) {
  const Counts& counts = state.cluster().counts();
  for (std::size_t s = 0; s < counts.index().selector_rows(); ++s)
    for (std::size_t n = 0; n < state.cluster().rows(); ++n) {
      const auto [pods, owners] = recounted(state, PodSelectorId(s), NodeId(n));
      RC_ASSERT(counts.pods(PodSelectorId(s), NodeId(n)) == pods);
      RC_ASSERT(counts.owners({PodSelectorId(s), LabelKeyId(1u)}, NodeId(n)) == owners);
    }
}

RC_GTEST_PROP(Counts, EqualANaiveRecountAlsoInsideATrialAndAfterARestart, ()) {
  Outside outside({.has_holds = true,
                   .has_company = true,
                   .has_images = true,
                   .has_health = true,
                   .has_layouts = true,
                   .has_gangs = true,
                   .has_grants = true});
  State state = lived(*some_moves(), outside);
  expect_counts_as_recounted(state);
  Trial trial(state);
  for (const Move& move : *some_moves())
    try_something(trial, move, {.blocks = false, .lifts = false, .charges = false});
  expect_counts_as_recounted(state);
  State again = state;
  StateFields::forget_caches(again);
  RC_ASSERT(again.digest() == state.digest());
  RC_ASSERT(again.is_consistent());
  expect_counts_as_recounted(again);
}

LabelId value_at_node(const State& state, NodeId node, LabelKeyId label) {
  for (const NodeLabel& l : state.cluster().facts(node).labels)
    if (l.key == label) return l.id;
  return LabelId::none();
}

/// Pods that match the selector in the node's domain, one by one, on nodes that count.
template <class Counts>
std::uint32_t recounted_in_domain(const State& state, PodSelectorId selector, LabelKeyId label, NodeId node,
                                  Counts&& counts) {
  std::uint32_t pods = 0;
  for (std::size_t n = 0; n < state.cluster().rows(); ++n)
    if (state.cluster().is_live(NodeId(n)) && counts(NodeId(n)) &&
        value_at_node(state, NodeId(n), label) == value_at_node(state, node, label))
      pods += recounted(state, selector, NodeId(n)).first;
  return pods;
}

bool is_open_by_spread(const State& state, const Constraint& c, const SpreadTerm& term, NodeId node) {
  const auto counts = [&](NodeId n) {
    const NodeFacts& facts = state.cluster().facts(n);
    if (term.honors_affinity && !is_selected(c, facts)) return false;
    if (term.honors_taints && !taints_tolerated(c, facts)) return false;
    return std::ranges::none_of(c.spread,
                                [&](const SpreadTerm& t) { return value_at_node(state, n, t.topology).is_none(); });
  };
  if (value_at_node(state, node, term.topology).is_none()) return false;
  std::map<LabelId, std::uint32_t> domains;
  for (std::size_t n = 0; n < state.cluster().rows(); ++n)
    if (state.cluster().is_live(NodeId(n)) && counts(NodeId(n)))
      domains[value_at_node(state, NodeId(n), term.topology)] =
          recounted_in_domain(state, term.selector, term.topology, NodeId(n), counts);
  std::uint32_t fewest = UINT32_MAX;
  for (const auto& [value, pods] : domains) fewest = std::min(fewest, pods);
  if (domains.empty() || domains.size() < static_cast<std::size_t>(term.domains_min)) fewest = 0;
  const std::uint32_t here = recounted_in_domain(state, term.selector, term.topology, node, counts);
  return static_cast<std::int64_t>(here) + (term.matches_itself ? 1 : 0) - fewest <= term.skew_max;
}

/// By Kubernetes' words, rule by rule.
bool is_open_by_pods(const State& state, const Constraint& c, NodeId node) {
  const auto any = [](NodeId) { return true; };
  const auto here = [&](PodSelectorId selector, LabelKeyId label) {
    return recounted_in_domain(state, selector, label, node, any);
  };
  const auto has_label = [&](LabelKeyId label) { return !value_at_node(state, node, label).is_none(); };
  for (const SpreadTerm& term : c.spread)
    if (!is_open_by_spread(state, c, term, node)) return false;
  for (const PodTerm& term : c.keeps_away)
    if (has_label(term.topology) && here(term.selector, term.topology) > 0) return false;
  if (c.near.selector.is_none()) return true;
  if (!std::ranges::all_of(c.near.topologies, has_label)) return false;
  if (std::ranges::all_of(c.near.topologies, [&](LabelKeyId label) { return here(c.near.selector, label) > 0; }))
    return true;
  for (std::size_t n = 0; n < state.cluster().rows(); ++n)
    for (const LabelKeyId label : c.near.topologies)
      if (state.cluster().is_live(NodeId(n)) && !value_at_node(state, NodeId(n), label).is_none() &&
          recounted(state, c.near.selector, NodeId(n)).first > 0)
        return false;
  return c.near.matches_itself;
}

void expect_company_as_recounted(const State& state) {
  for (std::size_t row = 0; row < state.cluster().constraint_rows(); ++row) {
    const Constraint& c = state.cluster().constraint(ConstraintId(row));
    if (!c.has_company()) continue;
    const BitSet& allowed = state.cluster().allowed(ConstraintId(row), kNodeRules);
    for (std::size_t n = 0; n < state.cluster().rows(); ++n) {
      const bool is_allowed = state.cluster().is_live(NodeId(n)) &&
                              is_allowed_by_facts(c, state.cluster().facts(NodeId(n)), state.cluster().context());
      RC_ASSERT(allowed.test(n) == (is_allowed && is_open_by_pods(state, c, NodeId(n))));
    }
  }
}

RC_GTEST_PROP(Company, EqualsANaiveRecountAlsoInsideATrialAndAfterARestart, ()) {
  Outside outside(
      {.has_company = true, .has_images = true, .has_health = true, .has_layouts = true, .has_gangs = true});
  State state = lived(*some_moves(), outside);
  expect_company_as_recounted(state);
  {
    Trial trial(state);
    for (const Move& move : *some_moves()) try_something(trial, move, {.blocks = false, .lifts = false});
    expect_company_as_recounted(state);
  }
  expect_company_as_recounted(state);
  State again = state;
  StateFields::forget_caches(again);
  expect_company_as_recounted(again);
  for (const Move& move : *some_moves()) {
    for (const Event& event : outside.act(move, state)) apply(state, event);
    if (move.c % 8 == 0) expect_company_as_recounted(state);
  }
  expect_company_as_recounted(state);
}

RC_GTEST_PROP(Counts, AreTheSameWhetherSelectorsComeBeforeThePodsOrAfter, ()) {
  Outside outside(kWithAllButHolds);
  State state = lived(*some_moves(), outside);
  const SelectorIndex& index = state.cluster().counts().index();
  const PodSelectorId row(index.selector_rows());
  for (std::size_t s = 0; s < row.row(); ++s) {
    const PodSelector selector = index.selector(PodSelectorId(s));
    apply(state, {outside.now(), PodSelectorDefined{row, {}}});
    apply(state, {outside.now(), PodSelectorDefined{row, selector}});
    const auto before = state.cluster().counts().by_node(PodSelectorId(s));
    const auto after = state.cluster().counts().by_node(row);
    RC_ASSERT(std::equal(before.begin(), before.end(), after.begin(), after.end()));
  }
  RC_ASSERT(state.is_consistent());
}

RC_GTEST_PROP(Trial, RollsBackExactly, ()) {
  Outside outside({.has_holds = true,
                   .has_company = true,
                   .has_images = true,
                   .has_health = true,
                   .has_layouts = true,
                   .has_gangs = true,
                   .has_grants = true});
  State state = lived(*some_moves(), outside);
  const std::uint64_t digest = state.digest();
  const std::vector<Millis> ends = late_ends(state);
  const std::vector<Usage> usage = usage_of(state.queues());
  const auto tries = *some_moves();
  {
    Trial trial(state);
    for (const Move& move : tries) try_something(trial, move);
    trial.unblock();
    const std::size_t checkpoint = trial.checkpoint();
    const std::vector<Usage> usage_there = usage_of(state.queues());
    take_all_quota_again(trial);
    RC_ASSERT(state.is_consistent());
    trial.rollback_to(checkpoint);
    RC_ASSERT(usage_of(state.queues()) == usage_there);
  }
  RC_ASSERT(late_ends(state) == ends);
  RC_ASSERT(usage_of(state.queues()) == usage);
  RC_ASSERT(state.digest() == digest);
  RC_ASSERT(state.is_consistent());
}

RC_GTEST_PROP(Trial, RollsBackToACheckpoint, ()) {
  Outside outside({.has_holds = true,
                   .has_company = true,
                   .has_images = true,
                   .has_health = true,
                   .has_layouts = true,
                   .has_gangs = true,
                   .has_grants = true});
  State state = lived(*some_moves(), outside);
  Trial trial(state);
  for (const Move& move : *some_moves()) try_something(trial, move);
  const std::size_t checkpoint = trial.checkpoint();
  const std::uint64_t digest = state.digest();
  const std::vector<Usage> usage = usage_of(state.queues());
  for (const Move& move : *some_moves()) try_something(trial, move);
  trial.rollback_to(checkpoint);
  RC_ASSERT(state.digest() == digest);
  RC_ASSERT(usage_of(state.queues()) == usage);
  take_all_quota_again(trial);
  trial.unblock();  // what is blocked belongs to no member, so the books do not show it
  RC_ASSERT(state.is_consistent());
}

void nest(State& state, Trial& outer, const std::vector<Move>& moves, std::size_t& at, int depth) {
  while (at < moves.size()) {
    const Move move = moves[at++];
    if (move.kind < 6 && depth < 4) {
      const std::uint64_t before = state.digest();
      Trial inner(state);
      nest(state, inner, moves, at, depth + 1);
      if (move.c % 2 == 0) inner.unblock();
      inner.rollback_to(0);
      RC_ASSERT(state.digest() == before);
    } else if (move.kind < 12 && depth > 0) {
      return;
    } else {
      try_something(outer, move);
    }
  }
}

RC_GTEST_PROP(Trial, NestsAndStillRollsBackExactly, ()) {
  Outside outside({.has_holds = true,
                   .has_company = true,
                   .has_images = true,
                   .has_health = true,
                   .has_layouts = true,
                   .has_gangs = true,
                   .has_grants = true});
  State state = lived(*some_moves(), outside);
  const std::uint64_t digest = state.digest();
  const std::vector<Usage> usage = usage_of(state.queues());
  const auto tries = *some_moves();
  {
    Trial trial(state);
    std::size_t at = 0;
    nest(state, trial, tries, at, 0);
  }
  RC_ASSERT(state.digest() == digest);
  RC_ASSERT(usage_of(state.queues()) == usage);
  RC_ASSERT(state.is_consistent());
}

TEST(Trial, RollsBackThoughAPlacementGaveTheQueueOfAHoldItsRow) {
  Outside outside({.has_holds = true,
                   .has_company = true,
                   .has_images = true,
                   .has_health = true,
                   .has_layouts = true,
                   .has_gangs = true,
                   .has_grants = true});
  State state = lived({{0, 1, 0, 0},
                       {0, 2, 39, 0},
                       {35, 0, 1, 0},
                       {22, 0, 0, 27},
                       {22, 9, 39, 10},
                       {0, 3, 0, 0},
                       {0, 4, 0, 0},
                       {0, 0, 0, 0},
                       {3, 5, 37, 2}},
                      outside);
  const std::uint64_t digest = state.digest();
  {
    Trial trial(state);
    try_something(trial, {9, 8, 0, 35});  // lifts the hold of all queues, and takes its place
    try_something(trial, {9, 8, 0, 0});   // has ended before the hold of a queue without a row begins
    ASSERT_TRUE(std::holds_alternative<Trial::Expectation>(trial.steps().back()));
    const std::size_t rows = state.queues().rows();
    try_something(trial, {6, 1, 0, 0});
    ASSERT_GT(state.queues().rows(), rows);
  }
  EXPECT_EQ(state.digest(), digest);
  EXPECT_TRUE(state.is_consistent());
}

RC_GTEST_PROP(Trial, ThatIsKeptEqualsWhatTheWorldWouldHaveDone, ()) {
  Outside outside(kWithAllButHolds);
  State state = lived(*some_moves(), outside);
  State world = state;
  Trial trial(state);
  for (const Move& move : *some_moves()) {
    const MemberId member(static_cast<std::size_t>(move.a) % std::max<std::size_t>(state.member_rows(), 1));
    if (!state.is_live(member) || state.member(member).is_placed()) continue;
    const std::size_t before = trial.steps().size();
    try_something(trial, move, {.blocks = false, .charges = false});
    if (trial.steps().size() == before) continue;
    each_placement(std::span(trial.steps()).subspan(before), [&](const Trial::Placement& step) {
      apply(world, {outside.now(), Bound{step.member, step.node, step.devices}});
    });
  }
  trial.commit();
  RC_ASSERT(state.digest() == world.digest());
}

RC_GTEST_PROP(Trial, ThatIsUnblockedIsAsIfNothingHadBeenBlocked, ()) {
  Outside outside({.has_holds = true,
                   .has_company = true,
                   .has_images = true,
                   .has_health = true,
                   .has_layouts = true,
                   .has_gangs = true,
                   .has_grants = true});
  State state = lived(*some_moves(), outside);
  State other = state;
  Trial trial(state), same(other);
  for (const Move& move : *some_moves()) try_something(trial, move, {.lifts = false});
  for (const Trial::Step& step : trial.steps()) repeat(step, same);
  trial.unblock();
  RC_ASSERT(state.digest() == other.digest());
  RC_ASSERT(usage_of(state.queues()) == usage_of(other.queues()));
  RC_ASSERT(trial.steps().size() == same.steps().size());
  take_all_quota_again(trial);
  RC_ASSERT(state.is_consistent());
}

RC_GTEST_PROP(Apply, ABindIsUndoneByTheMembersEnd, ()) {
  Outside outside({.has_holds = true,
                   .has_company = true,
                   .has_images = true,
                   .has_health = true,
                   .has_layouts = true,
                   .has_gangs = true,
                   .has_grants = true});
  State state = lived(*some_moves(), outside);
  const auto move = *some_moves();
  RC_PRE(!move.empty());
  const std::uint64_t digest = state.digest();
  const JobId job(state.job_rows());
  const MemberId member(state.member_rows());
  const NodeId node(static_cast<std::size_t>(move[0].a) % state.cluster().rows());
  Workload w{
      .job = job,
      .members = {{member, DemandId(static_cast<std::size_t>(move[0].b % Outside::kDemands)), ConstraintId(0u)}}};
  apply(state, {outside.now(), Submitted{w}});
  RC_ASSERT(state.digest() == digest);
  apply(state, {outside.now(), Bound{member, node, {}}});
  if (state.cluster().is_live(node)) RC_ASSERT(state.digest() != digest);
  const bool ends_member = move[0].c % 2 == 0;
  if (ends_member)
    apply(state, {outside.now(), MemberGone{member}});
  else
    apply(state, {outside.now(), Ended{job}});
  RC_ASSERT(state.digest() == digest);
  RC_ASSERT(state.is_consistent());
}

RC_GTEST_PROP(Apply, ANodeThatComesAndGoesLeavesNoTrace, ()) {
  Outside outside(kWithAllButHolds);
  State state = lived(*some_moves(), outside);
  const std::uint64_t digest = state.digest();
  const NodeId node(state.cluster().rows() + 3);
  NodeFacts facts;
  facts.devices.count = *rc::gen::inRange(0, kDevicesPerNodeMax + 1);
  facts.allocatable = {1000, 2000, 0, 5, 6, 7};
  facts.domains = {DomainId(1u), DomainId::none(), DomainId(7u)};
  apply(state, {outside.now(), NodeSeen{node, facts}});
  RC_ASSERT(state.digest() != digest);
  RC_ASSERT(state.is_consistent());
  apply(state, {outside.now(), NodeGone{node}});
  RC_ASSERT(state.digest() == digest);
  RC_ASSERT(state.is_consistent());
  RC_ASSERT(StateFields::are_sound(state));
}

RC_GTEST_PROP(Apply, NewFactsAndTheOldOnesAgainLeaveNoTrace, ()) {
  Outside outside({.has_holds = true,
                   .has_company = true,
                   .has_images = true,
                   .has_health = true,
                   .has_layouts = true,
                   .has_gangs = true,
                   .has_grants = true});
  State state = lived(*some_moves(), outside);
  const NodeId node(*rc::gen::inRange<std::size_t>(0, state.cluster().rows()));
  RC_PRE(state.cluster().is_live(node));
  const std::uint64_t digest = state.digest();
  const NodeFacts old = state.cluster().facts(node);
  NodeFacts other = old;
  other.is_ready = !old.is_ready;
  other.devices.memory_each = MiB(old.devices.memory_each.value + 1000);
  other.devices.device_class = DeviceClassId(9u);
  other.devices.layout = DeviceLayoutId::none();
  for (std::int64_t& a : other.allocatable) a += 5;
  other.domains = {};
  apply(state, {outside.now(), NodeSeen{node, other}});
  RC_ASSERT(state.is_consistent());
  apply(state, {outside.now(), NodeSeen{node, old}});
  RC_ASSERT(state.digest() == digest);
  RC_ASSERT(state.is_consistent());
}

RC_GTEST_PROP(Apply, OtherDevicesOfThatNumberAndTheOldOnesAgainLeaveNoTrace, ()) {
  Outside outside({.has_holds = true,
                   .has_company = true,
                   .has_images = true,
                   .has_health = true,
                   .has_layouts = true,
                   .has_gangs = true,
                   .has_grants = true});
  State state = lived(*some_moves(), outside);
  const NodeId node(*rc::gen::inRange<std::size_t>(0, state.cluster().rows()));
  RC_PRE(state.cluster().is_live(node));
  const DeviceLayoutId id(static_cast<std::size_t>(Outside::kLayouts));
  DeviceLayout layout;
  for (std::int32_t i = 0; i < state.cluster().devices()[node.row()]; ++i)
    layout.devices.push_back({.device_class = DeviceClassId(*rc::gen::inRange(0u, 3u)),
                              .memory = MiB(*rc::gen::inRange(0, 3) * 40'960),
                              .mode = static_cast<DeviceMode>(*rc::gen::inRange(0, 2))});
  RC_PRE(!layout.devices.empty());
  apply(state, {outside.now(), DeviceLayoutDefined{id, layout}});
  const std::uint64_t digest = state.digest();
  const NodeDevices old = state.cluster().facts(node).devices;
  apply(state, {outside.now(), NodeDevicesChanged{node, devices_with(id, layout)}});
  RC_ASSERT(state.is_consistent());
  RC_ASSERT(StateFields::are_sound(state));
  RC_ASSERT(state.cluster().is_used(id));
  apply(state, {outside.now(), NodeDevicesChanged{node, old}});
  RC_ASSERT(state.digest() == digest);
  RC_ASSERT(state.is_consistent());
  RC_ASSERT(!state.cluster().is_used(id));
}

RC_GTEST_PROP(Apply, FewerDevicesAndTheOldOnesAgainLeaveNoTrace, ()) {
  Outside outside({.has_holds = true,
                   .has_company = true,
                   .has_images = true,
                   .has_health = true,
                   .has_layouts = true,
                   .has_gangs = true,
                   .has_grants = true});
  State state = lived(*some_moves(), outside);
  const NodeId node(*rc::gen::inRange<std::size_t>(0, state.cluster().rows()));
  RC_PRE(state.cluster().is_live(node));
  const NodeDevices old = state.cluster().facts(node).devices;
  RC_PRE(old.count > 0);
  const std::uint64_t digest = state.digest();
  apply(state,
        {outside.now(), NodeDevicesChanged{node,
                                           {*rc::gen::inRange(0, old.count), MiB(*rc::gen::inRange(0, 3) * 40'960),
                                            DeviceClassId(*rc::gen::inRange(0u, 3u))}}});
  RC_ASSERT(state.is_consistent());
  RC_ASSERT(StateFields::are_sound(state));
  apply(state, {outside.now(), NodeDevicesChanged{node, old}});
  RC_ASSERT(state.digest() == digest);
  RC_ASSERT(state.is_consistent());
}

RC_GTEST_PROP(Apply, AChangeOfCapacityOrDevicesIsThatOfTheWholeNode, ()) {
  Outside outside({.has_holds = true,
                   .has_company = true,
                   .has_images = true,
                   .has_health = true,
                   .has_layouts = true,
                   .has_gangs = true,
                   .has_grants = true});
  State whole = lived(*some_moves(), outside);
  const NodeId node(*rc::gen::inRange<std::size_t>(0, whole.cluster().rows()));
  RC_PRE(whole.cluster().is_live(node));
  State parts = whole;
  const NodeFacts before = whole.cluster().facts(node);
  NodeFacts after = before;
  if (*rc::gen::arbitrary<bool>())
    for (std::int64_t& a : after.allocatable) a = std::max<std::int64_t>(0, a + *rc::gen::inRange(-5, 5));
  if (*rc::gen::arbitrary<bool>()) {
    after.devices = {*rc::gen::inRange(0, kDevicesPerNodeMax + 1), MiB(*rc::gen::inRange(0, 3) * 40'960),
                     DeviceClassId(*rc::gen::inRange(0u, 3u))};
  }
  for (const EventBody& change : node_changes(node, before, after)) apply(parts, {outside.now(), change});
  if (before != after) apply(whole, {outside.now(), NodeSeen{node, after}});
  RC_ASSERT(parts.cluster().facts(node) == after);
  RC_ASSERT(parts.digest() == whole.digest());
  RC_ASSERT(parts.is_consistent());
  RC_ASSERT(StateFields::are_sound(parts));
}

RC_GTEST_PROP(DeviceHealth, ReportedAndTakenBackLeavesNoTrace, ()) {
  Outside outside(kWithAllButHolds);
  State state = lived(*some_moves(), outside);
  const NodeId node(*rc::gen::inRange<std::size_t>(0, state.cluster().rows()));
  RC_PRE(state.cluster().is_live(node));
  const State before = state;
  const DeviceMask other{*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::uint64_t>()};
  apply(state, {outside.now(), DeviceHealthChanged{node, other}});
  RC_ASSERT(state.is_consistent());
  RC_ASSERT(StateFields::are_sound(state));
  const auto milli = state.cluster().device_free_milli(node);
  for (std::size_t i = 0; i < milli.size(); ++i)
    if (other.test(static_cast<int>(i))) RC_ASSERT(milli[i] <= 0);
  apply(state, {outside.now(), DeviceHealthChanged{node, before.cluster().reported_unhealthy(node)}});
  RC_ASSERT(state.digest() == before.digest());
  RC_ASSERT(std::ranges::equal(state.cluster().idle_devices(), before.cluster().idle_devices()));
  RC_ASSERT(std::ranges::equal(state.cluster().free_milli(), before.cluster().free_milli()));
  RC_ASSERT(state.is_consistent());
}

// Health is known apart from the node's facts: neither order of the reports makes a difference, and what happens on the
// node meanwhile is what would have happened without it.
RC_GTEST_PROP(DeviceHealth, IsIndependentOfTheOtherChangesOfTheNode, ()) {
  Outside outside(kWithAllButHolds);
  State first = lived(*some_moves(), outside);
  const NodeId node(*rc::gen::inRange<std::size_t>(0, first.cluster().rows()));
  RC_PRE(first.cluster().is_live(node));
  State second = first;
  const Event health{outside.now(), DeviceHealthChanged{node, {*rc::gen::inRange<std::uint64_t>(0, 256), 0}}};
  const Event devices{outside.now(),
                      NodeDevicesChanged{node,
                                         {*rc::gen::inRange(0, 10), MiB(*rc::gen::inRange(0, 3) * 40'960),
                                          DeviceClassId(*rc::gen::inRange(0u, 3u))}}};
  apply(first, health);
  apply(first, devices);
  apply(second, devices);
  apply(second, health);
  RC_ASSERT(first.digest() == second.digest());
  RC_ASSERT(std::ranges::equal(first.cluster().idle_devices(), second.cluster().idle_devices()));
  RC_ASSERT(first.is_consistent());
  RC_ASSERT(second.is_consistent());
}

RC_GTEST_PROP(DeviceHealth, OfAllDevicesTakenBackShowsWhatTrialsAndEventsDidMeanwhile, ()) {
  Outside outside({.has_company = true, .has_images = true});
  State state = lived(*some_moves(), outside);
  State plain = state;
  const auto report = [&](const DeviceMask& unhealthy) {
    for (std::size_t n = 0; n < state.cluster().rows(); ++n)
      apply(state, {outside.now(), DeviceHealthChanged{NodeId(n), unhealthy}});
  };
  report(DeviceMask::unknown());
  Trial trial(state), same(plain);
  for (const Move& move : *some_moves()) {
    const std::size_t steps = trial.steps().size();
    try_something(trial, move, {.blocks = false, .charges = false});
    for (std::size_t i = steps; i < trial.steps().size(); ++i) repeat(trial.steps()[i], same);
  }
  report({});
  RC_ASSERT(state.digest() == plain.digest());
  RC_ASSERT(std::ranges::equal(state.cluster().idle_devices(), plain.cluster().idle_devices()));
  RC_ASSERT(std::ranges::equal(state.cluster().free_milli(), plain.cluster().free_milli()));
  RC_ASSERT(state.is_consistent());
}

TEST(NodeChanges, NamesOnlyWhatChanged) {
  const NodeFacts before = {{1000, 2000}, {8, MiB(80), DeviceClassId(1u)}, true, {}, {}, {DomainId(1u)}};
  const auto kinds = [&](const std::function<void(NodeFacts&)>& change) {
    NodeFacts after = before;
    change(after);
    std::string names;
    for (const EventBody& body : node_changes(NodeId(0u), before, after)) names += std::string(kind_name(body)) + " ";
    return names;
  };
  EXPECT_EQ(kinds([](NodeFacts&) {}), "");
  EXPECT_EQ(kinds([](NodeFacts& f) { f.allocatable[0] = 1; }), "NodeCapacityChanged ");
  EXPECT_EQ(kinds([](NodeFacts& f) { f.devices.count = 7; }), "NodeDevicesChanged ");
  EXPECT_EQ(kinds([](NodeFacts& f) { f.allocatable[0] = 1, f.devices.count = 7; }),
            "NodeCapacityChanged NodeDevicesChanged ");
  EXPECT_EQ(kinds([](NodeFacts& f) { f.is_ready = false, f.devices.count = 7; }), "NodeSeen ");
  EXPECT_EQ(kinds([](NodeFacts& f) { f.domains[0] = DomainId(2u); }), "NodeSeen ");
  EXPECT_EQ(kinds([](NodeFacts& f) {
              f.taints = {{LabelKeyId(2u), LabelId(9u), TaintEffect::kNoSchedule}};
            }),
            "NodeSeen ");
}

TEST(NodeChanges, OfAnUnknownNodeChangeNothing) {
  State state;
  const std::uint64_t digest = state.digest();
  apply(state, {Millis(1), NodeCapacityChanged{NodeId(3u), {1000}}});
  apply(state, {Millis(1), NodeDevicesChanged{NodeId(3u), {8, MiB(0), DeviceClassId(1u)}}});
  apply(state, {Millis(1), DeviceHealthChanged{NodeId(3u), {1, 0}}});
  EXPECT_EQ(state.digest(), digest);
  EXPECT_EQ(state.cluster().rows(), 0u);
}

}  // namespace
}  // namespace ashlar
