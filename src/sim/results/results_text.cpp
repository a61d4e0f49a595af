// The written forms of results: rows for tables, JSON and CSV. Numbers are printed the same on every machine (fmt, no
// locale): percentages with 4 decimals, seconds by their shortest exact digits.
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "sim/results/results.h"

namespace ashlar::sim {
namespace {

constexpr std::size_t kTableStep = 10;  ///< loads of the table: every tenth percent...
/// ...and of those the last that a run reached: on a page, and on a terminal
constexpr std::size_t kTableColumns = 7, kNarrowColumns = 4;

std::string percent(const std::optional<double>& value) { return value ? fmt::format("{:.4f}", *value) : ""; }

/// 12,345.6: long numbers with grouped digits.
std::string grouped(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::size_t dot = text.find('.');
  const std::size_t whole = dot == std::string::npos ? text.size() : dot;
  const std::size_t first = text[0] == '-' ? 1 : 0;
  for (std::size_t at = whole; at > first + 3;) text.insert(at -= 3, 1, ',');
  return text;
}

/// Seconds over the jobs that ended; without any there is no mean.
std::string of_ended(const QueueRun& run, double value, int decimals) {
  return run.jobs == 0 ? "-" : grouped(value, decimals);
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// A cell of a CSV file, quoted where it must be.
std::string csv_text(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

void append_curve(std::string& out, std::string_view name, const LoadCurve& curve) {
  fmt::format_to(std::back_inserter(out), "\"{}\":{{", name);
  for (std::size_t k = 0; k < curve.size(); ++k) {
    fmt::format_to(std::back_inserter(out), "{}\"{}\":{}", k == 0 ? "" : ",", k, curve[k] ? percent(curve[k]) : "null");
  }
  out += '}';
}

/// `,"name":[[hours,value],...]`; nothing if it was not measured.
void append_series(std::string& out, std::string_view name, const std::vector<SeriesPoint>& points) {
  if (points.empty()) return;
  fmt::format_to(std::back_inserter(out), ",\"{}\":[", name);
  for (std::size_t i = 0; i < points.size(); ++i)
    fmt::format_to(std::back_inserter(out), "{}[{:.4f},{:.4f}]", i == 0 ? "" : ",", points[i].hours, points[i].value);
  out += "]";
}

std::string queue_object(const QueueRun& run) {
  std::string out = fmt::format(
      "{{\"policy\":{},\"jobs\":{},\"unfinished_jobs\":{},\"mean_jct_seconds\":{},\"p99_jct_seconds\":{},"
      "\"mean_queue_seconds\":{},\"p50_queue_seconds\":{},\"p90_queue_seconds\":{},\"p99_queue_seconds\":{},"
      "\"p999_queue_seconds\":{},\"makespan_seconds\":{},\"preemptions\":{},\"per_vc\":{{",
      json_text(run.policy), run.jobs, run.unfinished_jobs, run.mean_jct_seconds, run.p99_jct_seconds,
      run.mean_queue_seconds, run.p50_queue_seconds, run.p90_queue_seconds, run.p99_queue_seconds,
      run.p999_queue_seconds, run.makespan_seconds, run.preemptions);
  for (std::size_t i = 0; i < run.per_vc.size(); ++i) {
    const VcMeans& vc = run.per_vc[i];
    fmt::format_to(std::back_inserter(out), "{}{}:{{\"jobs\":{},\"mean_jct_seconds\":{},\"mean_queue_seconds\":{}}}",
                   i == 0 ? "" : ",", json_text(vc.vc), vc.jobs, vc.mean_jct_seconds, vc.mean_queue_seconds);
  }
  out += "}";
  append_series(out, "busy_percent", run.busy_percent);
  append_series(out, "waiting_jobs", run.waiting_jobs);
  return out + fmt::format(",\"wall_seconds\":{:.6f}}}", run.wall_seconds);
}

std::string packing_object(const PackingRun& run) {
  std::string out = fmt::format("{{\"seed\":{},\"policy\":{},", run.seed, json_text(run.policy));
  append_curve(out, "allocation_percent", run.allocation_percent);
  out += ',';
  append_curve(out, "fragmented_percent", run.fragmented_percent);
  out += ',';
  append_curve(out, "fragment_ratio_percent", run.fragment_ratio_percent);
  return out + fmt::format(",\"refused_pods\":{},\"wall_seconds\":{:.6f}}}", run.refused_pods, run.wall_seconds);
}

template <class Run>
std::string document(std::string_view kind, std::span<const Run> runs, std::string (*object)(const Run&)) {
  std::string out = fmt::format("{{\"apiVersion\":\"ashlar.dev/v1alpha1\",\"kind\":\"{}\",\"runs\":[", kind);
  for (std::size_t i = 0; i < runs.size(); ++i) out += (i == 0 ? "\n" : ",\n") + object(runs[i]);
  return out + "]}\n";
}

Rows packing_rows(std::span<const PackingRun> runs, std::size_t columns) {
  Rows rows = {{"policy", "seed"}};
  std::vector<std::size_t> loads;
  for (std::size_t k = kTableStep; k < kLoadBins; k += kTableStep) {
    bool is_reached = false;
    for (const PackingRun& run : runs) is_reached = is_reached || run.allocation_percent[k].has_value();
    if (is_reached) loads.push_back(k);
  }
  if (loads.size() > columns) loads.erase(loads.begin(), loads.end() - static_cast<std::ptrdiff_t>(columns));
  for (std::size_t k : loads) rows[0].push_back(fmt::format("at {} %", k));
  for (const char* title : {"fragmented", "refused", "simulated in s"}) rows[0].push_back(title);
  for (const PackingRun& run : runs) {
    std::vector<std::string> row = {run.policy, std::to_string(run.seed)};
    for (std::size_t k : loads) row.push_back(percent(run.allocation_percent[k]));
    std::optional<double> last_fragment;
    for (const auto& value : run.fragmented_percent) last_fragment = value ? value : last_fragment;
    row.push_back(percent(last_fragment));
    row.push_back(std::to_string(run.refused_pods));
    row.push_back(fmt::format("{:.3f}", run.wall_seconds));
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Without the last column, the computing time.
Rows without_last(Rows rows) {
  for (auto& row : rows) row.pop_back();
  return rows;
}

}  // namespace

Rows packing_rows(std::span<const PackingRun> runs) { return packing_rows(runs, kTableColumns); }

Rows narrow_packing_rows(std::span<const PackingRun> runs) { return without_last(packing_rows(runs, kNarrowColumns)); }

Rows queue_rows(std::span<const QueueRun> runs) {
  Rows rows = {{"policy", "jobs", "mean JCT s", "mean queue s", "p50 queue s", "p90 queue s", "p99 queue s",
                "p99.9 queue s", "makespan s", "preemptions", "unfinished", "simulated in s"}};
  for (const QueueRun& run : runs) {
    rows.push_back({run.policy, grouped(static_cast<double>(run.jobs), 0), of_ended(run, run.mean_jct_seconds, 1),
                    of_ended(run, run.mean_queue_seconds, 1), of_ended(run, run.p50_queue_seconds, 0),
                    of_ended(run, run.p90_queue_seconds, 0), of_ended(run, run.p99_queue_seconds, 0),
                    of_ended(run, run.p999_queue_seconds, 0), of_ended(run, run.makespan_seconds, 0),
                    grouped(static_cast<double>(run.preemptions), 0),
                    grouped(static_cast<double>(run.unfinished_jobs), 0), fmt::format("{:.3f}", run.wall_seconds)});
  }
  return rows;
}

Rows narrow_queue_rows(std::span<const QueueRun> runs) {
  Rows rows = without_last(queue_rows(runs));
  rows[0] = {"policy", "jobs",  "JCT s",      "queue s",   "p50",       "p90",
             "p99",    "p99.9", "makespan s", "preempted", "unfinished"};
  return rows;
}

std::string packing_json(std::span<const PackingRun> runs) { return document("PackingRunList", runs, packing_object); }

std::string packing_csv(std::span<const PackingRun> runs) {
  std::string out =
      "seed,policy,load_percent,allocation_percent,fragmented_percent,fragment_ratio_percent,refused_pods,wall_"
      "seconds\n";
  for (const PackingRun& run : runs) {
    for (std::size_t k = 0; k < kLoadBins; ++k) {
      if (!run.allocation_percent[k]) continue;
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{:.6f}\n", run.seed, csv_text(run.policy), k,
                     percent(run.allocation_percent[k]), percent(run.fragmented_percent[k]),
                     percent(run.fragment_ratio_percent[k]), run.refused_pods, run.wall_seconds);
    }
  }
  return out;
}

std::string queue_json(std::span<const QueueRun> runs) { return document("QueueRunList", runs, queue_object); }

std::string queue_csv(std::span<const QueueRun> runs) {
  std::string out =
      "policy,vc,jobs,mean_jct_seconds,mean_queue_seconds,p50_queue_seconds,p90_queue_seconds,p99_queue_seconds,p999_"
      "queue_seconds,"
      "p99_jct_seconds,makespan_seconds,preemptions,unfinished_jobs,wall_seconds\n";
  for (const QueueRun& run : runs) {
    const std::string policy = csv_text(run.policy);
    for (const VcMeans& vc : run.per_vc) {
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},,,,,,,,,\n", policy, csv_text(vc.vc), vc.jobs,
                     vc.mean_jct_seconds, vc.mean_queue_seconds);
    }
    fmt::format_to(std::back_inserter(out), "{},ALL,{},{},{},{},{},{},{},{},{},{},{},{:.6f}\n", policy, run.jobs,
                   run.mean_jct_seconds, run.mean_queue_seconds, run.p50_queue_seconds, run.p90_queue_seconds,
                   run.p99_queue_seconds, run.p999_queue_seconds, run.p99_jct_seconds, run.makespan_seconds,
                   run.preemptions, run.unfinished_jobs, run.wall_seconds);
  }
  return out;
}

JobLines::JobLines() : text_("policy,vc,gpus,priority,submit_seconds,start_seconds,end_seconds,queue_seconds\n") {}

void JobLines::add(std::string_view policy, std::string_view vc, const JobOutcome& outcome) {
  const auto seconds = [](Millis time) { return static_cast<double>(time.value) / 1000; };
  fmt::format_to(std::back_inserter(text_), "{},{},{},{},{},{},{},{}\n", csv_text(policy), csv_text(vc),
                 outcome.devices, outcome.priority, seconds(outcome.submit), seconds(outcome.started),
                 seconds(outcome.end), seconds(outcome.queued));
}

}  // namespace ashlar::sim
