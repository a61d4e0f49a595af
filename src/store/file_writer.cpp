#include "store/file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "store/log_format.h"

namespace ashlar::store {
namespace {

/// The thread is woken when so much waits (a wake-up costs the loop more than the copy of a step), and by itself after kIdle.
constexpr std::size_t kWakeBytes = 256u << 10;
constexpr std::chrono::milliseconds kIdle{200};

std::string in_words(const char* doing, const std::string& path, int error) {
  return std::string("cannot ") + doing + " " + path + ": " + std::strerror(error);
}

}  // namespace

FileWriter::FileWriter(Options options) : options_(std::move(options)), thread_([this] { run(); }) {}

FileWriter::~FileWriter() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  has_work_.notify_one();
  thread_.join();
}

bool FileWriter::queue(std::uint64_t file, std::string_view bytes) {
  bool must_wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (!trouble_.empty() || waiting_bytes_ + bytes.size() > options_.waiting_bytes_max) return false;
    if (file != 0 || pieces_.empty() || pieces_.back().bytes.size() >= kWakeBytes) pieces_.push_back({file, {}});
    pieces_.back().bytes.append(bytes);
    must_wake = waiting_bytes_ < kWakeBytes && waiting_bytes_ + bytes.size() >= kWakeBytes;
    waiting_bytes_ += bytes.size();
  }
  if (must_wake) has_work_.notify_one();
  return true;
}

bool FileWriter::begin_file(std::uint64_t number, std::string_view bytes) { return queue(number, bytes); }
bool FileWriter::append(std::string_view bytes) { return queue(0, bytes); }

void FileWriter::flush() {
  std::unique_lock lock(mutex_);
  must_hurry_ = true;
  has_work_.notify_one();
  is_idle_.wait(lock, [&] { return (pieces_.empty() && !is_writing_) || !trouble_.empty(); });
  must_hurry_ = false;
}

std::size_t FileWriter::waiting_bytes() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes_;
}

bool FileWriter::has_stopped() const {
  const std::lock_guard lock(mutex_);
  return !trouble_.empty();
}

std::string FileWriter::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void FileWriter::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    has_work_.wait_for(lock, kIdle, [&] { return is_ending_ || waiting_bytes_ >= kWakeBytes || (must_hurry_ && !pieces_.empty()); });
    std::deque<Piece> work = std::exchange(pieces_, {});
    const bool is_last = is_ending_;
    is_writing_ = true;
    lock.unlock();
    std::string trouble;
    for (const Piece& piece : work)
      if (trouble.empty()) trouble = write(piece);
    lock.lock();
    is_writing_ = false;
    for (const Piece& piece : work) waiting_bytes_ -= piece.bytes.size();
    if (!trouble.empty()) {
      trouble_ = trouble;
      pieces_.clear();
      waiting_bytes_ = 0;
    }
    is_idle_.notify_all();
    if (is_last || !trouble.empty()) break;
  }
  close_file();
}

std::string FileWriter::write(const Piece& piece) {
  if (piece.file != 0)
    if (std::string trouble = open_file(piece.file); !trouble.empty()) return trouble;
  std::string_view left = piece.bytes;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return in_words("write", path_, errno);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

std::string FileWriter::open_file(std::uint64_t number) {
  close_file();
  path_ = options_.folder + "/" + file_name(number);
  descriptor_ = ::open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (descriptor_ < 0) return in_words("create", path_, errno);
  remove_old_files(number);
  return {};
}

void FileWriter::remove_old_files(std::uint64_t newest) const {
  std::error_code error;
  std::vector<std::uint64_t> numbers;
  for (const auto& entry : std::filesystem::directory_iterator(options_.folder, error))
    if (const std::uint64_t n = file_number(entry.path().filename().string()); n != 0 && n <= newest) numbers.push_back(n);
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i + options_.files_max < numbers.size(); ++i)
    std::filesystem::remove(options_.folder + "/" + file_name(numbers[i]), error);  // what cannot be removed now is tried again with the next file
}

void FileWriter::close_file() {
  if (descriptor_ < 0) return;
  ::fdatasync(descriptor_);
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace ashlar::store
