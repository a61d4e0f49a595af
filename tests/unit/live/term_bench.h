// A bench for a whole leadership: a clock that stands where it is put, changes made by hand, and what it says. Its
// server is whatever a test gives it; none at all by default, so that bindings stay under way.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster_objects.h"
#include "kubeclient/api.h"
#include "live/lead/leader_term.h"

namespace ashlar::kube {

struct TermBench : ClusterObjects {
  TermBench() {
    options.tracker.levels = {{PooledString("block"), PooledString("l/block")},
                              {PooledString("rack"), PooledString("l/rack")}};
    options.profile = [](const auto&) { return builtin_profile("ashlar").value(); };
    options.log = [this](LogLevel level, const LogLine& line) {
      if (level == LogLevel::kInfo) log.push_back(line);
    };
  }
  void begin(Api& api) {
    options.hand_over = [this](HandOver&& news) {
      ++hand_overs;
      replica->take(std::move(news));
      EXPECT_TRUE(replica->is_faithful()) << "the readers' state differs from the leader's";
    };
    leader_term = std::make_unique<LeaderTerm>(api, options, metrics, [this] { return is_leading; });
    replica = leader_term->begin_replica([this] { return now; });
  }
  void begin() {
    auto made = Api::create({.access = {.origin = "test", .server = "http://127.0.0.1:1"},
                             .now = [this] { return now - set_back; },
                             .monotonic = [this] { return now; }});
    ASSERT_TRUE(made.ok());
    nowhere = std::move(made).value();
    begin(*nowhere);
  }

  template <class T>
  void see(T object) {
    leader_term->take(Change<T>{Change<T>::Kind::kAdded, std::move(object)});
  }
  void gone(Pod p) { leader_term->take(Change<Pod>{Change<Pod>::Kind::kDeleted, std::move(p)}); }
  /// In rack `rack` of block b.
  static Node node_in(const std::string& rack, const std::string& name, std::int64_t gpus = 8) {
    return node(name, gpus,
                {{PooledString("l/block"), PooledString("b")}, {PooledString("l/rack"), PooledString(rack)}});
  }
  PodSlot slot_of(const std::string& name) {
    return leader_term->tracker().pods().find(PooledString("ns"), PooledString(name));
  }
  const PodRecord& record(const std::string& name) { return leader_term->tracker().pods()[slot_of(name)]; }
  PodRecord::Phase phase(const std::string& name) { return record(name).phase; }
  ConditionText condition_of(const std::string& name) { return leader_term->pod_text(slot_of(name)); }
  std::string all_metrics() { return metrics.text(replica.get(), {}); }
  bool says(const std::string& part) { return all_metrics().find(part) != std::string::npos; }

  Millis now{1'000'000};
  Millis set_back{0};  ///< the wall clock
  int hand_overs = 0;
  bool is_leading = true;
  SchedulerMetrics metrics;
  LeaderTermOptions options;
  std::vector<LogLine> log;
  std::unique_ptr<Api> nowhere;
  std::unique_ptr<ReadReplica> replica;  ///< as of the last turn
  std::unique_ptr<LeaderTerm> leader_term;
};

}  // namespace ashlar::kube
