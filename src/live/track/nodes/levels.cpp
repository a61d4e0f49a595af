#include "live/track/nodes/levels.h"

#include "kubeclient/bind_outcome.h"
#include "live/track/gangs/membership.h"

namespace ashlar::kube {

namespace {

constexpr std::size_t kLevelsToldMax = 1024;  ///< labels logged as exceeding the limit; anyone may invent more

/// The level now stands for another label, or is new: every node moves to the domain given by its label.
void announce_level(TrackerData& t, LevelId level) {
  ++t.levels_edition;
  t.out.add(LevelsDefined{t.names.nested_count(),
                          static_cast<std::uint32_t>(t.names.levels().size()) - t.names.nested_count()});
  for (std::size_t row = 0; row < t.nodes.size(); ++row) {
    if (t.names.nodes.name(NodeId(row)).empty()) continue;
    NodeFacts& facts = t.nodes[row].facts;
    facts.domains.resize(t.names.levels().size());
    const DomainId before = facts.domains[level.row()];
    const PooledString* value = find_label(t.nodes[row].labels, t.names.levels()[level.row()].label);
    facts.domains[level.row()] = value == nullptr ? DomainId::none() : t.names.domain(level, DomainId::none(), *value);
    // The node itself is unchanged: no binding to it is re-evaluated.
    if (facts.domains[level.row()] != before) t.out.add(NodeSeen{NodeId(row), facts});
  }
}

/// A level that no gang names any more; none if all are named. The configured ones stay. There is one search, however
/// many gangs want a level, until one is left. Cost: O(gangs + jobs + groups).
LevelId unused_level(TrackerData& t) {
  if (t.are_all_levels_named) return LevelId::none();
  ++t.level_searches;
  std::vector<bool> is_used(t.names.levels().size(), false);
  const auto use = [&](LevelId level) {
    if (!level.is_none()) is_used[level.row()] = true;
  };
  for (GangSlot slot = 0; slot < t.gangs.slots(); ++slot) {
    use(t.gangs[slot].within);
    use(t.gangs[slot].prefer);
  }
  for (const JobOwner& owner : t.owners) {
    use(owner.within);
    use(owner.prefer);
    if (owner.spec.is_none()) continue;
    for (const GangGroup& group : t.translator.spec_of(owner.spec).groups) {
      use(group.within);
      use(group.prefer);
    }
  }
  for (std::size_t l = t.names.nested_count(); l < is_used.size(); ++l)
    if (!is_used[l]) return LevelId(l);
  t.are_all_levels_named = true;
  return LevelId::none();
}

/// The level of a name or of a node label; none for an empty name, if no node has the label, or beyond the limit of
/// levels.
LevelId level_for(TrackerData& t, const PooledString& name) {
  if (name.empty()) return LevelId::none();
  if (const LevelId known = t.names.find_level(name); !known.is_none()) return known;
  if (!t.node_labels.contains(name)) return LevelId::none();
  const LevelId level = t.names.add_level(name, t.names.has_room_for_level() ? LevelId::none() : unused_level(t));
  if (!level.is_none()) {
    announce_level(t, level);
  } else if (t.listeners.log && t.levels_told.size() < kLevelsToldMax && t.levels_told.insert(name).second) {
    t.listeners.log(LogLevel::kWarning, {"gangs request the node label " + bounded_name(name) +
                                         " as a topology level, but all " + std::to_string(Topology::kLevelsMax) +
                                         " levels are in use: they wait, and preferences for it are ignored"});
  }
  return level;
}

}  // namespace

bool lacks_level(const Tables& t, const GangRecord& g) {
  const PooledString& hard = g.hard_setting();
  return !hard.empty() && (g.within.is_none() || t.names.find_level(hard) != g.within);
}

void note_levels_left(TrackerData& t, LevelId within, LevelId prefer) {
  if (within.is_none() && prefer.is_none()) return;
  t.are_all_levels_named = false;
  t.has_level_news = t.has_level_news || !t.names.has_room_for_level();
}

void touch_level_waiters(TrackerData& t) {
  t.has_level_news = false;
  for (GangSlot slot = 0; slot < t.gangs.slots(); ++slot) {
    const GangRecord& g = t.gangs[slot];
    if (g.is_used && !g.pods.empty() && (lacks_level(t, g) || (g.prefer.is_none() && !g.prefer_setting.empty())))
      touch_gang(t, slot);
  }
}

std::size_t gangs_without_level(const Tables& t) {
  std::size_t count = 0;
  for (GangSlot slot = 0; slot < t.gangs.slots(); ++slot) {
    const GangRecord& g = t.gangs[slot];
    const PooledString& hard = g.hard_setting();
    count += g.is_used && !g.pods.empty() && lacks_level(t, g) && t.node_labels.contains(hard) ? 1 : 0;
  }
  return count;
}

/// The levels that the gang's settings name. A hard one that does not exist stays none and holds the gang, see
/// gang_hold; a soft one is ignored. PodGroups without pods of ours use up no level.
void take_levels(TrackerData& t, GangRecord& g) {
  const PooledString& hard = g.hard_setting();
  const LevelId within = g.within, prefer = g.prefer;
  g.within = g.pods.empty() ? LevelId::none() : level_for(t, hard);
  if (!g.pods.empty() && lacks_level(t, g) && !g.prefer.is_none()) {  // the soft setting gives way
    if (g.prefer.row() >= t.names.nested_count()) t.are_all_levels_named = false;
    g.prefer = LevelId::none();
    g.within = level_for(t, hard);
  }
  // Looked up after the hard one is taken, so that it cannot be given the same row.
  g.prefer = g.pods.empty() ? LevelId::none() : level_for(t, g.prefer_setting);
  if (within != g.within || prefer != g.prefer) note_levels_left(t, within, prefer);
}

/// The engine has different ones. A started gang keeps its own.
bool has_other_levels(const TrackerData& t, const GangRecord& g) {
  if (g.job.is_none()) return false;
  const JobOwner& reported = t.owners[g.job.row()];
  return reported.within != g.within || reported.prefer != g.prefer;
}

}  // namespace ashlar::kube
