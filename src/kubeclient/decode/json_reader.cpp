#include "kubeclient/decode/json_reader.h"

namespace ashlar::kube::json {
namespace {

// Buffers that one large list page has enlarged are freed, so that watching afterwards costs little memory.
constexpr std::size_t kKeptBytes = 8u << 20;

}  // namespace

Parser& Parser::of_thread() {
  thread_local Parser parser;
  return parser;
}

simdjson::ondemand::document Parser::parse(std::string_view text) {
  const std::size_t needed = text.size() + simdjson::SIMDJSON_PADDING;
  if (padded_.capacity() > kKeptBytes && needed <= kKeptBytes) {
    padded_ = std::string();
    parser_ = simdjson::ondemand::parser();
  }
  padded_.assign(text);
  padded_.resize(needed, ' ');
  return parser_.iterate(simdjson::padded_string_view(padded_.data(), text.size(), padded_.size())).value();
}

std::string raw_of(Value value) {
  switch (value.type().value()) {
    case json_type::object:
      return std::string(value.get_object().value().raw_json().value());
    case json_type::array:
      return std::string(value.get_array().value().raw_json().value());
    default:
      return std::string(value.raw_json_token());
  }
}

std::string text_at(std::string_view body, const char* pointer) {
  try {
    simdjson::ondemand::document document = Parser::of_thread().parse(body);
    return std::string(document.at_pointer(pointer).get_string().value());
  } catch (const simdjson::simdjson_error&) {
    return {};
  }
}

Error to_error(const simdjson::simdjson_error& error, std::string_view what) {
  return invalid(std::string(what) + " is not the JSON expected: " + simdjson::error_message(error.error()));
}

}  // namespace ashlar::kube::json
