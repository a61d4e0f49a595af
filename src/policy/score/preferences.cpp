#include "policy/score/preferences.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ashlar {
namespace {

constexpr Points kPartMax = 100;
// Default weights of kube-scheduler's score plugins.
constexpr Points kTaintTimes = 3, kNodeAffinityTimes = 2, kSpreadTimes = 2, kPodAffinityTimes = 2, kImageTimes = 1;

constexpr std::int64_t kLeftOut = -1;  ///< as a sum

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

/// Nodes that lack a label which a term requires.
bool is_left_out(std::span<const PreferenceColumns::Spread> spreads, std::size_t node) {
  return std::ranges::any_of(spreads, [&](const PreferenceColumns::Spread& s) {
    return s.requires_all_labels && s.domain_of_node[node] == PreferenceColumns::kNoDomain;
  });
}

/// Nodes without a label that is not required are one more domain, as upstream.
double weight_of_a_pod(const PreferenceColumns::Spread& spread, std::span<const std::int64_t> raw) {
  std::vector<std::uint8_t> is_there(spread.pods.size() + 1);
  for (std::size_t n = 0; n < raw.size(); ++n)
    if (raw[n] != kLeftOut) is_there[std::min<std::size_t>(spread.domain_of_node[n], spread.pods.size())] = 1;
  return std::log(static_cast<double>(std::ranges::count(is_there, 1) + 2));
}

/// Nodes that are left out get nothing.
void add_spread(std::span<const PreferenceColumns::Spread> spreads, Fits fits, std::span<Points> points) {
  if (spreads.empty()) return;
  std::vector<std::int64_t> raw(fits.size(), kLeftOut);
  std::vector<double> of_a_pod;  // by spread: the more domains, the more a pod weighs
  for (std::size_t n = 0; n < fits.size(); ++n)
    if (fits[n] != 0 && !is_left_out(spreads, n)) raw[n] = 0;
  for (const PreferenceColumns::Spread& s : spreads) of_a_pod.push_back(weight_of_a_pod(s, raw));
  Bounds<std::int64_t> b{.least = std::numeric_limits<std::int64_t>::max(), .most = 0};
  for (std::size_t n = 0; n < fits.size(); ++n) {
    if (raw[n] == kLeftOut) continue;
    double sum = 0;
    for (std::size_t i = 0; i < spreads.size(); ++i) {
      const std::uint32_t domain = spreads[i].domain_of_node[n];
      if (domain == PreferenceColumns::kNoDomain) continue;
      sum += static_cast<double>(spreads[i].pods[domain]) * of_a_pod[i] + static_cast<double>(spreads[i].skew_max - 1);
    }
    raw[n] = std::llround(sum);
    b.least = std::min(b.least, raw[n]);
    b.most = std::max(b.most, raw[n]);
  }
  for (std::size_t n = 0; n < fits.size(); ++n)
    if (raw[n] != kLeftOut)
      points[n] +=
          kSpreadTimes * static_cast<Points>(b.most == 0 ? kPartMax : kPartMax * (b.most + b.least - raw[n]) / b.most);
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
