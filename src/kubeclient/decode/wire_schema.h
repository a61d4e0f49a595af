// wire_schema: which fields Kubernetes' messages have in the pinned release, by number, for walks over raw bytes.
// Private to the folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace ashlar::kube::proto {

/// Of a field that is no message.
inline constexpr std::uint16_t kHoldsNone = 0xffff;

struct WireField {
  std::uint16_t number;
  std::uint16_t holds;  ///< row in kWireMessages of the messages that it holds
  std::string_view name;
};
/// Its fields are rows [begin, end) of kWireFields, in the order of their numbers.
struct WireMessage {
  std::string_view name;
  std::uint16_t begin, end;
};

#include "kubeclient/proto/wire_schema.inc"

/// The row of that message; the number of rows if there is none.
constexpr std::size_t wire_message(std::string_view name) {
  std::size_t row = 0;
  while (row < std::size(kWireMessages) && kWireMessages[row].name != name) ++row;
  return row;
}

/// nullptr for a number that the message does not have. O(log of its fields).
constexpr const WireField* wire_field(const WireMessage& message, std::uint32_t number) {
  std::size_t low = message.begin, high = message.end;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (kWireFields[middle].number < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low < message.end && kWireFields[low].number == number ? &kWireFields[low] : nullptr;
}

/// Whether it has a field of that name. O(its fields).
constexpr bool has_field(const WireMessage& message, std::string_view name) {
  for (std::size_t row = message.begin; row < message.end; ++row)
    if (kWireFields[row].name == name) return true;
  return false;
}

}  // namespace ashlar::kube::proto
