#include "live/read/read_replica.h"

#include <type_traits>
#include <utility>

#include "engine/engine_fields.h"
#include "live/track/hold_text.h"

namespace ashlar::kube {

ReadReplica::ReadReplica(const Profile& profile, const EngineOptions& options, std::function<Millis()> now)
    : clock_(std::move(now)), engine_(profile, options) {}

/// A copied engine would share its profile with the leader's, on another thread: this one has its own.
ReadReplica::ReadReplica(const State& state, const Engine& engine, const Tables& tables, std::function<Millis()> now)
    : clock_(std::move(now)),
      tables_(tables, Tables::WithoutJournal{}),
      state_(state),
      engine_(engine.profile(), engine.options()) {
  std::vector<const void*> fields;
  EngineFields::each(engine, [&](const auto& field) { fields.push_back(&field); });
  std::size_t at = 0;
  EngineFields::each(engine_, [&](auto& field) {
    field = *static_cast<const std::remove_reference_t<decltype(field)>*>(fields[at++]);
  });
  EngineFields::rebuild(engine_);
}

ReadReplica::~ReadReplica() = default;

void ReadReplica::take(HandOver&& news) {
  has_begun_ = true;
  tables_.put(std::move(news.tables));
  numbers_ = news.numbers;
  if (!news.decided_at) return;
  for (const Event& event : news.events) {
    history_.note(state_, tables_.names, event);
    apply(state_, event);
    history_.note_applied(state_);
  }
  history_.note_placed(state_, engine_, engine_.decide(state_, *news.decided_at));
  history_.settle(state_, *news.decided_at);
  is_faithful_ = is_faithful_ && state_.digest() == news.digest;
}

ConditionText ReadReplica::pod_text(PodSlot slot) {
  const PodRecord& pod = tables_.pods[slot];
  if (!pod.is_in_engine()) return hold_condition(tables_, pod);
  const Verdict verdict = verdict_of_now(pod.job);
  if (verdict.kind == VerdictKind::kPending || verdict.kind == VerdictKind::kPlaced) return {};
  return verdict_text(text_context(), pod.job, verdict);
}

Verdict ReadReplica::verdict_of_now(JobId job) {
  if (job.is_none() || !state_.is_live(job)) return {};
  return engine_.verdict_with_numbers_of_now(state_, job);
}

}  // namespace ashlar::kube
