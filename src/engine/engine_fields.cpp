#include "engine/engine_fields.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ashlar {
namespace {

bool has_sound_holders(const PendingQueue::Class& job_class) {
  const auto& seen = job_class.holders_seen;
  if (job_class.held.empty()) return seen.empty() && job_class.holders.empty();
  const auto is_reported = [&](const PendingQueue::Holder& holder) { return holder.job == job_class.behind; };
  return job_class.is_active && !job_class.holders.empty() && std::is_sorted(seen.begin(), seen.end()) &&
         std::any_of(seen.begin(), seen.end(), is_reported);
}

/// Whether the job waits with one of its members, or is about to leave.
bool is_waiting(const State& state, JobId job, const std::set<JobId>& changed) {
  return state.is_live(job) &&
         (changed.contains(job) || (state.job(job).is_in_backlog && !state.first_waiting_member(job).is_none()));
}

/// Devices of one job are added to those of others.
constexpr std::int64_t kDevicesMax = std::int64_t{1} << 48;
/// What a search costs is added up.
constexpr std::int64_t kLooksMax = std::int64_t{1} << 48;
/// The time that has passed since another is a difference.
constexpr std::int64_t kMomentMax = std::int64_t{1} << 60;
/// Queues index columns: beyond the known ones by so much at most.
constexpr std::size_t kQueueLeapMax = 1u << 16;

bool has_sound_key(const EquivalenceClass& key, const State& state) {
  if (key.queue.row() >= state.queues().rows() + kQueueLeapMax) return false;
  const std::size_t levels = state.cluster().topology().level_count();
  const auto is_run = [&](const MemberRun& run) {
    return run.demand.row() < state.demand_rows() && run.constraint.row() < state.cluster().constraint_rows();
  };
  const auto is_level = [&](LevelId level) { return level.is_none() || level.row() < levels; };
  if (!key.spec.is_none()) {
    if (key.spec.row() >= state.gangs().rows()) return false;
    const std::vector<GangGroup>& groups = state.gang_spec(key.spec).groups;
    const auto is_group = [&](const MemberRun& run) {
      return run.group < groups.size() && is_level(groups[run.group].within);
    };
    if (!std::all_of(key.runs.begin(), key.runs.end(), is_group)) return false;
  }
  return is_run({key.demand, key.constraint, 1}) && std::all_of(key.runs.begin(), key.runs.end(), is_run) &&
         is_level(key.within) && is_level(key.prefer) && (key.only.is_none() || state.is_live(key.only));
}

/// A verdict of jobs that wait for quota names the queue whose limit it is.
bool has_sound_verdict(const Verdict& verdict, const State& state) {
  return verdict.wake_on != WakeOn::kQuota || verdict.reasons.empty() ||
         verdict.reasons.front().subject < state.queues().rows();
}

}  // namespace

bool EngineFields::is_sound(const UsageHistory& history, const State& state) {
  const std::size_t counters = kQuotaDimensions + state.queues().keys().size();
  const auto is_past = [&](const UsageHistory::Past& past) {
    return past.averages.size() <= counters && past.held.size() <= counters && past.at_step.size() <= counters &&
           std::ranges::all_of(past.averages, [](double v) { return std::isfinite(v); }) &&
           std::ranges::all_of(past.at_step, [](double v) { return std::isfinite(v); });
  };
  return history.pasts_.size() <= state.queues().rows() && std::ranges::all_of(history.pasts_, is_past);
}

bool EngineFields::are_sound(const PendingQueue& pending, const State& state) {
  if (!is_sound(pending.queue_keys_.history_, state)) return false;
  std::set<JobId> found, changed;
  for (const BacklogChange& change : state.backlog_changes()) changed.insert(change.job);
  std::set<EquivalenceClass> keys;
  for (const PendingQueue::Class& job_class : pending.classes_) {
    if (job_class.devices < 0 || job_class.devices > kDevicesMax) return false;
    if (!has_sound_holders(job_class) || !has_sound_verdict(job_class.verdict, state)) return false;
    if (job_class.is_empty()) continue;
    bool are_its_jobs = has_sound_key(job_class.key, state) && keys.insert(job_class.key).second;
    job_class.each_job([&](const PendingQueue::Entry& e) {
      are_its_jobs = are_its_jobs && found.insert(e.job).second && is_waiting(state, e.job, changed);
    });
    if (!are_its_jobs) return false;
  }
  std::set<ClassId> spare;
  for (const ClassId id : pending.spare_)
    if (id.row() >= pending.classes_.size() || !pending.classes_[id.row()].is_empty() || !spare.insert(id).second)
      return false;
  return spare.size() + keys.size() == pending.classes_.size();
}

bool EngineFields::is_sound(const Reservation& p, const State& state) {
  const std::size_t nodes = state.cluster().rows();
  const bool are_nodes = std::all_of(p.spares.begin(), p.spares.end(), [&](const Reservation::Spare& s) {
    return s.node.row() < nodes &&
           s.room.devices.size() <= static_cast<std::size_t>(state.cluster().devices()[s.node.row()]);
  });
  const auto is_queue = [&](QueueId queue) { return queue.row() < state.queues().rows(); };
  const auto has_queue = [&](const auto& of) { return is_queue(of.queue); };
  const bool are_queues = (p.limiting.is_none() || is_queue(p.limiting)) &&
                          std::all_of(p.quota_spares.begin(), p.quota_spares.end(), has_queue) &&
                          std::all_of(p.quota_kept.begin(), p.quota_kept.end(), has_queue) &&
                          std::all_of(p.quota_claims.begin(), p.quota_claims.end(), has_queue);
  const bool are_places = std::all_of(p.places.begin(), p.places.end(),
                                      [&](const Reservation::Place& at) { return at.node.row() < nodes; });
  return state.is_live(p.entry.job) && are_nodes && are_queues && are_places;
}

bool EngineFields::are_sound(const CostlyTurns& turns) {
  const auto is_time = [](Millis t) { return t.value >= -kMomentMax && t.value <= kMomentMax; };
  const auto is_sum = [](std::int64_t looks) { return looks >= -kLooksMax && looks <= kLooksMax; };
  return is_time(turns.at_) && is_sum(turns.first_.left) && is_sum(turns.further_.left) &&
         std::ranges::all_of(turns.own_, [&](const auto& of) { return is_sum(of.second.left); }) &&
         std::ranges::all_of(turns.payers_,
                             [](const auto& of) { return of.second.spent >= 0 && of.second.spent <= kLooksMax; });
}

bool EngineFields::is_sound(const Engine& engine, const State& state) {
  const auto is_sound = [&](const Reservation& p) { return EngineFields::is_sound(p, state); };
  const Reservations& book = engine.data_.reservations;
  return are_sound(engine.data_.pending, state) && are_sound(engine.data_.costly) &&
         std::all_of(book.reservations_.begin(), book.reservations_.end(), is_sound);
}

}  // namespace ashlar
