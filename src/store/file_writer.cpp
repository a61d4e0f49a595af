#include "store/file_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
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

/// The thread is woken when this much waits (a wake-up costs the loop more than the copy of a step), and by itself
/// after kIdle.
constexpr std::size_t kWakeBytes = 256u << 10;
constexpr std::chrono::milliseconds kIdle{200};
/// No log gets there, even with a file each second for 30,000 years; a file with a larger number is not ours, and must
/// not exhaust the numbers.
constexpr std::uint64_t kLastFileMax = 1'000'000'000'000;
constexpr mode_t kFolderMode = 0700, kFileMode = 0600;

std::string in_words(const char* doing, const std::string& path, int error) {
  return std::string("cannot ") + doing + " " + path + ": " + std::strerror(error);
}

}  // namespace

Result<std::shared_ptr<FileWriter>> FileWriter::open(Options options) {
  const auto unusable = [&](const std::string& what, const std::string& why, Error::Kind kind) {
    return Error{kind, "cannot " + what + " the folder of the decision log " + options.folder + ": " + why};
  };
  std::error_code error;
  if (!std::filesystem::is_directory(options.folder, error)) {
    std::filesystem::path parent = std::filesystem::path(options.folder).lexically_normal().parent_path();
    if (options.folder.ends_with('/')) parent = parent.parent_path();  // "log/" is in "log"
    if (!parent.empty()) std::filesystem::create_directories(parent, error);
    if (::mkdir(options.folder.c_str(), kFolderMode) != 0) {
      const bool is_no_folder = errno == EEXIST || errno == ENOTDIR || errno == EACCES;
      return unusable("create", errno == EEXIST ? "it is a file" : std::strerror(errno),
                      is_no_folder ? Error::Kind::kInvalid : Error::Kind::kUnavailable);
    }
  }
  if (::access(options.folder.c_str(), W_OK | X_OK) != 0)
    return unusable("write to", std::strerror(errno), Error::Kind::kInvalid);
  std::uint64_t last_file = 0;
  for (auto it = std::filesystem::directory_iterator(options.folder, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error))
    if (const std::uint64_t n = file_number(it->path().filename().string()); n <= kLastFileMax)
      last_file = std::max(last_file, n);
  if (error) return unusable("read", error.message(), Error::Kind::kUnavailable);
  return std::shared_ptr<FileWriter>(new FileWriter(std::move(options), last_file));
}

FileWriter::FileWriter(Options options, std::uint64_t last_file)
    : options_(std::move(options)), last_file_(last_file), pause_(options_.pause_min), thread_([this] { run(); }) {}

FileWriter::~FileWriter() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  has_work_.notify_one();
  thread_.join();
}

bool FileWriter::queue(bool is_new_file, std::string_view bytes) {
  bool must_wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_bytes_ + bytes.size() > options_.waiting_bytes_max) return false;
    if (!trouble_.empty() && !is_trying_) {
      if (!is_new_file || std::chrono::steady_clock::now() < try_after_) return false;
      is_trying_ = true;
    }
    if (is_new_file || pieces_.empty() || pieces_.back().file != 0 || pieces_.back().bytes.size() >= kWakeBytes)
      pieces_.push_back({is_new_file ? ++last_file_ : 0, {}});
    pieces_.back().bytes.append(bytes);
    if (!is_new_file) ++pieces_.back().records;
    must_wake = waiting_bytes_ < kWakeBytes && waiting_bytes_ + bytes.size() >= kWakeBytes;
    waiting_bytes_ += bytes.size();
  }
  if (must_wake) has_work_.notify_one();
  return true;
}

bool FileWriter::begin_file(std::string_view bytes) { return queue(true, bytes); }
bool FileWriter::append(std::string_view bytes) { return queue(false, bytes); }

std::uint64_t FileWriter::next_file() const {
  const std::lock_guard lock(mutex_);
  return last_file_ + 1;
}

bool FileWriter::may_begin_file() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes_ == 0 && (trouble_.empty() || (!is_trying_ && std::chrono::steady_clock::now() >= try_after_));
}

void FileWriter::flush() {
  std::unique_lock lock(mutex_);
  must_hurry_ = true;
  has_work_.notify_one();
  is_idle_.wait(lock, [&] { return pieces_.empty() && !is_writing_; });
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
    has_work_.wait_for(lock, kIdle,
                       [&] { return is_ending_ || waiting_bytes_ >= kWakeBytes || (must_hurry_ && !pieces_.empty()); });
    std::deque<Piece> work = std::exchange(pieces_, {});
    const bool is_last = is_ending_;
    is_writing_ = true;
    lock.unlock();
    bool is_removed = !work.empty() && !is_in_place();
    std::string trouble;
    if (is_removed) trouble = path_ + " was removed or replaced, and with it the steps that it had";
    bool has_begun_file = false;
    for (const Piece& piece : work) {
      if (is_removed && piece.file != 0) {
        is_removed = false;
        trouble.clear();
      }
      if (trouble.empty()) trouble = write(piece);
      has_begun_file |= piece.file != 0 && trouble.empty();
      if (!trouble.empty()) lost_ += piece.records;
    }
    lock.lock();
    is_writing_ = false;
    for (const Piece& piece : work) waiting_bytes_ -= piece.bytes.size();
    settle(std::move(trouble), has_begun_file);
    is_idle_.notify_all();
    if (is_last) break;
  }
  close_file();
}

/// Effects of the last pieces on later ones. The lock is held.
void FileWriter::settle(std::string trouble, bool has_begun_file) {
  if (has_begun_file) {
    trouble_.clear();
    is_trying_ = false;
  }
  if (trouble.empty()) return;
  close_file();
  trouble_ = std::move(trouble);
  is_trying_ = false;
  // Repeated failures are retried at growing intervals: each new file replaces an old one.
  const Moment now = std::chrono::steady_clock::now();
  pause_ = now - try_after_ > options_.pause_max ? options_.pause_min : std::min(2 * pause_, options_.pause_max);
  try_after_ = now + pause_;
  for (const Piece& piece : pieces_) lost_ += piece.records;
  pieces_.clear();
  waiting_bytes_ = 0;
}

std::string FileWriter::write(const Piece& piece) {
  if (piece.file != 0)
    if (std::string trouble = open_file(piece.file); !trouble.empty()) return trouble;
  std::string_view left = piece.bytes;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      std::string trouble = in_words("write", path_, errno);
      if (piece.file != 0) ::unlink(path_.c_str());  // without its snapshot it could not be replayed
      return trouble;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  if (piece.file != 0) remove_old_files(piece.file);
  return {};
}

std::string FileWriter::open_file(std::uint64_t number) {
  close_file();
  path_ = options_.folder + "/" + file_name(number);
  ::mkdir(options_.folder.c_str(), kFolderMode);  // it may have been removed
  descriptor_ = ::open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kFileMode);
  return descriptor_ < 0 ? in_words("create", path_, errno) : std::string();
}

void FileWriter::remove_old_files(std::uint64_t newest) const {
  std::error_code error;
  std::vector<std::uint64_t> numbers;
  // Not a range-for, whose steps throw. If the folder cannot be read to its end, the unseen files are removed with a
  // later file.
  for (auto it = std::filesystem::directory_iterator(options_.folder, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error))
    if (const std::uint64_t n = file_number(it->path().filename().string()); n != 0 && n <= newest)
      numbers.push_back(n);
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i + options_.files_max < numbers.size(); ++i)
    // a failed removal is retried with the next file
    std::filesystem::remove(options_.folder + "/" + file_name(numbers[i]), error);
}

/// What is written to a file that was removed, with its folder or without, reaches nobody, and no write fails.
bool FileWriter::is_in_place() const {
  struct stat open {
  }, named{};
  if (descriptor_ < 0 || ::fstat(descriptor_, &open) != 0) return true;
  return ::stat(path_.c_str(), &named) == 0 && named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

void FileWriter::close_file() {
  if (descriptor_ < 0) return;
  ::fdatasync(descriptor_);
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace ashlar::store
