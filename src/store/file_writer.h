// FileWriter: bytes to files on a thread of its own, so that a slow disk never holds up a decision. What waits to be written is bounded; when it is too
// much, append says no and the caller leaves a gap. The first failed write (disk full, folder gone) stops it for good; the trouble is kept in words.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace ashlar::store {

class FileWriter {
 public:
  struct Options {
    std::string folder;
    std::uint64_t files_max = 16;  ///< older files are removed when a new one begins
    std::size_t waiting_bytes_max = 64u << 20;
  };
  explicit FileWriter(Options options);
  /// Writes what waits, closes the file.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// What follows goes to the file of this number. False if there is no room for `bytes` or writing has stopped; nothing is queued then.
  bool begin_file(std::uint64_t number, std::string_view bytes);
  bool append(std::string_view bytes);
  /// Waits until everything is with the operating system.
  void flush();

  std::size_t waiting_bytes() const;
  bool has_stopped() const;
  /// Empty while all is well.
  std::string trouble() const;

 private:
  struct Piece {
    std::uint64_t file = 0;  ///< nonzero: begin this file first
    std::string bytes;
  };
  bool queue(std::uint64_t file, std::string_view bytes);
  void run();
  std::string write(const Piece& piece);
  std::string open_file(std::uint64_t number);
  void remove_old_files(std::uint64_t newest) const;
  void close_file();

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable has_work_, is_idle_;
  std::deque<Piece> pieces_;
  std::size_t waiting_bytes_ = 0;
  bool is_writing_ = false;
  bool is_ending_ = false;
  bool must_hurry_ = false;
  std::string trouble_;
  int descriptor_ = -1;
  std::string path_;
  std::thread thread_;
};

}  // namespace ashlar::store
