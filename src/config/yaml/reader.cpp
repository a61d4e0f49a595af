#include "config/yaml/reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "config/scheduler_config.h"
#include "config/yaml/document.h"
#include "text/duration_text.h"
#include "text/nearest_name.h"
#include "text/quantity_text.h"

namespace ashlar::config {

YAML::Node YamlReader::document(std::string_view text) {
  if (text.size() > kBytesMax) {
    fail(YAML::Mark{}, "the file is larger than " + std::to_string(kBytesMax >> 20) + " MiB");
    return YAML::Node(YAML::NodeType::Undefined);
  }
  Result<YAML::Node> document = only_document(std::string(text), file_);
  if (document && !document->IsNull()) return *document;
  if (document)
    fail(YAML::Mark{}, "the file is empty");
  else if (is_ok())
    error_ = document.error();
  return YAML::Node(YAML::NodeType::Undefined);
}

void YamlReader::fail(const YAML::Mark& at, const std::string& message) {
  if (error_.has_value()) return;
  error_ = invalid(yaml_place(file_, at) + message);
}

void YamlReader::fail(const YAML::Node& at, const std::string& message) {
  fail(at.IsDefined() ? at.Mark() : YAML::Mark{}, message);
}

bool YamlReader::is_map(const YAML::Node& node, std::string_view what, std::initializer_list<std::string_view> keys) {
  if (!is_ok() || !node.IsDefined() || node.IsNull()) return false;
  if (!node.IsMap()) {
    fail(node, std::string(what) + " must be a map");
    return false;
  }
  std::vector<std::string> seen;
  for (const auto& entry : node) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : std::string();
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      fail(entry.first, "unknown key \"" + key + "\" in " + std::string(what) +
                            did_you_mean(key, std::span(keys.begin(), keys.size())));
      return false;
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      fail(entry.first, "\"" + key + "\" is given twice");
      return false;
    }
    seen.push_back(key);
  }
  return true;
}

bool YamlReader::is_list(const YAML::Node& node, std::string_view what) {
  if (!is_ok() || !node.IsDefined() || node.IsNull()) return false;
  if (!node.IsSequence()) fail(node, std::string(what) + " must be a list");
  return node.IsSequence();
}

std::string YamlReader::scalar(const YAML::Node& node, std::string_view what) {
  if (is_ok() && !node.IsScalar()) fail(node, std::string(what) + " must be a single value");
  return is_ok() ? node.Scalar() : std::string();
}

std::string YamlReader::text(const YAML::Node& map, const char* key, std::string fallback) {
  const YAML::Node node = map[key];
  if (!is_ok() || !node.IsDefined()) return fallback;
  std::string value = scalar(node, key);
  if (is_ok() && value.empty()) fail(node, std::string(key) + " must not be empty");
  return value;
}

bool YamlReader::boolean(const YAML::Node& map, const char* key, bool fallback) {
  const YAML::Node node = map[key];
  if (!is_ok() || !node.IsDefined()) return fallback;
  const std::string value = scalar(node, key);
  if (value != "true" && value != "false")
    fail(node, std::string(key) + " must be true or false, not \"" + value + "\"");
  return value == "true";
}

std::int64_t YamlReader::integer(const YAML::Node& map, const char* key, std::int64_t fallback, std::int64_t least,
                                 std::int64_t most) {
  const YAML::Node node = map[key];
  if (!is_ok() || !node.IsDefined()) return fallback;
  const std::string value = scalar(node, key);
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (is_ok() && (code != std::errc() || end != value.data() + value.size() || number < least || number > most))
    fail(node, std::string(key) + " must be an integer from " + std::to_string(least) + " to " + std::to_string(most) +
                   ", not \"" + value + "\"");
  return is_ok() ? number : fallback;
}

Millis YamlReader::duration(const YAML::Node& map, const char* key, Millis fallback) {
  const YAML::Node node = map[key];
  if (!is_ok() || !node.IsDefined()) return fallback;
  const Result<Millis> value = parse_duration(scalar(node, key));
  if (!value) fail(node, std::string(key) + ": " + value.error().message);
  return value ? *value : fallback;
}

std::int64_t YamlReader::amount(const YAML::Node& map, const char* key, std::int64_t fallback,
                                std::int64_t units_per_one) {
  const YAML::Node node = map[key];
  if (!is_ok() || !node.IsDefined()) return fallback;
  const Result<std::int64_t> value = parse_quantity(scalar(node, key), units_per_one);
  if (!value) fail(node, std::string(key) + ": " + value.error().message);
  if (value && *value < 0) fail(node, std::string(key) + " must not be negative");
  return value ? *value : fallback;
}

std::vector<std::string> YamlReader::texts(const YAML::Node& map, const char* key) {
  std::vector<std::string> values;
  const YAML::Node node = map[key];
  if (!is_list(node, key)) return values;
  for (const auto& item : node) {
    const std::string value = scalar(item, key);
    if (value.empty()) fail(item, std::string(key) + " must not have empty entries");
    if (std::find(values.begin(), values.end(), value) != values.end())
      fail(item, "\"" + value + "\" is listed twice in " + key);
    values.push_back(value);
  }
  return values;
}

std::size_t YamlReader::choice(const YAML::Node& map, const char* key, std::size_t fallback,
                               std::span<const std::string_view> names) {
  const YAML::Node node = map[key];
  if (!is_ok() || !node.IsDefined()) return fallback;
  const std::string value = scalar(node, key);
  const auto it = std::find(names.begin(), names.end(), value);
  if (it == names.end())
    fail(node,
         "unknown " + std::string(key) + " \"" + value + "\"; expected " + or_list(names) + suggestion(value, names));
  return it == names.end() ? fallback : static_cast<std::size_t>(it - names.begin());
}

void YamlReader::refuse_other_kind(const YAML::Node& node, std::string_view kind) {
  if (!is_ok() || !node.IsDefined() || !node.IsMap()) return;
  const YAML::Node stated = node["kind"];
  if (stated.IsDefined() && stated.IsScalar() && stated.Scalar() != kind)
    fail(stated, "kind must be \"" + std::string(kind) + "\", not \"" + stated.Scalar() + "\"");
}

void YamlReader::expect_kind(const YAML::Node& map, std::string_view kind) {
  const auto expect = [&](const char* key, std::string_view wanted) {
    if (!is_ok()) return;
    const YAML::Node node = map[key];
    if (!node.IsDefined())
      fail(map, std::string(key) + " is missing; write \"" + key + ": " + std::string(wanted) + "\"");
    else if (const std::string value = scalar(node, key); is_ok() && value != wanted)
      fail(node, std::string(key) + " must be \"" + std::string(wanted) + "\", not \"" + value + "\"");
  };
  expect("apiVersion", kApiVersion);
  expect("kind", kind);
}

std::string path_beside(const std::string& beside, const std::string& name) {
  const std::filesystem::path path(name);
  return path.is_absolute() ? name : (std::filesystem::path(beside).parent_path() / path).string();
}

}  // namespace ashlar::config
