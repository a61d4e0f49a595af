// yaml_map: strict reading of YAML maps. The first mistake is kept as an Error with file, line, column, the key's path
// and what was expected; reading continues with fallbacks, so that a reader checks once, at the end.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "sim/trace/csv.h"

namespace ashlar::sim {

/// The first mistake of one file.
class YamlMistake {
 public:
  explicit YamlMistake(std::string file) : file_(std::move(file)) {}
  /// `FILE:LINE:COLUMN: WHERE: MESSAGE`
  void reject(const YAML::Mark& mark, const std::string& where, const std::string& message);
  /// The same, but an unknown key of the map `where` is shown instead: it is the missing one, misspelled.
  void reject_missing(const YAML::Mark& mark, const std::string& where, const std::string& message);
  void reject_unknown(const YAML::Mark& mark, const std::string& where, const std::string& message);
  bool happened() const { return error_.has_value(); }
  const Error& error() const { return *error_; }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::optional<Error> error_;
  std::optional<std::string> is_missing_in_;  ///< the map in which a key is missing, if that is the mistake
};

class YamlMap {
 public:
  /// `where` names the map in messages, "" for the whole file. Anything but a map is a mistake.
  YamlMap(YamlMistake& mistake, const YAML::Node& node, std::string where);

  /// The value of a key, or null. Reading a key marks it as known.
  const YAML::Node* find(const std::string& key);
  bool has(const std::string& key) { return find(key) != nullptr; }
  /// "nodes[0].gpus"
  std::string path(const std::string& key) const { return where_.empty() ? key : where_ + "." + key; }

  std::optional<std::string> text(const std::string& key);
  std::optional<std::int64_t> integer(const std::string& key, const IntegerForm& form);
  std::optional<double> real(const std::string& key, double min, double max, std::string_view form);
  std::optional<Millis> duration(const std::string& key);
  /// Any amount that `parse` reads from text; `form` is what it expects.
  template <class Amount>
  std::optional<Amount> amount(const std::string& key, std::optional<Amount> (*parse)(std::string_view),
                               std::string_view form) {
    const std::optional<std::string> value = text(key);
    if (!value) return std::nullopt;
    const std::optional<Amount> parsed = parse(*value);
    if (!parsed) reject(key, expected(form, *value));
    return parsed;
  }
  /// A list of words, or one word.
  std::vector<std::string> words(const std::string& key);
  /// The entries of a list, each with its path.
  std::vector<std::pair<YAML::Node, std::string>> items(const std::string& key);

  /// Makes a missing key a mistake, unless there is an unknown one.
  void require(const std::string& key, std::string_view form);
  /// The same for what no single key says.
  void reject_missing(const std::string& message);
  void reject(const std::string& key, const std::string& message);
  void reject_self(const std::string& message);
  /// Makes every unread key a mistake. Call when all keys were read.
  void finish();

  static std::string expected(std::string_view form, std::string_view got);
  /// `there is no queue "X"; did you mean "Y"?`
  static std::string no_such(std::string_view what, std::string_view name, const std::vector<std::string>& known);

 private:
  struct Entry {
    std::string key;
    YAML::Node value;
    YAML::Mark mark;
    bool is_known = false;
  };

  YamlMistake& mistake_;
  YAML::Mark mark_;
  std::string where_;
  std::vector<Entry> entries_;
  std::vector<std::string> known_keys_;
};

}  // namespace ashlar::sim
