// A folder of the decision log that cannot be read to its end while old files are looked for, as with a network file
// system that goes away.
#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "log_folder.h"
#include "store/file_writer.h"
#include "store/log_format.h"

namespace {

std::atomic<int> entries_left{-1};  ///< this many entries are read before an error comes; below zero: none comes

}  // namespace

/// Stands before the C library's, in this program only: no file system that one can make in a test fails here.
extern "C" dirent* readdir(
    DIR* folder) {  // NOLINT(readability-inconsistent-declaration-parameter-name): the C library's are reserved
  if (entries_left >= 0 && entries_left-- == 0) {
    errno = EIO;
    return nullptr;
  }
  static const auto real = reinterpret_cast<dirent* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir"));
  return real(folder);
}

namespace ashlar::store {
namespace {

TEST(UnreadableFolder, is_tried_again_with_the_next_file) {
  const Folder folder;
  for (std::uint64_t number = 1; number <= 3; ++number) write_bytes(folder.file(file_name(number)), "");
  const auto writer = FileWriter::open({.folder = folder.str(), .files_max = 1}).value();
  entries_left = 3;  // itself, the one above, and at least one file
  EXPECT_TRUE(writer->begin_file("four"));
  writer->flush();
  EXPECT_LT(entries_left, 0) << "the error came";
  EXPECT_FALSE(writer->has_stopped());
  EXPECT_EQ(read_bytes(folder.file(file_name(4))), "four");
  EXPECT_TRUE(writer->begin_file("five"));
  writer->flush();
  for (std::uint64_t number = 1; number <= 4; ++number)
    EXPECT_FALSE(std::filesystem::exists(folder.file(file_name(number)))) << number;
  EXPECT_EQ(read_bytes(folder.file(file_name(5))), "five");
}

TEST(UnreadableFolder, is_said_when_the_log_is_opened) {
  const Folder folder;
  write_bytes(folder.file(file_name(1)), "");
  for (const int entries : {0, 3}) {
    entries_left = entries;
    const auto writer = FileWriter::open({.folder = folder.str()});
    ASSERT_FALSE(writer.ok()) << entries;
    EXPECT_EQ(writer.error().message,
              "cannot read the folder of the decision log " + folder.str() + ": Input/output error")
        << entries;
  }
}

}  // namespace
}  // namespace ashlar::store
