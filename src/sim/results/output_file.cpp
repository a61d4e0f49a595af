#include "sim/results/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace ashlar::sim {
namespace {

Error cannot_write(const std::string& path, int error_number) {
  return Error{error_number == EACCES || error_number == EPERM || error_number == EROFS ? Error::Kind::kDenied
                                                                                        : Error::Kind::kUnavailable,
               path + ": cannot be written: " + std::strerror(error_number) +
                   "; check the folder, its permissions and the free space"};
}

/// Writes everything or returns the errno that stopped it.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

bool is_one_of_files(const std::string& path, std::span<const std::string> files) {
  return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
    std::error_code ignored;
    return std::filesystem::equivalent(path, file, ignored);
  });
}

Result<void> write_whole_file(const std::string& path, std::string_view text) {
  std::error_code ignored;
  // A device or a pipe (/dev/stdout) has no half-written state, and must not be replaced by a file.
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status))
    return invalid(path + ": is a folder; expected the name of a file to write");
  const bool is_replaceable = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
  const std::string target = is_replaceable ? path + ".tmp-" + std::to_string(::getpid()) : path;
  const int file =
      ::open(target.c_str(), is_replaceable ? O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC : O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) return cannot_write(path, errno);
  int failure = write_all(file, text);
  if (::close(file) != 0 && failure == 0) failure = errno;
  if (!is_replaceable) return failure == 0 ? Result<void>() : cannot_write(path, failure);
  if (failure == 0 && std::rename(target.c_str(), path.c_str()) != 0) failure = errno;
  if (failure == 0) return {};
  ::unlink(target.c_str());
  return cannot_write(path, failure);
}

}  // namespace ashlar::sim
