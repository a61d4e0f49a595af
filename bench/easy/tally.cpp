#include "tally.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "engine/quota.h"
#include "held.h"
#include "oracle.h"

namespace ashlar::bench {
namespace {

double seconds_of(Millis time) { return static_cast<double>(time.value) / 1000; }

/// Starts of the heads without the job, by both futures.
struct Without {
  std::vector<JobId> heads;
  std::vector<Start> by_engine, alone;
};

struct Judged {
  bool delays_by_engine = false, delays_alone = false;
  Millis later{0};  ///< the first head that is later by the engine
  bool is_in_vain() const { return !delays_by_engine && !delays_alone; }
};

Judged judge(const Moment& moment, const Without& without, const Places& places) {
  Judged judged;
  const std::vector<Start> with = starts_by_the_engine(moment, without.heads, &places);
  for (std::size_t h = 0; h < with.size(); ++h) {
    const Millis before = without.by_engine[h].at;
    if (with[h].at > before && !judged.delays_by_engine) {
      judged.delays_by_engine = true;
      judged.later = with[h].at == Millis::max() ? Millis(0) : with[h].at - before;
    }
    judged.delays_alone =
        judged.delays_alone || start_alone(moment, without.heads[h], &places).at > without.alone[h].at;
  }
  return judged;
}

std::vector<NodeId> nodes_of_heads(const Without& without) {
  std::vector<NodeId> nodes;
  for (const auto* starts : {&without.by_engine, &without.alone})
    for (const Start& start : *starts) nodes.insert(nodes.end(), start.nodes.begin(), start.nodes.end());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

/// For the report only: the first of the engine's reservations that the job might break.
const Reservation* binding_reservation(const State& state, const Engine& engine, JobId job, Millis now) {
  const Millis end = state.job(job).late_end_if_started(now);
  const Reservation* first = nullptr;
  for (const Reservation& r : engine.reservations()) {
    const bool may_break = r.at != Millis::max() && end > r.at && r.entry < engine.pending().entry_of(job) &&
                           r.concerns(state, state.job(job).queue);
    if (may_break && (first == nullptr || r.entry < first->entry)) first = &r;
  }
  return first;
}

std::string reason_of(State& state, Engine& engine, JobId job, Millis now) {
  const Reservation* binding = binding_reservation(state, engine, job, now);
  if (binding == nullptr) return "no reservation binds it";
  std::string text = "head waits for nodes";
  if (const std::optional<Reason> refusal = quota_refusal(state, binding->entry.job)) {
    const bool is_shared = state.queues().is_within(state.job(job).queue, QueueId(refusal->subject));
    text = is_shared ? "head waits for quota that both use" : "head waits for quota of other queues";
  } else if (could_start(state, engine, binding->entry.job)) {
    text = "its head is held itself";
  }
  return text + (binding->spares_quota_for(state, job) ? "; held for nodes" : "; held for quota");
}

std::string example_of(const State& state, const Engine& engine, JobId job, Millis now) {
  const Reservation* binding = binding_reservation(state, engine, job, now);
  std::string text = "at " + std::to_string(now.value) + " ms a job of " +
                     std::to_string(state.job(job).devices_total) + " devices for " +
                     std::to_string(state.job(job).remaining.value / 1000) + " s";
  if (binding != nullptr) text += "; its head is promised " + std::to_string((binding->at - now).value / 1000) + " s";
  return text;
}

void print_promises(const char* whose, const Tally::Promises& promises) {
  std::printf("    %d of %d promised times of %s pass before it starts\n", promises.broken, promises.made, whose);
}

}  // namespace

void Tally::look_at(State& state, Engine& engine, Millis now, JobId job) {
  const Moment moment{state, engine, now};
  Without without;
  without.heads = heads_before(state, engine, job);
  without.by_engine = starts_by_the_engine(moment, without.heads);
  for (const JobId head : without.heads) without.alone.push_back(start_alone(moment, head));
  ++drawn;
  without_head += without.heads.empty() ? 1 : 0;
  for (const Start& start : without.by_engine) {
    const Reservation* promise = engine.reservation_book().find(start.job);
    if (promise == nullptr || promise->at == Millis::max() || promise->at <= now) continue;
    Promises& promises = start.job == without.heads.front() ? of_first : of_others;
    ++promises.made;
    promises.broken += start.at > promise->at ? 1 : 0;
  }
  const auto preferred = places_now(state, engine, job);
  ASHLAR_CHECK(preferred.has_value());
  Judged judged = judge(moment, without, *preferred);
  std::string why = reason_of(state, engine, job, now);
  if (!judged.is_in_vain())
    if (const auto elsewhere = places_now(state, engine, job, nodes_of_heads(without)))
      if (const Judged there = judge(moment, without, *elsewhere); there.is_in_vain()) {
        judged = there;
        why += "; other nodes would do";
      }
  delays_by_engine += judged.delays_by_engine ? 1 : 0;
  delays_alone += judged.delays_alone ? 1 : 0;
  delay_seconds += seconds_of(judged.later);
  if (!without.heads.empty() && without.by_engine.front().at != Millis::max())
    wait_seconds += seconds_of(without.by_engine.front().at - now);
  if (judged.is_in_vain()) {
    ++in_vain;
    ++why_in_vain[why];
    examples.try_emplace(why, example_of(state, engine, job, now));
  } else {
    if (judged.delays_by_engine != judged.delays_alone)
      why += judged.delays_by_engine ? "; if nothing else starts it would not" : "; as the engine goes on it would not";
    ++why_delays[why];
  }
}

void Tally::add(const Tally& other, const std::string& where) {
  drawn += other.drawn;
  delays_by_engine += other.delays_by_engine;
  delays_alone += other.delays_alone;
  in_vain += other.in_vain;
  without_head += other.without_head;
  delay_seconds += other.delay_seconds;
  wait_seconds += other.wait_seconds;
  of_first.made += other.of_first.made;
  of_first.broken += other.of_first.broken;
  of_others.made += other.of_others.made;
  of_others.broken += other.of_others.broken;
  for (const auto& [why, count] : other.why_in_vain) why_in_vain[why] += count;
  for (const auto& [why, count] : other.why_delays) why_delays[why] += count;
  for (const auto& [why, text] : other.examples) examples.try_emplace(why, where + " " + text);
}

void Tally::print() const {
  std::printf(
      "    drawn %d: %d delay a head if the engine goes on deciding, %d if nothing else starts; %d held in vain\n",
      drawn, delays_by_engine, delays_alone, in_vain);
  if (without_head > 0) std::printf("    %d have no first waiting job ahead of them\n", without_head);
  if (drawn > 0)
    std::printf("    the first head starts after %.1f s on average; with the job %.1f s later, where it is later\n",
                wait_seconds / drawn, delays_by_engine == 0 ? 0 : delay_seconds / delays_by_engine);
  print_promises("the first waiting job", of_first);
  print_promises("another queue's first waiting job", of_others);
  for (const auto& [why, count] : why_in_vain)
    std::printf("    in vain %5d  %s (%s)\n", count, why.c_str(), examples.at(why).c_str());
  for (const auto& [why, count] : why_delays) std::printf("    delays  %5d  %s\n", count, why.c_str());
}

}  // namespace ashlar::bench
