// Pods with writes before their binding. The objects written are volumes of a few letters at a scripted API server.
#pragma once

#include "live/write/commit/commit.h"

#include <map>

#include "actuation_bench.h"

namespace ashlar::kube {

/// Volumes 0 to N-1, each with an owner's name or none.
class Volumes {
 public:
  static std::string path(std::size_t i) { return "/api/v1/persistentvolumes/pv-" + std::to_string(i); }
  static std::string body(const std::string& owner) { return R"({"kind":"Volume","owner":")" + owner + "\"}"; }
  http::ServerResponse serve(const http::ServerRequest& request) {
    const std::string path = request.path;
    std::vector<int>& answers = answers_[request.method + path];
    const int status = answers.empty() ? 200 : answers.front();
    if (!answers.empty()) answers.erase(answers.begin());
    const bool is_done = status < 300 || status == kLost;
    if (request.method == "PATCH" && is_done) owners[path] = request.body;
    if (status == kLost) return ScriptedApi::status(504);
    if (status == 404) return ScriptedApi::missing();
    if (status == kPage) return http::json(200, "<html>welcome</html>");
    return status < 300 ? http::json(200, body(owners[path])) : ScriptedApi::status(status);
  }
  static constexpr int kLost = 1'504;  ///< done, and answered with 504
  static constexpr int kPage = 1'200;  ///< a proxy's page
  /// What the next requests about a volume are answered with.
  void answer(const std::string& method, std::size_t i, std::vector<int> statuses) {
    answers_[method + path(i)] = std::move(statuses);
  }
  std::map<std::string, std::string> owners;  ///< by path

 private:
  std::map<std::string, std::vector<int>> answers_;
};

struct Wanted {
  std::size_t volumes = 2;
  CommitWait wait;
  std::string problem;  ///< known beforehand
  bool is_taken_back = true;
  int ended = 0, given_up = 0, looked = 0;
  std::vector<std::string> read;  ///< what each patch was made of
};

class VolumeWork final : public CommitWork {
 public:
  VolumeWork(std::string owner, Wanted& wanted) : owner_(std::move(owner)), wanted_(wanted) {}
  ~VolumeWork() override { ++wanted_.ended; }
  std::string problem() const override { return wanted_.problem; }
  std::size_t writes() const override { return wanted_.volumes; }
  std::string subject(std::size_t i) const override { return "volume pv-" + std::to_string(i); }
  std::string path(std::size_t i) const override { return Volumes::path(i); }
  std::string patch(std::size_t, std::string_view object) const override {
    wanted_.read.emplace_back(object);
    return owner_;
  }
  WriteFinding look_at(std::size_t, std::string_view object) const override {
    if (object == Volumes::body(owner_)) return WriteFinding::kDone;
    if (object == Volumes::body("")) return WriteFinding::kUndone;
    return object.starts_with(R"({"kind":"Volume")") ? WriteFinding::kOther : WriteFinding::kUnreadable;
  }
  bool is_taken_back() const override { return wanted_.is_taken_back; }
  std::string undo_patch(std::size_t, std::string_view) const override { return " "; }
  CommitWait wait() const override {
    ++wanted_.looked;
    return wanted_.wait;
  }
  void note_given_up() override { ++wanted_.given_up; }

 private:
  std::string owner_;
  Wanted& wanted_;
};

class Preparation : public Actuation {
 protected:
  ~Preparation() override { binder.reset(); }
  http::ServerResponse serve(const http::ServerRequest& request) override {
    if (request.path.find("/persistentvolumes/") == std::string::npos) return Actuation::serve(request);
    http::ServerRequest trimmed = request;
    if (trimmed.body == " ") trimmed.body.clear();
    return volumes.serve(trimmed);
  }
  std::shared_ptr<CommitWork> work_of(PodSlot slot) override {
    const std::string name = tracker.pods()[slot].name.str();
    return wants.contains(name) ? std::make_shared<VolumeWork>(name, wants[name]) : nullptr;
  }
  std::string owner(std::size_t i) {
    std::string found;
    server.change([&] { found = volumes.owners[Volumes::path(i)]; });
    return found;
  }
  std::size_t sent(const char* method, std::size_t i) { return server.count({method, Volumes::path(i)}); }
  bool is_taken_back(const std::string& name = "p0") {
    return until([&] { return wants[name].ended == 1 && binder->is_idle(); });
  }
  void expect_held(const std::string& words) {
    ASSERT_TRUE(until([&] { return phase() == Phase::kHeld; }));
    EXPECT_EQ(record("p0").hold, HoldReason::kBindFailed);
    EXPECT_EQ(record("p0").hold_detail.view(), words);
    step();
    EXPECT_EQ(idle_devices("n"), 8) << "its place is free";
    EXPECT_EQ(server.count({"POST"}), 0u) << "no binding was sent";
  }

  Volumes volumes;
  std::map<std::string, Wanted> wants{{"p0", {}}};
};

}  // namespace ashlar::kube
