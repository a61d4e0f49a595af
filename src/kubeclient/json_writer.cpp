#include "kubeclient/json_writer.h"

namespace ashlar::kube {

std::size_t utf8_length(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const auto continues = [&](std::size_t i) { return i < text.size() && (p[i] & 0xc0) == 0x80; };
  if (p[0] >= 0xc2 && p[0] <= 0xdf) return continues(1) ? 2 : 0;
  if (p[0] >= 0xe0 && p[0] <= 0xef) {
    if (!continues(1) || !continues(2)) return 0;
    if (p[0] == 0xe0 && p[1] < 0xa0) return 0;
    if (p[0] == 0xed && p[1] > 0x9f) return 0;
    return 3;
  }
  if (p[0] >= 0xf0 && p[0] <= 0xf4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (p[0] == 0xf0 && p[1] < 0x90) return 0;
    if (p[0] == 0xf4 && p[1] > 0x8f) return 0;
    return 4;
  }
  return 0;
}

namespace {

void append_escape(std::string& out, unsigned char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

}  // namespace

JsonWriter& JsonWriter::string(std::string_view text) {
  separate();
  out_ += '"';
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t copied = 0;  // plain runs are appended at once
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char c = bytes[i];
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      ++i;
      continue;
    }
    const std::size_t length = c < 0x80 ? 0 : utf8_length(text.substr(i));
    if (length > 0) {
      i += length;
      continue;
    }
    out_.append(text, copied, i - copied);
    if (c < 0x80)
      append_escape(out_, c);
    else
      out_ += "\xef\xbf\xbd";
    copied = ++i;
  }
  out_.append(text, copied, text.size() - copied);
  out_ += '"';
  needs_comma_ = true;
  return *this;
}

}  // namespace ashlar::kube
