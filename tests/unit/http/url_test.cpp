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
  for (const char* text : {"", "example.com", "ftp://a", "https://", "https://a:0", "https://a:70000", "https://a:x", "https://user@a",
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

}  // namespace
}  // namespace ashlar::http
