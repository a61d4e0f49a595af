#include "sim/case/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/scenario/units.h"
#include "text/duration_text.h"

namespace ashlar::sim {

Words::Words(std::string_view line, int number) : number_(number) {
  std::size_t i = 0;
  while (i < line.size()) {
    if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
      ++i;
      continue;
    }
    const bool is_row = i + 1 < line.size() && line[i + 1] >= '0' && line[i + 1] <= '9';
    if (line[i] == '#' && !is_row) break;
    std::size_t end = i;
    while (end < line.size() && line[end] != ' ' && line[end] != '\t' && line[end] != '\r') ++end;
    const bool is_opened = line[i] == '(', is_closed = line[end - 1] == ')';
    const auto add = [&](std::size_t from, std::size_t to) {
      if (from < to) words_.push_back({line.substr(from, to - from), static_cast<int>(from) + 1});
    };
    const std::size_t last = is_closed ? end - 1 : end;
    if (is_opened) add(i, i + 1);
    add(is_opened ? i + 1 : i, last);
    if (is_closed) add(last, end);
    i = end;
  }
  end_column_ = words_.empty() ? 1 : words_.back().column + static_cast<int>(words_.back().text.size());
}

std::string_view Words::peek(std::size_t ahead) const {
  return error_ || at_ + ahead >= words_.size() ? std::string_view() : words_[at_ + ahead].text;
}

bool Words::accept(std::string_view word) {
  if (peek() != word || is_at_end()) return false;
  ++at_;
  return true;
}

std::string_view Words::take(std::string_view form) {
  if (error_) return {};
  if (at_ >= words_.size()) {
    error_ = CaseError{number_, end_column_, fmt::format("the line ends too early; expected {}", form)};
    return {};
  }
  return words_[at_++].text;
}

std::int64_t Words::take_number(std::string_view form) {
  const std::string_view word = take(form);
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failure != std::errc() || end != word.data() + word.size() || value < 0)
    fail(fmt::format("\"{}\" is not a number", word), form);
  return has_failed() ? 0 : value;
}

std::int64_t Words::take_count(std::string_view form, std::int64_t most) {
  const std::int64_t value = take_number(form);
  if (!has_failed() && (value < 1 || value > most)) fail(fmt::format("{} is not within 1 to {}", value, most), form);
  return has_failed() ? 1 : value;
}

std::int32_t Words::take_signed(std::string_view form) {
  const std::string_view word = take(form);
  std::int32_t value = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failure != std::errc() || end != word.data() + word.size())
    fail(fmt::format("\"{}\" is not a number", word), form);
  return value;
}

void Words::begin_option(std::vector<std::string_view>& stated) {
  const std::string_view option = peek();
  if (std::ranges::find(stated, option) == stated.end()) return stated.push_back(option);
  take("an option");
  fail(fmt::format("\"{}\" is stated twice", option), "each option once");
}

Millis Words::take_time() {
  const std::string_view word = take(kDurationForm);
  const Result<Millis> time = parse_duration(word);
  if (!time && !word.empty()) fail(time.error().message);
  return time ? *time : Millis(0);
}

Millis Words::take_past_time() {
  const std::string_view word = take(kDurationForm);
  const bool is_before_zero = word.starts_with('-');
  const Result<Millis> time = parse_duration(word.substr(is_before_zero ? 1 : 0));
  if (!time && !word.empty()) fail(time.error().message);
  if (!time) return Millis(0);
  return is_before_zero ? Millis(0) - *time : *time;
}

void Words::fail(std::string_view message, std::string_view form) {
  if (error_) return;
  const int column = at_ == 0 || words_.empty() ? 1 : words_[at_ - 1].column;
  // "what is wrong; expected FORM; did you mean X?"
  const std::size_t meant = message.ends_with('?') ? message.rfind(';') : std::string_view::npos;
  std::string text(message.substr(0, meant));
  if (!form.empty()) text += fmt::format("; expected {}", form);
  if (meant != std::string_view::npos) text += message.substr(meant);
  error_ = CaseError{number_, column, std::move(text)};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0;;) {
    const std::size_t to = text.find(separator, from);
    parts.push_back(text.substr(from, to == std::string_view::npos ? to : to - from));
    if (to == std::string_view::npos) return parts;
    from = to + 1;
  }
}

KeyValue key_value(std::string_view text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}, false};
  return {text.substr(0, at), text.substr(at + 1), true};
}

}  // namespace ashlar::sim
