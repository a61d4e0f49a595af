// The checks of random histories can fail: a broken rule, a lost member and an untrue reason are each seen.
#include <gtest/gtest.h>

#include <memory>

#include "story.h"

namespace ashlar::oracle {
namespace {

/// One node of two cards; job 0 of one member of one card.
class MirrorTest : public ::testing::Test {
 protected:
  MirrorTest() {
    PlainWorld world;
    PlainNode node;
    node.cards = 2;
    node.has = {8, 64, 4, 0};
    world.nodes = {node};
    world.demands = {{.asks = {1, 0, 1, 0}, .cards = 1}, {.asks = {1, 0, 1, 0}, .cards = 4}};
    world.constraints = {{}};
    world.jobs = {{.members = {{0, 0, kNowhere, {}}}}, {.members = {{1, 0, kNowhere, {}}}}};
    mirror_ = std::make_unique<Mirror>(world);
    for (const Event& event : events_of(world)) {
      apply(state_, event);
      mirror_->tell(event);
    }
  }
  Plan plan_of(std::uint32_t job, CardMask cards) {
    Plan plan;
    plan.actions.push_back(Bind{MemberId(job), JobId(job), NodeId(0u), cards});
    return plan;
  }
  std::string said(std::uint32_t job, std::vector<Reason> reasons) {
    Plan plan;
    plan.verdicts.push_back({JobId(job), {VerdictKind::kWaits, WakeOn::kCapacity, Millis(0), Millis(0), std::move(reasons)}});
    return mirror_->carry_out(plan, true);
  }

  State state_;
  std::unique_ptr<Mirror> mirror_;
};

TEST_F(MirrorTest, SeesAPlanThatBreaksARule) {
  EXPECT_EQ(mirror_->carry_out(plan_of(0, {1, 0}), true), "");
  EXPECT_EQ(mirror_->carry_out(plan_of(1, {1, 0}), true), "job 1 member 0 on node 0, which gives not as many cards as asked");
}

TEST_F(MirrorTest, SeesWhatTheStateHasLost) {
  EXPECT_EQ(mirror_->difference(state_), "");
  EXPECT_EQ(mirror_->carry_out(plan_of(0, {1, 0}), true), "");
  EXPECT_EQ(mirror_->difference(state_), "job 0 member 0 is not where it was put");
  apply(state_, {Millis(0), Ended{JobId(1u)}});
  apply(state_, {Millis(0), Bound{MemberId(0u), NodeId(0u), {1, 0}}});
  EXPECT_EQ(mirror_->difference(state_), "job 1 is lost");
}

TEST_F(MirrorTest, SeesAReasonThatIsNotTrue) {
  EXPECT_EQ(said(1, {{ReasonCode::kInsufficientGpu, 0, {1, 2000, 4000}}}), "");
  EXPECT_EQ(said(1, {{ReasonCode::kInsufficientGpu, 0, {1, 1000, 4000}}}), "job 1 is told what is not true: InsufficientGPU 1 1000 4000");
  EXPECT_EQ(said(1, {{ReasonCode::kExceedsCluster, 0, {}}}), "");
  EXPECT_NE(said(0, {{ReasonCode::kExceedsCluster, 0, {}}}), "");
  EXPECT_NE(said(0, {{ReasonCode::kInsufficientResource, 0, {1, 8000, 1000}}}), "");
  EXPECT_NE(said(0, {{ReasonCode::kTaintNotTolerated, 0, {1, 0, 0}}}), "");
  EXPECT_NE(said(0, {{ReasonCode::kQuotaExhausted, 0, {0, 0, 0}}}), "");
}

/// A play in which something goes wrong ends with the fault.
TEST(Histories, EndWithTheFaultThatACheckFinds) {
  const Story story = draw_story(1);
  int steps = 0;
  const Played played = play(story, {.after = [&](const State&, const Engine&, const Plan&) { return std::string(++steps == 3 ? "bad" : ""); }});
  EXPECT_TRUE(played.fault.ends_with(": bad")) << played.fault;
  EXPECT_EQ(played.steps.size(), 3u);
}

}  // namespace
}  // namespace ashlar::oracle
