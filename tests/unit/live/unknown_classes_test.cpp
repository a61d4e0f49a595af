// Classes of GPUs that nobody knows, as many and as long as a tenant can write them: each pod hears of its own, in a
// few words, and nothing of them stays.
#include "term_bench.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

const std::string kProduct = "nvidia.com/gpu.product";

Pod of_classes(const std::string& name, const std::string& classes) {
  PodRules rules;
  rules.gpu_classes = PooledString(classes);
  return ClusterObjects::under(
      ClusterObjects::annotated(ClusterObjects::pod(name, 1), "ashlar.dev/gpu-classes", classes), rules);
}

Node of_model(const std::string& name, const std::string& model) {
  return ClusterObjects::node(name, 2, {{PooledString(kProduct), PooledString(model)}});
}

class UnknownClassesOfATerm : public ::testing::Test, public TermBench {
 protected:
  std::string told(const std::string& name) { return condition_of(name).message; }
};

TEST_F(UnknownClassesOfATerm, EachPodHearsOfItsOwn) {
  begin();
  see(of_model("h", "H100"));
  see(of_classes("p", "tenant-a-secret"));
  see(of_classes("q", "H10O"));
  see(of_classes("r", "H100"));
  see(pod("s", 9));
  leader_term->turn();
  EXPECT_NE(told("p").find("GPUs of \"tenant-a-secret\""), std::string::npos) << told("p");
  EXPECT_NE(told("q").find("GPUs of \"H10O\""), std::string::npos) << told("q");
  EXPECT_NE(told("p").find("GPUs of \"tenant-a-secret\""), std::string::npos) << "asked again";
  EXPECT_EQ(told("s").find("GPUs of \""), std::string::npos) << told("s");
}

class UnknownClasses : public TrackerBench {};

TEST_F(UnknownClasses, OfAnyLengthAndBytesAreToldInAFewWordsOnOneLine) {
  see(of_model("h", "H100"));
  const std::string names[] = {std::string(10'000, 'x'), "a\n\x1b[31m\x7f\t" + std::string(9'000, '\x01'),
                               std::string(319, 'x') + "\xc3\xa4\xc3\xa4",
                               "\xff\xfe\xc3(\xed\xa0\x80" + std::string(5'000, '\x80'),
                               "\xe2\x80\xae"
                               "001H"};
  for (std::size_t i = 0; i < std::size(names); ++i) see(of_classes("p" + std::to_string(i), names[i]));
  step();
  for (std::size_t i = 0; i < std::size(names); ++i) {
    const std::string text = verdict_of("p" + std::to_string(i)).message;
    EXPECT_NE(text.find("No node has GPUs of \""), std::string::npos) << i << text;
    EXPECT_LT(text.size(), 800u);
    EXPECT_EQ(bounded_words(text, 1'000), text) << i;
    EXPECT_TRUE(text.ends_with("known: H100.") || text.ends_with("\"H100\"?")) << text;
  }
}

TEST_F(UnknownClasses, ListsThatCannotBeReadHoldInWholeCharacters) {
  see(of_model("h", "H100"));
  see(of_classes("p", "\xc3\xa4" + std::string(78, 'x') + "\xc3\xa4,,"));
  see(of_classes("q", std::string(79, 'x') + "\xc3\xa4,,"));
  see(of_classes("r", std::string(9'000, ',')));
  step();
  for (const char* name : {"p", "q", "r"}) {
    const PodRecord& r = record(name);
    EXPECT_EQ(r.phase, PodRecord::Phase::kHeld) << name;
    const std::string text = tracker.hold_condition(r).message;
    EXPECT_EQ(bounded_words(text, 1'000), text) << name;
    EXPECT_LT(text.size(), 300u);
  }
}

TEST_F(UnknownClasses, AThousandOfThemLeaveNoNames) {
  see(of_model("h", "H100"));
  step();
  const std::size_t before = tracker.names().models.size();
  const auto come_and_go = [&](int wave) {
    for (int i = 0; i < 1'000; ++i)
      see(of_classes("p" + std::to_string(i), "w" + std::to_string(wave) + "-" + std::to_string(i)));
    step();
    for (int i = 0; i < 1'000; ++i) gone(pod("p" + std::to_string(i), 1));
    step();
  };
  for (int wave = 0; wave < 20; ++wave) come_and_go(wave);
  EXPECT_LT(tracker.names().models.size(), before + 2'500);
  EXPECT_LT(tracker.names().models.rows(), before + 3'500);
}

}  // namespace
}  // namespace ashlar::kube
