#include "text/duration_text.h"

#include <cstdio>
#include <string>

#include "text/amount_text.h"
#include "text/in_quotes.h"

namespace ashlar {
namespace {

using Wide = unsigned __int128;
constexpr std::size_t kDigitsMax = 18;  ///< whole and fractional digits together; keeps every product within 128 bits
constexpr std::size_t kShownMax = 64;   ///< of a text that cannot be read

struct Unit {
  std::string_view name;
  std::int64_t times = 1;
  std::int64_t per = 1;
};
constexpr Unit kDurationUnits[] = {{"ns", 1, 1'000'000}, {"us", 1, 1000},   {"ms", 1},
                                   {"s", 1000},          {"m", 60'000},     {"min", 60'000},
                                   {"h", 3'600'000},     {"d", 86'400'000}, {"w", 604'800'000}};

/// A decimal number as digits / 10^places.
struct Decimal {
  std::int64_t digits = 0;
  std::int64_t scale = 1;
};

/// Reads a number from the front of `text`; false if there is none or it is too long.
bool take_decimal(std::string_view& text, Decimal& out) {
  out = {};
  std::size_t count = 0, at = 0;
  bool has_point = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    if (++count > kDigitsMax) return false;
    out.digits = out.digits * 10 + (c - '0');
    if (has_point) out.scale *= 10;
  }
  text.remove_prefix(at);
  return count > 0;
}

Error bad_duration(std::string_view text) {
  return invalid(in_quotes(text, kShownMax) + " is not a duration; write for example 90s, 500ms, 1h30m or 2d");
}

}  // namespace

Result<Millis> parse_duration(std::string_view text) {
  std::string_view rest = text;
  Wide millis = 0;
  bool is_first = true;
  while (!rest.empty()) {
    Decimal number;
    if (!take_decimal(rest, number)) return bad_duration(text);
    std::size_t letters = 0;
    while (letters < rest.size() && rest[letters] >= 'a' && rest[letters] <= 'z') ++letters;
    const bool is_bare = letters == 0 && rest.empty() && is_first;  // a number alone is seconds
    const Unit* unit = nullptr;
    for (const Unit& u : kDurationUnits)
      if (u.name == (is_bare ? "s" : rest.substr(0, letters))) unit = &u;
    if (unit == nullptr) return bad_duration(text);
    const Wide over = static_cast<Wide>(number.digits) * static_cast<Wide>(unit->times);
    const Wide under = static_cast<Wide>(number.scale) * static_cast<Wide>(unit->per);
    if (over % under != 0) return invalid(in_quotes(text, kShownMax) + " is not a whole number of milliseconds");
    millis += over / under;
    if (millis > static_cast<Wide>(kDurationMax.value))
      return invalid(in_quotes(text, kShownMax) + " is longer than 100 years");
    rest.remove_prefix(letters);
    is_first = false;
  }
  if (text.empty()) return bad_duration(text);
  return Millis(static_cast<std::int64_t>(millis));
}

std::string seconds_text(Millis duration) { return milli_word(duration.value) + "s"; }

std::string duration_text(Millis duration) {
  char text[64];
  const long long ms = static_cast<long long>(duration.value);
  if (ms < 1000)
    std::snprintf(text, sizeof text, "%lldms", ms);
  else if (ms < 60'000)
    std::snprintf(text, sizeof text, "%.1fs", static_cast<double>(ms) / 1000);
  else if (ms < 3'600'000)
    std::snprintf(text, sizeof text, "%lldm%02llds", ms / 60'000, ms / 1000 % 60);
  else if (ms < 172'800'000)
    std::snprintf(text, sizeof text, "%lldh%02lldm", ms / 3'600'000, ms / 60'000 % 60);
  else
    std::snprintf(text, sizeof text, "%lldd%lldh", ms / 86'400'000, ms / 3'600'000 % 24);
  return text;
}

}  // namespace ashlar
