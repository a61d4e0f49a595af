// FileWriter: bytes to numbered files on a separate thread, so that a slow disk never delays a decision. Unwritten data
// is bounded: beyond that append() returns false, and the caller leaves a gap. A failed write (disk full), or a
// file or folder that was removed, stops it for 1 s at first and up to a minute; then a new file may begin.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"

namespace ashlar::store {

/// Files are readable by their owner only (mode 0600), and so is a folder that is created here (0700).
class FileWriter {
 public:
  struct Options {
    std::string folder;
    std::uint64_t files_max = 16;  ///< older files are removed when a new one begins
    std::size_t waiting_bytes_max = 64u << 20;
    std::chrono::milliseconds pause_min{1'000};  ///< after a failure; doubled with each further one
    std::chrono::milliseconds pause_max{60'000};
  };
  /// Creates the folder if missing and lists its files. kInvalid if it is no folder or not writable, kUnavailable if it
  /// cannot be created or read. Blocks on the disk; of the other functions only flush() and the destructor do.
  static Result<std::shared_ptr<FileWriter>> open(Options options);
  /// Writes what waits and closes the file.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// Number of the next file.
  std::uint64_t next_file() const;
  /// What follows goes to a new file with the number next_file(). False if there is no space for `bytes`, or writing
  /// has stopped and the pause is not over; nothing is queued then. If `bytes` cannot be written whole, the file is
  /// removed.
  bool begin_file(std::string_view bytes);
  bool append(std::string_view bytes);
  /// Whether a file may begin now and everything queued has been written.
  bool may_begin_file() const;
  /// Waits until everything is handed to the operating system, or writing has stopped.
  void flush();

  std::size_t waiting_bytes() const;  // for tests
  /// Whether the last write failed. Reset when a new file has begun.
  bool has_stopped() const;
  /// Why it stopped; empty if it has not.
  std::string trouble() const;

  /// Records that did not reach a file: those its callers left out, and those given up with a failed write. Kept here
  /// since logs of several leaderships, one after the other, share a writer.
  void count_lost() { lost_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  using Moment = std::chrono::steady_clock::time_point;
  struct Piece {
    std::uint64_t file = 0;  ///< nonzero: begin this file first; the piece is its opening and nothing else
    std::string bytes;
    std::uint64_t records = 0;  ///< appended
  };
  FileWriter(Options options, std::uint64_t last_file);
  bool queue(bool is_new_file, std::string_view bytes);
  void run();
  void settle(std::string trouble, bool has_begun_file);
  std::string write(const Piece& piece);
  std::string open_file(std::uint64_t number);
  void remove_old_files(std::uint64_t newest) const;
  void close_file();
  bool is_in_place() const;

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable has_work_, is_idle_;
  std::deque<Piece> pieces_;
  std::size_t waiting_bytes_ = 0;
  bool is_writing_ = false;
  bool is_ending_ = false;
  bool must_hurry_ = false;
  std::uint64_t last_file_;
  std::string trouble_;
  bool is_trying_ = false;  ///< it has stopped, and a new file is being tried
  Moment try_after_;
  std::chrono::milliseconds pause_;  ///< after the last failure
  std::atomic<std::uint64_t> lost_{0};
  int descriptor_ = -1;
  std::string path_;
  std::thread thread_;
};

}  // namespace ashlar::store
