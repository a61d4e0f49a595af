// stop_words: names of the rules by which queues stop running jobs, in the order of their enumerators (StopRules).
#pragma once

#include <string_view>

namespace ashlar {

inline constexpr std::string_view kOwnWords[] = {"never", "lower", "lower-or-newer", "lower-or-longer"};
inline constexpr std::string_view kReclaimsWords[] = {"never", "lower", "any"};
inline constexpr std::string_view kWhileBorrowingWords[] = {"never", "lower", "lower-or-longer"};

}  // namespace ashlar
