// Many pods whose claims may take any of many volumes: how much of them is looked at between two decisions, and whose
// turn it is.
#include "live/track/volumes/evaluation_turns.h"

#include <gtest/gtest.h>

#include "volume_bench.h"

namespace ashlar::kube {
namespace {

TEST(EvaluationTurns, NamespacesComeInTurnAndPodsOfOneInOrder) {
  EvaluationTurns turns;
  const PooledString a("a"), b("b"), c("c");
  for (const PodSlot slot : {1u, 2u, 3u}) turns.add(a, slot);
  turns.add(b, 4u);
  turns.add(a, 2u);  // it is there already
  std::vector<PodSlot> order;
  for (int i = 0; i < 3; ++i) order.push_back(turns.take());
  turns.add(c, 5u);
  turns.add(a, 1u);
  while (!turns.is_empty()) order.push_back(turns.take());
  EXPECT_EQ(order, (std::vector<PodSlot>{1, 4, 2, 3, 5, 1}));
}

/// A slot that was given back is another pod's, perhaps of another namespace.
TEST(EvaluationTurns, OfAPodThatIsGoneAreNotThoseOfTheNextInItsSlot) {
  EvaluationTurns turns;
  const PooledString a("a"), b("b");
  for (const PodSlot slot : {1u, 2u, 3u}) turns.add(a, slot);
  turns.forget(1u);
  turns.forget(2u);
  turns.add(b, 2u);
  turns.add(a, 4u);
  std::vector<PodSlot> order;
  while (!turns.is_empty()) order.push_back(turns.take());
  EXPECT_EQ(order, (std::vector<PodSlot>{3, 2, 4}));
  turns.add(a, 1u);
  turns.forget(1u);
  EXPECT_TRUE(turns.is_empty());
  turns.add(a, 5u);
  EXPECT_EQ(turns.take(), 5u);
}

constexpr int kVolumes = 3000, kPods = 20;

class ManyVolumes : public VolumeBench {
 protected:
  ManyVolumes() {
    for (const char* host : {"n0", "n1"}) see(node(host, 8, {{"kubernetes.io/hostname", host}}));
    see(storage_class("late", "kubernetes.io/no-provisioner"));
    for (int i = 0; i < kVolumes; ++i)
      see(at(volume("v" + std::to_string(i), "late", 10 + i % 50), "kubernetes.io/hostname", {"n1"}));
    step();
  }
  /// Two claims that no other pod's are like, and that any volume will do for.
  Pod asks_for_two(int number, int gpus = 0) {
    const std::string name = "p" + std::to_string(number);
    for (const char* which : {"a", "b"}) {
      PersistentVolumeClaim c = claim(name + which);
      c.request = 1 + 2 * number + (*which == 'b' ? 1 : 0);
      see(c);
    }
    return user(name, {name + "a", name + "b"}, gpus);
  }
  bool is_looked_at(const std::string& name) { return record(name).volume_hold == HoldReason::kNone; }
  int looked_at() {
    int count = 0;
    for (int i = 0; i < kPods; ++i) count += is_looked_at("p" + std::to_string(i)) ? 1 : 0;
    return count;
  }
};

TEST_F(ManyVolumes, AreLookedAtForAFewPodsAtATimeAndEachHasItsTurn) {
  for (int i = 0; i < kPods; ++i) see(asks_for_two(i));
  EXPECT_LE(looked_at(), 3) << "the others wait, and are not placed meanwhile";
  int before = 0, turns = 0;
  for (; tracker.has_unsettled() && turns < 2 * kPods; ++turns) {
    step();
    EXPECT_LE(looked_at() - before, 5);
    before = looked_at();
  }
  EXPECT_EQ(looked_at(), kPods);
  EXPECT_GE(turns, kPods / 5 - 1);
  for (int i = 0; i < kPods; ++i) EXPECT_EQ(where("p" + std::to_string(i)), "n1");
}

TEST_F(ManyVolumes, OfOneNamespaceKeepNoOtherOneWaiting) {
  for (int i = 0; i < kPods; ++i) see(asks_for_two(i));
  PersistentVolumeClaim theirs = claim("data");
  theirs.ns = "other";
  see(theirs);
  Pod pod = user("q", {"data"});
  pod.ns = "other";
  pod.uid = "uid-q";
  see(pod);
  for (int turn = 0; turn < 2; ++turn) step();
  EXPECT_LT(looked_at(), kPods);
  const PodSlot slot = tracker.pods().find(PooledString("other"), PooledString("q"));
  ASSERT_NE(slot, kNoPod);
  EXPECT_EQ(tracker.pods()[slot].volume_hold, HoldReason::kNone);
}

/// A change of the class concerns all of them: they keep what is known of them until their turn.
TEST_F(ManyVolumes, ThatChangeAreComparedWithWaitingPodsAFewAtATime) {
  for (int i = 0; i < kPods; ++i) see(asks_for_two(i, 9));
  for (int turn = 0; tracker.has_unsettled() && turn < 3 * kPods; ++turn) step();
  ASSERT_EQ(looked_at(), kPods);
  see(at(volume("new", "late", 99), "kubernetes.io/hostname", {"n0"}));
  int turns = 0;
  for (; tracker.has_unsettled() && turns < 3 * kPods; ++turns) {
    step();
    see(user("p0", {"p0a", "p0b"}, 9));  // an update meanwhile
    EXPECT_EQ(looked_at(), kPods);
    EXPECT_EQ(record("p0").phase, PodRecord::Phase::kWaiting);
  }
  EXPECT_GE(turns, kPods / 4);
  EXPECT_LT(turns, 3 * kPods);
}

/// Single claims of as many requests: these are compared with the volumes, a few at a time.
TEST_F(ManyVolumes, ThatChangeAreComparedWithAFewRequestsAtATime) {
  const auto name = [](int i) { return "q" + std::to_string(i); };
  for (int i = 0; i < kPods; ++i) {
    PersistentVolumeClaim c = claim(name(i));
    c.request = 1 + i;
    see(c);
    see(user(name(i), {name(i)}, 9));
  }
  for (int turn = 0; tracker.has_unsettled() && turn < 3 * kPods; ++turn) step();
  std::vector<std::uint64_t> before;
  for (int i = 0; i < kPods; ++i) before.push_back(record(name(i)).volume_terms->hash);
  see(at(volume("new", "late", 99), "kubernetes.io/hostname", {"n0"}));
  int turns = 0;
  for (; tracker.has_unsettled() && turns < 3 * kPods; ++turns) {
    const std::uint64_t made = tracker.late_choices_made();
    step();
    EXPECT_LE(tracker.late_choices_made() - made, 6u) << "two for each request";
  }
  EXPECT_GE(turns, kPods / 3);
  EXPECT_LT(turns, 3 * kPods);
  for (int i = 0; i < kPods; ++i) EXPECT_NE(record(name(i)).volume_terms->hash, before[i]) << i;
}

TEST_F(ManyVolumes, KeepWhatAPodThatIsUpdatedMeanwhileAttaches) {
  see(csi_node("n1", "d", 3));
  see(of_driver(volume("mine"), "d"));
  see(bound_claim("mine", "mine"));
  see(user("r", {"mine"}, 9));
  step();
  const DemandId demand = record("r").demand;
  for (int i = 0; i < kPods; ++i) see(asks_for_two(i, 9));
  see(user("r", {"mine"}, 9));
  EXPECT_EQ(record("r").demand, demand);
}

TEST_F(ManyVolumes, OfMembersOfAGangAreLookedAtInTurnToo) {
  for (int i = 0; i < kPods; ++i) {
    Pod of_gang = gang_pod("g", i, kPods + 1, 0);
    of_gang.volumes = asks_for_two(i).volumes;
    see(of_gang);
  }
  int count = 0;
  for (int i = 0; i < kPods; ++i) count += is_looked_at("g-" + std::to_string(i)) ? 1 : 0;
  EXPECT_LE(count, 3);
}

}  // namespace
}  // namespace ashlar::kube
