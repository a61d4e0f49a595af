#include "live/read/readers.h"

#include <pthread.h>

#include <utility>

#include "live/lead/leader.h"
#include "live/read/read_api.h"

namespace ashlar::kube {

std::optional<http::ServerResponse> refusal(const Standing& standing, const ReadReplica* replica) {
  if (!standing.is_in_term) return standby_answer(standing.leader, standing.trouble);
  if (standing.fault == ReadersFault::kDiffers) return differing_answer();
  if (standing.fault == ReadersFault::kBehind) return behind_answer();
  if (replica == nullptr) return not_ready_answer(standing.trouble);
  return std::nullopt;
}

Readers::Readers(ReadersOptions options) : options_(std::move(options)) {
  if (!options_.monotonic) options_.monotonic = steady_now;
  thread_ = std::thread([this] { run(); });
}

Readers::~Readers() {
  stop();
  thread_.join();
}

void Readers::stop() {
  {
    const std::lock_guard lock(lock_);
    is_ending_ = true;
  }
  changed_.notify_one();
}

void Readers::begin(std::unique_ptr<ReadReplica> replica) {
  std::vector<HandOver> old;  // freed without the lock
  const std::lock_guard lock(lock_);
  next_replica_ = std::move(replica);
  has_other_replica_ = true;
  fault_ = {};
  old.swap(news_);
}

void Readers::take(HandOver&& news) {
  std::vector<HandOver> old;
  {
    const std::lock_guard lock(lock_);
    if (fault_.kind != ReadersFault::kNone) return;
    news_.push_back(std::move(news));
    if (news_.size() > options_.news_max) {
      fault_.kind = ReadersFault::kBehind;
      old.swap(news_);
    }
  }
  changed_.notify_one();
}

void Readers::end() {
  begin(nullptr);
  changed_.notify_one();
}

void Readers::note(Standing standing) {
  const std::lock_guard lock(lock_);
  std::swap(standing_, standing);
}

Readers::Fault Readers::fault() {
  const std::lock_guard lock(lock_);
  return fault_;
}

void Readers::ask(Question question, http::Reply reply, Rank rank) {
  const Millis now = options_.monotonic();
  Line late;  // freed without the lock
  {
    const std::lock_guard lock(lock_);
    for (Line* line : {&first_, &asked_})
      for (; !line->empty() && is_late(line->front(), now); line->pop_front()) late.push_back(std::move(line->front()));
    (rank == Rank::kFirst ? first_ : asked_).push_back({std::move(question), std::move(reply), now});
  }
  changed_.notify_one();
}

/// One that differs is not brought up to date any more, unless it belongs to a leadership that has ended anyway.
void Readers::take(std::unique_ptr<ReadReplica>& replica, std::vector<HandOver>& news) {
  for (HandOver& one : news) {
    if (!replica) break;
    pulse_.beat();
    const Fault fault{ReadersFault::kDiffers, one.decided_at.value_or(Millis(0)), one.numbers.steps, true};
    replica->take(std::move(one));
    if (replica->is_faithful()) continue;
    replica.reset();
    const std::lock_guard lock(lock_);
    if (!has_other_replica_) fault_ = fault;
  }
  news.clear();
}

/// Everything handed over comes first, so that the replica is behind by at most one answer, and the list does not grow
/// with the questions.
void Readers::run() {
  ::pthread_setname_np(::pthread_self(), "ashlar-readers");
  std::unique_ptr<ReadReplica> replica;
  std::vector<HandOver> news;
  bool is_in_term = false;
  for (;;) {
    Asked asked;
    Standing standing;
    std::unique_ptr<ReadReplica> old, given_up;
    {
      std::unique_lock lock(lock_);
      pulse_.rest();
      changed_.wait(lock, [this] {
        const bool must_let_go = fault_.kind != ReadersFault::kNone && !fault_.is_let_go;
        return is_ending_ || has_other_replica_ || must_let_go || !news_.empty() || has_question();
      });
      pulse_.beat();
      if (is_ending_) return;
      if (std::exchange(has_other_replica_, false)) {
        old = std::exchange(replica, std::move(next_replica_));
        is_in_term = replica != nullptr;
      }
      if (fault_.kind != ReadersFault::kNone) {
        given_up = std::move(replica);
        fault_.is_let_go = true;
      }
      news.swap(news_);
      if (news.empty() && has_question()) {
        Line& line = first_.empty() ? asked_ : first_;
        asked = std::move(line.front());
        line.pop_front();
        standing = standing_;
        standing.fault = fault_.kind;
      }
    }
    old.reset();
    given_up.reset();
    take(replica, news);
    if (!asked.question || is_late(asked, options_.monotonic())) continue;
    standing.is_in_term = is_in_term;
    const bool may_read = replica && replica->has_begun() && standing.process.is_ready;
    asked.reply(asked.question(may_read ? replica.get() : nullptr, standing));
  }
}

}  // namespace ashlar::kube
