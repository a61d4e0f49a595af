// A bench for the tracker: a clock that stands where it is put, changes made by hand, and the engine behind it, all
// without an API server.
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

class TrackerBench : public ::testing::Test, public ClusterObjects, public Actuator {
 protected:
  TrackerBench()
      : TrackerBench(TrackerOptions{.levels = {{PooledString("block"), PooledString("l/block")},
                                               {PooledString("rack"), PooledString("l/rack")}}}) {}
  explicit TrackerBench(TrackerOptions options)
      : clock([this] { return time; }),
        source(clock),
        tracker(std::move(options), source, listeners()),
        engine(live_profile(builtin_profile("ashlar").value()).value()),
        driver(state, engine, {clock, source, *this}) {
    tracker.open();
  }

  // ---- what the cluster says ----------------------------------------------------------------------------------------
  void see(Node n) { tracker.take(Change<Node>{Change<Node>::Kind::kModified, std::move(n)}); }
  void see(Pod p) { tracker.take(Change<Pod>{Change<Pod>::Kind::kModified, std::move(p)}); }
  void gone(Pod p) { tracker.take(Change<Pod>{Change<Pod>::Kind::kDeleted, std::move(p)}); }
  void gone(Node n) { tracker.take(Change<Node>{Change<Node>::Kind::kDeleted, std::move(n)}); }
  void see(Namespace n) { tracker.take(Change<Namespace>{Change<Namespace>::Kind::kModified, std::move(n)}); }
  void see(PriorityClass c) {
    tracker.take(Change<PriorityClass>{Change<PriorityClass>::Kind::kModified, std::move(c)});
  }
  void gone(PodGroup g) { tracker.take(Change<PodGroup>{Change<PodGroup>::Kind::kDeleted, std::move(g)}); }
  void see(PodGroup g) { tracker.take(Change<PodGroup>{Change<PodGroup>::Kind::kModified, std::move(g)}); }

  /// Lets the engine decide; what it binds is confirmed at once.
  void step() {
    tracker.settle();
    plan = driver.step();
    tracker.note_taken();
    EXPECT_TRUE(state.is_consistent());
  }
  void submit(const Plan& p) override {
    for (const Action& action : p.actions) {
      const Bind& bind = std::get<Bind>(action);
      const PodSlot slot = tracker.pods().of_member(bind.member);
      tracker.note_assumed(slot, bind.node, bind.devices);
      if (is_answering) tracker.note_bound(slot, tracker.names().nodes.name(bind.node), bind.devices);
    }
  }
  /// Pods that are bound.
  int bound() {
    int count = 0;
    for (PodSlot s = 0; s < tracker.pods().slots(); ++s)
      count += tracker.pods()[s].phase == PodRecord::Phase::kBound ? 1 : 0;
    return count;
  }
  const Job& job_of(const std::string& name) { return state.job(record(name).job); }
  Hold hold_of(const std::string& pod_name) {
    const PodRecord& r = record(pod_name);
    return r.gang == kNoGang ? Hold{} : tracker.gang_hold(tracker.gangs()[r.gang]);
  }
  ConditionText verdict_of(const std::string& pod_name) {
    const JobId job = record(pod_name).job;
    return verdict_text({tracker.tables(), state}, job, engine.verdict_of(job));
  }
  const PodRecord& record(const std::string& name, const std::string& ns = "ns") {
    const PodSlot slot = tracker.pods().find(PooledString(ns), PooledString(name));
    static const PodRecord kNone;
    return slot == kNoPod ? kNone : tracker.pods()[slot];
  }
  std::string where(const std::string& name) {
    const PodRecord& r = record(name);
    return r.phase == PodRecord::Phase::kBound || r.phase == PodRecord::Phase::kAssumed
               ? tracker.names().nodes.name(r.node).str()
               : "";
  }
  std::int64_t idle_devices(const std::string& node_name) {
    return state.cluster().idle_devices()[tracker.names().nodes.find(PooledString(node_name)).row()];
  }
  Tracker::Listeners listeners() {
    return {.on_condition_due = [this](PodSlot slot) { due.push_back(tracker.pods()[slot].name.str()); },
            .on_group_condition_due = [this](GangSlot slot) { due_groups.push_back(tracker.gangs()[slot].name.str()); },
            .on_bound = {},
            .on_devices_changed = [this](PodSlot slot) { changed.push_back(tracker.pods()[slot].name.str()); },
            .log = [this](LogLevel, const LogLine& line) { said.push_back(line.message); }};
  }

  Millis time{1'000'000};
  std::vector<std::string> due, due_groups, said, changed;
  bool is_answering = true;
  WallClock clock;
  EventBuffer source;
  Tracker tracker;
  State state;
  Engine engine;
  Driver driver;
  Plan plan;
};

}  // namespace ashlar::kube
