#include "live/track/gangs/gang_hold.h"

#include "kubeclient/bind_outcome.h"
#include "live/track/gangs/groups.h"
#include "live/track/gangs/groups_hold.h"
#include "live/track/gangs/membership.h"
#include "live/track/nodes/levels.h"
#include "live/track/pods/bindings.h"

#include "live/track/hold_text.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

/// Contradictions between pods of the gang; empty if they agree. The pods of a started gang need not agree on its size.
std::string contradiction_in(const Tables& t, const GangRecord& g) {
  PodSlot size_by = kNoPod, within_by = kNoPod;  // the first by name that states one
  const auto is_first = [&](PodSlot s, PodSlot than) {
    return than == kNoPod || is_name_before(t.pods[s].name, t.pods[than].name);
  };
  for (const PodSlot s : g.pods) {
    if (t.pods[s].gang_size > 0 && is_first(s, size_by)) size_by = s;
    if (!t.pods[s].within.empty() && is_first(s, within_by)) within_by = s;
  }
  PodSlot other_size = kNoPod, other_within = kNoPod;
  for (const PodSlot s : g.pods) {
    const bool has_other_size = g.kind == GangKind::kLabelled && !g.is_started && t.pods[s].gang_size > 0 &&
                                t.pods[s].gang_size != t.pods[size_by].gang_size;
    if (has_other_size && is_first(s, other_size)) other_size = s;
    const bool has_other_within =
        !t.pods[s].within.empty() && !is_same_level(t, t.pods[s].within, t.pods[within_by].within);
    if (has_other_within && is_first(s, other_within)) other_within = s;
  }
  const auto said = [&](PodSlot s, const std::string& what) { return "pod " + t.pods[s].name.str() + " has " + what; };
  if (other_size != kNoPod)
    return "the pods of " + g.said() + " have different values of ashlar.dev/gang-size: " +
           said(size_by, std::to_string(t.pods[size_by].gang_size)) + ", " +
           said(other_size, std::to_string(t.pods[other_size].gang_size)) + "; all must have the same";
  if (other_within != kNoPod)
    return "the pods of " + g.said() +
           " have different values of ashlar.dev/within: " + said(within_by, bounded_name(t.pods[within_by].within)) +
           ", " + said(other_within, bounded_name(t.pods[other_within].within)) + "; all must have the same";
  return {};
}

/// ": pod a-0 to team, pod a-1 to default": the first by name among those that could start, and the first that belongs
/// elsewhere.
std::string queues_of(const Tables& t, const GangRecord& g) {
  const auto first_of = [&](auto&& is_meant) {
    PodSlot first = kNoPod;
    for (const PodSlot s : g.pods) {
      if (t.pods[s].is_apart() || !is_meant(t.pods[s])) continue;
      if (first == kNoPod || is_name_before(t.pods[s].name, t.pods[first].name)) first = s;
    }
    return first;
  };
  const PodSlot one = first_of([](const PodRecord&) { return true; });
  const PodSlot other = first_of([&](const PodRecord& r) { return r.queue != t.pods[one].queue; });
  if (other == kNoPod) return {};
  const auto said = [&](PodSlot s) {
    return "pod " + t.pods[s].name.str() + " to " + t.names.queues.name(t.pods[s].queue).str();
  };
  return ": " + said(one) + ", " + said(other);
}

Hold refused(std::string why) { return {HoldReason::kGroupRefused, std::move(why)}; }

/// Whether the PodGroup is there and can be used.
Hold object_hold(const Tables& t, const GangRecord& g) {
  const std::string name = g.name.str();
  if (g.is_pod_group() && g.group_uid.empty() && !t.groups_problem.empty())
    return {HoldReason::kGroupsUnreadable, "PodGroups cannot be read: " + t.groups_problem};
  if (g.is_pod_group() && g.group_uid.empty())
    return {HoldReason::kGroupMissing, "PodGroup " + name + " does not exist (yet): create it in namespace " +
                                           g.ns.str() + ", or create the pods without spec.schedulingGroup"};
  if (!g.group_problem.empty()) return refused("PodGroup " + name + " cannot be read: " + g.group_problem.str());
  if (!g.group_refusal.empty())
    return refused("PodGroup field " + bounded_name(g.group_refusal) + " is not evaluated by Ashlar" +
                   (g.is_group() ? " (PodGroup " + name + ")" : ""));
  if (!g.group_unknown.empty())
    return refused("the spec of PodGroup " + name + " has what this release of Ashlar does not know (" +
                   g.group_unknown.str() +
                   "): use a newer release; an administrator may list it in acceptUnknownFields");
  if (!g.settings.problem.empty()) return refused("PodGroup " + name + ": " + g.settings.problem.str());
  if (g.is_group() && !g.is_gang)
    return refused("PodGroup " + name +
                   " of a gang of PodGroups has the policy basic; give it gang.minCount, or remove " +
                   std::string(kGangLabel));
  if (g.is_group() && g.size > GangSpec::kMinimumMax)
    return refused("PodGroup " + name + " of a gang of PodGroups has minCount " + std::to_string(g.size) +
                   "; it must be at most " + std::to_string(GangSpec::kMinimumMax));
  return {};
}

/// Whether the pods of one group and its PodGroup agree on where it may be.
Hold domain_hold(const Tables& t, const GangRecord& g) {
  const PooledString& hard = g.hard_setting();
  if (const std::string trouble = contradiction_in(t, g); !trouble.empty()) return refused(trouble);
  const bool lacks = !g.pods.empty() && lacks_level(t, g);  // without pods it takes no level
  if (lacks && t.node_labels.contains(hard))
    return refused(g.said() + " must stay within one domain of " + bounded_name(hard) + ", but all " +
                   std::to_string(Topology::kLevelsMax) + " topology levels are in use");
  if (!g.topology_key.empty() && !g.within_setting.empty() && t.names.find_level(g.within_setting) != g.within)
    return refused("PodGroup " + g.name.str() + " requests one domain of " + bounded_name(g.topology_key) +
                   ", its pods (ashlar.dev/within) one domain of " + bounded_name(g.within_setting) +
                   "; use only one of the two");
  if (g.foreign_pods > 0)
    return refused("pods of PodGroup " + g.name.str() + " name another scheduler (" + g.foreign_pod_name.str() +
                   "); all must name the same");
  return {};
}

/// The pods of one group that has to start: whether as many may be placed as must start together.
Hold members_hold(const Tables& t, const GangRecord& g) {
  if (g.is_started || members_present(t, g) >= g.size) return {};
  for (const PodSlot s : g.pods)
    if (t.pods[s].phase == Phase::kHeld && t.pods[s].hold != HoldReason::kNone)
      return refused("pod " + t.pods[s].name.str() + " of the gang cannot be placed: " + hold_text(t.pods[s]));
  // Without the number of existing pods: the text would be rewritten for every pod that is created.
  return {HoldReason::kMembersMissing, g.said() + " waits until " + std::to_string(g.size) + " of its pods exist" +
                                           (g.size == 1 ? "s" : "") + " without scheduling gates"};
}

/// No node has the label of the domain that it must stay in.
Hold label_hold(const Tables& t, const GangRecord& g) {
  if (!lacks_level(t, g)) return {};
  return {HoldReason::kNoSuchDomain, g.said() + " must stay within one domain of " + bounded_name(g.hard_setting()) +
                                         ", but no node has that label" + probable_level(t, g.hard_setting())};
}

/// What `find` says of the first of its groups, or of the gang itself, that it holds.
template <class Find>
Hold first_hold(const Tables& t, const GangRecord& g, Find&& find) {
  Hold first;
  each_group(t, g, [&](const GangRecord& group) {
    if (first.reason == HoldReason::kNone) first = find(t, group);
  });
  return first;
}

/// gang_hold() with messages of others unchanged.
Hold find_gang_hold(const Tables& t, const GangRecord& g) {
  const bool has_groups = g.kind == GangKind::kGroups;
  if (Hold hold = first_hold(t, g, object_hold); hold.reason != HoldReason::kNone) return hold;
  if (has_groups)
    if (std::string trouble = groups_trouble(t, g); !trouble.empty()) return refused(std::move(trouble));
  if (Hold hold = first_hold(t, g, domain_hold); hold.reason != HoldReason::kNone) return hold;
  if (has_groups && lacks_level(t, g) && t.node_labels.contains(g.within_setting)) return domain_hold(t, g);
  if (g.has_mixed_schedulers)
    return refused("the pods of " + g.said() + " name different schedulers; all must name the same");
  if (g.has_quarantined)
    for (const PodSlot s : g.pods)
      if (t.pods[s].phase == Phase::kHeld && t.pods[s].hold == HoldReason::kQuarantined)
        return {HoldReason::kQuarantined, "pod " + t.pods[s].name.str() + " of the gang: " + hold_text(t.pods[s])};
  if (const PodSlot s = unanswered_in(t, g); s != kNoPod)
    return {HoldReason::kBindFailed, g.said() + " waits: node " + t.pods[s].unanswered_node.str() +
                                         " was deleted, and the binding of pod " + t.pods[s].name.str() +
                                         " to it is not answered yet"};
  if (has_groups && !g.is_started && !has_all_groups(t, g))
    return {HoldReason::kMembersMissing, missing_groups_text(t, g)};
  if (Hold hold = first_hold(t, g, members_hold); hold.reason != HoldReason::kNone) return hold;
  if (g.has_mixed_queues)
    return refused("the pods of " + g.said() + " belong to different queues" + queues_of(t, g) +
                   "; all must belong to the same");
  if (g.bind_hold != 0)
    return {HoldReason::kBindFailed, g.said() + " waits: pod " + t.pods[g.bind_hold_pod].name.str() +
                                         " could not be bound: " + g.bind_hold_detail.str()};
  if (Hold hold = first_hold(t, g, label_hold); hold.reason != HoldReason::kNone) return hold;
  return label_hold(t, g);
}

}  // namespace

std::string priority_trouble(const Tables& t, const GangRecord& g) {
  if (g.kind == GangKind::kGroups) {
    std::string first;
    each_group(t, g, [&](const GangRecord& group) { first = first.empty() ? priority_trouble(t, group) : first; });
    return first;
  }
  const bool counts = g.priority_class.empty() || g.stated_priority || t.classes.known.contains(g.priority_class);
  if (counts || t.classes.problem.empty()) return {};
  return "PriorityClass " + g.priority_class.str() + " of PodGroup " + g.name.str() +
         " is not known, so the priority of its pods is used: PriorityClasses cannot be listed: " + t.classes.problem;
}

Hold gang_hold(const Tables& t, const GangRecord& g) {
  if (g.is_group()) return gang_hold(t, t.gangs[g.whole]);
  if (g.hold_found == t.levels_edition) return g.hold;
  Hold hold = find_gang_hold(t, g);
  hold.detail = bounded_words(hold.detail, kDetailMax);
  return hold;
}

}  // namespace ashlar::kube
