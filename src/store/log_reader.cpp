#include "store/log_reader.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/unreadable.h"

#include "store/codec.h"
#include "text/text_file.h"

namespace ashlar::store {
namespace {

constexpr std::uint64_t kFileBytesMax = 4ull << 30;  ///< a log file is read whole; a larger one is not ours

}  // namespace

Error LogReader::damage(std::size_t offset, const std::string& what) const {
  return invalid(path_ + ": damaged at byte " + std::to_string(offset) + ": " + what);
}

Result<LogReader> LogReader::open(const std::string& path) {
  Result<std::string> bytes = read_text_file(path, kFileBytesMax);
  if (!bytes) return bytes.error();
  LogReader reader;
  reader.path_ = path;
  reader.bytes_ = std::move(bytes).value();
  if (const auto opened = reader.read_opening(); !opened) return opened.error();
  return reader;
}

Result<void> LogReader::read_opening() {
  ByteReader in(bytes_);
  if (in.take(kMagic.size()) != kMagic)
    return invalid(path_ + ": is not a decision log (it does not begin with " + std::string(kMagic) + ")");
  const std::uint32_t version = in.fixed32();
  if (version != kFormatVersion)
    return invalid(path_ + ": has format version " + std::to_string(version) + "; this build reads version " +
                   std::to_string(kFormatVersion) + "; replay it with the version of Ashlar that wrote it");
  at_ = in.offset();
  for (const RecordKind wanted : {RecordKind::kHeader, RecordKind::kNames, RecordKind::kSnapshot}) {
    const std::size_t offset = at_;
    const auto record = next_record();
    if (!record) return record.error();
    if (!*record || (*record)->kind != wanted) return damage(offset, "the file ends before its snapshot is complete");
    ByteReader payload(record_at((*record)->payload));
    if (wanted == RecordKind::kHeader) decode_header(payload, header_);
    if (wanted == RecordKind::kNames) read_names(payload, names_);
    if (wanted == RecordKind::kSnapshot) snapshot_ = (*record)->payload;
    if (payload.has_failed()) return damage((*record)->payload.first + payload.fault_offset(), payload.fault());
  }
  return {};
}

/// The record that begins at `offset`, if it is complete and its check matches.
std::optional<LogReader::Record> LogReader::whole_record_at(std::size_t offset, std::size_t& end) const {
  ByteReader in(std::string_view(bytes_).substr(offset));
  const auto kind = static_cast<RecordKind>(in.byte());
  const std::uint64_t count = in.varint();
  const std::size_t first = offset + in.offset();
  const std::string_view payload = in.take(count);
  const std::uint32_t check = in.fixed32();
  end = offset + in.offset();
  if (in.has_failed() || check != record_check(payload, record_seed(kind, records_))) return std::nullopt;
  return Record{kind, {first, payload.size()}};
}

/// Whether the file ends with the record of a proper close. Then it is not truncated and a fault before it is
/// corruption. The check of that record is verified too: a truncated file may end with bytes that look like the start
/// of one.
bool LogReader::has_end_record() const {
  if (bytes_.size() < kEndRecordBytes) return false;
  const std::string_view tail = std::string_view(bytes_).substr(bytes_.size() - kEndRecordBytes);
  ByteReader in(tail);
  if (static_cast<RecordKind>(in.byte()) != RecordKind::kEnd || in.varint() != 8) return false;
  const std::string_view payload = in.take(8);
  const std::uint64_t steps = ByteReader(payload).fixed64();
  return in.fixed32() == record_check(payload, record_seed(RecordKind::kEnd, kRecordsBeforeSteps + steps));
}

/// Whether a fault at `offset` is the trace of a crash: the record there is longer than the file, or it is the last
/// one, or only zeros follow it.
bool LogReader::is_torn(std::size_t offset) const {
  if (has_end_record()) return false;
  const std::string_view rest = std::string_view(bytes_).substr(offset);
  ByteReader in(rest);
  in.byte();
  in.take(in.varint());
  in.fixed32();
  if (in.has_failed() || in.left() == 0) return true;
  const std::size_t last = rest.find_last_not_of('\0');
  return last == std::string_view::npos || last < in.offset();
}

Result<std::optional<LogReader::Record>> LogReader::next_record() {
  if (is_over_) return std::optional<Record>();
  if (at_ >= bytes_.size()) {
    is_over_ = true;
    return std::optional<Record>();
  }
  std::size_t end = 0;
  const std::optional<Record> record = whole_record_at(at_, end);
  if (record) {
    at_ = end;
    ++records_;
    return record;
  }
  is_over_ = true;
  if (!is_torn(at_)) return damage(at_, "the checksum of record " + std::to_string(records_) + " does not match");
  notes_.push_back(path_ + ": cut off at byte " + std::to_string(at_) + " of " + std::to_string(bytes_.size()) +
                   "; the incomplete end is ignored");
  return std::optional<Record>();
}

Result<LogStep> LogReader::read_step(Range payload) {
  ByteReader in(record_at(payload));
  LogStep step;
  const std::uint8_t has_options = in.byte();
  if (has_options > 1) in.fail("an unknown kind of step");
  if (has_options == 1) {
    step.new_options.emplace();
    decode_options(in, *step.new_options);
  }
  read_names(in, names_);
  const std::uint64_t events = in.varint();
  if (events > in.left()) in.fail("a list is longer than the bytes that are left");
  for (std::uint64_t i = 0; i < events && !in.has_failed(); ++i) decode_event(in, step.batch.emplace_back());
  step.digest = in.fixed64();
  step.plan_bytes = record_at(payload).substr(in.offset());
  decode_plan(in, step.plan);
  if (!in.has_failed() && in.left() > 0) in.fail("there are bytes left over");
  if (in.has_failed()) return damage(payload.first + in.fault_offset(), in.fault());
  return step;
}

Result<std::optional<LogStep>> LogReader::next() {
  const std::size_t offset = at_;
  const auto record = next_record();
  if (!record) return record.error();
  if (!*record) return std::optional<LogStep>();
  if ((*record)->kind == RecordKind::kEnd) {
    is_over_ = true;
    ByteReader in(record_at((*record)->payload));
    if (in.fixed64() != steps_read_ || in.has_failed())
      return damage(offset, "the number of steps differs from that in the end record");
    if (at_ != bytes_.size()) return damage(at_, "there are bytes after the end");
    is_whole_ = true;
    return std::optional<LogStep>();
  }
  if ((*record)->kind != RecordKind::kStep) {
    is_over_ = true;
    return damage(offset, "a record of an unexpected kind");
  }
  Result<LogStep> step = read_step((*record)->payload);
  if (!step) {
    is_over_ = true;
    return step.error();
  }
  ++steps_read_;
  return std::optional<LogStep>(std::move(step).value());
}

Result<std::vector<std::string>> log_files(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return unreadable(path, error ? error.value() : ENOENT);
  if (!std::filesystem::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::pair<std::uint64_t, std::string>> numbered;
  for (auto it = std::filesystem::directory_iterator(path, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error))
    if (const std::uint64_t n = file_number(it->path().filename().string()); n != 0)
      numbered.emplace_back(n, it->path().string());
  if (error) return unreadable(path, error.value());
  if (numbered.empty()) return Error{Error::Kind::kNotFound, path + ": holds no log file (" + file_name(1) + ", ...)"};
  std::sort(numbered.begin(), numbered.end());
  std::vector<std::string> files;
  files.reserve(numbered.size());
  for (auto& [number, file] : numbered) files.push_back(std::move(file));
  return files;
}

}  // namespace ashlar::store
