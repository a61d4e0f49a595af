#include "live/track/gangs/groups_hold.h"

#include "text/short_list.h"

namespace ashlar::kube {
namespace {

/// Of more groups than these, the text names neither their number nor theirs: it would be written anew to each PodGroup
/// with each that is created.
constexpr std::size_t kCountedMax = 16;

/// "PodGroup a", "PodGroups a, b, c and 9 more"
std::string groups_text(const Tables& t, const GangRecord& g) {
  return (g.groups.size() == 1 ? "PodGroup " : "PodGroups ") +
         short_list(g.groups.size(), [&](std::size_t i) { return t.gangs[g.groups[i]].name.str(); });
}

/// The groups whose annotation differs, by rank: the first that has one, and the first with another. `said`: what the
/// group has, empty: nothing; `is_same`: whether two agree.
template <class Said, class IsSame>
std::string difference(const Tables& t, const GangRecord& g, std::string_view key, Said&& said, IsSame&& is_same) {
  const GangRecord* first = nullptr;
  for (const GangSlot slot : g.groups) {
    const GangRecord& group = t.gangs[slot];
    if (said(group).empty()) continue;
    if (first == nullptr) first = &group;
    if (is_same(*first, group)) continue;
    return "the PodGroups of gang " + g.name.str() + " have different values of " + std::string(key) + ": PodGroup " +
           first->name.str() + " has " + said(*first) + ", PodGroup " + group.name.str() + " has " + said(group) +
           "; all must have the same";
  }
  return {};
}

}  // namespace

bool is_same_level(const Tables& t, const PooledString& a, const PooledString& b) {
  return a == b || (t.names.find_level(a) == t.names.find_level(b) && !t.names.find_level(a).is_none());
}

std::string groups_trouble(const Tables& t, const GangRecord& g) {
  const std::string within = difference(
      t, g, kGangWithinAnnotation, [](const GangRecord& group) { return group.settings.within.str(); },
      [&](const GangRecord& a, const GangRecord& b) { return is_same_level(t, a.settings.within, b.settings.within); });
  if (!within.empty()) return within;
  if (g.is_started) return {};
  const std::string size = difference(
      t, g, kGangSizeLabel, [](const GangRecord& group) { return std::to_string(group.settings.size); },
      [](const GangRecord& a, const GangRecord& b) { return a.settings.size == b.settings.size; });
  if (!size.empty() || g.groups.empty()) return size;
  const std::uint32_t most = t.gangs[g.groups.front()].settings.size;
  if (g.groups.size() <= most) return {};
  const std::string has = g.groups.size() > kCountedMax
                              ? "more groups"
                              : std::to_string(g.groups.size()) + " groups (" + groups_text(t, g) + ")";
  return "gang " + g.name.str() + " has " + has + ", but " + std::string(kGangSizeLabel) + " is " +
         std::to_string(most) + "; delete the surplus ones, or correct the annotation on all of them";
}

bool has_all_groups(const Tables& t, const GangRecord& g) {
  return !g.groups.empty() && g.groups.size() >= t.gangs[g.groups.front()].settings.size;
}

std::string missing_groups_text(const Tables& t, const GangRecord& g) {
  if (g.groups.empty()) return "no group of gang " + g.name.str() + " is there";
  const std::uint32_t size = t.gangs[g.groups.front()].settings.size;
  if (size > kCountedMax)
    return "gang " + g.name.str() + " waits until all its " + std::to_string(size) +
           " PodGroups are there, which have the annotation " + std::string(kGangLabel) + ": " + g.name.str();
  const bool is_one = size - g.groups.size() == 1;
  return std::to_string(g.groups.size()) + " of " + std::to_string(size) + " groups of gang " + g.name.str() +
         " are there (" + groups_text(t, g) + "); it waits for " +
         (is_one ? "one more PodGroup" : std::to_string(size - g.groups.size()) + " more PodGroups") +
         " with the annotation " + std::string(kGangLabel) + ": " + g.name.str();
}

}  // namespace ashlar::kube
