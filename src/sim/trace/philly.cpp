#include "sim/trace/philly.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "sim/trace/text_source.h"

namespace ashlar::sim {
namespace {

constexpr std::size_t kServersMax = 100'000;  ///< members of a gang
constexpr std::size_t kGpusPerServerMax = 128;
constexpr std::string_view kTimeForm = "a time such as \"2017-10-07 01:11:39\"";
constexpr std::string_view kSpace = " \t\r\n";

/// A text with places: "FILE:LINE:COLUMN".
class PlacedText {
 public:
  PlacedText(std::string_view text, const std::string& name) : text_(text), name_(name) {}
  std::string_view text() const { return text_; }
  Error error_at(std::size_t offset, const std::string& what) const {
    const std::string_view before = text_.substr(0, offset);
    const std::size_t line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
    return invalid(name_ + ":" + std::to_string(line) + ":" + std::to_string(offset - start + 1) + ": " + what);
  }

 private:
  std::string_view text_;
  const std::string& name_;
};

/// The end of the object that begins at `from`: one past its brace; npos if it is not closed.
std::size_t end_of_object(std::string_view text, std::size_t from) {
  int depth = 0;
  bool is_in_string = false;
  for (std::size_t at = from; at < text.size(); ++at) {
    const char c = text[at];
    if (is_in_string) {
      if (c == '\\') ++at;
      is_in_string = c != '"';
      continue;
    }
    is_in_string = c == '"';
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

template <class Number>
bool parse_digits(std::string_view text, Number& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size();
}

/// "2017-10-07 01:11:39", whatever its time zone, which the trace does not state.
std::optional<std::chrono::sys_seconds> parse_time(std::string_view text) {
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || text[10] != ' ' || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  int year = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  const bool is_number = parse_digits(text.substr(0, 4), year) && parse_digits(text.substr(5, 2), month) &&
                         parse_digits(text.substr(8, 2), day) && parse_digits(text.substr(11, 2), hour) &&
                         parse_digits(text.substr(14, 2), minute) && parse_digits(text.substr(17, 2), second);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!is_number || !date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

/// One job of the array: the pieces that scheduling needs, and where it is wrong.
class JobReader {
 public:
  JobReader(const PlacedText& text, std::size_t from, std::size_t end) : text_(text), from_(from), end_(end) {}

  /// What the job says, its submission as time since 1970; nothing if it never ran, or its run time is not known.
  std::optional<PhillyJob> read() {
    boost::json::error_code failure;
    boost::json::stream_parser parser;
    const std::string_view own = text_.text().substr(from_, end_ - from_);
    const std::size_t parsed = parser.write_some(own.data(), own.size(), failure);
    if (failure) return reject_at(from_ + parsed, "not valid JSON: " + failure.message());
    if (!parser.done()) return reject_at(from_, "not valid JSON: this job has no end");
    const boost::json::value value = parser.release();
    const boost::json::object& job = value.as_object();
    PhillyJob read;
    read.id = word(job, "jobid");
    read.vc = word(job, "vc");
    const auto submit = time(job, "submitted_time", 0);
    const boost::json::value* attempts = job.if_contains("attempts");
    if (!error_ && !submit) return reject("submitted_time", 0, kTimeForm);
    if (!error_ && (attempts == nullptr || !attempts->is_array())) return reject("attempts", 0, "a list of attempts");
    if (error_) return std::nullopt;
    read.submit = Millis(submit->time_since_epoch().count() * 1000);
    return read_attempts(attempts->as_array(), std::move(read));
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  using Time = std::optional<std::chrono::sys_seconds>;

  std::optional<PhillyJob> read_attempts(const boost::json::array& attempts, PhillyJob read) {
    Time began, ended;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      if (!attempts[i].is_object()) return reject("attempts", 0, "a list of objects");
      const boost::json::object& attempt = attempts[i].as_object();
      const Time start = time(attempt, "start_time", i), end = time(attempt, "end_time", i);
      if (!error_ && start && end && *end < *start) return reject("end_time", i, "a time not before its start_time");
      if (i == 0) began = start;
      ended = end;
      if (read.gpus_by_server.empty()) read.gpus_by_server = servers(attempt, i);
      if (error_) return std::nullopt;
    }
    if (read.gpus_by_server.empty() || !began || !ended || *ended <= *began) return std::nullopt;
    read.duration = Millis((*ended - *began).count() * 1000);
    return read;
  }

  std::vector<std::int32_t> servers(const boost::json::object& attempt, std::size_t which) {
    const boost::json::value* detail = attempt.if_contains("detail");
    std::vector<std::int32_t> gpus_by_server;
    if (detail == nullptr || detail->is_null()) return {};
    if (!detail->is_array() || detail->as_array().size() > kServersMax) {
      reject("detail", which, "a list of at most 100000 servers");
      return {};
    }
    for (const boost::json::value& server : detail->as_array()) {
      const boost::json::value* gpus = server.is_object() ? server.as_object().if_contains("gpus") : nullptr;
      if (gpus == nullptr || !gpus->is_array() || gpus->as_array().size() > kGpusPerServerMax) {
        reject("detail", which, "servers with \"gpus\", a list of at most 128");
        return {};
      }
      if (!gpus->as_array().empty()) gpus_by_server.push_back(static_cast<std::int32_t>(gpus->as_array().size()));
    }
    return gpus_by_server;
  }

  std::string word(const boost::json::object& object, std::string_view key) {
    const boost::json::value* value = object.if_contains(key);
    if (value != nullptr && value->is_string() && !value->as_string().empty()) return std::string(value->as_string());
    reject(key, 0, "a text that is not empty");
    return {};
  }

  /// Nothing if the trace does not know it: null, "None" or absent.
  Time time(const boost::json::object& object, std::string_view key, std::size_t which) {
    const boost::json::value* value = object.if_contains(key);
    if (value == nullptr || value->is_null()) return std::nullopt;
    if (value->is_string() && value->as_string() == "None") return std::nullopt;
    const Time read = value->is_string() ? parse_time(value->as_string()) : std::nullopt;
    if (!read) reject(key, which, kTimeForm);
    return read;
  }

  /// The first Error is kept. `which`: of the places of this key within the job.
  std::nullopt_t reject(std::string_view key, std::size_t which, std::string_view form) {
    const std::string quoted = "\"" + std::string(key) + "\"";
    const std::string_view own = text_.text().substr(0, end_);
    std::size_t at = own.find(quoted, from_);
    for (; which > 0 && at != std::string_view::npos; --which) at = own.find(quoted, at + 1);
    return reject_at(at == std::string_view::npos ? from_ : at, std::string(key) + ": expected " + std::string(form));
  }
  std::nullopt_t reject_at(std::size_t offset, const std::string& what) {
    if (!error_) error_ = text_.error_at(offset, what);
    return std::nullopt;
  }

  const PlacedText& text_;
  std::size_t from_, end_;
  std::optional<Error> error_;
};

/// The start of the next job at or after `at`, whose comma it passes; or one past the array's end.
Result<std::size_t> next_job(const PlacedText& placed, std::size_t at, bool is_first) {
  const std::string_view text = placed.text();
  at = std::min(text.find_first_not_of(kSpace, at), text.size());
  if (at < text.size() && text[at] == ']') {
    const std::size_t rest = text.find_first_not_of(kSpace, at + 1);
    if (rest != std::string_view::npos) return placed.error_at(rest, "expected nothing after the list of jobs");
    return text.size();
  }
  if (!is_first) {
    if (at >= text.size() || text[at] != ',')
      return placed.error_at(at, "expected a comma or the end of the list of jobs");
    at = std::min(text.find_first_not_of(kSpace, at + 1), text.size());
  }
  if (at >= text.size() || text[at] != '{') return placed.error_at(at, "expected a job, an object in braces");
  return at;
}

}  // namespace

Result<PhillyTrace> parse_philly(std::string_view text, const std::string& name) {
  const PlacedText placed(text, name);
  std::size_t at = std::min(text.find_first_not_of(kSpace), text.size());
  if (at >= text.size() || text[at] != '[')
    return placed.error_at(at, "expected a list of jobs in brackets (Philly's cluster_job_log)");
  PhillyTrace trace;
  for (bool is_first = true;; is_first = false) {
    const Result<std::size_t> from = next_job(placed, is_first ? at + 1 : at, is_first);
    if (!from) return from.error();
    if (*from >= text.size()) break;
    at = end_of_object(text, *from);
    if (at == std::string_view::npos) return placed.error_at(*from, "this job has no end; is the file whole?");
    JobReader reader(placed, *from, at);
    std::optional<PhillyJob> job = reader.read();
    if (reader.error()) return *reader.error();
    if (job)
      trace.jobs.push_back(*std::move(job));
    else
      ++trace.skipped;
  }
  if (trace.jobs.empty()) return invalid(name + ":1:1: expected at least one job that ran, got none");
  Millis first = Millis::max();
  for (const PhillyJob& job : trace.jobs) first = std::min(first, job.submit);
  for (PhillyJob& job : trace.jobs) job.submit = job.submit - first;
  return trace;
}

Result<PhillyTrace> read_philly(const std::string& path) {
  const Result<std::string> text = read_text(path);
  if (!text) return text.error();
  return parse_philly(*text, path);
}

}  // namespace ashlar::sim
