// Tests of template_text: values and arithmetic in {{...}}, and what is wrong with a template.
#include "cluster/perf/template_text.h"

#include <gtest/gtest.h>

namespace ashlar::bench::perf {
namespace {

const TemplateValues kValues{{"Index", "17"}, {"podsPerGang", "4"}, {"cpu", "100m"}, {"none", "0"}};

std::string text_of(std::string_view text) {
  const Result<std::string> result = expand(text, "pod.yaml", kValues);
  return result ? *result : "error: " + result.error().message;
}

TEST(TemplateText, ValuesAreFilledIn) {
  EXPECT_EQ(text_of("name: pod-{{.Index}}\ncpu: {{ .cpu }}\n"), "name: pod-17\ncpu: 100m\n");
  EXPECT_EQ(text_of("nothing {to} fill"), "nothing {to} fill");
}

TEST(TemplateText, WholeNumbersAreComputed) {
  EXPECT_EQ(text_of("{{DivideInt .Index .podsPerGang}} {{ModInt .Index 4}}"), "4 1");
  EXPECT_EQ(text_of("{{AddInt .Index 3}} {{SubtractInt 3 .Index}} {{MultiplyInt .Index 2}}"), "20 -14 34");
}

TEST(TemplateText, AnErrorNamesFileAndLine) {
  EXPECT_EQ(text_of("a\n\n{{.Indx}}"), "error: pod.yaml:3: no value \".Indx\"; did you mean \"Index\"?");
  EXPECT_EQ(text_of("a\n{{.Index"), "error: pod.yaml:2: \"{{\" without \"}}\"");
  EXPECT_EQ(text_of("{{}}"), "error: pod.yaml:1: nothing between {{ and }}");
  EXPECT_EQ(text_of("{{DivideInts 1 2}}"),
            "error: pod.yaml:1: unknown function \"DivideInts\"; did you mean \"DivideInt\"?");
  EXPECT_EQ(text_of("{{DivideInt .Index}}"), "error: pod.yaml:1: DivideInt takes two values");
  EXPECT_EQ(text_of("{{DivideInt .Index .none}}"), "error: pod.yaml:1: DivideInt of 17 and 0");
  EXPECT_EQ(text_of("{{AddInt .cpu 1}}"), "error: pod.yaml:1: \".cpu\" is \"100m\", not a whole number");
  EXPECT_EQ(text_of("{{AddInt 9223372036854775807 1}}"), "error: pod.yaml:1: AddInt of 9223372036854775807 and 1");
}

}  // namespace
}  // namespace ashlar::bench::perf
