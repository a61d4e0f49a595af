#include "live/write/queue_status.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "kubeclient/json_writer.h"
#include "kubeclient/writes.h"
#include "live/read/queue_limits.h"
#include "live/track/translate.h"
#include "text/amount_text.h"

namespace ashlar::kube {
namespace {

/// Jobs of a queue and of those below it.
struct Jobs {
  std::int64_t running = 0, waiting = 0;
};

std::vector<Jobs> jobs_of_queues(const Engine& engine, const State& state) {
  const QueueTree& tree = state.queues();
  std::vector<Jobs> jobs(tree.rows());
  const auto add = [&](QueueId queue, const Jobs& more) {
    for (QueueId q = queue; !q.is_none() && q.row() < jobs.size(); q = tree.parent(q)) {
      jobs[q.row()].running += more.running;
      jobs[q.row()].waiting += more.waiting;
    }
  };
  engine.pending().each_class([&](ClassId, const PendingQueue::Class& job_class) {
    add(job_class.key.queue, {.waiting = static_cast<std::int64_t>(job_class.jobs.size() + job_class.held.size())});
  });
  for (std::size_t row = 0; row < state.running().rows(); ++row)
    add(QueueId(row), {.running = static_cast<std::int64_t>(state.running().in(QueueId(row)).size())});
  return jobs;
}

std::string key_of(const ReadLimit& limit) {
  return limit.model.empty() ? limit.resource : limit.resource + "@" + limit.model;
}

/// In one word, with the unit of bytes.
std::string word_of(const QuotaKey& of, std::int64_t amount) { return quota_word(quota_number(of), amount); }

/// Members of its status: what it uses and is sure to get, and its jobs.
std::string amounts_of(const State& state, const ObjectNames& names, QueueId queue, const Jobs& jobs) {
  JsonWriter w;
  w.begin_object();
  w.key("used").begin_object();
  for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
    const QuotaKey of = quota_key(static_cast<std::int64_t>(d));
    const bool is_gpu = of.resource.is_none();
    w.member(is_gpu ? kGpuResource : names.resource_name(of.resource).view(),
             word_of(of, state.queues().used(queue)[d]));
  }
  for (const ReadLimit& limit : limits_of(state, names, queue))
    if (quota_number(limit.of) >= static_cast<std::int64_t>(kQuotaDimensions))
      w.member(key_of(limit), word_of(limit.of, limit.used));
  w.end_object().key("guaranteed").begin_object();
  for (const ReadGuarantee& guarantee : guarantees_of(state, names, queue))
    w.member(key_of(guarantee.counted), word_of(guarantee.counted.of, guarantee.in_force));
  w.end_object();
  w.member("running", jobs.running).member("waiting", jobs.waiting).end_object();
  const std::string object = w.take();
  return object.substr(1, object.size() - 2);
}

std::string_view reason_of(const QueueBook::Stated& queue) {
  if (queue.is_refused) return "Refused";
  if (!queue.unreadable.empty()) return "Invalid";
  return queue.misplaced.empty() ? "Accepted" : "Misplaced";
}

}  // namespace

QueueStatusWriter::QueueStatusWriter(Api& api, Hooks hooks) : api_(api), hooks_(std::move(hooks)), lane_(api, [] {}) {}

Millis QueueStatusWriter::due_in(const Tracker& tracker) const {
  if (tracker.queue_book().stated().empty()) return Millis::max();
  return std::max(Millis(0), next_ - api_.monotonic());
}

void QueueStatusWriter::step(const Engine& engine, const State& state, const Tracker& tracker) {
  const std::map<std::string, QueueBook::Stated>& stated = tracker.queue_book().stated();
  if (api_.monotonic() < next_ || stated.empty() || !hooks_.may_write()) return;
  next_ = api_.monotonic() + kEvery;
  const std::vector<Jobs> jobs = jobs_of_queues(engine, state);
  std::vector<Due> due;
  for (const auto& [name, queue] : stated) {
    if (!queue.is_there || queue.uid.empty()) continue;
    Last& last = last_[name];
    if (last.uid != queue.uid)
      last = {.uid = queue.uid, .was_accepted = queue.accepted.status, .since = queue.accepted.last_transition};
    if (last.is_under_way) continue;
    const std::string trouble = QueueBook::trouble(queue);
    const ConditionStatus accepted = trouble.empty() ? ConditionStatus::kTrue : ConditionStatus::kFalse;
    if (std::exchange(last.was_accepted, accepted) != accepted) last.since = api_.now();
    const QueueId id = queue.is_refused ? QueueId::none() : tracker.names().queues.find(queue.name);
    const bool is_known = !id.is_none() && id.row() < jobs.size();
    std::string body =
        queue_status_body({.name = queue.name,
                           .uid = queue.uid,
                           .generation = queue.generation,
                           .amounts = is_known ? amounts_of(state, tracker.names(), id, jobs[id.row()]) : "",
                           .is_accepted = trouble.empty(),
                           .reason = reason_of(queue),
                           .message = trouble,
                           .since = last.since});
    if (body != last.body) due.push_back({last.at, name, std::move(body)});
  }
  std::ranges::sort(due, {}, [](const Due& one) { return std::tie(one.at, one.name); });
  for (std::size_t i = 0; i < due.size() && i < kWritesMax; ++i) send(due[i]);
}

void QueueStatusWriter::send(Due& due) {
  Last& last = last_[due.name];
  last.at = api_.monotonic();
  last.is_under_way = true;
  const auto take = [this, name = due.name, body = due.body](const Answer& answer) {
    const auto last = last_.find(name);
    if (last == last_.end()) return;
    last->second.is_under_way = false;
    if (answer.ok()) last->second.body = body;
    if (answer.ok() || std::exchange(is_trouble_told_, true) || !hooks_.log) return;
    hooks_.log(LogLevel::kWarning,
               {"the status of queue " + name + " cannot be written: " + answer.result.error().message,
                "queue",
                {},
                PooledString(name)});
  };
  lane_.send(
      [&](OnAnswer on_answer) {
        return patch_queue_status(api_, due.name, due.body, std::move(on_answer), hooks_.may_write);
      },
      take);
}

}  // namespace ashlar::kube
