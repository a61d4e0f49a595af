// Between a decision and the next one: what a binding that was put off is checked against when its time comes, and what
// readers see meanwhile.
#include "live/read/read_api.h"
#include "scripted_api.h"
#include "term_bench.h"

namespace ashlar::kube {
namespace {

using Phase = PodRecord::Phase;

class Between : public ::testing::Test, public TermBench {
 protected:
  Between() { begin(server.api()); }
  ~Between() override { leader_term.reset(); }

  http::ServerResponse serve(const http::ServerRequest& request) {
    if (is_busy) return ScriptedApi::busy(1);
    if (request.method == "POST" && request.path.ends_with("/binding")) return ScriptedApi::done();
    return request.method == "GET" ? ScriptedApi::pod(request) : http::json(201, "{}");
  }
  void run(Millis time) {
    for (const Millis until = now + time; now < until; now += Millis(100)) {
      do {
        leader_term->turn();
        ASSERT_TRUE(server.settle());
      } while (server.api().in_flight() > 0 || leader_term->turn() <= now);
    }
  }
  /// The server puts off what is bound now; when it may be asked again, nothing has happened yet.
  void put_off() {
    is_busy = true;
    run(Millis(100));
    server.change([&] { is_busy = false; });
    now += Millis(10'000);
  }
  static Pod cpu(Pod p, std::int64_t cores) {
    p.requests.cpu = MilliCores(cores * 1000);
    return p;
  }
  std::size_t bindings(const std::string& name, const std::string& node_name) {
    return server.count({"POST", name + "/binding", '"' + node_name + '"'});
  }
  /// p was sent to n0 once, and there is no room for it any more.
  void expect_moved_to_n1() {
    ASSERT_EQ(bindings("p", "n0"), 1u);
    see(node("n1", 8));
    run(Millis(5'000));
    EXPECT_EQ(bindings("p", "n0"), 1u);
    EXPECT_EQ(bindings("p", "n1"), 1u);
  }

  /// Only n0 is left, and nothing was sent.
  void start_over(const Pod& grown) {
    for (const Pod& p : {grown, pod("p", 0)}) gone(p);
    leader_term->take(Change<Node>{Change<Node>::Kind::kDeleted, node("n1", 8)});
    run(Millis(100));
    server.forget();
  }

  bool is_busy = false;
  ScriptedApi server{[this](const http::ServerRequest& request) { return serve(request); }, [this] { return now; }};
};

/// Pods of gangs are reported to the engine together; those that are bound hold their devices before that.
TEST_F(Between, ABoundPodOfAGangThatTheEngineDoesNotKnowTakesItsRoom) {
  see(node("n0", 8));
  see(pod("p", 7));
  put_off();
  see(on(gang_pod("g", 0, 2, 2), "n0"));
  expect_moved_to_n1();
}

TEST_F(Between, ABoundPodOfAGangIsNotForgottenWhenItIsResized) {
  for (const bool is_single : {true, false}) {
    const Pod grows = is_single ? pod("b", 0) : gang_pod("g", 0, 1, 0);
    see(node("n0", 8));
    see(on(cpu(grows, 30), "n0"));
    run(Millis(100));
    see(cpu(pod("p", 0), 32));
    put_off();
    see(on(cpu(grows, 40), "n0"));
    expect_moved_to_n1();
    start_over(grows);
  }
}

/// Bound where it was to be bound, but as another pod than the engine chose the place for.
TEST_F(Between, APodThatIsResizedBeforeItsBindingIsSeenTakesWhatItHasNow) {
  for (const bool is_single : {true, false}) {
    const Pod grows = is_single ? pod("b", 0) : gang_pod("g", 0, 1, 0);
    see(node("n0", 8));
    see(cpu(grows, 30));
    see(cpu(pod("p", 0), 32));
    put_off();
    see(on(cpu(grows, 40), "n0"));
    expect_moved_to_n1();
    start_over(grows);
  }
}

TEST_F(Between, ReadersSeeAResizedPodOfAGangOnItsNode) {
  see(node("n0", 8));
  see(on(gang_pod("g", 0, 1, 4), "n0"));
  run(Millis(100));
  see(pod("p", 1));
  put_off();
  leader_term->stop_deciding();
  see(on(cpu(gang_pod("g", 0, 1, 4), 9), "n0"));
  run(Millis(1'000));
  ASSERT_EQ(phase("p"), Phase::kBound);
  ASSERT_TRUE(leader_term->is_engine_behind());
  EXPECT_EQ(leader_term->state().cluster().idle_devices()[record("p").node.row()], 3);
}

/// A binding costs nothing for those that wait: they are looked at in the next decision.
TEST_F(Between, OfWhatWaitsNothingIsSettledForABinding) {
  see(node("n0", 8));
  see(pod("p", 1));
  put_off();
  leader_term->stop_deciding();
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 1));
  see(on(pod("q", 1), "n0"));
  run(Millis(1'000));
  ASSERT_EQ(phase("p"), Phase::kBound);
  ASSERT_TRUE(leader_term->is_engine_behind()) << "q is seen";
  EXPECT_FALSE(record("g-0").is_in_engine());
  EXPECT_TRUE(leader_term->tracker().has_unsettled());
}

}  // namespace
}  // namespace ashlar::kube
