#include "live/read/remedy_text.h"

#include <vector>

#include "live/track/gangs/groups.h"
#include "live/track/gangs/membership.h"
#include "text/amount_text.h"

namespace ashlar::kube {
namespace {

std::string counted(std::int64_t count, const char* thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

/// "2 GPUs more quota", "2 GPUs more borrowLimit", "2 example.com/nic more quota on H100 nodes".
std::string more_quota_text(const ObjectNames& names, const Remedy::Limit& limit) {
  const QuotaKey& of = limit.of;
  std::string text = quota_text(quota_number(of), limit.lacking);
  if (!of.resource.is_none() && of.resource != resource::kCpu && of.resource != resource::kMemory)
    text += " " + names.resource_name(of.resource).str();
  text += limit.is_of_borrowing ? " more borrowLimit" : " more quota";
  return of.device_class.is_none() ? text : text + " on " + names.models.name(of.device_class).str() + " nodes";
}

/// " in one rack", " in its rack" if members are there already; empty for no level.
std::string in_level_text(const Tables& tables, const GangRecord* of, LevelId level) {
  const std::vector<LevelName>& levels = tables.names.levels();
  if (level.row() >= levels.size()) return {};
  return (of != nullptr && has_bound_member(tables, *of) ? " in its " : " in one ") + levels[level.row()].name.str();
}

/// The change without a gang's group, as a clause of one of its kind.
std::string more_devices_text(std::int64_t amount) {
  return counted(amount, "more GPU") + (amount == 1 ? " was free" : " were free");
}
std::string more_nodes_text(const ObjectNames& names, std::int64_t amount, NodeId like) {
  return "there " + std::string(amount == 1 ? "was " : "were ") + counted(amount, "more empty node") + " like " +
         names.nodes.name(like).str();
}

/// ", in another topology.kubernetes.io/zone": one that no node is in; empty: they may be where the like node is.
std::string new_domain_text(const ObjectNames& names, const Remedy& r) {
  if (r.new_domain.is_none()) return {};
  const std::string label = names.label_keys.name(r.new_domain).str();
  return r.amount == 1 ? ", in another " + label : ", each in another " + label;
}

/// "PodGroup decode had 2 members", "2 more GPUs were free in one rack for PodGroup decode": what one group needs.
std::string of_group_text(const Tables& tables, const GangRecord* gang, Remedy::Kind kind, const Remedy::OfGroup& of) {
  const std::string group = told_group_text(tables, gang, of.group);
  if (kind == Remedy::Kind::kFewerMembers) return group + " had " + counted(of.amount, "member");
  const GangRecord* record = gang == nullptr ? nullptr : told_group(tables, *gang, of.group);
  const bool is_own_level = record != nullptr && of.level == record->within;
  const std::string where = in_level_text(tables, is_own_level ? record : gang, of.level) + " for " + group;
  return (kind == Remedy::Kind::kMoreNodes ? more_nodes_text(tables.names, of.amount, of.node)
                                           : more_devices_text(of.amount)) +
         where;
}

/// The same of all groups that need something.
std::string of_groups_text(const Tables& tables, const GangRecord* gang, const Remedy& r) {
  std::string text;
  for (const Remedy::OfGroup& of : r.of_groups)
    text += (text.empty() ? "" : ", and ") + of_group_text(tables, gang, r.kind, of);
  return text;
}

/// "PodGroup decode could be on any nodes (...)": the group of that number, 0: all of them.
std::string without_domain_text(const Tables& tables, const GangRecord* gang, std::int64_t number) {
  const std::string level = gang == nullptr || gang->within.is_none()
                                ? ""
                                : " of one " + tables.names.levels()[gang->within.row()].name.str();
  const std::string anywhere = " could be on any nodes" + level;
  if (number == 0) return "its groups" + anywhere;
  const auto index = static_cast<std::size_t>(number) - 1;
  const GangRecord* group = gang == nullptr ? nullptr : told_group(tables, *gang, index);
  const std::string named = told_group_text(tables, gang, index) + anywhere;
  if (group == nullptr) return named;
  return named + " (without " +
         (group->topology_key.empty() ? "ashlar.dev/within of its pods"
                                      : "its topology, in a new PodGroup, since spec.schedulingConstraints cannot be "
                                        "changed") +
         ")";
}

/// "more quota" of each queue that lacks it.
std::string limits_text(const ObjectNames& names, const Remedy& r) {
  std::string text;
  for (const Remedy::Limit& l : r.limits)
    text += (text.empty() ? "queue " : " and queue ") + names.queues.name(l.queue).str() + " had " +
            more_quota_text(names, l);
  return text;
}

}  // namespace

std::string remedy_text(const Tables& tables, const GangRecord* gang, const Remedy& r) {
  if (!r.of_groups.empty()) return of_groups_text(tables, gang, r);
  const ObjectNames& names = tables.names;
  const bool is_of_group = gang != nullptr && !gang->topology_key.empty();
  const std::string of_group = "in a new PodGroup, since spec.schedulingConstraints cannot be changed";
  const std::string beside =
      is_of_group && !gang->within_setting.empty() ? ", and in ashlar.dev/within of its pods" : "";
  const bool has_groups = gang != nullptr && gang->kind == GangKind::kGroups;
  const std::string setting = has_groups ? std::string(kGangWithinAnnotation) : "ashlar.dev/within";
  switch (r.kind) {
    case Remedy::Kind::kDropWithin:
      return "it could be spread over any nodes (without " +
             (is_of_group ? "its topology, " + of_group + beside : setting) + ")";
    case Remedy::Kind::kWidenWithin: {
      const LevelName& level = names.levels()[r.level.row()];
      return "it could be spread over one " + level.name.str() +
             (is_of_group ? " (key " + level.label.str() + ", " + of_group + beside + ")"
                          : " (" + setting + ": " + level.name.str() + ")");
    }
    case Remedy::Kind::kFewerMembers:
      return "it had " + counted(r.amount, "member");
    case Remedy::Kind::kFewerDevices:
      return (gang == nullptr || gang->is_lone_pod() ? "it requested at most "
                                                     : "each of its pods requested at most ") +
             counted(r.amount, "GPU");
    case Remedy::Kind::kMoreQuota:
      return limits_text(names, r);
    case Remedy::Kind::kFreeDevices:
      return more_devices_text(r.amount) + in_level_text(tables, gang, r.level);
    case Remedy::Kind::kMoreNodes:
      return more_nodes_text(names, r.amount, r.node) + in_level_text(tables, gang, r.level) +
             new_domain_text(names, r);
    case Remedy::Kind::kDropGroupWithin:
      return without_domain_text(tables, gang, r.amount);
  }
  return {};
}

std::string_view remedy_name(Remedy::Kind kind) {
  constexpr std::string_view kNames[] = {"DropWithin", "WidenWithin", "FewerMembers", "FewerCards",
                                         "MoreQuota",  "FreeCards",   "MoreNodes",    "DropGroupWithin"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace ashlar::kube
