// The audit of bindings that the other programs here rely on: what a real server writes of bindings that it answered
// and of one that it never did, and which second bindings are found with that.
#include "cluster/audit.h"

#include <signal.h>

#include <boost/json.hpp>

#include <fstream>

#include "cluster/scheduler_world.h"

namespace ashlar::live_tests {
namespace {

class AuditOfAServer : public SchedulerWorld {
 protected:
  void SetUp() override {
    SchedulerWorld::SetUp();
    if (IsSkipped()) return;
    ASSERT_NO_FATAL_FAILURE(start_proxy());
    kube::Access access = api_->access();
    access.token = plane_->scheduler_token();
    access.server = proxy_->url();
    access.tls = {};
    Result<std::unique_ptr<kube::Api>> made = kube::Api::create({.access = std::move(access)});
    ASSERT_TRUE(made.ok()) << made.error().message;
    binder_ = std::move(made).value();
    post_gpu_nodes(2);
  }
  void TearDown() override {
    if (plane_) plane_->etcd().signal(SIGCONT);
    SchedulerWorld::TearDown();
  }
  /// Asks as the scheduler would, through the proxy, and waits for the answer where `is_answered`.
  Answer bind(const std::string& name, std::size_t node, bool is_answered = true) {
    std::optional<Answer> answer;
    const kube::Pod p = uids_.contains(name) ? uids_[name] : (uids_[name] = pod(name));
    const std::size_t before = proxy_->forwarded("/binding").size();
    kube::bind(*binder_, {p.ns, p.name, p.uid, kube::PooledString(node_name(node)), {}},
               [&](Answer a) { answer = std::move(a); });
    const auto is_done = [&] {
      return is_answered ? answer.has_value() : proxy_->forwarded("/binding").size() > before;
    };
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!is_done() && std::chrono::steady_clock::now() < deadline) binder_->poll(Millis(10));
    if (!is_answered) binder_->reset_connections();
    return answer.value_or(Answer{});
  }
  std::vector<std::string> found() { return audit().second_targets(kSchedulerUser); }

  std::unique_ptr<kube::Api> binder_;
  std::map<std::string, kube::Pod> uids_;
};

TEST_F(AuditOfAServer, FindsTheSecondTargetOfABindingThatWasNeverAnswered) {
  post_pods({gpu_pod("wrong", 1), gpu_pod("right", 1)});
  for (const char* name : {"wrong", "right"}) uids_[name] = pod(name);
  plane_->etcd().signal(SIGSTOP);  // the server takes requests and can finish none
  for (const char* name : {"wrong", "right"}) bind(name, 0, false);
  ASSERT_TRUE([&] {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (audit().unanswered() < 2 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return audit().unanswered() == 2;
  }());
  plane_->kill_api_server();
  plane_->etcd().signal(SIGCONT);
  ASSERT_TRUE(plane_->start_api_server().ok());
  ASSERT_EQ(audit().unanswered(), 2u) << "the server died with both";
  EXPECT_EQ(found(), std::vector<std::string>{});
  EXPECT_EQ(BindAudit(plane_->audit_log(), {}, audit_from_).second_targets(kSchedulerUser).size(), 2u)
      << "without the proxy's record they cannot be judged, and that is said";
  bind("wrong", 1);  // 201 or 409: etcd may have had the first one in its socket, and carried it out
  const Answer read = kube::call(*binder_, {.path = kube::pod_path("default", "right")});
  EXPECT_TRUE(read.ok());
  bind("right", 1);
  EXPECT_EQ(found(),
            std::vector<std::string>{"default/wrong " + uids_["wrong"].uid.str() + ": node-000, then node-001"});
  second_targets_ = 1;
}

TEST_F(AuditOfAServer, FindsTheSecondTargetOfABindingWhoseAnswerWasLost) {
  post_pod(gpu_pod("carried-out", 1));
  const kube::PodSpec gated = [] {
    kube::PodSpec spec = gpu_pod("gated", 1);
    spec.extra_spec_json = R"("schedulingGates":[{"name":"example.com/wait"}])";
    return spec;
  }();
  post_pod(gated);
  for (const char* name : {"carried-out", "gated"}) {
    proxy_->inject({.kind = envtest::Fault::Kind::kResetAfter, .method = "POST", .path = "/binding"});
    EXPECT_FALSE(bind(name, 0).ok());
    EXPECT_EQ(bind(name, 1).status, 409);
  }
  EXPECT_EQ(bind("gated", 0).status, 409) << "after a definite no it may be tried anywhere";
  const auto wrong = [&](const char* name) {
    return "default/" + std::string(name) + " " + uids_[name].uid.str() + ": node-000, then node-001";
  };
  const std::vector<std::string> all = found();
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()),
            (std::set<std::string>{wrong("carried-out"), wrong("gated")}));
  second_targets_ = 2;
}

// ---- without a server: what one wrote in the first test above -------------------------------------------------------

/// Lines of a kube-apiserver 1.37.1: pods `wrong` and `right` were to be bound to node-000 when it was killed, then to
/// node-001; `right` was read before.
std::vector<std::string> recorded() {
  std::ifstream in(ASHLAR_SOURCE_DIR "/tests/cluster/records/kube-apiserver-1.37.1-audit.log");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  EXPECT_EQ(lines.size(), 8u);
  return lines;
}
constexpr std::size_t kReceived = 2, kAnswered = 3, kReadReceived = 4, kReadAnswered = 5;  // of the record

BindAudit audit_of(const std::vector<std::string>& lines, const BindAudit::Forwarded& forwarded = {}) {
  const std::string file = ::testing::TempDir() + "/audit-" + std::to_string(::getpid()) + ".log";
  std::ofstream out(file);
  for (const std::string& line : lines) out << line << "\n";
  out.close();
  BindAudit audit(file, forwarded);
  std::filesystem::remove(file);
  return audit;
}
constexpr const char* kUs = "system:serviceaccount:ashlar:ashlar";

/// What a proxy would have noted of the binding whose reception stands in this line.
envtest::FaultProxy::Forwarded noted(const boost::json::object& event, const std::string& uid, const std::string& node,
                                     int status) {
  return {std::string(event.at("auditID").as_string()), "POST", std::string(event.at("requestURI").as_string()),
          R"({"apiVersion":"v1","kind":"Binding","metadata":{"uid":")" + uid +
              R"("},"target":{"kind":"Node","name":")" + node + "\"}}",
          status};
}
boost::json::object event_of(const std::string& line) { return boost::json::parse(line).as_object(); }
std::string uid_in(const std::string& line) {
  return std::string(event_of(line).at("requestObject").at("metadata").at("uid").as_string());
}

TEST(BindAudit, JudgesTheRecordOfAServerThatDied) {
  std::vector<std::string> lines = recorded();
  const std::string wrong = uid_in(lines[3]), right = uid_in(lines[7]);
  const auto forwarded = [&](const std::string& node) {
    return BindAudit::Forwarded{noted(event_of(lines[0]), wrong, node, 0), noted(event_of(lines[1]), right, node, 0)};
  };
  EXPECT_EQ(audit_of(lines, forwarded("node-000")).second_targets(kUs),
            std::vector<std::string>{"default/wrong " + wrong + ": node-000, then node-001"});
  EXPECT_TRUE(audit_of(lines, forwarded("node-001")).second_targets(kUs).empty()) << "the same node again";
  EXPECT_EQ(audit_of(lines).second_targets(kUs).size(), 2u) << "what cannot be judged is no good news";
  EXPECT_TRUE(audit_of(lines, forwarded("node-000")).second_targets("somebody else").empty());
  lines.erase(lines.begin() + kReadReceived, lines.begin() + kReadAnswered + 1);
  EXPECT_EQ(audit_of(lines, forwarded("node-000")).second_targets(kUs).size(), 2u) << "nobody read the pod";
}

struct Asked {
  std::string node;
  int code = 201;
  bool is_lost = false;  ///< the answer did not reach the binder
};
/// The recorded lines with other answers: one pod, asked to be bound to these nodes one after the other; between them
/// it is read where `reader` says by whom.
std::vector<std::string> judged(const std::vector<Asked>& asked, const std::string& reader = "") {
  const std::vector<std::string> record = recorded();
  std::vector<std::string> lines;
  BindAudit::Forwarded forwarded;
  for (const Asked& a : asked) {
    boost::json::object received = event_of(record[kReceived]), answered = event_of(record[kAnswered]);
    received["auditID"] = answered["auditID"] = "binding-" + std::to_string(lines.size());
    answered["responseStatus"].as_object()["code"] = a.code;
    answered["requestObject"].as_object()["target"].as_object()["name"] = a.node;
    forwarded.push_back(noted(received, uid_in(record[kAnswered]), a.node, a.is_lost ? 0 : a.code));
    lines.push_back(boost::json::serialize(received));
    if (a.code != 0) lines.push_back(boost::json::serialize(answered));
    for (const std::size_t line : {kReadReceived, kReadAnswered}) {
      boost::json::object read = event_of(record[line]);
      read["auditID"] = "read-" + std::to_string(forwarded.size());
      read["user"].as_object()["username"] = reader;
      read["objectRef"].as_object()["name"] = "wrong";
      if (!reader.empty()) lines.push_back(boost::json::serialize(read));
    }
  }
  return audit_of(lines, forwarded).second_targets(kUs);
}

TEST(BindAudit, SeesASecondTarget) {
  EXPECT_EQ(judged({{"a", 201}, {"b", 409}}).size(), 1u);
  EXPECT_EQ(judged({{"a", 201}, {"b", 409}}, kUs).size(), 1u) << "the pod was bound, and anyone may have read it";
  EXPECT_EQ(judged({{"a", 500}, {"b", 201}}).size(), 1u);
  EXPECT_EQ(judged({{"a", 500}, {"b", 201}}, "admin").size(), 1u) << "what others read tells the binder nothing";
  EXPECT_EQ(judged({{"a", 0}, {"b", 201}}).size(), 1u);
  EXPECT_EQ(judged({{"a", 409, true}, {"b", 201}}).size(), 1u) << "the binder did not learn of its refusal";
  EXPECT_EQ(judged({{"a", 500}, {"b", 409}, {"c", 409}}).size(), 2u)
      << "a refusal of the second says nothing about the first";
}

TEST(BindAudit, TakesAnAnswerOrAReadForDefinite) {
  EXPECT_TRUE(judged({{"a", 409}, {"b", 201}}).empty());
  EXPECT_TRUE(judged({{"a", 429}, {"b", 201}}).empty());
  EXPECT_TRUE(judged({{"a", 500}, {"b", 201}}, kUs).empty());
  EXPECT_TRUE(judged({{"a", 0}, {"b", 201}}, kUs).empty());
  EXPECT_TRUE(judged({{"a", 409, true}, {"b", 201}}, kUs).empty());
  EXPECT_TRUE(judged({{"a", 500}, {"a", 201}}).empty()) << "the same node again";
}

TEST(BindAudit, ARefusalThatCameAfterTheSecondWasSentDoesNotSettleTheFirst) {
  const std::vector<std::string> record = recorded();
  std::vector<std::string> lines;
  for (const char* node : {"a", "b"}) {
    for (const std::size_t line : {kReceived, kAnswered}) {
      boost::json::object event = event_of(record[line]);
      event["auditID"] = std::string("binding-") + node;
      if (line == kAnswered) {
        event["requestObject"].as_object()["target"].as_object()["name"] = node;
        event["responseStatus"].as_object()["code"] = 409;
      }
      lines.push_back(boost::json::serialize(event));
    }
  }
  EXPECT_TRUE(audit_of(lines).second_targets(kUs).empty());
  std::swap(lines[1], lines[2]);  // a received, b received, a answered, b answered
  EXPECT_EQ(audit_of(lines).second_targets(kUs).size(), 1u);
}

}  // namespace
}  // namespace ashlar::live_tests
