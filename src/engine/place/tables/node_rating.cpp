#include "engine/place/tables/node_rating.h"

#include <algorithm>

#include "policy/node/anti_affinity.h"
#include "policy/score/prefer.h"

namespace ashlar {
namespace {

constexpr int kTierBits = 16;
constexpr int kTopShift = 48;
constexpr Points kPointsTop = 65534;  ///< of a tier; with it all bits are set

/// Points of one tier as the 16 bits of its position in the key; at least 1, so that a key of 0 means "does not fit".
std::uint64_t tier_bits(Points points, std::size_t tier) {
  const auto clamped = static_cast<std::uint64_t>(std::clamp(points, 0, kPointsTop) + 1);
  return clamped << (kTopShift - kTierBits * static_cast<int>(tier));
}

/// kFitsMax for each row in the set, else 0; word by word, since mostly all or none of a word are in it.
void fill_allowed(const BitSet& allowed, NodeRange rows, std::span<std::uint16_t> fits) {
  const auto& words = allowed.words();
  for (std::size_t i = 0; i < fits.size();) {
    const std::size_t row = rows.first + i, bit = row & 63;
    const std::size_t count = std::min<std::size_t>(64 - bit, fits.size() - i);
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - count);
    const std::uint64_t here = (row >> 6) < words.size() ? (words[row >> 6] >> bit) & all : 0;
    const std::span<std::uint16_t> part = fits.subspan(i, count);
    if (here == all || here == 0)
      std::fill(part.begin(), part.end(), here == 0 ? std::uint16_t{0} : kFitsMax);
    else
      for (std::size_t j = 0; j < count; ++j) part[j] = (here >> j & 1) != 0 ? kFitsMax : 0;
    i += count;
  }
}

}  // namespace

NodeRating::NodeRating(const Profile& profile, DemandId demand, ConstraintId constraint)
    : profile_(&profile), demand_(demand), constraint_(constraint) {
  for (std::size_t t = 0; t < profile.tiers.size(); ++t) {
    Points most = 0;
    bool is_domain_tier = false;
    for (const ScorePolicy* policy : profile.tiers[t]) {
      is_drawn_ = is_drawn_ || policy->is_drawn;
      if (policy->add == add_prefer) {
        is_prefer_alone_ = !has_prefer_ && profile.tiers[t].size() == 1;
        has_prefer_ = true;
        prefer_tier_ = t;
      }
      most += policy->is_drawn ? kDomainPointsMax : kPointsMax;
      if (policy->add_domain == nullptr) continue;
      is_domain_tier = true;
      domain_policy_ = policy;
      domain_tier_ = t;
    }
    if (is_domain_tier) continue;
    has_node_tier_ = true;
    best_possible_ |= tier_bits(most, t);
  }
  if (!has_node_tier_) best_possible_ = 1;
}

std::uint64_t NodeRating::with_preferences(std::uint64_t key, Points points) const {
  return key == 0 ? 0 : (key & ~tier_bits(kPointsTop, prefer_tier_)) | tier_bits(points, prefer_tier_);
}

NodeView NodeRating::view(const State& state, std::uint64_t draw) const {
  return {state.cluster(), state.demand(demand_), state.cluster().constraint(constraint_), &profile_->mix, draw,
          preferences_};
}

const BitSet* NodeRating::open_beside_pods(const State& state) const {
  const Cluster& cluster = state.cluster();
  return cluster.has_company(constraint_) ? &cluster.allowed(constraint_, kNodeRules) : nullptr;
}

void NodeRating::count(const State& state, NodeRange rows, std::span<std::uint16_t> fits, AboutPods about_pods) const {
  const Cluster& cluster = state.cluster();
  fill_allowed(about_pods == AboutPods::kRules ? cluster.allowed(constraint_, kNodeRules)
                                               : cluster.allowed_alone(constraint_, kNodeRules),
               rows, fits.first(rows.count));
  profile_->lower_by_what_is_free(view(state, 0), rows, fits.first(rows.count));
  if (const Constraint& c = state.cluster().constraint(constraint_); c.keeps_itself_away)  // a look at labels: last
    for (std::size_t i = 0; i < rows.count; ++i)
      if (fits[i] > 1 && takes_one_of_its_like(c, state.cluster().facts(NodeId(rows.first + i)))) fits[i] = 1;
  if (limit_ != nullptr) limit_->lower(view(state, 0), rows, fits.first(rows.count));
}

void NodeRating::rate(const State& state, NodeRange rows, std::uint64_t draw, std::span<std::uint64_t> keys,
                      AboutPods about_pods) {
  rated_count_ += rows.count;
  fits_.resize(rows.count);
  count(state, rows, fits_, about_pods);
  std::fill_n(keys.begin(), rows.count, 0);
  const auto does_fit = [](std::uint16_t f) { return f != 0; };
  const auto first = static_cast<std::size_t>(std::ranges::find_if(fits_, does_fit) - fits_.begin());
  if (first == rows.count) return;
  std::size_t last = rows.count - 1;
  while (!does_fit(fits_[last])) --last;
  rate_tiers(state, {rows.first + first, last - first + 1}, draw, keys.subspan(first, last - first + 1));
  for (std::size_t i = first; i <= last; ++i) keys[i] = fits_[i] == 0 ? 0 : has_node_tier_ ? keys[i] : 1;
}

void NodeRating::rate_tiers(const State& state, NodeRange rows, std::uint64_t draw, std::span<std::uint64_t> keys) {
  const NodeView nodes = view(state, draw);
  points_.resize(rows.count);
  for (std::size_t tier = 0; tier < profile_->tiers.size(); ++tier) {
    if (domain_policy_ != nullptr && tier == domain_tier_) continue;
    std::fill(points_.begin(), points_.end(), 0);
    for (const ScorePolicy* policy : profile_->tiers[tier]) policy->add(nodes, rows, points_);
    for (std::size_t i = 0; i < rows.count; ++i) keys[i] |= tier_bits(points_[i], tier);
  }
}

void NodeRating::rate(const State& state, std::span<const NodeId> nodes, std::uint64_t draw,
                      std::span<std::uint64_t> keys, AboutPods about_pods) {
  if (nodes.empty()) return;
  if (nodes.back().row() - nodes.front().row() + 1 == nodes.size()) {
    rate(state, NodeRange{nodes.front().row(), nodes.size()}, draw, keys, about_pods);
    return;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) keys[i] = rate(state, nodes[i], draw, about_pods);
}

std::uint64_t NodeRating::rate(const State& state, NodeId node, std::uint64_t draw, AboutPods about_pods) {
  std::uint64_t key = 0;
  rate(state, NodeRange{node.row(), 1}, draw, {&key, 1}, about_pods);
  return key;
}

void NodeRating::add_domain_points(const State& state, std::span<Points> points) const {
  if (domain_policy_ != nullptr) domain_policy_->add_domain(view(state, 0), points);
}

std::uint64_t NodeRating::domain_bits(Points points) const {
  return domain_policy_ == nullptr ? 0 : tier_bits(points, domain_tier_);
}

void NodeRating::domain_bits(std::span<const Points> points, std::span<std::uint64_t> bits) const {
  if (domain_policy_ == nullptr)
    std::fill(bits.begin(), bits.end(), 0);
  else
    for (std::size_t i = 0; i < points.size(); ++i) bits[i] = tier_bits(points[i], domain_tier_);
}

}  // namespace ashlar
