#include "store/codec.h"

#include <algorithm>

#include "base/digest.h"
#include "store/fields.h"

namespace ashlar::store {
namespace {

template <class T>
std::string bytes_of_value(const T& value) {
  std::string out;
  ByteWriter writer(out);
  encode(writer, value);
  return out;
}

template <class T>
Result<T> value_of(std::string_view bytes) {
  ByteReader in(bytes);
  T value{};
  decode(in, value);
  if (!in.has_failed() && in.left() > 0) in.fail("there are bytes left over");
  if (in.has_failed()) return fault_of(in);
  return value;
}

}  // namespace

std::uint32_t record_check(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t h = mix64(seed ^ 0x616c6f67ull) + bytes.size();
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, 8);
    h = (std::rotl(h, 29) ^ word) * 0x9e3779b97f4a7c15ull;
  }
  std::uint64_t tail = 0;
  if (i < bytes.size()) std::memcpy(&tail, bytes.data() + i, bytes.size() - i);
  h = mix64((std::rotl(h, 29) ^ tail) * 0x9e3779b97f4a7c15ull);
  return static_cast<std::uint32_t>(h ^ (h >> 32));
}

Error fault_of(const ByteReader& in) {
  return invalid("at byte " + std::to_string(in.fault_offset()) + ": " + in.fault());
}

void encode_event(ByteWriter& out, const Event& event) { encode(out, event); }
void decode_event(ByteReader& in, Event& event) { decode(in, event); }
void encode_plan(ByteWriter& out, const Plan& plan) { encode(out, plan); }
void decode_plan(ByteReader& in, Plan& plan) { decode(in, plan); }
std::string bytes_of(const Event& event) { return bytes_of_value(event); }
std::string bytes_of(const Plan& plan) { return bytes_of_value(plan); }
Result<Event> event_of(std::string_view bytes) { return value_of<Event>(bytes); }
Result<Plan> plan_of(std::string_view bytes) { return value_of<Plan>(bytes); }

}  // namespace ashlar::store
