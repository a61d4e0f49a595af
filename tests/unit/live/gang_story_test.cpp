// Stories of gangs: when the engine hears of them, as what, and which pods get a condition that says why they wait.
#include "tracker_story.h"

namespace ashlar::kube {
namespace {

constexpr Millis kPatience{5'000};  ///< before the members of an incomplete gang get a condition

class GangStory : public TrackerStory {
 protected:
  static PodGroup group(int min_count) { return ClusterObjects::group("g", min_count); }
  static Pod of_group(int index) { return member("g", index, 1); }
};

TEST_F(GangStory, ByLabelsFromItsFirstPodToItsLast) {
  see(node("n0", 8));
  told("a node");
  Pod first = with(gang_pod("g", 0, 2, 1), "ashlar.dev/prefer", "rack");
  first.priority = 3;
  see(first);
  told("one pod");
  EXPECT_EQ(tracker.tick(time + Millis(1)), time + kPatience);
  told("a moment later");
  time += kPatience;
  EXPECT_EQ(tracker.tick(time), Millis::max());
  told("its patience is over");
  Pod second = with(gang_pod("g", 1, 2, 1), "ashlar.dev/duration", "60s");
  second.priority = 4;
  see(second);
  told("the second");
  see(gang_pod("g", 2, 2, 1));
  told("a third");
  see(with(gang_pod("g", 1, 2, 1), "ashlar.dev/duration", "2m"));
  told("the second lasts longer and matters less");
  assume("g-0", 0);
  assume("g-1", 0, {2, 0});
  told("two are placed");
  confirm("g-0", "n0");
  confirm("g-1", "n0", {2, 0});
  told("and bound");
  gone(gang_pod("g", 0, 2, 1));
  told("the first is gone");
  see(gang_pod("g", 3, 2, 1));
  told("another comes for it");
  for (int i = 1; i < 4; ++i) gone(gang_pod("g", i, 2, 1));
  told("all are gone");
  see(gang_pod("g", 0, 2, 1));
  see(gang_pod("g", 1, 2, 1));
  told("a new gang of that name");
  EXPECT_EQ(take_story(), R"(
a node
  node 0: cards 8, domains - -
one pod
  demand 0: cards 1
  constraint 0
a moment later
its patience is over
  to report: g-0
the second
  job 0: queue 3, priority 4, at least 2, within -, prefer 1, since 1005000, lasts 60000, [0 demand 0 constraint 0] [1 demand 0 constraint 0]
a third
  job 0: at least 2, more: [2 demand 0 constraint 0]
the second lasts longer and matters less
  job 0 lasts 120000
  job 0: priority 3
two are placed
and bound
  member 0 on node 0, cards 0
  member 1 on node 0, cards 1
the first is gone
  member 0 gone
  job 0: priority 0
  job 0: at least 0
another comes for it
  job 0: at least 0, more: [0 demand 0 constraint 0]
all are gone
  member 1 gone
  member 2 gone
  member 0 gone
  job 0 ended
a new gang of that name
  demand 0 given back
  constraint 0
  demand 0: cards 1
  constraint 0
  job 0: queue 3, priority 0, at least 2, within -, prefer -, since 1005000, lasts unknown, [0 demand 0 constraint 0] [1 demand 0 constraint 0]
)");
}

TEST_F(GangStory, OfAPodGroupThatChanges) {
  see(of_group(0));
  told("a pod");
  see(group(2));
  told("its group");
  see(of_group(1));
  told("a second pod");
  see(group(3));
  told("three must start together");
  see(of_group(2));
  told("a third pod");
  see(group(1));
  told("one is enough");
  PodGroup urgent = group(1);
  urgent.priority_class = PooledString("high");
  see(urgent);
  told("of a class that there is not");
  PriorityClass high;
  high.name = PooledString("high");
  high.value = 9;
  see(high);
  told("the class");
  urgent.priority = 11;
  see(urgent);
  told("a priority of its own");
  see(group(0));
  told("no gang at all");
  tracker.note_pod_groups("no rights");
  told("groups cannot be read");
  gone(group(0));
  told("the group is gone");
  tracker.note_pod_groups("no rights");
  tracker.note_pod_groups("");
  told("groups can be read");
  see(group(3));
  told("a new group");
  EXPECT_EQ(take_story(), R"(
a pod
  demand 0: cards 1
  constraint 0
its group
a second pod
  job 0: queue 3, priority 0, at least 2, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0] [1 demand 0 constraint 0]
three must start together
  member 0 gone
  member 1 gone
  job 0 ended
a third pod
  job 0: queue 3, priority 0, at least 3, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0] [1 demand 0 constraint 0] [2 demand 0 constraint 0]
one is enough
  job 0: at least 1
of a class that there is not
the class
  job 0: priority 9
a priority of its own
  job 0: priority 11
no gang at all
  job 0: priority 0
  job 0: at least 0
groups cannot be read
the group is gone
  member 0 gone
  member 1 gone
  member 2 gone
  job 0 ended
groups can be read
a new group
  job 0: queue 3, priority 0, at least 3, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0] [1 demand 0 constraint 0] [2 demand 0 constraint 0]
)");
}

TEST_F(GangStory, OfLevelsThatNodesBring) {
  see(node("n0", 8, {{PooledString("l/rack"), PooledString("r")}}));
  told("a node");
  for (int i = 0; i < 2; ++i) see(with(gang_pod("g", i, 2, 1), "ashlar.dev/within", "l/zone"));
  told("a gang within a zone");
  see(node("n1", 8, {{PooledString("l/zone"), PooledString("z")}}));
  told("a node of a zone");
  for (int i = 0; i < 2; ++i) see(with(gang_pod("g", i, 2, 1), "ashlar.dev/within", "rack"));
  told("within a rack instead");
  see(with(gang_pod("g", 1, 2, 1), "ashlar.dev/within", "block"));
  told("they disagree");
  see(with(gang_pod("g", 1, 2, 1), "ashlar.dev/within", "l/rack"));
  told("they agree in other words");
  see(node("n0", 8, {{PooledString("l/rack"), PooledString("other")}}));
  told("the node moves");
  EXPECT_EQ(take_story(), R"(
a node
  node 0: cards 8, domains - 0
a gang within a zone
  demand 0: cards 1
  constraint 0
  to report: g-0 g-1
a node of a zone
  node 1: cards 8, domains - -
  levels 2+1
  node 1: cards 8, domains - - 0
  job 0: queue 3, priority 0, at least 2, within 2, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0] [1 demand 0 constraint 0]
within a rack instead
  member 0 gone
  member 1 gone
  job 0 ended
  job 1: queue 3, priority 0, at least 2, within 1, prefer -, since 1000000, lasts unknown, [2 demand 0 constraint 0] [3 demand 0 constraint 0]
they disagree
  member 2 gone
  member 3 gone
  job 1 ended
they agree in other words
  job 0: queue 3, priority 0, at least 2, within 1, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0] [1 demand 0 constraint 0]
the node moves
  node 0: cards 8, domains - 1 -
)");
}

TEST_F(GangStory, OfQueuesSizesAndSchedulersThatDiffer) {
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 1));
  told("a gang");
  see(with(gang_pod("g", 1, 2, 1), "ashlar.dev/queue", "team"));
  told("one goes to team");
  see(with(gang_pod("g", 0, 2, 1), "ashlar.dev/queue", "team"));
  told("the other too");
  see(gang_pod("g", 2, 3, 1));
  told("one that says three");
  gone(gang_pod("g", 2, 3, 1));
  told("it is gone");
  see(with(gang_pod("g", 1, 2, 1), "ashlar.dev/queue", "nowhere"));
  told("one goes nowhere");
  time += kPatience;
  tracker.tick(time);
  told("later");
  EXPECT_EQ(take_story(), R"(
a gang
  demand 0: cards 1
  constraint 0
  job 0: queue 3, priority 0, at least 2, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0] [1 demand 0 constraint 0]
one goes to team
  member 0 gone
  member 1 gone
  job 0 ended
the other too
  job 0: queue 1, priority 0, at least 2, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0] [1 demand 0 constraint 0]
one that says three
  member 0 gone
  member 1 gone
  job 0 ended
it is gone
  job 0: queue 1, priority 0, at least 2, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0] [1 demand 0 constraint 0]
one goes nowhere
  member 1 gone
  member 0 gone
  job 0 ended
  to report: g-1
later
  to report: g-0
)");
}

TEST_F(GangStory, OfABindingThatFails) {
  see(node("n0", 8));
  for (int i = 0; i < 3; ++i) see(gang_pod("g", i, 3, 1));
  told("a gang");
  for (int i = 0; i < 3; ++i) assume("g-" + std::to_string(i), 0, {1ull << i, 0});
  confirm("g-0", "n0");
  told("placed, and one bound");
  const BindHold hold = tracker.note_bind_failed(slot_of("g-1"), "no");
  EXPECT_EQ(hold.times, 1);
  told("one is refused");
  EXPECT_EQ(tracker.note_bind_failed(slot_of("g-2"), "no").number, 0u) << "they are held together already";
  see(gang_pod("g", 1, 3, 1));
  told("seen as it was");
  tracker.end_bind_hold(hold);
  told("its time is over");
  tracker.end_bind_hold(hold);
  told("once more");
  EXPECT_EQ(take_story(), R"(
a gang
  node 0: cards 8, domains - -
  demand 0: cards 1
  constraint 0
  job 0: queue 3, priority 0, at least 3, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0] [1 demand 0 constraint 0] [2 demand 0 constraint 0]
placed, and one bound
  member 0 on node 0, cards 0
one is refused
  member 1 rejected
  member 2 rejected
  member 1 gone
  member 2 gone
  to report: g-1 g-2
seen as it was
  to report: g-1 g-2
its time is over
  job 0: at least 3, more: [1 demand 0 constraint 0] [2 demand 0 constraint 0]
once more
)");
}

}  // namespace
}  // namespace ashlar::kube
