#include "live/read/why_parts.h"

#include <algorithm>
#include <optional>

#include "engine/explain/start_times.h"

namespace ashlar::kube {

void write_reasons(JsonWriter& w, const TextContext& context, JobId job, const Verdict& verdict) {
  w.key("reasons").begin_array();
  for (const Reason& r : reported_reasons(context, job, verdict)) {
    w.begin_object()
        .member("code", reason_name(r.code))
        .member("message", reason_text(context, job, r))
        .member("subject", std::int64_t{r.subject});
    w.key("numbers").begin_array();
    for (const std::int64_t n : r.numbers) w.integer(n);
    w.end_array().end_object();
  }
  w.end_array();
}

void write_start(JsonWriter& w, ReadReplica& replica, JobId job) {
  if (!replica.state().is_live(job)) return;
  const Millis now = replica.now();
  const std::optional<StartTimes> start = start_times(replica.state(), replica.engine(), job, now);
  if (!start) return;
  w.key("start")
      .begin_object()
      .member("of", start->job == job ? "job" : "ahead")
      .member("expectedMillis", (start->expected - now).value)
      .member("latestMillis", (start->latest - now).value)
      .end_object();
}

std::string renewal_text(const Tables& tables, const GangRecord& gang) {
  const auto is_under_way = [&](PodSlot s) { return tables.pods[s].phase == PodRecord::Phase::kAssumed; };
  if (gang.kind != GangKind::kGroups || !std::ranges::any_of(gang.pods, is_under_way)) return {};
  return "gang " + gang.name.str() + " has other PodGroups now: it waits for the answers to its bindings under way";
}

std::string leaving_text(const PodRecord& pod) {
  return "was stopped " + (pod.bind_wait.empty() ? "for another job" : pod.bind_wait.str()) + ", and has not left " +
         pod.node_name.str() + " yet";
}

}  // namespace ashlar::kube
