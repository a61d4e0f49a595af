#include "http/url.h"

#include <cctype>
#include <charconv>

namespace ashlar::http {
namespace {

bool is_unreserved(unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~'; }

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Error bad_url(std::string_view text, const char* why) {
  return invalid("\"" + std::string(text) + "\" is not a server URL: " + why);
}

}  // namespace

std::string Url::authority() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string Url::origin() const { return scheme + "://" + authority(); }

Result<Url> parse_url(std::string_view text) {
  Url url;
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return bad_url(text, "it must begin with https:// or http://");
  for (const char c : text.substr(0, scheme_end))
    url.scheme += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (url.scheme != "https" && url.scheme != "http") return bad_url(text, "only https and http are known");
  std::string_view rest = text.substr(scheme_end + 3);
  for (const char c : rest)
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\\')
      return bad_url(text, "it contains spaces or control characters");

  const std::size_t authority_end = rest.find_first_of("/?#");
  std::string_view authority = rest.substr(0, authority_end);
  if (authority_end != std::string_view::npos) url.path = rest.substr(authority_end);
  if (url.path.find_first_of("?#") != std::string::npos) return bad_url(text, "it must not have a query");
  if (authority.find('@') != std::string_view::npos) return bad_url(text, "user names inside URLs are not accepted");

  std::string_view port_text;
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return bad_url(text, "the bracket of the IPv6 address is not closed");
    url.host = authority.substr(1, close - 1);
    port_text = authority.substr(close + 1);
  } else {
    const std::size_t colon = authority.find(':');
    url.host = authority.substr(0, colon);
    port_text = colon == std::string_view::npos ? std::string_view() : authority.substr(colon);
  }
  if (url.host.empty()) return bad_url(text, "the host is missing");
  url.port = url.scheme == "https" ? 443 : 80;
  if (!port_text.empty()) {
    if (port_text.front() != ':') return bad_url(text, "a colon and a port are expected after the host");
    port_text.remove_prefix(1);
    unsigned port = 0;
    const auto [end, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
    if (error != std::errc() || end != port_text.data() + port_text.size() || port == 0 || port > 65535)
      return bad_url(text, "the port must be a number from 1 to 65535");
    url.port = static_cast<std::uint16_t>(port);
  }
  return url;
}

std::string percent_encode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved(byte)) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && text.size() - i > 2 && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace ashlar::http
