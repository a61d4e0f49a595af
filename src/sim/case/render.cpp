#include "sim/case/render.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/amount_text.h"
#include "text/device_text.h"
#include "text/duration_text.h"

namespace ashlar::sim {
namespace {

/// What a quota counts, as in "queue NAME quota gpu=8 gpu:h100=4".
std::string counted_name(const CaseFile& file, std::int64_t number) {
  const QuotaKey key = quota_key(number);
  std::string name = key.resource.is_none() ? "gpu" : file.names.resources.name(key.resource);
  return key.device_class.is_none() ? name : name + ":" + file.names.models.name(key.device_class);
}

std::string held_devices(const State& state, const Member& m) {
  const DeviceRequest& request = state.demand(m.demand).devices;
  if (request.count == 0) return {};
  if (!m.grants.is_none()) return grants_text(state.grants_of(m));
  if (!request.is_whole())
    return fmt::format("{}:{}m", m.devices.is_empty() ? "?" : device_ranges(m.devices), request.milli_each.value);
  const int unknown = request.count - m.devices.count();
  return device_ranges(m.devices) + (unknown > 0 ? fmt::format("{}{}?", m.devices.is_empty() ? "" : "+", unknown) : "");
}

/// Members in rank order, neighbours on one node together: "node0 gpu 0-3 4-7, node1 gpu 0-3, - x2". `where(id, m)` is
/// the member where it is.
template <class Where>
std::string placements(const CaseFile& file, const State& state, JobId job, Where&& where) {
  std::vector<std::string> parts;
  NodeId last;
  bool has_devices = false;  ///< the last part names devices of that node, more may follow
  std::uint32_t waiting = 0;
  const auto flush_waiting = [&] {
    if (waiting > 0) parts.push_back(waiting == 1 ? std::string("-") : fmt::format("- x{}", waiting));
    waiting = 0;
  };
  state.each_member(job, [&](MemberId id, const Member& as_decided) {
    const Member m = where(id, as_decided);
    if (!m.is_placed()) {
      ++waiting;
      has_devices = false;
      return;
    }
    flush_waiting();
    const std::string devices = held_devices(state, m);
    if (has_devices && m.node == last && !devices.empty())
      parts.back() += " " + devices;
    else
      parts.push_back(file.names.nodes.name(m.node) + (devices.empty() ? "" : " gpu " + devices));
    last = m.node;
    has_devices = !devices.empty();
  });
  flush_waiting();
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string placements(const CaseFile& file, const State& state, JobId job) {
  return placements(file, state, job, [](MemberId, const Member& m) { return m; });
}

/// "  stopped for b  LowerPriority".
std::string stop_text(const CaseFile& file, const CaseStop& stop) {
  if (stop.reason == StopReason::kNone || stop.for_job.is_none() || stop.is_shrunk) return {};
  return fmt::format("  stopped for {}  {}", file.names.jobs.name(stop.for_job), stop_reason_name(stop.reason));
}

std::int64_t idle_devices_in(const State& state, LevelId level, DomainId domain) {
  std::int64_t idle = 0;
  const Topology& topology = state.cluster().topology();
  if (level.row() >= topology.level_count() || domain.row() >= topology.domain_count(level)) return 0;
  for (const NodeId n : topology.nodes_of(level, domain))
    if (state.cluster().facts(n).is_ready) idle += std::max(state.cluster().idle_devices()[n.row()], 0);
  return idle;
}

/// Devices of the members that must still be placed together.
std::int64_t devices_needed(const State& state, JobId job) {
  std::int64_t devices = 0;
  state.each_needed(job, [&](MemberId, const Member& m) { devices += state.demand(m.demand).devices.count; });
  return devices;
}

/// The best domain by devices if devices are short, else by the members that fit. Devices are counted now, perhaps
/// later than the verdict was reached: if the job never fits, in the domain that is best now.
std::string within_text(const CaseFile& file, const State& state, JobId job, VerdictKind kind, const Reason& reason) {
  const LevelId level(reason.subject);
  const std::string& name = file.names.levels.name(level);
  const std::string_view word = name == "nvlink" ? std::string_view("island") : std::string_view(name);
  std::int64_t free = idle_devices_in(state, level, DomainId(static_cast<std::size_t>(reason.numbers[2])));
  if (kind == VerdictKind::kNeverFits)
    for (std::size_t d = 0; d < state.cluster().topology().domain_count(level); ++d)
      free = std::max(free, idle_devices_in(state, level, DomainId(d)));
  const std::int64_t needed = devices_needed(state, job);
  if (free < needed) return fmt::format("Within {}  best-{}-free={} needs={}", name, word, free, needed);
  return fmt::format("Within {}  best-{}-members={} needs-members={}", name, word, reason.numbers[0],
                     reason.numbers[1]);
}

std::string owner_text(const CaseFile& file, const HoldOwner& owner) {
  return owner.job.is_none() ? file.names.queues.name(owner.queue) : file.names.jobs.name(owner.job);
}

std::string number_text(const CaseFile& file, const Reason& r, std::size_t index) {
  const std::int64_t number = r.numbers[index];
  switch (row_of(r.code).numbers[index].unit) {
    case ReasonUnit::kAmount:
      return amount_word(ResourceId(r.subject), number);
    case ReasonUnit::kMilliGpu:
      return milli_word(number);
    case ReasonUnit::kMiB:
      return std::to_string(number) + "MiB";
    case ReasonUnit::kQuota:
      return quota_word(r.numbers[0], number);
    case ReasonUnit::kInstant:
      return Millis(number) == Millis::max() ? "?" : seconds_text(Millis(number));
    case ReasonUnit::kOwner:
      return owner_text(file, owner_of_number(number));
    default:
      return std::to_string(number);
  }
}

std::string subject_text(const CaseFile& file, const Reason& r) {
  const ReasonSubject subject = row_of(r.code).subject;
  if (subject == ReasonSubject::kResource) return " " + file.names.resources.name(ResourceId(r.subject));
  if (subject == ReasonSubject::kLevel) return " " + file.names.levels.name(LevelId(r.subject));
  if (subject == ReasonSubject::kCapability) return " " + file.names.models.capability_name(CapabilityId(r.subject));
  if (subject == ReasonSubject::kQueue) return " " + file.names.queues.name(QueueId(r.subject));
  if (subject == ReasonSubject::kHold) return " " + file.names.jobs.name(JobId(r.subject));
  return {};
}

/// "Name subject  best-free=1 needs=2 nodes=3": the numbers by their names, nodes last.
/// The best domain for one group: the reason before this one names it.
std::string group_domain_text(const CaseFile& file, const Reason& r) {
  const std::string& name = file.names.levels.name(LevelId(r.subject));
  return fmt::format("Within {}  best-{}-members={} needs-members={}", name, name, r.numbers[0], r.numbers[1]);
}

std::string reason_text(const CaseFile& file, const State& state, JobId job, VerdictKind kind, const Reason& r) {
  if (r.code == ReasonCode::kTopologyFragmented) return within_text(file, state, job, kind, r);
  const ReasonRow& row = row_of(r.code);
  std::string numbers, nodes;
  for (std::size_t i = 0; i < row.numbers.size(); ++i) {
    std::string name(row.numbers[i].name);
    if (name.empty() || (row.numbers[i].unit == ReasonUnit::kOwner && r.numbers[i] == 0)) continue;
    if (name.front() == '%') name = counted_name(file, r.numbers[0]) + name.substr(1);
    (row.numbers[i].unit == ReasonUnit::kNodes ? nodes : numbers) +=
        fmt::format(" {}={}", name, number_text(file, r, i));
  }
  return std::string(row.name) + subject_text(file, r) + (numbers.empty() && nodes.empty() ? "" : " ") + numbers +
         nodes;
}

std::string_view verdict_words(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kWaits:
      return "waits";
    case VerdictKind::kNeverFits:
      return "never fits";
    case VerdictKind::kOverQuota:
      return "over quota";
    default:
      return "pending";
  }
}

std::string verdict_text(const CaseFile& file, const State& state, JobId job, const Verdict& verdict,
                         const CaseStop& stop) {
  const Job& j = state.job(job);
  if (!state.has_minimum_present(job) &&
      (verdict.kind == VerdictKind::kPending || verdict.kind == VerdictKind::kPlaced))
    return fmt::format("pending  {} of {} members", j.members_present, j.members_min);
  if (verdict.kind == VerdictKind::kPending || verdict.kind == VerdictKind::kPlaced)
    return "pending" + stop_text(file, stop);
  std::string text = std::string(verdict_words(verdict.kind)) + stop_text(file, stop);
  // A cluster that is too small as a whole is reported together with what is short.
  // So is what the best domain for a group has.
  std::size_t shown = file.shows.reasons ? verdict.reasons.size() : std::min<std::size_t>(verdict.reasons.size(), 1);
  ReasonCode last = ReasonCode::kNone;
  for (std::size_t i = 0; i < shown; ++i) {
    const Reason& reason = verdict.reasons[i];
    text += "  " + (last == ReasonCode::kGroupFragmented ? group_domain_text(file, reason)
                                                         : reason_text(file, state, job, verdict.kind, reason));
    last = reason.code;
    const bool has_more = last == ReasonCode::kExceedsCluster || last == ReasonCode::kGroupFragmented;
    if (has_more) shown = std::max(shown, std::min(i + 2, verdict.reasons.size()));
  }
  return fmt::format("{}  wake-on={}", text, wake_name(verdict));
}

}  // namespace

CaseLine render_job(const CaseFile& file, const State& state, JobId job, const Verdict& verdict, const CaseStop& stop) {
  CaseLine line{file.names.jobs.name(job), {}};
  if (!state.is_live(job)) return line;
  const Job& j = state.job(job);
  if (j.is_hold) {
    line.rest = "held " + placements(file, state, job);
    if (const HoldOwner& owner = state.hold_of(job)->owner; !owner.is_nobody())
      line.rest += "  for=" + owner_text(file, owner);
    if (state.hold_of(job)->is_later()) line.rest += "  from=" + seconds_text(state.hold_of(job)->from);
    if (j.end_at != Millis::max()) line.rest += "  until=" + seconds_text(j.end_at);
    return line;
  }
  if (j.members_placed > 0) line.rest = placements(file, state, job);
  if (j.members_placed == j.members_present && state.has_minimum_present(job) && j.members_placed > 0) return line;
  const bool is_shrunk = stop.is_shrunk && j.members_placed > 0 && j.waits_for_surplus();
  line.rest += (line.rest.empty() ? "" : "  ") + (is_shrunk ? "shrunk for " + file.names.jobs.name(stop.for_job)
                                                            : verdict_text(file, state, job, verdict, stop));
  return line;
}

CaseLine render_leaving(const CaseFile& file, const State& state, const World& world, JobId job, const CaseStop& stop) {
  const auto where = [&](MemberId id, Member m) {
    const World::Leaving leaving = world.leaving(job, id);
    if (leaving.node.is_none()) return m;
    m.node = leaving.node;
    m.devices = leaving.devices;
    m.phase = Member::Phase::kBound;
    return m;
  };
  const std::string winner = stop.for_job.is_none() ? "" : "  for " + file.names.jobs.name(stop.for_job);
  std::string rest =
      placements(file, state, job, where) + "  leaving" + winner + "  " + std::string(stop_reason_name(stop.reason));
  if (stop.reason == StopReason::kQueueStopped) {
    const QueueId own = state.job(job).queue, stopped = state.queues().stopped_above(own);
    rest += " " + file.names.queues.name(stopped.is_none() ? own : stopped);
  }
  const bool is_by_a_queue = stop.reason == StopReason::kReclaimed || stop.reason == StopReason::kWhileBorrowing ||
                             stop.reason == StopReason::kFairShare;
  if (is_by_a_queue && state.is_live(stop.for_job)) rest += " " + file.names.queues.name(state.job(stop.for_job).queue);
  return {file.names.jobs.name(job), std::move(rest)};
}

/// "guarantee=8", of GPUs, or "cpu-guarantee=64"; "guarantee=4/8" once it was lowered.
std::string guarantee_text(const CaseFile& file, const QueueShares::Column& column, QueueId queue) {
  const std::int64_t number = quota_number(column.of);
  const std::int64_t in_force = QueueShares::guarantee(column, queue), stated = QueueShares::stated(column, queue);
  const std::string text =
      fmt::format("{}guarantee={}", number == 0 ? "" : counted_name(file, number) + "-", quota_word(number, in_force));
  return in_force == stated ? text : text + "/" + quota_word(number, stated);
}

CaseLine render_queue(const CaseFile& file, const State& state, QueueId queue) {
  std::vector<std::string> parts;
  const QueueTree& queues = state.queues();
  const auto add = [&](std::int64_t number, std::int64_t used, std::int64_t limit) {
    if (used != 0 || limit != kUnlimited)
      parts.push_back(
          fmt::format("{}={}/{}", counted_name(file, number), quota_word(number, used), quota_word(number, limit)));
  };
  for (std::size_t d = 0; d < kQuotaDimensions; ++d)
    add(static_cast<std::int64_t>(d), queues.used(queue)[d], queues.stated_quota(queue)[d]);
  for (std::size_t k = 0; k < queues.keys().size(); ++k)
    add(quota_number(queues.keys()[k]), queues.used(k, queue), queues.stated_limit(k, queue));
  for (const QueueShares::Column& column : queues.shares().columns())
    if (QueueShares::stated(column, queue) != QuotaShare::kNotNamed)
      parts.push_back(guarantee_text(file, column, queue));
  return {"queue", fmt::format("{}  {}", file.names.queues.name(queue),
                               parts.empty() ? "unused" : fmt::format("{}", fmt::join(parts, " ")))};
}

CaseLine render_node(const CaseFile& file, const State& state, NodeId node) {
  if (!state.cluster().is_live(node)) return {"node", fmt::format("{}  gone", file.names.nodes.name(node))};
  std::string text = fmt::format("{}  idle={}/{}", file.names.nodes.name(node),
                                 state.cluster().idle_devices()[node.row()], state.cluster().devices()[node.row()]);
  if (const DeviceMask unhealthy = state.cluster().unhealthy_devices(node); !unhealthy.is_empty())
    text += " unhealthy=" + device_ranges(unhealthy);
  for (std::size_t r = 0; r < state.cluster().resource_count(); ++r) {
    const std::int64_t free = state.cluster().free(ResourceId(r))[node.row()],
                       total = state.cluster().allocatable(ResourceId(r))[node.row()];
    if (free != total && ResourceId(r) != resource::kPods)
      text += fmt::format(" {}={}/{}", file.names.resources.name(ResourceId(r)), amount_word(ResourceId(r), free),
                          amount_word(ResourceId(r), total));
  }
  return {"node", text + (state.cluster().facts(node).is_ready ? "" : " not-ready")};
}

std::vector<std::string> join_lines(const std::vector<CaseLine>& lines) {
  std::size_t width = 0;
  for (const CaseLine& line : lines) width = std::max(width, line.name.size());
  std::vector<std::string> out;
  out.reserve(lines.size());
  for (const CaseLine& line : lines) out.push_back(fmt::format("{:<{}}  {}", line.name, width, line.rest));
  return out;
}

}  // namespace ashlar::sim
