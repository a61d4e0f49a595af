#include "sim/trace/trace_pods.h"

#include <algorithm>
#include <utility>

#include "sim/trace/philly.h"
#include "sim/trace/queue_trace.h"
#include "sim/trace/text_source.h"

namespace ashlar::sim {
namespace {

/// A job of any format before it is taken apart: one TracePod for each element of `parts` (GPUs or cores).
struct Job {
  TracePod pod;
  std::vector<std::int32_t> parts;
};

struct Jobs {
  std::vector<Job> jobs;
  std::int64_t skipped = 0;
};

Result<Jobs> openb_jobs(const std::string& path, const std::vector<OpenbNode>& nodes) {
  Result<std::vector<OpenbPod>> pods = read_openb_pods(path, nodes);
  if (!pods) return pods.error();
  Jobs read;
  for (OpenbPod& pod : *pods) {
    Job job;
    job.pod.name = std::move(pod.name);
    job.pod.cpu = pod.cpu;
    job.pod.memory = pod.memory;
    job.pod.milli_each = pod.milli_each;
    job.pod.models = std::move(pod.models);
    job.pod.submit = pod.created;
    if (pod.created && pod.deleted && *pod.deleted > *pod.created) job.pod.duration = *pod.deleted - *pod.created;
    job.parts = {pod.gpus};
    read.jobs.push_back(std::move(job));
  }
  return read;
}

TracePod whole_gpu_pod(std::string name, std::string queue, Millis submit, Millis duration) {
  TracePod pod;
  pod.name = std::move(name);
  pod.queue = std::move(queue);
  pod.milli_each = MilliGpu(1000);
  pod.submit = submit;
  pod.duration = duration;
  return pod;
}

Result<Jobs> philly_jobs(const std::string& path) {
  Result<PhillyTrace> trace = read_philly(path);
  if (!trace) return trace.error();
  Jobs read{.jobs = {}, .skipped = trace->skipped};
  for (PhillyJob& job : trace->jobs)
    read.jobs.push_back(
        {whole_gpu_pod(std::move(job.id), std::move(job.vc), job.submit, job.duration), std::move(job.gpus_by_server)});
  return read;
}

Result<Jobs> swf_jobs(const std::string& path, const TracePodOptions& options) {
  const Result<SwfTrace> swf = read_swf(path);
  if (!swf) return swf.error();
  Jobs read{.jobs = {}, .skipped = swf->skipped};
  for (const TraceJob& job : swf->trace.jobs) {
    Job wide{whole_gpu_pod("job-" + std::to_string(job.line), swf->trace.vcs[job.vc], job.submit, job.duration), {}};
    for (std::int32_t left = job.gpus; left > 0; left -= options.gpus_per_pod)
      wide.parts.push_back(std::min(left, options.gpus_per_pod));
    read.jobs.push_back(std::move(wide));
  }
  return read;
}

}  // namespace

TraceFormat trace_format_of(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return TraceFormat::kOpenb;
  if (text[first] == '[' || text[first] == '{') return TraceFormat::kPhilly;
  const bool is_swf = text[first] == ';' || text[first] == '-' || (text[first] >= '0' && text[first] <= '9');
  return is_swf ? TraceFormat::kSwf : TraceFormat::kOpenb;
}

Result<TracePods> read_trace_pods(const std::string& path, const std::vector<OpenbNode>& nodes,
                                  const TracePodOptions& options) {
  std::optional<TraceFormat> format = options.format;
  if (!format) {
    const Result<std::string> text = read_text(path);
    if (!text) return text.error();
    format = trace_format_of(*text);
  }
  Result<Jobs> read = *format == TraceFormat::kOpenb    ? openb_jobs(path, nodes)
                      : *format == TraceFormat::kPhilly ? philly_jobs(path)
                                                        : swf_jobs(path, options);
  if (!read) return read.error();
  std::stable_sort(read->jobs.begin(), read->jobs.end(), [](const Job& a, const Job& b) {
    return a.pod.submit.value_or(Millis(0)) < b.pod.submit.value_or(Millis(0));
  });
  read->jobs.resize(std::min(read->jobs.size(), static_cast<std::size_t>(options.jobs_max)));
  TracePods out{.pods = {}, .jobs = static_cast<std::int64_t>(read->jobs.size()), .skipped = read->skipped};
  const bool is_of_cores = options.is_of_cores && *format == TraceFormat::kSwf;
  for (const Job& job : read->jobs) {
    for (std::size_t i = 0; i < job.parts.size(); ++i) {
      TracePod pod = job.pod;
      if (is_of_cores)
        pod.cpu = MilliCores(std::int64_t{job.parts[i]} * 1000);
      else
        pod.gpus = job.parts[i];
      if (job.parts.size() > 1) {
        pod.gang = job.pod.name;
        pod.gang_size = static_cast<std::int32_t>(job.parts.size());
        pod.name += "-" + std::to_string(i);
      }
      out.pods.push_back(std::move(pod));
    }
  }
  return out;
}

}  // namespace ashlar::sim
