// Grants of devices as annotations and cases write them.
#include "text/device_text.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

std::string read_and_written(const std::string& text) {
  const Result<DeviceGrants> read = parse_grants(text);
  return read ? grants_text(*read) : "kInvalid: " + read.error().message;
}

TEST(GrantsText, IsReadAsItIsWritten) {
  for (const char* text :
       {"0:1000", "0-7:1000", "3:500:40960", "0:250,1:250:1000", "0-1:1000,3-4:1000", "2:0:500", "127:1:0:4294967295"})
    EXPECT_EQ(read_and_written(text), text);
}

TEST(GrantsText, IsWrittenInOneWay) {
  EXPECT_EQ(read_and_written("5:1000,0-2:1000,3:1000,4:1000"), "0-5:1000");
  EXPECT_EQ(read_and_written("0:1000:0:0"), "0:1000");
  EXPECT_EQ(grants_text({}), "");
}

TEST(GrantsText, SaysWhichPartCannotBeRead) {
  const std::string form =
      " is not a GPU with what is held of it, such as 0-7:1000 (thousandths) or 3:500:40960 (thousandths and MiB)";
  for (const char* part : {"", "3", ":500", "3:", "3:x", "3:1001", "3:-1", "128:1", "2-1:5", "3:1:2:3:4",
                           "3:1:", "3:1:9999999999", "3:1:0:4294967296", " 3:1", "0x3:1"}) {
    EXPECT_EQ(read_and_written(part), "kInvalid: '" + std::string(part) + "'" + form);
    EXPECT_EQ(read_and_written("0:1," + std::string(part)), "kInvalid: '" + std::string(part) + "'" + form);
  }
  EXPECT_EQ(read_and_written("0:1,3:0"), "kInvalid: '3:0' holds nothing of a GPU");
  EXPECT_EQ(read_and_written("0:1,3:0:9:5"),
            "kInvalid: '3:0:9:5' holds slices of a GPU and no thousandths, by which they are counted");
  EXPECT_EQ(read_and_written("0-3:1,3:2"), "kInvalid: '3:2' names a GPU a second time");
  EXPECT_LT(read_and_written(std::string(100'000, '9')).size(), 200u);
  EXPECT_LT(read_and_written("0:1,0:" + std::string(90'000, '0') + "1").size(), 200u);
  EXPECT_LT(read_and_written("0:" + std::string(90'000, '0')).size(), 200u);
}

}  // namespace
}  // namespace ashlar
