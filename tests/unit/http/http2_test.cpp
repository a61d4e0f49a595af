// A server that speaks HTTP/2, frame by frame (RFC 9113), and ends exchanges as one does whose handler has failed.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "ask.h"
#include "tls.h"

namespace ashlar::http {
namespace {

constexpr char kData = 0, kHeaders = 1, kResetStream = 3, kSettings = 4;  // types of frames
constexpr char kEndStream = 1, kEndHeaders = 4, kAcknowledged = 1;        // their flags

std::string number(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}
std::string frame(char type, std::uint32_t stream, const std::string& payload, char flags = 0) {
  return number(static_cast<std::uint32_t>(payload.size())).substr(1) + type + flags + number(stream) + payload;
}

/// Calls `on_request(stream)` for each request that is there as a whole, until the client closes or it returns false.
template <class OnRequest>
void serve_http2(Wire& wire, std::string heard, OnRequest on_request) {
  constexpr std::size_t kPrefaceSize = 24, kFrameHeadSize = 9;
  const auto has = [&](std::size_t size) {
    char buffer[4096];
    while (heard.size() < size) {
      const ssize_t count = wire.read(buffer, sizeof buffer);
      if (count <= 0) return false;
      heard.append(buffer, static_cast<std::size_t>(count));
    }
    return true;
  };
  wire.say(frame(kSettings, 0, "") + frame(kSettings, 0, "", kAcknowledged));  // ours, and that we know theirs
  if (!has(kPrefaceSize)) return;
  heard.erase(0, kPrefaceSize);
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(heard[i])); };
  while (has(kFrameHeadSize)) {
    const std::size_t size = byte(0) << 16 | byte(1) << 8 | byte(2);
    const char type = heard[3], flags = heard[4];
    const std::uint32_t stream = byte(5) << 24 | byte(6) << 16 | byte(7) << 8 | byte(8);
    if (!has(kFrameHeadSize + size)) return;
    heard.erase(0, kFrameHeadSize + size);
    const bool is_end = (type == kData || type == kHeaders) && (flags & kEndStream) != 0;
    if (is_end && !on_request(stream)) return;
  }
}

Result<std::unique_ptr<Client>> client_over_http2(const Loopback& server) {
  return Client::create({.base_url = server.url(), .tls = {.insecure_skip_verify = true}});
}

TEST(Http2, AStreamThatTheServerResetsIsNoTroubleOfItsConnection) {
  const Certificate own("127.0.0.1");
  Loopback server(
      [](Wire& wire, const std::string& heard) {
        serve_http2(wire, heard, [&](std::uint32_t stream) {
          constexpr std::uint32_t kInternalError = 2;
          wire.say(stream == 1
                       ? frame(kResetStream, stream, number(kInternalError))
                       : frame(kHeaders, stream, "\x88", kEndStream | kEndHeaders));  // ":status: 200", all of it
          return true;
        });
      },
      over_tls(own, true));
  {
    auto client = client_over_http2(server);
    ASSERT_TRUE(client.ok());
    const Result<Response> reset = ask(**client, {.method = Method::kPost, .path = "/a", .body = "{}"});
    ASSERT_FALSE(reset.ok());
    EXPECT_EQ(reset.error().kind, Error::Kind::kInternal) << reset.error().message;
    const Result<Response> next = ask(**client, {.method = Method::kPost, .path = "/b", .body = "{}"});
    ASSERT_TRUE(next.ok()) << next.error().message;
    EXPECT_EQ(next->status, 200);
    EXPECT_EQ((*client)->counters().connections, 1u);
  }
}

TEST(Http2, AConnectionThatEndsIsTroubleOfTheServer) {
  const Certificate own("127.0.0.1");
  Loopback server(
      [](Wire& wire, const std::string& heard) { serve_http2(wire, heard, [&](std::uint32_t) { return false; }); },
      over_tls(own, true));
  {
    auto client = client_over_http2(server);
    ASSERT_TRUE(client.ok());
    const Result<Response> ended = ask(**client, {.method = Method::kPost, .path = "/a", .body = "{}"});
    ASSERT_FALSE(ended.ok());
    EXPECT_EQ(ended.error().kind, Error::Kind::kUnavailable) << ended.error().message;
  }
}

}  // namespace
}  // namespace ashlar::http
