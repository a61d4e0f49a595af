// bytes: Bytes in and out: the smallest units of the log's format. Whole numbers are little-endian base-128 varints (1
// byte below 128), signed ones are zigzagged first, fingerprints are 8 plain bytes. The reader never reads past its
// end: after the first fault it stays failed and yields zeros, so that decoders need one check at the end and garbage
// only yields an Error with its offset.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ashlar::store {

static_assert(std::endian::native == std::endian::little,
              "the log is written as the machine stores it; a big-endian machine must swap here");

class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(&out) {}

  void byte(std::uint8_t v) { out_->push_back(static_cast<char>(v)); }
  void varint(std::uint64_t v) {
    char buffer[10];
    std::size_t n = 0;
    for (; v >= 0x80; v >>= 7) buffer[n++] = static_cast<char>(v | 0x80);
    buffer[n++] = static_cast<char>(v);
    out_->append(buffer, n);
  }
  /// The two extremes, which mean "unknown" and "unlimited" in the columns, take one byte each: zigzag + 2 wraps them
  /// to 0 and 1.
  void zigzag(std::int64_t v) {
    varint(((static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63)) + 2);
  }
  void fixed64(std::uint64_t v) {
    char buffer[8];
    std::memcpy(buffer, &v, 8);
    out_->append(buffer, 8);
  }
  void fixed32(std::uint32_t v) {
    char buffer[4];
    std::memcpy(buffer, &v, 4);
    out_->append(buffer, 4);
  }
  void text(std::string_view s) {
    varint(s.size());
    out_->append(s);
  }
  std::string& out() { return *out_; }

 private:
  std::string* out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint8_t byte() {
    if (has_failed() || at_ >= bytes_.size()) return fail("the bytes end early"), 0;
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  std::uint64_t varint() {
    std::uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t b = byte();
      if (has_failed()) return 0;
      if (shift == 63 && b > 1) break;
      v |= static_cast<std::uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) return v;
    }
    fail("a number is longer than 64 bits");
    return 0;
  }
  std::int64_t zigzag() {
    const std::uint64_t v = varint() - 2;
    return has_failed() ? 0 : static_cast<std::int64_t>((v >> 1) ^ (~(v & 1) + 1));
  }
  std::uint64_t fixed64() {
    std::uint64_t v = 0;
    copy(&v, 8);
    return v;
  }
  std::uint32_t fixed32() {
    std::uint32_t v = 0;
    copy(&v, 4);
    return v;
  }
  std::string_view text() { return take(varint()); }
  /// The next `count` bytes; empty and failed if there are fewer.
  std::string_view take(std::uint64_t count) {
    if (has_failed() || count > bytes_.size() - at_) return fail("the bytes end early"), std::string_view();
    const std::string_view piece = bytes_.substr(at_, count);
    at_ += count;
    return piece;
  }

  std::size_t offset() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }
  bool has_failed() const { return fault_ != nullptr; }
  /// The first fault, and its offset.
  const char* fault() const { return fault_; }
  std::size_t fault_offset() const { return fault_at_; }
  void fail(const char* why) {
    if (has_failed()) return;
    fault_ = why;
    fault_at_ = at_;
  }

 private:
  void copy(void* to, std::size_t count) {
    const std::string_view piece = take(count);
    if (!has_failed()) std::memcpy(to, piece.data(), count);
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t fault_at_ = 0;
  const char* fault_ = nullptr;
};

/// Check of a record: 32 bits that depend on every byte and on `seed` (the record's number in its file, so that lost or
/// duplicated records are detected). Eight bytes per step, about 1 ns per 8 bytes; not cryptographic.
std::uint32_t record_check(std::string_view bytes, std::uint64_t seed);

}  // namespace ashlar::store
