#include "engine/pending/pending_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/grown.h"
#include "engine/quota.h"

namespace ashlar {
namespace {

/// Selectors of what must hold for the waiting members, ascending.
std::vector<PodSelectorId> rules_about_pods(const State& state, const EquivalenceClass& key) {
  std::vector<PodSelectorId> rules;
  const auto add = [&](ConstraintId id) {
    const Constraint& constraint = state.cluster().constraint(id);
    if (constraint.has_company()) constraint.each_required_selector([&](PodSelectorId s) { rules.push_back(s); });
  };
  add(key.constraint);
  for (const MemberRun& run : key.runs) add(run.constraint);
  std::sort(rules.begin(), rules.end());
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

/// EquivalenceClass::meant. Cost: O(rules x waiting members); without such rules, or with one member, which the
/// constraint describes, none.
std::vector<std::uint32_t> meant_by_rules(const State& state, JobId job, const EquivalenceClass& key) {
  std::vector<std::uint32_t> meant;
  if (key.members_waiting <= 1) return meant;
  const SelectorIndex& index = state.cluster().counts().index();
  for (const PodSelectorId rule : rules_about_pods(state, key)) {
    std::uint32_t place = 0;
    bool is_meant = false;
    state.each_waiting(job, [&](MemberId, const Member& m) {
      ++place;
      if (const bool is_this_meant = !m.labels.is_none() && index.matches(rule, m.labels); is_this_meant != is_meant) {
        meant.push_back(place);
        is_meant = is_this_meant;
      }
      return true;
    });
    meant.push_back(0);
  }
  return meant;
}

}  // namespace

EquivalenceClass class_of(const State& state, JobId id) {
  const Job& j = state.job(id);
  EquivalenceClass key;
  key.queue = j.queue;
  key.within = j.within;
  key.prefer = j.prefer;
  key.members_waiting = j.members_present - j.members_placed;
  key.members_needed = j.members_needed();
  key.spec = j.spec;
  std::uint32_t like_the_first = 0;
  state.each_waiting(id, [&](MemberId, const Member& m) {
    if (key.demand.is_none()) {
      key.demand = m.demand;
      key.constraint = m.constraint;
    }
    const bool is_like_the_first = m.demand == key.demand && m.constraint == key.constraint;
    if (j.spec.is_none() && key.runs.empty() && is_like_the_first) {
      ++like_the_first;
      return true;
    }
    if (key.runs.empty() && like_the_first > 0) key.runs.push_back({key.demand, key.constraint, like_the_first});
    const bool is_of_last = !key.runs.empty() && m.demand == key.runs.back().demand &&
                            m.constraint == key.runs.back().constraint && m.group == key.runs.back().group;
    if (!is_of_last) key.runs.push_back({m.demand, m.constraint, 0, m.group});
    ++key.runs.back().members;
    return true;
  });
  if (j.members_placed > 0) key.only = id;
  if (key.is_gang()) key.tenant = j.tenant;
  key.stops_none = j.stopping.stops_none;
  key.is_refused = j.is_refused;
  if (j.members_placed > 0 && !j.within.is_none()) key.anchor = state.anchor(id, j.within);
  key.meant = meant_by_rules(state, id, key);
  return key;
}

namespace {
bool is_in_parts(const EquivalenceClass& key) { return !key.only.is_none() || !key.runs.empty(); }

bool waits_for_room(const Verdict& verdict) {
  return verdict.wake_on == WakeOn::kCapacity || verdict.wake_on == WakeOn::kQuota;
}
/// Of like members.
std::int64_t devices_of_one(const PendingQueue::Class& job_class) {
  return job_class.devices / std::max<std::int64_t>(job_class.key.members_waiting, 1);
}

ParkedKind kind_of(const EquivalenceClass& key) {
  return {key.demand, key.constraint, key.members_needed <= 1 && key.within.is_none()};
}
}  // namespace

ParkedKinds& PendingQueue::kinds_like(const Class& job_class) {
  return job_class.verdict.kind == VerdictKind::kNeverFits ? never_fitting_ : waiting_for_capacity_;
}

PendingQueue::OfQueue& PendingQueue::of_queue(QueueId queue) { return grown(of_queue_, queue.row()); }

void PendingQueue::note_changed(QueueId queue) {
  if (!std::exchange(of_queue(queue).has_changed, true)) changed_queues_.push_back(queue);
}

std::vector<QueueId> PendingQueue::blocked_queues() const {
  std::vector<QueueId> queues;
  has_blocked_.each([&](std::size_t row) { queues.push_back(QueueId(row)); });
  return queues;
}

std::vector<QueueId> PendingQueue::take_changed_queues() {
  std::vector<QueueId> taken = std::exchange(changed_queues_, {});
  for (const QueueId queue : taken) of_queue(queue).has_changed = false;
  std::sort(taken.begin(), taken.end());
  return taken;
}

void PendingQueue::list_head(ClassId id) {
  const Class& job_class = classes_[id.row()];
  if (job_class.jobs.empty()) return;
  const Head head = head_of(id, *job_class.jobs.begin());
  if (job_class.is_active) {
    spare_head_.insert(active_heads_, head);
    return;
  }
  if (waits_for_room(job_class.verdict) && !head.entry.is_surplus &&
      job_class.verdict.kind != VerdictKind::kNeverFits && !job_class.key.is_refused) {
    // what can never run, or not until its queue is released, blocks no job
    const QueueId queue = job_class.key.queue;
    spare_head_.insert(of_queue(queue).blocked, head);
    if (queue.row() >= has_blocked_.size()) has_blocked_.resize(of_queue_.size());
    has_blocked_.set(queue.row());
    note_first(queue);
    // not looked at on the nodes yet
    if (job_class.verdict.wake_on == WakeOn::kQuota) note_changed(queue);
  }
  if (job_class.verdict.wake_on == WakeOn::kCapacity) {
    if (!is_in_parts(job_class.key))
      kinds_like(job_class).insert(devices_of_one(job_class), kind_of(job_class.key), head);
    else
      waiting_in_parts_.insert(id);
  } else if (job_class.verdict.wake_on == WakeOn::kQuota) {
    waiting_for_quota_.insert(id);
  } else if (job_class.verdict.wake_on == WakeOn::kHeadOfQueue) {
    of_queue(job_class.key.queue).behind_heads.insert(id);
  }
}

void PendingQueue::unlist_head(ClassId id) {
  const Class& job_class = classes_[id.row()];
  if (job_class.jobs.empty()) return;
  const Head head = head_of(id, *job_class.jobs.begin());
  if (job_class.is_active) {
    spare_head_.erase(active_heads_, head);
    return;
  }
  // Only if list_head has put it there: this runs for every class behind a head whenever the head moves.
  const WakeOn waits_for = job_class.verdict.wake_on;
  const QueueId queue = job_class.key.queue;
  if (waits_for_room(job_class.verdict)) {
    OfQueue& of = of_queue(queue);
    if (spare_head_.erase(of.blocked, head) != 0) {
      note_changed(queue);
      if (!of.behind_heads.empty()) moved_heads_.insert(queue);
      if (of.blocked.empty()) has_blocked_.reset(queue.row());
      note_first(queue);
    }
  }
  if (waits_for == WakeOn::kCapacity && !is_in_parts(job_class.key)) {
    kinds_like(job_class).erase(devices_of_one(job_class), kind_of(job_class.key), head);
  } else if (waits_for == WakeOn::kCapacity) {
    waiting_in_parts_.erase(id);
  } else if (waits_for == WakeOn::kQuota) {
    waiting_for_quota_.erase(id);
  } else if (waits_for == WakeOn::kHeadOfQueue) {
    of_queue(queue).behind_heads.erase(id);
  }
}

void PendingQueue::enter(const State& state, JobId job) {
  ASHLAR_CHECK(!contains(job));
  const EquivalenceClass key = class_of(state, job);
  auto it = ids_.lower_bound(key);
  if (it == ids_.end() || it->first != key) {
    ClassId made_id(classes_.size());
    if (spare_.empty()) {
      classes_.emplace_back();
    } else {
      made_id = spare_.back();
      spare_.pop_back();
    }
    it = spare_id_.insert(ids_, it, key, made_id);
    Class& made = classes_[made_id.row()];
    made = {};
    made.key = key;
    note_reported(made_id, 0);
    state.each_member(job, [&](MemberId, const Member& m) {
      if (m.is_placed()) return;
      made.devices += state.demand(m.demand).devices.count;
      made.has_company = made.has_company || state.cluster().constraint(m.constraint).has_company();
    });
    index_company(made_id, true);
    if (queue_keys_.policy().prefers_guaranteed) {
      made.needs = quota_counters_needed(state, job);
      queue_keys_.note_needs(made_id, made.needs);
    }
  }
  const ClassId id = it->second;
  Class& job_class = classes_[id.row()];
  const Job& j = state.job(job);
  const Entry entry{j.waits_for_surplus(), order_->waiting(j), j.backlog_seq, job};
  const bool is_head = job_class.jobs.empty() || entry < *job_class.jobs.begin();
  if (is_head) unlist_head(id);
  spare_entry_.insert(job_class.jobs, entry);
  if (is_head) list_head(id);
  grown(class_of_job_, job.row()) = id;
  grown(entry_of_job_, job.row()) = entry;
  ++size_;
  // it may now come before the head that blocks the others
  if (is_head && job_class.verdict.wake_on == WakeOn::kHeadOfQueue) activate(id);
  if (job_class.is_active) return note_reported(id, 0);
  newcomers_of_parked_.push_back(job);
  grown(reported_, id.row()).has_newcomers = true;
}

void PendingQueue::leave(JobId job) {
  if (!contains(job)) return;
  const ClassId id = class_of_job_[job.row()];
  Class& job_class = classes_[id.row()];
  const Entry& entry = entry_of_job_[job.row()];
  class_of_job_[job.row()] = ClassId::none();
  --size_;
  if (!job_class.held.empty() && job_class.held.contains(entry)) {
    const bool is_first = *job_class.held.begin() == entry;
    if (is_first) unlist_held(id);
    job_class.held.erase(entry);
    if (job_class.held.empty()) forget_holders(job_class);
    if (is_first) list_held(id);
  } else {
    const bool is_head = *job_class.jobs.begin() == entry;
    if (is_head) unlist_head(id);
    spare_entry_.erase(job_class.jobs, entry);
    if (is_head) list_head(id);
  }
  if (!job_class.is_empty()) return;
  index_company(id, false);
  spare_id_.erase(ids_, job_class.key);
  spare_.push_back(id);
}

void PendingQueue::activate(ClassId id) {
  Class& job_class = classes_[id.row()];
  if (job_class.is_active) return;
  unlist_head(id);
  job_class.is_active = true;
  list_head(id);
}

void PendingQueue::park(ClassId id, Verdict verdict) {
  Class& job_class = classes_[id.row()];
  wake_held(id);
  unlist_head(id);
  job_class.is_active = false;
  job_class.verdict = std::move(verdict);
  list_head(id);
}

void PendingQueue::park_again(ClassId id) {
  park(id, std::exchange(classes_[id.row()].verdict, {}));
  note_changed(class_at(id).key.queue);
}

void PendingQueue::activate_behind_moved_heads() {
  if (moved_heads_.empty()) return;
  std::vector<ClassId> behind;
  for (const QueueId queue : std::exchange(moved_heads_, {})) {
    const std::set<ClassId>& of = of_queue(queue).behind_heads;
    behind.insert(behind.end(), of.begin(), of.end());
  }
  for (const ClassId id : behind) activate(id);
}

void PendingQueue::index_company(ClassId id, bool is_in) {
  const Class& job_class = classes_[id.row()];
  if (!job_class.has_company) return;
  const auto put = [&](ConstraintId constraint) {
    is_in ? void(with_company_.emplace(constraint, id)) : void(with_company_.erase({constraint, id}));
  };
  put(job_class.key.constraint);
  for (const MemberRun& run : job_class.key.runs) put(run.constraint);
}

void PendingQueue::list_held(ClassId id) {
  const Class& job_class = classes_[id.row()];
  if (job_class.held.empty()) return;
  const Head head = head_of(id, *job_class.held.begin());
  spare_head_.insert(held_classes_, head);
  if (head.entry.is_surplus) return;
  spare_head_.insert(of_queue(job_class.key.queue).held, head);
  note_first(job_class.key.queue);
}

void PendingQueue::unlist_held(ClassId id) {
  const Class& job_class = classes_[id.row()];
  if (job_class.held.empty()) return;
  const Head head = head_of(id, *job_class.held.begin());
  spare_head_.erase(held_classes_, head);
  if (head.entry.is_surplus) return;
  spare_head_.erase(of_queue(job_class.key.queue).held, head);
  note_first(job_class.key.queue);
}

void PendingQueue::note_first(QueueId queue) {
  const Head* first = first_waiting(queue);
  std::optional<Head>& listed = of_queue(queue).first;
  if (first == nullptr ? !listed : listed == *first) return;
  ++head_changes_;
  if (!queue_keys_.are_compared()) {
    if (listed) spare_head_.erase(first_heads_, *listed);
    if (first != nullptr) spare_head_.insert(first_heads_, *first);
  } else if (are_heads_keyed_) {
    if (first != nullptr)
      keyed_heads_.put(queue_keys_, queue, *first);
    else
      keyed_heads_.erase(queue_keys_, queue);
  }
  if (!listed) ++first_head_count_;
  if (first == nullptr) --first_head_count_;
  listed = first != nullptr ? std::optional(*first) : std::nullopt;
}

QueueKeys::News PendingQueue::look_at_queues(const State& state, Millis now) {
  QueueKeys::News news = queue_keys_.look(state, now);
  if (!news.is_tree_other || !queue_keys_.policy().prefers_guaranteed) return news;
  const std::size_t counters = kQuotaDimensions + state.queues().keys().size();
  for (std::size_t row = 0; row < classes_.size(); ++row) {
    Class& job_class = classes_[row];
    if (job_class.is_empty() || job_class.needs.size() == counters) continue;  // they count all that is counted now
    job_class.needs =
        quota_counters_needed(state, (job_class.jobs.empty() ? job_class.held : job_class.jobs).begin()->job);
    queue_keys_.note_needs(ClassId(row), job_class.needs);
  }
  return news;
}

void PendingQueue::rekey(const QueueKeys::News& news) {
  const auto key_heads = [&] {
    keyed_heads_.clear();
    for (std::size_t row = 0; row < of_queue_.size(); ++row)
      if (const std::optional<Head>& first = of_queue_[row].first) keyed_heads_.put(queue_keys_, QueueId(row), *first);
    are_heads_keyed_ = true;
  };
  if (!are_heads_keyed_ && !news.is_tree_other) key_heads();
  bool may_be_reordered = news.is_tree_other;
  for (const QueueKeys::News::Changed& changed : news.keys) {
    queue_keys_.set(changed.queue, changed.key);
    if (!news.is_tree_other && keyed_heads_.rekey(queue_keys_, changed.queue)) may_be_reordered = true;
  }
  if (news.is_tree_other) key_heads();
  if (may_be_reordered) ++head_changes_;
}

void PendingQueue::hold(const Head& head, std::span<const Holder> holders, JobId behind, bool is_beyond_limit) {
  Class& job_class = classes_[head.job_class.row()];
  const Entry entry = entry_of(head.entry.job);  // a decision may look at jobs in an order of its own
  const bool is_head = *job_class.jobs.begin() == entry;
  if (is_head) unlist_head(head.job_class);
  const auto node = job_class.jobs.extract(entry);
  ASHLAR_CHECK(!node.empty());
  if (is_head) list_head(head.job_class);
  const bool is_first = job_class.held.empty() || entry < *job_class.held.begin();
  if (is_first) unlist_held(head.job_class);
  job_class.held.insert(entry);
  if (is_first) list_held(head.job_class);
  job_class.is_beyond_limit = job_class.is_beyond_limit || is_beyond_limit;
  if (job_class.holders_seen.empty() || holders.size() < job_class.holders_seen.size()) {
    job_class.holders_seen.assign(holders.begin(), holders.end());
    job_class.behind = behind;
  }
  for (const Holder& holder : holders) {
    const auto it = std::find(job_class.holders.begin(), job_class.holders.end(), holder);
    if (it != job_class.holders.end()) continue;
    job_class.holders.push_back(holder);
    ++held_by_[holder.job];
  }
}

const PendingQueue::Entry* PendingQueue::hold_range(ClassId id, std::set<Entry>::const_iterator first,
                                                    std::set<Entry>::const_iterator end, bool is_beyond_limit) {
  Class& job_class = classes_[id.row()];
  ASHLAR_CHECK(!job_class.held.empty());  // the one that they are like: before them, so the first one stays
  const bool are_all = first == job_class.jobs.begin() && end == job_class.jobs.end();
  if (first == end) return end == job_class.jobs.end() ? nullptr : &*end;
  unlist_head(id);
  job_class.is_beyond_limit = job_class.is_beyond_limit || is_beyond_limit;
  if (are_all && job_class.held.size() < job_class.jobs.size()) {
    job_class.jobs.merge(job_class.held);
    job_class.jobs.swap(job_class.held);
  } else {
    while (first != end) job_class.held.insert(job_class.jobs.extract(first++));
  }
  list_head(id);
  return end == job_class.jobs.end() ? nullptr : &*end;
}

void PendingQueue::wake_held_from(ClassId id, const Entry& from) {
  Class& job_class = classes_[id.row()];
  const auto first = job_class.held.lower_bound(from);
  if (first == job_class.held.end()) return;
  ASHLAR_CHECK(first != job_class.held.begin());
  unlist_head(id);
  for (auto it = first; it != job_class.held.end();) job_class.jobs.insert(job_class.held.extract(it++));
  note_reported(id, 0);
  list_head(id);
}

void PendingQueue::forget_holders(Class& job_class) {
  for (const Holder& holder : job_class.holders)
    if (const auto it = held_by_.find(holder.job); --it->second == 0) held_by_.erase(it);
  job_class.holders.clear();
  job_class.holders_seen.clear();
  job_class.is_beyond_limit = false;
}

void PendingQueue::wake_held(ClassId id) {
  Class& job_class = classes_[id.row()];
  if (job_class.held.empty()) return;
  unlist_head(id);
  unlist_held(id);
  forget_holders(job_class);
  note_reported(id, 0);
  if (job_class.jobs.size() < job_class.held.size()) job_class.jobs.swap(job_class.held);
  job_class.jobs.merge(job_class.held);
  ASHLAR_CHECK(job_class.held.empty());
  list_head(id);
}

void PendingQueue::list_anew() {
  PendingQueue listed(*order_, queue_keys_.policy(), Millis(0));  // the history moves with the keys
  listed.queue_keys_ = std::move(queue_keys_);
  listed.queue_keys_.forget_tree();
  listed.classes_ = std::move(classes_);
  listed.spare_ = std::move(spare_);
  for (std::size_t row = 0; row < listed.classes_.size(); ++row) {
    const Class& job_class = listed.classes_[row];
    if (job_class.is_empty()) continue;
    listed.ids_.emplace(job_class.key, ClassId(row));
    listed.index_company(ClassId(row), true);
    if (!job_class.needs.empty()) listed.queue_keys_.note_needs(ClassId(row), job_class.needs);
    listed.size_ += job_class.count();
    job_class.each_job([&](const Entry& entry) {
      grown(listed.class_of_job_, entry.job.row()) = ClassId(row);
      grown(listed.entry_of_job_, entry.job.row()) = entry;
    });
    for (const Holder& holder : job_class.holders) ++listed.held_by_[holder.job];
    listed.list_head(ClassId(row));
    listed.list_held(ClassId(row));
  }
  listed.moved_heads_ = std::move(moved_heads_);
  listed.newcomers_of_parked_ = std::move(newcomers_of_parked_);
  listed.head_changes_ = head_changes_;
  *this = std::move(listed);
}

const PendingQueue::Head* PendingQueue::first_waiting(QueueId queue) const {
  const Head* blocked = first_blocked(queue);
  if (queue.row() >= of_queue_.size() || of_queue_[queue.row()].held.empty()) return blocked;
  const Head& held = *of_queue_[queue.row()].held.begin();
  return blocked == nullptr || held < *blocked ? &held : blocked;
}

const PendingQueue::Head* PendingQueue::first_blocked(QueueId queue) const {
  if (queue.row() >= of_queue_.size() || of_queue_[queue.row()].blocked.empty()) return nullptr;
  return &*of_queue_[queue.row()].blocked.begin();
}

}  // namespace ashlar
