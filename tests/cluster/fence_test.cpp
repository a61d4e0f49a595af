// Writes that may not leave any more, on the connection that matters: HTTP/2 over TLS to a real API server, as the
// scheduler's service account, shared with writes that may.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "cluster/deployed.h"
#include "cluster/fixture/control_plane.h"
#include "kubeclient/api.h"
#include "kubeclient/writes.h"

namespace ashlar::kube {
namespace {

TEST(FenceOnCluster, HoldsBackWhatItRefusesAndLeavesTheSharedConnectionToTheOthers) {
  Result<std::unique_ptr<cluster::ControlPlane>> plane = cluster::start_deployed();
  if (!plane && plane.error().kind == Error::Kind::kNotFound)
    GTEST_SKIP() << "skipped, no control plane: " << plane.error().message;
  ASSERT_TRUE(plane.ok()) << plane.error().message;
  Result<std::unique_ptr<Api>> made = cluster::connect_as_scheduler(**plane);
  ASSERT_TRUE(made.ok()) << made.error().message;
  Result<std::unique_ptr<Api>> admin = (*plane)->connect();
  ASSERT_TRUE(admin.ok()) << admin.error().message;
  Api& api = **made;
  const auto event_about = [](const std::string& name) {
    EventNote event;
    event.ns = PooledString("default");
    event.name = PooledString(name);
    event.reason = "Scheduled";
    event.action = "Binding";
    event.note = "a note";
    event.controller = "ashlar.dev/scheduler";
    event.now = Millis(1'700'000'000'000);
    return event;
  };
  ASSERT_TRUE(call(api, {.path = "/readyz"}).ok());
  const std::uint64_t connections = api.counters().connections;
  int answered = 0, taken = 0, held_back = 0;
  for (int i = 0; i < 40; ++i) {
    EventNote event = event_about(i % 2 == 0 ? "open" : "fenced");
    event.sequence = static_cast<std::uint64_t>(i);
    create_event(
        api, event,
        [&](const Answer& answer) {
          ++answered;
          taken += answer.ok() ? 1 : 0;
          held_back += !answer.ok() && answer.result.error().message.find("not sent") != std::string::npos ? 1 : 0;
        },
        [is_open = i % 2 == 0] { return is_open; });
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (answered < 40 && std::chrono::steady_clock::now() < deadline) api.poll(Millis(20));
  EXPECT_EQ(taken, 20);
  EXPECT_EQ(held_back, 20);
  EXPECT_LE(api.counters().connections, connections + 1);
  const Answer list = call(**admin, {.path = "/apis/events.k8s.io/v1/namespaces/default/events"});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list.body.find("\"fenced."), std::string::npos) << "nothing of it reached the server";
  EXPECT_NE(list.body.find("\"open."), std::string::npos);
}

}  // namespace
}  // namespace ashlar::kube
