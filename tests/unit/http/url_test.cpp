#include "http/url.h"

#include <gtest/gtest.h>

namespace ashlar::http {
namespace {

TEST(Url, SplitsSchemeHostPortAndPath) {
  Result<Url> url = parse_url("HTTPS://example.com:6443/k8s/clusters/c-1");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "example.com");
  EXPECT_EQ(url->port, 6443);
  EXPECT_EQ(url->path, "/k8s/clusters/c-1");
  EXPECT_EQ(url->origin(), "https://example.com:6443");
}

TEST(Url, TakesTheDefaultPortOfItsScheme) {
  EXPECT_EQ(parse_url("https://a")->port, 443);
  EXPECT_EQ(parse_url("http://a/")->port, 80);
}

TEST(Url, KeepsIpv6AddressesInBrackets) {
  Result<Url> url = parse_url("https://[fd00::1]:8443");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->host, "fd00::1");
  EXPECT_EQ(url->origin(), "https://[fd00::1]:8443");
}

TEST(Url, RefusesWhatIsNoServerUrl) {
  for (const char* text :
       {"", "example.com", "ftp://a", "https://", "https://a:0", "https://a:70000", "https://a:x", "https://user@a",
        "https://[::1", "https://[::1]x", "https://a b", "https://a/?q=1", "https://:443"})
    EXPECT_FALSE(parse_url(text).ok()) << text;
}

TEST(Url, EncodingIsUndoneByDecoding) {
  const std::string text = "a b/c?d=é&%+~-._";
  EXPECT_EQ(percent_encode("a/b c"), "a%2Fb%20c");
  EXPECT_EQ(percent_decode(percent_encode(text)), text);
}

TEST(Url, DecodingKeepsMalformedEscapes) {
  EXPECT_EQ(percent_decode("%"), "%");
  EXPECT_EQ(percent_decode("%2"), "%2");
  EXPECT_EQ(percent_decode("%zz%41"), "%zzA");
  EXPECT_EQ(percent_decode("%41"), "A");
}

TEST(Url, EveryRefusalSaysWhy) {
  const std::string port = "the port must be a number from 1 to 65535",
                    space = "it contains spaces or control characters";
  const std::string scheme = "it must begin with https:// or http://", query = "it must not have a query";
  const std::pair<const char*, std::string> cases[] = {
      {"a:1", scheme},
      {"http:/a", scheme},
      {"ftp://a", "only https and http are known"},
      {"://a", "only https and http are known"},
      {"http://a b", space},
      {"http://a\x1f", space},
      {"http://a/\"", space},
      {"http://a\\b", space},
      {"http://a?q", query},
      {"http://a/b?q", query},
      {"http://a#f", query},
      {"http://me@a", "user names inside URLs are not accepted"},
      {"http://[::1", "the bracket of the IPv6 address is not closed"},
      {"http://[]", "the host is missing"},
      {"http://", "the host is missing"},
      {"http://:80", "the host is missing"},
      {"http://[::1]80", "a colon and a port are expected after the host"},
      {"http://a:", port},
      {"http://a:0", port},
      {"http://a:65536", port},
      {"http://a:1x", port},
      {"http://a:-1", port},
      {"http://a:99999999999", port},
  };
  for (const auto& [text, why] : cases)
    EXPECT_EQ(parse_url(text).error().message, "\"" + std::string(text) + "\" is not a server URL: " + why);
  const std::pair<const char*, const char*> taken[] = {{"http://a:1", "http://a:1 "},
                                                       {"HtTpS://a:65535/", "https://a:65535 /"},
                                                       {"http://[::1]", "http://[::1]:80 "},
                                                       {"http://a!~/@:b", "http://a!~:80 /@:b"}};
  for (const auto& [text, parts] : taken) EXPECT_EQ(parse_url(text)->origin() + " " + parse_url(text)->path, parts);
}

TEST(Url, EveryByteIsEncodedByItsKind) {
  const std::string plain = "ABCXYZabcxyz0189-._~";
  EXPECT_EQ(percent_encode(plain), plain);
  EXPECT_EQ(percent_encode("@[`{/:\x01\x7f\xff"), "%40%5B%60%7B%2F%3A%01%7F%FF");
  EXPECT_EQ(percent_decode("%0a%0A%aF%Fa%99%+"), "\n\n\xaf\xfa\x99% ");
  EXPECT_EQ(percent_decode("%g0%0g%:0%@0%G0%`0%/0"), "%g0%0g%:0%@0%G0%`0%/0");
  EXPECT_EQ(percent_decode("%4"), "%4");
  EXPECT_EQ(percent_decode("x%41"), "xA");
  EXPECT_EQ(percent_decode(std::string_view("%41", 2)), "%4") << "what lies behind the text is not its own";
}

}  // namespace
}  // namespace ashlar::http
