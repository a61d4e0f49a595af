#include "sim/scenario/arrivals.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "base/check.h"
#include "base/rng.h"
#include "sim/scenario/duration_distribution.h"

namespace ashlar::sim {
namespace {

constexpr double kTimeMax = 1e15;  ///< milliseconds, 30,000 years: beyond it nothing is submitted

LevelId level_of(const Scenario& scenario, const std::string& name) {
  if (name == kNodeLevel) return LevelId(scenario.levels.size());
  for (std::size_t i = 0; i < scenario.levels.size(); ++i)
    if (scenario.levels[i].name == name) return LevelId(i);
  return LevelId::none();
}

/// The `number`th of the shape's kinds.
KindId kind_of_shape(const JobShape& shape, std::int32_t number, const Scenario& scenario, Catalog& catalog) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  JobKind kind{.needs = {}, .within = level_of(scenario, shape.within), .prefer = level_of(scenario, shape.prefer)};
  GangSpec spec;
  for (const MemberShape& group : shape.groups) {
    std::vector<DeviceClassId> models;
    for (const std::string& model : group.models) models.push_back(catalog.model(model));
    const DeviceRequest request{group.gpus, group.gpus > 0 ? group.milli_each : MilliGpu(kWholeDevice),
                                group.gpu_memory};
    const Bytes memory(group.memory.value + number * kMebibyte);
    const auto members = static_cast<std::uint32_t>(group.members);
    kind.needs.push_back({.demand = catalog.demand(demand_of({request, group.cpu, memory})),
                          .constraint = catalog.constraint(std::move(models), catalog.capabilities(group.capabilities)),
                          .count = members,
                          .group = static_cast<std::uint32_t>(spec.groups.size())});
    spec.groups.push_back({members, level_of(scenario, group.within), level_of(scenario, group.prefer)});
  }
  const bool has_domains = std::any_of(spec.groups.begin(), spec.groups.end(), [](const GangGroup& group) {
    return !group.within.is_none() || !group.prefer.is_none();
  });
  if (has_domains)
    kind.spec = catalog.gang_spec(spec);
  else
    for (MemberNeed& need : kind.needs) need.group = 0;
  return catalog.add_kind(std::move(kind));
}

/// Devices that a job of this shape holds on average, times the time that it holds them, in device-milliseconds.
double device_time_of(const JobShape& shape) {
  double devices = 0;
  for (const MemberShape& group : shape.groups)
    devices += static_cast<double>(group.members) * group.gpus * group.milli_each.value / kWholeDevice;
  return devices * mean_of(shape.duration);
}

Result<ScenarioWork::Stream> stream_of(const ArrivalStream& spec, const Scenario& scenario, Catalog& catalog) {
  ScenarioWork::Stream stream;
  stream.spec = &spec;
  double weight = 0, device_time = 0;
  for (const JobShape& shape : spec.jobs) {
    weight += shape.weight;
    device_time += shape.weight * device_time_of(shape);
    ScenarioWork::Shape ready{&shape, {}, weight, {}};
    for (std::int32_t k = 0; k < shape.kinds; ++k) ready.kinds.push_back(kind_of_shape(shape, k, scenario, catalog));
    double queue_weight = 0;
    for (const auto& [queue, share] : shape.queues)
      ready.queues_up_to.emplace_back(static_cast<std::uint32_t>(queue), queue_weight += share);
    stream.shapes.push_back(std::move(ready));
  }
  if (spec.rate_per_hour) {
    stream.gap_millis = 3'600'000.0 / *spec.rate_per_hour;
  } else if (spec.load) {
    const double devices = static_cast<double>(scenario.devices());
    if (devices == 0) return invalid(scenario.path + ": stream \"" + spec.name + "\" has a load, but no node has GPUs");
    stream.gap_millis = device_time / weight / (*spec.load * devices);
  } else {
    stream.spread_until = spec.until ? spec.until : scenario.horizon;
    ASHLAR_CHECK(spec.count.has_value() && stream.spread_until.has_value());
    stream.gap_millis =
        static_cast<double>((*stream.spread_until - spec.start).value) / static_cast<double>(*spec.count);
  }
  return stream;
}

KindId trace_kind(const ScenarioTrace& spec, std::int32_t width, Catalog& catalog) {
  const ConstraintId anywhere = catalog.constraint({});
  const auto member = [&](std::int32_t size) {
    const DeviceRequest request{.count = spec.is_processors ? 0 : size};
    const std::int64_t cores = spec.is_processors ? 1000 : spec.cpu_per_gpu.value;
    return catalog.demand(demand_of({request, MilliCores(cores * size), Bytes(spec.memory_per_gpu.value * size)}));
  };
  JobKind kind;
  const std::int32_t whole = width / spec.gpus_per_member, rest = width % spec.gpus_per_member;
  if (whole > 0) kind.needs.push_back({member(spec.gpus_per_member), anywhere, static_cast<std::uint32_t>(whole)});
  if (rest > 0) kind.needs.push_back({member(rest), anywhere, 1});
  return catalog.add_kind(std::move(kind));
}

Result<ScenarioWork::Trace> trace_of(const ScenarioTrace& spec, const Scenario& scenario, Catalog& catalog,
                                     std::vector<std::string>& notes) {
  ScenarioWork::Trace trace{.spec = &spec, .jobs = {}, .order = {}, .queue_of_vc = {}, .kinds = {}};
  if (spec.format == ScenarioTrace::Format::kSwf) {
    Result<SwfTrace> swf = read_swf(spec.path);
    if (!swf) return swf.error();
    if (swf->skipped > 0)
      notes.push_back(spec.path + ": " + std::to_string(swf->skipped) + " of " +
                      std::to_string(swf->skipped + std::ssize(swf->trace.jobs)) +
                      " jobs are skipped: they have no run time or no processors");
    trace.jobs = std::move(swf->trace);
  } else {
    Result<JobTrace> jobs = read_jobs(spec.path);
    if (!jobs) return jobs.error();
    trace.jobs = *std::move(jobs);
  }
  for (const std::string& vc : trace.jobs.vcs) {
    const auto it = std::find_if(scenario.queues.begin(), scenario.queues.end(),
                                 [&](const ScenarioQueue& q) { return q.name == vc; });
    if (spec.queue < 0 && it == scenario.queues.end()) {
      const auto row = static_cast<std::uint32_t>(trace.queue_of_vc.size());
      const auto first = std::find_if(trace.jobs.jobs.begin(), trace.jobs.jobs.end(),
                                      [&](const TraceJob& job) { return job.vc == row; });
      return invalid(spec.path + ":" + std::to_string(first->line) + ": virtual cluster '" + vc +
                     "' is not a queue of " + scenario.path + "; add it to queues, or give the trace one queue");
    }
    trace.queue_of_vc.push_back(
        static_cast<std::uint32_t>(spec.queue >= 0 ? spec.queue : it - scenario.queues.begin()));
  }
  for (const TraceJob& job : trace.jobs.jobs)
    if (static_cast<double>(job.submit.value) * spec.time_scale > kTimeMax)
      return invalid(spec.path + ": a submit time of " + std::to_string(job.submit.value / 1000) +
                     " s times time_scale lies beyond 30,000 years");
  for (std::uint32_t i = 0; i < trace.jobs.jobs.size(); ++i) trace.order.push_back(i);
  const auto& jobs = trace.jobs.jobs;
  std::stable_sort(trace.order.begin(), trace.order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return jobs[a].submit < jobs[b].submit; });
  if (spec.limit && static_cast<std::int64_t>(trace.order.size()) > *spec.limit)
    trace.order.resize(static_cast<std::size_t>(*spec.limit));
  std::vector<std::int32_t> widths;
  for (const std::uint32_t row : trace.order) widths.push_back(jobs[row].gpus);
  std::sort(widths.begin(), widths.end());
  widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
  for (const std::int32_t width : widths) trace.kinds.emplace_back(width, trace_kind(spec, width, catalog));
  return trace;
}

/// Draws the jobs of one stream, or walks one trace.
class Source {
 public:
  virtual ~Source() = default;
  virtual bool next(SimJob& out) = 0;
};

Millis late_of(Millis median, double factor) {
  const double late = static_cast<double>(median.value) * factor;
  return std::max(median, Millis(std::llround(std::min(late, kTimeMax))));
}

class StreamSource final : public Source {
 public:
  explicit StreamSource(const ScenarioWork::Stream& stream)
      : stream_(stream), rng_(stream.spec->seed), at_(static_cast<double>(stream.spec->start.value)) {}

  bool next(SimJob& out) override {
    const ArrivalStream& spec = *stream_.spec;
    if (spec.count && drawn_ >= *spec.count) return false;
    at_ += gap();
    if (at_ > kTimeMax) return false;  // a stream this slow adds nothing to any simulation
    Millis submit(std::llround(at_));
    // rounding loses none of them
    if (stream_.spread_until) submit = std::min(submit, *stream_.spread_until - Millis(1));
    if (spec.until && submit >= *spec.until) return false;
    ++drawn_;
    const ScenarioWork::Shape& shape = pick_shape();
    const std::uint32_t queue = pick_queue(shape);
    out = {.submit = submit,
           .duration = draw_duration(shape.spec->duration, rng_),
           .priority = shape.spec->priority,
           .queue = queue_row(queue),
           .kind = shape.kinds.front(),
           .vc = queue};
    if (shape.kinds.size() > 1) out.kind = shape.kinds[rng_.below(shape.kinds.size())];
    Millis believed = out.duration;
    if (shape.spec->estimate_error > 0)
      believed = Millis(std::max<std::int64_t>(
          1, std::llround(static_cast<double>(out.duration.value) *
                          std::exp(shape.spec->estimate_error * normal_quantile(rng_.uniform())))));
    if (shape.spec->has_estimate) out.estimate = {believed, late_of(believed, shape.spec->late_factor)};
    out.order_hint = believed.value;
    return true;
  }

 private:
  /// Time to the next arrival. If the number of jobs is given, and not the rate, it is the gap to the first of those
  /// left, each of which arrives at a uniformly random time of the remaining window: a Poisson process conditioned on
  /// its count.
  double gap() {
    if (stream_.spec->process == ArrivalStream::Process::kUniform) return drawn_ > 0 ? stream_.gap_millis : 0.0;
    if (!stream_.spread_until) return rng_.exponential(stream_.gap_millis);
    const double rest = static_cast<double>(stream_.spread_until->value) - at_;
    return -rest * std::expm1(-rng_.exponential(1.0 / static_cast<double>(*stream_.spec->count - drawn_)));
  }
  const ScenarioWork::Shape& pick_shape() {
    const auto& shapes = stream_.shapes;
    if (shapes.size() == 1) return shapes.front();
    const double u = rng_.uniform() * shapes.back().weight_up_to;
    for (const ScenarioWork::Shape& shape : shapes)
      if (u < shape.weight_up_to) return shape;
    return shapes.back();
  }
  std::uint32_t pick_queue(const ScenarioWork::Shape& shape) {
    const auto& queues = shape.queues_up_to;
    if (queues.size() == 1) return queues.front().first;
    const double u = rng_.uniform() * queues.back().second;
    for (const auto& [queue, up_to] : queues)
      if (u < up_to) return queue;
    return queues.back().first;
  }

  const ScenarioWork::Stream& stream_;
  Rng rng_;
  double at_;
  std::int64_t drawn_ = 0;
};

class TraceSource final : public Source {
 public:
  explicit TraceSource(const ScenarioWork::Trace& trace) : trace_(trace) {}

  bool next(SimJob& out) override {
    if (next_ == trace_.order.size()) return false;
    const TraceJob& job = trace_.jobs.jobs[trace_.order[next_++]];
    const std::uint32_t queue = trace_.queue_of_vc[job.vc];
    const auto kind = std::lower_bound(trace_.kinds.begin(), trace_.kinds.end(), std::pair{job.gpus, KindId(0u)});
    const Millis believed(std::max<std::int64_t>(1, job.estimate.value));
    out = {.submit = Millis(std::llround(static_cast<double>(job.submit.value) * trace_.spec->time_scale)),
           .duration = job.duration,
           .estimate = {believed, believed},
           .order_hint = job.estimate.value,
           .priority = trace_.spec->priority,
           .queue = queue_row(queue),
           .kind = kind->second,
           .vc = queue};
    return true;
  }

 private:
  const ScenarioWork::Trace& trace_;
  std::size_t next_ = 0;
};

/// Merges sources by submission, ties by their number.
class Merge {
 public:
  void add(std::unique_ptr<Source> source) {
    sources_.push_back({std::move(source), {}});
    refill(sources_.size() - 1);
  }
  bool next(SimJob& out) {
    if (heads_.empty()) return false;
    const std::size_t s = heads_.top().second;
    heads_.pop();
    out = sources_[s].head;
    refill(s);
    return true;
  }

 private:
  struct Lane {
    std::unique_ptr<Source> source;
    SimJob head;
  };
  using Head = std::pair<Millis, std::size_t>;

  void refill(std::size_t s) {
    if (sources_[s].source->next(sources_[s].head)) heads_.push({sources_[s].head.submit, s});
  }

  std::vector<Lane> sources_;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
};

}  // namespace

Result<ScenarioWork> ScenarioWork::make(const Scenario& scenario, Catalog& catalog) {
  ScenarioWork work;
  for (const ArrivalStream& spec : scenario.arrivals) {
    Result<Stream> stream = stream_of(spec, scenario, catalog);
    if (!stream) return stream.error();
    work.streams_.push_back(*std::move(stream));
  }
  for (const ScenarioTrace& spec : scenario.traces) {
    Result<Trace> trace = trace_of(spec, scenario, catalog, work.notes_);
    if (!trace) return trace.error();
    work.traces_.push_back(*std::move(trace));
  }
  return work;
}

JobFeed ScenarioWork::feed() const {
  auto merge = std::make_shared<Merge>();
  for (const Stream& stream : streams_) merge->add(std::make_unique<StreamSource>(stream));
  for (const Trace& trace : traces_) merge->add(std::make_unique<TraceSource>(trace));
  return [merge](SimJob& out) { return merge->next(out); };
}

std::int64_t ScenarioWork::jobs_expected() const {
  std::int64_t sum = 0;
  for (const Stream& stream : streams_) sum += stream.spec->count.value_or(0);
  for (const Trace& trace : traces_) sum += static_cast<std::int64_t>(trace.order.size());
  return sum;
}

}  // namespace ashlar::sim
