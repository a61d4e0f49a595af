#include "text/text_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ashlar {
namespace {

TEST(TextFile, AFileThatCannotBeReadIsNamedWithTheCause) {
  const std::string folder = ::testing::TempDir(), none = folder + "/ashlar-no-such-file";
  EXPECT_EQ(read_text_file(none, 1).error().message, none + ": cannot be read: No such file or directory");
  EXPECT_EQ(read_text_file(none, 1).error().kind, Error::Kind::kNotFound);
  EXPECT_EQ(check_readable(none).error().message, none + ": cannot be read: No such file or directory");
  EXPECT_EQ(read_text_file(folder, 1).error().message, folder + ": cannot be read: Is a directory");
  EXPECT_EQ(read_text_file(folder, 1).error().kind, Error::Kind::kInvalid);
  EXPECT_EQ(read_text_file("/dev/zero", 1).error().message, "/dev/zero: cannot be read: it is a device, not a file");
}

TEST(TextFile, AFileIsReadWholeUpToItsLimit) {
  const std::string file = ::testing::TempDir() + "/ashlar-text-file";
  std::ofstream(file) << std::string((1 << 20) + 1, 'x');
  EXPECT_TRUE(check_readable(file).ok());
  EXPECT_EQ(read_text_file(file, (1 << 20) + 1).value().size(), (1u << 20) + 1);
  EXPECT_EQ(read_text_file(file, 1 << 20).error().message, file + ": cannot be read: it is larger than 1 MiB");
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace ashlar
