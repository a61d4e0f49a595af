#include "text/quantity_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

namespace ashlar {
namespace {

// 10^36 fits into 128 bits together with any mantissa that survives the limit below.
constexpr int kExponentMax = 36;
constexpr std::size_t kDigitsMax = 30;  // more digits than any sane quantity; keeps the arithmetic inside 128 bits

struct Scale {
  int binary_shift = 0;
  int decimal_exponent = 0;
};

bool read_suffix(std::string_view suffix, Scale& scale) {
  if (suffix.empty()) return true;
  if (suffix.size() == 2 && suffix[1] == 'i') {
    static constexpr std::string_view kBinary = "KMGTPE";
    const std::size_t at = kBinary.find(suffix[0]);
    if (at == std::string_view::npos) return false;
    scale.binary_shift = static_cast<int>(at + 1) * 10;
    return true;
  }
  if (suffix.size() == 1) {
    static constexpr std::string_view kBelowOne = "num", kAboveOne = "kMGTPE";
    const std::size_t below = kBelowOne.find(suffix[0]), above = kAboveOne.find(suffix[0]);
    if (below != std::string_view::npos) scale.decimal_exponent = 3 * static_cast<int>(below) - 9;
    if (above != std::string_view::npos) scale.decimal_exponent = 3 * static_cast<int>(above) + 3;
    return scale.decimal_exponent != 0;
  }
  if (suffix[0] != 'e' && suffix[0] != 'E') return false;
  suffix.remove_prefix(1);
  if (suffix[0] == '+') suffix.remove_prefix(1);
  const auto [end, error] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), scale.decimal_exponent);
  scale.decimal_exponent = std::max(scale.decimal_exponent, -1000);  // below every unit; keeps later sums inside int
  return error == std::errc() && end == suffix.data() + suffix.size();
}

Error bad_quantity(std::string_view text, const char* why) {
  return invalid("quantity \"" + std::string(text.substr(0, 64)) + "\" " + why);
}

using Wide = unsigned __int128;
constexpr Wide kWideMax = ~Wide(0);

bool multiply(Wide& value, Wide factor) {
  if (factor != 0 && value > kWideMax / factor) return false;
  value *= factor;
  return true;
}

/// The digits of a quantity as an integer, and the number of decimal places. Leading zeros and trailing zeros of the
/// fraction do not count.
struct Mantissa {
  Wide value = 0;
  int fraction_digits = 0;
  bool has_digit = false, has_two_points = false, is_too_long = false;
  std::size_t end = 0;  ///< where the suffix begins
};

Mantissa read_mantissa(std::string_view text) {
  Mantissa m;
  std::size_t digits = 0;
  int pending_zeros = 0;
  bool seen_point = false;
  for (; m.end < text.size(); ++m.end) {
    const char c = text[m.end];
    if (c == '.') {
      m.has_two_points |= seen_point;
      seen_point = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    m.has_digit = true;
    if (seen_point && c == '0') {
      ++pending_zeros;
      continue;
    }
    const int shift = seen_point ? pending_zeros + 1 : 1;
    pending_zeros = 0;
    if (m.value != 0 || c != '0') digits += m.value != 0 ? static_cast<std::size_t>(shift) : 1;
    if (digits > kDigitsMax || m.fraction_digits + shift > kExponentMax) m.is_too_long = true;
    if (m.is_too_long) continue;
    for (int i = 0; i < shift; ++i) m.value *= 10;
    m.value += static_cast<unsigned>(c - '0');
    if (seen_point) m.fraction_digits += shift;
  }
  return m;
}

/// mantissa x units x scale, rounded up; false if it does not fit into int64.
bool scaled(const Mantissa& m, std::int64_t units_per_one, const Scale& scale, std::int64_t& amount) {
  if (m.is_too_long || scale.decimal_exponent > kExponentMax) return false;
  const int exponent = scale.decimal_exponent - m.fraction_digits;
  Wide value = m.value;
  if (!multiply(value, static_cast<Wide>(units_per_one)) || !multiply(value, Wide(1) << scale.binary_shift))
    return false;
  for (int i = 0; i < exponent; ++i)
    if (!multiply(value, 10)) return false;
  bool has_remainder = false;
  for (int i = exponent; i < 0 && value != 0; ++i) {
    has_remainder |= value % 10 != 0;
    value /= 10;
  }
  if (has_remainder) ++value;  // away from zero, as Kubernetes rounds
  if (value > static_cast<Wide>(std::numeric_limits<std::int64_t>::max())) return false;
  amount = static_cast<std::int64_t>(value);
  return true;
}

}  // namespace

Result<std::int64_t> parse_quantity(std::string_view text, std::int64_t units_per_one, Overflow overflow) {
  std::string_view rest = text;
  bool is_negative = false;
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) {
    is_negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  const Mantissa mantissa = read_mantissa(rest);
  if (!mantissa.has_digit) return bad_quantity(text, "is not a number; write for example 640, 1500m, 2.5 or 4Ti");
  if (mantissa.has_two_points) return bad_quantity(text, "has two decimal points");
  Scale scale;
  if (!read_suffix(rest.substr(mantissa.end), scale))
    return bad_quantity(text, "has an unknown suffix; write for example 640, 1500m, 2.5 or 4Ti");
  if (mantissa.value == 0 && !mantissa.is_too_long) return std::int64_t{0};
  std::int64_t amount = 0;
  if (!scaled(mantissa, units_per_one, scale, amount)) {
    if (overflow == Overflow::kRefuse) return bad_quantity(text, "is too large or has too many digits");
    amount = std::numeric_limits<std::int64_t>::max();
  }
  return is_negative ? -amount : amount;
}

}  // namespace ashlar
