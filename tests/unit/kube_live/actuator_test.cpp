// What becomes of a plan whose bindings fail: the pod is read again, and a place is given free only when the server says that it is.
#include "kube/live_actuator.h"

#include "bench_of_intake.h"
#include "scripted_api.h"

namespace ashlar::kube {
namespace {

using Phase = PodRecord::Phase;

class Actuation : public IntakeBench {
 protected:
  Actuation() {
    is_answering = false;
    see(node("n", 8));
  }
  http::ServerResponse serve(const http::ServerRequest& request) {
    if (request.method == "POST") return bind_status < 300 ? http::json(bind_status, "{}") : ScriptedApi::status(bind_status);
    if (read_failures > 0) {
      --read_failures;
      return ScriptedApi::status(503);
    }
    if (!exists) return ScriptedApi::status(404);
    const std::string name = request.path.substr(request.path.rfind('/') + 1);
    const std::string at = bound_to.empty() ? "" : R"("nodeName":")" + bound_to + R"(",)";
    return http::json(200, R"({"kind":"Pod","metadata":{"name":")" + name + R"(","namespace":"ns","uid":"uid-ns-)" + name + R"("},"spec":{)" + at +
                               R"("schedulerName":"ashlar","containers":[{"resources":{"requests":{"nvidia.com/gpu":"1"}}}]},"status":{}})");
  }
  /// Decides on a pod (of one card) and hands the plan over.
  void place(int pods = 1) {
    for (int i = 0; i < pods; ++i) see(pod("p" + std::to_string(i), 1));
    step();
    actuator->submit(plan);
  }
  Phase phase(const std::string& name = "p0") { return record(name).phase; }

  int bind_status = 201, read_failures = 0;
  bool exists = true, is_leading = true;
  std::string bound_to;
  ScriptedApi server{[this](const http::ServerRequest& request) { return serve(request); }};
  std::unique_ptr<LiveActuator> actuator =
      std::make_unique<LiveActuator>(server.api(), intake, ActuatorOptions{.retry_min = Millis(10), .retry_max = Millis(20)},
                                     LiveActuator::Hooks{.may_write = [this] { return is_leading; }, .on_plan = {}, .log = {}});
};

TEST_F(Actuation, ABindingThatIsAnsweredIsConfirmed) {
  place();
  EXPECT_EQ(phase(), Phase::kAssumed);
  ASSERT_TRUE(server.until([&] { return actuator->is_idle(); }));
  EXPECT_EQ(phase(), Phase::kBound);
  EXPECT_EQ(actuator->counters().reread, 0u);
}

TEST_F(Actuation, APodThatIsNotFoundAndNotThereIsForgotten) {
  bind_status = 404;
  exists = false;
  place();
  ASSERT_TRUE(server.until([&] { return phase() == Phase::kFree; }));
  step();
  EXPECT_EQ(idle_cards("n"), 8);
  EXPECT_EQ(actuator->counters().not_found, 1u);
}

TEST_F(Actuation, ATimeOutIsReadAgainAndMayTurnOutToBeABinding) {
  bind_status = 504;
  bound_to = "n";
  place();
  ASSERT_TRUE(server.until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(actuator->counters().timeouts, 1u);
  EXPECT_EQ(server.count({"POST"}), 1u);
}

TEST_F(Actuation, AFreePodIsDecidedAgainAfterAWhile) {
  bind_status = 409;
  place();
  ASSERT_TRUE(server.until([&] { return phase() == Phase::kWaiting; }));
  EXPECT_EQ(actuator->counters().reread, 1u);
}

TEST_F(Actuation, APlaceStaysTakenWhileTheServerCannotSay) {
  bind_status = 504;
  read_failures = 2;
  place();
  ASSERT_TRUE(server.until([&] { return server.count({"GET"}) == 2; }));
  EXPECT_EQ(phase(), Phase::kAssumed);
  ASSERT_TRUE(server.until([&] { return phase() == Phase::kWaiting; }));
}

TEST_F(Actuation, RereadingGoesOnWhileTheRightToWriteIsAway) {
  bind_status = 504;
  read_failures = 1;
  server.hold();
  place();
  ASSERT_TRUE(server.until([&] { return server.count({"POST"}) == 1; }));
  is_leading = false;  // a renewal is late; it will be answered, and nobody is told that leadership was ever in doubt
  server.let_go();
  ASSERT_TRUE(server.until([&] { return phase() == Phase::kWaiting; })) << "else the card is held until the next start";
}

TEST_F(Actuation, WhatStillWaitsForAConnectionDoesNotLeaveOnceTheRightToWriteEnded) {
  server.hold();
  place(8);
  EXPECT_EQ(actuator->in_flight(), 8u);
  ASSERT_TRUE(server.until([&] { return server.count({"POST"}) == 1; }));
  server.poll_for(Millis(50));  // what has a connection is on its way; the client opens four at most, each for one request of HTTP/1.1
  is_leading = false;
  server.let_go();
  ASSERT_TRUE(server.until([&] { return actuator->is_idle(); }));
  const std::size_t sent = server.count({"POST"});
  EXPECT_LE(sent, 4u);
  EXPECT_EQ(actuator->counters().bound, sent);
  EXPECT_EQ(actuator->counters().unavailable, 8 - sent);
  EXPECT_EQ(server.count({"GET"}), 8 - sent) << "reading needs no such right";
}

TEST_F(Actuation, AllIsCancelledWithTheActuator) {
  server.hold();
  place(8);
  ASSERT_TRUE(server.until([&] { return server.count({"POST"}) == 1; }));
  actuator.reset();
  server.poll_for(Millis(20));
  server.let_go();
  server.poll_for(Millis(100));
  EXPECT_LE(server.count({"POST"}), 4u);
  EXPECT_EQ(server.api().in_flight(), 0u);
  EXPECT_EQ(phase(), Phase::kAssumed) << "whoever comes next lists everything";
}

TEST_F(Actuation, NoMoreThanTheWindowIsUnderWay) {
  actuator = std::make_unique<LiveActuator>(server.api(), intake, ActuatorOptions{.in_flight_max = 3},
                                            LiveActuator::Hooks{.may_write = [this] { return is_leading; }, .on_plan = {}, .log = {}});
  place(8);
  EXPECT_EQ(actuator->in_flight(), 3u);
  EXPECT_EQ(actuator->queued(), 5u);
  ASSERT_TRUE(server.until([&] { return actuator->is_idle(); }));
  EXPECT_EQ(actuator->counters().bound, 8u);
}

}  // namespace
}  // namespace ashlar::kube
