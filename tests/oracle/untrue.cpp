// What is said of a waiting job, counted again: node by node, under the first fact that refuses it or everything that
// is short; and the jobs that wait ahead of it. A code without a judge is counted.
#include <algorithm>
#include <optional>

#include "mirror.h"

namespace ashlar::oracle {
namespace {

constexpr std::int64_t kAmpleMib = std::int64_t{1} << 40;

struct Kind {
  int demand = 0, constraint = 0, members = 0;
};

std::vector<Kind> kinds_of(const PlainJob& job, const std::vector<int>& ranks) {
  std::vector<Kind> kinds;
  for (const int rank : ranks) {
    const PlainMember& m = job.members[static_cast<std::size_t>(rank)];
    auto it = std::find_if(kinds.begin(), kinds.end(),
                           [&](const Kind& k) { return k.demand == m.demand && k.constraint == m.constraint; });
    if (it == kinds.end()) it = kinds.insert(kinds.end(), {m.demand, m.constraint, 0});
    ++it->members;
  }
  return kinds;
}

/// The groups of alike members that the job may need next: a job that may choose is judged by some of them.
std::vector<Kind> kinds_needed(const PlainJob& job) {
  std::vector<Kind> all = kinds_of(job, job.waiting(static_cast<int>(job.members.size())));
  return all.size() > 1 ? all : kinds_of(job, job.waiting(job.needed()));
}

PlainAsk ask_of(const PlainWorld& world, const Kind& kind) {
  return {world.demands[static_cast<std::size_t>(kind.demand)],
          world.constraints[static_cast<std::size_t>(kind.constraint)]};
}

/// How often the node takes such a member, by putting one after the other there.
int fits_on(const PlainWorld& world, const Kind& kind, int node) {
  PlainWorld tried = world;
  tried.queues = {{}};
  tried.jobs.push_back({});
  int fits = 0;
  for (;; ++fits) {
    tried.jobs.back().members.push_back({kind.demand, kind.constraint, kNowhere, {}});
    PlainBind bind{static_cast<int>(tried.jobs.size()) - 1, fits, node, {}};
    if (fits == 200 || !has_devices_for(tried, node, ask_of(tried, kind)) || !find_devices(tried, bind, 0, false))
      return fits;
    tried.jobs.back().members.back() = {kind.demand, kind.constraint, node, bind.devices};
  }
}

struct Shortage {
  std::int64_t nodes = 0, best = 0;
};

/// Nodes of which `refuses` says so, and the most that `free_of` finds on one of them.
template <class Refuses, class FreeOf>
Shortage count(const PlainWorld& world, const Kind& kind, Refuses&& refuses, FreeOf&& free_of) {
  Shortage shortage;
  for (std::size_t n = 0; n < world.nodes.size(); ++n) {
    const int node = static_cast<int>(n);
    if (!world.nodes[n].is_there || fits_on(world, kind, node) > 0 || !refuses(node)) continue;
    ++shortage.nodes;
    shortage.best = std::max(shortage.best, static_cast<std::int64_t>(free_of(node)));
  }
  return shortage;
}

bool would_take_when_empty(PlainWorld world, const Kind& kind, int node) {
  world.jobs.clear();
  PlainNode& of = world.nodes[static_cast<std::size_t>(node)];
  of.is_ready = true;
  of.taint = kNowhere;
  return fits_on(world, kind, node) > 0;
}

/// The fact under which a node counts; kNone where what is short there counts. One that the member does not name is
/// refused for that, except that one without devices lacks these and not their model. Of the others, a taint and the
/// condition count only if nothing else is in the way: one that would be too small even when empty is short.
ReasonCode counted_as(const PlainWorld& world, const Kind& kind, int node) {
  const PlainConstraint& constraint = world.constraints[static_cast<std::size_t>(kind.constraint)];
  PlainNode open = world.nodes[static_cast<std::size_t>(node)];
  const ReasonCode shut = lasting_refusal(open, constraint);
  open.is_ready = true;
  open.taint = kNowhere;
  const ReasonCode unnamed = lasting_refusal(open, constraint);
  if (unnamed == ReasonCode::kModelMismatch && open.devices == 0 &&
      world.demands[static_cast<std::size_t>(kind.demand)].devices > 0)
    return ReasonCode::kInsufficientGpu;
  if (unnamed != ReasonCode::kNone) return unnamed;
  return shut == ReasonCode::kNone || would_take_when_empty(world, kind, node) ? shut : ReasonCode::kNone;
}

PlainResource plain_resource(std::uint32_t subject) {
  constexpr std::array<PlainResource, 5> kBySubject{kCores, kGigabytes, kPlainResources, kPodSlots, kAdapters};
  return subject < kBySubject.size() ? kBySubject[subject] : kPlainResources;
}

std::int64_t unit_of(PlainResource resource) {
  return resource == kCores ? 1000 : resource == kGigabytes ? std::int64_t{1} << 30 : 1;
}

/// Numbers of the reason as they should be for this kind of member; nothing where it is not a matter of nodes.
std::optional<bool> holds_for(const PlainWorld& world, const Kind& kind, const Reason& reason) {
  const PlainDemand& demand = world.demands[static_cast<std::size_t>(kind.demand)];
  const auto is_open = [&](int node) { return counted_as(world, kind, node) == ReasonCode::kNone; };
  switch (reason.code) {
    case ReasonCode::kNotReady:
    case ReasonCode::kTaintNotTolerated:
    case ReasonCode::kSelectorMismatch:
    case ReasonCode::kModelMismatch:
    case ReasonCode::kCapabilityMissing:
      return count(
                 world, kind, [&](int n) { return counted_as(world, kind, n) == reason.code; }, [](int) { return 0; })
                 .nodes == reason.numbers[0];
    case ReasonCode::kPortTaken:
      return count(
                 world, kind, [&](int n) { return is_open(n) && is_port_taken(world, n, demand); },
                 [](int) { return 0; })
                 .nodes == reason.numbers[0];
    case ReasonCode::kInsufficientResource: {
      const PlainResource r = plain_resource(reason.subject);
      if (r == kPlainResources) return false;
      const auto left = [&](int n) { return amount_left(world, n, r); };
      const Shortage found = count(
          world, kind, [&](int n) { return is_open(n) && left(n) < demand.asks[r]; }, left);
      return found.nodes == reason.numbers[0] && found.best * unit_of(r) == reason.numbers[1] &&
             demand.asks[r] * unit_of(r) == reason.numbers[2];
    }
    case ReasonCode::kInsufficientGpu:
    case ReasonCode::kInsufficientGpuMemory: {
      const bool is_memory = reason.code == ReasonCode::kInsufficientGpuMemory;
      const PlainAsk ask = ask_of(world, kind);
      PlainAsk less = ask;
      less.demand.mib = 0;
      PlainWorld without = world;  // without a word of device memory
      for (PlainNode& node : without.nodes) {
        node.device_mib = 0;
        for (PlainDevice& device : node.each) device.mib += device.mib == 0 ? 0 : kAmpleMib;  // kinds stay apart
      }
      const auto lacks = [&](int n) {
        if (counted_as(world, kind, n) == reason.code) return true;
        if (!is_open(n) || has_devices_for(world, n, ask)) return false;
        return is_memory == has_devices_for(without, n, less);
      };
      const auto best = [&](int n) {
        return is_memory ? most_device_memory(world, n, ask) : milli_left_for(world, n, ask);
      };
      const Shortage found = count(world, kind, lacks, best);
      // A share that names no memory needs some all the same.
      const std::int64_t needed =
          is_memory ? std::max<std::int64_t>(demand.mib, 1) : static_cast<std::int64_t>(demand.devices) * demand.milli;
      return found.nodes == reason.numbers[0] && found.best == reason.numbers[1] && needed == reason.numbers[2];
    }
    default:
      return std::nullopt;
  }
}

std::int64_t room_in(const PlainWorld& world, const Kind& kind, int level, int domain) {
  std::int64_t room = 0;
  for (std::size_t n = 0; n < world.nodes.size(); ++n)
    if (world.nodes[n].is_there &&
        (level == kNowhere || world.nodes[n].domain[static_cast<std::size_t>(level)] == domain))
      room += fits_on(world, kind, static_cast<int>(n));
  return room;
}

/// Is there a head of its queue that waits ahead of the job, can run some time and not now? Of a cluster without nodes
/// nothing is said for good, nor of a job that waits for quota: that is asked first.
bool is_behind_head(const PlainWorld& world, PlainOrder order, int job) {
  const bool has_nodes =
      std::any_of(world.nodes.begin(), world.nodes.end(), [](const PlainNode& n) { return n.is_there; });
  for (std::size_t j = 0; j < world.jobs.size(); ++j) {
    const int head = static_cast<int>(j);
    if (world.jobs[j].queue != world.jobs[static_cast<std::size_t>(job)].queue || !waits_ahead(world, order, head, job))
      continue;
    if (has_nodes && !is_over_quota(world, head, kNowhere, false) && could_ever_run(world, head) == Answer::kNo)
      continue;
    if (can_be_placed(world, head) != Answer::kYes) return true;
  }
  return false;
}

/// Is a job that waits ahead of it promised that time, or overdue, and would the job run on beyond it?
bool is_held_for(const PlainWorld& world, const Judging& judging, int job, std::int64_t now, std::int64_t told) {
  const std::int64_t lasts = world.jobs[static_cast<std::size_t>(job)].lasts_ms;
  return told > now && std::any_of(judging.reservations.begin(), judging.reservations.end(),
                                   [&](const PlainReservation& reservation) {
                                     const bool is_its_time =
                                         reservation.at_ms > now ? reservation.at_ms == told : true;
                                     return is_its_time && waits_ahead(world, judging.order, reservation.job, job) &&
                                            (lasts == INT64_MAX || now + lasts > reservation.at_ms);
                                   });
}

/// Reasons of the whole job; nothing where there is no judge. For members of several kinds there is more than one way
/// to count, so only what is plainly impossible is refused.
std::optional<std::string> untrue_of_job(const PlainWorld& world, int job, const std::vector<Kind>& kinds,
                                         const Reason& reason) {
  const PlainJob& of = world.jobs[static_cast<std::size_t>(job)];
  const bool is_uniform = kinds.size() == 1 && of.groups.empty();
  switch (reason.code) {
    case ReasonCode::kNoNodes:
      return std::none_of(world.nodes.begin(), world.nodes.end(), [](const PlainNode& n) { return n.is_there; })
                 ? ""
                 : "there are nodes";
    case ReasonCode::kGangPartial:
      if (reason.numbers[1] != of.needed()) return "needs another number of members";
      if (is_uniform && reason.numbers[0] != room_in(world, kinds[0], kNowhere, kNowhere))
        return "another number of members fits";
      return "";
    case ReasonCode::kGroupFragmented: {
      const auto group = static_cast<std::size_t>(reason.numbers[0] - 1);
      return group < of.groups.size() && of.groups[group].within == static_cast<int>(reason.subject)
                 ? ""
                 : "it has no such group";
    }
    case ReasonCode::kTopologyFragmented: {
      if (!of.groups.empty()) return reason.numbers[0] < reason.numbers[1] ? "" : "all members of a group fit";
      if (reason.numbers[1] != of.needed()) return "needs another number of members in its domain";
      if (!is_uniform) return "";
      const std::int64_t room = room_in(world, kinds[0], of.within, static_cast<int>(reason.numbers[2]));
      if (room != reason.numbers[0]) return "another number of members fits into the domain";
      return room >= of.needed() ? "all its members fit into the domain" : "";
    }
    case ReasonCode::kExceedsCluster:
      return could_ever_run(world, job) == Answer::kYes ? "it fits the empty cluster" : "";
    case ReasonCode::kQuotaExhausted:
    case ReasonCode::kExceedsQuota:
      return is_over_quota(world, job, static_cast<int>(reason.subject), reason.code == ReasonCode::kExceedsQuota)
                 ? ""
                 : "its quota suffices";
    case ReasonCode::kNoSuchDomain:
      return std::any_of(world.nodes.begin(), world.nodes.end(),
                         [&](const PlainNode& n) {
                           return n.is_there && n.domain[static_cast<std::size_t>(reason.subject)] != kNowhere;
                         })
                 ? "a node carries the level's label"
                 : "";
    case ReasonCode::kMembersMissing:
      return reason.numbers[0] == static_cast<std::int64_t>(of.members.size()) && reason.numbers[1] == of.min &&
                     reason.numbers[0] < reason.numbers[1]
                 ? ""
                 : "it has another number of members";
    default:
      return std::nullopt;
  }
}

/// Reasons that are about others.
std::optional<std::string> untrue_of_turn(const PlainWorld& world, int job, const Verdict& verdict,
                                          const Reason& reason, const Judging& judging) {
  switch (reason.code) {
    case ReasonCode::kBehindHead:
      return is_behind_head(world, judging.order, job) ? "" : "no head of its queue waits ahead of it";
    case ReasonCode::kReservationHeld:
      return is_held_for(world, judging, job, verdict.at.value, reason.numbers[0])
                 ? ""
                 : "nobody ahead of it is promised that time";
    default:
      return std::nullopt;
  }
}

constexpr std::string_view kCounted = "counted otherwise";

std::string text_of(const Reason& reason) {
  return std::string(reason_name(reason.code)) + " " + std::to_string(reason.numbers[0]) + " " +
         std::to_string(reason.numbers[1]) + " " + std::to_string(reason.numbers[2]);
}

}  // namespace

std::string untrue(const PlainWorld& world, int job, const Verdict& verdict, const Judging& judging, Heard* heard) {
  if (verdict.kind == VerdictKind::kPlaced || verdict.kind == VerdictKind::kPending) return "";
  const std::vector<Kind> kinds = kinds_needed(world.jobs[static_cast<std::size_t>(job)]);
  if (kinds.empty()) return "all its members are placed";
  if (verdict.reasons.empty()) return "no reason is given";
  std::string fault;
  for (const Reason& reason : verdict.reasons) {
    std::optional<std::string> found = untrue_of_job(world, job, kinds, reason);
    if (!found) found = untrue_of_turn(world, job, verdict, reason, judging);
    for (const Kind& kind : kinds) {
      const std::optional<bool> holds = holds_for(world, kind, reason);
      if (holds) found = *holds ? "" : kCounted;
      if (!holds || *holds) break;
    }
    if (heard != nullptr) ++(found ? heard->judged[reason.code] : heard->passed[reason.code]);
    if (fault.empty() && found && !found->empty())
      fault = text_of(reason) + (*found == kCounted ? "" : ", but " + *found);
    if (heard == nullptr && !fault.empty()) break;
  }
  return fault;
}

}  // namespace ashlar::oracle
