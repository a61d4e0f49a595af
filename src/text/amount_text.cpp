#include "text/amount_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "model/demand.h"
#include "model/event.h"
#include "text/quantity_text.h"

namespace ashlar {
namespace {

/// still exact in a double, and sums over a whole trace stay within int64
constexpr std::int64_t kAmountMax = std::int64_t{1} << 52;

std::optional<std::int64_t> quantity(std::string_view text, std::int64_t units_per_one) {
  const Result<std::int64_t> amount = parse_quantity(text, units_per_one);
  if (!amount || *amount < 0 || *amount > kAmountMax) return std::nullopt;
  return *amount;
}

/// "64GiB" is "64Gi".
std::string_view without_b(std::string_view text) {
  return text.ends_with("iB") ? text.substr(0, text.size() - 1) : text;
}

bool is_bytes(ResourceId resource) { return resource == resource::kMemory || resource == resource::kEphemeralStorage; }

std::string bytes_word(std::int64_t amount) {
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"TiB", 1ll << 40}, {"GiB", 1ll << 30}, {"MiB", 1ll << 20}, {"KiB", 1ll << 10}};
  for (const auto& [unit, size] : kUnits)
    if (amount != 0 && amount % size == 0) return std::to_string(amount / size) + std::string(unit);
  return std::to_string(amount);
}

/// Six significant digits, and never an exponent: "0.5", "1048576", "0.000000931323".
std::string gib_word(std::int64_t bytes) {
  const double gib = static_cast<double>(bytes) / (1 << 30);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.6g", gib);
  if (std::string_view(text.data()).find('e') == std::string_view::npos) return text.data();
  const int decimals = std::max(0, 5 - static_cast<int>(std::floor(std::log10(std::abs(gib)))));
  std::snprintf(text.data(), text.size(), "%.*f", decimals, gib);
  std::string word = text.data();
  if (decimals > 0) word.erase(word.find_last_not_of('0') + 1);
  return word;
}

}  // namespace

std::string node_count_text(std::int64_t count) { return std::to_string(count) + (count == 1 ? " node" : " nodes"); }

std::string bare_quota_text(std::int64_t dimension, std::int64_t amount) {
  const ResourceId counted = quota_key(dimension).resource;
  if (counted.is_none() || counted == resource::kCpu) return milli_word(amount);
  return is_bytes(counted) ? gib_word(amount) : std::to_string(amount);
}

std::string quota_text(std::int64_t dimension, std::int64_t amount) {
  const ResourceId counted = quota_key(dimension).resource;
  if (counted.is_none()) return milli_word(amount) + (amount > 0 && amount <= 1000 ? " GPU" : " GPUs");
  if (counted == resource::kCpu) return milli_word(amount) + (amount == 1000 ? " core" : " cores");
  if (is_bytes(counted)) return gib_word(amount) + " GiB";
  return std::to_string(amount);
}

std::string amount_text(ResourceId resource, std::int64_t amount) {
  if (resource == resource::kCpu) return quota_text(static_cast<std::int64_t>(QuotaDimension::kMilliCores), amount);
  if (resource == resource::kMemory || resource == resource::kEphemeralStorage)
    return quota_text(static_cast<std::int64_t>(QuotaDimension::kMemoryBytes), amount);
  return std::to_string(amount);
}

std::string milli_word(std::int64_t milli) {
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03d", static_cast<int>(std::abs(milli % 1000)));
  std::string text = (milli < 0 && milli > -1000 ? "-" : "") + std::to_string(milli / 1000) + fraction.data();
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string amount_word(ResourceId resource, std::int64_t amount) {
  if (resource == resource::kCpu) return milli_word(amount);
  if (resource == resource::kMemory || resource == resource::kEphemeralStorage) return bytes_word(amount);
  return std::to_string(amount);
}

std::string rounded_bytes_word(std::int64_t bytes) {
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"TiB", 1ll << 40}, {"GiB", 1ll << 30}, {"MiB", 1ll << 20}, {"KiB", 1ll << 10}};
  for (const auto& [unit, size] : kUnits) {
    if (bytes > -size && bytes < size) continue;
    const auto tenths =
        static_cast<std::int64_t>(std::floor(static_cast<double>(bytes) / static_cast<double>(size) * 10));
    return milli_word(tenths * 100) + std::string(unit);
  }
  return std::to_string(bytes);
}

std::string quota_word(std::int64_t dimension, std::int64_t amount) {
  if (amount == kUnlimited) return "unlimited";
  const ResourceId counted = quota_key(dimension).resource;
  return counted.is_none() ? milli_word(amount) : amount_word(counted, amount);
}

std::optional<MilliCores> parse_cores(std::string_view text) {
  const auto milli = quantity(text, 1000);
  return milli ? std::optional(MilliCores(*milli)) : std::nullopt;
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto bytes = quantity(without_b(text), 1);
  return bytes ? std::optional(Bytes(*bytes)) : std::nullopt;
}

Result<MiB> parse_gpu_memory(std::string_view text) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  const std::string quoted = "\"" + std::string(text.substr(0, 64)) + "\"";
  const Result<std::int64_t> bytes = parse_quantity(without_b(text), 1, Overflow::kSaturate);
  if (!bytes || *bytes < 0) return invalid(quoted + " is not a quantity such as 40Gi");
  if (*bytes / kMiB >= kDeviceMemoryMaxMib) return invalid(quoted + " is more than any GPU has");
  if (*bytes > 0 && *bytes < kMiB) return invalid(quoted + " is less than 1Mi; name the unit (40Gi)");
  return MiB((*bytes + kMiB - 1) / kMiB);
}

Result<std::int64_t> parse_quota(std::int64_t dimension, std::string_view text) {
  const ResourceId counted = quota_key(dimension).resource;
  const bool is_milli = counted.is_none() || counted == resource::kCpu;
  Result<std::int64_t> amount =
      is_bytes(counted) ? parse_quantity(without_b(text), 1) : parse_quantity(text, is_milli ? 1000 : 1);
  if (amount && *amount < 0) return invalid("\"" + std::string(text) + "\" is negative");
  return amount;
}

}  // namespace ashlar
