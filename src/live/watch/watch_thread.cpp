#include "live/watch/watch_thread.h"

#include <pthread.h>

#include <iterator>

namespace ashlar::kube {
namespace {

constexpr Millis kRestMax{500};  ///< the status is at most this old

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  if (to.empty())
    to.swap(from);
  else
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  from.clear();
}

}  // namespace

Result<std::unique_ptr<WatchThread>> WatchThread::create(WatchThreadOptions options) {
  Result<std::unique_ptr<Api>> api = Api::create(options.api);
  if (!api) return api.error();
  return std::unique_ptr<WatchThread>(new WatchThread(std::move(options), std::move(api).value()));
}

WatchThread::WatchThread(WatchThreadOptions options, std::unique_ptr<Api> api)
    : options_(std::move(options)), api_(std::move(api)) {
  WatchesOptions of_watches = options_.watches;
  of_watches.log = [this](LogLevel level, const LogLine& line) { log_collected_.emplace_back(level, line); };
  watches_ = std::make_unique<Watches>(*api_, std::move(of_watches));
  thread_ = std::thread([this] { run(); });
}

WatchThread::~WatchThread() {
  {
    const std::lock_guard lock(lock_);
    is_ending_ = true;
  }
  may_go_on_.notify_all();
  api_->wakeup();
  thread_.join();
}

void WatchThread::start() {
  api_->post([this] { watches_->start(); });
}

void WatchThread::stop() {
  begin_epoch([this] { watches_->stop(); });
}

void WatchThread::begin_term() {
  begin_epoch([this] { watches_->feed([this](WatchedChange&& change) { collected_.push_back(std::move(change)); }); });
}

void WatchThread::end_term() {
  begin_epoch([this] { watches_->feed({}); });
}

void WatchThread::begin_epoch(std::function<void()> work) {
  std::uint64_t epoch = 0;
  {
    const std::lock_guard lock(lock_);
    epoch = ++epoch_;
    waiting_.clear();
    status_ = {};
  }
  may_go_on_.notify_all();  // what it waits to hand over is void
  api_->post([this, epoch, work = std::move(work)] {
    collected_.clear();
    collects_for_ = epoch;
    work();
  });
}

WatchStatus WatchThread::take(std::vector<WatchedChange>& changes) {
  std::vector<std::pair<LogLevel, LogLine>> log;
  WatchStatus status;
  {
    const std::lock_guard lock(lock_);
    append(changes, waiting_);
    log.swap(log_);
    status = status_;
  }
  may_go_on_.notify_all();
  if (options_.watches.log)
    for (const auto& [level, line] : log) options_.watches.log(level, line);
  return status;
}

void WatchThread::run() {
  ::pthread_setname_np(::pthread_self(), "ashlar-reading");
  for (;;) {
    pulse_.beat();
    watches_->advance();
    hand_over();
    {
      const std::lock_guard lock(lock_);
      if (is_ending_) break;
    }
    api_->poll(kRestMax);
  }
  watches_.reset();  // its requests end on the thread that made them
}

void WatchThread::hand_over() {
  WatchStatus status = status_now();
  bool is_news = false;
  {
    std::unique_lock lock(lock_);
    is_news = !log_collected_.empty();
    append(log_, log_collected_);
    if (collects_for_ != epoch_) {
      collected_.clear();
    } else {
      is_news =
          is_news || !collected_.empty() || status.is_synced != status_.is_synced || status.trouble != status_.trouble;
      append(waiting_, collected_);
      status_ = std::move(status);
    }
  }
  if (is_news && options_.wake) options_.wake();
  std::unique_lock lock(lock_);
  pulse_.rest();
  may_go_on_.wait(lock, [this] { return waiting_.size() <= options_.waiting_max || is_ending_; });
  pulse_.beat();
}

WatchStatus WatchThread::status_now() const {
  WatchStatus status;
  status.is_synced = watches_->is_running() && watches_->is_synced();
  status.trouble = watches_->trouble();
  status.nodes = watches_->known_nodes();
  status.pods = watches_->known_pods();
  watches_->add_facts(status.watches);
  status.at = options_.monotonic ? options_.monotonic() : api_->monotonic();
  status.requests = api_->counters().requests;
  status.request_failures = api_->counters().failures;
  status.connections = api_->counters().connections;
  return status;
}

}  // namespace ashlar::kube
