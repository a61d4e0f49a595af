#include "sim/arrivals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace ashlar::sim {
namespace {

constexpr double kMillisPerHour = 3'600'000.0;

double normal_below(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

/// The standard normal deviate at probability p in (0, 1): Acklam's rational approximation, relative error below 1.2e-9.
double normal_quantile(double p) {
  constexpr std::array<double, 6> a = {-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02,
                                       1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr std::array<double, 5> b = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
                                       -1.328068155288572e+01};
  constexpr std::array<double, 6> c = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                                       -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr std::array<double, 4> d = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
  constexpr double kTail = 0.02425;
  const auto tail = [&](double q) {
    return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) / ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  };
  if (p < kTail) return tail(std::sqrt(-2 * std::log(p)));
  if (p > 1 - kTail) return -tail(std::sqrt(-2 * std::log1p(-p)));
  const double q = p - 0.5;
  const double r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q / (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

/// A uniform number that is never 0, which normal_quantile does not take.
double open_uniform(Rng& rng) { return std::max(rng.uniform(), 0x1.0p-54); }

double unclamped_seconds(const DurationLaw& law, double u) {
  switch (law.kind) {
    case DurationLaw::Kind::kFixed: return law.first;
    case DurationLaw::Kind::kExponential: return -law.first * std::log1p(-u);
    case DurationLaw::Kind::kLognormal: return law.first * std::exp(law.second * normal_quantile(std::max(u, 0x1.0p-54)));
    case DurationLaw::Kind::kUniform: return law.first + (law.second - law.first) * u;
  }
  return law.first;
}

double seconds(Millis time) { return time == Millis::max() ? std::numeric_limits<double>::infinity() : static_cast<double>(time.value) / 1000.0; }

/// E[clamp(X, low, high)] of a lognormal X: the standard integral of its partial moments.
double mean_of_lognormal(const DurationLaw& law, double low, double high) {
  if (law.second <= 0) return std::clamp(law.first, low, high);
  const double mu = std::log(law.first);
  const double sigma = law.second;
  const double z_low = (std::log(low) - mu) / sigma;
  const double z_high = std::isinf(high) ? high : (std::log(high) - mu) / sigma;
  const double inside = std::exp(mu + sigma * sigma / 2) * (normal_below(z_high - sigma) - normal_below(z_low - sigma));
  const double above = std::isinf(high) ? 0 : high * (1 - normal_below(z_high));
  return low * normal_below(z_low) + inside + above;
}

/// Index of the entry in which `target` falls when the weights are laid end to end.
template <class Items, class Weight>
std::size_t pick(const Items& items, double target, Weight weight) {
  for (std::size_t i = 0; i + 1 < items.size(); ++i) {
    target -= weight(items[i]);
    if (target < 0) return i;
  }
  return items.size() - 1;
}

}  // namespace

Millis draw_duration(const DurationLaw& law, double u) {
  constexpr double kMillisMax = 4.5e15;
  const double millis = std::min(unclamped_seconds(law, u) * 1000.0, kMillisMax);
  return std::clamp(Millis(std::llround(millis)), law.min, law.max);
}

double mean_seconds(const DurationLaw& law) {
  const double low = seconds(law.min);
  const double high = seconds(law.max);
  switch (law.kind) {
    case DurationLaw::Kind::kFixed: return std::clamp(law.first, low, high);
    case DurationLaw::Kind::kExponential: return low + law.first * (std::exp(-low / law.first) - std::exp(-high / law.first));
    case DurationLaw::Kind::kLognormal: return mean_of_lognormal(law, low, high);
    case DurationLaw::Kind::kUniform: break;
  }
  constexpr int kSteps = 10'000;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) sum += std::clamp(unclamped_seconds(law, (i + 0.5) / kSteps), low, high);
  return sum / kSteps;
}

double rate_per_hour(const ArrivalStream& stream, const Scenario& scenario) {
  if (stream.rate_per_hour) return *stream.rate_per_hour;
  if (stream.load) {
    double weights = 0;
    double card_seconds = 0;
    for (const JobShape& shape : stream.jobs) {
      const double cards = static_cast<double>(shape.members) * shape.gpus * shape.milli_each.value / 1000.0;
      card_seconds += shape.weight * cards * mean_seconds(shape.duration);
      weights += shape.weight;
    }
    return *stream.load * static_cast<double>(scenario.cards()) * 3600.0 / (card_seconds / weights);
  }
  const Millis end = stream.until ? *stream.until : *scenario.horizon;
  return static_cast<double>(*stream.count) * kMillisPerHour / static_cast<double>(end.value - stream.start.value);
}

ArrivalDraws::ArrivalDraws(const Scenario& scenario) : scenario_(scenario) {
  for (std::uint32_t i = 0; i < scenario.arrivals.size(); ++i) {
    const ArrivalStream& each = scenario.arrivals[i];
    Stream stream{.index = i, .rng = Rng(each.seed)};
    stream.gap = kMillisPerHour / rate_per_hour(each, scenario);
    stream.at = static_cast<double>(each.start.value);
    Millis end = Millis::max();
    if (each.until) end = std::min(end, *each.until);
    if (scenario.horizon) end = std::min(end, *scenario.horizon);
    stream.end = static_cast<double>(end.value);
    stream.left = each.count.value_or(kScenarioJobsMax);
    for (const JobShape& shape : each.jobs) stream.weights += shape.weight;
    // Evenly spaced jobs begin at the start; random ones after a first gap.
    if (each.process == ArrivalStream::Process::kPoisson) step(stream);
    streams_.push_back(stream);
  }
}

void ArrivalDraws::step(Stream& stream) {
  const bool is_poisson = scenario_.arrivals[stream.index].process == ArrivalStream::Process::kPoisson;
  stream.at += is_poisson ? stream.rng.exponential(stream.gap) : stream.gap;
}

void ArrivalDraws::fill(Stream& stream, DrawnJob& job) {
  const ArrivalStream& source = scenario_.arrivals[stream.index];
  job.stream = stream.index;
  job.shape = static_cast<std::uint32_t>(pick(source.jobs, stream.rng.uniform() * stream.weights, [](const JobShape& shape) { return shape.weight; }));
  const JobShape& shape = source.jobs[job.shape];
  double queue_weights = 0;
  for (const auto& share : shape.queues) queue_weights += share.second;
  job.queue = shape.queues[pick(shape.queues, stream.rng.uniform() * queue_weights, [](const auto& share) { return share.second; })].first;
  job.submit = Millis(static_cast<std::int64_t>(stream.at));
  job.duration = draw_duration(shape.duration, stream.rng.uniform());
  // Drawn in any case, so that a change of the error alone leaves all other numbers as they were.
  const double error = normal_quantile(open_uniform(stream.rng));
  job.estimate = Millis::max();
  if (!shape.has_estimate) return;
  const double believed = static_cast<double>(job.duration.value) * std::exp(shape.estimate_error * error);
  job.estimate = Millis(std::max<std::int64_t>(1, std::llround(std::min(believed, 4.5e15))));
}

bool ArrivalDraws::next(DrawnJob& job) {
  Stream* first = nullptr;
  for (Stream& stream : streams_) {
    if (stream.left <= 0 || stream.at >= stream.end) continue;
    if (first == nullptr || stream.at < first->at) first = &stream;
  }
  if (first == nullptr) return false;
  fill(*first, job);
  --first->left;
  step(*first);
  return true;
}

}  // namespace ashlar::sim
