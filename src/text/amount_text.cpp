#include "text/amount_text.h"

#include <array>
#include <cstdio>

#include "model/demand.h"
#include "model/event.h"

namespace ashlar {

std::string node_count_text(std::int64_t count) { return std::to_string(count) + (count == 1 ? " node" : " nodes"); }

std::string quota_text(std::int64_t dimension, std::int64_t amount) {
  std::array<char, 64> text{};
  switch (static_cast<QuotaDimension>(dimension)) {
    case QuotaDimension::kMilliGpu:
      if (amount % 1000 == 0) return std::to_string(amount / 1000) + " GPU";
      std::snprintf(text.data(), text.size(), "%.3f GPU", static_cast<double>(amount) / 1000);
      return text.data();
    case QuotaDimension::kMilliCores:
      std::snprintf(text.data(), text.size(), amount == 1000 ? "%.6g core" : "%.6g cores", static_cast<double>(amount) / 1000);
      return text.data();
    case QuotaDimension::kMemoryBytes:
      std::snprintf(text.data(), text.size(), "%.6g GiB", static_cast<double>(amount) / (1 << 30));
      return text.data();
  }
  return std::to_string(amount);
}

std::string amount_text(ResourceId resource, std::int64_t amount) {
  if (resource == resource::kCpu) return quota_text(static_cast<std::int64_t>(QuotaDimension::kMilliCores), amount);
  if (resource == resource::kMemory || resource == resource::kEphemeralStorage)
    return quota_text(static_cast<std::int64_t>(QuotaDimension::kMemoryBytes), amount);
  return std::to_string(amount);
}

}  // namespace ashlar
