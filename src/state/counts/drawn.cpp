#include "state/counts/drawn.h"

#include <algorithm>

namespace ashlar {

void Drawn::draw(LabelSetId id, const To& by) {
  if (by.weight == 0) return;
  Set& set = sets_[id.row()];
  const auto is_before = [](const To& a, const To& b) {
    return a.topology != b.topology ? a.topology < b.topology : a.value < b.value;
  };
  const auto it = std::lower_bound(set.to.begin(), set.to.end(), by, is_before);
  if (it == set.to.end() || it->topology != by.topology || it->value != by.value)
    set.to.insert(it, by);
  else if ((it->weight += by.weight) == 0)
    set.to.erase(it);
  if (set.steps.size() == kStepsMax) forget_drawn_steps(id);
  set.steps.push_back(by);
}

void Drawn::forget_drawn_steps(LabelSetId id) {
  Set& set = sets_[id.row()];
  set.before += set.steps.size() + 1;
  set.steps.clear();
}

bool Drawn::is_drawn_alike(const Drawn& other) const {
  return std::equal(sets_.begin(), sets_.end(), other.sets_.begin(), other.sets_.end(),
                    [](const Set& a, const Set& b) { return a.to == b.to; });
}

}  // namespace ashlar
