#include "engine/engine_fields.h"

#include <algorithm>

namespace ashlar {

bool EngineFields::is_sound(const PendingQueue::Class& job_class, const PendingQueue& a, const State& state) {
  bool are_waiting = true;
  job_class.each_job([&](const PendingQueue::Entry& e) {
    are_waiting = are_waiting && state.is_live(e.job) && a.contains(e.job) &&
                  &a.class_at(a.class_id(e.job)) == &job_class && a.entry_of(e.job) == e;
  });
  const auto& seen = job_class.holders_seen;
  const auto is_reported = [&](const PendingQueue::Holder& holder) { return holder.job == job_class.behind; };
  const bool has_holders = !seen.empty() && !job_class.holders.empty() && std::is_sorted(seen.begin(), seen.end()) &&
                           std::any_of(seen.begin(), seen.end(), is_reported);
  const bool has_none = seen.empty() && job_class.holders.empty();
  return are_waiting && (job_class.held.empty() ? has_none : has_holders && job_class.is_active);
}

bool EngineFields::is_sound(const Engine& engine, const State& state) {
  const PendingQueue& a = engine.data_.pending;
  const auto is_class = [&](ClassId id) { return id.row() < a.classes_.size() && !a.classes_[id.row()].is_empty(); };
  const auto are_classes = [&](const auto& ids) { return std::all_of(ids.begin(), ids.end(), is_class); };
  const auto are_heads = [&](const std::set<PendingQueue::Head>& heads) {
    return std::all_of(heads.begin(), heads.end(), [&](const PendingQueue::Head& h) {
      return is_class(h.job_class) && state.is_live(h.entry.job);
    });
  };
  if (a.class_of_job_.size() != a.entry_of_job_.size() || !are_heads(a.active_heads_)) return false;
  for (const ClassId id : a.class_of_job_)
    if (!id.is_none() && !is_class(id)) return false;
  for (const PendingQueue::Class& job_class : a.classes_)
    if (!is_sound(job_class, a, state)) return false;
  for (const ClassId id : a.spare_)
    if (id.row() >= a.classes_.size()) return false;
  for (const auto& [queue, heads] : a.blocked_heads_)
    if (heads.empty() || !are_heads(heads)) return false;
  for (const auto& [of, classes] : a.waiting_for_capacity_)
    if (!are_classes(classes)) return false;
  for (const auto& [queue, classes] : a.behind_heads_)
    if (!are_classes(classes)) return false;
  const std::size_t nodes = state.cluster().rows();
  for (const Reservation& p : engine.reservations()) {
    const bool are_nodes = std::all_of(p.spares.begin(), p.spares.end(), [&](const Reservation::Spare& s) {
      return s.node.row() < nodes &&
             s.room.devices.size() <= static_cast<std::size_t>(state.cluster().devices()[s.node.row()]);
    });
    const bool are_queues =
        std::all_of(p.quota_spares.begin(), p.quota_spares.end(),
                    [&](const Reservation::QuotaSpare& s) { return s.queue.row() < state.queues().rows(); });
    const bool are_places = std::all_of(p.places.begin(), p.places.end(),
                                        [&](const Reservation::Place& at) { return at.node.row() < nodes; });
    if (!state.is_live(p.entry.job) || !are_nodes || !are_queues || !are_places) return false;
  }
  return are_classes(a.waiting_for_quota_) && are_classes(a.waiting_in_parts_);
}

}  // namespace ashlar
