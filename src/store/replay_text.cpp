// The report of a replay as text and as JSON.
#include <boost/json.hpp>
#include <cstdio>

#include "store/replay.h"

namespace ashlar::store {
namespace {

constexpr std::size_t kDifferencesShown = 40;  ///< in text; JSON has them all

std::string seconds(Millis at) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03lld s", static_cast<long long>(at.value / 1000),
                static_cast<long long>(at.value % 1000));
  return text;
}

std::string where(std::uint64_t step, Revision revision, Millis at) {
  return "step " + std::to_string(step) + " (revision " + std::to_string(revision) + ", at " + seconds(at) + ")";
}

std::string count(std::uint64_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

std::string opinions_text(const ReplayReport& r) {
  std::string text = "profile " + r.other_profile + " would have treated " + std::to_string(r.jobs_different) + " of " +
                     count(r.jobs_compared, "job", "jobs") + " otherwise\n";
  for (std::size_t i = 0; i < r.differences.size() && i < kDifferencesShown; ++i) {
    const OpinionDifference& d = r.differences[i];
    text += "  " + where(d.step, d.revision, d.at) + "  " + d.job + "\n    " + r.profile + ": " + d.recorded +
            "\n    " + r.other_profile + ": " + d.other + "\n";
  }
  if (r.jobs_different > kDifferencesShown)
    text += "  ... and " + std::to_string(r.jobs_different - kDifferencesShown) + " more; -o json has them\n";
  return text;
}

}  // namespace

std::string report_text(const ReplayReport& r) {
  std::string text;
  for (const std::string& note : r.notes) text += "note: " + note + "\n";
  text += count(r.files.size(), "file", "files") + ", profile " + r.profile + ", seed " + std::to_string(r.seed) +
          ", revisions " + std::to_string(r.first_revision) + " to " + std::to_string(r.last_revision) + ": " +
          count(r.events, "event", "events") + ", " + count(r.binds, "placement", "placements") + ", " +
          count(r.evictions, "eviction", "evictions") + ", " + count(r.verdicts, "verdict", "verdicts") + "\n";
  if (!r.first_difference)
    text += count(r.steps, "step", "steps") + ", " + count(r.plans_identical, "plan", "plans") + " identical\n";
  else
    text += "first difference: " + r.first_difference->file + " " +
            where(r.first_difference->step, r.first_difference->revision, r.first_difference->at) + "\n  " +
            r.first_difference->what + "\n" + count(r.plans_identical, "plan", "plans") + " before it identical\n";
  if (!r.other_profile.empty()) text += opinions_text(r);
  return text;
}

std::string report_json(const ReplayReport& r) {
  boost::json::object o;
  o["apiVersion"] = "ashlar.dev/v1alpha1";
  o["kind"] = "ReplayReport";
  o["files"] = boost::json::array(r.files.begin(), r.files.end());
  o["profile"] = r.profile;
  o["seed"] = r.seed;
  o["firstRevision"] = r.first_revision;
  o["lastRevision"] = r.last_revision;
  o["steps"] = r.steps;
  o["plansIdentical"] = r.plans_identical;
  o["events"] = r.events;
  o["placements"] = r.binds;
  o["evictions"] = r.evictions;
  o["verdicts"] = r.verdicts;
  o["identical"] = r.is_identical();
  if (r.first_difference) {
    const StepDifference& d = *r.first_difference;
    o["firstDifference"] = boost::json::object{
        {"file", d.file}, {"step", d.step}, {"revision", d.revision}, {"atMilliseconds", d.at.value}, {"what", d.what}};
  }
  if (!r.other_profile.empty()) {
    o["otherProfile"] = r.other_profile;
    o["jobsCompared"] = r.jobs_compared;
    o["jobsDifferent"] = r.jobs_different;
    boost::json::array rows;
    for (const OpinionDifference& d : r.differences)
      rows.push_back(boost::json::object{{"step", d.step},
                                         {"revision", d.revision},
                                         {"atMilliseconds", d.at.value},
                                         {"job", d.job},
                                         {"recorded", d.recorded},
                                         {"other", d.other}});
    o["differences"] = std::move(rows);
  }
  o["notes"] = boost::json::array(r.notes.begin(), r.notes.end());
  return boost::json::serialize(o) + "\n";
}

}  // namespace ashlar::store
