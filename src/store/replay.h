// Replay: whether the engine still makes the recorded decisions. It applies the events of a log to its snapshot,
// decides at the recorded times and compares plans byte for byte, and digests. With another profile it shows where that
// one would have decided differently, at every step from the recorded state (profile_comparison.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/plan.h"
#include "policy/profile.h"
#include "store/names.h"

namespace ashlar::store {

struct ReplayOptions {
  /// A second profile to decide by; none if empty. Given the names of the file, since a profile may name accelerator
  /// models.
  std::function<Profile(const NameTable&)> other;
  Revision from = 0;                     ///< compare and report only plans based on this revision or later
  std::size_t differences_max = 10'000;  ///< differences of the other profile that are kept; the rest is counted
};

/// Where a replayed plan differs from the recorded one.
struct StepDifference {
  std::string file;
  std::uint64_t step = 0;  ///< of its file, from 1
  Revision revision = 0;
  Millis at;
  std::string what;  ///< as text, with names
};

/// A job that another profile would have treated differently; the first time only.
struct OpinionDifference {
  std::uint64_t step = 0;
  Revision revision = 0;
  Millis at;
  std::string job;
  std::string recorded;
  std::string other;
};

struct ReplayReport {
  std::vector<std::string> files;
  std::string profile;
  std::uint64_t seed = 0;
  Revision first_revision = 0, last_revision = 0;
  std::uint64_t steps = 0;  ///< compared
  std::uint64_t plans_identical = 0;
  std::uint64_t events = 0, binds = 0, evictions = 0, verdicts = 0;
  std::optional<StepDifference> first_difference;
  std::string other_profile;        ///< empty without another profile
  std::uint64_t jobs_compared = 0;  ///< with another profile: jobs that either one decided on
  std::uint64_t jobs_different = 0;
  std::vector<OpinionDifference> differences;
  std::vector<std::string> notes;
  bool is_identical() const { return !first_difference && plans_identical == steps; }
};

/// One file, or all files of a folder, each from its own snapshot. An Error if a file cannot be read, its events are
/// invalid, or no plan is as late as `from`.
Result<ReplayReport> replay_file(const std::string& path, const ReplayOptions& options = {});

/// For people: a few lines, the first difference or the differences of the other profile as a table.
std::string report_text(const ReplayReport& report);
/// `{"apiVersion":"ashlar.dev/v1alpha1","kind":"ReplayReport",...}`.
std::string report_json(const ReplayReport& report);

}  // namespace ashlar::store
