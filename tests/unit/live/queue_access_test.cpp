// Queues that the configuration opens to some namespaces only.
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class QueueAccess : public TrackerBench {
 protected:
  QueueAccess()
      : TrackerBench(TrackerOptions{.queues = {{.name = "vision", .parent = "", .namespaces = {"ns", "lab"}},
                                               {.name = "open", .parent = ""}}}) {
    see(node("n", 8));
  }
  static Pod in_queue(Pod p, const std::string& queue) { return with(std::move(p), "ashlar.dev/queue", queue); }
  QueueId queue_of(const std::string& name, const std::string& ns) { return state.job(record(name, ns).job).queue; }
  QueueId queue(const std::string& name) { return tracker.names().queues.find(PooledString(name)); }
};

TEST_F(QueueAccess, APodOfAnotherNamespaceIsHeldAndToldWhy) {
  see(in_queue(pod("a", 1, {}, "foreign"), "vision"));
  see(in_queue(pod("b", 1, {}, "lab"), "vision"));
  see(in_queue(pod("c", 1, {}, "foreign"), "open"));
  step();
  EXPECT_EQ(record("a", "foreign").hold, HoldReason::kQueueForbidden);
  const ConditionText text = tracker.hold_condition(record("a", "foreign"));
  EXPECT_EQ(text.reason, "SchedulerError");
  EXPECT_EQ(text.message,
            "QueueForbidden: queue vision is not open to namespace foreign; name another queue, or ask for the "
            "namespace to be "
            "added to the queue's namespaces");
  EXPECT_EQ(queue_of("b", "lab"), queue("vision"));
  EXPECT_EQ(queue_of("c", "foreign"), queue("open"));
  see(in_queue(pod("a", 1, {}, "foreign"), "open"));
  step();
  EXPECT_EQ(queue_of("a", "foreign"), queue("open"));
}

TEST_F(QueueAccess, ANamespaceThatNamesTheQueueDoesNotOpenIt) {
  Namespace foreign;
  foreign.name = PooledString("foreign");
  foreign.labels = {{PooledString("ashlar.dev/queue"), PooledString("vision")}};
  see(foreign);
  see(pod("a", 1, {}, "foreign"));
  step();
  EXPECT_EQ(record("a", "foreign").hold, HoldReason::kQueueForbidden);
  foreign.labels.clear();
  see(foreign);
  step();
  EXPECT_EQ(queue_of("a", "foreign"), queue("default")) << "it moves when its namespace changes";
}

/// Its label may be changed while it runs; what was written with its binding stays.
TEST_F(QueueAccess, AfterARestartABoundPodIsChargedToTheQueueThatItsBindingNames) {
  const auto charged = [](Pod p, const std::string& to) {
    p.node_name = PooledString("n");
    p.annotations = std::make_shared<const Labels>(Labels{{PooledString(kChargedQueueAnnotation), PooledString(to)}});
    return p;
  };
  see(charged(in_queue(pod("a", 3), "open"), "vision"));
  see(charged(in_queue(pod("b", 2), "open"), "no-more"));
  see(charged(in_queue(pod("c", 1, {}, "foreign"), "open"), "vision"));
  step();
  EXPECT_EQ(state.queues().used(queue("vision"))[0], 3'000);
  EXPECT_EQ(state.queues().used(queue("open"))[0], 3'000);
}

TEST_F(QueueAccess, AfterARestartAGangIsChargedAsItsBindingsSayWhoeverElseNamesANodeAndTheGang) {
  const auto bound = [&](const std::string& name, const std::string& to) {
    Pod p = with(with(in_queue(pod(name, 1), "open"), "ashlar.dev/gang", "g"), "ashlar.dev/gang-size", "2");
    p.node_name = PooledString("n");
    if (!to.empty())
      p.annotations = std::make_shared<const Labels>(Labels{{PooledString(kChargedQueueAnnotation), PooledString(to)}});
    return p;
  };
  see(bound("0-of-its-own", ""));
  see(bound("a", "vision"));
  see(bound("b", "vision"));
  step();
  EXPECT_EQ(state.queues().used(queue("vision"))[0], 3'000);
  EXPECT_EQ(state.queues().used(queue("open"))[0], 0);
}

TEST_F(QueueAccess, APodThatIsBoundAlreadyIsNotChargedToAQueueThatIsNotOpenToIt) {
  Pod bound = in_queue(pod("a", 2, {}, "foreign"), "vision");
  bound.node_name = PooledString("n");
  see(bound);
  step();
  EXPECT_EQ(state.queues().used(queue("vision"))[0], 0);
  EXPECT_EQ(state.queues().used(queue("default"))[0], 2'000);
  EXPECT_EQ(idle_devices("n"), 6);
}

}  // namespace
}  // namespace ashlar::kube
