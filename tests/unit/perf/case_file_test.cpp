// Tests of case_file: the language is read, parameters are filled in, and what is wrong is named with its place.
#include "cluster/perf/case_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ashlar::bench::perf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// One case with these operations (lines of YAML lists, two columns in).
std::string case_with(const std::string& operations, const std::string& params = "{nodes: 5, pods: 7}") {
  return "- name: one\n  workloadTemplate:\n" + operations + "  workloads:\n  - name: full\n    params: " + params +
         "\n";
}

std::string error_of(const std::string& text) {
  const Result<std::vector<Case>> cases = parse_cases(text, "/x/cases.yaml");
  if (!cases) return cases.error().message;
  const Result<std::vector<Operation>> operations =
      instantiated(cases->front(), cases->front().workloads.front().params);
  return operations ? "no error" : operations.error().message;
}

std::vector<Operation> operations_of(const std::string& text) {
  const Result<std::vector<Case>> cases = parse_cases(text, "/x/cases.yaml");
  EXPECT_TRUE(cases.ok()) << cases.error().message;
  Result<std::vector<Operation>> operations = instantiated(cases->front(), cases->front().workloads.front().params);
  EXPECT_TRUE(operations.ok()) << operations.error().message;
  return std::move(operations).value();
}

TEST(CaseFile, OperationsGetTheNumbersOfTheWorkload) {
  const std::vector<Operation> ops = operations_of(case_with(R"(  - opcode: createNodes
    countParam: $nodes
    nodeTemplatePath: node.yaml
    labelNodePrepareStrategy: {labelKey: zone, labelValues: [a, b]}
    nodeAllocatableStrategy: {nodeAllocatable: {cpu: "4"}}
  - opcode: createPods
    countParam: $pods
    countMultiplierParam: $nodes
    podTemplatePath: sub/pod.yaml
    templateParams: {size: $nodes, word: text}
    collectMetrics: true
)"));
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].count.value, 5);
  EXPECT_EQ(ops[0].template_path, "/x/node.yaml");
  EXPECT_EQ(ops[0].label_key, "zone");
  EXPECT_THAT(ops[0].label_values, ElementsAre("a", "b"));
  EXPECT_THAT(ops[0].allocatable, ElementsAre(std::pair<std::string, std::string>("cpu", "4")));
  EXPECT_EQ(ops[1].count.value * ops[1].multiplier.value, 35);
  EXPECT_EQ(ops[1].template_path, "/x/sub/pod.yaml");
  EXPECT_TRUE(ops[1].collects_metrics);
  EXPECT_THAT(ops[1].template_params, ElementsAre(std::pair<std::string, std::string>("size", "5"),
                                                  std::pair<std::string, std::string>("word", "text")));
}

TEST(CaseFile, PodSetsAreOneOperationForEachNamespace) {
  const std::vector<Operation> ops = operations_of(case_with(R"(  - opcode: createPodSets
    count: 2
    namespacePrefix: team
    createPodsOp: {countParam: $pods, podTemplatePath: pod.yaml}
)"));
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].name_space, "team-0");
  EXPECT_EQ(ops[1].name_space, "team-1");
  EXPECT_EQ(ops[1].opcode, Opcode::kCreatePods);
  EXPECT_EQ(ops[1].count.value, 7);
}

TEST(CaseFile, ChurnSleepAndDeletionAreRead) {
  const std::vector<Operation> ops = operations_of(case_with(R"(  - opcode: churn
    mode: recreate
    number: 3
    intervalMilliseconds: 250
    templatePaths: [a.yaml, b.yaml]
  - opcode: sleep
    duration: 2s
  - opcode: sleep
    durationParam: $pause
  - opcode: barrier
  - opcode: deletePods
    namespace: team-0
    deletePodsPerSecond: 50
)",
                                                             "{pause: 1500ms}"));
  ASSERT_EQ(ops.size(), 5u);
  EXPECT_TRUE(ops[0].recreates);
  EXPECT_EQ(ops[0].number, 3);
  EXPECT_EQ(ops[0].interval, Millis(250));
  EXPECT_THAT(ops[0].template_paths, ElementsAre("/x/a.yaml", "/x/b.yaml"));
  EXPECT_EQ(ops[1].duration, Millis(2000));
  EXPECT_EQ(ops[2].duration, Millis(1500));
  EXPECT_EQ(ops[4].deletions_per_second, 50);
}

TEST(CaseFile, TheDefaultPodTemplateIsThatOfTheCase) {
  const auto cases = parse_cases(
      "- name: one\n  defaultPodTemplatePath: pod.yaml\n  workloadTemplate:\n  - opcode: createPods\n    count: 1\n",
      "/x/cases.yaml");
  ASSERT_TRUE(cases.ok());
  const auto ops = instantiated(cases->front(), {});
  ASSERT_TRUE(ops.ok());
  EXPECT_EQ(ops->front().template_path, "/x/pod.yaml");
  EXPECT_THAT(error_of(case_with("  - opcode: createPods\n    count: 1\n")),
              HasSubstr("createPods without podTemplatePath in a case without defaultPodTemplatePath"));
}

TEST(CaseFile, OurOwnKeyGivesTheGoal) {
  const auto cases = parse_cases(
      "- name: one\n  ashlar: {times: 60, notYet: no volumes}\n  featureGates: {X: true}\n  workloadTemplate: "
      "[{opcode: barrier}]\n",
      "f");
  ASSERT_TRUE(cases.ok());
  EXPECT_EQ(cases->front().times, 60);
  EXPECT_EQ(cases->front().not_yet, "no volumes");
  EXPECT_THAT(cases->front().unapplied, ElementsAre("featureGates"));
}

TEST(CaseFile, ErrorsNameFileLineAndColumn) {
  EXPECT_EQ(error_of(case_with("  - opcode: createPod\n    count: 1\n")),
            "/x/cases.yaml:3:13: unknown operation \"createPod\"; did you mean \"createPods\"?");
  EXPECT_EQ(error_of(case_with("  - opcode: barrier\n  - opcode: allocResourceClaims\n")),
            "/x/cases.yaml:4:13: the operation allocResourceClaims is not supported yet");
  EXPECT_EQ(error_of(case_with("  - opcode: createNodes\n    countParam: $node\n")),
            "/x/cases.yaml:3:5: the workload has no parameter \"node\"");
  EXPECT_EQ(error_of(case_with("  - opcode: createNodes\n    countParam: nodes\n")),
            "/x/cases.yaml:4:17: countParam must name a parameter, such as $initNodes");
  EXPECT_EQ(error_of(case_with("  - opcode: createNodes\n    countParam: $nodes\n", "{nodes: many}")),
            "/x/cases.yaml:3:5: the parameter \"nodes\" must be a number of objects, not \"many\"");
  EXPECT_THAT(
      error_of(case_with("  - opcode: createPods\n    count: 1\n    steadyState: true\n    podTemplatePath: p\n")),
      HasSubstr("/x/cases.yaml:5:18: steadyState is not supported yet"));
  EXPECT_THAT(error_of(case_with("  - opcode: createPods\n    podTemplatePath: p\n")),
              HasSubstr("it needs count or countParam, one of them"));
  EXPECT_THAT(
      error_of(case_with("  - opcode: createPods\n    count: 1\n    countParam: $pods\n    podTemplatePath: p\n")),
      HasSubstr("it needs count or countParam, one of them"));
  EXPECT_THAT(error_of(case_with("  - opcode: churn\n    number: 1\n    templatePaths: [a]\n")),
              HasSubstr("churn needs mode: create or recreate"));
  EXPECT_THAT(error_of(case_with("  - opcode: churn\n    mode: recreate\n    templatePaths: [a]\n")),
              HasSubstr("churn that recreates needs number"));
  EXPECT_THAT(error_of(case_with("  - opcode: createPods\n    cuont: 1\n")),
              HasSubstr("unknown key \"cuont\" in createPods; did you mean \"count\"?"));
  EXPECT_THAT(error_of("- name: one\n  workloadTemplate: [\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(error_of("name: one\n"), HasSubstr("a file of cases must be a list"));
  EXPECT_THAT(error_of("- {name: one, workloadTemplate: [{opcode: barrier}]}\n- {name: one, workloadTemplate: "
                       "[{opcode: barrier}]}\n"),
              HasSubstr("/x/cases.yaml:2:3: a second case \"one\""));
}

TEST(CaseFile, SizesAreScaledInProportionAndNeverToNothing) {
  const Params params = scaled(
      {{"initNodes", "5000"}, {"measurePods", "10000"}, {"measureGangs", "3"}, {"podsPerGang", "4"}, {"cpu", "100m"}},
      0.1, 0.01);
  EXPECT_EQ(
      params,
      (Params{
          {"initNodes", "500"}, {"measurePods", "100"}, {"measureGangs", "1"}, {"podsPerGang", "4"}, {"cpu", "100m"}}));
}

}  // namespace
}  // namespace ashlar::bench::perf
