#include "apps/demo/score.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "kubeclient/json_writer.h"

namespace ashlar::demo {
namespace {

constexpr Millis kLate{500};  ///< a job that waits longer could have used idle devices

double seconds(Millis time) { return static_cast<double>(time.value) / 1000; }

std::int64_t millis(double seconds) { return std::llround(seconds * 1000); }

/// GPUs of each node that are given beyond those that it has. Shares are packed as well as they can be.
int double_booked(const Scene& scene) {
  std::array<int, kNodes> milli{};
  for (const Job& job : scene.jobs()) {
    if (job.is_over) continue;
    for (const int node : job.node_of_member)
      if (node >= 0 && node < kNodes) milli[static_cast<std::size_t>(node)] += job.act.gpus * 1000 + job.act.milli_gpu;
  }
  int excess = 0;
  for (const int taken : milli) excess += std::max(0, (taken + 999) / 1000 - kGpusPerNode);
  return excess;
}

/// All devices that are not in use, if a job has waited for some time that needs no more than these.
int idle_for_someone(const Scene& scene, Millis now) {
  int used = 0;
  int smallest = INT32_MAX;
  for (const Job& job : scene.jobs()) {
    if (job.is_over) continue;
    used += job.bound * job.act.gpus;
    const bool is_late = job.act.can_ever_run() && !job.is_bound() && now - job.created_at > kLate;
    if (is_late) smallest = std::min(smallest, job.act.gpus_total());
  }
  const int idle = kNodes * kGpusPerNode - used;
  return smallest <= idle ? idle : 0;
}

/// Devices of members that had a place, until the last member had one.
double lost_gpu_seconds(const Job& job, Millis end) {
  const Millis complete = job.is_bound() ? job.last_bound_at : end;
  double lost = 0;
  for (std::size_t m = 0; m < job.node_of_member.size(); ++m)
    if (job.node_of_member[m] >= 0) lost += job.act.gpus * seconds(complete - job.bound_at_of_member[m]);
  return lost;
}

/// A line of the comparison's table.
std::string in_columns(const std::array<std::string, 6>& cells) {
  char line[160];
  std::snprintf(line, sizeof line, "%14s  %-23s %6s %10s %8s %6s\n", cells[0].c_str(), cells[1].c_str(),
                cells[2].c_str(), cells[3].c_str(), cells[4].c_str(), cells[5].c_str());
  return line;
}

}  // namespace

void ScoreKeeper::look(const Scene& scene, Millis now) {
  if (last_look_ < now) {
    const double step = seconds(now - last_look_);
    score_.idle_gpu_seconds += idle_for_someone(scene, now) * step;
    score_.double_booked_gpu_seconds += double_booked(scene) * step;
  }
  last_look_ = now;
}

Score ScoreKeeper::finish(const Scene& scene, Millis start, Millis end) {
  score_.finished = end - start;
  for (const Job& job : scene.jobs()) {
    score_.jobs_left += job.is_over ? 0 : 1;
    if (!job.act.is_gang()) continue;
    ++score_.gangs;
    score_.gangs_started += job.is_bound() ? 1 : 0;
    score_.lost_gpu_seconds += lost_gpu_seconds(job, end);
    const bool could_be_whole = job.act.members * job.act.gpus <= kNodesPerRack * kGpusPerNode;
    score_.gangs_split += job.is_bound() && could_be_whole && job.racks() > 1 ? 1 : 0;
    const Millis waited = (job.is_bound() ? job.last_bound_at : end) - job.created_at;
    if (waited <= kNoticedWait) continue;
    ++score_.gangs_waited;
    score_.wait_sum += waited;
    score_.wait_max = std::max(score_.wait_max, waited);
  }
  return score_;
}

std::string comparison_head(const Script& script) {
  char played[64];
  std::snprintf(played, sizeof played, "%zu jobs that need %.1f GPU-hours", script.acts.size(), script.gpu_hours());
  return "A busy minute of " + std::string(played) +
         ", twice on kube-scheduler,\n"
         "then on Ashlar: the same pods in the same order with the same priorities, no\n"
         "preemption, no quotas. kube-scheduler fills nodes one by one, as its\n"
         "documentation proposes for scarce resources. Each takes about a minute.\n\n" +
         in_columns({"GPU-hours", "gangs that waited", "split", "GPU-hours", "time to", "jobs"}) +
         in_columns({"lost", "(mean, longest)", "gangs", "twice", "finish", "left"});
}

std::string comparison_row(const Score& s) {
  const auto whole = [](Millis time) { return std::to_string((time.value + 500) / 1000) + " s"; };
  const auto hours = [](double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", seconds / 3600);
    return std::string(text);
  };
  return in_columns({hours(s.lost_gpu_seconds),
                     std::to_string(s.gangs_waited) + " of " + std::to_string(s.gangs) + " (" + whole(s.mean_wait()) +
                         ", " + whole(s.wait_max) + ")",
                     std::to_string(s.gangs_split), hours(s.double_booked_gpu_seconds),
                     (s.jobs_left > 0 ? "> " : "") + whole(s.finished), std::to_string(s.jobs_left)});
}

std::string comparison_legend() {
  return "  lost: held by members of gangs whose other members had no place; waited: more\n"
         "  than 2 s, to the last bind or the end; split: over several racks although one\n"
         "  could hold the gang; twice: GPUs given to whole-GPU pods and to shares at\n"
         "  once. See docs/benchmarks.md.\n";
}

std::string comparison_json(const Script& script, std::span<const Score> scores) {
  kube::JsonWriter json;
  json.begin_object();
  json.member("apiVersion", "ashlar.dev/v1alpha1");
  json.member("kind", "DemoComparison");
  json.member("jobs", static_cast<std::int64_t>(script.acts.size()));
  json.member("neededGpuMillis", millis(script.gpu_hours() * 3600));
  json.member("lengthMillis", script.length.value);
  json.key("rows").begin_array();
  for (const Score& score : scores) {
    json.begin_object();
    json.member("scheduler", score.label);
    json.member("lostGpuMillis", millis(score.lost_gpu_seconds));
    json.member("gangs", score.gangs);
    json.member("gangsStarted", score.gangs_started);
    json.member("gangsWaited", score.gangs_waited);
    json.member("meanWaitMillis", score.mean_wait().value);
    json.member("longestWaitMillis", score.wait_max.value);
    json.member("gangsSplit", score.gangs_split);
    json.member("doubleBookedGpuMillis", millis(score.double_booked_gpu_seconds));
    json.member("idleGpuMillis", millis(score.idle_gpu_seconds));
    json.member("finishedMillis", score.finished.value);
    json.member("jobsLeft", score.jobs_left);
    json.end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

}  // namespace ashlar::demo
