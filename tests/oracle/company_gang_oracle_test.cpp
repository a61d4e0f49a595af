// Gangs whose members have rules about other pods against brute force: the engine places the whole gang in the decision
// in which it has a place by Kubernetes' rules, and in no other, and where those rules let it. A world in which they
// differ is made smaller and printed as a case.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "company_gang.h"
#include "engine/engine.h"
#include "environment.h"
#include "sim/case/case_file.h"
#include "state/ledger.h"

namespace ashlar::oracle::company_gang {
namespace {

constexpr std::uint64_t kWorlds = 4'000, kManyWorlds = 200'000;
constexpr int kFaultsShown = 3, kLooksMax = 20;
/// Verdicts that each kind of rule alone decides, of many worlds and of few; and each detail of one, of many.
constexpr long kDecidedOfMany = 200, kDecidedOfFew = 20, kDetailsDecided = 40;

enum class Fault : std::uint8_t { kNone, kInPart, kWrongYes, kWrongNo, kSlept, kNoRest, kNoCase };
constexpr const char* kFaultNames[] = {
    "none",    "placed in part", "placed against the rules", "has a place, and waits", "was not woken",
    "no rest", "no case"};

/// A world as the engine gets it, from its case.
class Player {
 public:
  explicit Player(const World& world) {
    Result<sim::CaseFile> file = sim::read_case(case_text(world), "world");
    if (!file) {
      error_ = file.error().message;
      return;
    }
    file_.emplace(std::move(*file));
    engine_.emplace(file_->profile);
    gang_ = file_->names.jobs.find("g");
  }

  const std::string& error() const { return error_; }
  /// Whether the engine has come to rest.
  bool decide_at(Millis now) {
    for (; next_ < file_->scripted_events.size() && file_->scripted_events[next_].at <= now; ++next_)
      if (const auto* body = std::get_if<EventBody>(&file_->scripted_events[next_].what))
        apply(state_, {file_->scripted_events[next_].at, *body});
    for (int looks = 0; looks < kLooksMax; ++looks)
      if (engine_->decide(state_, now).look_again_at > now) return true;
    return false;
  }
  /// Members on each node, by kind and by the node's index in the situation; and how many are placed.
  int read_seats(const Situation& situation, Seats& seats) const {
    seats.assign(situation.kinds.size(), std::vector<int>(situation.nodes.size(), 0));
    int placed = 0;
    std::size_t rank = 0;
    for (std::size_t k = 0; k < situation.kinds.size(); ++k)
      for (int m = 0; m < situation.kinds[k].members; ++m) {
        const NodeId node = state_.member(file_->names.members[gang_.row()][rank++]).node;
        if (node.is_none()) continue;
        const std::string name = file_->names.nodes.name(node);
        for (std::size_t n = 0; n < situation.nodes.size(); ++n)
          if (name == "n" + std::to_string(situation.nodes[n].id)) ++seats[k][n];
        ++placed;
      }
    return placed;
  }
  bool is_limit_reached() const {
    const Verdict verdict = engine_->verdict_of(gang_);
    return std::any_of(verdict.reasons.begin(), verdict.reasons.end(),
                       [](const Reason& r) { return r.code == ReasonCode::kLimitReached; });
  }

 private:
  std::optional<sim::CaseFile> file_;
  State state_;
  std::optional<Engine> engine_;
  JobId gang_;
  std::size_t next_ = 0;
  std::string error_;
};

int members_of(const Situation& situation) {
  int members = 0;
  for (const Kind& kind : situation.kinds) members += kind.members;
  return members;
}

struct Tally {
  long verdicts = 0, possible = 0, changed = 0, woken = 0, limits = 0;
  std::array<std::array<long, 2>, kLaws> decided = {};  ///< by law, and by whether there is a place
  void note(const Situation& situation, bool is_possible) {
    ++verdicts;
    possible += is_possible ? 1 : 0;
    for (std::size_t law = 0; law < kLaws; ++law)
      if (has_place(situation, static_cast<Law>(law)) != is_possible) ++decided[law][is_possible ? 1 : 0];
  }
};

bool is_placed_afresh(const World& world) {
  Player player(world);
  Seats seats;
  return player.error().empty() && player.decide_at(Millis(1000)) &&
         player.read_seats(world.start, seats) == members_of(world.start);
}

Fault play(const World& world, Tally* tally) {
  Player player(world);
  if (!player.error().empty()) return Fault::kNoCase;
  Situation now = world.start;
  for (std::size_t step = 0; step <= world.changes.size(); ++step) {
    if (step > 0) carry_out(world.changes[step - 1], now);
    if (!player.decide_at(Millis(1000 * static_cast<std::int64_t>(step + 1)))) return Fault::kNoRest;
    Seats seats;
    const int placed = player.read_seats(now, seats);
    const bool is_possible = has_place(now);
    if (tally != nullptr) {
      tally->note(now, is_possible);
      tally->changed += step > 0 ? 1 : 0;
      tally->woken += step > 0 && is_possible ? 1 : 0;
    }
    if (placed > 0 && placed < members_of(now)) return Fault::kInPart;
    if (placed > 0) return has_place(now, kLaws, &seats) ? Fault::kNone : Fault::kWrongYes;
    if (!is_possible) continue;
    if (player.is_limit_reached() && tally != nullptr) ++tally->limits;
    World fresh = world;
    fresh.start = now;
    fresh.changes.clear();
    return step > 0 && is_placed_afresh(fresh) ? Fault::kSlept : Fault::kWrongNo;
  }
  return Fault::kNone;
}

/// The same world with those members of the gang alone that are placed.
Situation with_placed_alone(Situation situation, const Seats& seats) {
  for (std::size_t k = 0; k < situation.kinds.size(); ++k)
    situation.kinds[k].members = std::accumulate(seats[k].begin(), seats[k].end(), 0);
  return situation;
}

/// Of a gang of which some may start. `starts`, `in_part`: how many did, and without the others.
Fault play_elastic(const World& world, long* starts, long* in_part) {
  Player player(world);
  if (!player.error().empty()) return Fault::kNoCase;
  Situation now = world.start;
  for (std::size_t step = 0; step <= world.changes.size(); ++step) {
    if (step > 0) carry_out(world.changes[step - 1], now);
    if (!player.decide_at(Millis(1000 * static_cast<std::int64_t>(step + 1)))) return Fault::kNoRest;
    Seats seats;
    const int placed = player.read_seats(now, seats);
    if (placed == 0) continue;
    if (placed < now.members_min) return Fault::kInPart;
    if (starts != nullptr) ++*starts;
    if (in_part != nullptr) *in_part += placed < members_of(now) ? 1 : 0;
    return has_place(with_placed_alone(now, seats), kLaws, &seats) ? Fault::kNone : Fault::kWrongYes;
  }
  return Fault::kNone;
}

/// The same fault with as little as possible.
template <class FaultOf>
World shrunk(World world, Fault fault, FaultOf&& fault_of) {
  for (bool is_smaller = true; is_smaller;) {
    is_smaller = false;
    for (World& candidate : smaller(world)) {
      if (candidate.start.nodes.empty() || fault_of(candidate) != fault) continue;
      world = std::move(candidate);
      is_smaller = true;
      break;
    }
  }
  return world;
}

TEST(CompanyGangs, ArePlacedWhenKubernetesRulesLeaveThemAPlace) {
  const std::uint64_t worlds = number_of("ASHLAR_COMPANY_GANGS", kWorlds);
  const std::uint64_t first = number_of("ASHLAR_FIRST_COMPANY_GANG", 0);
  Tally tally;
  std::map<Fault, int> faults;
  std::string text;
  for (std::uint64_t seed = first; seed < first + worlds; ++seed) {
    Rng rng(seed);
    const World world = draw(rng);
    const Fault fault = play(world, &tally);
    if (fault == Fault::kNone || faults[fault]++ >= kFaultsShown) continue;
    const World small = shrunk(world, fault, [](const World& one) { return play(one, nullptr); });
    text += "\nseed " + std::to_string(seed) + ": " + kFaultNames[static_cast<std::size_t>(fault)] + "\n" +
            case_text(small) + Player(small).error();
  }
  std::printf(
      "company gangs: %llu worlds, %ld verdicts, %ld with a place, %ld after a change, %ld of them with a place; "
      "%ld at the limit of the search\n",
      static_cast<unsigned long long>(worlds), tally.verdicts, tally.possible, tally.changed, tally.woken,
      tally.limits);
  for (std::size_t law = 0; law < kLaws; ++law) {
    const long no = tally.decided[law][0], yes = tally.decided[law][1];
    std::printf("  %-24s decides alone %6ld without a place, %6ld with one\n", std::string(kLawNames[law]).c_str(), no,
                yes);
    if (worlds >= kWorlds && law < kRules)
      EXPECT_GE(no, worlds >= kManyWorlds ? kDecidedOfMany : kDecidedOfFew) << kLawNames[law];
    if (worlds >= kManyWorlds) EXPECT_GE(no + yes, kDetailsDecided) << kLawNames[law];
  }
  for (const auto& [fault, count] : faults)
    std::printf("  %s: %d\n", kFaultNames[static_cast<std::size_t>(fault)], count);
  EXPECT_TRUE(faults.empty()) << text;
}

TEST(CompanyGangs, OfGroupsAndWithPreferencesArePlacedWhenKubernetesRulesLeaveThemAPlace) {
  const std::uint64_t worlds = number_of("ASHLAR_COMPANY_GANGS", kWorlds);
  const std::uint64_t first = number_of("ASHLAR_FIRST_COMPANY_GANG", 0);
  Tally tally;
  std::map<Fault, int> faults;
  std::string text;
  for (std::uint64_t seed = first; seed < first + worlds; ++seed) {
    Rng rng(seed);
    World world = draw(rng);
    add_groups_and_wishes(rng, world);
    const Fault fault = play(world, &tally);
    if (fault == Fault::kNone || faults[fault]++ >= kFaultsShown) continue;
    const World small = shrunk(world, fault, [](const World& one) { return play(one, nullptr); });
    text += "\nseed " + std::to_string(seed) + ": " + kFaultNames[static_cast<std::size_t>(fault)] + "\n" +
            case_text(small) + Player(small).error();
  }
  std::printf("company gangs of groups: %llu worlds, %ld verdicts, %ld with a place\n",
              static_cast<unsigned long long>(worlds), tally.verdicts, tally.possible);
  for (const auto& [fault, count] : faults)
    std::printf("  %s: %d\n", kFaultNames[static_cast<std::size_t>(fault)], count);
  EXPECT_TRUE(faults.empty()) << text;
}

TEST(CompanyGangs, OfWhichSomeMayStartArePlacedWhereKubernetesRulesLetThem) {
  const std::uint64_t worlds = number_of("ASHLAR_COMPANY_GANGS", kWorlds);
  const std::uint64_t first = number_of("ASHLAR_FIRST_COMPANY_GANG", 0);
  long starts = 0, in_part = 0;
  std::map<Fault, int> faults;
  std::string text;
  for (std::uint64_t seed = first; seed < first + worlds; ++seed) {
    Rng rng(seed);
    World world = draw(rng);
    world.start.members_min = 1 + static_cast<int>(rng.below(static_cast<std::uint64_t>(members_of(world.start) - 1)));
    const Fault fault = play_elastic(world, &starts, &in_part);
    if (fault == Fault::kNone || faults[fault]++ >= kFaultsShown) continue;
    const World small = shrunk(world, fault, [](const World& one) { return play_elastic(one, nullptr, nullptr); });
    text += "\nseed " + std::to_string(seed) + ": " + kFaultNames[static_cast<std::size_t>(fault)] + "\n" +
            case_text(small) + Player(small).error();
  }
  std::printf("elastic company gangs: %llu worlds, %ld starts, %ld of them in part\n",
              static_cast<unsigned long long>(worlds), starts, in_part);
  if (worlds >= kWorlds) EXPECT_GE(in_part, kDecidedOfMany);
  EXPECT_TRUE(faults.empty()) << text;
}

}  // namespace
}  // namespace ashlar::oracle::company_gang
