// What drivers attach to a node changes with the volumes of each pod there: places that are chosen stay unless it is
// too little.
#include <gtest/gtest.h>

#include <string>

#include "volume_bench.h"

namespace ashlar::kube {
namespace {

class AttachedVolumes : public VolumeBench {
 protected:
  AttachedVolumes() {
    is_answering = false;
    see(node("n", 8));
    see(csi_node("n", "d", 4));
    for (const char* name : {"v", "w"}) {
      see(of_driver(volume(name), "d"));
      see(bound_claim(name, name));
    }
    see(attachment("v", "d", "n"));
    see(user_there());
    see(user("p", {"w"}));
    step();
  }
  static Pod user_there() { return on(user("q", {"v"}), "n"); }
  bool is_outdated() {
    return tracker.is_place_outdated(tracker.pods().find(PooledString("ns"), PooledString("p")), &state);
  }
};

TEST_F(AttachedVolumes, APlaceStaysWhereVolumesOfOthersAreDetached) {
  ASSERT_EQ(where("p"), "n");
  step();
  EXPECT_FALSE(is_outdated()) << "its own volume";
  gone(user_there());
  step();
  EXPECT_FALSE(is_outdated()) << "v is attached still, and no pod has it";
  EXPECT_EQ(where("p"), "n");
}

TEST_F(AttachedVolumes, APlaceIsLostWhereTheDriverAttachesFewerNow) {
  ASSERT_EQ(where("p"), "n");
  see(csi_node("n", "d", 1));
  step();
  EXPECT_TRUE(is_outdated());
}

TEST_F(AttachedVolumes, APlaceIsLostWhereTheNodeChangesToo) {
  ASSERT_EQ(where("p"), "n");
  Node smaller = node("n", 8);
  smaller.allocatable.memory = Bytes(std::int64_t{1} << 30);
  see(smaller);
  step();
  EXPECT_TRUE(is_outdated());
}

TEST_F(AttachedVolumes, TheFirstLimitOfADriverCostsNoPlaceElsewhere) {
  ASSERT_EQ(where("p"), "n");
  see(csi_node("m", "other", 1));
  see(node("m", 8));
  step();
  see(of_driver(volume("x"), "other"));
  see(bound_claim("x", "x"));
  see(user("r", {"x"}, 8));
  step();
  EXPECT_FALSE(is_outdated());
}

}  // namespace
}  // namespace ashlar::kube
