#include "text/text_file.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/unreadable.h"

namespace ashlar {
namespace {

constexpr std::size_t kBlockBytes = 1 << 16;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// The kind of file is checked before it is opened: opening a device may have an effect.
Result<File> open_text_file(const std::string& path) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (std::filesystem::is_directory(status)) return unreadable(path, EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) && !std::filesystem::is_fifo(status))
    return unreadable(path, Error::Kind::kInvalid, "it is a device, not a file");
  File file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) return unreadable(path, errno);
  return file;
}

}  // namespace

Result<void> check_readable(const std::string& path) {
  const Result<File> file = open_text_file(path);
  return file ? Result<void>() : Result<void>(file.error());
}

Result<std::string> read_text_file(const std::string& path, std::size_t bytes_max) {
  const Result<File> file = open_text_file(path);
  if (!file) return file.error();
  const auto too_large = [&] {
    const bool is_large = bytes_max >= std::size_t{1} << 30;
    const std::string limit =
        is_large ? std::to_string(bytes_max >> 30) + " GiB" : std::to_string(bytes_max >> 20) + " MiB";
    return unreadable(path, Error::Kind::kInvalid, "it is larger than " + limit);
  };
  std::error_code is_pipe;
  const std::uintmax_t size = std::filesystem::file_size(path, is_pipe);
  if (!is_pipe && size > bytes_max) return too_large();
  std::string text;
  std::string block(kBlockBytes, '\0');
  for (std::size_t got = 0; (got = std::fread(block.data(), 1, block.size(), file->get())) > 0;) {
    if (text.size() + got > bytes_max) return too_large();
    text.append(block, 0, got);
  }
  if (std::ferror(file->get()) != 0) return unreadable(path, errno);
  return text;
}

}  // namespace ashlar
