// Conditions that the server has already, and that the review of a leadership has written anew.
#include "scripted_api.h"
#include "term_bench.h"

namespace ashlar::kube {
namespace {

class TermReview : public ::testing::Test, public TermBench {
 protected:
  TermReview() {
    begin(server.api());
    see(node_in("r0", "a"));
    Pod runs = pod("runs", 8);
    runs.node_name = PooledString("a");
    see(runs);
  }
  ~TermReview() override { leader_term.reset(); }
  /// Turns, a tenth of a second apart, each with its answers.
  void turn(int turns) {
    for (int i = 0; i < turns; ++i) {
      leader_term->turn();
      ASSERT_TRUE(server.settle());
      now += Millis(100);
    }
  }
  std::size_t written(const std::string& object, const std::string& words) {
    return server.count({"PATCH", "/" + object + "/status", words});
  }

  ScriptedApi server{[](const http::ServerRequest&) { return http::json(200, "{}"); }, [this] { return now; }};
};

TEST_F(TermReview, ItsPodsConditionIsWrittenAnewOnce) {
  see(pod("waits", 8));
  turn(30);
  ASSERT_EQ(written("pods/waits", "0/1 nodes are available"), 1u);
  see(node_in("r0", "c", 4));
  turn(30);
  EXPECT_EQ(written("pods/waits", "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."), 1u);
  turn(30);
  EXPECT_EQ(leader_term->status_writer().counters().conditions, 2u) << "nothing has changed";
}

TEST_F(TermReview, WithAPodThatOfItsGroupIsWrittenAnew) {
  leader_term->take(PodGroupsNote{PodGroupVersion::kV1Beta1, ""});
  see(group("g", 2));
  for (int i = 0; i < 2; ++i) see(member("g", i));
  turn(30);
  const std::size_t before = written("podgroups/g", "");
  ASSERT_GE(before, 1u);
  see(node_in("r0", "c", 4));
  turn(30);
  EXPECT_EQ(written("podgroups/g", ""), before + 1);
}

TEST_F(TermReview, NothingIsReviewedWithoutTheRightToWriteNorAfterTheEnd) {
  for (const bool loses_right : {true, false}) {
    const std::string of = loses_right ? "right" : "end";
    for (const int gpus : {7, 8}) see(pod(of + std::to_string(gpus), gpus));
    turn(30);
    see(node_in("r0", "c-" + of, 4));
    EXPECT_LE(leader_term->turn(), now + Millis(100)) << "another class is due";
    ASSERT_TRUE(server.settle());
    const std::uint64_t before = leader_term->status_writer().counters().conditions;
    if (loses_right)
      is_leading = false;
    else
      leader_term->stop_deciding();
    now += Millis(100);
    EXPECT_GT(leader_term->turn(), now + Millis(200)) << of;
    EXPECT_EQ(leader_term->status_writer().depth(), 0u) << of;
    turn(5);
    EXPECT_EQ(leader_term->status_writer().counters().conditions, before) << of;
    is_leading = true;
  }
}

}  // namespace
}  // namespace ashlar::kube
