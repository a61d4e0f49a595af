#include "policy/score/fgd/evaluator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/digest.h"
#include "base/grown.h"
#include "policy/score/fgd/mix.h"
#include "policy/score/fgd/mix_limit.h"

namespace ashlar {
namespace {

constexpr std::size_t kLanes = 16;  ///< columns are padded to a multiple of this
constexpr std::size_t kClassesMax = kMixClassesMax;
constexpr std::size_t kDevicesForShort = 32;  ///< 16-bit sums hold the free milli-GPU of this many devices

enum Kind : std::int16_t { kNormal, kCpuOnly, kNoAccess };
/// The order in which the six sums are added up at the end.
enum Label : std::int16_t { kLackBoth, kLackGpu, kLackCpu, kCpuServed, kCpuLacking, kModelExcluded, kLabels };

/// Adding 0 changes no sum, so all lanes are added and only the label's own counts: the vector unit does them at once.
constexpr std::array<std::array<double, 8>, kLabels> kLaneOf = [] {
  std::array<std::array<double, 8>, kLabels> table{};
  for (std::size_t l = 0; l < kLabels; ++l) table[l][l] = 1.0;
  return table;
}();

std::size_t padded(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

/// For each class: how many of the node's devices serve it, and the milli-GPU on those that do not.
template <class Lane>
void count_devices(std::span<const std::int32_t> free, const std::int16_t* milli, std::size_t classes, Lane* serving,
                   Lane* below) {
  for (std::size_t m = 0; m < classes; ++m) serving[m] = below[m] = 0;
  for (const std::int32_t f : free) {
    const auto amount = static_cast<Lane>(f);
    for (std::size_t m = 0; m < classes; ++m) {
      const bool serves = amount >= static_cast<Lane>(milli[m]);
      serving[m] = static_cast<Lane>(serving[m] + (serves ? 1 : 0));
      below[m] = static_cast<Lane>(below[m] + (serves ? 0 : amount));
    }
  }
}

/// One node for a mix: what every class needs of it.
struct Sight {
  std::size_t classes = 0;
  std::int16_t rank = 0;
  std::int32_t total = 0;
  const std::int16_t* devices = nullptr;
  const std::int16_t* cpu_rank = nullptr;
  const std::int16_t* kinds = nullptr;
};

template <class Lane>
double sum_fragments(const Sight& s, const Lane* serving, const Lane* below, const double* frequency) {
  std::array<std::int16_t, kClassesMax> label;
  std::array<std::int32_t, kClassesMax> amount;
  for (std::size_t m = 0; m < s.classes; ++m) {
    const bool has_cpu = s.cpu_rank[m] < s.rank;
    const bool has_devices = serving[m] >= static_cast<Lane>(s.devices[m]);
    const std::int16_t normal = has_cpu ? kLackGpu : has_devices ? kLackCpu : kLackBoth;
    const std::int16_t cpu_only = has_cpu ? kCpuServed : kCpuLacking;
    label[m] = s.kinds[m] == kNormal    ? normal
               : s.kinds[m] == kCpuOnly ? cpu_only
                                        : static_cast<std::int16_t>(kModelExcluded);
    amount[m] = s.kinds[m] == kNormal && has_cpu && has_devices ? static_cast<std::int32_t>(below[m]) : s.total;
  }
  std::array<double, 8> sums{};
  for (std::size_t m = 0; m < s.classes; ++m) {
    const double part = frequency[m] * static_cast<double>(amount[m]);
    const std::array<double, 8>& lane = kLaneOf[static_cast<std::size_t>(label[m])];
    for (std::size_t l = 0; l < 8; ++l) sums[l] += lane[l] * part;
  }
  return sums[kLackBoth] + sums[kLackGpu] + sums[kLackCpu] + sums[kCpuServed] + sums[kCpuLacking] +
         sums[kModelExcluded];
}

template <class Lane>
double fragment_of_sight(const Sight& s, std::span<const std::int32_t> free, const std::int16_t* milli,
                         const double* frequency) {
  std::array<Lane, kClassesMax> serving, below;
  count_devices<Lane>(free, milli, s.classes, serving.data(), below.data());
  return sum_fragments<Lane>(s, serving.data(), below.data(), frequency);
}

std::int32_t score_of(double before, double after) {
  return static_cast<std::int32_t>(1.0 / (1.0 + std::exp(-((before - after) / 1000.0))) * 100.0);
}

/// Overcommitted devices count as full.
void read_devices(std::span<const std::int32_t> from, std::span<std::int32_t> to) {
  for (std::size_t c = 0; c < from.size(); ++c) to[c] = std::clamp(from[c], 0, kWholeDevice);
}

}  // namespace

FgdEvaluator::FgdEvaluator(std::span<const FgdClass> classes)
    : source_(classes.data()), source_size_(classes.size()), count_(classes.size()) {
  ASHLAR_CHECK(count_ <= kClassesMax);
  std::vector<std::int64_t> sizes;
  for (const FgdClass& c : classes) sizes.push_back(c.cpu_milli);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const std::int64_t s : sizes)
    cpu_sizes_.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(s, 0, INT32_MAX)));
  cpu_sizes_.resize(padded(cpu_sizes_.size()), INT32_MAX);
  const std::size_t width = padded(count_);
  columns_ = {std::vector<std::int16_t>(width), std::vector<std::int16_t>(width), std::vector<std::int16_t>(width),
              std::vector<double>(width)};
  kinds_.assign(1, std::vector<std::int16_t>(width, kCpuOnly));
  for (std::size_t m = 0; m < count_; ++m) {
    const FgdClass& c = classes[m];
    columns_.milli[m] = static_cast<std::int16_t>(std::clamp(c.milli_each, 0, kWholeDevice));
    columns_.devices[m] = static_cast<std::int16_t>(c.devices);
    columns_.cpu_rank[m] =
        static_cast<std::int16_t>(std::lower_bound(sizes.begin(), sizes.end(), c.cpu_milli) - sizes.begin());
    columns_.frequency[m] = c.frequency;
    for (const DeviceClassId model : c.models) {
      if (model.is_none() || slot_of(model) != 0) continue;
      if (model.row() >= slot_by_model_.size()) slot_by_model_.resize(model.row() + 1, 0);
      slot_by_model_[model.row()] = static_cast<std::uint16_t>(kinds_.size());
      kinds_.emplace_back(width, kCpuOnly);
    }
  }
  for (std::size_t m = 0; m < count_; ++m) {
    const FgdClass& c = classes[m];
    const bool is_cpu_only = c.devices == 0 || c.milli_each == 0;
    for (auto& kinds : kinds_) kinds[m] = is_cpu_only ? kCpuOnly : c.models.empty() ? kNormal : kNoAccess;
    if (!is_cpu_only)
      for (const DeviceClassId model : c.models)
        if (!model.is_none()) kinds_[slot_of(model)][m] = kNormal;
  }
}

std::int32_t FgdEvaluator::rank_of(std::int64_t cpu_milli) const {
  const auto free = static_cast<std::int32_t>(std::clamp<std::int64_t>(cpu_milli, -1, INT32_MAX - 1));
  std::int32_t rank = 0;
  for (const std::int32_t size : cpu_sizes_) rank += size <= free ? 1 : 0;
  return rank;
}

std::size_t FgdEvaluator::slot_of(DeviceClassId model) const { return value_at(slot_by_model_, model.row()); }

double FgdEvaluator::fragment(std::span<const std::int32_t> free, std::int32_t rank, std::size_t model_slot) const {
  Sight s{padded(count_),          static_cast<std::int16_t>(rank), 0,
          columns_.devices.data(), columns_.cpu_rank.data(),        kinds_[model_slot].data()};
  for (const std::int32_t f : free) s.total += f;
  if (free.size() <= kDevicesForShort)
    return fragment_of_sight<std::int16_t>(s, free, columns_.milli.data(), columns_.frequency.data());
  return fragment_of_sight<std::int32_t>(s, free, columns_.milli.data(), columns_.frequency.data());
}

double FgdEvaluator::fragment(const FgdNode& node) const {
  std::array<std::int32_t, kDevicesPerNodeMax> devices;
  const std::span<std::int32_t> free(devices.data(), node.free_milli.size());
  read_devices(node.free_milli, free);
  return fragment(free, rank_of(node.free_cpu_milli), slot_of(node.model));
}

FgdEvaluator::Slot& FgdEvaluator::find(const std::uint64_t key[3]) {
  if (memo_.empty()) memo_.resize(kMemoSlots);
  const std::uint64_t hash =
      mix64(key[0] * 0x9e3779b97f4a7c15ull + key[1] * 0xc2b2ae3d27d4eb4full + key[2] * 0x165667b19e3779f9ull);
  return memo_[hash >> (64 - std::countr_zero(kMemoSlots))];
}

namespace {

/// The memo's key; devices beyond the node's own are marked. `ask_count` 255 marks F itself.
void make_key(std::span<const std::int32_t> free, std::uint64_t rest, std::uint64_t key[3]) {
  std::array<std::uint16_t, FgdEvaluator::kMemoDevicesMax> devices;
  for (std::size_t c = 0; c < devices.size(); ++c)
    devices[c] = c < free.size() ? static_cast<std::uint16_t>(free[c]) : 0xffff;
  const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(devices);
  key[0] = words[0];
  key[1] = words[1];
  key[2] = rest;
}

constexpr std::uint64_t kFragmentMark = 0xff;

std::uint64_t rest_of_key(std::uint64_t rank, std::uint64_t rank_after, std::uint64_t model_slot,
                          const DeviceRequest& request) {
  const auto milli = static_cast<std::uint64_t>(std::min(request.milli_each.value, kWholeDevice));
  return rank | rank_after << 11 | model_slot << 22 | milli << 38 | static_cast<std::uint64_t>(request.count) << 50;
}

bool holds(const std::uint64_t a[3], const std::uint64_t b[3]) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

}  // namespace

double FgdEvaluator::remembered_fragment(std::span<const std::int32_t> free, std::int32_t rank,
                                         std::size_t model_slot) {
  if (free.size() > kMemoDevicesMax) return fragment(free, rank, model_slot);
  std::uint64_t key[3];
  make_key(free, static_cast<std::uint64_t>(rank) | static_cast<std::uint64_t>(model_slot) << 22 | kFragmentMark << 50,
           key);
  Slot& slot = find(key);
  if (!holds(slot.key, key)) {
    const double value = fragment(free, rank, model_slot);
    std::copy(key, key + 3, slot.key);
    slot.value = std::bit_cast<std::uint64_t>(value);
    return value;
  }
  return std::bit_cast<double>(slot.value);
}

FgdEvaluator::Answer FgdEvaluator::compute(std::span<std::int32_t> free, const std::int32_t ranks[2],
                                           std::size_t model_slot, const DeviceRequest& request) {
  const double before = remembered_fragment(free, ranks[0], model_slot);
  if (request.count == 0 || request.is_whole()) {
    std::int32_t missing = request.count;
    for (std::size_t c = 0; c < free.size() && missing > 0; ++c)
      if (free[c] == kWholeDevice) {
        free[c] = 0;
        --missing;
      }
    return {score_of(before, remembered_fragment(free, ranks[1], model_slot)), -1};
  }
  Answer best;
  const std::int32_t milli = request.milli_each.value;
  for (std::size_t c = 0; c < free.size(); ++c) {
    if (free[c] < milli || std::find(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(c), free[c]) !=
                               free.begin() + static_cast<std::ptrdiff_t>(c))
      continue;
    free[c] -= milli;
    const std::int32_t score = score_of(before, fragment(free, ranks[1], model_slot));
    free[c] += milli;
    if (best.device < 0 || score > best.score) best = {score, static_cast<std::int32_t>(c)};
  }
  return best;
}

FgdEvaluator::Answer FgdEvaluator::best(const FgdNode& node, std::int64_t cpu_asked, const DeviceRequest& request) {
  std::array<std::int32_t, kDevicesPerNodeMax> devices;
  const std::span<std::int32_t> free(devices.data(), node.free_milli.size());
  read_devices(node.free_milli, free);
  const std::int32_t ranks[2] = {rank_of(node.free_cpu_milli), rank_of(node.free_cpu_milli - cpu_asked)};
  const std::size_t model_slot = slot_of(node.model);
  if (free.size() > kMemoDevicesMax) return compute(free, ranks, model_slot, request);
  std::uint64_t key[3];
  make_key(free,
           rest_of_key(static_cast<std::uint64_t>(ranks[0]), static_cast<std::uint64_t>(ranks[1]), model_slot, request),
           key);
  Slot* slot = &find(key);
  if (holds(slot->key, key))
    return {static_cast<std::int32_t>(slot->value & 0xff), static_cast<std::int32_t>(slot->value >> 8) - 1};
  const Answer answer = compute(free, ranks, model_slot, request);
  std::copy(key, key + 3, slot->key);
  slot->value = static_cast<std::uint64_t>(answer.score) | static_cast<std::uint64_t>(answer.device + 1) << 8;
  return answer;
}

}  // namespace ashlar
