// Every file under tests/cases is one test, named by its path: the engine does what the file says. To see what differs,
// or to accept it: `ashlar case FILE`, `ashlar case FILE --update`.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "folders.h"
#include "sim/case/case.h"
#include "sim/case/case_run.h"

namespace ashlar {
namespace {

constexpr std::size_t kCasesMin = 60;  ///< fewer files mean that they were not found

const std::filesystem::path& case_folder() {
  static const std::filesystem::path folder = std::filesystem::path(ASHLAR_SOURCE_DIR) / "tests" / "cases";
  return folder;
}

std::vector<std::string> case_paths() {
  std::vector<std::string> paths;
  if (!std::filesystem::exists(case_folder())) return paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(case_folder()))
    if (entry.path().extension() == ".case")
      paths.push_back(std::filesystem::relative(entry.path(), case_folder()).string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string text_of(const std::string& path) {
  std::ifstream in(case_folder() / path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class Cases : public testing::TestWithParam<std::string> {};

TEST_P(Cases, GoAsTheySay) {
  const std::string where = "tests/cases/" + GetParam();
  const Result<sim::CaseOutcome> outcome = sim::run_case(text_of(GetParam()), where);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_TRUE(outcome->is_as_expected()) << sim::diff_text(*outcome, where, false);
}

/// `ashlar why` asks the readers' replica, which must decide on as the scheduler does.
TEST_P(Cases, GoOnAlikeWhenEachJobIsAskedAbout) {
  const auto file = sim::read_case(text_of(GetParam()), GetParam());
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto asked = sim::digest_of_case(*file, true), not_asked = sim::digest_of_case(*file, false);
  ASSERT_TRUE(asked.ok() && not_asked.ok());
  EXPECT_EQ(*asked, *not_asked);
}

TEST_P(Cases, OpenWithASentenceThatSaysWhatTheyShow) {
  const std::string text = text_of(GetParam());
  const std::string first = text.substr(0, text.find('\n'));
  EXPECT_TRUE(first.starts_with("# ") && (first.ends_with('.') || text.substr(first.size() + 1, 2) == "# ")) << first;
}

std::string test_name(const testing::TestParamInfo<std::string>& param) {
  std::string name = param.param.substr(0, param.param.size() - 5);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(File, Cases, testing::ValuesIn(case_paths()), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Cases);

TEST(CaseFiles, AreThere) { EXPECT_GE(case_paths().size(), kCasesMin); }

}  // namespace
}  // namespace ashlar
