// Device classes as people state them: what is refused, and lists of names.
#include "text/stated_classes.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

const StatedClass kHopper{"H100", {"NVIDIA-H100-PCIe", "NVIDIA-H100-80GB-HBM3"}, {"fp8", "nvlink"}};

/// "part[index]: message" of a class stated after that one; empty if nothing is wrong.
std::string problem(const StatedClass& stated) {
  const std::optional<ClassProblem> found = validate(stated, {&kHopper, 1});
  if (!found) return "";
  constexpr const char* kParts[] = {"name", "models", "capabilities"};
  return kParts[static_cast<int>(found->part)] + (found->index ? "[" + std::to_string(*found->index) + "]" : "") +
         ": " + found->message;
}

TEST(StatedClasses, EveryNameMeansOneClass) {
  EXPECT_EQ(problem({"A100", {}, {}}), "");
  EXPECT_EQ(problem({"A100", {"A100", "NVIDIA-A100"}, {"fp8"}}), "") << "its own name says nothing new";
  EXPECT_EQ(problem({"", {}, {}}), "name: a device class needs a name");
  EXPECT_EQ(problem({"H100", {}, {}}), "name: there are two device classes \"H100\"");
  EXPECT_EQ(problem({"NVIDIA-H100-PCIe", {}, {}}),
            "name: \"NVIDIA-H100-PCIe\" is a model of the device class \"H100\"");
  EXPECT_EQ(problem({"A100", {"B", "H100"}, {}}), "models[1]: the model \"H100\" is the name of another device class");
  EXPECT_EQ(problem({"A100", {"NVIDIA-H100-PCIe"}, {}}),
            "models[0]: the model \"NVIDIA-H100-PCIe\" is listed by the device class \"H100\" too");
  EXPECT_EQ(problem({"A100", {"B", "C", "B"}, {}}), "models[0]: the model \"B\" is listed twice");
  EXPECT_EQ(problem({"A100", {""}, {}}), "models[0]: the name of a model is empty");
}

TEST(StatedClasses, CapabilitiesHaveNamesThatAListCanCarry) {
  EXPECT_EQ(problem({"A100", {}, {"compute-8.0", "Tensor_Cores"}}), "");
  for (const std::string bad : {"", "fp 8", "a,b", "a=1", "\xc3\xa4"})
    EXPECT_EQ(problem({"A100", {}, {"fp8", bad}}),
              "capabilities[1]: \"" + bad +
                  "\" is not the name of a capability; use at most 63 letters, digits, '-', '_' and '.'");
  EXPECT_EQ(problem({"A100", {}, {std::string(63, 'a')}}), "");
  EXPECT_NE(problem({"A100", {}, {std::string(64, 'a')}}), "");
  EXPECT_EQ(problem({"A100", {}, {"fp8", "fp8"}}), "capabilities[0]: the capability \"fp8\" is listed twice");
}

TEST(StatedClasses, HaveLimits) {
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) names.push_back("m" + std::to_string(i));
  EXPECT_EQ(problem({"A100", names, names}), "");
  names.push_back("m64");
  EXPECT_EQ(problem({"A100", names, {}}), "models: more than 64 names");
  EXPECT_EQ(problem({"A100", {}, names}), "capabilities: more than 64 names");
  std::vector<StatedClass> many;
  for (std::size_t i = 0; i < kStatedClassesMax; ++i) many.push_back({"c" + std::to_string(i), {}, {}});
  EXPECT_FALSE(validate({"x", {}, {}}, std::span(many).first(kStatedClassesMax - 1)));
  EXPECT_EQ(validate({"x", {}, {}}, many)->message, "more than 256 device classes");
}

TEST(StatedClasses, AListNamesEachOnce) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(*parse_names("fp8"), Names{"fp8"});
  EXPECT_EQ(*parse_names("fp8, nvlink ,fp8"), (Names{"fp8", "nvlink"}));
  for (const char* bad : {"", " ", ",", "a,", ",a", "a,,b"})
    EXPECT_EQ(parse_names(bad).error().message,
              "\"" + std::string(bad) + "\" is not a list of names separated by commas");
  std::string long_list = "n0";
  for (int i = 1; i < 64; ++i) long_list += ",n" + std::to_string(i);
  EXPECT_EQ(parse_names(long_list)->size(), 64u);
  EXPECT_EQ(parse_names(long_list + ",n64").error().message, "more than 64 names");
}

}  // namespace
}  // namespace ashlar
