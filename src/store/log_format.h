// log_format: the shape of a log file: eight bytes of magic and version, then records. A record is kind (1 byte),
// length (varint), payload, check (4 bytes, seeded with the record's number and kind). Documented for other readers in
// docs/reference/decision-log.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "store/bytes.h"
#include "store/codec.h"

namespace ashlar::store {

inline constexpr std::string_view kMagic = "ALOG";

enum class RecordKind : std::uint8_t {
  kHeader = 1,    ///< profile, options, names; start of the file
  kNames = 2,     ///< name table as of the snapshot
  kSnapshot = 3,  ///< state and engine memory
  kStep = 4,      ///< one step
  kEnd = 5,       ///< the file was closed properly; payload: number of steps, 8 bytes
};
inline constexpr std::size_t kEndRecordBytes = 1 + 1 + 8 + 4;
inline constexpr std::uint64_t kRecordsBeforeSteps = 3;  ///< header, names, snapshot

/// The metadata at the start of a file.
struct LogHeader {
  std::string written_by;         ///< product and version
  std::string note;               ///< free text of the caller
  std::int64_t opened_at_ms = 0;  ///< wall clock, milliseconds since 1970
  std::uint64_t file_number = 1;
  Revision revision = 0;     ///< of the snapshot
  std::uint64_t digest = 0;  ///< of the snapshot
  EngineOptions options;
  std::uint64_t seed = 0;  ///< also part of the profile; for readers that do not decode it
  std::string profile_name;
  std::string profile_text;  ///< the YAML it was read from, if any; for people
  std::string profile;       ///< bytes_of(Profile)
};
void encode_header(ByteWriter& out, const LogHeader& header);
void decode_header(ByteReader& in, LogHeader& header);
void encode_options(ByteWriter& out, const EngineOptions& options);
void decode_options(ByteReader& in, EngineOptions& options);

/// Appends one record. `number` counts the records of the file from 0.
void append_record(std::string& out, RecordKind kind, std::string_view payload, std::uint64_t number);
/// Seed of a record's check.
inline std::uint64_t record_seed(RecordKind kind, std::uint64_t number) {
  return number << 8 | static_cast<std::uint64_t>(kind);
}

/// "decisions-000001.alog".
std::string file_name(std::uint64_t number);
/// 0 for a name of another form.
std::uint64_t file_number(std::string_view name);

}  // namespace ashlar::store
