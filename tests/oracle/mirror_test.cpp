// The checks of random histories can fail: a broken rule, a lost member and an untrue reason are each seen.
#include <gtest/gtest.h>

#include <memory>

#include "story.h"

namespace ashlar::oracle {
namespace {

/// One node of two devices; job 0 of one member of one device.
class MirrorTest : public ::testing::Test {
 protected:
  MirrorTest() {
    PlainWorld world;
    PlainNode node;
    node.devices = 2;
    node.has = {8, 64, 4, 0};
    world.nodes = {node};
    world.demands = {{.asks = {1, 0, 1, 0}, .devices = 1}, {.asks = {1, 0, 1, 0}, .devices = 4}};
    world.constraints = {{}};
    world.jobs = {{.members = {{0, 0, kNowhere, {}}}}, {.members = {{1, 0, kNowhere, {}}}}};
    mirror_ = std::make_unique<Mirror>(world);
    for (const Event& event : events_of(world)) {
      apply(state_, event);
      mirror_->tell(event);
    }
  }
  Plan plan_of(std::uint32_t job, DeviceMask devices) {
    Plan plan;
    plan.actions.push_back(Bind{MemberId(job), JobId(job), NodeId(0u), devices});
    return plan;
  }
  std::string said(std::uint32_t job, std::vector<Reason> reasons) {
    Plan plan;
    plan.verdicts.push_back({JobId(job), {VerdictKind::kWaits, WakeOn::kCapacity, Millis(0), std::move(reasons)}});
    return mirror_->carry_out(plan, {});
  }

  State state_;
  std::unique_ptr<Mirror> mirror_;
};

TEST_F(MirrorTest, SeesAPlanThatBreaksARule) {
  EXPECT_EQ(mirror_->carry_out(plan_of(0, {1, 0}), {}), "");
  EXPECT_EQ(mirror_->carry_out(plan_of(1, {1, 0}), {}),
            "job 1 member 0 on node 0, which gives not as many cards as asked");
}

TEST_F(MirrorTest, SeesWhatTheStateHasLost) {
  EXPECT_EQ(mirror_->difference(state_), "");
  EXPECT_EQ(mirror_->carry_out(plan_of(0, {1, 0}), {}), "");
  EXPECT_EQ(mirror_->difference(state_), "job 0 member 0 is not where it was put");
  apply(state_, {Millis(0), Ended{JobId(1u)}});
  apply(state_, {Millis(0), Bound{MemberId(0u), NodeId(0u), {1, 0}}});
  EXPECT_EQ(mirror_->difference(state_), "job 1 is lost");
}

TEST_F(MirrorTest, SeesAReasonThatIsNotTrue) {
  EXPECT_EQ(said(1, {{ReasonCode::kInsufficientGpu, 0, {1, 2000, 4000}}}), "");
  EXPECT_EQ(said(1, {{ReasonCode::kInsufficientGpu, 0, {1, 1000, 4000}}}),
            "job 1 has a verdict that is not true: InsufficientGPU 1 1000 4000");
  EXPECT_EQ(said(1, {{ReasonCode::kExceedsCluster, 0, {}}}), "");
  EXPECT_NE(said(0, {{ReasonCode::kExceedsCluster, 0, {}}}), "");
  EXPECT_NE(said(0, {{ReasonCode::kInsufficientResource, 0, {1, 8000, 1000}}}), "");
  EXPECT_NE(said(0, {{ReasonCode::kTaintNotTolerated, 0, {1, 0, 0}}}), "");
  EXPECT_NE(said(0, {{ReasonCode::kQuotaExhausted, 0, {0, 0, 0}}}), "");
}

/// Of the one node's two devices job 0 has both; job 1 waits for two, and job 2, which came later, for one. Job 3 asks
/// for more than there is.
class TurnsTest : public ::testing::Test {
 protected:
  TurnsTest() {
    PlainWorld world;
    PlainNode node;
    node.devices = 2;
    node.has = {8, 64, 8, 0};
    world.nodes = {node};
    world.demands = {{.asks = {1, 0, 1, 0}, .devices = 2},
                     {.asks = {1, 0, 1, 0}, .devices = 1},
                     {.asks = {1, 0, 1, 0}, .devices = 4}};
    world.constraints = {{}};
    world.queues = {{}, {0}};
    world.jobs = {
        {.members = {{0, 0, 0, {0, 1}}}}, {.members = {{0, 0, kNowhere, {}}}}, {.members = {{1, 0, kNowhere, {}}}}};
    world.jobs.push_back({.members = {{2, 0, kNowhere, {}}}, .queue = 1});
    world.jobs.push_back({.members = {{1, 0, kNowhere, {}}}, .queue = 1});
    for (PlainJob& job : world.jobs) job.min = 1;
    mirror_ = std::make_unique<Mirror>(world);
    for (const Event& event : events_of(world)) mirror_->tell(event);
  }
  bool is_true(std::uint32_t job, Reason reason, std::vector<PlainReservation> reservations = {}) {
    Plan plan;
    plan.verdicts.push_back({JobId(job), {VerdictKind::kWaits, WakeOn::kHeadOfQueue, Millis(0), {reason}}});
    return mirror_->carry_out(plan, {.reservations = std::move(reservations)}).empty();
  }

  std::unique_ptr<Mirror> mirror_;
};

TEST_F(TurnsTest, SeeWhoIsBehindNobody) {
  const Reason behind{ReasonCode::kBehindHead, 0, {1, 0, 0}};
  EXPECT_TRUE(is_true(2, behind));
  EXPECT_FALSE(is_true(1, behind)) << "job 2 waits too, but behind it";
  EXPECT_FALSE(is_true(4, behind)) << "job 1 is of another queue, and job 3 can never run";
  mirror_->tell({Millis(1), PriorityChanged{JobId(2u), 1}});
  EXPECT_FALSE(is_true(2, behind));
  EXPECT_TRUE(is_true(1, behind));
  mirror_->tell({Millis(1), Ended{JobId(0u)}});
  EXPECT_FALSE(is_true(1, behind)) << "the head has room";
}

TEST_F(TurnsTest, SeeWhoIsHeldForNobody) {
  const Reason held{ReasonCode::kReservationHeld, 0, {5000, 0, 0}};
  EXPECT_FALSE(is_true(2, held)) << "job 1 waits ahead of it, but is promised nothing";
  EXPECT_TRUE(is_true(2, held, {{1, 5000}}));
  EXPECT_FALSE(is_true(2, held, {{1, 6000}})) << "another time";
  EXPECT_FALSE(is_true(1, held, {{2, 5000}})) << "who is behind it";
  mirror_->tell({Millis(1), EstimateChanged{JobId(2u), {Millis(4000), Millis(5000)}}});
  EXPECT_FALSE(is_true(2, held, {{1, 5000}})) << "it ends by then";
}

/// A code that nobody judges is counted.
TEST_F(TurnsTest, CountWhatIsLetPass) {
  EXPECT_TRUE(is_true(2, {ReasonCode::kNominatedElsewhere, 0, {1, 0, 0}}));
  EXPECT_EQ(mirror_->heard().passed, (std::map<ReasonCode, long>{{ReasonCode::kNominatedElsewhere, 1}}));
}

/// A play in which something goes wrong ends with the fault.
TEST(Histories, EndWithTheFaultThatACheckFinds) {
  const Story story = draw_story(1);
  int steps = 0;
  const Played played =
      play(story,
           {.after = [&](const State&, const Engine&, const Plan&) { return std::string(++steps == 3 ? "bad" : ""); }});
  EXPECT_TRUE(played.fault.ends_with(": bad")) << played.fault;
  EXPECT_EQ(played.steps.size(), 3u);
}

}  // namespace
}  // namespace ashlar::oracle
