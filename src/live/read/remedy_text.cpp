#include "live/read/remedy_text.h"

#include "live/track/gangs/membership.h"
#include "text/amount_text.h"

namespace ashlar::kube {
namespace {

std::string counted(std::int64_t count, const char* thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

/// "2 GPUs more quota", "2 example.com/nic more quota on H100 nodes".
std::string more_quota_text(const ObjectNames& names, const Remedy::Limit& limit) {
  const QuotaKey& of = limit.of;
  std::string text = quota_text(quota_number(of), limit.lacking);
  if (!of.resource.is_none() && of.resource != resource::kCpu && of.resource != resource::kMemory)
    text += " " + names.resource_name(of.resource).str();
  text += " more quota";
  return of.device_class.is_none() ? text : text + " on " + names.models.name(of.device_class).str() + " nodes";
}

/// "PodGroup decode could be on any nodes (...)": the group of that number, 0: all of them.
std::string without_domain_text(const Tables& tables, const GangRecord* gang, std::int64_t number) {
  if (number == 0) return "its groups could be on any nodes";
  const auto index = static_cast<std::size_t>(number) - 1;
  if (gang == nullptr || index >= gang->groups.size())
    return "its group " + std::to_string(number) + " could be on any nodes";
  const GangRecord& group = tables.gangs[gang->groups[index]];
  return "PodGroup " + group.name.str() + " could be on any nodes (without " +
         (group.topology_key.empty() ? "ashlar.dev/within of its pods"
                                     : "its topology, in a new PodGroup, since spec.schedulingConstraints cannot be "
                                       "changed") +
         ")";
}

}  // namespace

std::string remedy_text(const Tables& tables, const GangRecord* gang, const Remedy& r) {
  const ObjectNames& names = tables.names;
  const bool is_of_group = gang != nullptr && !gang->topology_key.empty();
  const std::string of_group = "in a new PodGroup, since spec.schedulingConstraints cannot be changed";
  const std::string beside =
      is_of_group && !gang->within_setting.empty() ? ", and in ashlar.dev/within of its pods" : "";
  const bool has_groups = gang != nullptr && gang->kind == GangKind::kGroups;
  const std::string setting = has_groups ? std::string(kGangWithinAnnotation) : "ashlar.dev/within";
  const std::string level =
      r.level.row() < names.levels().size() ? names.levels()[r.level.row()].name.str() : std::string();
  const std::string in_level =
      level.empty() ? "" : (gang != nullptr && has_bound_member(tables, *gang) ? " in its " : " in one ") + level;
  switch (r.kind) {
    case Remedy::Kind::kDropWithin:
      return "it could be spread over any nodes (without " +
             (is_of_group ? "its topology, " + of_group + beside : setting) + ")";
    case Remedy::Kind::kWidenWithin:
      return "it could be spread over one " + level +
             (is_of_group ? " (key " + names.levels()[r.level.row()].label.str() + ", " + of_group + beside + ")"
                          : " (" + setting + ": " + level + ")");
    case Remedy::Kind::kFewerMembers:
      return "it had " + counted(r.amount, "member");
    case Remedy::Kind::kFewerDevices:
      return "no pod requested more than " + counted(r.amount, "GPU");
    case Remedy::Kind::kMoreQuota: {
      std::string text;
      for (const Remedy::Limit& l : r.limits)
        text += (text.empty() ? "queue " : " and queue ") + names.queues.name(l.queue).str() + " had " +
                more_quota_text(names, l);
      return text;
    }
    case Remedy::Kind::kFreeDevices:
      return counted(r.amount, "more GPU") + (r.amount == 1 ? " was free" : " were free") + in_level;
    case Remedy::Kind::kMoreNodes:
      return "there " + std::string(r.amount == 1 ? "was " : "were ") + counted(r.amount, "more empty node") +
             " like " + names.nodes.name(r.node).str() + in_level;
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
