#include "sim/trace/queue_trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/id.h"
#include "names/interned.h"
#include "sim/trace/csv.h"
#include "sim/trace/text_source.h"

namespace ashlar::sim {
namespace {

constexpr std::int64_t kNodesOfAllVcsMax = 1'000'000;  ///< pooled they are one cluster, as large as a scenario may be

/// 100 years: more is a typing error, and a million such jobs one after the other stay within 64 bits
constexpr double kTraceSecondsMax = 3.2e9;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::int64_t kGpusMax = 1'000'000;
constexpr std::string_view kSubmitForm = "the submit time, seconds from 0";
constexpr std::string_view kDurationForm = "the run time, seconds from 0";
constexpr std::string_view kEstimateForm = "the estimated run time in seconds";

Millis to_millis(double seconds) { return Millis(std::llround(seconds * 1000)); }

Millis seconds_of(CsvReader& csv, CsvColumn column, double min, std::string_view form) {
  const double seconds = csv.real(column, form);
  if (seconds < min || seconds > kTraceSecondsMax || seconds < -kTraceSecondsMax) {
    csv.reject(column, form);
    return Millis(0);
  }
  return to_millis(seconds);
}

using ClusterNames = Interned<Id<struct ClusterTag>>;

constexpr std::size_t kSwfFields = 18;

/// Splits a line at blanks. Returns the number of fields, counting no further than one more than the format has.
std::size_t split_fields(std::string_view line, std::array<std::string_view, kSwfFields>& fields) {
  std::size_t count = 0;
  for (std::size_t at = 0; count <= kSwfFields;) {
    at = line.find_first_not_of(" \t\r", at);
    if (at == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    if (count < kSwfFields) fields[count] = line.substr(at, end - at);
    ++count;
    at = end;
  }
  return count;
}

/// Reads the fields of one line that scheduling needs.
class SwfLine {
 public:
  SwfLine(std::string_view line, std::size_t number, const std::string& file)
      : line_(line), number_(number), file_(file) {
    const std::size_t count = split_fields(line, fields_);
    if (count != kSwfFields) {
      error_ =
          invalid(place(line.data()) + ": expected 18 fields separated by blanks (Standard Workload Format), got " +
                  (count > kSwfFields ? "more" : std::to_string(count)));
    }
  }
  /// Field `index` counted from 1; -1 means unknown.
  double number(std::size_t index, std::string_view form) {
    if (error_) return -1;
    const std::string_view field = fields_[index - 1];
    double value = 0;
    const auto [end, failure] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (failure != std::errc() || end != field.data() + field.size() || !std::isfinite(value) || value < -1 ||
        value > kTraceSecondsMax) {
      error_ = invalid(place(field.data()) + ": field " + std::to_string(index) + ": expected " + std::string(form) +
                       " or -1, got \"" + printable(field.substr(0, 60)) + "\"");
      return -1;
    }
    return value;
  }
  std::size_t line_number() const { return number_; }
  std::string_view field(std::size_t index) const { return fields_[index - 1]; }
  const std::optional<Error>& error() const { return error_; }
  Error reject(std::size_t index, std::string_view form) const {
    const std::string_view field = fields_[index - 1];
    return invalid(place(field.data()) + ": field " + std::to_string(index) + ": expected " + std::string(form) +
                   ", got \"" + printable(field.substr(0, 60)) + "\"");
  }

 private:
  std::string place(const char* at) const {
    return file_ + ":" + std::to_string(number_) + ":" + std::to_string(at - line_.data() + 1);
  }
  std::string_view line_;
  std::size_t number_;
  const std::string& file_;
  std::array<std::string_view, kSwfFields> fields_{};
  std::optional<Error> error_;
};

Result<void> read_swf_job(SwfLine& line, ClusterNames& queues, SwfTrace& swf) {
  const double submit = line.number(2, "the submit time, seconds from 0");
  const double run = line.number(4, "the run time, seconds from 0");
  const double allocated = line.number(5, "the number of allocated processors");
  const double requested = line.number(8, "the number of requested processors");
  const double requested_time = line.number(9, "the requested time, seconds from 0");
  if (line.error()) return *line.error();
  if (submit < 0) return line.reject(2, "the submit time, seconds from 0");
  const double width = allocated > 0 ? allocated : requested;
  if (width > static_cast<double>(kGpusMax)) return line.reject(allocated > 0 ? 5 : 8, "at most 1000000 processors");
  if (run <= 0 || width < 1) {
    ++swf.skipped;
    return {};
  }
  TraceJob job;
  job.line = static_cast<std::uint32_t>(line.line_number());
  job.vc = queues.of("queue-" + std::string(line.field(15))).value;
  job.gpus = static_cast<std::int32_t>(width);
  job.submit = to_millis(submit);
  job.duration = to_millis(run);
  job.estimate = requested_time > 0 ? to_millis(requested_time) : job.duration;
  swf.trace.has_estimates = swf.trace.has_estimates || requested_time > 0;
  swf.trace.jobs.push_back(job);
  return {};
}

}  // namespace

namespace {

/// `vcs` may be null: then jobs may name any virtual cluster and come at any millisecond.
Result<JobTrace> read_job_file(const std::string& path, const std::vector<VcNodes>* vcs) {
  Result<CsvReader> csv = CsvReader::open(path);
  if (!csv) return csv.error();
  const CsvColumn vc = csv->column("vc"), gpus = csv->column_either("gpu_num", "g"),
                  submit = csv->column_either("submit_time", "s");
  const CsvColumn duration = csv->column_either("duration", "d");
  CsvColumn estimate = csv->find("priority");
  if (!estimate.is_present()) estimate = csv->find("p");
  JobTrace trace;
  trace.has_estimates = estimate.is_present();
  ClusterNames names;
  const auto expect_whole = [&](CsvColumn column, Millis time) {
    if (vcs != nullptr && time.value % 1000 != 0)
      csv->reject(column, "whole seconds (queueing replays count nothing else)");
  };
  while (csv->next_row()) {
    TraceJob job;
    job.line = static_cast<std::uint32_t>(csv->line());
    const std::size_t known = names.size();
    job.vc = names.of(csv->word(vc, "the name of a virtual cluster")).value;
    const bool is_new = names.size() > known;
    if (vcs != nullptr && is_new &&
        std::none_of(vcs->begin(), vcs->end(), [&](const VcNodes& v) { return v.vc == names.all().back(); }))
      csv->reject(vc, "a virtual cluster of the --vcs file");
    job.gpus = static_cast<std::int32_t>(
        csv->integer(gpus, {1, kGpusMax, "the number of GPUs of the job, a whole number from 1"}));
    job.submit = seconds_of(*csv, submit, 0, kSubmitForm);
    expect_whole(submit, job.submit);
    job.duration = seconds_of(*csv, duration, 0, kDurationForm);
    expect_whole(duration, job.duration);
    job.estimate = estimate.is_present() ? seconds_of(*csv, estimate, -kTraceSecondsMax, kEstimateForm) : job.duration;
    trace.jobs.push_back(job);
  }
  if (csv->failed()) return csv->error();
  if (trace.jobs.empty()) return invalid(path + ":2:1: expected at least one job, got none");
  trace.vcs = names.all();
  return trace;
}

}  // namespace

Result<JobTrace> read_jobs(const std::string& path) { return read_job_file(path, nullptr); }
Result<JobTrace> read_jobs_for_replay(const std::string& path, const std::vector<VcNodes>& vcs) {
  return read_job_file(path, &vcs);
}

Result<std::vector<VcNodes>> read_vcs(const std::string& path) {
  Result<CsvReader> csv = CsvReader::open(path);
  if (!csv) return csv.error();
  // Files written by pandas leave the index column, which holds the names, without a title.
  const CsvColumn unnamed = csv->find("");
  const CsvColumn vc = csv->find("vc").is_present() || unnamed.index != 0 ? csv->column("vc") : unnamed;
  const CsvColumn nodes = csv->column_either("node num", "num");
  std::vector<VcNodes> vcs;
  std::int64_t sum = 0;
  while (csv->next_row()) {
    VcNodes each;
    each.vc = csv->word(vc, "the name of a virtual cluster");
    each.nodes = static_cast<std::int32_t>(
        csv->integer(nodes, {1, kGpusMax, "the number of 8-GPU nodes, a whole number from 1"}));
    if ((sum += each.nodes) > kNodesOfAllVcsMax)
      csv->reject(nodes, "at most " + std::to_string(kNodesOfAllVcsMax) + " nodes in the whole file");
    const bool is_known =
        std::any_of(vcs.begin(), vcs.end(), [&](const VcNodes& other) { return other.vc == each.vc; });
    if (is_known) csv->reject(vc, "every virtual cluster once");
    vcs.push_back(std::move(each));
  }
  if (csv->failed()) return csv->error();
  if (vcs.empty()) return invalid(path + ":2:1: expected at least one virtual cluster, got none");
  return vcs;
}

Result<SwfTrace> read_swf(const std::string& path) {
  Result<std::string> text = read_text(path);
  if (!text) return text.error();
  SwfTrace swf;
  ClusterNames queues;
  std::string_view rest = *text;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    if (line[first] == ';') continue;
    SwfLine fields(line, number, path);
    if (Result<void> done = read_swf_job(fields, queues, swf); !done) return done.error();
  }
  if (swf.trace.jobs.empty())
    return invalid(path + ":1:1: expected jobs in Standard Workload Format (18 fields a line), got none that ran");
  swf.trace.vcs = queues.all();
  return swf;
}

}  // namespace ashlar::sim
