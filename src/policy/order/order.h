// order: which job goes first, by a key (major, minor), smaller first; equal keys go in order of entering the queue, or
// of starting. Times are milliseconds. Sources: Helios (SC'21) for QSSF and Tiresias (NSDI'19) for two-level attained
// service, with the exact rules of Helios' simulator.
//   fifo          by submission; a job that was evicted counts from then
//   sjf           by expected duration (p50); unknown durations last
//   qssf          by estimate (Job::order_hint) x devices, then devices; if all waiting jobs have just come: by devices
//   qssf-oracle   the same with the expected duration in place of the estimate
//   srtf          by remaining time; a waiting job goes before a running one of equal remaining time
//   tiresias      attained service of at most 18,000 GPU-seconds first, then by submission, running before waiting
//   priority-age  higher priority first, then as fifo
//   priority-remaining  higher priority first, then by what is expected to be left to run, less a seventh of the time
//                 since submission; more than its estimate: three tenths of what it has run
// Example (sjf): durations 60 s, 10 s, unknown: the second, the first, the third. Cost: a few loads.
#pragma once

#include "policy/order_policy.h"
#include "state/jobs/jobs.h"

namespace ashlar {

/// device-milliseconds: Tiresias' first queue, as published for Philly (18,000 GPU-s)
inline constexpr std::int64_t kAttainedLowMax = 18'000'000;

OrderKey fifo_waiting(const Job& job);
OrderKey sjf_waiting(const Job& job);
OrderKey qssf_waiting(const Job& job);
OrderKey qssf_newcomers(const Job& job);
OrderKey qssf_oracle_waiting(const Job& job);
OrderKey srtf_waiting(const Job& job);
OrderKey srtf_running(const Job& job, Millis now);
OrderKey tiresias_waiting(const Job& job);
OrderKey tiresias_running(const Job& job, Millis now);
Millis tiresias_changes_at(const Job& job, Millis now);
OrderKey priority_age_waiting(const Job& job);
OrderKey priority_remaining_waiting(const Job& job);
OrderKey priority_remaining_gives_way_to(const Job& running, Millis now);
Millis priority_remaining_gives_way_at(const Job& running, const OrderKey& waiting, Millis now);

}  // namespace ashlar
