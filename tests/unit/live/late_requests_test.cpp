// Claims that wait for their first consumer and differ in one thing from others: which volumes will do for them, and
// where new ones may be made.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "volume_bench.h"

namespace ashlar::kube {
namespace {

constexpr const char* kHostLabel = "kubernetes.io/hostname";
constexpr const char* kNothingMade = "kubernetes.io/no-provisioner";

class LateRequests : public VolumeBench {
 protected:
  LateRequests() {
    is_answering = false;
    for (const char* name : {"n0", "n1", "n2"}) see(node(name, 8, {{kHostLabel, name}}));
  }
  /// Its volumes are known to the tracker, but no node has as many GPUs.
  void see_large(const std::string& name, const std::string& of_claim) { see(user(name, {of_claim}, 9)); }
};

TEST_F(LateRequests, ClaimsThatDifferInOneThingGetVolumesOfTheirOwnKind) {
  struct Difference {
    std::string what;
    std::function<void(PersistentVolumeClaim&)> of_claim;
    std::function<void(PersistentVolume&)> of_volume;
  };
  const std::vector<Difference> differences{
      {"selector",
       [](PersistentVolumeClaim& c) {
         c.selector = {.present = true, .match_labels = {{"speed", "fast"}}, .expressions = {}};
       },
       [](PersistentVolume& v) {
         v.labels = {{"speed", "fast"}};
       }},
      {"access-mode", [](PersistentVolumeClaim& c) { c.access_modes = {"ReadOnlyMany"}; },
       [](PersistentVolume& v) { v.access_modes = {"ReadOnlyMany"}; }},
      {"mode", [](PersistentVolumeClaim& c) { c.volume_mode = "Block"; },
       [](PersistentVolume& v) { v.volume_mode = "Block"; }},
      {"attributes", [](PersistentVolumeClaim& c) { c.attributes_class = "gold"; },
       [](PersistentVolume& v) { v.attributes_class = "gold"; }},
      {"size", [](PersistentVolumeClaim& c) { c.request = 5 * kGiB; },
       [](PersistentVolume& v) { v.capacity = 5 * kGiB; }}};
  for (const Difference& one : differences) {
    see(storage_class(one.what, kNothingMade));
    see(at(volume("plain-" + one.what, one.what), kHostLabel, {"n0"}));
    PersistentVolume special = at(volume("special-" + one.what, one.what), kHostLabel, {"n1"});
    one.of_volume(special);
    see(special);
    see(claim("plain-" + one.what, one.what));
    see_large("plain-" + one.what, "plain-" + one.what);
    PersistentVolumeClaim its = claim("special-" + one.what, one.what);
    one.of_claim(its);
    see(its);
    see(user("special-" + one.what, {"special-" + one.what}));
    step();
    EXPECT_EQ(where("special-" + one.what), "n1") << one.what;
  }
}

TEST_F(LateRequests, AVolumeMustHaveAllAccessModesOfTheClaim) {
  see(storage_class("late", kNothingMade));
  see(at(volume("one"), kHostLabel, {"n0"}));
  PersistentVolume both = at(volume("both"), kHostLabel, {"n1"});
  both.access_modes = {"ReadOnlyMany", "ReadWriteOnce"};
  see(both);
  PersistentVolumeClaim c = claim("data");
  c.access_modes = {"ReadWriteOnce", "ReadOnlyMany"};
  see(c);
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(where("p"), "n1");
}

TEST_F(LateRequests, AVolumeThatCannotBeReadOrIsOfAnotherAttributesClassWillNotDo) {
  see(storage_class("late", kNothingMade));
  PersistentVolume unreadable = at(volume("unreadable"), kHostLabel, {"n0"});
  unreadable.problem = "spec.nodeAffinity has more than 4096 terms and values";
  see(unreadable);
  PersistentVolume gold = at(volume("gold"), kHostLabel, {"n1"});
  gold.attributes_class = "gold";
  see(gold);
  see(claim("data"));
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(where("p"), "");
  see(at(volume("right"), kHostLabel, {"n2"}));
  step();
  EXPECT_EQ(where("p"), "n2");
}

TEST_F(LateRequests, AVolumeGivenToAClaimOfThatNameInAnotherNamespaceIsTaken) {
  see(storage_class("late", kNothingMade));
  PersistentVolume v = at(volume("v"), kHostLabel, {"n0"});
  see(v);
  see(claim("data"));
  see_large("large", "data");
  v.has_claim = true;
  v.claim_ns = "other";
  v.claim_name = "data";
  see(v);
  see(user("p", {"data"}));
  step();
  EXPECT_EQ(where("p"), "");
  v.claim_ns = "ns";
  see(v);
  step();
  EXPECT_EQ(where("p"), "n0") << "now it is the claim's";
}

TEST_F(LateRequests, CapacitiesCountOnlyWhereTheDriverTellsThem) {
  see(storage_class("late", "d"));
  CsiDriver driver;
  driver.name = "d";
  see(driver);
  see(capacity("late", "n2", 1));
  see(claim("data", "late", 5));
  see(user("p", {"data"}));
  step();
  EXPECT_NE(where("p"), "") << "it says that it does not";
}

TEST_F(LateRequests, ACapacityIsOfTheNodesThatItsSelectorMeans) {
  see(storage_class("late", "d"));
  see(driver_with_capacities("d"));
  CsiStorageCapacity of_nothing = capacity("late", "n0", 9), nowhere = capacity("late", "", 9),
                     by_expression = capacity("late", "n1", 9);
  of_nothing.largest_volume.reset();
  nowhere.topology = {};
  by_expression.topology = {.present = true,
                            .match_labels = {},
                            .expressions = {{.key = kHostLabel, .op = SelectorOp::kIn, .values = {"n1"}}}};
  for (const CsiStorageCapacity& one : {of_nothing, nowhere}) see(one);
  for (const char* name : {"a", "b"}) {
    see(claim(name));
    see(user(name, {name}, 8));
  }
  step();
  EXPECT_EQ(where("a") + where("b"), "") << "one reports no size, the other means no node";
  see(by_expression);
  step();
  EXPECT_EQ(where("a") + where("b"), "n1") << "one has its GPUs, the other one waits for them";
}

TEST_F(LateRequests, BesideAVolumeForOneOfTwoClaimsANewOneNeedsCapacityThere) {
  see(storage_class("late", "d"));
  see(driver_with_capacities("d"));
  see(capacity("late", "n1", 9));
  for (const char* host : {"n0", "n1", "n2"}) see(at(volume(std::string("v-") + host), kHostLabel, {host}));
  for (const char* name : {"one", "two"}) see(claim(name));
  see(user("p", {"one", "two"}));
  step();
  EXPECT_EQ(where("p"), "n1");
}

TEST_F(LateRequests, BesideAVolumeForOneOfTwoClaimsTheClassMustAllowANewOneThere) {
  StorageClass c = storage_class("late", "d");
  c.allowed_topologies = {
      {.expressions = {{.key = kHostLabel, .op = SelectorOp::kIn, .values = {"n2"}}}, .fields = {}}};
  see(c);
  for (const char* host : {"n0", "n1", "n2"}) see(at(volume(std::string("v-") + host), kHostLabel, {host}));
  for (const char* name : {"one", "two"}) see(claim(name));
  see(user("p", {"one", "two"}));
  step();
  EXPECT_EQ(where("p"), "n2");
}

}  // namespace
}  // namespace ashlar::kube
