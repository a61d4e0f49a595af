// Every series of a leadership with its value: of queues, gangs, jobs that wait, pods that are held, and of what was
// written.
#include "live/read/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "scripted_api.h"
#include "term_bench.h"

namespace ashlar::kube {
namespace {

using Lines = std::vector<std::string>;

/// The series that begin with one of these words, in the order of the alphabet; without the buckets of histograms.
Lines series_of(const std::string& text, const std::vector<std::string_view>& beginnings) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const auto begins_it = [&](std::string_view b) { return line.starts_with(b); };
    if (line.find("_bucket") == std::string::npos && std::any_of(beginnings.begin(), beginnings.end(), begins_it))
      lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string value_of(const std::string& text, const std::string& series) {
  const std::size_t at = text.find("\n" + series + " ");
  if (at == std::string::npos) return "none";
  const std::size_t from = at + 1 + series.size() + 1;
  return text.substr(from, text.find('\n', from) - from);
}

TEST(SchedulerMetrics, WhatIsObservedIsSummedUp) {
  SchedulerMetrics metrics;
  Plan plan;
  plan.examined = 7;
  for (const VerdictKind kind :
       {VerdictKind::kPlaced, VerdictKind::kPlaced, VerdictKind::kWaits, VerdictKind::kOverQuota})
    plan.verdicts.push_back({JobId(0), {kind, {}, {}, {}}});
  metrics.observe_step(0.25, plan);
  metrics.observe_step(0.5, {});
  metrics.observe_decision(true, Millis(2'500));
  metrics.observe_decision(false, Millis(40));
  metrics.observe_decision(false, Millis(60));
  metrics.observe_queue_wait(PooledString("a"), Millis(1'000));
  metrics.observe_queue_wait(PooledString("b"), Millis(3'000));
  metrics.observe_gang(PooledString("a"), "rack");
  metrics.observe_gang(PooledString("b"), "rack");
  const std::string told = metrics.text(nullptr, {});
  EXPECT_EQ(
      series_of(told, {"ashlar_scheduling", "ashlar_jobs", "ashlar_decision_latency", "ashlar_gang", "ashlar_queue"}),
      (Lines{R"(ashlar_decision_latency_seconds_count{kind="gang"} 1)",
             R"(ashlar_decision_latency_seconds_count{kind="pod"} 2)",
             R"(ashlar_decision_latency_seconds_sum{kind="gang"} 2.5)",
             R"(ashlar_decision_latency_seconds_sum{kind="pod"} 0.1)",
             R"(ashlar_gang_placement_total{level="rack",queue="a"} 1)",
             R"(ashlar_gang_placement_total{level="rack",queue="b"} 1)", "ashlar_jobs_examined_total 7",
             R"(ashlar_queue_wait_seconds_count{queue="a"} 1)", R"(ashlar_queue_wait_seconds_count{queue="b"} 1)",
             R"(ashlar_queue_wait_seconds_sum{queue="a"} 1)", R"(ashlar_queue_wait_seconds_sum{queue="b"} 3)",
             R"(ashlar_scheduling_attempts_total{result="NeverFits"} 0)",
             R"(ashlar_scheduling_attempts_total{result="OverQuota"} 1)",
             R"(ashlar_scheduling_attempts_total{result="Pending"} 0)",
             R"(ashlar_scheduling_attempts_total{result="Placed"} 2)",
             R"(ashlar_scheduling_attempts_total{result="Waits"} 1)",
             R"(ashlar_scheduling_cycle_duration_seconds_count{phase="all"} 2)",
             R"(ashlar_scheduling_cycle_duration_seconds_sum{phase="all"} 0.75)"}));
  EXPECT_EQ(series_of(metrics.text(nullptr, {}, MetricsReader::kAnybody), {"ashlar_gang", "ashlar_queue"}),
            (Lines{R"(ashlar_gang_placement_total{level="rack"} 2)", "ashlar_queue_wait_seconds_count 2",
                   "ashlar_queue_wait_seconds_sum 4"}));
  EXPECT_EQ(value_of(told, R"(ashlar_scheduling_cycle_duration_seconds_bucket{phase="all",le="0.1"})"), "0");
  EXPECT_EQ(value_of(told, R"(ashlar_scheduling_cycle_duration_seconds_bucket{phase="all",le="0.3"})"), "1");
  EXPECT_EQ(value_of(told, R"(ashlar_scheduling_cycle_duration_seconds_bucket{phase="all",le="1"})"), "2");
  EXPECT_EQ(value_of(told, R"(ashlar_decision_latency_seconds_bucket{kind="gang",le="1"})"), "0");
  EXPECT_EQ(value_of(told, R"(ashlar_decision_latency_seconds_bucket{kind="gang",le="3"})"), "1");
  EXPECT_EQ(value_of(told, R"(ashlar_queue_wait_seconds_bucket{queue="b",le="1"})"), "0");
  EXPECT_EQ(value_of(told, R"(ashlar_queue_wait_seconds_bucket{queue="b",le="3"})"), "1");
}

struct MetricsOfATerm : ::testing::Test, TermBench {
  double number_of(const std::string& series) { return std::stod(value_of(all_metrics(), series)); }
  Lines lines(const std::vector<std::string_view>& beginnings, MetricsReader reader = MetricsReader::kOperator) {
    return series_of(metrics.text(replica.get(), {}, reader), beginnings);
  }
};

TEST_F(MetricsOfATerm, SayWhatIsThereWhatWaitsAndWhatIsHeld) {
  options.tracker.queues = {{.name = "team",
                             .parent = "",
                             .quota = {2'000, kUnlimited, kUnlimited},
                             .shares = {{"nvidia.com/gpu", "", 500, kUnlimited}, {"nvidia.com/gpu", "H100", 4'000, 0}}},
                            {"lab", "", {kUnlimited, kUnlimited, kUnlimited}, {{"nvidia.com/gpu", "H100", 4'000}}}};
  begin();
  see(node_in("r0", "a"));
  see(node_in("r1", "b"));
  see(node("c", 4,
           {{PooledString("l/block"), PooledString("b")},
            {PooledString("l/rack"), PooledString("r1")},
            {PooledString("nvidia.com/gpu.product"), PooledString("H100")}}));
  see(node("d", 2, {{PooledString("l/block"), PooledString("e")}}));
  Node closed = node_in("r0", "e");
  closed.problem = PooledString("status: odd");
  see(closed);
  see(node("cpu", 0));
  Pod runs = with(pod("runs", 1), "ashlar.dev/queue", "team");
  runs.node_name = PooledString("a");
  see(runs);
  see(with(pod("lab", 1), "ashlar.dev/queue", "lab"));
  see(with(pod("over", 2), "ashlar.dev/queue", "team"));
  see(with(pod("over2", 2), "ashlar.dev/queue", "team"));
  see(pod("big", 9));
  see(with(pod("lost", 1), "ashlar.dev/queue", "nowhere"));
  see(gang_pod("g", 0, 2, 1));
  for (int i = 0; i < 2; ++i) see(gang_pod("h", i, 2, 1));
  leader_term->turn();
  now += Millis(1'000);
  EXPECT_EQ(lines({"ashlar_queue_b"}), (Lines{R"(ashlar_queue_borrowed_gpus{model="H100",queue="team"} 0)",
                                              R"(ashlar_queue_borrowed_gpus{model="any",queue="team"} 0.5)"}));
  EXPECT_EQ(lines({"ashlar_queue_a", "ashlar_queue_g", "ashlar_queue_p", "ashlar_pods"}),
            (Lines{"ashlar_pods 9", R"(ashlar_pods_held{reason="MembersMissing"} 1)",
                   R"(ashlar_pods_held{reason="QueueUnknown"} 1)",
                   R"(ashlar_queue_allocated_gpus{model="any",queue="default"} 2)",
                   R"(ashlar_queue_allocated_gpus{model="any",queue="lab"} 1)",
                   R"(ashlar_queue_allocated_gpus{model="any",queue="team"} 1)",
                   R"(ashlar_queue_guaranteed_gpus{model="H100",queue="team"} 4)",
                   R"(ashlar_queue_guaranteed_gpus{model="any",queue="team"} 0.5)",
                   R"(ashlar_queue_pending_gpus{model="any",queue="default"} 9)",
                   R"(ashlar_queue_pending_gpus{model="any",queue="team"} 4)",
                   R"(ashlar_queue_pending_jobs{queue="default",reason="ExceedsClusterMax"} 1)",
                   R"(ashlar_queue_pending_jobs{queue="team",reason="QuotaExhausted"} 2)"}));
  EXPECT_EQ(lines({"ashlar_queue_limit"}),
            (Lines{R"(ashlar_queue_limit_used{model="H100",queue="lab",resource="nvidia.com/gpu"} 0)",
                   R"(ashlar_queue_limit_used{model="H100",queue="team",resource="nvidia.com/gpu"} 0)",
                   R"(ashlar_queue_limit_used{model="any",queue="team",resource="nvidia.com/gpu"} 1)",
                   R"(ashlar_queue_limit{model="H100",queue="lab",resource="nvidia.com/gpu"} 4)",
                   R"(ashlar_queue_limit{model="H100",queue="team",resource="nvidia.com/gpu"} 4)",
                   R"(ashlar_queue_limit{model="any",queue="team",resource="nvidia.com/gpu"} 2)"}));
  EXPECT_EQ(lines({"ashlar_queue_limit"}, MetricsReader::kAnybody), Lines{});
  EXPECT_NEAR(number_of("ashlar_queue_share_ratio{queue=\"default\"}"), 2.0 / 22, 1e-9) << "the closed node has none";
  EXPECT_NEAR(number_of("ashlar_queue_share_ratio{queue=\"team\"}"), 1.0 / 22, 1e-9);
  EXPECT_EQ(lines({"ashlar_queue_a", "ashlar_queue_g", "ashlar_queue_p", "ashlar_queue_s"}, MetricsReader::kAnybody),
            (Lines{R"(ashlar_queue_pending_gpus{model="any"} 13)",
                   R"(ashlar_queue_pending_jobs{reason="ExceedsClusterMax"} 1)",
                   R"(ashlar_queue_pending_jobs{reason="QuotaExhausted"} 2)"}));
  const auto gang = [](const char* level, const char* model, const char* devices) {
    return std::string("ashlar_largest_placeable_gang_gpus{level=\"") + level + "\",model=\"" + model + "\"} " +
           devices;
  };
  EXPECT_EQ(lines({"ashlar_largest"}),
            (Lines{gang("any", "H100", "4"), gang("any", "unknown", "14"), gang("block", "H100", "4"),
                   gang("block", "unknown", "13"), gang("node", "H100", "4"), gang("node", "unknown", "8"),
                   gang("rack", "H100", "4"), gang("rack", "unknown", "8")}))
      << "d has a block and no rack";
  const auto fragmented = [&](const char* level, const char* model) {
    return number_of(std::string("ashlar_fragmentation_ratio{level=\"") + level + "\",model=\"" + model + "\"}");
  };
  for (const char* level : {"any", "block", "rack", "node"}) EXPECT_EQ(fragmented(level, "H100"), 0) << level;
  EXPECT_EQ(fragmented("any", "unknown"), 0);
  EXPECT_NEAR(fragmented("block", "unknown"), 1.0 / 14, 1e-9);
  EXPECT_NEAR(fragmented("rack", "unknown"), 6.0 / 14, 1e-9);
  EXPECT_NEAR(fragmented("node", "unknown"), 6.0 / 14, 1e-9);
  EXPECT_EQ(
      lines({"ashlar_nodes", "ashlar_snapshot", "ashlar_steps", "ashlar_cards", "ashlar_gangs", "ashlar_quarantined",
             "ashlar_resources", "ashlar_searches", "ashlar_binds", "ashlar_status", "ashlar_never"}),
      (Lines{"ashlar_binds_given_up_total 0",
             "ashlar_binds_held 0",
             "ashlar_binds_in_flight 3",
             "ashlar_binds_slow 0",
             "ashlar_binds_undone_total 0",
             "ashlar_binds_waiting 0",
             "ashlar_cards_overclaimed 0",
             "ashlar_cards_unhealthy 0",
             "ashlar_gangs_without_level 0",
             "ashlar_never_fits_unproven_total 0",
             "ashlar_nodes 5",
             "ashlar_quarantined_pods 0",
             "ashlar_resources_refused 0",
             "ashlar_searches_put_off 0",
             "ashlar_snapshot_age_seconds 0",
             "ashlar_status_refreshes_total 0",
             "ashlar_status_refreshes_waiting 0",
             "ashlar_status_write_failures_total 0",
             "ashlar_status_write_retries_total 0",
             "ashlar_status_writes_waiting 7",
             "ashlar_steps_total 1"}));
}

// The names of the configured queues are handed over before the events that define them are applied.
TEST_F(MetricsOfATerm, NoQueueIsReportedBeforeTheFirstDecision) {
  options.tracker.queues = {{"team", "", {2'000, kUnlimited, kUnlimited}}};
  begin();
  leader_term->stop_deciding();
  leader_term->turn();
  EXPECT_EQ(replica->tables().names.queues.size(), 3u);
  EXPECT_EQ(lines({"ashlar_queue_a", "ashlar_queue_g"}), Lines{});
  EXPECT_EQ(lines({"ashlar_steps"}), Lines{"ashlar_steps_total 0"});
}

TEST_F(MetricsOfATerm, AGpuInPartialUseIsFreeCapacityThatNoGangGets) {
  begin();
  see(node("n", 2));
  Pod shares = pod("shares", 0);
  shares.requests.extended = {{PooledString("ashlar.dev/gpu-milli"), 500}};
  see(shares);
  leader_term->turn();
  EXPECT_NEAR(number_of(R"(ashlar_fragmentation_ratio{level="node",model="unknown"})"), 1.0 / 3, 1e-9)
      << "1 of 1.5 GPUs";
}

TEST_F(MetricsOfATerm, SayWhatBecameOfJobs) {
  options.tracker.queues = {{"team", "", {kUnlimited, kUnlimited, kUnlimited}}};
  begin();
  see(node_in("r0", "a", 1));
  Pod old = with(pod("old", 1), "ashlar.dev/queue", "team");
  old.node_name = PooledString("a");
  see(old);
  leader_term->turn();
  const Pod waits = with(with(pod("waits", 1), "ashlar.dev/queue", "team"), "ashlar.dev/duration", "80s");
  see(waits);
  leader_term->turn();
  now += Millis(60'000);
  gone(old);
  leader_term->turn();
  EXPECT_EQ(lines({"ashlar_job_b"}), Lines{}) << "when the old one began is not known";
  now += Millis(40'000);
  gone(waits);
  leader_term->turn();
  EXPECT_EQ(lines({"ashlar_job_b", "ashlar_duration"}),
            (Lines{"ashlar_duration_prediction_error_ratio_count 1", "ashlar_duration_prediction_error_ratio_sum 0.5",
                   R"(ashlar_duration_stated_jobs_total{end="BeyondP90"} 0)",
                   R"(ashlar_duration_stated_jobs_total{end="WithinP50"} 1)",
                   R"(ashlar_duration_stated_jobs_total{end="WithinP90"} 0)",
                   R"(ashlar_job_bounded_slowdown_ratio_count{queue="team"} 1)",
                   R"(ashlar_job_bounded_slowdown_ratio_sum{queue="team"} 2.5)"}))
      << "it waited 60 s, ran 40 s and stated 80 s";
  EXPECT_EQ(lines({"ashlar_job_b"}, MetricsReader::kAnybody),
            (Lines{"ashlar_job_bounded_slowdown_ratio_count 1", "ashlar_job_bounded_slowdown_ratio_sum 2.5"}));
  now += Millis(5'000);
  EXPECT_EQ(lines({"ashlar_account"}), (Lines{R"(ashlar_account_gpu_seconds_total{model="any",queue="default"} 0)",
                                              R"(ashlar_account_gpu_seconds_total{model="any",queue="team"} 100)"}));
  EXPECT_EQ(lines({"ashlar_account"}, MetricsReader::kAnybody), Lines{});
}

TEST_F(MetricsOfATerm, AJobIsBackfilledIfItStartsWhileOneAheadWaitsWithAReservation) {
  begin();
  see(node("a", 8));
  const auto lasting = [](Pod p, const char* duration) { return with(std::move(p), "ashlar.dev/duration", duration); };
  see(lasting(pod("runs", 4), "1000s"));
  leader_term->turn();
  now += Millis(1'000);
  see(pod("head", 8));
  leader_term->turn();
  EXPECT_EQ(value_of(all_metrics(), "ashlar_backfill_jobs_total"), "0");
  now += Millis(1'000);
  see(lasting(pod("small", 2), "10s"));
  leader_term->turn();
  EXPECT_EQ(value_of(all_metrics(), "ashlar_backfill_jobs_total"), "1");
}

TEST_F(MetricsOfATerm, CountHowWellDurationsWereStated) {
  begin();
  see(node("a", 8));
  now += Millis(1'000);
  const auto stating = [](const char* name) {
    return with(with(pod(name, 1), "ashlar.dev/duration", "10s"), "ashlar.dev/duration-p90", "20s");
  };
  for (const char* name : {"first", "second", "third", "fourth"}) see(stating(name));
  leader_term->turn();
  for (const char* name : {"first", "second", "third", "fourth"}) {
    now += Millis(7'000);  // the last two end after 21 s and 28 s
    gone(stating(name));
    leader_term->turn();
  }
  EXPECT_EQ(lines({"ashlar_duration_s"}), (Lines{R"(ashlar_duration_stated_jobs_total{end="BeyondP90"} 2)",
                                                 R"(ashlar_duration_stated_jobs_total{end="WithinP50"} 1)",
                                                 R"(ashlar_duration_stated_jobs_total{end="WithinP90"} 1)"}));
}

TEST_F(MetricsOfATerm, CountTheReservationsThatWereKept) {
  begin();
  see(node("a", 8));
  const auto lasting = [](Pod p, const char* duration) { return with(std::move(p), "ashlar.dev/duration", duration); };
  const auto head_waits = [&](const std::string& number, int runs_seconds) {
    const Pod first = lasting(pod("first" + number, 4), "100s");
    const Pod head = lasting(pod("head" + number, 8), "10s");
    const Pod behind = lasting(pod("behind" + number, 4), "1000s");
    see(first);
    leader_term->turn();
    see(head);
    leader_term->turn();
    see(behind);
    leader_term->turn();
    now += Millis(runs_seconds * 1000);
    gone(behind);
    gone(first);
    leader_term->turn();
    gone(head);
    leader_term->turn();
    return lines({"ashlar_reservation_jobs"});
  };
  const auto counted = [](int in_time, int late) {
    return Lines{R"(ashlar_reservation_jobs_total{start="InTime"} )" + std::to_string(in_time),
                 R"(ashlar_reservation_jobs_total{start="Late"} )" + std::to_string(late)};
  };
  const auto differences = [&] { return lines({"ashlar_start_prediction"}); };
  const auto differing = [](int in_time, double in_time_seconds, int late, double late_seconds, const char* coverage) {
    std::ostringstream text;
    text << R"(ashlar_start_prediction_coverage_ratio{quantile="0.9"} )" << coverage << '\n'
         << R"(ashlar_start_prediction_error_seconds_count{start="InTime"} )" << in_time << '\n'
         << R"(ashlar_start_prediction_error_seconds_count{start="Late"} )" << late << '\n'
         << R"(ashlar_start_prediction_error_seconds_sum{start="InTime"} )" << in_time_seconds << '\n'
         << R"(ashlar_start_prediction_error_seconds_sum{start="Late"} )" << late_seconds << '\n';
    return series_of(text.str(), {""});
  };
  EXPECT_EQ(differences().size(), 4u) << "no share before the first start";
  EXPECT_EQ(head_waits("0", 50), counted(1, 0));
  EXPECT_EQ(differences(), differing(1, 50, 0, 0, "1"));
  EXPECT_EQ(head_waits("1", 101), counted(2, 0)) << "within a second";
  EXPECT_EQ(head_waits("2", 104), counted(2, 1));
  EXPECT_EQ(head_waits("3", 102), counted(2, 2));
  EXPECT_EQ(differences(), differing(2, 51, 2, 6, "0.5"));
}

TEST_F(MetricsOfATerm, AShortJobIsNoWorseThanOneOfTenSeconds) {
  begin();
  see(node("a", 1));
  see(pod("first", 1));
  leader_term->turn();
  see(pod("second", 1));
  leader_term->turn();
  now += Millis(15'000);
  gone(pod("first", 1));
  leader_term->turn();
  now += Millis(1'000);
  gone(pod("second", 1));
  leader_term->turn();
  EXPECT_EQ(lines({"ashlar_job_b"}, MetricsReader::kAnybody),
            (Lines{"ashlar_job_bounded_slowdown_ratio_count 1", "ashlar_job_bounded_slowdown_ratio_sum 1.6"}));
}

TEST_F(MetricsOfATerm, AGangThatLostMembersHasRecoveredWhenAllHaveAPlaceAgain) {
  begin();
  see(node("a", 2));
  see(node("b", 2));
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 2));
  leader_term->turn();
  now += Millis(1'000);
  gone(gang_pod("g", 1, 2, 2));
  leader_term->turn();
  now += Millis(7'000);
  EXPECT_EQ(value_of(all_metrics(), R"(ashlar_gang_recovery_seconds_count{cause="PodGone"})"), "0");
  see(gang_pod("g", 2, 2, 2));
  leader_term->turn();
  EXPECT_EQ(lines({"ashlar_gang_r"}), (Lines{R"(ashlar_gang_recovery_seconds_count{cause="NodeGone"} 0)",
                                             R"(ashlar_gang_recovery_seconds_count{cause="PodGone"} 1)",
                                             R"(ashlar_gang_recovery_seconds_sum{cause="NodeGone"} 0)",
                                             R"(ashlar_gang_recovery_seconds_sum{cause="PodGone"} 7)"}));
}

TEST_F(MetricsOfATerm, FieldsOfANewerServerAreCountedByName) {
  begin();
  Node newer = node("a", 8);
  newer.unknown_fields = PooledString("NodeStatus.15");
  see(newer);
  newer.name = PooledString("b");
  see(newer);
  StorageClass of_class;
  of_class.name = PooledString("c");
  of_class.unknown_fields = PooledString("StorageClass.9");
  see(of_class);
  leader_term->turn();
  EXPECT_EQ(lines({"ashlar_unknown"}), (Lines{"ashlar_unknown_fields 2"}));
}

struct MetricsOfWrites : ::testing::Test, TermBench {
  static http::ServerResponse answer(const http::ServerRequest& request) {
    if (request.method == "GET") return ScriptedApi::missing();
    if (!request.path.ends_with("/binding")) return http::json(200, "{}");
    const std::string name = request.path.substr(0, request.path.size() - 8);
    const int status = std::stoi(name.substr(name.rfind('-') + 1));
    return status == 201 ? ScriptedApi::done() : ScriptedApi::status(status);
  }
  ~MetricsOfWrites() override { leader_term.reset(); }
  ScriptedApi server{answer};
};

TEST_F(MetricsOfWrites, CountBindingsByTheirOutcome) {
  options.binder.retry_min = options.binder.hold_min = Millis(3'600'000);
  begin(server.api());
  see(node_in("r0", "n0", 16));
  for (const char* name : {"a-201", "b-201", "c-409", "d-404", "e-403", "f-500", "g-504"}) see(pod(name, 1));
  for (const char* name : {"i-201", "j-201", "k-201"}) see(pod(name, 20));  // no node has this many
  const auto turned_until = [&](const auto& is_done) {
    return server.until([&] {
      leader_term->turn();
      return is_done() && server.api().in_flight() == 0;
    });
  };
  const auto& counters = leader_term->binder().counters();
  ASSERT_TRUE(turned_until(
      [&] { return counters.sent == 7 && counters.reread == 4 && leader_term->status_writer().depth() == 0; }));
  see(pod("h-429", 1));
  ASSERT_TRUE(turned_until([&] { return counters.sent == 8; }));
  const auto requests = [](const char* verb, const char* resource, const char* code, int count) {
    return std::string("ashlar_api_requests_total{code=\"") + code + "\",resource=\"" + resource + "\",verb=\"" + verb +
           "\"} " + std::to_string(count);
  };
  EXPECT_EQ(series_of(all_metrics(), {"ashlar_api"}),
            (Lines{requests("create", "pods/binding", "201", 2), requests("create", "pods/binding", "404", 1),
                   requests("create", "pods/binding", "409", 1), requests("create", "pods/binding", "429", 1),
                   requests("create", "events", "any", 6), requests("patch", "podgroups/status", "any", 0),
                   requests("get", "pods", "any", 4), requests("patch", "pods/status", "any", 4),
                   requests("create", "pods/binding", "other", 3)}));
  EXPECT_EQ(series_of(all_metrics(), {"ashlar_bind", "ashlar_status", "ashlar_events", "ashlar_pods"}),
            (Lines{R"(ashlar_bind_errors_total{reason="Conflict"} 1)",
                   R"(ashlar_bind_errors_total{reason="Denied"} 1)",
                   R"(ashlar_bind_errors_total{reason="NotFound"} 1)",
                   R"(ashlar_bind_errors_total{reason="ServerError"} 1)",
                   R"(ashlar_bind_errors_total{reason="Throttled"} 1)",
                   R"(ashlar_bind_errors_total{reason="Unknown"} 1)",
                   "ashlar_binds_given_up_total 1",
                   "ashlar_binds_held 1",
                   "ashlar_binds_in_flight 0",
                   "ashlar_binds_slow 0",
                   "ashlar_binds_undone_total 0",
                   "ashlar_binds_waiting 0",
                   "ashlar_events_dropped_total 0",
                   "ashlar_pods 7",
                   R"(ashlar_pods_held{reason="BindFailed"} 1)",
                   "ashlar_status_refreshes_total 0",
                   "ashlar_status_refreshes_waiting 0",
                   "ashlar_status_write_failures_total 0",
                   "ashlar_status_write_retries_total 0",
                   "ashlar_status_writes_waiting 0"}));
}

}  // namespace
}  // namespace ashlar::kube
