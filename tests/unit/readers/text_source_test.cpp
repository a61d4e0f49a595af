#include "sim/trace/text_source.h"

#include <gmock/gmock.h>

#include "files.h"

namespace ashlar::sim {
namespace {

using ::testing::AllOf;
using testing::Folder;
using ::testing::HasSubstr;
using testing::pack;
using testing::Packed;

std::string long_text() {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919 % 100003) + ",";
  return text;
}

TEST(TextSource, ReadsPlainAndPackedFilesWhateverTheirName) {
  Folder folder;
  for (Packed packed : testing::kPackings) {
    const auto text = read_text(folder.write("trace.csv", pack(long_text(), packed)));
    ASSERT_TRUE(text.ok()) << text.error().message;
    EXPECT_EQ(*text, long_text());
  }
}

TEST(TextSource, ReadsArchivesPutBehindOneAnother) {
  for (Packed packed : {Packed::kGzip, Packed::kXz, Packed::kZstd}) {
    const auto text = unpack(pack("one\n", packed) + pack("two\n", packed), "trace");
    ASSERT_TRUE(text.ok()) << text.error().message;
    EXPECT_EQ(*text, "one\ntwo\n");
  }
}

TEST(TextSource, AnArchiveCutOffAnywhereIsAnErrorThatNamesTheFile) {
  for (Packed packed : {Packed::kGzip, Packed::kXz, Packed::kZstd}) {
    const std::string bytes = pack("sn,cpu_milli\nnode-0,64000\nnode-1,64000\nnode-2,32000\n", packed);
    for (std::size_t size = 6; size < bytes.size(); ++size) {
      const auto text = unpack(bytes.substr(0, size), "nodes.csv.zst");
      ASSERT_FALSE(text.ok()) << size << " of " << bytes.size() << " bytes";
      EXPECT_THAT(text.error().message,
                  AllOf(HasSubstr("nodes.csv.zst"), HasSubstr("damaged or cut off"), HasSubstr("again")));
    }
  }
}

TEST(TextSource, ADamagedArchiveNeverGivesAnotherText) {
  for (Packed packed : {Packed::kGzip, Packed::kXz}) {
    const std::string bytes = pack(long_text(), packed);
    for (std::size_t at = 6; at < bytes.size(); at += 97) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
      const auto text = unpack(damaged, "trace");
      EXPECT_TRUE(!text.ok() || *text == long_text()) << at;
    }
  }
}

TEST(TextSource, DamagedZstdNeverCrashes) {
  const std::string bytes = pack(long_text(), Packed::kZstd);
  for (std::size_t at = 4; at < bytes.size(); at += 31) {
    for (char flip : {char(0x01), char(0x40), char(0xff)}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      static_cast<void>(unpack(damaged, "trace").ok());
    }
  }
  SUCCEED();
}

TEST(TextSource, SaysWhatIsWrongWithAPath) {
  Folder folder;
  EXPECT_THAT(read_text(folder.path("absent.csv")).error().message,
              HasSubstr("absent.csv: cannot be read: No such file or directory"));
  EXPECT_THAT(read_text(std::filesystem::temp_directory_path().string()).error().message,
              HasSubstr("cannot be read: Is a directory"));
}

TEST(TextSource, ADeviceIsNoFile) {
  for (const char* device : {"/dev/zero", "/dev/null"})
    EXPECT_THAT(read_text(device).error().message, HasSubstr("it is a device"));
}

TEST(TextSource, PiecesAreShownWithoutWhatSteersATerminal) {
  EXPECT_EQ(printable("plain text, caf\u00e9 \u4e2d \U0001F600"), "plain text, caf\u00e9 \u4e2d \U0001F600");
  EXPECT_EQ(printable("\x1b[2J\r\n\t\x7f"), "?[2J????");
  EXPECT_EQ(printable("\x9b"
                      "31m \xc2\x9b \xff\xe4\xb8"),
            "?31m ? ???");
}

TEST(TextSource, AnEmptyFileIsAnEmptyText) {
  Folder folder;
  const auto text = read_text(folder.write("empty", ""));
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "");
}

}  // namespace
}  // namespace ashlar::sim
