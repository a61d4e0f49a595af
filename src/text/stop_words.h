// stop_words: names of the rules by which queues stop running jobs, in the order of their enumerators (StopRules).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/stop_rules.h"

namespace ashlar {

inline constexpr std::string_view kOwnWords[] = {"never", "lower", "lower-or-newer", "lower-or-longer"};
inline constexpr std::string_view kReclaimsWords[] = {"never", "lower", "any"};
inline constexpr std::string_view kWhileBorrowingWords[] = {"never", "lower", "lower-or-longer"};
/// What that one of kWhileBorrowingWords says; of jobs of at most that priority.
inline void set_while_borrowing(StopRules& rules, std::size_t word, std::int32_t most = INT32_MAX) {
  rules.while_borrowing = word == 0 ? StopRules::kNobody : most;
  rules.longer_while_borrowing = word == 2;
}

}  // namespace ashlar
