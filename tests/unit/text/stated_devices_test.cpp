#include "text/stated_devices.h"

#include <gtest/gtest.h>

#include "text/device_text.h"

namespace ashlar {
namespace {

std::string mistake_in(std::string_view text) {
  const auto stated = parse_stated_devices(text);
  return stated.ok() ? "no error" : stated.error().message;
}

TEST(StatedDevices, AreGroupsWithWhatIsKnownOfThem) {
  const auto stated = parse_stated_devices("0-1,4  model=H100 memory=80Gi island=1 numa=2 switch=127;2 sliced;");
  ASSERT_TRUE(stated.ok()) << stated.error().message;
  ASSERT_EQ(stated->size(), 2u);
  EXPECT_EQ((*stated)[0], (StatedDevices{.devices = parse_devices("0,1,4"),
                                         .model = "H100",
                                         .memory = MiB(81920),
                                         .island = 1,
                                         .numa_node = 2,
                                         .pcie_switch = 127}));
  EXPECT_EQ((*stated)[1], (StatedDevices{.devices = parse_devices("2"), .is_sliced = true}));
}

TEST(StatedDevices, OfAnEmptyTextAreNone) {
  for (const char* text : {"", " ", ";", " ; "}) {
    const auto stated = parse_stated_devices(text);
    ASSERT_TRUE(stated.ok()) << stated.error().message;
    EXPECT_TRUE(stated->empty());
  }
}

TEST(StatedDevices, MistakesAreNamed) {
  EXPECT_EQ(mistake_in("model=H100"), "\"model=H100\" is not a list of GPUs such as 0,2-3");
  EXPECT_EQ(mistake_in("0-128"), "\"0-128\" is not a list of GPUs such as 0,2-3");
  EXPECT_EQ(mistake_in("0-3 sliced; 2-4 sliced"), "GPU 2-3 is named twice");
  EXPECT_EQ(mistake_in("0 island=128"), "\"island=128\" needs a number 0..127");
  EXPECT_EQ(mistake_in("0 numa=-1"), "\"numa=-1\" needs a number 0..127");
  EXPECT_EQ(mistake_in("0 switch="), "\"switch=\" needs a number 0..127");
  EXPECT_EQ(mistake_in("0 memory=80"), "memory: \"80\" is less than 1Mi; name the unit (40Gi)");
  EXPECT_EQ(mistake_in("0 model="), "\"model=\" needs the name of a model");
  EXPECT_EQ(mistake_in("0 model=" + std::string(253, 'x')), "no error");
  const std::string no_model = " is not the name of a model: it has control characters, or more than 253 bytes";
  EXPECT_EQ(mistake_in("0 model=" + std::string(254, 'x')), "\"model=" + std::string(74, 'x') + "\"" + no_model);
  EXPECT_EQ(mistake_in("0 model=H\n100"), "\"model=H\n100\"" + no_model);
  EXPECT_EQ(mistake_in("0-1 numa=0; 2-3 numa=1 island=0 numa=0"), "\"numa=\" stands twice for GPUs 2-3");
  EXPECT_EQ(mistake_in("0 model=H100 model=H100"), "\"model=\" stands twice for GPUs 0");
  EXPECT_EQ(mistake_in("0 memory=80Gi memory=40Gi"), "\"memory=\" stands twice for GPUs 0");
  EXPECT_EQ(mistake_in("0 island=0 island=0"), "\"island=\" stands twice for GPUs 0");
  EXPECT_EQ(mistake_in("0 switch=0 switch=1"), "\"switch=\" stands twice for GPUs 0");
  EXPECT_EQ(mistake_in("0 sliced sliced"), "\"sliced\" stands twice for GPUs 0");
  EXPECT_EQ(mistake_in("0 slice"), "\"slice\" is not known; did you mean \"sliced\"?");
}

}  // namespace
}  // namespace ashlar
