#include "policy/score/preferences.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ashlar {
namespace {

constexpr Points kPartMax = 100;
// Default weights of kube-scheduler's score plugins.
constexpr Points kTaintTimes = 3, kNodeAffinityTimes = 2, kSpreadTimes = 2, kPodAffinityTimes = 2, kImageTimes = 1;

using Fits = std::span<const std::uint16_t>;

template <class Number>
struct Bounds {
  Number least = std::numeric_limits<Number>::max(), most = std::numeric_limits<Number>::min();
};

template <class Number>
Bounds<Number> bounds_of(std::span<const Number> column, Fits fits) {
  Bounds<Number> b;
  for (std::size_t n = 0; n < fits.size(); ++n) {
    b.least = std::min(b.least, fits[n] != 0 ? column[n] : b.least);
    b.most = std::max(b.most, fits[n] != 0 ? column[n] : b.most);
  }
  return b;
}

void add_taints(std::span<const std::int32_t> taints, Fits fits, std::span<Points> points) {
  const std::int32_t most = taints.empty() ? 0 : bounds_of(taints, fits).most;
  for (std::size_t n = 0; n < fits.size(); ++n)
    points[n] += kTaintTimes * (most <= 0 ? kPartMax : kPartMax - kPartMax * taints[n] / most);
}

void add_node_affinity(std::span<const std::int32_t> held, Fits fits, std::span<Points> points) {
  if (held.empty()) return;
  const std::int64_t most = bounds_of(held, fits).most;
  if (most <= 0) return;
  for (std::size_t n = 0; n < fits.size(); ++n)
    points[n] += kNodeAffinityTimes * static_cast<Points>(kPartMax * std::min<std::int64_t>(held[n], most) / most);
}

/// In floating point and cut off, as upstream.
void add_pod_affinity(std::span<const std::int64_t> affinity, Fits fits, std::span<Points> points) {
  if (affinity.empty()) return;
  const Bounds<std::int64_t> b = bounds_of(affinity, fits);
  if (b.most <= b.least) return;
  const auto range = static_cast<double>(b.most - b.least);
  const auto above_least = [&](std::size_t n) { return fits[n] != 0 ? affinity[n] - b.least : 0; };
  for (std::size_t n = 0; n < fits.size(); ++n)
    points[n] += kPodAffinityTimes *
                 static_cast<Points>(static_cast<double>(kPartMax) * (static_cast<double>(above_least(n)) / range));
}

using Spread = PreferenceColumns::Spread;

/// By node, whether it is compared with others: nodes that lack a label which a term requires are not.
std::vector<std::uint8_t> compared_by_spread(std::span<const Spread> spreads, Fits fits) {
  std::vector<std::uint8_t> is_compared(fits.size());
  for (std::size_t n = 0; n < fits.size(); ++n) is_compared[n] = fits[n] != 0;
  for (const Spread& s : spreads)
    for (std::size_t n = 0; s.requires_all_labels && n < fits.size(); ++n)
      is_compared[n] &= static_cast<std::uint8_t>(s.domain_of_node[n] != PreferenceColumns::kNoDomain);
  return is_compared;
}

/// What the pods of each domain amount to: the more domains, the more a pod weighs. Nodes without a label that is not
/// required are one more domain, as upstream, and the last here; nothing counts there.
std::vector<double> amounts_by_domain(const Spread& spread, std::span<const std::uint8_t> is_compared) {
  const std::size_t none = spread.pods.size();
  std::vector<std::uint8_t> is_there(none + 1);
  for (std::size_t n = 0; n < is_compared.size(); ++n)
    is_there[std::min<std::size_t>(spread.domain_of_node[n], none)] |= is_compared[n];
  const double of_a_pod = std::log(static_cast<double>(std::ranges::count(is_there, 1) + 2));
  std::vector<double> amounts(none + 1, 0);
  for (std::size_t d = 0; d < none; ++d)
    amounts[d] = static_cast<double>(spread.pods[d]) * of_a_pod + static_cast<double>(spread.skew_max - 1);
  return amounts;
}

/// As std::llround, of what is not negative.
std::int64_t rounded(double amount) {
  const auto whole = static_cast<std::int64_t>(amount);
  return whole + (amount - static_cast<double>(whole) >= 0.5 ? 1 : 0);
}

/// Points of the amounts that nodes have, from the least to the most. Most nodes have one of a few.
class SpreadPoints {
 public:
  SpreadPoints(std::int64_t least, std::int64_t most, std::size_t nodes) : least_(least), most_(most) {
    if (most - least >= static_cast<std::int64_t>(nodes)) return;
    for (std::int64_t amount = least; amount <= most; ++amount) known_.push_back(computed(amount));
  }
  Points of(std::int64_t amount) const {
    return known_.empty() ? computed(amount) : known_[static_cast<std::size_t>(amount - least_)];
  }

 private:
  Points computed(std::int64_t amount) const {
    return kSpreadTimes * static_cast<Points>(most_ == 0 ? kPartMax : kPartMax * (most_ + least_ - amount) / most_);
  }
  std::int64_t least_, most_;
  std::vector<Points> known_;  ///< from the least on; empty: they are too many
};

/// Nodes that are not compared get nothing.
void add_spread(std::span<const Spread> spreads, Fits fits, std::span<Points> points) {
  if (spreads.empty()) return;
  const std::vector<std::uint8_t> is_compared = compared_by_spread(spreads, fits);
  std::vector<double> sums(fits.size(), 0);
  for (const Spread& s : spreads) {
    const std::vector<double> amounts = amounts_by_domain(s, is_compared);
    for (std::size_t n = 0; n < fits.size(); ++n)
      sums[n] += amounts[std::min<std::size_t>(s.domain_of_node[n], amounts.size() - 1)];
  }
  std::vector<std::int64_t> raw(fits.size());
  Bounds<std::int64_t> b{.least = std::numeric_limits<std::int64_t>::max(), .most = 0};
  for (std::size_t n = 0; n < fits.size(); ++n) {
    raw[n] = rounded(sums[n]);
    b.least = std::min(b.least, is_compared[n] != 0 ? raw[n] : b.least);
    b.most = std::max(b.most, is_compared[n] != 0 ? raw[n] : b.most);
  }
  if (b.least > b.most) return;  // none is
  const SpreadPoints of_amounts(b.least, b.most, fits.size());
  for (std::size_t n = 0; n < fits.size(); ++n)
    if (is_compared[n] != 0) points[n] += of_amounts.of(raw[n]);
}

}  // namespace

void add_up_preferences(const PreferenceColumns& columns, Fits fits, std::span<Points> points) {
  std::ranges::fill(points, 0);
  for (std::size_t n = 0; n < columns.images.size(); ++n) points[n] = kImageTimes * columns.images[n];
  if (!columns.depends_on_what_fits()) {
    for (Points& of_node : points) of_node += kTaintTimes * kPartMax;
    return;
  }
  add_taints(columns.soft_taints, fits, points);
  add_node_affinity(columns.weights_held, fits, points);
  add_spread(columns.spreads, fits, points);
  add_pod_affinity(columns.pod_affinity, fits, points);
  for (std::size_t n = 0; n < fits.size(); ++n) points[n] = fits[n] != 0 ? points[n] : 0;
}

}  // namespace ashlar
