#include "documented/documented.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <string_view>

#include "folders.h"

namespace ashlar {
namespace {

/// "field" -> "type", of one kind and of every document.
using DocumentedFields = std::map<std::string, std::string>;

const DocumentedFields& documented_fields(const std::string& kind) {
  static const std::map<std::string, DocumentedFields> fields = [] {
    std::map<std::string, DocumentedFields> by_kind;
    std::ifstream file(ASHLAR_SOURCE_DIR "/docs/reference/json.md");
    std::string section;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("## ")) section = line.substr(3);
      if (!line.starts_with("| `")) continue;
      const std::size_t end = line.find(" | "), type_end = line.find(" | ", end + 3);
      const std::string names = line.substr(2, end - 2), type = line.substr(end + 3, type_end - end - 3);
      for (std::size_t at = names.find('`'); at != std::string::npos; at = names.find('`', names.find('`', at + 1) + 1))
        by_kind[section][names.substr(at + 1, names.find('`', at + 1) - at - 1)] = type;
    }
    return by_kind;
  }();
  static const DocumentedFields none;
  const auto found = fields.find(kind);
  return found == fields.end() ? none : found->second;
}

/// Whether `path` is `field`, in which * stands for any one name.
bool is_field(std::string_view path, std::string_view field) {
  const std::size_t star = field.find('*');
  if (star == std::string_view::npos) return path == field;
  if (!path.starts_with(field.substr(0, star))) return false;
  path.remove_prefix(star);
  field.remove_prefix(star + 1);
  // A name may hold dots: whatever end of it leaves the rest.
  for (std::size_t end = 1; end <= path.size(); ++end)
    if (is_field(path.substr(end), field)) return true;
  return false;
}

std::string json_type(const boost::json::value& value) {
  if (value.is_string()) return "string";
  if (value.is_bool()) return "boolean";
  if (value.is_null()) return "null";
  return value.is_double() ? "number" : "integer";
}

/// Visits each value that is no object and no array, with its path.
template <class Visit>
void each_value(const boost::json::value& value, const std::string& path, const Visit& visit) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.as_object())
      each_value(member, path.empty() ? std::string(key) : path + "." + std::string(key), visit);
  } else if (value.is_array()) {
    for (const boost::json::value& element : value.as_array()) each_value(element, path + "[]", visit);
  } else {
    visit(value, path);
  }
}

bool is_documented(const DocumentedFields& documented, const std::string& path, const std::string& type) {
  return std::any_of(documented.begin(), documented.end(), [&](const auto& row) {
    const auto& [field, types] = row;
    return is_field(path, field) &&
           (types.find(type) != std::string::npos || (type == "integer" && types.find("number") != std::string::npos));
  });
}

}  // namespace

std::string undocumented(const std::string& text) {
  const boost::json::value document = boost::json::parse(text);
  const boost::json::value* kind = document.is_object() ? document.as_object().if_contains("kind") : nullptr;
  if (kind == nullptr || !kind->is_string()) return "it has no kind\n";
  const DocumentedFields &all = documented_fields(""), &own = documented_fields(std::string(kind->as_string()));
  if (own.empty()) return "kind " + std::string(kind->as_string()) + " is not described\n";
  std::string out;
  each_value(document, "", [&](const boost::json::value& value, const std::string& path) {
    const std::string type = json_type(value);
    if (!is_documented(all, path, type) && !is_documented(own, path, type)) out += path + " (" + type + ")\n";
  });
  return out;
}

std::string unprinted(const std::string& kind, const std::vector<std::string>& texts) {
  DocumentedFields left = documented_fields(kind);
  if (left.empty()) return "kind " + kind + " is not described\n";
  for (const std::string& text : texts)
    each_value(boost::json::parse(text), "", [&](const boost::json::value&, const std::string& path) {
      std::erase_if(left, [&](const auto& row) { return is_field(path, row.first); });
    });
  std::string out;
  for (const auto& [field, type] : left) out += field + "\n";
  return out;
}

}  // namespace ashlar
