#include "sim/trace/text_source.h"

#include <algorithm>
#include <array>
#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <cstdint>
#include <exception>
#include <new>

#include "text/text_file.h"

namespace ashlar::sim {
namespace {

/// Limit of an unpacked input; more is treated as a corrupt or hostile archive.
constexpr std::size_t kTextBytesMax = std::size_t{4} << 30;

namespace io = boost::iostreams;

enum class Packing { kPlain, kGzip, kXz, kZstd };

bool starts_with(std::string_view bytes, std::string_view magic) { return bytes.substr(0, magic.size()) == magic; }

Packing packing_of(std::string_view bytes) {
  if (starts_with(bytes, "\x1f\x8b")) return Packing::kGzip;
  if (starts_with(bytes, std::string_view("\xfd"
                                          "7zXZ\0",
                                          6)))
    return Packing::kXz;
  // A skippable frame may stand first; its last magic byte has a free low half.
  if (starts_with(bytes, "\x28\xb5\x2f\xfd")) return Packing::kZstd;
  if (bytes.size() >= 4 && (bytes[0] & 0xf0) == 0x50 && bytes.substr(1, 3) == "\x2a\x4d\x18") return Packing::kZstd;
  return Packing::kPlain;
}

std::string_view name_of(Packing packing) {
  switch (packing) {
    case Packing::kGzip:
      return "gzip";
    case Packing::kXz:
      return "xz";
    case Packing::kZstd:
      return "zstd";
    case Packing::kPlain:
      break;
  }
  return "plain";
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Length of the zstd frame that opens `bytes` (RFC 8878, section 3.1), or 0 when it does not end within them.
std::size_t zstd_frame_size(std::string_view bytes) {
  if (bytes.size() < 6) return 0;
  if (!starts_with(bytes, "\x28\xb5\x2f\xfd")) {  // skippable: magic, 4 bytes of length, content
    if (bytes.size() < 8) return 0;
    const std::size_t size = 8 + little_endian(bytes.substr(4, 4));
    return size <= bytes.size() ? size : 0;
  }
  const auto descriptor = static_cast<unsigned char>(bytes[4]);
  const bool is_single_segment = (descriptor & 0x20) != 0;
  const bool has_checksum = (descriptor & 0x04) != 0;
  constexpr std::array<std::size_t, 4> kDictionaryBytes = {0, 1, 2, 4};
  constexpr std::array<std::size_t, 4> kContentSizeBytes = {0, 2, 4, 8};
  std::size_t content_size_bytes = kContentSizeBytes[descriptor >> 6];
  if (content_size_bytes == 0 && is_single_segment) content_size_bytes = 1;
  std::size_t at = 5 + (is_single_segment ? 0 : 1) + kDictionaryBytes[descriptor & 3] + content_size_bytes;
  for (bool is_last = false; !is_last;) {
    if (at + 3 > bytes.size()) return 0;
    const std::uint64_t block = little_endian(bytes.substr(at, 3));
    is_last = (block & 1) != 0;
    const bool is_one_repeated_byte = ((block >> 1) & 3) == 1;
    at += 3 + (is_one_repeated_byte ? 1 : static_cast<std::size_t>(block >> 3));
  }
  at += has_checksum ? 4 : 0;
  return at <= bytes.size() ? at : 0;
}

/// Boost's zstd filter takes a truncated frame for the end of the text, so the frames are walked first.
bool zstd_is_whole(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t size = zstd_frame_size(bytes);
    if (size == 0) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

Error damaged(const std::string& name, Packing packing) {
  return invalid(name + ": the " + std::string(name_of(packing)) + " archive is damaged or cut off; expected a whole " +
                 std::string(name_of(packing)) + " file, so copy or download it again");
}

Result<std::string> decompress(std::string_view bytes, Packing packing, const std::string& name) {
  if (packing == Packing::kZstd && !zstd_is_whole(bytes)) return damaged(name, packing);
  try {
    io::filtering_istreambuf in;
    if (packing == Packing::kGzip) in.push(io::gzip_decompressor());
    if (packing == Packing::kXz) in.push(io::lzma_decompressor());
    if (packing == Packing::kZstd) in.push(io::zstd_decompressor());
    in.push(io::array_source(bytes.data(), bytes.size()));
    std::string text;
    std::array<char, 1 << 16> buffer;
    for (std::streamsize got = 0; (got = in.sgetn(buffer.data(), buffer.size())) > 0;) {
      if (text.size() + static_cast<std::size_t>(got) > kTextBytesMax) {
        return invalid(name + ": unpacks to more than " + std::to_string(kTextBytesMax >> 30) +
                       " GiB; expected a trace of less");
      }
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
  } catch (const std::exception&) {
    // The library's own messages ("lzma error: iostream error") do not help a user.
    return damaged(name, packing);
  }
}

}  // namespace

Result<std::string> unpack(std::string bytes, const std::string& name) {
  const Packing packing = packing_of(bytes);
  if (packing == Packing::kPlain) return bytes;
  return decompress(bytes, packing, name);
}

Result<std::string> read_text(const std::string& path) try {
  Result<std::string> bytes = read_text_file(path, kTextBytesMax);
  if (!bytes) return bytes;
  return unpack(std::move(*bytes), path);
} catch (const std::bad_alloc&) {
  return Error{Error::Kind::kUnavailable, path + ": does not fit into memory"};
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
    const unsigned first = byte(i);
    std::size_t size = first < 0x80                    ? 1
                       : first >= 0xc2 && first < 0xe0 ? 2
                       : first >= 0xe0 && first < 0xf0 ? 3
                       : first >= 0xf0 && first < 0xf5 ? 4
                                                       : 0;
    for (std::size_t k = 1; k < size; ++k)
      if ((byte(i + k) & 0xc0) != 0x80) size = 0;
    const bool is_control = first < 0x20 || first == 0x7f || (first == 0xc2 && byte(i + 1) < 0xa0);
    if (size == 0 || is_control)
      out += '?';
    else
      out += text.substr(i, size);
    i += std::max<std::size_t>(size, 1);
  }
  return out;
}

}  // namespace ashlar::sim
