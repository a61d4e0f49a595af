#include "json_of.h"

#include <cctype>
#include <cstdio>
#include <string_view>

namespace ashlar::bench::perf {
namespace {

std::string in_json_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
bool is_json_number(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
    return at - from;
  };
  if (at < text.size() && text[at] == '-') ++at;
  const std::size_t whole_from = at, whole = digits();
  if (whole == 0 || (whole > 1 && text[whole_from] == '0')) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

std::string scalar_json(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return in_json_quotes(text);
  if (text.empty() || text == "~" || text == "null") return "null";
  if (text == "true" || text == "false" || is_json_number(text)) return text;
  return in_json_quotes(text);
}

}  // namespace

std::string json_of(const YAML::Node& node) {
  if (!node.IsDefined() || node.IsNull()) return "null";
  if (node.IsScalar()) return scalar_json(node);
  std::string out = node.IsMap() ? "{" : "[";
  for (auto entry = node.begin(); entry != node.end(); ++entry) {
    if (out.size() > 1) out += ',';
    out += node.IsMap() ? in_json_quotes(entry->first.Scalar()) + ":" + json_of(entry->second) : json_of(*entry);
  }
  return out + (node.IsMap() ? "}" : "]");
}

YAML::Node quoted(const std::string& text) {
  YAML::Node node(text);
  node.SetTag("!");
  return node;
}

}  // namespace ashlar::bench::perf
