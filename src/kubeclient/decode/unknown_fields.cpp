#include "kubeclient/decode/unknown_fields.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <limits>

#include "kubeclient/decode/wire_schema.h"

namespace ashlar::kube::proto {
namespace {

// Kinds of values on the wire, of protobuf's encoding; groups are none of Kubernetes'.
constexpr std::uint32_t kVarint = 0, kEightBytes = 1, kLengthDelimited = 2, kFourBytes = 5;
constexpr std::uint32_t kBytesMax = std::numeric_limits<int>::max();

/// Calls `visit(message, number, is_in_spec)` for each field that the schema lacks, until it returns false.
template <class Visit>
class Walk {
 public:
  Walk(std::string_view raw, Visit visit)
      : in_(reinterpret_cast<const std::uint8_t*>(raw.data()), static_cast<int>(raw.size())),
        visit_(std::move(visit)) {}

  /// False where the bytes are no such message, or `visit` has seen enough.
  bool over(const WireMessage& message, bool is_in_spec, bool is_top) {
    for (std::uint32_t tag = in_.ReadTag(); tag != 0; tag = in_.ReadTag()) {
      const std::uint32_t number = tag >> 3;
      const WireField* field = wire_field(message, number);
      if (field == nullptr && !visit_(message, number, is_in_spec)) return false;
      const bool is_message = field != nullptr && field->holds != kHoldsNone && (tag & 7) == kLengthDelimited;
      if (is_message ? !inside(kWireMessages[field->holds], is_in_spec || (is_top && field->name == "spec"))
                     : !skip(tag & 7))
        return false;
    }
    return in_.ConsumedEntireMessage();
  }

 private:
  bool skip(std::uint32_t kind) {
    std::uint64_t value = 0;
    std::uint32_t length = 0;
    switch (kind) {
      case kVarint:
        return in_.ReadVarint64(&value);
      case kEightBytes:
        return in_.Skip(8);
      case kLengthDelimited:
        return in_.ReadVarint32(&length) && length <= kBytesMax && in_.Skip(static_cast<int>(length));
      case kFourBytes:
        return in_.Skip(4);
      default:
        return false;
    }
  }
  bool inside(const WireMessage& message, bool is_in_spec) {
    std::uint32_t length = 0;
    if (!in_.ReadVarint32(&length) || length > kBytesMax) return false;
    const auto limit = in_.PushLimit(static_cast<int>(length));
    const bool is_sound = over(message, is_in_spec, false) && in_.BytesUntilLimit() == 0;
    in_.PopLimit(limit);
    return is_sound;
  }

  google::protobuf::io::CodedInputStream in_;
  Visit visit_;
};

template <class Visit>
void each_unknown(std::string_view raw, std::string_view message, Visit&& visit) {
  const std::size_t row = wire_message(message);
  if (row < std::size(kWireMessages) && raw.size() <= kBytesMax)
    Walk(raw, std::forward<Visit>(visit)).over(kWireMessages[row], false, true);
}

}  // namespace

std::vector<std::string> UnknownFields::all() const {
  std::vector<std::string> names = in_spec;
  names.insert(names.end(), elsewhere.begin(), elsewhere.end());
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

UnknownFields find_unknown_fields(std::string_view raw, std::string_view message) {
  UnknownFields found;
  each_unknown(raw, message, [&](const WireMessage& holder, std::uint32_t number, bool is_in_spec) {
    std::vector<std::string>& list = is_in_spec ? found.in_spec : found.elsewhere;
    std::string name = std::string(holder.name) + "." + std::to_string(number);
    if (list.size() < UnknownFields::kMost && std::find(list.begin(), list.end(), name) == list.end())
      list.push_back(std::move(name));
    return true;
  });
  return found;
}

bool has_unknown_fields(std::string_view raw, std::string_view message) {
  bool has_any = false;
  each_unknown(raw, message, [&](const WireMessage&, std::uint32_t, bool) {
    has_any = true;
    return false;
  });
  return has_any;
}

}  // namespace ashlar::kube::proto
