// url: the parts of a URL: small pure functions: splitting an absolute http(s) URL, percent-encoding of one path
// segment or query value, joining base and path. Cost: one pass over the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ashlar::http {

struct Url {
  std::string scheme;      ///< "http" or "https", lower case
  std::string host;        ///< without brackets for IPv6
  std::uint16_t port = 0;  ///< the scheme's default if the text has none
  std::string path;        ///< starts with '/', or is empty; without query

  /// "host:port" with the port always written; IPv6 in brackets.
  std::string authority() const;
  /// "https://host:port".
  std::string origin() const;
};

/// Splits an absolute URL. Errors state what is wrong with the text; user names inside URLs are refused.
Result<Url> parse_url(std::string_view text);

/// Percent-encodes everything but the unreserved characters of RFC 3986; for a path segment or a query value.
std::string percent_encode(std::string_view text);

/// Undoes percent-encoding ('+' means space, as in queries); malformed escapes are kept unchanged.
std::string percent_decode(std::string_view text);

}  // namespace ashlar::http
