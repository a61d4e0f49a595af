#include "engine/published/kai/fair_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ashlar::kai {
namespace {

/// How much the past of a queue moves its part of what is left over.
constexpr double kHistory = 1;

/// The queues of one priority, among which what is left over is divided.
class Bucket {
 public:
  Bucket(std::span<const Claim> claims, std::vector<std::int64_t>& shares, std::int64_t unit)
      : claims_(claims), shares_(shares), unit_(unit), remainders_(claims.size()) {}
  void add(std::size_t queue) { queues_.push_back(queue); }

  /// Takes parts of `rest` by weight, whole units but for the last of a queue.
  void divide(std::int64_t& rest) {
    while (rest > 0) {
      std::vector<std::size_t> lacking;
      std::ranges::copy_if(queues_, std::back_inserter(lacking), [&](std::size_t q) { return missing(q) > 0; });
      const std::vector<double> parts = parts_of(lacking, rest);
      bool is_again = false;
      for (std::size_t i = 0; i < lacking.size(); ++i) {
        const std::size_t q = lacking[i];
        const bool is_all = static_cast<double>(missing(q)) <= parts[i];
        const std::int64_t whole = static_cast<std::int64_t>(parts[i] / static_cast<double>(unit_)) * unit_;
        const std::int64_t taken = std::min(rest, is_all ? missing(q) : whole);
        remainders_[q] = parts[i] - static_cast<double>(taken);
        shares_[q] += taken;
        rest -= taken;
        is_again = is_again || (is_all && remainders_[q] > 0);
      }
      if (!is_again) return;
    }
  }
  /// What is left by rounding: a unit for each, those first whose part was cut most.
  void give_leftovers(std::int64_t& rest) {
    std::ranges::stable_sort(queues_, std::ranges::greater{}, [&](std::size_t q) { return remainders_[q]; });
    for (const std::size_t q : queues_) {
      if (claims_[q].weight == 0) continue;
      const std::int64_t taken = std::min({rest, missing(q), unit_});
      shares_[q] += taken;
      rest -= taken;
    }
  }

 private:
  std::int64_t missing(std::size_t queue) const {
    return std::min(claims_[queue].limit, claims_[queue].request) - shares_[queue];
  }
  std::vector<double> parts_of(std::span<const std::size_t> lacking, std::int64_t rest) const {
    double weights = 0, sum = 0;
    for (const std::size_t q : lacking) weights += static_cast<double>(claims_[q].weight);
    std::vector<double> parts(lacking.size());
    if (weights == 0) return parts;
    for (std::size_t i = 0; i < lacking.size(); ++i) {
      const Claim& claim = claims_[lacking[i]];
      const double of_weights = static_cast<double>(claim.weight) / weights;
      parts[i] = std::max(0.0, of_weights + kHistory * (of_weights - claim.usage));
      sum += parts[i];
    }
    for (double& part : parts) part = sum > 0 ? static_cast<double>(rest) * part / sum : 0;
    return parts;
  }

  std::span<const Claim> claims_;
  std::vector<std::int64_t>& shares_;
  std::int64_t unit_;
  std::vector<std::size_t> queues_;  ///< the older ones first
  std::vector<double> remainders_;   ///< of the last round in which the queue took part
};

}  // namespace

std::vector<std::int64_t> fair_shares(std::span<const Claim> claims, std::int64_t total, std::int64_t unit) {
  std::vector<std::int64_t> shares(claims.size());
  std::int64_t rest = total;
  for (std::size_t q = 0; q < claims.size(); ++q) {
    shares[q] = std::min({claims[q].deserved, claims[q].limit, claims[q].request});
    rest = std::max<std::int64_t>(rest, 0) - shares[q];  // once nothing is left, how much is lacking does not matter
  }
  std::vector<std::size_t> order(claims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t q) { return claims[q].priority; });
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || claims[order[i]].priority != claims[order[i - 1]].priority)
      buckets.emplace_back(claims, shares, unit);
    buckets.back().add(order[i]);
  }
  for (Bucket& bucket : buckets) bucket.divide(rest);
  for (Bucket& bucket : buckets)
    if (rest > 0) bucket.give_leftovers(rest);
  return shares;
}

}  // namespace ashlar::kai
