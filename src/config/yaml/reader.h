// YamlReader: reads a YAML document into plain values and keeps the first error in it, as FILE:LINE:COLUMN: message.
// Getters return their default after that, so that readers are straight lines and check once, at the end. Internal to
// this folder (it pulls in yaml-cpp).
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"

namespace ashlar::config {

class YamlReader {
 public:
  static constexpr std::size_t kBytesMax = 16 << 20;  ///< of a file
  explicit YamlReader(std::string file) : file_(std::move(file)) {}

  /// The document; an undefined node if it is empty or does not parse.
  YAML::Node document(std::string_view text);
  bool is_ok() const { return !error_.has_value(); }
  const Error& error() const { return *error_; }
  const std::string& file() const { return file_; }

  /// Only the first failure is kept.
  void fail(const YAML::Node& at, const std::string& message);
  void fail(const YAML::Mark& at, const std::string& message);

  /// Whether it is a map of these keys only, each at most once. An absent node is not.
  bool is_map(const YAML::Node& node, std::string_view what, std::initializer_list<std::string_view> keys);
  /// Whether it is a list. An absent node is an empty one.
  bool is_list(const YAML::Node& node, std::string_view what);

  /// The value under a key, or `fallback` if it is absent.
  std::string text(const YAML::Node& map, const char* key, std::string fallback);
  bool boolean(const YAML::Node& map, const char* key, bool fallback);
  std::int64_t integer(const YAML::Node& map, const char* key, std::int64_t fallback, std::int64_t least,
                       std::int64_t most);
  Millis duration(const YAML::Node& map, const char* key, Millis fallback);
  std::int64_t amount(const YAML::Node& map, const char* key, std::int64_t fallback, std::int64_t units_per_one);
  std::vector<std::string> texts(const YAML::Node& map, const char* key);
  /// The index of the value among `names`.
  std::size_t choice(const YAML::Node& map, const char* key, std::size_t fallback,
                     std::span<const std::string_view> names);

  std::string scalar(const YAML::Node& node, std::string_view what);
  /// Rejects a document of another kind before its keys are looked at. One without a kind passes.
  void refuse_other_kind(const YAML::Node& node, std::string_view kind);
  /// Checks that apiVersion and kind are present and correct.
  void expect_kind(const YAML::Node& map, std::string_view kind);

 private:
  std::string file_;
  std::optional<Error> error_;
};

/// `name` itself if it is absolute, else below the folder of `beside`.
std::string path_beside(const std::string& beside, const std::string& name);

}  // namespace ashlar::config
