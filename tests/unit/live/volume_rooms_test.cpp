// Gangs whose members each need a volume, on nodes that have fewer volumes than members would fit there.
#include "live/track/volumes/volume_rooms.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "volume_bench.h"

namespace ashlar::kube {
namespace {

constexpr const char* kHost = "kubernetes.io/hostname";
constexpr const char* kNothingMadeHere = "kubernetes.io/no-provisioner";

class VolumeRoomsTest : public VolumeBench {
 protected:
  VolumeRoomsTest() { is_answering = false; }

  static std::string name(const std::string& letter, int number) { return letter + std::to_string(number); }
  void hosts(int count, std::int64_t gpus = 8) {
    for (int i = 0; i < count; ++i) see(node(name("n", i), gpus, {{kHost, name("n", i)}}));
    see(storage_class("late", kNothingMadeHere));
  }
  void volumes(int node, int count, std::int64_t gib = 1, const std::string& of_class = "late") {
    for (int v = 0; v < count; ++v)
      see(at(volume(of_class + "-" + name("n", node) + "-" + std::to_string(v), of_class, gib), kHost,
             {name("n", node)}));
  }
  void member(const std::string& gang, int index, int size, std::int64_t gib = 1,
              const std::string& of_class = "late") {
    const std::string of = gang + "-" + std::to_string(index);
    see(claim("c-" + of, of_class, gib));
    Pod p = gang_pod(gang, index, size, 1);
    p.volumes = user("x", {"c-" + of}).volumes;
    see(p);
  }
  void gang(const std::string& of, int size, std::int64_t gib = 1, const std::string& of_class = "late") {
    for (int i = 0; i < size; ++i) member(of, i, size, gib, of_class);
  }
  /// Decides until nothing is placed any more; places without volumes are given back at once, as Commit does. A gang
  /// whose members are given a problem is never decided again here. Returns the decisions that placed.
  int decide() {
    int decisions = 0;
    for (; decisions < 50; ++decisions) {
      step();
      if (plan.actions.empty()) return decisions;
      for (const Action& action : plan.actions) {
        const PodSlot of = tracker.pods().of_member(std::get<Bind>(action).member);
        if (of == kNoPod || tracker.pods()[of].phase != PodRecord::Phase::kAssumed) continue;
        const ChosenVolumes* chosen = tracker.chosen_volumes(of);
        const bool has_problem = chosen != nullptr && !chosen->problem.empty();
        problems += has_problem ? 1 : 0;
        if (has_problem || tracker.is_place_outdated(of, nullptr)) tracker.choose_anew(of);
      }
    }
    return decisions;
  }
  std::map<std::string, int> places(const std::string& gang, int size) {
    std::map<std::string, int> count;
    for (int i = 0; i < size; ++i) ++count[where(gang + "-" + std::to_string(i))];
    return count;
  }
  /// The member gets its volume and is bound where it was placed.
  void bind(const std::string& gang, int index, int size) {
    const std::string of = gang + "-" + std::to_string(index), at_node = where(of);
    const ChosenVolumes* chosen = tracker.chosen_volumes(slot(of));
    ASSERT_NE(chosen, nullptr);
    PersistentVolume taken = chosen->items.at(0).volume;
    taken.has_claim = true;
    taken.claim_ns = "ns";
    taken.claim_name = PooledString("c-" + of);
    see(taken);
    see(bound_claim("c-" + of, taken.name.str()));
    Pod p = gang_pod(gang, index, size, 1);
    p.volumes = user("x", {"c-" + of}).volumes;
    see(on(p, at_node));
  }
  PodSlot slot(const std::string& of) const { return tracker.pods().find("ns", PooledString(of)); }
  using Places = std::map<std::string, int>;

  int problems = 0;  ///< members that were to try the same again later
};

TEST_F(VolumeRoomsTest, AGangGoesWhereEachMemberHasAVolume) {
  hosts(4);
  for (int n = 0; n < 4; ++n) volumes(n, 1);
  gang("g", 4);
  EXPECT_LE(decide(), 2);
  EXPECT_EQ(places("g", 4), (Places{{"n0", 1}, {"n1", 1}, {"n2", 1}, {"n3", 1}}));
  EXPECT_EQ(problems, 0);
}

TEST_F(VolumeRoomsTest, MembersShareANodeAsFarAsItsVolumesGo) {
  hosts(3);
  volumes(0, 1);
  volumes(1, 2);
  volumes(2, 3);
  gang("g", 6);
  EXPECT_LE(decide(), 2);
  EXPECT_EQ(places("g", 6), (Places{{"n0", 1}, {"n1", 2}, {"n2", 3}}));
}

TEST_F(VolumeRoomsTest, AGangThatFindsTooFewVolumesWaitsAndIsToldWhich) {
  hosts(2);
  volumes(0, 1);
  volumes(1, 1);
  gang("g", 3);
  EXPECT_LE(decide(), 1) << "not again and again";
  EXPECT_EQ(places("g", 3), (Places{{"", 3}}));
  const std::string message = verdict_of("g-0").message;
  EXPECT_NE(message.find("volumes (class \"late\", at least 1 GiB, ReadWriteOnce)"), std::string::npos) << message;
  EXPECT_EQ(message.find("volumes left"), std::string::npos) << "the name of the resource: " << message;
  see(at(volume("more"), kHost, {"n1"}));
  EXPECT_EQ(decide(), 1);
  EXPECT_EQ(places("g", 3), (Places{{"n0", 1}, {"n1", 2}}));
  EXPECT_EQ(problems, 0);
}

TEST_F(VolumeRoomsTest, APodWithALargerClaimTakesAVolumeOfASmallerOne) {
  hosts(2);
  volumes(0, 1, 5);
  see(at(volume("small"), kHost, {"n1"}));
  member("g", 0, 2, 1);
  member("g", 1, 2, 5);
  EXPECT_LE(decide(), 3);
  EXPECT_EQ(where("g-0"), "n1");
  EXPECT_EQ(where("g-1"), "n0") << "the only one that is large enough";
}

TEST_F(VolumeRoomsTest, VolumesThatAreTakenOrBoundAreNotLeft) {
  hosts(3);
  for (int n = 0; n < 2; ++n) volumes(n, 2);
  gang("g", 3);
  decide();
  ASSERT_EQ(places("g", 3)[""], 0);
  gang("h", 2);
  EXPECT_LE(decide(), 1);
  EXPECT_EQ(places("h", 2), (Places{{"", 2}})) << "one volume is left";
  for (int i = 0; i < 3; ++i) bind("g", i, 3);
  EXPECT_EQ(decide(), 0);
  see(at(volume("more"), kHost, {"n2"}));
  EXPECT_EQ(decide(), 1);
  EXPECT_EQ(places("h", 2)[""], 0);
  EXPECT_EQ(where("h-0") == "n2" || where("h-1") == "n2", true);
}

TEST_F(VolumeRoomsTest, AMemberThatIsBoundLeavesTheOthersTheirPlaces) {
  hosts(2);
  volumes(0, 1);
  volumes(1, 3);
  gang("g", 4);
  decide();
  ASSERT_EQ(places("g", 4)[""], 0);
  const int of_node_1 = where("g-0") == "n0" ? 1 : 0;
  bind("g", of_node_1, 4);
  step();
  for (int i = 0; i < 4; ++i) {
    if (i == of_node_1) continue;
    EXPECT_FALSE(tracker.is_place_outdated(slot("g-" + std::to_string(i)), nullptr)) << i;
    EXPECT_NE(where("g-" + std::to_string(i)), "");
  }
}

TEST_F(VolumeRoomsTest, APodAloneTakesOfTheSameVolumes) {
  hosts(2);
  for (int n = 0; n < 2; ++n) volumes(n, 2);
  gang("g", 3);
  decide();
  ASSERT_EQ(places("g", 3)[""], 0);
  for (const char* lone : {"l", "m"}) {
    see(claim(std::string("c-") + lone, "late"));
    see(user(lone, {std::string("c-") + lone}));
  }
  decide();
  EXPECT_EQ(where("l").empty() + where("m").empty(), 1) << "one volume is left";
  volumes(1, 3);
  decide();
  EXPECT_EQ(where("l").empty() + where("m").empty(), 0);
  EXPECT_EQ(problems, 0);
}

TEST_F(VolumeRoomsTest, ANodeWithANewLabelHasItsVolumes) {
  hosts(1);
  volumes(0, 1);
  see(node("n1", 8));
  volumes(1, 1);
  gang("g", 2);
  EXPECT_LE(decide(), 1);
  ASSERT_EQ(places("g", 2), (Places{{"", 2}}));
  see(node("n1", 8, {{kHost, "n1"}}));
  EXPECT_LE(decide(), 1);
  EXPECT_EQ(places("g", 2), (Places{{"n0", 1}, {"n1", 1}}));
}

TEST_F(VolumeRoomsTest, RequestsBeyondTheLimitTakeThePlaceOfOneThatNobodyNeeds) {
  hosts(2, 64);
  const auto of = [](int i) { return name("class", i); };
  for (int i = 0; i < 9; ++i) {
    see(storage_class(of(i), kNothingMadeHere));
    for (int n = 0; n < 2; ++n) volumes(n, 1, 1, of(i));
    gang(name("g", i), 3, 1, of(i));
  }
  decide();
  const auto resource = [&](int i) {
    return tracker.names().find_resource(PooledString("volumes left " + std::to_string(i)));
  };
  EXPECT_FALSE(resource(7).is_none());
  EXPECT_TRUE(resource(8).is_none()) << "at most 8";
  EXPECT_GT(problems, 0) << "the ninth is tried again later, as ever";
  for (int i = 0; i < 3; ++i) gone(gang_pod("g0", i, 3, 1));
  step();
  problems = 0;
  for (int i = 0; i < 9; ++i)
    if (i != 0) volumes(0, 3, 1, of(i));
  decide();
  for (int i = 1; i < 9; ++i) EXPECT_EQ(places(name("g", i), 3)[""], 0) << i;
}

TEST_F(VolumeRoomsTest, WhereNewVolumesAreMadeThereIsRoomForAll) {
  hosts(2);
  see(storage_class("late", "d"));
  see(driver_with_capacities("d"));
  see(capacity("late", "n1", 100));
  volumes(0, 1);
  gang("g", 4);
  EXPECT_LE(decide(), 2);
  EXPECT_EQ(places("g", 4)[""], 0);
  EXPECT_LE(places("g", 4)["n0"], 1);
}

TEST_F(VolumeRoomsTest, OfVolumesThatSeveralNodesShareNothingIsCounted) {
  hosts(2);
  see(at(volume("shared"), kHost, {"n0", "n1"}));
  gang("g", 2);
  step();
  EXPECT_TRUE(tracker.names().find_resource("volumes left 0").is_none());
}

}  // namespace
}  // namespace ashlar::kube
