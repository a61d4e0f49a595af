// EngineFields: what an engine remembers between two decisions besides the state, listed once, so that it can be
// written out and read back exactly: which jobs wait in which class and why it is parked, which verdicts were
// reported, reached on which nodes, what holds jobs, and the position of the stream of random numbers. An engine of
// the same profile and options that reads it back decides the same, byte for byte, on the same state. Class views are
// not listed: they never change a decision.
#pragma once

#include <concepts>
#include <type_traits>

#include "engine/engine.h"

namespace ashlar {

struct EngineFields {
  template <class E, class Visit>
  requires std::same_as<std::remove_const_t<E>, Engine>
  static void each(E& e, Visit&& visit) {
    auto& d = e.data_;
    visit(d.draws), visit(d.reservations.reservations_), visit(d.queue_changes_seen), visit(d.facts_seen),
        visit(d.judged_on), visit(d.to_prove), visit(d.reported);
    auto& a = d.pending;
    visit(a.classes_), visit(a.spare_), visit(a.moved_heads_), visit(a.newcomers_of_parked_), visit(a.head_changes_);
    visit(a.queue_keys_.keys_), visit(a.queue_keys_.tree_seen_);
    visit(a.queue_keys_.history_.step_), visit(a.queue_keys_.history_.pasts_);
    visit(d.reservations.former_), visit(d.reservations.next_edition_), visit(d.held_seen), visit(d.more_victims_at),
        visit(d.is_cut);
    visit(d.costly.first_), visit(d.costly.further_), visit(d.costly.at_), visit(d.costly.is_short_),
        visit(d.costly.searched_at_), visit(d.costly.payers_), visit(d.costly.own_);
  }
  /// After the fields were read and found sound: what follows from them is made anew.
  static void rebuild(Engine& e) {
    e.data_.fit_tables.forget_all();
    e.data_.pending.list_anew();
    e.data_.reservations.forget_caches();
  }

  /// Whether the fields are those of an engine that decides on this state: each waiting job is in its class, and all
  /// rows that are named exist. To be asked before rebuild.
  static bool is_sound(const Engine& engine, const State& state);

 private:
  static bool are_sound(const PendingQueue& pending, const State& state);
  static bool is_sound(const UsageHistory& history, const State& state);
  static bool is_sound(const Reservation& reservation, const State& state);
  static bool are_sound(const CostlyTurns& turns);
};

}  // namespace ashlar
