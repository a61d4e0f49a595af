// scenario: one written as text.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "sim/scenario/scenario.h"

namespace ashlar::sim {

inline Scenario scenario(const std::string& text) {
  Result<Scenario> parsed = parse_scenario(text, "test.yaml");
  if (!parsed) throw std::runtime_error(parsed.error().message);
  return *std::move(parsed);
}

}  // namespace ashlar::sim
