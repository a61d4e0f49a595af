#include "live/read/job_history.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <variant>

namespace ashlar::kube {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildHistogram;
using Buckets = prometheus::Histogram::BucketBoundaries;

const Buckets kSlowdownBuckets{1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 30, 100, 1000};
const Buckets kErrorBuckets{0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10};
const Buckets kStartBuckets{1, 3, 10, 30, 100, 300, 1000, 3600, 10'800, 43'200};
const Buckets kRecoveryBuckets{0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3600};

/// Jobs shorter than this count as this long (Feitelson et al. 1997): a job of a second that waits a minute is no case.
constexpr Millis kBoundedRun{10'000};
constexpr Millis kCountEvery{1'000};

bool is_gang(const Job& job) { return job.members_min > 1 || job.members_present > 1; }
bool is_whole(const Job& job) { return job.members_placed >= std::max(job.members_min, 1u); }

}  // namespace

struct JobHistory::Series {
  using Histograms = prometheus::Family<prometheus::Histogram>;
  static Histograms& histograms(prometheus::Registry& registry, const char* name, const char* help) {
    return BuildHistogram().Name(name).Help(help).Register(registry);
  }
  static Histograms& slowdowns(prometheus::Registry& registry) {
    return histograms(registry, "ashlar_job_bounded_slowdown_ratio",
                      "Time from the submission of a job to its end, over its run time or 10 s if it was shorter");
  }
  prometheus::Registry registry, by_queue, together;
  Histograms& slowdown_by_queue = slowdowns(by_queue);
  prometheus::Histogram& slowdown = slowdowns(together).Add({}, kSlowdownBuckets);
  prometheus::Histogram& error = histograms(registry, "ashlar_duration_prediction_error_ratio",
                                            "Difference of a job's run time from the stated one, over the stated one")
                                     .Add({}, kErrorBuckets);
  using Counters = prometheus::Family<prometheus::Counter>;
  Counters& by_stated = BuildCounter()
                            .Name("ashlar_duration_stated_jobs_total")
                            .Help("Jobs that stated a run time, by the one of their durations within which they ended")
                            .Register(registry);
  prometheus::Counter& within_p50 = by_stated.Add({{"end", "WithinP50"}});
  prometheus::Counter& within_p90 = by_stated.Add({{"end", "WithinP90"}});
  prometheus::Counter& beyond_p90 = by_stated.Add({{"end", "BeyondP90"}});
  Counters& promises = BuildCounter()
                           .Name("ashlar_reservation_jobs_total")
                           .Help("Jobs that started after a reservation, by whether they did so by its first time")
                           .Register(registry);
  prometheus::Counter& kept = promises.Add({{"start", "InTime"}});
  prometheus::Counter& late = promises.Add({{"start", "Late"}});
  Histograms& start_errors =
      histograms(registry, "ashlar_start_prediction_error_seconds",
                 "Time between a job's start and the first time that was reserved for it, without its sign");
  prometheus::Histogram& before_promise = start_errors.Add({{"start", "InTime"}}, kStartBuckets);
  prometheus::Histogram& after_promise = start_errors.Add({{"start", "Late"}}, kStartBuckets);
  prometheus::Family<prometheus::Gauge>& coverage =
      prometheus::BuildGauge()
          .Name("ashlar_start_prediction_coverage_ratio")
          .Help("Share of jobs with a reservation that started by its first time, which rests on the p90 of others")
          .Register(registry);
  prometheus::Counter& backfilled =
      BuildCounter()
          .Name("ashlar_backfill_jobs_total")
          .Help("Jobs placed while a job ahead of them in their queue waited with a reservation")
          .Register(registry)
          .Add({});
  Histograms& recoveries = histograms(registry, "ashlar_gang_recovery_seconds",
                                      "Time from the loss of members of a started gang until it was whole again");
  prometheus::Histogram& by_node = recoveries.Add({{"cause", "NodeGone"}}, kRecoveryBuckets);
  prometheus::Histogram& by_pod = recoveries.Add({{"cause", "PodGone"}}, kRecoveryBuckets);
};

JobHistory::JobHistory() : series_(std::make_unique<Series>()) {}
JobHistory::~JobHistory() = default;

void JobHistory::note(const State& state, const ObjectNames& names, const Event& event) {
  began_ = std::min(began_, event.at);
  if (const auto* ended = std::get_if<Ended>(&event.body); ended != nullptr && state.is_live(ended->job)) {
    losses_.erase(ended->job);
    promised_.erase(ended->job);
    const Job& job = state.job(ended->job);
    if (job.is_ours) note_end(job, names.queues.name(job.queue).str(), event.at);
  }
  if (const auto* gone = std::get_if<MemberGone>(&event.body); gone != nullptr && state.is_live(gone->member))
    note_loss(state, state.member(gone->member).job, event.at, false);
  if (const auto* gone = std::get_if<NodeGone>(&event.body); gone != nullptr) {
    for (std::size_t row = 0; row < state.member_rows(); ++row) {
      const MemberId member(row);
      if (state.is_live(member) && state.member(member).node == gone->node)
        note_loss(state, state.member(member).job, event.at, true);
    }
  }
}

void JobHistory::note_end(const Job& job, const std::string& queue, Millis now) {
  if (job.started_at <= began_) return;  // when it really started is not known
  const Millis ran = job.served + (job.is_started ? now - job.started_at : Millis(0));
  if (ran <= Millis(0)) return;
  const double bounded = static_cast<double>(std::max(ran, kBoundedRun).value);
  const double slowdown = std::max(1.0, static_cast<double>((now - job.submitted).value) / bounded);
  series_->slowdown.Observe(slowdown);
  series_->slowdown_by_queue.Add({{"queue", queue}}, kSlowdownBuckets).Observe(slowdown);
  if (!job.estimate.is_known() || job.estimate.p50 <= Millis(0)) return;
  const double stated = static_cast<double>(job.estimate.p50.value);
  series_->error.Observe(std::abs(static_cast<double>(ran.value) - stated) / stated);
  (ran <= job.estimate.p50   ? series_->within_p50
   : ran <= job.estimate.p90 ? series_->within_p90
                             : series_->beyond_p90)
      .Increment();
}

void JobHistory::note_loss(const State& state, JobId id, Millis at, bool is_by_node) {
  const Job& job = state.job(id);
  if (!job.is_ours || !job.is_started || !is_gang(job)) return;
  if (losses_.try_emplace(id, Loss{at, is_by_node}).second) fresh_losses_.push_back(id);
}

/// A gang that lost only surplus members is whole, and has nothing to recover from.
void JobHistory::note_applied(const State& state) {
  for (const JobId job : fresh_losses_)
    if (!state.is_live(job) || is_whole(state.job(job))) losses_.erase(job);
  fresh_losses_.clear();
}

/// A sum of signed differences could fall, which Prometheus takes for a restart: each sign has its own.
void JobHistory::note_start(Millis reserved, Millis now) {
  const bool is_kept = now <= reserved + Reservation::kRenewedAfter;
  (is_kept ? series_->kept : series_->late).Increment();
  (is_kept ? series_->before_promise : series_->after_promise)
      .Observe(std::abs(static_cast<double>((now - reserved).value)) * 1e-3);
  const double kept = series_->kept.Value();
  series_->coverage.Add({{"quantile", "0.9"}}).Set(kept / (kept + series_->late.Value()));
}

void JobHistory::note_placed(const State& state, const Engine& engine, const Plan& plan) {
  const auto order = [&](const Job& job) { return std::pair(engine.profile().order->waiting(job), job.backlog_seq); };
  for (const VerdictChange& change : plan.verdicts) {
    if (change.verdict.kind != VerdictKind::kPlaced || !state.is_live(change.job)) continue;
    if (const auto it = promised_.find(change.job); it != promised_.end()) {
      note_start(it->second, plan.at);
      promised_.erase(it);
    }
    const Job& placed = state.job(change.job);
    const auto is_ahead = [&](const Reservation& reservation) {
      const PendingQueue::Entry& waits = reservation.entry;
      if (reservation.at == Millis::max() || !state.is_live(waits.job) || waits.job == change.job) return false;
      return state.job(waits.job).queue == placed.queue && std::pair(waits.key, waits.turn) < order(placed);
    };
    const auto& reservations = engine.reservations();
    if (std::any_of(reservations.begin(), reservations.end(), is_ahead)) series_->backfilled.Increment();
  }
  for (const Reservation& reservation : engine.reservations())
    if (reservation.at != Millis::max() && !reservation.is_draining)
      promised_.try_emplace(reservation.entry.job, reservation.at);
}

void JobHistory::settle(const State& state, Millis now) {
  for (auto it = losses_.begin(); it != losses_.end();) {
    const bool is_recovered = state.is_live(it->first) && is_whole(state.job(it->first));
    if (is_recovered)
      (it->second.is_by_node ? series_->by_node : series_->by_pod)
          .Observe(static_cast<double>((now - it->second.since).value) * 1e-3);
    it = is_recovered ? losses_.erase(it) : std::next(it);
  }
  if (now < counted_to_ + kCountEvery) return;
  const double seconds = counted_to_ == Millis(0) ? 0 : static_cast<double>((now - counted_to_).value) * 1e-3;
  counted_to_ = now;
  held_milli_.resize(state.queues().rows());
  gpu_seconds_.resize(state.queues().rows());
  for (std::size_t row = 0; row < held_milli_.size(); ++row) {
    gpu_seconds_[row] += static_cast<double>(held_milli_[row]) * 1e-3 * seconds;
    held_milli_[row] = state.queues().is_known(QueueId(row)) ? state.queues().used(QueueId(row))[0] : 0;
  }
}

void JobHistory::add_to(std::vector<prometheus::MetricFamily>& families, const ObjectNames& names,
                        bool has_queues) const {
  const auto collect = [&](const prometheus::Registry& registry) {
    for (prometheus::MetricFamily& family : registry.Collect()) families.push_back(std::move(family));
  };
  collect(series_->registry);
  collect(has_queues ? series_->by_queue : series_->together);
  if (!has_queues) return;
  prometheus::Registry accounts;
  prometheus::Family<prometheus::Counter>& seconds = BuildCounter()
                                                         .Name("ashlar_account_gpu_seconds_total")
                                                         .Help("GPU time held by the queue's jobs")
                                                         .Register(accounts);
  for (std::size_t row = 1; row < std::min(gpu_seconds_.size(), names.queues.size()); ++row)
    seconds.Add({{"queue", names.queues.name(QueueId(row)).str()}, {"model", "any"}}).Increment(gpu_seconds_[row]);
  collect(accounts);
}

}  // namespace ashlar::kube
