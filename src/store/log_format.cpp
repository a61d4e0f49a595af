#include "store/log_format.h"

#include <charconv>
#include <cstdio>

#include "store/fields.h"

namespace ashlar::store {
namespace {

constexpr std::string_view kFilePrefix = "decisions-";
constexpr std::string_view kFileSuffix = ".alog";

}  // namespace

void encode_options(ByteWriter& out, const EngineOptions& options) { encode(out, options); }
void decode_options(ByteReader& in, EngineOptions& options) { decode(in, options); }
void encode_header(ByteWriter& out, const LogHeader& header) { encode(out, header); }
void decode_header(ByteReader& in, LogHeader& header) { decode(in, header); }

void append_record(std::string& out, RecordKind kind, std::string_view payload, std::uint64_t number) {
  ByteWriter writer(out);
  writer.byte(static_cast<std::uint8_t>(kind));
  writer.text(payload);
  writer.fixed32(record_check(payload, record_seed(kind, number)));
}

std::string file_name(std::uint64_t number) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%06llu", static_cast<unsigned long long>(number));
  return std::string(kFilePrefix) + digits + std::string(kFileSuffix);
}

std::uint64_t file_number(std::string_view name) {
  if (!name.starts_with(kFilePrefix) || !name.ends_with(kFileSuffix) ||
      name.size() <= kFilePrefix.size() + kFileSuffix.size())
    return 0;
  name.remove_prefix(kFilePrefix.size());
  name.remove_suffix(kFileSuffix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : 0;
}

}  // namespace ashlar::store
