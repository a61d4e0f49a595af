// LogReader: one log file, record by record. No file can crash it: every record is checked, every number bounded. A
// file truncated by a crash (bytes missing or zero at its end) is read up to the cut, with a note; corruption before
// the end is an Error that names the byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "model/plan.h"
#include "store/log_format.h"
#include "store/names.h"

namespace ashlar::store {

/// One recorded step. `plan_bytes` points into the reader.
struct LogStep {
  std::optional<EngineOptions> new_options;  ///< in force from this step on
  std::vector<Event> batch;
  std::uint64_t digest = 0;  ///< of the state after the plan was assumed
  std::string_view plan_bytes;
  Plan plan;
};

class LogReader {
 public:
  /// Reads the file and its opening records. An Error names the file and the reason.
  static Result<LogReader> open(const std::string& path);

  const LogHeader& header() const { return header_; }
  std::string_view snapshot() const { return record_at(snapshot_); }
  /// Names of the snapshot and of all steps read so far.
  const NameTable& names() const { return names_; }
  /// The next step; nothing at the end. After an Error there is nothing more.
  Result<std::optional<LogStep>> next();
  /// True once next() met the record that closes a file properly.
  bool is_whole() const { return is_whole_; }
  std::uint64_t steps_read() const { return steps_read_; }  // for tests
  /// Notes for people: a truncated tail.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Range {
    std::size_t first = 0, count = 0;
  };
  struct Record {
    RecordKind kind = RecordKind::kEnd;
    Range payload;
  };
  std::string_view record_at(Range r) const { return std::string_view(bytes_).substr(r.first, r.count); }
  Result<std::optional<Record>> next_record();
  std::optional<Record> whole_record_at(std::size_t offset, std::size_t& end) const;
  bool has_end_record() const;
  bool is_torn(std::size_t offset) const;
  Result<void> read_opening();
  Result<LogStep> read_step(Range payload);
  Error damage(std::size_t offset, const std::string& what) const;

  std::string path_;
  std::string bytes_;
  std::size_t at_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t steps_read_ = 0;
  bool is_whole_ = false;
  bool is_over_ = false;
  LogHeader header_;
  Range snapshot_;
  NameTable names_;
  std::vector<std::string> notes_;
};

/// Paths of the log files in a folder in the order of their numbers; or the path itself if it is a file.
Result<std::vector<std::string>> log_files(const std::string& path);

}  // namespace ashlar::store
