#include "apps/ashlar/shared/report_pages.h"

#include <algorithm>
#include <utility>

namespace ashlar {
namespace {

constexpr double kSecondsPerHour = 3600;

/// Names in order of first appearance.
template <class Run>
std::vector<std::string> policies_of(std::span<const Run> runs) {
  std::vector<std::string> names;
  for (const Run& run : runs) {
    if (std::find(names.begin(), names.end(), run.policy) == names.end()) names.push_back(run.policy);
  }
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string seeds_of(std::span<const sim::PackingRun> runs) {
  std::vector<std::string> seeds;
  for (const sim::PackingRun& run : runs) {
    const std::string seed = std::to_string(run.seed);
    if (std::find(seeds.begin(), seeds.end(), seed) == seeds.end()) seeds.push_back(seed);
  }
  return joined(seeds);
}

/// Files by their names alone: a page is shown to others, whose folders differ.
ReportFacts without_folders(ReportFacts facts) {
  for (auto& [name, value] : facts) value.erase(0, value.rfind('/') + 1);
  return facts;
}

/// One line per policy over the loads from `first` on: the mean of its runs.
web::Chart load_chart(std::span<const sim::PackingRun> runs, sim::LoadCurve sim::PackingRun::*curve,
                      std::size_t first) {
  web::Chart chart{.x_label = "arrived load", .x_unit = "%", .y_unit = "%"};
  for (const std::string& policy : policies_of(runs)) {
    web::Series series{.name = policy};
    for (std::size_t k = first; k < sim::kLoadBins; ++k) {
      double sum = 0;
      int count = 0;
      for (const sim::PackingRun& run : runs) {
        const std::optional<double>& value = (run.*curve)[k];
        if (run.policy != policy || !value) continue;
        sum += *value;
        ++count;
      }
      if (count == 0) continue;
      series.x.push_back(static_cast<double>(k));
      series.y.push_back(sum / count);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

/// The load from which a closer look shows more than the diagonal: four fifths of the largest.
std::size_t closer_look(std::span<const sim::PackingRun> runs) {
  std::size_t last = 0;
  for (const sim::PackingRun& run : runs) {
    for (std::size_t k = 0; k < sim::kLoadBins; ++k) {
      if (run.allocation_percent[k]) last = std::max(last, k);
    }
  }
  return last * 13 / 20;
}

/// Waits below a second are drawn at one second: a logarithmic axis has no zero.
web::Chart wait_chart(std::span<const sim::QueueRun> runs, bool is_tail) {
  web::Chart chart{.x_label = "time in the queue",
                   .is_x_log = true,
                   .is_y_log = is_tail,
                   .is_stepped = true,
                   .x_unit = "duration",
                   .y_unit = "%"};
  for (const sim::QueueRun& run : runs) {
    web::Series series{.name = run.policy};
    for (const sim::WaitPoint& point : run.waits) {
      const double x = std::max(point.seconds, 1.0);
      const double y = 100 * (is_tail ? 1 - point.share : point.share);
      if (!series.x.empty() && series.x.back() == x) {
        series.y.back() = y;
      } else {
        series.x.push_back(x);
        series.y.push_back(y);
      }
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

web::Chart time_chart(std::span<const sim::QueueRun> runs, std::vector<sim::SeriesPoint> sim::QueueRun::*points) {
  web::Chart chart{.x_label = "time since the start", .is_stepped = true, .x_unit = "duration"};
  for (const sim::QueueRun& run : runs) {
    if ((run.*points).empty()) continue;
    web::Series series{.name = run.policy};
    for (const sim::SeriesPoint& point : run.*points) {
      series.x.push_back(point.hours * kSecondsPerHour);
      series.y.push_back(point.value);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

void add(web::ReportPage& page, web::Chart chart, std::string title, std::string y_label, std::string reading) {
  if (chart.series.empty()) return;
  chart.title = std::move(title);
  chart.y_label = std::move(y_label);
  chart.reading = std::move(reading);
  page.charts.push_back(std::move(chart));
}

}  // namespace

web::ReportPage packing_page(std::span<const sim::PackingRun> runs, const ReportFacts& facts) {
  web::ReportPage page{
      .title = "Packing replay",
      .subtitle = "Pods arrive one by one and stay. GPU allocation and fragmentation under each policy."};
  page.facts.emplace_back("policies", joined(policies_of(runs)));
  page.facts.emplace_back("seeds", seeds_of(runs));
  for (auto& fact : without_folders(facts)) page.facts.push_back(std::move(fact));
  page.summary = sim::packing_rows(runs);
  page.notes = {
      "“at 100 %” is the fraction of all GPU capacity in use when pods requesting 100 % of it had arrived, as the mean "
      "over the arrivals whose load "
      "rounds to that percent. “fragmented” is that of the highest load. A pod that fits nowhere is rejected and not "
      "tried again; no pod ends. "
      "Times exclude reading the input."};
  const bool has_seeds = runs.size() > policies_of(runs).size();
  const std::string mean = has_seeds ? " Lines are means over the seeds." : "";
  add(page, load_chart(runs, &sim::PackingRun::allocation_percent, 0), "GPUs allocated over load", "allocated",
      "Higher is better. As long as everything fits, a line follows the diagonal; where it bends, pods are being "
      "rejected." +
          mean);
  add(page, load_chart(runs, &sim::PackingRun::allocation_percent, closer_look(runs)),
      "GPUs allocated over load, at high load", "allocated",
      "The same, zoomed in to where the policies differ." + mean);
  add(page, load_chart(runs, &sim::PackingRun::fragmented_percent, 0), "Fragmented GPUs over load",
      "fragmented, of all GPUs",
      "Idle GPU capacity that a pod drawn from the typical mix could not use, of all capacity. Lower is better." +
          mean);
  add(page, load_chart(runs, &sim::PackingRun::fragment_ratio_percent, 0), "Fragmented fraction of idle GPUs",
      "fragmented, of idle GPUs",
      "The same as a fraction of the idle capacity: at 100 % a typical pod can use none of it. Lower is better." +
          mean);
  return page;
}

web::ReportPage queue_page(const std::string& title, std::span<const sim::QueueRun> runs, const ReportFacts& facts) {
  web::ReportPage page{.title = title,
                       .subtitle = "The same jobs on the same GPUs under each policy, and how long they wait."};
  page.facts.emplace_back("policies", joined(policies_of(runs)));
  for (auto& fact : without_folders(facts)) page.facts.push_back(std::move(fact));
  page.summary = sim::queue_rows(runs);
  page.notes = {
      "JCT is job completion time, from submission to end; queue time is all waiting, before the first start and after "
      "each preemption. p99.9 is the "
      "wait that one job in a thousand exceeds. Makespan is from the first submission to the last end. Jobs that had "
      "not ended count as "
      "unfinished and are excluded from the means: a policy that leaves more of them may look faster. The last column "
      "is the run time of the "
      "simulation itself, without reading the input."};
  add(page, wait_chart(runs, false), "Jobs started by waiting time", "fraction of jobs",
      "Fraction of jobs that waited at most x; the left edge is one second or less. Higher and further left is "
      "better.");
  add(page, wait_chart(runs, true), "Long waits", "fraction of jobs that wait longer",
      "Fraction of jobs that waited longer than x, both axes logarithmic: the tail that the first plot hides. Lower "
      "and further left is better.");
  add(
      page,
      [&] {
        web::Chart chart = time_chart(runs, &sim::QueueRun::busy_percent);
        chart.y_unit = "%";
        return chart;
      }(),
      "GPUs in use over time", "GPUs in use",
      "Mean fraction of all GPUs that ran a job. GPU time that is idle while jobs wait is lost.");
  add(page, time_chart(runs, &sim::QueueRun::waiting_jobs), "Jobs waiting over time", "waiting jobs",
      "Mean number of jobs in the queue.");
  return page;
}

}  // namespace ashlar
