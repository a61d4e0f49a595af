#include "sim/scenario/yaml_map.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/scenario/units.h"
#include "sim/trace/text_source.h"

namespace ashlar::sim {
namespace {

constexpr std::size_t kShownMax = 60;

/// Insertions, deletions and replacements that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string kind_of(const YAML::Node& node) {
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return "a list";
  return "nothing";
}

}  // namespace

void YamlMistake::reject(const YAML::Mark& mark, const std::string& where, const std::string& message) {
  if (happened()) return;
  // yaml-cpp marks nodes it made up (such as empty documents) with -1.
  const int line = std::max(mark.line, 0) + 1;
  const int column = std::max(mark.column, 0) + 1;
  error_ = invalid(file_ + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + (where.empty() ? "" : where + ": ") + message);
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kWordMax = 64;  // longer words are not slips, and distances cost their product
  if (word.empty() || word.size() > kWordMax) return {};
  std::string best;
  std::size_t best_cost = 2 * (std::max<std::size_t>(2, word.size() / 3) + 1);
  for (const std::string& each : known) {
    // Among equally near words the one that begins alike: "gpu" means "gpus" rather than "cpu".
    const std::size_t cost = 2 * edit_distance(word, each) + (!each.empty() && each[0] == word[0] ? 0 : 1);
    if (cost < best_cost) {
      best_cost = cost;
      best = each;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = nearest_word(word, known);
  return near.empty() ? "" : "; did you mean \"" + near + "\"?";
}

std::string YamlMap::expected(std::string_view form, std::string_view got) {
  return "expected " + std::string(form) + ", got " + (got.empty() ? "nothing" : "\"" + printable(got.substr(0, kShownMax)) + "\"");
}

YamlMap::YamlMap(YamlMistake& mistake, const YAML::Node& node, std::string where) : mistake_(mistake), mark_(node.Mark()), where_(std::move(where)) {
  if (!node.IsMap()) {
    reject_self("expected a map (key: value), got " + (node.IsScalar() ? "\"" + node.Scalar().substr(0, kShownMax) + "\"" : kind_of(node)));
    return;
  }
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) {
      mistake_.reject(pair.first.Mark(), where_, "expected a word as key, got " + kind_of(pair.first));
      continue;
    }
    const std::string& key = pair.first.Scalar();
    const bool is_doubled = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
    if (is_doubled) mistake_.reject(pair.first.Mark(), where_, "expected every key once, got \"" + key.substr(0, kShownMax) + "\" twice");
    entries_.push_back({key, pair.second, pair.first.Mark(), false});
  }
}

const YAML::Node* YamlMap::find(const std::string& key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.push_back(key);
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
  if (failure == std::errc() && end == value->data() + value->size() && number >= form.min && number <= form.max) return number;
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

std::optional<Millis> YamlMap::duration(const std::string& key) { return amount<Millis>(key, &parse_duration, kDurationForm); }

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
    reject(key, "expected a list (- ...), got " + (node->IsScalar() ? "\"" + node->Scalar().substr(0, kShownMax) + "\"" : kind_of(*node)));
    return items;
  }
  for (std::size_t i = 0; i < node->size(); ++i) items.emplace_back((*node)[i], path(key) + "[" + std::to_string(i) + "]");
  return items;
}

void YamlMap::require(const std::string& key, std::string_view form) {
  if (find(key) == nullptr) mistake_.reject(mark_, where_, "expected the key \"" + key + "\": " + std::string(form));
}

void YamlMap::reject(const std::string& key, const std::string& message) {
  const YAML::Node* node = find(key);
  mistake_.reject(node == nullptr ? mark_ : node->Mark(), path(key), message);
}

void YamlMap::reject_self(const std::string& message) { mistake_.reject(mark_, where_, message); }

void YamlMap::finish() {
  for (const Entry& entry : entries_) {
    if (entry.is_known) continue;
    std::string known;
    for (const std::string& key : asked_) known += (known.empty() ? "" : ", ") + key;
    mistake_.reject(entry.mark, where_,
                    "unknown key \"" + entry.key.substr(0, kShownMax) + "\"" + did_you_mean(entry.key, asked_) + " (known: " + known + ")");
  }
}

}  // namespace ashlar::sim
