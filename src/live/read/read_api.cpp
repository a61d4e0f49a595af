#include "live/read/read_api.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "engine/explain/explain.h"
#include "engine/place/run_placer.h"
#include "kubeclient/json_writer.h"
#include "live/read/facts_text.h"
#include "live/read/held.h"
#include "live/read/node_order.h"
#include "live/read/pod_text.h"
#include "live/read/preference_text.h"
#include "live/read/queue_limits.h"
#include "live/read/remedy_text.h"
#include "live/read/why_parts.h"
#include "live/read/why_subject.h"
#include "live/track/gangs/gang_hold.h"
#include "live/track/gangs/groups.h"
#include "live/track/gangs/membership.h"
#include "live/track/nodes/node_trouble.h"
#include "live/track/pods/awaits_resource.h"
#include "text/amount_text.h"
#include "text/short_list.h"

namespace ashlar::kube {
namespace {

constexpr std::string_view kReadApiVersion = "ashlar.dev/v1alpha1";
constexpr std::size_t kJobsListedMax = 20'000;  ///< with all=1: a few megabytes, and other readers wait meanwhile

JsonWriter document(std::string_view kind) {
  JsonWriter w;
  w.begin_object().member("apiVersion", kReadApiVersion).member("kind", kind);
  return w;
}

http::ServerResponse finish(JsonWriter& w, int status = 200) {
  return http::json(status, w.end_object().take() + "\n");
}

http::ServerResponse failure(int status, std::string_view reason, const std::string& message) {
  JsonWriter w = document("Status");
  w.member("reason", reason).member("message", message);
  return finish(w, status);
}

/// Of a gang of groups, `number` counts from 1; 0: all of them.
bool has_begun(const Tables& tables, const GangRecord& gang, std::int64_t number) {
  const GangRecord* group = number == 0 ? nullptr : told_group(tables, gang, static_cast<std::size_t>(number) - 1);
  return has_bound_member(tables, group == nullptr ? gang : *group);
}

/// What has started keeps its domain, whatever its pods' settings are from now on.
std::vector<Remedy> remedies_for(ReadReplica& replica, JobId job, const GangRecord* gang) {
  const ObjectNames& names = replica.tables().names;
  const std::array<LabelKeyId, 2> of_one_node = {names.label_keys.find(PooledString("kubernetes.io/hostname")),
                                                 names.label_keys.find(names.node_name_key())};
  std::vector<Remedy> found =
      find_remedies(replica.state(), replica.engine(), job,
                    {.counts_devices = names.find_resource(PooledString(kGpuResource)), .node_names = of_one_node});
  if (gang != nullptr && has_bound_member(replica.tables(), *gang))
    std::erase_if(found, [&](const Remedy& r) {
      return r.kind == Remedy::Kind::kDropWithin || r.kind == Remedy::Kind::kWidenWithin ||
             (r.kind == Remedy::Kind::kDropGroupWithin && has_begun(replica.tables(), *gang, r.amount));
    });
  return found;
}

void write_request(JsonWriter& w, const State& state, const PodRecord& pod) {
  if (pod.demand.is_none() || pod.demand.row() >= state.demand_rows()) return;
  const Demand& demand = state.demand(pod.demand);
  w.key("requests").begin_object();
  w.member("gpus", static_cast<std::int64_t>(demand.devices.is_whole() ? demand.devices.count : 0));
  if (!demand.devices.is_whole()) w.member("milliGpu", demand.devices.milli_total());
  w.member("milliCores", amount_of(demand, resource::kCpu))
      .member("memoryBytes", amount_of(demand, resource::kMemory))
      .end_object();
}

/// What the pod holds of each of its devices; nothing if it has none, or its demand is not known here.
DeviceGrants grants_of_pod(ReadReplica& replica, const PodRecord& pod) {
  if (pod.grants) return pod.grants->list;
  const State& state = replica.state();
  if (pod.demand.is_none() || pod.demand.row() >= state.demand_rows()) return {};
  return grants_of(pod.devices, requested_share(state.demand(pod.demand).devices));
}

/// "0,1", and for shares what is held: "3 (500 thousandths, 40960 MiB, slices 0,1)".
std::string held_devices(ReadReplica& replica, const PodRecord& pod) {
  const DeviceGrants grants = grants_of_pod(replica, pod);
  std::string text = devices_text(pod.devices);
  if (grants.size() != 1) return text;
  const DeviceShare& share = grants[0].share;
  if (share.milli.value == kWholeDevice && share.slices == 0) return text;
  text += " (" + std::to_string(share.milli.value) + " thousandths";
  if (share.memory.value > 0) text += ", " + std::to_string(share.memory.value) + " MiB";
  if (share.slices > 0) text += ", slices " + devices_text({share.slices, 0});
  return text + ")";
}

void write_place(JsonWriter& w, ReadReplica& replica, const PodRecord& pod) {
  w.member("node", pod.node_name.view()).member("cards", devices_text(pod.devices));
  w.key("grants").begin_array();
  for (const DeviceGrant& grant : grants_of_pod(replica, pod))
    w.begin_object()
        .member("gpu", std::int64_t{grant.device})
        .member("milliGpu", std::int64_t{grant.share.milli.value})
        .member("memoryMiB", grant.share.memory.value)
        .member("slices", std::int64_t{grant.share.slices})
        .end_object();
  w.end_array();
}

/// "n0", or "12 nodes: n0, n1, n2 and 9 more".
std::string nodes_of(const Tables& tables, const GangRecord& gang) {
  std::set<std::string> nodes;
  for (const PodSlot s : gang.pods) nodes.insert(tables.pods[s].node_name.str());
  if (nodes.size() == 1) return *nodes.begin();
  auto next = nodes.begin();
  return std::to_string(nodes.size()) + " nodes: " + short_list(nodes.size(), [&](std::size_t) { return *next++; });
}

struct Headline {
  std::string state, text;  ///< "Bound", "Waiting", "Never", "Held"
  int exit_status = 0;
};

Headline headline_of(ReadReplica& replica, const WhySubject& subject, const Verdict& verdict) {
  const Tables& tables = replica.tables();
  if (subject.pod == kNoPod) {
    const GangRecord& gang = tables.gangs[subject.gang];
    const Hold hold = gang.kind == GangKind::kGroups ? gang_hold(tables, gang) : Hold{};
    if (hold.reason == HoldReason::kNone) return {"Waiting", "its pods do not exist yet", 4};
    return {hold.reason == HoldReason::kMembersMissing ? "Waiting" : "Held",
            std::string(hold_reason_name(hold.reason)) + ": " + hold.detail, 4};
  }
  const PodRecord& pod = tables.pods[subject.pod];
  switch (pod.phase) {
    case PodRecord::Phase::kBound: {
      if (subject.named != kNoGang) return {"Bound", "runs on " + nodes_of(tables, tables.gangs[subject.named]), 0};
      const std::string gpus = pod.devices.count() == 1 ? ", GPU " : ", GPUs ";
      const std::string devices = pod.devices.is_empty() ? "" : gpus + held_devices(replica, pod);
      return {"Bound", "runs on " + pod.node_name.str() + devices, 0};
    }
    case PodRecord::Phase::kLeaving:
      return {"Leaving", leaving_text(pod), 0};
    case PodRecord::Phase::kOnUnknownNode:
      return {"Bound", "is bound to " + pod.node_name.str() + ", a node that does not exist", 0};
    case PodRecord::Phase::kAssumed:
      return {"Binding",
              "is being bound to " + tables.names.nodes.name(pod.node).str() +
                  (pod.bind_wait.empty() ? "" : "; waits: " + pod.bind_wait.str()),
              0};
    case PodRecord::Phase::kHeld: {
      const bool is_never = (pod.hold == HoldReason::kUnsupported && !awaits_resource(pod)) ||
                            pod.hold == HoldReason::kUnknownField || pod.hold == HoldReason::kMalformed ||
                            pod.hold == HoldReason::kQueueUnknown || pod.hold == HoldReason::kQueueForbidden;
      return {is_never ? "Never" : "Held", std::string(hold_reason_name(pod.hold)) + ": " + hold_text(pod),
              is_never ? 5 : 4};
    }
    case PodRecord::Phase::kNominated:
      return {"Waiting", "pod of another scheduler, nominated to " + tables.names.nodes.name(pod.node).str(), 4};
    default:
      break;
  }
  if (!pod.is_in_engine() && subject.gang != kNoGang) {
    const Hold hold = gang_hold(tables, tables.gangs[subject.gang]);
    if (hold.reason == HoldReason::kNoSuchDomain)
      return {"Never", std::string(hold_reason_name(hold.reason)) + ": " + hold.detail, 5};
    if (hold.reason != HoldReason::kNone)
      return {hold.reason == HoldReason::kMembersMissing ? "Waiting" : "Held",
              std::string(hold_reason_name(hold.reason)) + ": " + hold.detail, 4};
    if (const std::string renewal = renewal_text(tables, tables.gangs[subject.gang]); !renewal.empty())
      return {"Waiting", "PendingEvaluation: " + renewal, 4};
  }
  if (verdict.kind == VerdictKind::kPending || verdict.reasons.empty())
    return {"Waiting", "PendingEvaluation: it has not been evaluated yet", 4};
  const TextContext context = replica.text_context();
  const std::vector<Reason> reported = reported_reasons(context, pod.job, verdict);
  const bool is_never =
      verdict.kind == VerdictKind::kNeverFits && !waits_for_pods_or_volumes(context, pod.job, verdict);
  return {is_never ? "Never" : "Waiting",
          std::string(reason_name(reported[0].code)) + ": " + headline_text(context, pod.job, reported, "now"),
          is_never ? 5 : 4};
}

/// Of a gang of PodGroups: each with its own minimum and domain.
void write_groups(JsonWriter& w, const Tables& tables, const GangRecord& gang) {
  if (gang.kind != GangKind::kGroups) return;
  const auto level = [&](LevelId l) { return l.is_none() ? std::string() : tables.names.levels()[l.row()].name.str(); };
  w.key("groups").begin_array();
  each_group(tables, gang, [&](const GangRecord& group) {
    w.begin_object().member("name", group.name.view()).member("size", std::int64_t{group.size});
    w.member("present", std::int64_t{members_present(tables, group)})
        .member("bound", std::int64_t{bound_members(tables, group)});
    w.member("within", level(group.within)).member("prefer", level(group.prefer)).end_object();
  });
  w.end_array();
}

void write_gang(JsonWriter& w, const Tables& tables, GangSlot slot) {
  const GangRecord& g = tables.gangs[slot];
  std::int64_t bound = 0, held = 0;
  bool is_uniform = true;
  for (const PodSlot s : g.pods) {
    const PodRecord& pod = tables.pods[s];
    bound += pod.phase == PodRecord::Phase::kBound ? 1 : 0;
    held += pod.phase == PodRecord::Phase::kHeld ? 1 : 0;
    is_uniform = is_uniform && pod.demand == tables.pods[g.pods.front()].demand;
  }
  const auto level = [&](LevelId l) { return l.is_none() ? std::string() : tables.names.levels()[l.row()].name.str(); };
  w.key("gang").begin_object().member("name", g.own_name().view()).member("size", std::int64_t{g.size});
  w.member("present", std::int64_t{members_present(tables, g)})
      .member("bound", bound)
      .member("held", held)
      .member_bool("uniform", is_uniform);
  w.member("within", level(g.within)).member("prefer", level(g.prefer));
  write_groups(w, tables, g);
  if (const std::string trouble = priority_trouble(tables, g); !trouble.empty()) w.member("priorityTrouble", trouble);
  w.end_object();
}

/// Whether the pod prefers pods of its own gang, or others to them, and too many are alike for that to count.
bool has_unseen_members(const Tables& tables, const State& state, const PodRecord& pod) {
  if (pod.gang == kNoGang || pod.member.is_none() || !has_wishes_about_itself(state, pod.member)) return false;
  const Member& own = state.member(pod.member);
  const std::vector<PodSlot>& members = tables.gangs[pod.gang].pods;
  return std::ranges::count_if(members, [&](PodSlot slot) {
           const MemberId other = tables.pods[slot].member;
           return !other.is_none() && state.member(other).demand == own.demand &&
                  state.member(other).constraint == own.constraint;
         }) > static_cast<std::ptrdiff_t>(kSeenMembersMax);
}

void write_pod_line(JsonWriter& w, const Tables& tables, const State& state, PodSlot slot) {
  const PodRecord& pod = tables.pods[slot];
  w.member("pod", pod.ns.str() + "/" + pod.name.str()).member("priority", std::int64_t{pod.priority});
  w.member("queue", pod.queue.is_none() ? std::string_view() : tables.names.queues.name(pod.queue).view());
  std::vector<std::string> ignored;
  if (pod.rules) ignored.assign(pod.rules->ignored_soft.begin(), pod.rules->ignored_soft.end());
  if (has_unseen_members(tables, state, pod))
    ignored.push_back("being near to, or apart from, pods of its own gang (more than " +
                      std::to_string(kSeenMembersMax) + " are alike)");
  if (ignored.empty()) return;
  w.key("ignored").begin_array();
  for (const std::string& one : ignored) w.string(one);
  w.end_array();
}

}  // namespace

http::ServerResponse standby_answer(const std::string& holder, const std::string& trouble) {
  const std::string who =
      holder.empty() ? "there is no leader at the moment" : "this replica is on standby; " + holder + " is the leader";
  return failure(503, "Standby", who + (trouble.empty() ? "" : "; " + trouble));
}

http::ServerResponse not_ready_answer(const std::string& trouble) {
  return failure(503, "NotReady",
                 "the caches are not synced yet; " + (trouble.empty() ? "ask again in a few seconds" : trouble));
}

http::ServerResponse differing_answer() {
  return failure(500, "InternalError",
                 "the state kept for readers differs from the scheduler's own, which is a bug; it will be copied again "
                 "within a minute");
}

http::ServerResponse behind_answer() {
  return failure(500, "InternalError",
                 "the state kept for readers fell too far behind the scheduler's own; it will be copied again within a "
                 "minute");
}

namespace {

/// No such object, or only of another kind.
std::string unknown_text(const std::string& name, const std::string& kind, const WhySubject& subject) {
  if (subject.namesakes.empty())
    return "no " + (kind.empty() ? "pod or gang" : kind) + " " + name +
           " known to Ashlar; pods of other schedulers are known only once bound, and no pod after it has ended";
  const auto in_words = [](std::string_view of) { return std::string(of == "podgroup" ? "PodGroup" : of); };
  const std::string other = in_words(why_kind_name(subject.namesakes.front()));
  return "there is no " + in_words(kind) + " \"" + name + "\"; a " + other + " has that name";
}

}  // namespace

http::ServerResponse answer_why(ReadReplica& replica, const http::ServerRequest& request) {
  const std::string name = request.query_value("name");
  if (name.empty()) return failure(400, "Invalid", "the query parameter is missing: ?name=NAMESPACE/NAME");
  const Tables& tables = replica.tables();
  const std::string kind = request.query_value("kind");
  const WhySubject subject = find_subject(tables, name, kind);
  if (!subject.is_found()) return failure(404, "NotFound", unknown_text(name, kind, subject));
  const JobId job = subject.pod == kNoPod ? JobId::none() : tables.pods[subject.pod].job;
  const Verdict verdict = replica.verdict_of_now(job);
  const Headline headline = headline_of(replica, subject, verdict);
  JsonWriter w = document("Why");
  w.member("name", name)
      .member("state", headline.state)
      .member("headline", headline.text)
      .member("exitStatus", std::int64_t{headline.exit_status})
      .member("object", why_kind_name(subject.kind));
  if (!subject.namesakes.empty()) {
    w.key("namesakes").begin_array();
    for (const WhyKind other : subject.namesakes) w.string(why_kind_name(other));
    w.end_array();
  }
  if (subject.pod != kNoPod) {
    const PodRecord& pod = tables.pods[subject.pod];
    write_pod_line(w, tables, replica.state(), subject.pod);
    write_request(w, replica.state(), pod);
    w.member("ageMillis", (replica.now() - pod.created).value);
    if (!pod.node_name.empty() && subject.named == kNoGang) write_place(w, replica, pod);
  }
  const bool is_placed_pod = subject.pod != kNoPod && subject.named == kNoGang && headline.exit_status == 0;
  if (is_placed_pod) write_preferences(w, replica, tables.pods[subject.pod]);
  if (subject.gang != kNoGang) write_gang(w, tables, subject.gang);
  if (const std::string apart = apart_text(tables, subject); !apart.empty()) w.member("apart", apart);
  const bool is_waiting =
      headline.exit_status != 0 && verdict.kind != VerdictKind::kPending && verdict.kind != VerdictKind::kPlaced;
  if (is_waiting) {
    w.member("verdict", verdict_name(verdict.kind)).member("wakesOn", wake_name(verdict));
    // Jobs of a shape share a verdict, which may be older than the job.
    const Millis asked_at = subject.pod == kNoPod ? verdict.at : std::max(verdict.at, tables.pods[subject.pod].created);
    w.member("verdictAgeMillis", (replica.now() - asked_at).value);
    write_reasons(w, replica.text_context(), job, verdict);
    write_start(w, replica, job);
    w.member("condition", replica.pod_text(subject.pod).message);
    w.key("remedies").begin_array();
    if (replica.state().is_live(job)) {
      const GangRecord* gang = subject.gang == kNoGang ? nullptr : &tables.gangs[subject.gang];
      for (const Remedy& r : remedies_for(replica, job, gang))
        w.begin_object()
            .member("kind", remedy_name(r.kind))
            .member("amount", r.amount)
            .member("message", remedy_text(tables, gang, r))
            .end_object();
    }
    w.end_array();
  }
  return finish(w);
}

namespace {

struct WaitingJob {
  PendingQueue::Entry entry;
  QueueId queue;
  std::int64_t devices = 0;
  Verdict verdict;
};

std::vector<WaitingJob> waiting_jobs(ReadReplica& replica) {
  std::vector<WaitingJob> jobs;
  const PendingQueue& pending = replica.engine().pending();
  pending.each_class([&](ClassId, const PendingQueue::Class& shape) {
    shape.each_job([&](const PendingQueue::Entry& e) {
      jobs.push_back({e, shape.key.queue, shape.devices, replica.engine().verdict_of(e.job)});
    });
  });
  std::sort(jobs.begin(), jobs.end(), [&](const WaitingJob& a, const WaitingJob& b) {
    return pending.is_before(a.entry, a.queue, b.entry, b.queue);
  });
  return jobs;
}

void write_job(JsonWriter& w, ReadReplica& replica, const TextContext& context, const WaitingJob& job,
               std::size_t position, std::int64_t devices_ahead) {
  const Tables& tables = replica.tables();
  const JobOwner owner = tables.owner(job.entry.job);
  const bool is_gang = owner.gang != kNoGang;
  if (!is_gang && owner.pod == kNoPod) return;
  const PooledString ns = is_gang ? tables.gangs[owner.gang].ns : tables.pods[owner.pod].ns;
  const PooledString name = is_gang ? tables.gangs[owner.gang].own_name() : tables.pods[owner.pod].name;
  const Job& j = replica.state().job(job.entry.job);
  const std::vector<Reason> reported = reported_reasons(context, job.entry.job, job.verdict);
  w.begin_object()
      .member("name", ns.str() + "/" + name.str())
      .member("queue", tables.names.queues.name(job.queue).view());
  w.member("position", static_cast<std::int64_t>(position))
      .member("gpus", job.devices)
      .member("gpusAhead", devices_ahead);
  w.member("members", std::int64_t{j.members_present - j.members_placed}).member("priority", std::int64_t{j.priority});
  w.member("ageMillis", (replica.now() - j.submitted).value);
  w.member("reason", reported.empty() ? std::string_view("PendingEvaluation") : reason_name(reported[0].code));
  w.member("message", headline_text(context, job.entry.job, reported, "at the time of the verdict")).end_object();
}

/// Pods and gangs that the engine does not know: they have no place in a queue. With `only`, those of that queue.
void write_held(JsonWriter& w, ReadReplica& replica, std::optional<QueueId> only, std::size_t shown_max) {
  const ObjectNames& names = replica.tables().names;
  std::vector<HeldThing> held = held_things(replica.tables());
  if (only) std::erase_if(held, [&](const HeldThing& h) { return h.queue.is_none() || h.queue != *only; });
  w.key("held").begin_array();
  for (std::size_t i = 0; i < std::min(held.size(), shown_max); ++i) {
    const HeldThing& h = held[i];
    w.begin_object().member("name", h.ns.str() + "/" + h.name.str());
    w.member("queue", h.queue.is_none() ? std::string_view() : names.queues.name(h.queue).view())
        .member("pods", static_cast<std::int64_t>(h.pods));
    w.member("ageMillis", (replica.now() - h.created).value).member("reason", hold_reason_name(h.reason));
    w.member("message", held_text(replica.tables(), h)).end_object();
  }
  w.end_array().member("heldTotal", static_cast<std::int64_t>(held.size()));
}

}  // namespace

http::ServerResponse answer_queue(ReadReplica& replica, const http::ServerRequest& request) {
  const std::vector<WaitingJob> jobs = waiting_jobs(replica);
  const std::size_t shown_max = request.query_value("all") == "1" ? kJobsListedMax : kJobsShownMax;
  const ObjectNames& names = replica.tables().names;
  const std::string asked = request.query_value("queue");
  const std::optional<QueueId> only =
      asked.empty() ? std::nullopt : std::optional(names.queues.find(PooledString(asked)));
  std::size_t shown = 0, total = 0;
  const QueueTree& tree = replica.state().queues();
  std::vector<std::int64_t> pending_jobs(names.queues.size(), 0), pending_devices(names.queues.size(), 0);
  TextContext context = replica.text_context();
  context.is_brief = true;
  const std::vector<std::int64_t> of_models = nodes_by_model(replica.state().cluster());
  JsonWriter w = document("QueueList");
  w.key("jobs").begin_array();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::size_t q = jobs[i].queue.row();
    if (!only || jobs[i].queue == *only) {
      if (total++ < shown_max) {
        ++shown;
        write_job(w, replica, context, jobs[i], static_cast<std::size_t>(pending_jobs[q] + 1), pending_devices[q]);
      }
    }
    ++pending_jobs[q];
    pending_devices[q] += jobs[i].devices;
  }
  w.end_array().key("queues").begin_array();
  for (std::size_t q = 0; q < names.queues.size(); ++q) {
    const QueueId queue(q);
    if (queue.row() >= tree.rows() || !tree.is_known(queue)) continue;
    const QueueId parent = tree.parent(queue);
    w.begin_object()
        .member("name", names.queues.name(queue).view())
        .member("parent", parent.is_none() ? std::string_view() : names.queues.name(parent).view());
    write_gate(w, tree.gate(queue));
    w.member("usedMilliGpu", tree.used(queue)[0]);
    w.key("quotaMilliGpu");
    tree.quota(queue)[0] == kUnlimited ? w.null() : w.integer(tree.quota(queue)[0]);
    write_limits(w, limits_of(replica.state(), names, queue), of_models);
    write_guarantees(w, guarantees_of(replica.state(), names, queue));
    w.member("pendingJobs", pending_jobs[q]).member("pendingGpus", pending_devices[q]).end_object();
  }
  w.end_array().member("shown", static_cast<std::int64_t>(shown)).member("total", static_cast<std::int64_t>(total));
  write_held(w, replica, only, shown_max);
  return finish(w);
}

http::ServerResponse answer_nodes(ReadReplica& replica, const http::ServerRequest& request) {
  const Tables& tables = replica.tables();
  const Cluster& cluster = replica.state().cluster();
  JsonWriter w = document("NodeList");
  w.key("nodes").begin_array();
  for (const NodeId node : nodes_by_name(tables, cluster, request.query_value("name"))) {
    const std::size_t row = node.row();
    w.begin_object().member("name", tables.names.nodes.name(node).view());
    w.member("model", cluster.models()[row].is_none() ? std::string_view()
                                                      : tables.names.models.name(cluster.models()[row]).view());
    write_capabilities(w, tables.names, cluster, cluster.models()[row]);
    w.member("cards", std::int64_t{cluster.devices()[row]})
        .member("idleCards", std::int64_t{std::max(cluster.idle_devices()[row], 0)});
    w.key("cardFreeMilli").begin_array();
    for (const std::int32_t milli : cluster.device_free_milli(node)) w.integer(milli);
    w.end_array();
    write_device_groups(w, tables.names, cluster, node);
    if (const DeviceMask closed = cluster.overfull_devices(node); !closed.is_empty())
      w.member("closedCards", devices_text(closed));
    if (const DeviceMask unhealthy = cluster.unhealthy_devices(node); !unhealthy.is_empty())
      w.member("unhealthyCards", devices_text(unhealthy));
    w.member("freeMilliCores", cluster.free(resource::kCpu)[row])
        .member("freeMemoryBytes", cluster.free(resource::kMemory)[row]);
    w.member("freePods", cluster.free(resource::kPods)[row]);
    if (const std::string trouble = node_trouble(tables, node); !trouble.empty()) w.member("closed", trouble);
    w.key("domains").begin_object();
    const std::vector<DomainId>& domains = cluster.facts(node).domains;
    for (std::size_t l = 0; l < domains.size(); ++l)
      if (!domains[l].is_none())
        w.member(tables.names.levels()[l].name.view(), tables.names.domain_name(LevelId(l), domains[l]).view());
    w.end_object().key("taints").begin_array();
    for (const ashlar::Taint& t : cluster.facts(node).taints) w.string(taint_text(tables.names, t));
    w.end_array().end_object();
  }
  w.end_array();
  return finish(w);
}

}  // namespace ashlar::kube
