// stated_classes: device classes as people state them, in ashlar.yaml, scenarios and cases, and the lists of names by
// which jobs ask for them. Every name means one class: it is its name, or the name of one of its models.
// Example: {H100, {NVIDIA-H100-80GB-HBM3, NVIDIA-H100-PCIe}, {fp8, nvlink}}; "fp8,nvlink".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ashlar {

inline constexpr std::size_t kStatedClassesMax = 256;  // for tests; a cluster has a handful, compared one by one

struct StatedClass {
  std::string name;
  std::vector<std::string> models;        ///< its own name may be among them
  std::vector<std::string> capabilities;  ///< letters, digits, '-', '_' and '.'
};

/// What is wrong with a class: its name, or a list or the name there at this index.
struct ClassProblem {
  enum class Part : std::uint8_t { kName, kModels, kCapabilities };
  Part part = Part::kName;
  std::optional<std::size_t> index;
  std::string message;
};
/// What keeps it from being added to the classes before it; nothing: it can be. O(names of all of them).
std::optional<ClassProblem> validate(const StatedClass& stated, std::span<const StatedClass> before);

/// The names of "fp8,nvlink", each once, in any order; spaces around them do not count. kInvalid if one is empty, or
/// there are more than a class may have.
Result<std::vector<std::string>> parse_names(std::string_view list);

}  // namespace ashlar
