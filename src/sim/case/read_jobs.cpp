// The statements that bring jobs: job, gang, foreign, grow; and those about what is held from them: reserve,
// maintenance.
#include <fmt/format.h>

#include <algorithm>

#include "base/grown.h"
#include "sim/case/reading.h"
#include "sim/scenario/units.h"
#include "text/duration_text.h"
#include "text/nearest_name.h"

namespace ashlar::sim {
namespace {

constexpr std::string_view kGroupsForm = "groups such as \"2 x 4 gpu + 1 x cpu=8\"";
constexpr std::string_view kBesideOthers = "groups in brackets beside others";
constexpr std::string_view kBracketsForm = "groups such as \"(1 x cpu=8) + (4 x 8 gpu min 2 within rack)\"";

constexpr std::string_view kJobOptions[] = {"cpu=",
                                            "memory=",
                                            "storage=",
                                            "card-memory=",
                                            "queue",
                                            "priority",
                                            "duration",
                                            "p90",
                                            "runs",
                                            "rank",
                                            "within",
                                            "prefer",
                                            "min",
                                            "needs",
                                            "selector",
                                            "affinity",
                                            "volume-on",
                                            "wish",
                                            "tolerates",
                                            "port",
                                            "labels",
                                            "pod-affinity",
                                            "pod-anti-affinity",
                                            "max-skew",
                                            "on",
                                            "cards",
                                            "submitted",
                                            "since",
                                            "checkpoint",
                                            "restart",
                                            "protected",
                                            "unstoppable",
                                            "whole",
                                            "at"};
constexpr std::string_view kJobOptionsForm =
    "\"4 gpu\", \"500 milli\", amounts such as cpu=4, queue, priority, duration, p90, runs, rank, within, prefer, min, "
    "needs, selector, affinity, volume-on, wish, tolerates, port, labels, pod-affinity, pod-anti-affinity, max-skew, "
    "on, cards, submitted, since, checkpoint, restart, protected, unstoppable, whole or at";

/// A job statement without its members.
struct JobForm {
  Workload workload;
  std::vector<MemberRequest> groups;
  GangSpec spec;  ///< of a gang whose groups are in brackets
  bool is_gang = false;
  Millis runs = Millis::max();
  Millis submitted = Millis::max();
  NodeId on;
  GivenDevices given;
};

JobId take_new_job(CaseReading& c, Words& words) {
  const std::string_view name = words.take("a name for the job");
  if (!c.file.names.jobs.find(name).is_none()) words.fail(fmt::format("job \"{}\" already exists", name));
  if (name == "queue" || name == "node" || name == "examined" || name.starts_with('#') ||
      name.find('/') != std::string_view::npos)
    words.fail(fmt::format("a job cannot be called \"{}\"", name));
  if (words.has_failed()) return JobId::none();
  c.file.names.members.emplace_back();
  return c.file.names.jobs.of(name);
}

/// Those of one pair of brackets, or of a statement without.
void take_groups(CaseReading& c, Words& words, std::vector<MemberRequest>& groups, bool is_in_brackets = false) {
  do {
    if (!groups.empty() && words.accept("("))
      words.fail(is_in_brackets ? "the bracket before it is not closed" : kBesideOthers, kBracketsForm);
    MemberRequest request;
    request.count = static_cast<std::uint32_t>(words.take_count(kGroupsForm));
    if (request.count > 100'000) words.fail(fmt::format("{} members", request.count), "at most 100000");
    if (!words.accept("x")) {
      words.take("x");
      words.fail("no \"x\" between number and members", kGroupsForm);
    }
    take_request(words, c.file.names, request);
    groups.push_back(std::move(request));
  } while (words.accept("+"));
}

/// "(2 x 4 gpu + 1 x cpu=8 min 2 within rack)": one group of the gang, by default all of its members together.
void take_group_in_brackets(CaseReading& c, Words& words, JobForm& form) {
  const std::size_t first = form.groups.size();
  const auto number = static_cast<std::uint32_t>(form.spec.groups.size());
  GangGroup group;
  take_groups(c, words, form.groups, true);
  for (std::size_t g = first; g < form.groups.size(); ++g) form.groups[g].group = number;
  std::uint32_t members = 0;
  for (std::size_t g = first; g < form.groups.size(); ++g) members += form.groups[g].count;
  group.members_min = members;
  std::vector<std::string_view> stated;
  while (!words.is_at_end() && words.peek() != ")") {
    words.begin_option(stated);
    if (words.accept("within"))
      group.within = take_level(c, words);
    else if (words.accept("prefer"))
      group.prefer = take_level(c, words);
    else if (words.accept("min"))
      group.members_min = static_cast<std::uint32_t>(words.take_count("the least number of members of the group"));
    else {
      const std::string_view word = words.take("an option");
      words.fail(fmt::format("unknown option of a group \"{}\"", word), "min, within, prefer or \")\"");
    }
    if (!words.has_failed()) take_request(words, c.file.names, form.groups.back());
  }
  if (group.members_min > members)
    words.fail(fmt::format("the group has {} {}", members, members == 1 ? "member" : "members"),
               "a minimum that it can have");
  if (!words.accept(")")) {
    words.take(")");
    words.fail("a group is not closed", kBracketsForm);
  }
  form.spec.groups.push_back(group);
  if (form.spec.groups.size() > GangSpec::kGroupsMax)
    words.fail("too many groups", fmt::format("at most {}", GangSpec::kGroupsMax));
}

/// Either groups of unlike members, "2 x 4 gpu + 1 x cpu=8", or groups with their own minimum and domain, in brackets.
void take_gang(CaseReading& c, Words& words, JobForm& form) {
  if (words.peek() != "(") return take_groups(c, words, form.groups);
  do {
    if (!words.accept("(")) {
      words.take(kBracketsForm);
      words.fail(kBesideOthers, kBracketsForm);
    }
    if (!words.has_failed()) take_group_in_brackets(c, words, form);
  } while (words.accept("+"));
}

Millis take_stop_time(Words& words) {
  const Millis time = words.take_time();
  if (time > StopTerms::kTimeMax) words.fail("that is more than a year", "at most 366d");
  return time;
}

/// What a job says about being stopped, and since when it has been there. False: another option.
bool take_stop_option(Words& words, JobForm& form) {
  Workload& w = form.workload;
  if (words.accept("unstoppable"))
    w.stopping.is_unstoppable = true;
  else if (words.accept("whole"))
    w.stopping.leaves_whole = true;
  else if (words.accept("protected"))
    w.stopping.protected_for = take_stop_time(words);
  else if (words.accept("restart"))
    w.stopping.restart = take_stop_time(words);
  else if (words.accept("checkpoint"))
    w.saved_at = words.take_past_time();
  else if (words.accept("since"))
    w.runs_since = words.take_past_time();
  else if (words.accept("submitted"))
    form.submitted = words.take_past_time();
  else
    return false;
  return true;
}

void take_job_options(CaseReading& c, Words& words, JobForm& form) {
  Workload& w = form.workload;
  std::vector<std::string_view> stated;
  while (!words.is_at_end() && words.peek() != "at") {
    words.begin_option(stated);
    if (words.accept("queue"))
      w.queue = take_queue(c, words);
    else if (words.accept("priority"))
      w.priority = words.take_signed("a priority such as 100");
    else if (words.accept("duration"))
      w.estimate.p50 = words.take_time();
    else if (words.accept("p90"))
      w.estimate.p90 = words.take_time();
    else if (words.accept("runs"))
      form.runs = words.take_time();
    else if (words.accept("rank"))
      w.order_hint = words.take_number("a number that the order policy knows");
    else if (words.accept("within"))
      w.within = take_level(c, words);
    else if (words.accept("prefer"))
      w.prefer = take_level(c, words);
    else if (words.accept("min")) {
      w.members_min = static_cast<std::uint32_t>(words.take_count("the least number of members that may run"));
      if (!form.spec.groups.empty()) words.fail("each group has its own minimum", kBracketsForm);
    } else if (words.accept("on"))
      form.on = take_node(c, words);
    else if (words.accept("cards"))
      form.given = take_given_devices(words);
    else if (take_stop_option(words, form))
      continue;
    else if (form.is_gang && words.accept("+"))
      words.fail("options of the gang follow its last group; those of one group need brackets", kBracketsForm);
    else {
      const std::string_view word = words.take("an option");
      words.fail(fmt::format("unknown job option \"{}\"{}", word, suggestion(key_value(word).key, kJobOptions)),
                 kJobOptionsForm);
    }
    refuse_early_p90(words, w.estimate);
    if (words.has_failed()) return;
    if (form.spec.groups.empty()) take_request(words, c.file.names, form.groups.back());
  }
}

/// With `skips_leaving` not of pods that are being deleted.
PodSelectorId pod_selector(CaseReading& c, std::vector<LabelExpression> all, bool skips_leaving = false) {
  PodSelector selector;
  selector.skips_leaving = skips_leaving;
  selector.namespaces.push_back(kCaseNamespace);
  selector.all = std::move(all);
  return row_of<PodSelectorDefined>(c, c.latest, c.file.names.pod_selectors, selector);
}

void add_wish(CaseReading& c, const PodRule& rule, Constraint& constraint) {
  const PodSelectorId selector = pod_selector(c, rule.pods);
  if (rule.kind == PodRule::Kind::kSpread)
    constraint.prefers_spread.push_back({.selector = selector,
                                         .topology = rule.topology,
                                         .skew_max = rule.skew_max,
                                         .honors_affinity = rule.honors_affinity,
                                         .honors_taints = rule.honors_taints,
                                         .requires_all_labels = rule.requires_all_labels});
  else
    constraint.prefers_pods.push_back(
        {selector, rule.topology, rule.kind == PodRule::Kind::kAffinity ? rule.weight : -rule.weight});
}

/// A pod must match all affinity rules together.
Constraint constraint_with_rules(CaseReading& c, const MemberRequest& request) {
  Constraint constraint = request.constraint;
  std::vector<LabelExpression> near;
  for (const PodRule& rule : request.rules) {
    if (rule.is_wish) {
      add_wish(c, rule, constraint);
      continue;
    }
    const bool matches_itself = !request.labels.empty() && hold(rule.pods, request.labels);
    if (rule.kind == PodRule::Kind::kAffinity) {
      near.insert(near.end(), rule.pods.begin(), rule.pods.end());
      constraint.near.topologies.push_back(rule.topology);
      constraint.prefers_pods.push_back({pod_selector(c, rule.pods), rule.topology, 1, true});
      continue;
    }
    const PodSelectorId selector = pod_selector(c, rule.pods, rule.kind == PodRule::Kind::kSpread);
    if (rule.kind == PodRule::Kind::kAntiAffinity) {
      constraint.keeps_away.push_back({selector, rule.topology});
      constraint.keeps_itself_away = constraint.keeps_itself_away || matches_itself;
    } else {
      constraint.spread.push_back({.selector = selector,
                                   .topology = rule.topology,
                                   .skew_max = rule.skew_max,
                                   .domains_min = rule.domains_min,
                                   .matches_itself = matches_itself,
                                   .honors_affinity = rule.honors_affinity,
                                   .honors_taints = rule.honors_taints});
    }
  }
  if (near.empty()) return constraint;
  constraint.near.matches_itself = !request.labels.empty() && hold(near, request.labels);
  constraint.near.selector = pod_selector(c, std::move(near));
  return constraint;
}

void add_members(CaseReading& c, Words& words, JobId job, const std::vector<MemberRequest>& groups,
                 std::vector<MemberSpec>& out) {
  CaseNames& names = c.file.names;
  for (const MemberRequest& request : groups) {
    if (request.demand.devices.count == 0 && request.demand.devices.memory_each.value > 0)
      words.fail("card-memory without a GPU", "\"500 milli card-memory=10GiB\"");
    const DemandId demand = row_of<DemandDefined>(c, c.latest, names.demands, request.demand);
    LabelSetId labels;
    if (!request.labels.empty())
      labels = row_of<LabelSetDefined>(c, c.latest, names.label_sets, {.ns = kCaseNamespace, .labels = request.labels});
    Constraint with_rules = constraint_with_rules(c, request);
    // one that keeps pods away sees its like by its own rule, unless others keep it away too
    if (c.keeps_pods_away || with_rules.keeps_away.empty()) with_rules.seen_as = labels;
    const ConstraintId constraint = row_of<ConstraintDefined>(c, c.latest, names.constraints, with_rules);
    for (std::uint32_t i = 0; i < request.count; ++i) {
      const MemberId member(names.member_count++);
      out.push_back(
          {.member = member, .demand = demand, .constraint = constraint, .labels = labels, .group = request.group});
      names.members[job.row()].push_back(member);
      grown(c.labels_of, member.row()) = labels;
    }
  }
}

/// What the groups need together.
std::uint32_t minimum_of(const GangSpec& spec) {
  std::uint32_t sum = 0;
  for (const GangGroup& group : spec.groups) sum += group.members_min;
  return sum;
}

/// What was before the statement has an order.
void refuse_impossible_past(Words& words, const JobForm& form, Millis at) {
  const Workload& w = form.workload;
  const auto refuse_later = [&](Millis time, Millis than, std::string_view what, std::string_view form_of_it) {
    if (time != Millis::max() && time > than) words.fail(what, form_of_it);
  };
  refuse_later(w.submitted, at, "the job was submitted after its statement", "\"submitted\" with an earlier time");
  refuse_later(w.runs_since, at, "the job runs since a time after its statement", "\"since\" with an earlier time");
  refuse_later(w.saved_at, at, "the checkpoint is from after the statement",
               "an earlier time, or the statement \"checkpoint NAME at T\"");
  if (w.runs_since == Millis::max()) return;
  refuse_later(w.submitted, w.runs_since, "the job was submitted after it began to run",
               "\"submitted\" with an earlier time");
  if (form.on.is_none()) words.fail("a job that has run before is on a node", "\"on NODE\"");
}

void finish_job(CaseReading& c, Words& words, JobForm form, std::string_view) {
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  Workload& w = form.workload;
  w.submitted = form.submitted == Millis::max() ? std::min(at, w.runs_since) : form.submitted;
  refuse_impossible_past(words, form, at);
  if (words.has_failed()) return;
  add_members(c, words, w.job, form.groups, w.members);
  if (w.members_min == 0) w.members_min = static_cast<std::uint32_t>(w.members.size());
  if (!form.spec.groups.empty()) {
    w.members_min = minimum_of(form.spec);
    grown(c.groups_of_job, w.job.row()) = form.spec;
    w.spec = row_of<GangSpecDefined>(c, c.latest, c.file.names.gang_specs, form.spec);
  }
  const JobId job = w.job;
  const std::vector<MemberSpec> members = w.members;
  if (form.runs == Millis::max()) form.runs = w.estimate.p50;
  const Millis already = w.runs_since == Millis::max() ? Millis(0) : at - w.runs_since;
  if (already >= form.runs) words.fail("the job would have ended before its statement", "\"since\" with a later time");
  if (words.has_failed()) return;
  if (w.estimate.p90 == Millis::max()) w.estimate.p90 = w.estimate.p50;
  if (!w.estimate.is_known()) w.estimate.p50 = w.estimate.p90;
  add_event(c, at, EventBody(Submitted{std::move(w)}));
  if (form.runs != Millis::max()) add_event(c, at, RunsFor{job, form.runs, already});
  if (!form.on.is_none())
    for (const MemberSpec& m : members)
      add_event(c, at, EventBody(Bound{m.member, form.on, form.given.devices, form.given.grants}));
}

}  // namespace

void read_job(CaseReading& c, Words& words) {
  JobForm form;
  form.workload.job = take_new_job(c, words);
  form.groups.emplace_back();
  take_request(words, c.file.names, form.groups.back());
  take_job_options(c, words, form);
  finish_job(c, words, std::move(form), {});
}

void read_gang(CaseReading& c, Words& words) {
  JobForm form;
  form.workload.job = take_new_job(c, words);
  form.workload.members_min = 0;
  form.is_gang = true;
  take_gang(c, words, form);
  take_job_options(c, words, form);
  finish_job(c, words, std::move(form), {});
}

void read_foreign(CaseReading& c, Words& words) {
  JobForm form;
  form.workload.job = take_new_job(c, words);
  form.workload.is_ours = false;
  form.groups.emplace_back();
  take_request(words, c.file.names, form.groups.back());
  take_job_options(c, words, form);
  finish_job(c, words, std::move(form), {});
}

void read_grow(CaseReading& c, Words& words) {
  const JobId job = take_job(c, words);
  std::vector<MemberRequest> groups;
  take_groups(c, words, groups);
  const GangSpec spec = value_at(c.groups_of_job, job.row());
  if (!spec.groups.empty()) {
    constexpr std::string_view kForm = "\"group 1\", the number of the group that grows";
    if (!words.accept("group")) {
      words.take(kForm);
      words.fail("its gang has groups", kForm);
    }
    const std::int64_t number = words.take_count(kForm, static_cast<std::int64_t>(spec.groups.size()));
    for (MemberRequest& request : groups) request.group = static_cast<std::uint32_t>(number - 1);
  }
  std::uint32_t least = spec.groups.empty() ? 0 : minimum_of(spec);
  if (spec.groups.empty() && words.accept("min"))
    least = static_cast<std::uint32_t>(words.take_count("the least number of members that may run"));
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  MembersAdded added{job, 1, {}};
  add_members(c, words, job, groups, added.members);
  added.members_min = least != 0 ? least : static_cast<std::uint32_t>(c.file.names.members[job.row()].size());
  add_event(c, at, EventBody(std::move(added)));
}

namespace {

/// "for queue NAME" or "for job NAME".
HoldOwner take_owner(CaseReading& c, Words& words) {
  if (words.accept("queue")) return {.queue = take_queue(c, words), .job = {}};
  if (words.accept("job")) return {.queue = {}, .job = take_job(c, words)};
  words.take("\"queue\" or \"job\"");
  words.fail("a hold is for a queue or a job", "\"for queue NAME\" or \"for job NAME\"");
  return {};
}

/// "[for OWNER] [from T] [until T] [at T]" and the event. The hold's row exists, its member gets the next one.
void finish_hold(CaseReading& c, Words& words, Hold hold, const MemberRequest& request, const HoldPart& place) {
  c.holds.push_back(hold.job);
  if (words.accept("for")) hold.owner = take_owner(c, words);
  if (words.accept("from")) hold.from = words.take_time();
  if (words.accept("until")) hold.until = words.take_time();
  const Millis at = take_at(c, words);
  if (const Millis begins = std::max(at, hold.from); hold.until <= begins && !words.has_failed())
    words.fail("it would end before it begins", fmt::format("\"until\" with a time after {}", seconds_text(begins)));
  if (words.has_failed()) return;
  std::vector<MemberSpec> members;
  add_members(c, words, hold.job, {request}, members);
  for (const MemberSpec& member : members) hold.parts.push_back({member, place.node, place.devices});
  if (!words.has_failed()) add_event(c, at, EventBody(HoldPlaced{std::move(hold)}));
}

}  // namespace

void read_reserve(CaseReading& c, Words& words) {
  constexpr std::string_view kForm = "\"reserve NAME 4 gpu on node0\"";
  Hold hold{.job = take_new_job(c, words), .parts = {}};
  MemberRequest request;
  take_request(words, c.file.names, request);
  if (request.constraint != Constraint{}) words.fail("a reservation names its node and no rule for nodes", kForm);
  if (!words.accept("on")) {
    words.take(kForm);
    words.fail("a reservation needs a node", kForm);
  }
  HoldPart place{.member = {}, .node = take_node(c, words), .devices = {}};
  if (words.accept("cards")) place.devices = take_devices_of_node(words);
  if (place.devices.count() > request.demand.devices.count)
    words.fail("more GPUs are named than reserved", "at most as many as it reserves");
  finish_hold(c, words, std::move(hold), request, place);
}

/// Everything that the node has, as a hold called "maintenance-NODE".
void read_maintenance(CaseReading& c, Words& words) {
  const NodeId node = take_node(c, words);
  if (words.has_failed()) return;
  const std::string name = "maintenance-" + std::string(c.file.names.nodes.name(node));
  if (!c.file.names.jobs.find(name).is_none())
    return words.fail(fmt::format("\"{}\" already exists", name), "one maintenance of a node in a case");
  c.file.names.members.emplace_back();
  Hold hold{.job = c.file.names.jobs.of(name), .parts = {}};
  const NodeFacts& facts = c.facts[node.row()];
  MemberRequest whole;
  whole.demand.devices.count = facts.devices.count;
  for (std::size_t r = 0; r < facts.allocatable.size(); ++r)
    if (facts.allocatable[r] > 0) whole.demand.amounts.push_back({ResourceId(r), facts.allocatable[r]});
  finish_hold(c, words, std::move(hold), whole, {.member = {}, .node = node, .devices = {}});
}

}  // namespace ashlar::sim
