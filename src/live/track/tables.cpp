#include "live/track/tables.h"

#include <utility>

namespace ashlar::kube {

Tables::Tables(std::vector<LevelName> levels) : names(std::move(levels)) {}
Tables::~Tables() = default;

Tables::Tables(const Tables& other, WithoutJournal) : Tables(other) {
  is_journaled_ = false;
  names.stop_journal();
  pods.stop_journal();
  gangs.stop_journal();
  closings.stop_journal();
  owners.stop_journal();
}

void Tables::start_journal() {
  is_journaled_ = true;
  names.start_journal();
  pods.start_journal();
  gangs.start_journal();
  closings.start_journal();
  owners.start_journal();
}

bool Tables::has_changes() const {
  if (!is_journaled_) return false;
  const bool has_rows = pods.has_changes() || gangs.has_changes() || closings.has_changes() || owners.has_changes();
  return has_rows || names.has_changes() || levels_edition != levels_taken_ || classes_edition != classes_taken_ ||
         groups_problem != groups_problem_taken_;
}

Tables::Changes Tables::take_changes() {
  Changes c;
  c.names = names.take_changes();
  pods.take_changes(c.pods);
  gangs.take_changes(c.gangs);
  closings.take_changes(c.closings);
  owners.take_changes(c.owners);
  c.levels_edition = levels_edition;
  if (std::exchange(levels_taken_, levels_edition) != levels_edition) {
    c.node_labels.emplace();
    for (const auto& [key, nodes] : node_labels) c.node_labels->push_back(key);
  }
  if (std::exchange(classes_taken_, classes_edition) != classes_edition) c.classes = classes;
  c.groups_problem = groups_problem_taken_ = groups_problem;
  return c;
}

void Tables::put(Changes&& c) {
  names.put(std::move(c.names));
  pods.put(std::move(c.pods));
  gangs.put(std::move(c.gangs));
  closings.put(std::move(c.closings));
  owners.put(std::move(c.owners));
  levels_edition = c.levels_edition;
  if (c.node_labels) {
    node_labels.clear();
    for (PooledString& key : *c.node_labels) node_labels.emplace(std::move(key), 1u);
  }
  if (c.classes) classes = std::move(*c.classes);
  groups_problem = std::move(c.groups_problem);
}

}  // namespace ashlar::kube
