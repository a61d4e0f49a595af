// JsonWriter: JSON appended to one string, with commas and escapes inserted as needed. Bytes that are not valid UTF-8
// are replaced by U+FFFD, since API servers refuse such bodies. Cost: about 100 ns for a Binding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace ashlar::kube {

/// Length of the valid sequence of several bytes at the begin of a text that is not empty; 0 if there is none (overlong
/// forms, surrogates and values beyond U+10FFFF are malformed).
std::size_t utf8_length(std::string_view text);

class JsonWriter {
 public:
  JsonWriter& begin_object() {
    separate();
    out_ += '{';
    needs_comma_ = false;
    return *this;
  }
  JsonWriter& end_object() {
    out_ += '}';
    needs_comma_ = true;
    return *this;
  }
  JsonWriter& begin_array() {
    separate();
    out_ += '[';
    needs_comma_ = false;
    return *this;
  }
  JsonWriter& end_array() {
    out_ += ']';
    needs_comma_ = true;
    return *this;
  }
  JsonWriter& key(std::string_view name) {
    string(name);
    out_ += ':';
    needs_comma_ = false;
    return *this;
  }
  JsonWriter& string(std::string_view text);
  JsonWriter& integer(std::int64_t value) {
    separate();
    out_ += std::to_string(value);
    needs_comma_ = true;
    return *this;
  }
  JsonWriter& boolean(bool value) {
    separate();
    out_ += value ? "true" : "false";
    needs_comma_ = true;
    return *this;
  }
  JsonWriter& null() {
    separate();
    out_ += "null";
    needs_comma_ = true;
    return *this;
  }
  /// Ready-made JSON, inserted as it is.
  JsonWriter& raw(std::string_view json) {
    separate();
    out_ += json;
    needs_comma_ = true;
    return *this;
  }

  /// Members of the object that is open, ready-made.
  JsonWriter& raw_members(std::string_view members) { return raw(members); }

  JsonWriter& member(std::string_view name, std::string_view text) { return key(name).string(text); }
  JsonWriter& member(std::string_view name, const char* text) { return key(name).string(text); }
  JsonWriter& member(std::string_view name, std::int64_t value) { return key(name).integer(value); }
  JsonWriter& member_bool(std::string_view name, bool value) { return key(name).boolean(value); }

  const std::string& text() const { return out_; }
  std::string take() {
    needs_comma_ = false;
    return std::move(out_);
  }

 private:
  void separate() {
    if (needs_comma_) out_ += ',';
  }

  std::string out_;
  bool needs_comma_ = false;
};

}  // namespace ashlar::kube
