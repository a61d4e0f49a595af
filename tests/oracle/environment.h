// What a person asks of an oracle by variables of the environment: which worlds it plays, and how many.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace ashlar::oracle {

/// `otherwise` if the variable is not set.
inline std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace ashlar::oracle
