#include "documented/documented.h"

#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <string_view>
#include <vector>

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

/// Appends "path (type)" of each value that is not documented.
void add_undocumented(const boost::json::value& value, const std::string& path,
                      const std::vector<const DocumentedFields*>& documented, std::string& out) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.as_object())
      add_undocumented(member, path.empty() ? std::string(key) : path + "." + std::string(key), documented, out);
    return;
  }
  if (value.is_array()) {
    for (const boost::json::value& element : value.as_array()) add_undocumented(element, path + "[]", documented, out);
    return;
  }
  const std::string type = json_type(value);
  for (const DocumentedFields* fields : documented)
    for (const auto& [field, types] : *fields)
      if (is_field(path, field) &&
          (types.find(type) != std::string::npos || (type == "integer" && types.find("number") != std::string::npos)))
        return;
  out += path + " (" + type + ")\n";
}

}  // namespace

std::string undocumented(const std::string& text) {
  const boost::json::value document = boost::json::parse(text);
  const boost::json::value* kind = document.is_object() ? document.as_object().if_contains("kind") : nullptr;
  if (kind == nullptr || !kind->is_string()) return "it has no kind\n";
  const DocumentedFields &all = documented_fields(""), &own = documented_fields(std::string(kind->as_string()));
  if (own.empty()) return "kind " + std::string(kind->as_string()) + " is not described\n";
  std::string out;
  add_undocumented(document, "", {&all, &own}, out);
  return out;
}

}  // namespace ashlar
