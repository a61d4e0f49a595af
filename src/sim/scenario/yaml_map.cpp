#include "sim/scenario/yaml_map.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "config/yaml/document.h"
#include "sim/scenario/units.h"
#include "sim/trace/text_source.h"
#include "text/duration_text.h"
#include "text/nearest_name.h"

namespace ashlar::sim {
namespace {

constexpr std::size_t kShownMax = 60;

std::string kind_of(const YAML::Node& node) {
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return "a list";
  return "nothing";
}

}  // namespace

void YamlMistake::reject(const YAML::Mark& mark, const std::string& where, const std::string& message) {
  if (happened()) return;
  error_ = invalid(config::yaml_place(file_, mark) + (where.empty() ? "" : where + ": ") + message);
}

void YamlMistake::reject_missing(const YAML::Mark& mark, const std::string& where, const std::string& message) {
  if (happened()) return;
  reject(mark, where, message);
  is_missing_in_ = where;
}

void YamlMistake::reject_unknown(const YAML::Mark& mark, const std::string& where, const std::string& message) {
  if (is_missing_in_ == where) error_.reset();
  is_missing_in_.reset();
  reject(mark, where, message);
}

std::string YamlMap::expected(std::string_view form, std::string_view got) {
  return "expected " + std::string(form) + ", got " +
         (got.empty() ? "nothing" : "\"" + printable(got.substr(0, kShownMax)) + "\"");
}

std::string YamlMap::no_such(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  return "there is no " + std::string(what) + " \"" + printable(name.substr(0, kShownMax)) + "\"" +
         did_you_mean(name, std::vector<std::string_view>(known.begin(), known.end()));
}

YamlMap::YamlMap(YamlMistake& mistake, const YAML::Node& node, std::string where)
    : mistake_(mistake), mark_(node.Mark()), where_(std::move(where)) {
  if (!node.IsMap()) {
    reject_self("expected a map (key: value), got " +
                (node.IsScalar() ? "\"" + node.Scalar().substr(0, kShownMax) + "\"" : kind_of(node)));
    return;
  }
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) {
      mistake_.reject(pair.first.Mark(), where_, "expected a word as key, got " + kind_of(pair.first));
      continue;
    }
    const std::string& key = pair.first.Scalar();
    const bool is_doubled =
        std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
    if (is_doubled)
      mistake_.reject(pair.first.Mark(), where_,
                      "expected every key once, got \"" + key.substr(0, kShownMax) + "\" twice");
    entries_.push_back({key, pair.second, pair.first.Mark(), false});
  }
}

const YAML::Node* YamlMap::find(const std::string& key) {
  if (std::find(known_keys_.begin(), known_keys_.end(), key) == known_keys_.end()) known_keys_.push_back(key);
  for (Entry& entry : entries_) {
    if (entry.key != key) continue;
    entry.is_known = true;
    return &entry.value;
  }
  return nullptr;
}

std::optional<std::string> YamlMap::text(const std::string& key) {
  const YAML::Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->IsScalar()) return node->Scalar();
  reject(key, "expected one value, got " + kind_of(*node));
  return std::nullopt;
}

std::optional<std::int64_t> YamlMap::integer(const std::string& key, const IntegerForm& form) {
  const std::optional<std::string> value = text(key);
  if (!value) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (failure == std::errc() && end == value->data() + value->size() && number >= form.min && number <= form.max)
    return number;
  reject(key, expected(form.form, *value));
  return std::nullopt;
}

std::optional<double> YamlMap::real(const std::string& key, double min, double max, std::string_view form) {
  const std::optional<std::string> value = text(key);
  if (!value) return std::nullopt;
  double number = 0;
  const auto [end, failure] = std::from_chars(value->data(), value->data() + value->size(), number);
  const bool is_number = failure == std::errc() && end == value->data() + value->size() && std::isfinite(number);
  if (is_number && number >= min && number <= max) return number;
  reject(key, expected(form, *value));
  return std::nullopt;
}

std::optional<Millis> YamlMap::duration(const std::string& key) {
  const std::optional<std::string> value = text(key);
  if (!value) return std::nullopt;
  const Result<Millis> read = parse_duration(value->substr(0, kShownMax));
  if (read) return *read;
  reject(key, printable(read.error().message));
  return std::nullopt;
}

std::vector<std::string> YamlMap::words(const std::string& key) {
  std::vector<std::string> words;
  const YAML::Node* node = find(key);
  if (node == nullptr) return words;
  if (node->IsScalar()) return {node->Scalar()};
  for (const auto& [item, where] : items(key)) {
    if (item.IsScalar()) {
      words.push_back(item.Scalar());
    } else {
      mistake_.reject(item.Mark(), where, "expected a word, got " + kind_of(item));
    }
  }
  return words;
}

std::vector<std::pair<YAML::Node, std::string>> YamlMap::items(const std::string& key) {
  std::vector<std::pair<YAML::Node, std::string>> items;
  const YAML::Node* node = find(key);
  if (node == nullptr) return items;
  if (!node->IsSequence()) {
    reject(key, "expected a list (- ...), got " +
                    (node->IsScalar() ? "\"" + node->Scalar().substr(0, kShownMax) + "\"" : kind_of(*node)));
    return items;
  }
  for (std::size_t i = 0; i < node->size(); ++i)
    items.emplace_back((*node)[i], path(key) + "[" + std::to_string(i) + "]");
  return items;
}

void YamlMap::require(const std::string& key, std::string_view form) {
  if (find(key) == nullptr) reject_missing("expected the key \"" + key + "\": " + std::string(form));
}

void YamlMap::reject(const std::string& key, const std::string& message) {
  const YAML::Node* node = find(key);
  mistake_.reject(node == nullptr ? mark_ : node->Mark(), path(key), message);
}

void YamlMap::reject_missing(const std::string& message) { mistake_.reject_missing(mark_, where_, message); }

void YamlMap::reject_self(const std::string& message) { mistake_.reject(mark_, where_, message); }

void YamlMap::finish() {
  for (const Entry& entry : entries_) {
    if (entry.is_known) continue;
    const std::vector<std::string_view> known(known_keys_.begin(), known_keys_.end());
    mistake_.reject_unknown(entry.mark, where_,
                            "unknown key \"" + entry.key.substr(0, kShownMax) + "\"" + did_you_mean(entry.key, known));
  }
}

}  // namespace ashlar::sim
