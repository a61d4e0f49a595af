// Stories of single pods: every event that the engine hears, in order.
#include "tracker_story.h"

namespace ashlar::kube {
namespace {

class PodStory : public TrackerStory {};

TEST_F(PodStory, BeginsWithLevelsAndQueues) {
  EXPECT_EQ(start, R"(
start
  levels 2+0
  queue 1 under 0, 8000
  queue 2 under 1, unlimited
  queue 3 under 0, unlimited
)");
}

TEST_F(PodStory, FromItsCreationToItsEnd) {
  see(node("n0", 8, {{PooledString("l/block"), PooledString("b")}, {PooledString("l/rack"), PooledString("r")}}));
  told("a node");
  Pod p = with(pod("p", 1), "ashlar.dev/duration", "60s");
  p.priority = 5;
  see(p);
  told("a pod");
  time += Millis(1'000);
  see(p);
  told("the same again");
  assume("p", 0);
  told("assumed");
  see(p);
  told("an old picture of it");
  confirm("p", "n0");
  told("confirmed");
  see(on(p, "n0"));
  told("its binding by the watch");
  Pod resized = on(p, "n0");
  resized.requests.extended = {{PooledString("nvidia.com/gpu"), 2}};
  see(resized);
  told("resized in place");
  gone(p);
  told("gone");
  gone(p);
  told("gone again");
  EXPECT_EQ(take_story(), R"(
a node
  node 0: cards 8, domains 0 0
a pod
  demand 0: cards 1
  constraint 0
  job 0: queue 3, priority 5, at least 1, within -, prefer -, since 1000000, lasts 60000, [0 demand 0 constraint 0]
the same again
assumed
an old picture of it
confirmed
  member 0 on node 0, cards 0
its binding by the watch
  log: the GPUs of pod ns/p were changed from 0 to ''; the pod keeps the GPUs it was bound with
resized in place
  demand 1: cards 2
  job 0 ended
  job 1: queue 3, priority 5, at least 1, within -, prefer -, since 1001000, lasts 60000, [1 demand 1 constraint 0]
  member 1 on node 0, cards unknown
gone
  demand 0 given back
  job 1 ended
gone again
  demand 1 given back
)");
}

TEST_F(PodStory, OfOneThatIsHeldAndMovesBetweenQueues) {
  Pod p = pod("p", 1);
  p.scheduling_gates = 1;
  see(p);
  told("gated");
  p.scheduling_gates = 0;
  see(p);
  told("free");
  see(with(p, "ashlar.dev/queue", "team"));
  told("to team");
  see(with(p, "ashlar.dev/queue", "nowhere"));
  told("to nowhere");
  see(with(p, "ashlar.dev/queue", "root"));
  told("to the root");
  Namespace ns;
  ns.name = PooledString("ns");
  ns.labels = {{PooledString("ashlar.dev/queue"), PooledString("sub")}};
  see(ns);
  told("its namespace is of sub");
  see(p);
  told("no queue of its own");
  ns.annotations = {{PooledString("ashlar.dev/queue"), PooledString("team")}};
  see(ns);
  told("its namespace's annotation says team");
  see(with(p, "ashlar.dev/duration", "soon"));
  told("lasts until soon");
  see(with(p, "ashlar.dev/duration", "5s"));
  told("lasts 5 s");
  p.deletion_requested = time;
  see(p);
  told("to be deleted");
  gone(p);
  told("gone");
  see(pod("q", 1, {}, "lab"));
  told("a pod of lab");
  Pod ended = pod("q", 1, {}, "lab");
  ended.phase = PodPhase::kSucceeded;
  see(ended);
  told("it has ended");
  EXPECT_EQ(take_story(), R"(
gated
free
  demand 0: cards 1
  constraint 0
  job 0: queue 3, priority 0, at least 1, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0]
to team
  job 0 ended
  job 1: queue 1, priority 0, at least 1, within -, prefer -, since 1000000, lasts unknown, [1 demand 0 constraint 0]
to nowhere
  job 1 ended
  to report: p
to the root
  to report: p
its namespace is of sub
no queue of its own
  job 0: queue 2, priority 0, at least 1, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0]
its namespace's annotation says team
  job 0 ended
  job 1: queue 1, priority 0, at least 1, within -, prefer -, since 1000000, lasts unknown, [1 demand 0 constraint 0]
lasts until soon
  job 1 ended
  to report: p
lasts 5 s
  job 0: queue 1, priority 0, at least 1, within -, prefer -, since 1000000, lasts 5000, [0 demand 0 constraint 0]
to be deleted
  job 0 ended
gone
a pod of lab
  demand 0 given back
  constraint 0
  demand 0: cards 1
  constraint 0
  job 0: queue 2, priority 0, at least 1, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0]
it has ended
  job 0 ended
)");
}

TEST_F(PodStory, OfItsNodeThatGoesAndComesBack) {
  see(node("n0", 8));
  see(node("n1", 8));
  see(pod("p", 1));
  see(pod("q", 1));
  told("two pods");
  assume("p", 0);
  assume("q", 0, {2, 0});
  confirm("q", "n0", {2, 0});
  told("one assumed, one bound");
  gone(node("n0", 8));
  told("their node is gone");
  EXPECT_EQ(tracker.on_unknown_nodes_count(), 1u);
  see(on(pod("r", 1), "n0"));
  told("another bound there");
  EXPECT_EQ(tracker.on_unknown_nodes_count(), 2u);
  see(on(pod("s", 1), "n0"));
  gone(pod("s", 1));
  told("one comes and goes");
  EXPECT_EQ(tracker.on_unknown_nodes_count(), 2u);
  assume("p", 1);
  confirm("p", "n0");
  told("assumed on one, bound to the other");
  see(node("n0", 8));
  told("the node is back");
  EXPECT_EQ(tracker.on_unknown_nodes_count(), 0u);
  see(on(pod("q", 1), "n1"));
  told("bound elsewhere");
  EXPECT_EQ(take_story(), R"(
two pods
  node 0: cards 8, domains - -
  node 1: cards 8, domains - -
  demand 0: cards 1
  constraint 0
  job 0: queue 3, priority 0, at least 1, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0]
  job 1: queue 3, priority 0, at least 1, within -, prefer -, since 1000000, lasts unknown, [1 demand 0 constraint 0]
one assumed, one bound
  member 1 on node 0, cards 1
their node is gone
  job 1 ended
  node 0 gone
another bound there
one comes and goes
assumed on one, bound to the other
  job 0 ended
the node is back
  node 0: cards 8, domains - -
  job 0: queue 3, priority 0, at least 1, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0]
  member 0 on node 0, cards 1
  job 1: queue 3, priority 0, at least 1, within -, prefer -, since 1000000, lasts unknown, [1 demand 0 constraint 0]
  member 1 on node 0, cards unknown
  job 2: queue 3, priority 0, at least 1, within -, prefer -, since 1000000, lasts unknown, [2 demand 0 constraint 0]
  member 2 on node 0, cards 0
bound elsewhere
  member 0 on node 1, cards unknown
)");
}

TEST_F(PodStory, OfOneOfAnotherScheduler) {
  see(node("n0", 8));
  see(node("n1", 8));
  told("nodes");
  Pod p = pod("p", 1);
  p.scheduler_name = PooledString("other");
  see(p);
  told("nobody's business");
  p.nominated_node_name = PooledString("n1");
  p.priority = 7;
  see(p);
  told("nominated");
  see(p);
  told("again");
  p.nominated_node_name = PooledString("n0");
  see(p);
  told("for another node");
  p.nominated_node_name = PooledString();
  see(p);
  told("no longer");
  p.nominated_node_name = PooledString("n1");
  see(p);
  gone(node("n1", 8));
  told("its node is gone");
  p.nominated_node_name = PooledString("n0");
  see(p);
  see(on(p, "n0"));
  told("bound");
  Pod again = p;
  again.uid = PooledString("another");
  again.nominated_node_name = PooledString();
  see(again);
  told("another of its name");
  EXPECT_EQ(take_story(), R"(
nodes
  node 0: cards 8, domains - -
  node 1: cards 8, domains - -
nobody's business
nominated
  demand 0: cards 1
  constraint 0
  job 0 of others: queue 0, priority 7, at least 1, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0]
  member 0 nominated for node 1, priority 7
again
for another node
  member 0 nominated for node 0, priority 7
no longer
  job 0 ended
its node is gone
  demand 0 given back
  demand 0: cards 1
  job 0 of others: queue 0, priority 7, at least 1, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0]
  member 0 nominated for node 1, priority 7
  job 0 ended
  node 1 gone
bound
  demand 0 given back
  demand 0: cards 1
  job 0 of others: queue 0, priority 7, at least 1, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0]
  member 0 nominated for node 0, priority 7
  member 0 on node 0, cards unknown
another of its name
  job 0 ended
)");
}

TEST_F(PodStory, OfABindingThatFails) {
  see(node("n0", 8));
  see(pod("p", 1));
  assume("p", 0);
  told("assumed");
  BindHold first = tracker.note_bind_failed(slot_of("p"), "no");
  told("refused");
  EXPECT_EQ(first.times, 1);
  see(pod("p", 1));
  told("seen as it was");
  time += Millis(5'000);
  tracker.end_bind_hold(first);
  told("its time is over");
  assume("p", 0);
  const BindHold second = tracker.note_bind_failed(slot_of("p"), "no again");
  EXPECT_EQ(second.times, 2);
  told("refused again");
  tracker.end_bind_hold(first);
  told("an old hold's end");
  see(with(pod("p", 1), "a", "b"));
  told("its owner changes it");
  assume("p", 0);
  tracker.note_rejected(slot_of("p"));
  told("sent back");
  tracker.note_rejected(slot_of("p"));
  told("sent back twice");
  EXPECT_EQ(take_story(), R"(
assumed
  node 0: cards 8, domains - -
  demand 0: cards 1
  constraint 0
  job 0: queue 3, priority 0, at least 1, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0]
refused
  member 0 rejected
  job 0 ended
  to report: p
seen as it was
its time is over
  job 0: queue 3, priority 0, at least 1, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0]
refused again
  member 0 rejected
  job 0 ended
  to report: p
an old hold's end
its owner changes it
  job 0: queue 3, priority 0, at least 1, within -, prefer -, since 1000000, lasts unknown, [0 demand 0 constraint 0]
sent back
  member 0 rejected
sent back twice
)");
}

}  // namespace
}  // namespace ashlar::kube
