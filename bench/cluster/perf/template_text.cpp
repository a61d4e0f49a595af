#include "template_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>
#include <vector>

#include "text/nearest_name.h"

namespace ashlar::bench::perf {
namespace {

constexpr std::string_view kFunctions[] = {"AddInt", "SubtractInt", "MultiplyInt", "DivideInt", "ModInt"};

Result<std::string> value_of(const std::string& word, const TemplateValues& values) {
  if (word.front() != '.') return word;
  const auto found = values.find(std::string_view(word).substr(1));
  if (found != values.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, value] : values) known.push_back(name);
  return invalid("no value \"" + word + "\"" + suggestion(word.substr(1), known));
}

Result<std::int64_t> whole_number(const std::string& word, const TemplateValues& values) {
  const Result<std::string> text = value_of(word, values);
  if (!text) return text.error();
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (code != std::errc() || end != text->data() + text->size())
    return invalid("\"" + word + "\" is \"" + *text + "\", not a whole number");
  return number;
}

std::optional<std::int64_t> computed(std::string_view function, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflows = false;
  if (function == "AddInt") overflows = __builtin_add_overflow(a, b, &result);
  if (function == "SubtractInt") overflows = __builtin_sub_overflow(a, b, &result);
  if (function == "MultiplyInt") overflows = __builtin_mul_overflow(a, b, &result);
  if (function == "DivideInt" || function == "ModInt") {
    overflows = b == 0 || b == -1;  // -1: the smallest number has no opposite
    if (!overflows) result = function == "DivideInt" ? a / b : a % b;
  }
  return overflows ? std::nullopt : std::optional(result);
}

Result<std::string> evaluated(std::string_view expression, const TemplateValues& values) {
  std::istringstream stream{std::string(expression)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.empty()) return invalid("nothing between {{ and }}");
  if (words.front().front() == '.' && words.size() == 1) return value_of(words.front(), values);
  if (std::find(std::begin(kFunctions), std::end(kFunctions), words.front()) == std::end(kFunctions))
    return invalid("unknown function \"" + words.front() + "\"" + did_you_mean(words.front(), kFunctions));
  if (words.size() != 3) return invalid(words.front() + " takes two values");
  const Result<std::int64_t> a = whole_number(words[1], values), b = whole_number(words[2], values);
  if (!a) return a.error();
  if (!b) return b.error();
  const std::optional<std::int64_t> result = computed(words.front(), *a, *b);
  if (!result) return invalid(words.front() + " of " + std::to_string(*a) + " and " + std::to_string(*b));
  return std::to_string(*result);
}

Error at(const std::string& file, std::string_view text, std::size_t offset, const std::string& message) {
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n') + 1;
  return invalid(file + ":" + std::to_string(line) + ": " + message);
}

}  // namespace

Result<std::string> expand(std::string_view text, const std::string& file, const TemplateValues& values) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t open = text.find("{{"); open != std::string_view::npos; open = text.find("{{", from)) {
    const std::size_t close = text.find("}}", open);
    if (close == std::string_view::npos) return at(file, text, open, "\"{{\" without \"}}\"");
    const Result<std::string> value = evaluated(text.substr(open + 2, close - open - 2), values);
    if (!value) return at(file, text, open, value.error().message);
    out.append(text, from, open - from).append(*value);
    from = close + 2;
  }
  return out.append(text, from);
}

}  // namespace ashlar::bench::perf
