// quantity_text: the exact parser of Kubernetes quantities (apimachinery resource.Quantity): decimal (n u m k M G T P
// E), binary (Ki .. Ei) and exponent suffixes. Integers only; a fraction of the wanted unit is rounded up, as
// Kubernetes does.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace ashlar {

/// The treatment of amounts beyond int64 (and of absurdly many digits).
enum class Overflow : unsigned char {
  kRefuse,  ///< kInvalid
  /// the largest or smallest int64: a pod that requests it fits nowhere, a pod that holds it fills its node
  kSaturate,
};

/// The quantity times `units_per_one` (1 for bytes and counts, 1000 for milli), rounded up away from zero. kInvalid on
/// malformed text.
Result<std::int64_t> parse_quantity(std::string_view text, std::int64_t units_per_one,
                                    Overflow overflow = Overflow::kRefuse);

}  // namespace ashlar
