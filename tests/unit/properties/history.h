// History: random but repeatable lives of a cluster. A Move is a few small numbers, so that RapidCheck can shrink a
// failing history; Outside turns it into the events that a world of nodes, jobs, other schedulers and an unreliable API
// server would send: late, doubled, reordered, with a jumping clock.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "model/event.h"
#include "model/plan.h"
#include "policy/profile.h"
#include "state/state.h"

namespace ashlar {

struct Move {
  int kind = 0;  ///< weighted by Outside::act
  int a = 0, b = 0, c = 0;
};
inline std::ostream& operator<<(std::ostream& out, const Move& m) {
  return out << "{" << m.kind << "," << m.a << "," << m.b << "," << m.c << "}";
}

inline constexpr int kMoveKinds = 40;

inline rc::Gen<std::vector<Move>> some_moves() {
  const auto small = [] { return rc::gen::inRange(0, 64); };
  const auto move =
      rc::gen::build<Move>(rc::gen::set(&Move::kind, rc::gen::inRange(0, kMoveKinds)), rc::gen::set(&Move::a, small()),
                           rc::gen::set(&Move::b, small()), rc::gen::set(&Move::c, small()));
  return rc::gen::scale(2.5, rc::gen::container<std::vector<Move>>(move));  // up to 250 moves
}

struct OutsideOptions {
  bool has_quota = true;
  bool has_foreign = true;       ///< pods of other schedulers, also more than fit
  bool has_node_changes = true;  ///< nodes that change their facts while in use
  bool has_holds = false;        ///< also of more than fits
  bool has_company = false;      ///< pods with labels, and foreign ones that keep others away from their domain
  bool has_images = false;       ///< nodes get and lose container images, which some constraints name
  bool has_health = false;       ///< devices that are reported unhealthy, and healthy again
  /// nodes with devices of several classes, of unlike memory, or sliced; classes get and lose capabilities, which some
  /// constraints name
  bool has_layouts = false;
  bool has_shares = false;  ///< has_quota, and guarantees, limits of what is borrowed, weights and priorities of queues
  bool has_gangs = false;   ///< gangs of groups with a minimum and a domain of their own
  bool has_grants = false;  ///< members that hold something else of their devices than they request
  bool has_rules_among_members =
      false;  ///< has_company, and gangs whose members have unlike labels and rules about them
  /// Beyond those of a small world, and there from the beginning: few nodes are looked at one by one, of more than
  /// FitTable compares so it keeps their ranks.
  int more_nodes = 0;
};

class Outside {
 public:
  explicit Outside(OutsideOptions options = {}) : options_(options) {}

  /// Levels, demands, constraints, queues, and a few nodes.
  std::vector<Event> begin();
  /// What this move makes happen, given what is known to be alive.
  std::vector<Event> act(const Move& move, const State& state);
  /// The plan's binds get answers, some time.
  void learn(const Plan& plan);
  Millis now() const { return now_; }

  static constexpr int kNodes = 10, kJobs = 20, kDemands = 12, kQueues = 5;
  int nodes() const { return kNodes + options_.more_nodes; }
  /// Those of our jobs, with those that are kept away, and beyond them those of pods that keep others away.
  static constexpr int kConstraints = 6, kWithCompany = 8, kLonerConstraints = 9;
  static constexpr int kLayouts = 12, kGangSpecs = 6, kClasses = 3;
  static constexpr int kLabelSets = 6, kSelectors = 5, kNamespaces = 3, kImages = 3;

 private:
  void tell(std::vector<Event>& out, EventBody body) const { out.push_back({now_, std::move(body)}); }
  NodeFacts facts_of(const Move& move) const;
  LabelSetId labels_of(const Move& move) const;
  /// Of the m-th member of a new job.
  std::pair<ConstraintId, LabelSetId> rules_of(const Move& move, std::uint32_t m) const;
  int constraints() const { return options_.has_company ? kWithCompany : kConstraints; }
  void introduce_company(std::vector<Event>& out) const;
  void move_image(const Move& move, std::vector<Event>& out) const;
  Constraint constraint_of(int i) const;
  void divide(const Move& move, Workload& w) const;
  void submit(const Move& move, const State& state, std::vector<Event>& out);
  void answer(const Move& move, const State& state, std::vector<Event>& out);
  void hold(const Move& move, const State& state, std::vector<Event>& out);
  void disturb(const Move& move, const State& state, std::vector<Event>& out);
  /// A member row that is not alive and not promised in this batch.
  MemberId spare_member(const State& state, std::vector<std::uint8_t>& promised) const;

  OutsideOptions options_;
  Millis now_{1000};
  std::vector<Bind> unanswered_;
  std::vector<Event> told_;  ///< some of them come again
};

/// The profile of this name, with reservations or without.
inline Profile profile_with(Blocking blocking, const char* name = "ashlar") {
  Profile profile = *builtin_profile(name);
  profile.blocking = blocking;
  return profile;
}

}  // namespace ashlar
