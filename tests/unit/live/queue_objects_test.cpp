// Queues that are objects of the API server, beside those of the configuration: what of them is in force, what is wrong
// with them, and what happens to pods that name them.
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

/// "parent=P gpus=N hold namespaces=A" stands for a spec here; "bad" cannot be read.
Result<QueueSettings> read_words(const QueueObject& object) {
  QueueSettings settings{.name = object.name.str(), .parent = {}};
  std::istringstream words(object.spec);
  for (std::string word; words >> word;) {
    const std::string value = word.substr(std::min(word.size(), word.find('=') + 1));
    if (word == "bad") return invalid("spec: it is bad");
    if (word.starts_with("parent=")) settings.parent = value;
    if (word.starts_with("gpus=")) settings.quota[0] = std::stoll(value) * 1000;
    if (word.starts_with("namespaces=")) settings.namespaces = {value};
    if (word == "hold") settings.gate.is = QueueGate::Is::kHeld;
  }
  return settings;
}

class QueueObjects : public TrackerBench {
 protected:
  using TrackerBench::gone;
  using TrackerBench::see;
  QueueObjects() : TrackerBench(TrackerOptions{.queues = {{.name = "fixed", .parent = ""}}, .read_queue = read_words}) {
    see(node("n", 8));
  }
  QueueObject queue_object(const std::string& name, const std::string& spec) {
    QueueObject q;
    q.name = PooledString(name);
    q.uid = PooledString("uid-" + name);
    q.generation = ++generation_;
    q.spec = spec;
    return q;
  }
  void see(QueueObject q) { tracker.take(Change<QueueObject>{Change<QueueObject>::Kind::kModified, std::move(q)}); }
  void see_queue(const std::string& name, const std::string& spec) { see(queue_object(name, spec)); }
  void gone_queue(const std::string& name) {
    tracker.take(Change<QueueObject>{Change<QueueObject>::Kind::kDeleted, queue_object(name, "")});
  }
  static Pod in_queue(const std::string& name, const std::string& queue, int gpus = 1) {
    return with(pod(name, gpus), "ashlar.dev/queue", queue);
  }
  QueueId queue(const std::string& name) { return tracker.names().queues.find(PooledString(name)); }
  QueueId parent(const std::string& name) { return state.queues().parent(queue(name)); }
  std::string trouble(const std::string& name) { return QueueBook::trouble(tracker.queue_book().stated().at(name)); }
  std::int64_t generation_ = 0;
};

TEST_F(QueueObjects, APodWaitsForItsQueueAndStartsWhenThatIsThere) {
  see(in_queue("a", "research"));
  step();
  EXPECT_EQ(record("a").hold, HoldReason::kQueueUnknown);
  see_queue("research", "gpus=4");
  step();
  EXPECT_EQ(where("a"), "n");
  EXPECT_EQ(state.queues().used(queue("research"))[0], 1'000);
  EXPECT_EQ(trouble("research"), "");
}

TEST_F(QueueObjects, AQuotaHoldsAndIsRaised) {
  see_queue("research", "gpus=2");
  see(in_queue("a", "research", 2));
  see(in_queue("b", "research", 2));
  step();
  EXPECT_EQ(where("a"), "n");
  EXPECT_EQ(where("b"), "");
  see_queue("research", "gpus=4");
  step();
  EXPECT_EQ(where("b"), "n");
}

TEST_F(QueueObjects, OneMayComeBeforeTheQueueAboveItAndStartsNothingUntilThatIsThere) {
  see_queue("vision", "parent=research gpus=4");
  see(in_queue("a", "vision"));
  step();
  EXPECT_EQ(where("a"), "") << "the limits above it could not hold it";
  EXPECT_EQ(trouble("vision"),
            "there is no queue \"research\", its parent; nothing of the queue starts until it has a place");
  see_queue("research", "gpus=1");
  step();
  EXPECT_EQ(where("a"), "n");
  EXPECT_EQ(parent("vision"), queue("research"));
  EXPECT_EQ(state.queues().used(queue("research"))[0], 1'000);
  see(in_queue("b", "vision"));
  step();
  EXPECT_EQ(where("b"), "") << "the quota above it holds";
}

TEST_F(QueueObjects, ARingOfQueuesStartsNothingUntilItIsBroken) {
  see_queue("a", "parent=c");
  see_queue("b", "parent=a");
  see_queue("c", "parent=b");
  see_queue("below", "parent=a");
  see(in_queue("pod", "b"));
  step();
  EXPECT_EQ(where("pod"), "");
  for (const char* name : {"a", "b", "c"}) EXPECT_NE(trouble(name), "") << name;
  see_queue("c", "");
  step();
  EXPECT_EQ(where("pod"), "n");
  for (const char* name : {"a", "b", "c", "below"}) EXPECT_EQ(trouble(name), "") << name;
  EXPECT_EQ(parent("b"), queue("a"));
  EXPECT_EQ(parent("a"), queue("c"));
  EXPECT_EQ(parent("below"), queue("a"));
}

TEST_F(QueueObjects, TheDepthOfTheTreeIsLimited) {
  see_queue("q1", "");
  for (int i = 2; i <= QueueTree::kDepthMax; ++i)
    see_queue("q" + std::to_string(i), "parent=q" + std::to_string(i - 1));
  step();
  const std::string deepest = "q" + std::to_string(QueueTree::kDepthMax - 1);
  EXPECT_EQ(trouble(deepest), "");
  EXPECT_EQ(parent(deepest), queue("q" + std::to_string(QueueTree::kDepthMax - 2)));
  EXPECT_NE(trouble("q" + std::to_string(QueueTree::kDepthMax)), "");
}

TEST_F(QueueObjects, WhatCannotBeReadAnyMoreStaysAsItWas) {
  see_queue("research", "gpus=1");
  see_queue("research", "bad");
  see(in_queue("a", "research"));
  see(in_queue("b", "research"));
  step();
  EXPECT_EQ(where("a"), "n");
  EXPECT_EQ(where("b"), "");
  EXPECT_EQ(trouble("research"), "spec: it is bad; what was last read stays in force");
}

TEST_F(QueueObjects, WhatCouldNeverBeReadStartsNothing) {
  see_queue("research", "bad");
  see(in_queue("a", "research"));
  step();
  EXPECT_EQ(where("a"), "");
  EXPECT_EQ(trouble("research"), "spec: it is bad; nothing of the queue starts until it can be read");
  see_queue("research", "gpus=1");
  step();
  EXPECT_EQ(where("a"), "n");
}

TEST_F(QueueObjects, OneThatIsMadeAnewHasNothingOfItsPredecessor) {
  see_queue("research", "gpus=4");
  gone_queue("research");
  QueueObject again = queue_object("research", "bad");
  again.uid = PooledString("another");
  see(again);
  see(in_queue("a", "research"));
  step();
  EXPECT_EQ(where("a"), "");
  EXPECT_EQ(trouble("research"), "spec: it is bad; nothing of the queue starts until it can be read");
}

TEST_F(QueueObjects, TheConfigurationGoesBeforeAnObjectOfTheSameName) {
  see_queue("fixed", "gpus=0");
  see_queue("default", "gpus=0");
  see(in_queue("a", "fixed"));
  see(pod("b", 1));
  step();
  EXPECT_EQ(where("a"), "n");
  EXPECT_EQ(where("b"), "n");
  EXPECT_EQ(trouble("fixed"),
            "the configuration of the scheduler states a queue of this name; this object has no effect");
  gone_queue("fixed");
  see(in_queue("c", "fixed"));
  step();
  EXPECT_EQ(where("c"), "n");
  EXPECT_FALSE(tracker.queue_book().stated().contains("fixed"));
}

TEST_F(QueueObjects, OfADeletedQueueWhatRunsGoesOnAndWhatWaitsIsHeld) {
  see_queue("research", "gpus=2");
  see_queue("vision", "parent=research");
  see(in_queue("a", "vision", 2));
  see(in_queue("b", "vision", 1));
  step();
  gone_queue("research");
  step();
  EXPECT_EQ(where("a"), "n");
  EXPECT_EQ(state.queues().used(queue("vision"))[0], 2'000);
  EXPECT_NE(trouble("vision"), "");
  gone_queue("vision");
  see(in_queue("c", "vision"));
  step();
  EXPECT_EQ(record("b").hold, HoldReason::kQueueUnknown);
  EXPECT_EQ(record("c").hold, HoldReason::kQueueUnknown);
  EXPECT_EQ(where("a"), "n") << "it runs on";
  see_queue("vision", "gpus=3");
  step();
  EXPECT_EQ(where("b"), "n");
  EXPECT_EQ(where("c"), "") << "it counts what has run on";
}

TEST_F(QueueObjects, NamespacesAreThoseOfTheQueueAboveUnlessItStatesItsOwn) {
  see_queue("research", "namespaces=lab");
  see_queue("vision", "parent=research");
  see(in_queue("a", "vision"));
  step();
  EXPECT_EQ(record("a").hold, HoldReason::kQueueForbidden);
  see_queue("research", "");
  step();
  EXPECT_EQ(where("a"), "n");
}

TEST_F(QueueObjects, AWriteOfItsStatusChangesNothing) {
  QueueObject q = queue_object("research", "gpus=4");
  see(q);
  step();
  const std::uint64_t before = state.queues().change_count();
  q.accepted.status = ConditionStatus::kTrue;
  see(q);
  EXPECT_FALSE(tracker.has_unsettled());
  step();
  EXPECT_EQ(state.queues().change_count(), before);
}

TEST_F(QueueObjects, ANamespaceMayNameOneThatComesLater) {
  Namespace ns;
  ns.name = PooledString("ns");
  ns.labels = {{PooledString("ashlar.dev/queue"), PooledString("research")}};
  see(ns);
  see(pod("a", 1));
  step();
  EXPECT_EQ(record("a").hold, HoldReason::kQueueUnknown);
  see_queue("research", "");
  step();
  EXPECT_EQ(where("a"), "n");
  EXPECT_EQ(state.queues().used(queue("research"))[0], 1'000);
}

}  // namespace
}  // namespace ashlar::kube
