#include "store/replay.h"

#include <algorithm>
#include <utility>

#include "engine/engine.h"
#include "store/codec.h"
#include "store/event_validation.h"
#include "store/log_reader.h"
#include "store/profile_comparison.h"
#include "store/snapshot.h"
#include "store/words.h"

namespace ashlar::store {
namespace {

template <class T, class Words>
std::string first_unlike(const std::vector<T>& recorded, const std::vector<T>& replayed, Words&& words) {
  for (std::size_t i = 0; i < std::max(recorded.size(), replayed.size()); ++i) {
    const std::string was = i < recorded.size() ? words(recorded[i]) : "nothing more";
    const std::string is = i < replayed.size() ? words(replayed[i]) : "nothing more";
    if (was != is) return std::string("recorded: ").append(was).append("; replayed: ").append(is);
  }
  return {};
}

/// The first difference between two plans.
std::string difference_of(const Plan& recorded, const Plan& replayed, const NameTable& names) {
  std::string what =
      first_unlike(recorded.actions, replayed.actions, [&](const Action& a) { return action_in_words(a, names); });
  if (what.empty()) {
    what = first_unlike(recorded.verdicts, replayed.verdicts, [&](const VerdictChange& v) {
      return job_in_words(v.job, names) + " " + verdict_in_words(v.verdict, names);
    });
  }
  if (!what.empty()) return what;
  const auto numbers = [](const Plan& p) {
    return "based on revision " + std::to_string(p.based_on) + ", examined " + std::to_string(p.examined) +
           ", look again at " + std::to_string(p.look_again_at.value);
  };
  return "recorded: plan " + numbers(recorded) + "; replayed: plan " + numbers(replayed);
}

/// One file while it is replayed.
class FileReplay {
 public:
  FileReplay(LogReader& log, std::string path, const ReplayOptions& options, ReplayReport& report)
      : log_(log), path_(std::move(path)), options_(options), report_(report) {}

  Result<void> run() {
    if (auto begun = begin(); !begun) return begun;
    while (true) {
      auto step = log_.next();
      if (!step) return step.error();
      if (!*step) break;
      ++step_;
      if (auto done = replay(**step); !done) return done;
      if (report_.first_difference) break;
    }
    report_.last_revision = state_.revision();
    report_.notes.insert(report_.notes.end(), log_.notes().begin(), log_.notes().end());
    if (!log_.is_whole() && !report_.first_difference && log_.notes().empty())
      report_.notes.push_back(
          path_ +
          ": has no end record: it is still being written, or its writer was killed, or the disk could not keep up");
    return {};
  }
  const State& state() const { return state_; }

 private:
  Result<void> begin() {
    auto profile = profile_of(log_.header().profile);
    if (!profile) return in_file(profile.error());
    engine_.emplace(std::move(*profile), log_.header().options);
    if (const auto read = read_snapshot(log_.snapshot(), state_, *engine_); !read) return in_file(read.error());
    if (state_.revision() != log_.header().revision || state_.digest() != log_.header().digest)
      return invalid(path_ + ": the snapshot is not the one that the header names");
    if (!options_.other) return {};
    const auto names = all_names();
    if (!names) return names.error();
    Profile other = options_.other(*names);
    report_.other_profile = other.name;
    second_.emplace(std::move(other), log_.header().options, state_);
    return {};
  }

  /// Names up to the end of the file, and the classes that are defined by then.
  Result<NameTable> all_names() const {
    LogReader ahead = log_;
    std::vector<DeviceClassDefined> classes;
    const DeviceClasses& known = state_.cluster().classes();
    for (std::size_t row = 0; row < known.rows(); ++row)
      classes.push_back({DeviceClassId(row), known.row(DeviceClassId(row))});
    while (true) {
      const auto step = ahead.next();
      if (!step) return step.error();
      if (!*step) break;
      for (const Event& event : (*step)->batch)
        if (const auto* defined = std::get_if<DeviceClassDefined>(&event.body)) classes.push_back(*defined);
    }
    NameTable names = ahead.names();
    for (const DeviceClassDefined& defined : classes) names.note_class(defined);
    return names;
  }

  Result<void> replay(const LogStep& step) {
    if (step.new_options) engine_->options() = *step.new_options;
    for (const Event& event : step.batch) {
      if (const char* why = refusal_of(state_, event))
        return invalid(path_ + ": step " + std::to_string(step_) + ": " + std::string(kind_name(event.body)) + ": " +
                       why);
      apply(state_, event);
      if (second_) second_->apply(event);
    }
    if (step.plan.at < Millis(0) || step.plan.at == Millis::max())
      return invalid(path_ + ": step " + std::to_string(step_) + ": its time is impossible");
    const Plan plan = engine_->decide(state_, step.plan.at);
    if (second_) second_->decide(state_, plan);
    if (plan.based_on < options_.from) {
      if (second_) static_cast<void>(second_->take_comparisons());
      return {};
    }
    count(step, plan);
    compare(step, plan);
    if (second_) report_opinions(plan);
    return {};
  }

  void count(const LogStep& step, const Plan& plan) {
    ++report_.steps;
    report_.events += step.batch.size();
    report_.verdicts += plan.verdicts.size();
    for (const Action& action : plan.actions) {
      report_.binds += std::holds_alternative<Bind>(action) ? 1 : 0;
      report_.evictions += std::holds_alternative<Evict>(action) ? 1 : 0;
    }
  }

  void compare(const LogStep& step, const Plan& plan) {
    std::string what;
    if (bytes_of(plan) != step.plan_bytes)
      what = difference_of(step.plan, plan, log_.names());
    else if (state_.digest() != step.digest)
      what = "the plans are identical, but the state is not: its digest differs";
    if (what.empty())
      ++report_.plans_identical;
    else
      report_.first_difference = StepDifference{path_, step_, plan.based_on, plan.at, what};
  }

  void report_opinions(const Plan& plan) {
    for (const JobComparison& o : second_->take_comparisons()) {
      report_.jobs_compared += o.is_first ? 1 : 0;
      if (o.is_same) continue;
      ++report_.jobs_different;
      if (report_.differences.size() >= options_.differences_max) continue;
      const NameTable& names = log_.names();
      report_.differences.push_back({step_, plan.based_on, plan.at, job_in_words(o.job, names),
                                     decision_in_words(o.recorded, names), decision_in_words(o.other, names)});
    }
  }
  static std::string decision_in_words(const JobDecision& decision, const NameTable& names) {
    if (decision.is_evicted && decision.binds.empty()) return "evicted";
    const std::string placed =
        decision.binds.empty() ? verdict_in_words(decision.verdict, names) : placement_in_words(decision.binds, names);
    return (decision.is_evicted ? "evicted, then " : "") + placed;
  }

  Error in_file(const Error& error) const { return {error.kind, path_ + ": " + error.message}; }

  LogReader& log_;
  std::string path_;
  const ReplayOptions& options_;
  ReplayReport& report_;
  State state_;
  std::optional<Engine> engine_;
  std::optional<ProfileComparison> second_;
  std::uint64_t step_ = 0;
};

}  // namespace

Result<ReplayReport> replay_file(const std::string& path, const ReplayOptions& options) {
  const auto files = log_files(path);
  if (!files) return files.error();
  ReplayReport report;
  std::optional<LogHeader> before;
  Revision revision_before = 0;
  std::uint64_t digest_before = 0;
  for (std::size_t f = 0; f < files->size(); ++f) {
    auto log = LogReader::open((*files)[f]);
    if (!log) return log.error();
    // With --from, a file whose successor's snapshot is not later than that revision has nothing to compare.
    if (options.from > 0 && f + 1 < files->size()) {
      const auto next = LogReader::open((*files)[f + 1]);
      if (next && next->header().revision <= options.from && next->header().revision > log->header().revision) continue;
    }
    const LogHeader& header = log->header();
    if (before && before->file_number + 1 == header.file_number && header.revision > revision_before)
      report.notes.push_back((*files)[f] + ": " + std::to_string(header.revision - revision_before) +
                             " events before it are in no file");
    else if (before && header.revision == revision_before && header.digest != digest_before)
      report.notes.push_back((*files)[f] + ": begins with another state than the file before it ended with");
    if (report.files.empty()) report.first_revision = std::max(header.revision, options.from);
    report.files.push_back((*files)[f]);
    report.profile = header.profile_name;
    report.seed = header.seed;
    FileReplay replay(*log, (*files)[f], options, report);
    if (const auto done = replay.run(); !done) return done.error();
    if (report.first_difference) break;
    before = header;
    revision_before = replay.state().revision();
    digest_before = replay.state().digest();
  }
  if (options.from > 0 && report.steps == 0)  // an empty comparison proves nothing
    return invalid(path + ": no plan is based on revision " + std::to_string(options.from) +
                   " or a later one; the log ends at revision " + std::to_string(report.last_revision));
  return report;
}

}  // namespace ashlar::store
