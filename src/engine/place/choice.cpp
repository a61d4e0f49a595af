#include "engine/place/choice.h"

#include <algorithm>
#include <utility>

namespace ashlar {
namespace {

/// What all choices are gone through for is a search or a proof for each, which costs as much as it has members.
constexpr std::size_t kChoicesMax = 64, kMembersOfChoicesMax = 1024;
/// Combinations that are looked at to find as many: of most the minima of groups are not made up.
constexpr std::size_t kCombinationsMax = 1024, kMembersOfCombinationsMax = 65'536;

/// As many of `members` each as come to at most that many, one at least.
std::size_t as_many_as(std::size_t most, std::size_t members, std::size_t members_max) {
  return std::clamp<std::size_t>(members_max / std::max<std::size_t>(members, 1), 1, most);
}

bool are_of_one_kind(const Member& a, const Member& b) {
  return a.demand == b.demand && a.constraint == b.constraint && a.group == b.group;
}

/// Numbers of members of each kind that come to a sum, the most of the first kinds first.
class KindCounts {
 public:
  KindCounts(std::vector<std::size_t> most, std::size_t sum)
      : most_(std::move(most)), after_(most_.size() + 1, 0), taken_(most_.size(), 0), sum_(sum) {
    for (std::size_t kind = most_.size(); kind-- > 0;) after_[kind] = after_[kind + 1] + most_[kind];
  }

  /// Calls `visit(counts)` for each, until it returns false.
  template <class Visit>
  bool each(Visit&& visit) {
    return sum_ > after_[0] || each(visit, 0, sum_);
  }

 private:
  template <class Visit>
  bool each(Visit& visit, std::size_t kind, std::size_t left) {
    if (kind == most_.size()) return visit(std::as_const(taken_));
    const std::size_t least = left - std::min(left, after_[kind + 1]);  // the kinds after it have no more
    for (std::size_t count = std::min(most_[kind], left) + 1; count-- > least;) {
      taken_[kind] = count;
      if (!each(visit, kind + 1, left - count)) return false;
    }
    return true;
  }

  std::vector<std::size_t> most_, after_;  ///< of each kind; of those from it on
  std::vector<std::size_t> taken_;
  std::size_t sum_;
};

}  // namespace

bool has_choice(const State& state, JobId job) {
  const Job& j = state.job(job);
  if (j.members_present - j.members_placed <= j.members_needed()) return false;
  const Member* first = nullptr;
  bool are_alike = true;
  state.each_waiting(job, [&](MemberId, const Member& m) {
    if (first == nullptr) first = &m;
    are_alike = are_of_one_kind(*first, m);
    return are_alike;
  });
  return !are_alike;
}

void sort_smallest_first(const State& state, std::vector<MemberId>& members) {
  std::ranges::stable_sort(members, {},
                           [&](MemberId id) { return state.demand(state.member(id).demand).devices.milli_total(); });
}

Minimum::Minimum(const State& state, JobId job) : needed_(state.job(job).members_needed()) {
  if (state.job(job).groups_lack > 0) lacking_ = state.gangs().lacking(job, state.job(job).spec);
  state.each_waiting(job, [&](MemberId id, const Member& m) {
    waiting_.push_back(id);
    groups_.push_back(m.group);
    return true;
  });
}

Choices Minimum::choices(const State& state, std::span<const MemberId> members) const {
  std::vector<std::vector<MemberId>> kinds;
  for (const MemberId id : members) {
    const auto kind = std::ranges::find_if(kinds, [&](const std::vector<MemberId>& of) {
      return are_of_one_kind(state.member(of.front()), state.member(id));
    });
    if (kind == kinds.end())
      kinds.push_back({id});
    else
      kind->push_back(id);
  }
  Choices choices;
  std::vector<std::size_t> most;
  for (const std::vector<MemberId>& kind : kinds) most.push_back(kind.size());
  const std::size_t choices_max = as_many_as(kChoicesMax, needed_, kMembersOfChoicesMax);
  const std::size_t combinations_max = as_many_as(kCombinationsMax, needed_, kMembersOfCombinationsMax);
  std::size_t looked_at = 0;
  choices.are_complete = KindCounts(std::move(most), needed_).each([&](const std::vector<std::size_t>& counts) {
    if (looked_at++ == combinations_max) return false;
    std::vector<MemberId> chosen;
    for (std::size_t k = 0; k < kinds.size(); ++k)
      chosen.insert(chosen.end(), kinds[k].begin(), kinds[k].begin() + static_cast<std::ptrdiff_t>(counts[k]));
    std::ranges::sort(chosen);
    if (!first_among(chosen)) return true;
    if (choices.all.size() == choices_max) return false;
    choices.all.push_back(std::move(chosen));
    return true;
  });
  return choices;
}

std::optional<std::vector<MemberId>> Minimum::first_among(std::span<const MemberId> members) const {
  return first([&](MemberId id) { return std::ranges::binary_search(members, id); });
}

std::optional<std::vector<MemberId>> Minimum::first_of(std::vector<std::uint8_t>& is_open) const {
  std::vector<MemberId> found;
  const auto take = [&](std::size_t i) {
    is_open[i] = 0;
    found.push_back(waiting_[i]);
  };
  std::vector<std::uint32_t> lacking = lacking_;
  for (std::size_t i = 0; i < waiting_.size() && !lacking.empty(); ++i) {
    if (is_open[i] == 0 || lacking[groups_[i]] == 0) continue;
    --lacking[groups_[i]];
    take(i);
  }
  if (std::ranges::any_of(lacking, [](std::uint32_t members) { return members > 0; })) return std::nullopt;
  for (std::size_t i = 0; i < waiting_.size() && found.size() < needed_; ++i)
    if (is_open[i] != 0) take(i);
  if (found.size() < needed_) return std::nullopt;
  return found;
}

}  // namespace ashlar
