// A bench for the intake: a clock that stands where it is put, changes made by hand, and the engine behind it, all without an API server.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cluster_objects.h"
#include "engine/driver.h"
#include "live/lead/leader_term.h"
#include "live/read/pod_text.h"
#include "live/track/tracker.h"

namespace ashlar::kube {

class IntakeBench : public ::testing::Test, public ClusterObjects, public Actuator {
 protected:
  IntakeBench() : IntakeBench(IntakeOptions{.levels = {{Text("block"), Text("l/block")}, {Text("rack"), Text("l/rack")}}}) {}
  explicit IntakeBench(IntakeOptions options)
      : clock([this] { return time; }),
        source(clock),
        intake(std::move(options), source, listeners()),
        engine(live_profile(builtin_profile("ashlar").value()).value()),
        driver(state, engine, {clock, source, *this}) {
    intake.open();
  }

  // ---- what the cluster says -----------------------------------------------------------------------------------------------------------
  void see(Node n) { intake.take(Change<Node>{Change<Node>::Kind::kModified, std::move(n)}); }
  void see(Pod p) { intake.take(Change<Pod>{Change<Pod>::Kind::kModified, std::move(p)}); }
  void gone(Pod p) { intake.take(Change<Pod>{Change<Pod>::Kind::kDeleted, std::move(p)}); }
  void gone(Node n) { intake.take(Change<Node>{Change<Node>::Kind::kDeleted, std::move(n)}); }
  void see(Namespace n) { intake.take(Change<Namespace>{Change<Namespace>::Kind::kModified, std::move(n)}); }
  void see(PriorityClass c) { intake.take(Change<PriorityClass>{Change<PriorityClass>::Kind::kModified, std::move(c)}); }
  void gone(PodGroup g) { intake.take(Change<PodGroup>{Change<PodGroup>::Kind::kDeleted, std::move(g)}); }
  void see(PodGroup g) { intake.take(Change<PodGroup>{Change<PodGroup>::Kind::kModified, std::move(g)}); }

  /// Lets the engine decide; what it binds is confirmed at once.
  void step() {
    intake.settle();
    plan = driver.step();
    intake.note_taken();
    EXPECT_TRUE(state.is_consistent());
  }
  void submit(const Plan& p) override {
    for (const Action& action : p.actions) {
      const Bind& bind = std::get<Bind>(action);
      const PodSlot slot = intake.pods().of_member(bind.member);
      intake.note_assumed(slot, bind.node, bind.devices);
      if (is_answering) intake.note_bound(slot, intake.names().nodes.name(bind.node), bind.devices);
    }
  }
  Hold hold_of(const std::string& pod_name) {
    const PodRecord& r = record(pod_name);
    return r.gang == kNoGang ? Hold{} : intake.gang_hold(intake.gangs()[r.gang]);
  }
  ConditionText verdict_of(const std::string& pod_name) {
    const JobId job = record(pod_name).job;
    return verdict_text({intake, state}, job, engine.verdict_of(job));
  }
  const PodRecord& record(const std::string& name, const std::string& ns = "ns") {
    const PodSlot slot = intake.pods().find(Text(ns), Text(name));
    static const PodRecord kNone;
    return slot == kNoPod ? kNone : intake.pods()[slot];
  }
  std::string where(const std::string& name) {
    const PodRecord& r = record(name);
    return r.phase == PodRecord::Phase::kBound || r.phase == PodRecord::Phase::kAssumed ? intake.names().nodes.name(r.node).str() : "";
  }
  std::int64_t idle_devices(const std::string& node_name) { return state.cluster.idle_devices()[intake.names().nodes.find(Text(node_name)).row()]; }
  LiveIntake::Listeners listeners() {
    return {.on_condition_due = [this](PodSlot slot) { due.push_back(intake.pods()[slot].name.str()); },
            .on_group_condition_due = [this](GangSlot slot) { due_groups.push_back(intake.gangs()[slot].name.str()); },
            .on_bound = {},
            .on_devices_changed = [this](PodSlot slot) { changed.push_back(intake.pods()[slot].name.str()); },
            .log = [this](LogLevel, const LogLine& line) { said.push_back(line.message); }};
  }

  Millis time{1'000'000};
  std::vector<std::string> due, due_groups, said, changed;
  bool is_answering = true;
  LiveClock clock;
  LiveSource source;
  LiveIntake intake;
  State state;
  Engine engine;
  Driver driver;
  Plan plan;
};

}  // namespace ashlar::kube
