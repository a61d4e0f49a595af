// Tests of our own cases: each is read, its templates are there, and each of its objects can be made in both sizes.
#include <gtest/gtest.h>

#include <filesystem>

#include "cluster/perf/case_file.h"
#include "cluster/perf/object_template.h"
#include "folders.h"

namespace ashlar::bench::perf {
namespace {

std::vector<Case> own_cases() {
  std::vector<Case> all;
  for (const auto& entry : std::filesystem::directory_iterator(ASHLAR_SOURCE_DIR "/bench/cluster/perf/cases")) {
    if (entry.path().extension() != ".yaml") continue;
    Result<std::vector<Case>> cases = read_cases(entry.path().string());
    EXPECT_TRUE(cases.ok()) << cases.error().message;
    if (cases) all.insert(all.end(), cases->begin(), cases->end());
  }
  return all;
}

std::vector<std::string> templates_of(const Operation& op) {
  std::vector<std::string> paths = op.template_paths;
  for (const std::string& path : {op.template_path, op.claim_path, op.volume_path})
    if (!path.empty()) paths.push_back(path);
  return paths;
}

TEST(OwnCases, AreNineteenAndEachMeasuresPods) {
  const std::vector<Case> cases = own_cases();
  EXPECT_EQ(cases.size(), 19u);
  for (const Case& one : cases)
    for (const char* name : {"full", "short"}) {
      const Workload* workload = one.workload(name);
      ASSERT_NE(workload, nullptr) << one.name << " " << name;
      const Result<std::vector<Operation>> operations = instantiated(one, workload->params);
      ASSERT_TRUE(operations.ok()) << operations.error().message;
      std::int64_t measured = 0;
      for (const Operation& op : *operations)
        if (op.collects_metrics) measured += op.count.value * op.multiplier.value;
      EXPECT_GE(measured, std::string(name) == "full" ? 10'000 : 90) << one.name << " " << name;
    }
}

TEST(OwnCases, EachTemplateGivesAnObject) {
  for (const Case& one : own_cases()) {
    const Result<std::vector<Operation>> operations = instantiated(one, one.workload("full")->params);
    ASSERT_TRUE(operations.ok());
    for (const Operation& op : *operations)
      for (const std::string& path : templates_of(op)) {
        Result<ObjectTemplate> object = ObjectTemplate::read(path, {});
        ASSERT_TRUE(object.ok()) << object.error().message;
        TemplateValues values{{"Index", "3"}, {"Namespace", "n"}, {"Claim", "c"}, {"Volume", "v"}};
        for (const auto& [name, value] : op.template_params) values[name] = value;
        const Result<RenderedObject> rendered = object->render(values, "x");
        ASSERT_TRUE(rendered.ok()) << rendered.error().message;
        EXPECT_EQ(rendered->body.find("{{"), std::string::npos) << path;
      }
  }
}

}  // namespace
}  // namespace ashlar::bench::perf
