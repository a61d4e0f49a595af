#include "cluster/scheduler_world.h"

#include <stdlib.h>

#include <cstdio>

#include "cluster/deployed.h"
#include "kubeclient/decode/decode.h"
#include "store/decision_log.h"
#include "store/replay.h"

namespace ashlar::live_tests {

RunningScheduler::RunningScheduler(kube::SchedulerOptions options) {
  std::string folder = (std::filesystem::temp_directory_path() / "ashlar-decisions-XXXXXX").string();
  if (::mkdtemp(folder.data()) != nullptr) decisions_ = folder;
  options.leader_term.open_recorder = [folder](const State& state, const Engine& engine,
                                               const kube::Tracker&) -> std::unique_ptr<Recorder> {
    auto log = store::DecisionLog::open({.folder = folder}, {state, engine});
    EXPECT_TRUE(log.ok()) << log.error().message;
    return log ? std::move(log).value() : nullptr;
  };
  Result<std::unique_ptr<kube::Scheduler>> created = kube::Scheduler::create(std::move(options));
  if (!created) {
    trouble_ = created.error().message;
    return;
  }
  scheduler_ = std::move(created).value();
  thread_ = std::thread([this] { scheduler_->run(); });
}

RunningScheduler::~RunningScheduler() {
  stop();
  scheduler_.reset();
  replay();
  std::filesystem::remove_all(decisions_);
}

void RunningScheduler::stop() {
  end([this] { scheduler_->stop(); });
}

void RunningScheduler::kill() {
  end([this] { scheduler_->abandon(); });
}

void RunningScheduler::replay() const {
  if (decisions_.empty() || std::filesystem::is_empty(decisions_)) return;  // it never led
  const Result<store::ReplayReport> report = store::replay_file(decisions_.string());
  if (!report)
    ADD_FAILURE() << report.error().message;
  else
    EXPECT_TRUE(report->is_identical()) << store::report_text(*report);
}

void RunningScheduler::end(const std::function<void()>& how) {
  if (!thread_.joinable()) return;
  how();
  thread_.join();
}

void SchedulerWorld::SetUpTestSuite() {
  Result<std::unique_ptr<ControlPlane>> plane =
      cluster::start_deployed({.pod_groups = pod_groups_, .with_audit = true});
  absent_ = !plane && plane.error().kind == Error::Kind::kNotFound;
  if (plane)
    plane_ = std::move(plane).value();
  else
    why_ = plane.error().message;
}

void SchedulerWorld::SetUp() {
  if (absent_) GTEST_SKIP() << "skipped, no control plane: " << why_;
  ASSERT_TRUE(plane_) << why_;
  if (!plane_->api_server().is_running()) {
    ASSERT_TRUE(plane_->start_api_server().ok());
  }
  Result<std::unique_ptr<kube::Api>> api = plane_->connect();
  ASSERT_TRUE(api.ok()) << api.error().message;
  api_ = std::move(api).value();
  clean();
  std::error_code none_yet;
  const auto size = std::filesystem::file_size(plane_->audit_log(), none_yet);
  audit_from_ = none_yet ? 0 : static_cast<std::streamoff>(size);
}

void SchedulerWorld::TearDown() {
  if (plane_ && !IsSkipped()) {
    const std::vector<std::string> found = audit().second_targets(kSchedulerUser);
    EXPECT_EQ(found.size(), second_targets_) << ::testing::PrintToString(found);
  }
  if (HasFailure()) {
    for (const std::string& line : log_) std::fprintf(stderr, "  scheduler: %s\n", line.c_str());
  }
}

bool SchedulerWorld::wait(const std::function<bool()>& until, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!until()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    api_->poll(Millis(20));
  }
  return true;
}

Answer SchedulerWorld::answer_of(const std::function<void(OnAnswer)>& write) {
  std::optional<Answer> answer;
  write([&](Answer a) { answer = std::move(a); });
  wait([&] { return answer.has_value(); });
  return answer ? std::move(*answer) : Answer{.result = Error{Error::Kind::kTimeout, "no answer at all"}};
}

void SchedulerWorld::must(const std::function<void(OnAnswer)>& write) {
  const Answer answer = answer_of(write);
  ASSERT_TRUE(answer.ok()) << answer.result.error().message;
}

void SchedulerWorld::all(std::size_t count, const std::function<void(std::size_t, OnAnswer)>& write) {
  std::size_t answered = 0;
  std::string failure;
  for (std::size_t i = 0; i < count; ++i)
    write(i, [&](const Answer& a) {
      ++answered;
      if (!a.ok() && failure.empty()) failure = a.result.error().message;
    });
  ASSERT_TRUE(wait([&] { return answered == count; }, std::chrono::seconds(120)));
  ASSERT_EQ(failure, "");
}

void SchedulerWorld::post_nodes(std::size_t count, const std::function<kube::NodeSpec(std::size_t)>& spec) {
  all(count, [&](std::size_t i, OnAnswer done) { kube::post_node(*api_, spec(i), api_->now(), std::move(done)); });
}

void SchedulerWorld::post_gpu_nodes(std::size_t count, std::size_t per_rack, Pairs more_labels) {
  post_nodes(count, [&](std::size_t i) {
    kube::NodeSpec spec;
    spec.name = node_name(i);
    spec.labels = more_labels;
    spec.labels.emplace_back("kubernetes.io/hostname", spec.name);
    spec.labels.emplace_back("example.com/rack", "r" + std::to_string(i / per_rack));
    spec.labels.emplace_back("example.com/block", "b" + std::to_string(i / per_rack / 4));
    spec.allocatable = {
        {"cpu", "96"}, {"memory", "768Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}, {"ashlar.dev/gpu-milli", "8000"}};
    return spec;
  });
}

std::string SchedulerWorld::node_name(std::size_t i) {
  char text[32];
  std::snprintf(text, sizeof text, "node-%03zu", i);
  return text;
}

kube::PodSpec SchedulerWorld::gpu_pod(const std::string& name, int gpus) {
  kube::PodSpec spec;
  spec.name = name;
  spec.scheduler_name = "ashlar";
  spec.requests = {{"cpu", "1"}, {"memory", "1Gi"}};
  if (gpus > 0) spec.requests.emplace_back("nvidia.com/gpu", std::to_string(gpus));
  return spec;
}

void SchedulerWorld::post_pods(const std::vector<kube::PodSpec>& specs) {
  all(specs.size(), [&](std::size_t i, OnAnswer done) { kube::create_pod(*api_, specs[i], std::move(done)); });
}

std::map<std::string, kube::Pod> SchedulerWorld::pods(const std::string& ns) {
  std::map<std::string, kube::Pod> found;
  const Answer answer = answer_of([&](OnAnswer done) {
    api_->send({.path = "/api/v1/namespaces/" + ns + "/pods", .accept = kube::kProtobufType}, std::move(done));
  });
  if (!answer.ok()) return found;
  Result<kube::ListPage<kube::Pod>> page = kube::decode_list<kube::Pod>(answer.body);
  if (page)
    for (kube::Pod& pod : page->items) found[pod.name.str()] = std::move(pod);
  return found;
}

std::string SchedulerWorld::events() {
  return answer_of([&](OnAnswer done) {
           api_->send({.path = "/apis/events.k8s.io/v1/namespaces/default/events"}, std::move(done));
         })
      .body;
}

bool SchedulerWorld::wait_event(const std::string& reason, const std::string& note) {
  return wait([&] {
    const std::string all = events();
    return all.find("\"reason\":\"" + reason + "\"") != std::string::npos && all.find(note) != std::string::npos;
  });
}

std::size_t SchedulerWorld::bound_count(const std::string& prefix) {
  std::size_t count = 0;
  for (const auto& [name, p] : pods()) count += name.starts_with(prefix) && !p.node_name.empty() ? 1 : 0;
  return count;
}

bool SchedulerWorld::wait_bound(std::size_t count, const std::string& prefix, std::chrono::seconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (bound_count(prefix) >= count) return true;
    pause(Millis(50));
  }
  return false;
}

void SchedulerWorld::pause(Millis time) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(time.value);
  while (std::chrono::steady_clock::now() < until) api_->poll(Millis(10));
}

void SchedulerWorld::expect_no_oversubscription(std::int64_t devices_per_node) {
  const std::map<std::string, std::int64_t> there{
      {"cpu", 96'000}, {"memory", std::int64_t{768} << 30}, {"pods", 110}, {"gpu", devices_per_node * 1000}};
  std::map<std::string, std::map<std::string, std::int64_t>> used;
  std::map<std::string, std::int64_t> milli_by_device;
  for (const auto& [name, p] : pods()) {
    if (p.node_name.empty() || p.is_terminal()) continue;
    const std::int64_t milli =
        kube::amount_of(p.requests, "nvidia.com/gpu") * 1000 + kube::amount_of(p.requests, "ashlar.dev/gpu-milli");
    auto& on_node = used[p.node_name.str()];
    on_node["gpu"] += milli;
    on_node["cpu"] += p.requests.cpu.value;
    on_node["memory"] += p.requests.memory.value;
    on_node["pods"] += 1;
    const kube::PooledString* devices = p.annotations ? kube::find_label(*p.annotations, "ashlar.dev/cards") : nullptr;
    if (devices == nullptr) continue;
    const DeviceMask mask = parse_devices(*devices);
    mask.each(
        [&](int device) { milli_by_device[p.node_name.str() + "/" + std::to_string(device)] += milli / mask.count(); });
  }
  for (const auto& [node, amounts] : used)
    for (const auto& [resource, amount] : amounts) EXPECT_LE(amount, there.at(resource)) << resource << " on " << node;
  for (const auto& [device, milli] : milli_by_device) EXPECT_LE(milli, 1000) << device;
}

BindAudit SchedulerWorld::audit() const {
  return BindAudit(plane_->audit_log(), proxy_ ? proxy_->forwarded("/pods") : BindAudit::Forwarded{}, audit_from_);
}

void SchedulerWorld::clean() {
  const std::string groups = kube::pod_group_path(pod_groups_, "default", "");
  for (const std::string path :
       {"/api/v1/namespaces/default/pods?gracePeriodSeconds=0", "/api/v1/nodes", groups.c_str(),
        "/apis/events.k8s.io/v1/namespaces/default/events", "/apis/coordination.k8s.io/v1/namespaces/ashlar/leases"})
    answer_of([&](OnAnswer done) { api_->send({.method = http::Method::kDelete, .path = path}, std::move(done)); });
  wait([&] { return pods().empty(); }, std::chrono::seconds(20));
}

kube::SchedulerOptions SchedulerWorld::options(const std::string& identity) {
  kube::SchedulerOptions o;
  o.access = api_->access();
  o.access.token = plane_->scheduler_token();
  o.leader_term.tracker.levels = {{kube::PooledString("block"), kube::PooledString("example.com/block")},
                                  {kube::PooledString("rack"), kube::PooledString("example.com/rack")}};
  o.leader_term.profile = [](const auto&) {
    Result<Profile> profile = builtin_profile("ashlar");
    return std::move(profile).value();
  };
  o.leader.lease_namespace = "ashlar";
  o.leader.identity = identity;
  o.log = [this, identity](kube::SchedulerOptions::LogLevel, const std::string& message) {
    const std::lock_guard lock(log_lock_);
    log_.push_back(identity + ": " + message);
  };
  return o;
}

void SchedulerWorld::start_proxy() {
  Result<std::unique_ptr<envtest::FaultProxy>> proxy = envtest::FaultProxy::start(plane_->server());
  ASSERT_TRUE(proxy.ok()) << proxy.error().message;
  proxy_ = std::move(proxy).value();
}

kube::SchedulerOptions SchedulerWorld::options_through_proxy() {
  kube::SchedulerOptions o = options();
  o.access.server = proxy_->url();
  o.access.tls = {};
  return o;
}

std::unique_ptr<RunningScheduler> SchedulerWorld::start(kube::SchedulerOptions o) {
  auto scheduler = std::make_unique<RunningScheduler>(std::move(o));
  EXPECT_EQ(scheduler->trouble(), "");
  return scheduler;
}

std::string SchedulerWorld::ask(const RunningScheduler& scheduler, const std::string& path) {
  Result<std::unique_ptr<http::Client>> client =
      http::Client::create({.base_url = "http://127.0.0.1:" + std::to_string(scheduler.port())});
  if (!client) return client.error().message;
  std::optional<std::string> body;
  (*client)->send({.path = path},
                  [&](Result<http::Response> answer) { body = answer ? answer->body : answer.error().message; });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!body && std::chrono::steady_clock::now() < deadline) (*client)->poll(Millis(20));
  return body.value_or("no answer");
}

std::int64_t SchedulerWorld::metric(const RunningScheduler& scheduler, const std::string& name) {
  const std::string all = ask(scheduler, "/metrics");
  const std::size_t at = all.find("\n" + name + " ");
  return at == std::string::npos ? -1 : static_cast<std::int64_t>(std::stod(all.substr(at + name.size() + 2)));
}

bool SchedulerWorld::has_logged(const std::string& part) {
  const std::lock_guard lock(log_lock_);
  for (const std::string& line : log_)
    if (line.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace ashlar::live_tests
