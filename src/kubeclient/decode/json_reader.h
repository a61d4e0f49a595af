// json_reader: simdjson's on-demand parser without its pitfalls: each value is consumed once and in order: each_field
// and each_item pass children, the readers treat null as absent. Any type other than the expected one throws
// simdjson_error, which the decode functions catch at their boundary. Private to the folder.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ashlar::kube::json {

using Value = simdjson::ondemand::value;
using simdjson::ondemand::json_type;

inline bool is_null(Value& value) { return value.type().value() == json_type::null; }

/// Calls `visit(key, value)` for each member; nothing for null. Unvisited values are skipped by the parser.
template <class Visit>
void each_field(Value value, Visit&& visit) {
  if (is_null(value)) return;
  simdjson::ondemand::object object = value.get_object().value();
  for (auto field : object) {
    const std::string_view key = field.unescaped_key().value();
    visit(key, field.value().value());
  }
}

/// Calls `visit(value)` for each element; nothing for null.
template <class Visit>
void each_item(Value value, Visit&& visit) {
  if (is_null(value)) return;
  simdjson::ondemand::array array = value.get_array().value();
  for (auto item : array) visit(Value(item.value()));
}

/// The text, valid until the next document is parsed; empty for null.
inline std::string_view text_of(Value value) {
  return is_null(value) ? std::string_view() : value.get_string().value();
}
inline bool bool_of(Value value) { return !is_null(value) && value.get_bool().value(); }
inline std::int64_t integer_of(Value value) { return is_null(value) ? 0 : value.get_int64().value(); }
/// One parser and padded buffer for each thread; a document is valid until the next call of parse() on that thread.
class Parser {
 public:
  /// Copies `text` into padded memory and begins a document. Throws simdjson_error.
  simdjson::ondemand::document parse(std::string_view text);
  static Parser& of_thread();

 private:
  simdjson::ondemand::parser parser_;
  std::string padded_;
};

/// The value's own JSON.
std::string raw_of(Value value);
/// The text at a JSON pointer of a document that may be invalid elsewhere; empty if it cannot be read.
std::string text_at(std::string_view body, const char* pointer);

/// "not valid JSON: …" as an Error.
Error to_error(const simdjson::simdjson_error& error, std::string_view what);

}  // namespace ashlar::kube::json
