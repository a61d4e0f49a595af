#include "text/moment_text.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace ashlar {
namespace {

/// Reads exactly `count` digits at `position` and advances it; -1 if they are not there.
int read_digits(std::string_view text, std::size_t& position, int count) {
  int value = 0;
  for (int i = 0; i < count; ++i, ++position) {
    if (position >= text.size() || text[position] < '0' || text[position] > '9') return -1;
    value = value * 10 + (text[position] - '0');
  }
  return value;
}

bool skip(std::string_view text, std::size_t& position, char c) {
  if (position >= text.size() || (text[position] | 0x20) != (c | 0x20)) return false;
  ++position;
  return true;
}

/// Days since 1970-01-01 of a proleptic Gregorian date; a day that its month lacks is one of the next month.
std::int64_t days_of(int year, int month, int day) {
  return std::chrono::sys_days(std::chrono::year(year) / month / day).time_since_epoch().count();
}

}  // namespace

Result<Millis> parse_moment(std::string_view text) {
  const Error bad = invalid("\"" + std::string(text.substr(0, 40)) + "\" is not a time such as 2026-01-31T12:00:00Z");
  std::size_t at = 0;
  const int year = read_digits(text, at, 4);
  if (year < 0 || !skip(text, at, '-')) return bad;
  const int month = read_digits(text, at, 2);
  if (month < 1 || month > 12 || !skip(text, at, '-')) return bad;
  const int day = read_digits(text, at, 2);
  if (day < 1 || day > 31 || !skip(text, at, 'T')) return bad;
  const int hour = read_digits(text, at, 2);
  if (hour < 0 || hour > 24 || !skip(text, at, ':')) return bad;
  const int minute = read_digits(text, at, 2);
  if (minute < 0 || minute > 59 || !skip(text, at, ':')) return bad;
  const int second = read_digits(text, at, 2);
  if (second < 0 || second > 60) return bad;
  std::int64_t millis = 0, unit = 100;
  if (at < text.size() && text[at] == '.')
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10)
      millis += unit * (text[at] - '0');
  std::int64_t zone_minutes = 0;
  if (!skip(text, at, 'Z')) {
    if (at >= text.size() || (text[at] != '+' && text[at] != '-')) return bad;
    const bool is_west = text[at++] == '-';
    const int zone_hours = read_digits(text, at, 2);
    if (zone_hours < 0 || !skip(text, at, ':')) return bad;
    const int minutes = read_digits(text, at, 2);
    if (minutes < 0) return bad;
    zone_minutes = (zone_hours * 60 + minutes) * (is_west ? -1 : 1);
  }
  if (at != text.size()) return bad;
  const std::int64_t seconds = days_of(year, month, day) * 86400 + hour * 3600 + (minute - zone_minutes) * 60 + second;
  return Millis(seconds * 1000 + millis);
}

}  // namespace ashlar
