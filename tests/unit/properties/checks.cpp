#include "checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "engine/pending/pending_queue.h"
#include "history.h"
#include "policy/node/selector.h"
#include "state/ledger.h"

namespace ashlar {
namespace {

std::string named(const char* what, std::size_t row) { return std::string(what) + " " + std::to_string(row); }

struct NodeUse {
  std::map<ResourceId, std::int64_t> used;
  std::vector<std::int32_t> device_milli;
  std::vector<std::int64_t> device_mib;
  DeviceMask unhealthy;
  std::int32_t devices_owed = 0;
  std::vector<HostPort> ports;
};

/// What the member holds of one of its devices.
DeviceShare share_of(const State& state, const Member& m, int device) {
  for (const DeviceGrant& grant : state.grants_of(m))
    if (grant.device == device) return grant.share;
  const DeviceRequest& request = state.demand(m.demand).devices;
  return {.milli = request.milli_each, .memory = request.memory_each};
}

/// For a waiting job: if it starts at that time; max(): for one that is placed.
bool may_have_of(const State& state, JobId job, const Hold& hold, Millis now) {
  const Job& j = state.job(job);
  const bool is_waiting = !j.is_started && now != Millis::max();
  const Millis late_end = j.is_started ? j.late_end_if_started(j.started_at)
                          : is_waiting ? j.late_end_if_started(now)
                                       : j.ends_by;
  if (hold.from > Millis(0) && late_end <= hold.from) return true;
  const HoldOwner& owner = hold.owner;
  if (!owner.job.is_none()) return owner.job == job;
  QueueId queue = state.job(job).queue;
  while (!queue.is_none() && queue != owner.queue)
    queue = queue.row() < state.queues().rows() ? state.queues().parent(queue) : QueueId::none();
  return !queue.is_none();
}

struct Seen {
  JobId by;
  Millis at;
};

/// What a hold keeps of a node is what it holds, less what the jobs have there that may use it: counted out piece by
/// piece, each for one hold, that of fewest jobs first. Counted for a job that may not use the hold itself.
void add_kept(const State& state, NodeId node, const Seen& seen, NodeUse& use) {
  std::vector<std::pair<int, MemberId>> held;
  std::map<MemberId, NodeUse> has;
  for (std::size_t row = 0; row < state.member_rows(); ++row) {
    const MemberId id(row);
    const Member& m = state.member(id);
    if (m.phase == Member::Phase::kAbsent || m.node != node) continue;
    const Hold* hold = state.hold_of(m.job);
    if (hold == nullptr) {
      const Demand& d = state.demand(m.demand);
      NodeUse& of = has[id];
      for (const ResourceAmount& a : d.amounts) of.used[a.resource] += a.amount;
      of.device_milli.assign(use.device_milli.size(), 0);
      of.device_mib.assign(use.device_mib.size(), 0);
      m.devices.each([&](int i) {
        if (d.devices.count == 0) return;
        const DeviceShare share = share_of(state, m, i);
        of.device_milli[static_cast<std::size_t>(i)] = share.milli.value;
        of.device_mib[static_cast<std::size_t>(i)] = share.memory.value;
      });
      of.devices_owed = std::max(d.devices.count - m.devices.count(), 0);
      of.ports = d.ports;
    } else if (hold->yields()) {
      int depth = hold->owner.job.is_none() ? 0 : 1000;
      for (QueueId q = hold->owner.queue; !q.is_none() && q.row() < state.queues().rows(); q = state.queues().parent(q))
        ++depth;
      held.emplace_back(-depth, id);
    }
  }
  std::sort(held.begin(), held.end());
  for (const auto& [depth, id] : held) {
    const Member& m = state.member(id);
    const Hold& hold = *state.hold_of(m.job);
    const Demand& d = state.demand(m.demand);
    const bool is_seen = !may_have_of(state, seen.by, hold, seen.at);
    const auto less = [&](auto amount, const auto& of_member) {
      for (auto& [user, of] : has) {
        if (!may_have_of(state, state.member(user).job, hold, Millis::max())) continue;
        auto& its = of_member(of);
        const auto taken = std::max<std::remove_cvref_t<decltype(its)>>(std::min<std::int64_t>(its, amount), 0);
        its -= taken;
        amount -= taken;
      }
      return amount;
    };
    for (const ResourceAmount& a : d.amounts) {
      const std::int64_t kept = less(a.amount, [&](NodeUse& of) -> std::int64_t& { return of.used[a.resource]; });
      if (is_seen) use.used[a.resource] += kept;
    }
    m.devices.each([&](int index) {
      if (d.devices.count == 0) return;
      const auto i = static_cast<std::size_t>(index);
      const auto milli = less(std::int64_t{d.devices.milli_each.value},
                              [&](NodeUse& of) -> std::int32_t& { return of.device_milli[i]; });
      const auto mib =
          less(d.devices.memory_each.value, [&](NodeUse& of) -> std::int64_t& { return of.device_mib[i]; });
      if (is_seen) use.device_milli[i] += static_cast<std::int32_t>(milli);
      if (is_seen) use.device_mib[i] += mib;
    });
    std::int64_t owed = std::max(d.devices.count - m.devices.count(), 0);
    for (auto& [user, of] : has)
      for (std::size_t i = 0; i < of.device_milli.size(); ++i) {
        const bool is_named = m.devices.test(static_cast<int>(i));
        const bool is_as_much = of.device_milli[i] > 0 && of.device_milli[i] >= d.devices.milli_each.value;
        if (owed == 0 || is_named || !is_as_much || !may_have_of(state, state.member(user).job, hold, Millis::max()))
          continue;
        of.device_milli[i] = 0;
        --owed;
      }
    owed = less(owed, [](NodeUse& of) -> std::int32_t& { return of.devices_owed; });
    if (is_seen) use.devices_owed += static_cast<std::int32_t>(owed);
    for (const HostPort& port : d.ports) {
      bool is_used = false;
      for (auto& [user, of] : has) {
        const auto it = std::find(of.ports.begin(), of.ports.end(), port);
        if (is_used || it == of.ports.end() || !may_have_of(state, state.member(user).job, hold, Millis::max()))
          continue;
        of.ports.erase(it);
        is_used = true;
      }
      if (is_seen && !is_used) use.ports.push_back(port);
    }
  }
}

/// As it is for a job, which sees nothing of what is held for it.
NodeUse use_of(const State& state, NodeId node, const Seen& seen) {
  NodeUse use;
  const NodeFacts& facts = state.cluster().facts(node);
  use.device_milli.assign(static_cast<std::size_t>(facts.devices.count), 0);
  use.device_mib.assign(static_cast<std::size_t>(facts.devices.count), 0);
  use.unhealthy = state.cluster().reported_unhealthy(node);
  for (std::size_t row = 0; row < state.member_rows(); ++row) {
    const Member& m = state.member(MemberId(row));
    if (m.phase == Member::Phase::kAbsent || m.node != node) continue;
    if (const Hold* hold = state.hold_of(m.job); hold != nullptr && hold->yields()) continue;
    const Demand& d = state.demand(m.demand);
    for (const ResourceAmount& a : d.amounts) use.used[a.resource] += a.amount;
    use.ports.insert(use.ports.end(), d.ports.begin(), d.ports.end());
    if (d.devices.count == 0) continue;
    int named_devices = 0;
    m.devices.each([&](int i) {
      ++named_devices;
      if (static_cast<std::size_t>(i) >= use.device_milli.size()) return;
      const DeviceShare share = share_of(state, m, i);
      use.device_milli[static_cast<std::size_t>(i)] += share.milli.value;
      use.device_mib[static_cast<std::size_t>(i)] += share.memory.value;
    });
    use.devices_owed += std::max(d.devices.count - named_devices, 0);
  }
  add_kept(state, node, seen, use);
  return use;
}

LabelId label_of(const NodeFacts& f, LabelKeyId key) {
  for (const NodeLabel& l : f.labels)
    if (l.key == key) return l.id;
  return LabelId::none();
}

/// Whether any placed member has a term that means these labels, on a node of the same domain.
bool is_kept_away(const State& state, LabelSetId seen_as, const NodeFacts& f) {
  const SelectorIndex& index = state.cluster().counts().index();
  for (std::size_t row = 0; row < state.member_rows(); ++row) {
    const MemberId member(row);
    if (!state.is_live(member) || !state.member(member).is_placed()) continue;
    const NodeFacts& where = state.cluster().facts(state.member(member).node);
    for (const PodTerm& term : state.cluster().constraint(state.member(member).constraint).keeps_away) {
      const LabelId domain = label_of(where, term.topology);
      if (!domain.is_none() && domain == label_of(f, term.topology) && index.matches(term.selector, seen_as))
        return true;
    }
  }
  return false;
}

/// What is known of a device of a node.
DeviceFacts device_of(const State& state, const NodeFacts& f, std::size_t i) {
  if (!f.devices.layout.is_none()) return state.cluster().layouts().row(f.devices.layout).devices[i];
  return {.device_class = f.devices.device_class, .memory = f.devices.memory_each};
}

/// Whether the constraint allows devices of the class: by its name, and by what it can do.
bool is_class_allowed(const State& state, const Constraint& c, DeviceClassId of) {
  const DeviceClasses& classes = state.cluster().classes();
  const std::vector<CapabilityId> none;
  const std::vector<CapabilityId>& able = of.row() < classes.rows() ? classes.row(of).capabilities : none;
  for (const CapabilityId needed : c.capabilities)
    if (std::count(able.begin(), able.end(), needed) == 0) return false;
  return c.models.empty() || std::count(c.models.begin(), c.models.end(), of) > 0;
}

/// Whether the member may have the device at all, free or not.
bool may_have(const State& state, MemberId member, NodeId node, std::size_t i) {
  const Member& m = state.member(member);
  const DeviceFacts device = device_of(state, state.cluster().facts(node), i);
  const std::int64_t asked = state.demand(m.demand).devices.memory_each.value;
  return device.mode == DeviceMode::kWhole && (device.memory.value == 0 || device.memory.value >= asked) &&
         is_class_allowed(state, state.cluster().constraint(m.constraint), device.device_class);
}

bool are_alike(const State& state, NodeId node, std::size_t a, std::size_t b) {
  const NodeFacts& f = state.cluster().facts(node);
  const DeviceFacts one = device_of(state, f, a), other = device_of(state, f, b);
  return one.device_class == other.device_class && one.memory == other.memory && one.mode == other.mode;
}

bool is_node_allowed(const State& state, const Constraint& c, NodeId node) {
  if (!state.cluster().is_live(node)) return false;
  const NodeFacts& f = state.cluster().facts(node);
  if (!f.is_ready) return false;
  bool has_accepted = is_class_allowed(state, c, f.devices.device_class);
  for (std::int32_t i = 0; i < f.devices.count; ++i)
    has_accepted =
        has_accepted || is_class_allowed(state, c, device_of(state, f, static_cast<std::size_t>(i)).device_class);
  if (!has_accepted) return false;
  if (!term_holds(c.selector, f)) return false;
  if (!c.any_of.empty() &&
      std::none_of(c.any_of.begin(), c.any_of.end(), [&](const NodeTerm& t) { return term_holds(t, f); }))
    return false;
  for (const std::vector<NodeTerm>& list : c.volumes)
    if (std::none_of(list.begin(), list.end(), [&](const NodeTerm& t) { return term_holds(t, f); })) return false;
  for (const LabelKeyId key : c.features)
    if (std::ranges::find(f.labels, key, &NodeLabel::key) == f.labels.end()) return false;
  if (!c.seen_as.is_none() && is_kept_away(state, c.seen_as, f)) return false;
  for (const Taint& taint : f.taints) {
    if (taint.effect == TaintEffect::kPreferNoSchedule) continue;
    if (std::none_of(c.tolerations.begin(), c.tolerations.end(),
                     [&](const Toleration& t) { return t.tolerates(taint); }))
      return false;
  }
  return true;
}

/// Whole devices that one device is claimed for beyond itself are others of the node, nobody knows which.
template <class May>
std::int32_t idle_devices(const NodeUse& use, May&& may) {
  std::int32_t idle = -use.devices_owed;
  for (std::size_t i = 0; i < use.device_milli.size(); ++i) {
    const bool is_healthy = !use.unhealthy.test(static_cast<int>(i));
    idle += may(i) && is_healthy && use.device_milli[i] == 0 && use.device_mib[i] == 0 ? 1 : 0;
    idle -= std::max(use.device_milli[i] - kWholeDevice, 0) / kWholeDevice;
  }
  return idle;
}

/// Do these devices have what the demand asks, and are they as many as asked?
std::string device_fault(const State& state, const NodeUse& use, MemberId member, NodeId node,
                         const DeviceMask& devices) {
  const DeviceRequest& ask = state.demand(state.member(member).demand).devices;
  const auto any = [](std::size_t) { return true; };
  const auto may = [&](std::size_t i) { return may_have(state, member, node, i); };
  if (ask.count == 0) return devices.is_empty() ? "" : "cards for a demand without cards";
  if (devices.count() != ask.count) return "not as many cards as asked";
  std::string fault;
  bool opens_idle = false;
  devices.each([&](int index) {
    const auto i = static_cast<std::size_t>(index);
    if (i >= use.device_milli.size()) {
      fault = "a card that the node does not have";
      return;
    }
    const std::int64_t full = device_of(state, state.cluster().facts(node), i).memory.value;
    if (!may(i)) fault = "a card of another class, with too little memory, or sliced";
    if (use.unhealthy.test(index)) fault = "an unhealthy card";
    const bool is_idle = use.device_milli[i] == 0 && use.device_mib[i] == 0;
    opens_idle = opens_idle || is_idle;
    if (ask.is_whole() && !is_idle) fault = "a whole card that is in use";
    if (use.device_milli[i] + ask.milli_each.value > kWholeDevice) fault = "more than a card's compute";
    if (full != 0 && !ask.is_whole() && use.device_mib[i] >= full) fault = "a card whose memory is all taken";
    if (full != 0 && use.device_mib[i] + ask.memory_each.value > full) fault = "more than a card's memory";
  });
  if (fault.empty() && idle_devices(use, any) < 0) fault = "a card of a node that owes more cards than it has";
  for (std::size_t i = 0; opens_idle && i < use.device_milli.size(); ++i) {
    std::int32_t opened = 0;
    devices.each([&](int index) {
      const auto c = static_cast<std::size_t>(index);
      opened += are_alike(state, node, i, c) && use.device_milli[c] == 0 && use.device_mib[c] == 0 ? 1 : 0;
    });
    const auto alike = [&](std::size_t c) { return are_alike(state, node, i, c); };
    if (fault.empty() && opened > std::max(idle_devices(use, alike), 0))
      fault = "a card that is owed to a pod whose cards are not known";
  }
  return fault;
}

std::string node_fault(const State& state, MemberId member, NodeId node, const NodeUse& use) {
  const Member& m = state.member(member);
  const Demand& d = state.demand(m.demand);
  if (!is_node_allowed(state, state.cluster().constraint(m.constraint), node)) return "a node that is not allowed";
  const NodeFacts& facts = state.cluster().facts(node);
  for (const ResourceAmount& a : d.amounts) {
    const std::int64_t total = a.resource.row() < facts.allocatable.size() ? facts.allocatable[a.resource.row()] : 0;
    const auto it = use.used.find(a.resource);
    if ((it == use.used.end() ? 0 : it->second) + a.amount > total)
      return named("more than there is of resource", a.resource.row());
  }
  for (const HostPort& asked : d.ports)
    for (const HostPort& taken : use.ports)
      if (asked.clashes(taken)) return "a port that is taken";
  return "";
}

/// Where the members sit that were placed before the plan, and those that the plan placed.
struct GangDomains {
  std::set<DomainId> before, now;
};

GangDomains domains_of(const State& before, const State& after, JobId job, LevelId level, const auto& is_of_it) {
  GangDomains domains;
  after.each_member(job, [&](MemberId id, const Member& m) {
    if (!m.is_placed() || !is_of_it(m)) return;
    auto& side = before.member(id).is_placed() ? domains.before : domains.now;
    side.insert(after.cluster().topology().domain_of(level, m.node));
  });
  return domains;
}

/// Counted again: what each group has, and where.
std::string broken_groups(const State& before, const State& after, JobId job) {
  const Job& j = after.job(job);
  if (j.spec.is_none()) return "";
  const std::vector<GangGroup>& groups = after.gang_spec(j.spec).groups;
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    const auto is_of_group = [&](const Member& m) { return m.group == g; };
    std::uint32_t placed = 0;
    after.each_member(job, [&](MemberId, const Member& m) { placed += m.is_placed() && is_of_group(m) ? 1 : 0; });
    const std::string who = named("group", g) + named(" of job", job.row());
    if (placed < groups[g].members_min && !j.is_each_needed) return who + " is below its minimum";
    if (groups[g].within.is_none()) continue;
    const GangDomains domains = domains_of(before, after, job, groups[g].within, is_of_group);
    if (domains.now.empty()) continue;
    if (domains.now.size() != 1 || domains.now.begin()->is_none()) return who + " is not within one domain";
    if (domains.before.size() == 1 && domains.before != domains.now) return who + " is in another domain than before";
  }
  return "";
}

std::string broken_gang(const State& before, const State& after, JobId job) {
  const Job& j = after.job(job);
  if (j.members_placed < j.members_min) return named("below its minimum: job", job.row());
  if (std::string fault = broken_groups(before, after, job); !fault.empty()) return fault;
  if (j.within.is_none()) return "";
  const GangDomains domains = domains_of(before, after, job, j.within, [](const Member&) { return true; });
  if (domains.now.size() != 1 || domains.now.begin()->is_none())
    return named("not placed within one domain: job", job.row());
  // Labels and other schedulers may have split it since; what was together must stay so.
  if (domains.before.size() == 1 && domains.before != domains.now)
    return named("placed in another domain than before: job", job.row());
  return "";
}

/// What the cluster has is no limit of what is used: a bound pod stays when its node leaves, and its queue may still use
/// what it keeps for itself.
std::string broken_quota(const State& before, const State& after) {
  for (std::size_t q = 0; q < after.queues().rows(); ++q) {
    const QuotaVector& limits = q == 0 ? after.queues().stated_quota(QueueId(q)) : after.queues().quota(QueueId(q));
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
      const std::int64_t limit = limits[d], now = after.queues().used(QueueId(q))[d];
      const std::int64_t then = q < before.queues().rows() ? before.queues().used(QueueId(q))[d] : 0;
      if (now > limit && now > then)
        return named("over its quota: queue", q) + ", used " + std::to_string(now) + " of " + std::to_string(limit);
    }
    for (std::size_t k = 0; k < after.queues().keys().size(); ++k) {
      const std::int64_t limit =
          q == 0 ? after.queues().stated_limit(k, QueueId(q)) : after.queues().limit(k, QueueId(q));
      const std::int64_t now = after.queues().used(k, QueueId(q));
      if (now > limit && now > before.queues().used(k, QueueId(q)))
        return named("over its limit of a key: queue", q) + ", used " + std::to_string(now) + " of " +
               std::to_string(limit);
    }
  }
  return "";
}

std::string broken_order(const State& before, const State& after, const std::set<JobId>& started,
                         const OrderPolicy& order) {
  std::vector<JobId> waiting;
  for (std::size_t row = 0; row < before.job_rows(); ++row) {
    const JobId job(row);
    if (before.is_live(job) && before.job(job).is_in_backlog && before.job(job).members_placed == 0)
      waiting.push_back(job);
  }
  const auto goes_before = [&](JobId a, JobId b) {
    return PendingQueue::Entry{false, order.waiting(before.job(a)), before.job(a).backlog_seq, a} <
           PendingQueue::Entry{false, order.waiting(before.job(b)), before.job(b).backlog_seq, b};
  };
  // A like job that is expected to end sooner may pass: that is backfill.
  const auto are_alike = [&](JobId a, JobId b) {
    return class_of(before, a) == class_of(before, b) && before.job(a).remaining == before.job(b).remaining &&
           before.job(a).estimate == before.job(b).estimate;
  };
  for (const JobId late : waiting) {
    if (started.count(late) == 0) continue;
    for (const JobId early : waiting)
      if (after.job(early).members_placed == 0 && goes_before(early, late) && are_alike(early, late))
        return named("was passed by its like: job", early.row());
  }
  return "";
}

bool are_waiting_members_alike(const State& state, JobId job) {
  const Member* first = nullptr;
  bool is_so = true;
  state.each_member(job, [&](MemberId, const Member& m) {
    if (m.is_placed()) return;
    if (first == nullptr) first = &m;
    is_so = is_so && m.demand == first->demand && m.constraint == first->constraint && m.group == first->group;
  });
  return is_so;
}

/// Takes away the other schedulers' nominations that do not hold against the job; are there any?
bool lifts_outranked(const State& state, Trial& trial, JobId job) {
  const std::vector<MemberId> nominations(state.nominations().begin(), state.nominations().end());
  for (const MemberId m : nominations)
    if (state.member(m).is_placed() && state.job(state.member(m).job).priority < state.job(job).priority)
      trial.evict(m);
  return !trial.steps().empty();
}

}  // namespace

std::string why_not(const State& state, MemberId member, NodeId node) {
  if (!state.cluster().is_live(node)) return "no such node";
  const NodeUse use = use_of(state, node, {state.member(member).job, state.now()});
  if (std::string fault = node_fault(state, member, node, use); !fault.empty()) return fault;
  // what its rules about other pods close is counted by pairs in state_properties_test
  if (!state.cluster().allowed(state.member(member).constraint, kNodeRules).test(node.row()))
    return "a rule about other pods closes it";
  const DeviceRequest& ask = state.demand(state.member(member).demand).devices;
  if (ask.count == 0) return "";
  if (ask.is_whole()) {
    const auto may = [&](std::size_t i) { return may_have(state, member, node, i); };
    std::int32_t idle = 0;
    for (std::size_t i = 0; i < use.device_milli.size(); ++i) {
      bool is_first = may(i);  // of its kind
      for (std::size_t c = 0; c < i; ++c) is_first = is_first && !are_alike(state, node, c, i);
      const auto alike = [&](std::size_t c) { return are_alike(state, node, c, i); };
      idle += is_first ? std::max(idle_devices(use, alike), 0) : 0;
    }
    return idle >= ask.count ? "" : "not enough idle cards";
  }
  for (std::size_t i = 0; i < use.device_milli.size(); ++i) {
    DeviceMask one;
    one.set(static_cast<int>(i));
    if (device_fault(state, use, member, node, one).empty()) return "";
  }
  return "no card has room for the share";
}

std::string broken_rule(const State& before, const State& after, const Plan& plan, const OrderPolicy& order) {
  State replay = before;
  std::set<JobId> started, over, begun, none;
  for (const Hold& hold : before.holds())
    (hold.until <= plan.at ? over : hold.from > Millis(0) && hold.from <= plan.at ? begun : none).insert(hold.job);
  for (const JobId job : over) Ledger(replay).end_hold(job, plan.at);
  for (const JobId job : begun) Ledger(replay).begin_hold(job);
  for (const Action& action : plan.actions) {
    const auto* bind = std::get_if<Bind>(&action);
    if (bind == nullptr) return "an action that this profile must not take";
    if (!replay.is_live(bind->member) || replay.member(bind->member).job != bind->job)
      return named("a bind of a member that is not there", bind->member.row());
    if (replay.member(bind->member).is_placed()) return named("a bind of a member that is placed", bind->member.row());
    if (!replay.job(bind->job).is_ours) return named("a bind of another scheduler's job", bind->job.row());
    if (!replay.cluster().is_live(bind->node)) return named("a bind to a node that is not there", bind->node.row());
    const NodeUse use = use_of(replay, bind->node, {bind->job, plan.at});
    std::string fault = node_fault(replay, bind->member, bind->node, use);
    if (fault.empty()) fault = device_fault(replay, use, bind->member, bind->node, bind->devices);
    if (!fault.empty())
      return named("member", bind->member.row()) + named(" on node", bind->node.row()) + " takes " + fault;
    const Job& j = replay.job(bind->job);
    if (!j.is_started) Ledger(replay).expect_end(bind->job, j.late_end_if_started(plan.at));
    Ledger(replay).place(bind->member, bind->node, bind->devices, Member::Phase::kAssumed);
    started.insert(bind->job);
  }
  if (replay.digest() != after.digest()) return "the state after the plan is not the state before it and its binds";
  for (const JobId job : started)
    if (std::string fault = broken_gang(before, after, job); !fault.empty()) return fault;
  if (std::string fault = broken_quota(before, after); !fault.empty()) return fault;
  return broken_order(before, after, started, order);
}

std::string missed_wake_up(State& state, Engine& engine) {
  for (std::size_t row = 0; row < state.job_rows(); ++row) {
    const JobId job(row);
    if (!state.is_live(job) || !state.job(job).is_in_backlog) continue;
    if (!engine.pending().contains(job)) return named("not in the pending queue though it waits: job", row);
    if (engine.pending().class_at(engine.pending().class_id(job)).is_active) continue;
    // For gangs of unlike members the search does not go back on its choices, so less free capacity may by luck be
    // enough for them.
    if (are_waiting_members_alike(state, job)) {
      Trial trial(state);
      if (engine.try_place(trial, job)) return named("could be placed but is asleep: job", row);
      trial.rollback_to(0);
      const bool is_head = engine.pending().class_at(engine.pending().class_id(job)).jobs.begin()->job == job;
      if (is_head && lifts_outranked(state, trial, job) && engine.try_place(trial, job))
        return named("could be placed where nominations that it outranks stand, but is asleep: job", row);
    }
    const Job& j = state.job(job);
    if (j.members_lacking() > 1 || (!j.within.is_none() && j.members_placed > 0)) continue;
    std::string found;
    state.each_waiting(job, [&](MemberId member, const Member& m) {  // for their turn
      const LevelId of_group = j.spec.is_none() ? LevelId::none() : state.gang_spec(j.spec).groups[m.group].within;
      if (!of_group.is_none() && state.groups_of(job)[m.group].placed > 0) return false;
      for (std::size_t n = 0; n < state.cluster().rows(); ++n) {
        if (!j.within.is_none() && (!state.cluster().is_live(NodeId(n)) ||
                                    state.cluster().topology().domain_of(j.within, NodeId(n)).is_none()))
          continue;
        if (!of_group.is_none() && (!state.cluster().is_live(NodeId(n)) ||
                                    state.cluster().topology().domain_of(of_group, NodeId(n)).is_none()))
          continue;
        if (why_not(state, member, NodeId(n)).empty())
          found = named("has room on node", n) + named(" but is asleep: job", row);
      }
      return false;
    });
    if (!found.empty()) return found;
  }
  return "";
}

namespace {

/// By looking at every node. `preferences`: see NodeView.
NodeId naive_best(const State& state, const Profile& profile, DemandId demand, ConstraintId constraint,
                  std::span<const Points> preferences) {
  NodeRating rating(profile, demand, constraint);
  rating.set_preferences(preferences);
  const Topology& topology = state.cluster().topology();
  std::vector<Points> points(topology.group_count(), 0);
  rating.add_domain_points(state, points);
  NodeId best;
  std::uint64_t best_key = 0;
  for (std::size_t n = 0; n < state.cluster().rows(); ++n) {
    const GroupId group = topology.group_of(NodeId(n));
    const std::uint64_t key = group.is_none() ? 0 : rating.rate(state, NodeId(n), 0);
    EXPECT_LE(key, rating.best_possible()) << "points beyond what a policy may add";
    if (key == 0 || (key | rating.domain_bits(points[group.row()])) <= best_key) continue;
    best = NodeId(n);
    best_key = key | rating.domain_bits(points[group.row()]);
  }
  return best;
}

/// Of one kind of member.
std::string stale_view_of(State& state, Engine& engine, DemandId demand, ConstraintId constraint) {
  FitTable& kept = engine.fit_tables().counted(state, demand, constraint, 0);
  FitTable fresh(engine.profile(), demand, constraint);
  fresh.open(state, 0);
  fresh.count(state);
  if (!std::equal(kept.fits().begin(), kept.fits().end(), fresh.fits().begin(), fresh.fits().end()))
    return named("stale fits of demand", demand.row());
  if (kept.room_everywhere() != fresh.room_everywhere()) return named("stale sum of demand", demand.row());
  const NodeId best = naive_best(state, engine.profile(), demand, constraint, fresh.preferences());
  if (fresh.best(state) != best) return named("another best node of demand", demand.row());
  if (kept.best(state) != best) return named("stale best node of demand", demand.row());
  for (std::uint32_t l = 0; l < state.cluster().topology().level_count(); ++l) {
    const auto a = kept.room(state, LevelId(l)), b = fresh.room(state, LevelId(l));
    if (!std::equal(a.begin(), a.end(), b.begin(), b.end())) return named("stale room of level", l);
  }
  return "";
}

}  // namespace

std::string stale_view(State& state, Engine& engine) {
  const std::size_t constraints = state.cluster().constraint_rows();
  for (std::size_t d = 0; d < Outside::kDemands; ++d)
    for (const std::size_t constraint : {d % Outside::kConstraints, d % constraints, (d + 6) % constraints})
      if (std::string stale = stale_view_of(state, engine, DemandId(d), ConstraintId(constraint)); !stale.empty())
        return stale + named(" under constraint", constraint);
  return "";
}

}  // namespace ashlar
