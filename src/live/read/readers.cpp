#include "live/read/readers.h"

#include <utility>

namespace ashlar::kube {

Readers::Readers() : thread_([this] { run(); }) {}

Readers::~Readers() {
  {
    const std::lock_guard lock(lock_);
    is_ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Readers::begin(std::unique_ptr<ReadReplica> replica) {
  std::vector<HandOver> old;  // freed without the lock
  const std::lock_guard lock(lock_);
  next_replica_ = std::move(replica);
  has_other_replica_ = true;
  old.swap(news_);
}

void Readers::take(HandOver&& news) {
  {
    const std::lock_guard lock(lock_);
    news_.push_back(std::move(news));
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

void Readers::ask(Question question, http::Reply reply) {
  {
    const std::lock_guard lock(lock_);
    asked_.push_back({std::move(question), std::move(reply)});
  }
  changed_.notify_one();
}

/// Everything handed over comes first, so that the replica is behind by at most one answer, and the list does not grow
/// with the questions.
void Readers::run() {
  std::unique_ptr<ReadReplica> replica;
  std::vector<HandOver> news;
  for (;;) {
    Asked asked;
    Standing standing;
    std::unique_ptr<ReadReplica> old;
    {
      std::unique_lock lock(lock_);
      changed_.wait(lock, [this] { return is_ending_ || has_other_replica_ || !news_.empty() || !asked_.empty(); });
      if (is_ending_) return;
      if (std::exchange(has_other_replica_, false)) old = std::exchange(replica, std::move(next_replica_));
      news.swap(news_);
      if (news.empty() && !asked_.empty()) {
        asked = std::move(asked_.front());
        asked_.pop_front();
        standing = standing_;
      }
    }
    old.reset();
    for (HandOver& one : news)
      if (replica) replica->take(std::move(one));
    news.clear();
    if (!asked.question) continue;
    standing.is_in_term = replica != nullptr;
    const bool may_read = replica && replica->has_begun() && standing.process.is_ready;
    asked.reply(asked.question(may_read ? replica.get() : nullptr, standing));
  }
}

}  // namespace ashlar::kube
