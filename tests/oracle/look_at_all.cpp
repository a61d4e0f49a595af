#include "look_at_all.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "engine/engine_fields.h"
#include "engine/quota.h"
#include "state/state_fields.h"

namespace ashlar::oracle {
namespace {

/// Everybody leaves and enters again: shapes that nobody is in are forgotten, and come back open.
void open_everything(State& state) {
  std::vector<JobId> waiting;
  for (std::size_t row = 0; row < state.job_rows(); ++row)
    if (state.is_live(JobId(row)) && state.job(JobId(row)).is_in_backlog) waiting.emplace_back(row);
  StateFields::each(state, [&](auto& column) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(column)>, std::vector<BacklogChange>>)
      for (const bool has_entered : {false, true})
        for (const JobId job : waiting) column.push_back({job, has_entered});
  });
}

/// None is due, as if all had been made just now.
void keep_reservations(Engine& engine, const State& state, Millis now) {
  EngineFields::each(engine, [&](auto& field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, std::vector<Reservation>>)
      for (Reservation& reservation : field) {
        reservation.made_at = now;
        reservation.unforeseen_frees_seen = state.unforeseen_frees();
        reservation.queue_changes_seen = state.queues().change_count();
        reservation.may_be_earlier = false;
      }
  });
}

/// Copies with what is in a snapshot alone.
struct Anew {
  State state;
  Engine engine;

  Anew(const State& of, const Engine& engine_of) : state(of), engine(engine_of.profile(), engine_of.options()) {
    StateFields::forget_caches(state);
    std::vector<const void*> fields;
    EngineFields::each(engine_of, [&](const auto& field) { fields.push_back(&field); });
    std::size_t at = 0;
    EngineFields::each(engine, [&](auto& field) {
      field = *static_cast<const std::remove_reference_t<decltype(field)>*>(fields[at++]);
    });
  }
  LookedAtAll decide(Millis now) {
    LookedAtAll looked{started_by(engine.decide(state, now)), {}};
    looked.reservations.assign(engine.reservations().begin(), engine.reservations().end());
    return looked;
  }
};

}  // namespace

std::map<std::uint32_t, int> started_by(const Plan& plan) {
  std::map<std::uint32_t, int> members;
  for (const Action& action : plan.actions)
    if (const auto* bind = std::get_if<Bind>(&action)) ++members[bind->job.value];
  return members;
}

LookedAtAll look_at_all(const State& state, const Engine& engine, Millis now, Renewal renewal) {
  Anew copy(state, engine);
  if (renewal == Renewal::kNone) keep_reservations(copy.engine, state, now);
  EngineFields::rebuild(copy.engine);
  open_everything(copy.state);
  return copy.decide(now);
}

LookedAtAll decide_anew(const State& state, const Engine& engine, Millis now) {
  Anew copy(state, engine);
  EngineFields::rebuild(copy.engine);
  return copy.decide(now);
}

std::map<std::uint32_t, int> started_by_looking_at_all(const State& state, const Engine& engine, Millis now) {
  return look_at_all(state, engine, now).started;
}

bool depends_on_the_look(const State& state, const Engine& engine, Millis now) {
  const bool is_by_lot = engine.profile().device == find_device("random");
  const auto reservations = engine.reservations();
  return std::any_of(reservations.begin(), reservations.end(), [&](const Reservation& p) {
    return p.made_at == now && (is_by_lot || (p.limiting.is_none() && quota_refusal(state, p.entry.job)));
  });
}

}  // namespace ashlar::oracle
