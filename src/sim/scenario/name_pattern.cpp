#include "sim/scenario/name_pattern.h"

#include <charconv>

namespace ashlar::sim {
namespace {

constexpr std::int64_t kNumberMax = 1'000'000'000;
constexpr std::int64_t kDigitsMax = 9;

/// Takes a whole number 0..max from the front.
std::optional<std::int64_t> take_operand(std::string_view& text, std::int64_t max) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || value < 0 || value > max) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// The content of the braces, evaluated.
std::optional<std::string> evaluate(std::string_view text, std::int64_t i, std::int64_t n) {
  if (text.empty() || (text[0] != 'i' && text[0] != 'n')) return std::nullopt;
  std::int64_t value = text[0] == 'i' ? i : n;
  text.remove_prefix(1);
  while (!text.empty()) {
    const char operation = text[0];
    text.remove_prefix(1);
    const auto operand = take_operand(text, operation == ':' ? kDigitsMax : kNumberMax);
    if (!operand) return std::nullopt;
    if ((operation == '/' || operation == '%') && *operand == 0) return std::nullopt;
    if (operation == '/') {
      value /= *operand;
    } else if (operation == '%') {
      value %= *operand;
    } else if (operation == '+') {
      value += *operand;
    } else if (operation == ':' && text.empty()) {
      std::string digits = std::to_string(value);
      if (digits.size() < static_cast<std::size_t>(*operand))
        digits.insert(0, static_cast<std::size_t>(*operand) - digits.size(), '0');
      return digits;
    } else {
      return std::nullopt;
    }
  }
  return std::to_string(value);
}

}  // namespace

std::optional<std::string> expand_pattern(std::string_view pattern, std::int64_t i, std::int64_t n) {
  std::string out;
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] == '}') return std::nullopt;
    if (pattern[at] != '{') {
      out += pattern[at++];
      continue;
    }
    const std::size_t close = pattern.find('}', at);
    if (close == std::string_view::npos) return std::nullopt;
    const auto piece = evaluate(pattern.substr(at + 1, close - at - 1), i, n);
    if (!piece) return std::nullopt;
    out += *piece;
    at = close + 1;
  }
  return out;
}

}  // namespace ashlar::sim
