#include "http/client.h"

#include <curl/curl.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <fstream>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/unreadable.h"
#include "http/transfer.h"
#include "http/url.h"

namespace ashlar::http {
namespace {

using std::chrono::steady_clock;

// One HTTP/2 connection carries all short exchanges; a few more are allowed for the moment a server answers GOAWAY or
// limits streams below our window. Each stream and each long answer has its own connection
// (Request::has_own_connection), in a separate pool: libcurl keeps one record of a host per pool, whether it
// multiplexes or not.
constexpr long kConnectionsMax = 4, kStreamsMax = 1000;
// A server that does not multiplex (HTTP/1.1, usually behind a proxy) has a connection for each exchange under way: a
// slow one delays no other.
constexpr long kPlainConnectionsMax = 128;
// libcurl looks at every transfer under way in each round. With many in flight, rounds closer than this are merged,
// which costs nothing in throughput (a round trip takes far longer) and saves most of the client's CPU; bench_rawbind
// shows both.
constexpr std::size_t kMergeFrom = 24;
constexpr auto kMergeInterval = std::chrono::microseconds(1500);
constexpr auto kIdleCheckInterval = std::chrono::milliseconds(500);
constexpr auto kBlindWait = std::chrono::milliseconds(100);
constexpr std::size_t kPooledHandlesMax = 512;

void initialise_libcurl() {
  static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(once);
}

Result<void> check_readable(const std::string& file, const char* what) {
  errno = 0;
  if (file.empty() || std::ifstream(file).good()) return {};
  return invalid(std::string(what) + " file: " + unreadable(file, errno).message);
}

/// Null if there is no memory for it.
CURLM* make_pool_of_short_exchanges() {
  CURLM* multi = curl_multi_init();  // libcurl sets nothing on a null handle, and reports it (CURLM_BAD_HANDLE)
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, kConnectionsMax);
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, kStreamsMax);
  return multi;
}

}  // namespace

struct Client::Loop {
  explicit Loop(ClientOptions o) : options(std::move(o)), header_lists(options.bearer_token) {}
  ~Loop();

  ClientOptions options;
  std::string base_url;
  HeaderLists header_lists;
  CURLM* multi = nullptr;  ///< of short exchanges
  std::mutex multi_mutex;  ///< held when it is replaced, and when another thread uses it
  CURLM* solo = nullptr;   ///< of requests with their own connection
  curl_slist* connect_to = nullptr;
  std::unordered_map<RequestId, std::unique_ptr<Transfer>> transfers;  // queued and running
  std::deque<RequestId> queue;
  std::vector<Easy> pool;            // idle handles, all made with the present certificate
  std::uint64_t certificate = 0;     // number of times it was replaced
  std::vector<RequestId> cancelled;  // running ones, removed outside libcurl's callbacks
  std::size_t running = 0;
  bool is_plain_server = false;  ///< it does not multiplex, as far as known
  RequestId last_id = 0;
  ClientCounters counters;
  steady_clock::time_point last_round{}, last_idle_check{};
  std::uint64_t bytes_at_round_start = 0;
  std::mutex posted_mutex;
  std::vector<std::function<void()>> posted;
  struct Refusal {
    RequestId id;
    OnDone on_done;
    Error error;
  };
  std::deque<Refusal> refused;  ///< by the queue's limit; reported in the next round

  RequestId enqueue(std::unique_ptr<Transfer> transfer);
  void start_queued();
  void start(Transfer& transfer);
  bool finish_completed();
  void finish(Transfer& transfer, CURLcode code);
  void note_version(const Transfer& transfer);
  void rest(Transfer& transfer);
  void end_silent_streams();
  void drop_cancelled();
  CURLM* pool_of(const Transfer& t) const { return t.request.has_own_connection ? solo : multi; }
  void wait(std::chrono::milliseconds longest);
  bool run_posted();
  bool round();
};

Client::Loop::~Loop() {
  for (auto& [id, transfer] : transfers)
    if (transfer->easy) curl_multi_remove_handle(pool_of(*transfer), transfer->easy.get());
  transfers.clear();
  pool.clear();
  for (CURLM* connections : {multi, solo})
    if (connections != nullptr) curl_multi_cleanup(connections);
  curl_slist_free_all(connect_to);
}

RequestId Client::Loop::enqueue(std::unique_ptr<Transfer> transfer) {
  const RequestId id = ++last_id;
  transfer->id = id;
  const std::size_t most = transfer->request.body_bytes_max;
  transfer->body_bytes_max = most > 0 ? std::min(most, options.body_bytes_max) : options.body_bytes_max;
  transfer->bytes_received = &counters.bytes_received;
  ++counters.requests;
  const bool is_urgent = transfer->request.is_urgent;
  if (queue.size() >= options.queue_max && !is_urgent) {
    ++counters.failures;
    OnDone& on_done = transfer->is_stream ? transfer->handlers.on_done : transfer->on_done;
    refused.push_back(
        {id, std::move(on_done), Error{Error::Kind::kUnavailable, "too many requests are waiting to be sent"}});
    return id;
  }
  transfers.emplace(id, std::move(transfer));
  if (is_urgent)
    queue.push_front(id);
  else
    queue.push_back(id);
  return id;
}

void Client::Loop::start(Transfer& t) {
  if (!pool.empty()) {
    t.easy = std::move(pool.back());
    pool.pop_back();
  } else {
    t.easy.reset(curl_easy_init());
    configure_connection(t.easy.get(), options);
    if (connect_to != nullptr) curl_easy_setopt(t.easy.get(), CURLOPT_CONNECT_TO, connect_to);
  }
  t.certificate = certificate;
  t.headers = header_lists.get(t.request);
  t.last_bytes = steady_clock::now();
  configure_request(t, base_url);
  if (is_plain_server) curl_easy_setopt(t.easy.get(), CURLOPT_PIPEWAIT, 0L);
  curl_easy_setopt(t.easy.get(), CURLOPT_SOCKOPTDATA,
                   t.request.has_own_connection ? nullptr : &options.unacknowledged_max);
  counters.bytes_sent += t.request.body.size();
  curl_multi_add_handle(pool_of(t), t.easy.get());
  ++running;
}

void Client::Loop::start_queued() {
  while (!queue.empty()) {
    const auto found = transfers.find(queue.front());
    const bool is_cancelled = found == transfers.end();
    if (!is_cancelled && running >= options.requests_in_flight_max && !found->second->request.is_urgent) return;
    queue.pop_front();
    if (!is_cancelled) start(*found->second);
  }
}

void Client::Loop::finish(Transfer& t, CURLcode code) {
  const auto found = transfers.find(t.id);
  std::unique_ptr<Transfer> owned = std::move(found->second);
  transfers.erase(found);
  long connects = 0;
  curl_easy_getinfo(t.easy.get(), CURLINFO_NUM_CONNECTS, &connects);
  counters.connections += static_cast<std::uint64_t>(std::max(0l, connects));
  note_version(t);
  Result<Response> result = conclude(t, code);
  rest(t);
  if (t.is_cancelled) return;
  if (!result) ++counters.failures;
  OnDone& on_done = t.is_stream ? t.handlers.on_done : t.on_done;
  if (on_done) on_done(std::move(result));
}

/// Of those that would share a connection: the others request HTTP/1.1.
void Client::Loop::note_version(const Transfer& t) {
  if (t.is_stream || t.request.has_own_connection) return;
  long version = 0;
  curl_easy_getinfo(t.easy.get(), CURLINFO_HTTP_VERSION, &version);
  const bool is_plain = version == CURL_HTTP_VERSION_1_0 || version == CURL_HTTP_VERSION_1_1;
  if (version == 0 || is_plain == is_plain_server) return;
  is_plain_server = is_plain;
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, is_plain ? kPlainConnectionsMax : kConnectionsMax);
}

/// A handle with an old certificate would open connections that the server refuses once that has expired.
void Client::Loop::rest(Transfer& t) {
  curl_multi_remove_handle(pool_of(t), t.easy.get());
  --running;
  if (t.certificate == certificate && pool.size() < kPooledHandlesMax) pool.push_back(std::move(t.easy));
}

bool Client::Loop::finish_completed() {
  // All completions are collected before the first callback: callbacks may send, and libcurl's message list is valid
  // only until the next call.
  std::vector<std::pair<Transfer*, CURLcode>> ended;
  int left = 0;
  for (CURLM* connections : {multi, solo}) {
    while (const CURLMsg* message = curl_multi_info_read(connections, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      Transfer* transfer = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      ended.emplace_back(transfer, message->data.result);
    }
  }
  for (const auto& [transfer, code] : ended) finish(*transfer, code);
  return !ended.empty();
}

void Client::Loop::drop_cancelled() {
  for (const RequestId id : cancelled) {
    const auto found = transfers.find(id);
    if (found == transfers.end()) continue;
    std::unique_ptr<Transfer> owned = std::move(found->second);
    transfers.erase(found);
    rest(*owned);  // resets the stream; the connection stays open
  }
  cancelled.clear();
}

void Client::Loop::end_silent_streams() {
  const auto now = steady_clock::now();
  if (now - last_idle_check < kIdleCheckInterval) return;
  last_idle_check = now;
  std::vector<Transfer*> silent;
  for (auto& [id, t] : transfers)
    if (t->is_stream && t->easy && t->idle.value > 0 && now - t->last_bytes > std::chrono::milliseconds(t->idle.value))
      silent.push_back(t.get());
  for (Transfer* t : silent) {
    std::snprintf(t->error_text, sizeof t->error_text, "no byte arrived for %lld ms",
                  static_cast<long long>(t->idle.value));
    finish(*t, CURLE_OPERATION_TIMEDOUT);
  }
}

bool Client::Loop::run_posted() {
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(posted_mutex);
    work.swap(posted);
  }
  const std::size_t refused_before = refused.size();  // no more: a callback may send again and be refused again
  for (std::size_t i = 0; i < refused_before && !refused.empty(); ++i) {
    Refusal refusal = std::move(refused.front());
    refused.pop_front();
    if (refusal.on_done) refusal.on_done(std::move(refusal.error));
  }
  for (const auto& run : work) run();
  return !work.empty() || refused_before > 0;
}

bool Client::Loop::round() {
  bool progressed = run_posted();
  drop_cancelled();
  start_queued();
  if (running >= kMergeFrom) {
    const auto since = steady_clock::now() - last_round;
    if (since < kMergeInterval) std::this_thread::sleep_for(kMergeInterval - since);
  }
  bytes_at_round_start = counters.bytes_received;
  int still_running = 0;
  curl_multi_perform(multi, &still_running);
  curl_multi_perform(solo, &still_running);
  progressed |= counters.bytes_received != bytes_at_round_start;
  progressed |= finish_completed();
  end_silent_streams();
  drop_cancelled();
  last_round = steady_clock::now();
  return progressed;
}

/// Until something happens on any connection, or wakeup().
void Client::Loop::wait(std::chrono::milliseconds longest) {
  fd_set reads, writes, faults;
  FD_ZERO(&reads);
  FD_ZERO(&writes);
  FD_ZERO(&faults);
  int last = -1;
  curl_multi_fdset(solo, &reads, &writes, &faults, &last);
  std::vector<curl_waitfd> sockets;
  for (int fd = 0; fd <= last; ++fd) {
    const int wanted = (FD_ISSET(fd, &reads) ? CURL_WAIT_POLLIN : 0) | (FD_ISSET(fd, &writes) ? CURL_WAIT_POLLOUT : 0);
    if (wanted != 0) sockets.push_back({fd, static_cast<short>(wanted), 0});
  }
  if (last < 0) longest = std::min(longest, kBlindWait);  // none yet, or beyond what an fd_set holds
  long due = -1;                                          // libcurl's own timers: connecting, time limits
  curl_multi_timeout(solo, &due);
  if (due >= 0) longest = std::min(longest, std::chrono::milliseconds(due));
  int events = 0;
  curl_multi_poll(multi, sockets.data(), static_cast<unsigned>(sockets.size()), static_cast<int>(longest.count()),
                  &events);
}

Client::Client(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::create(ClientOptions options) {
  initialise_libcurl();
  Result<Url> url = parse_url(options.base_url);
  if (!url) return url.error();
  const Tls& tls = options.tls;
  if (tls.ca_pem.empty())
    if (Result<void> readable = check_readable(tls.ca_file, "certificate authority"); !readable)
      return readable.error();
  if (tls.cert_pem.empty())
    if (Result<void> readable = check_readable(tls.cert_file, "client certificate"); !readable) return readable.error();
  if (tls.key_pem.empty())
    if (Result<void> readable = check_readable(tls.key_file, "client key"); !readable) return readable.error();

  auto loop = std::make_unique<Loop>(std::move(options));
  loop->multi = make_pool_of_short_exchanges();
  loop->solo = curl_multi_init();
  if (loop->multi == nullptr || loop->solo == nullptr) return Error{Error::Kind::kInternal, "libcurl cannot start"};
  std::string path = url->path;
  while (!path.empty() && path.back() == '/') path.pop_back();
  const std::string& name = loop->options.tls.server_name;
  if (!name.empty() && name != url->host) {
    // The certificate is checked against the URL's host, so the URL has the expected name and the connection goes to
    // the actual address.
    loop->connect_to = curl_slist_append(nullptr, ("::" + url->authority()).c_str());
    url->host = name;
  }
  loop->base_url = url->origin() + path;
  return std::unique_ptr<Client>(new Client(std::move(loop)));
}

RequestId Client::send(Request request, OnDone on_done) {
  auto transfer = std::make_unique<Transfer>();
  transfer->request = std::move(request);
  transfer->on_done = std::move(on_done);
  return loop_->enqueue(std::move(transfer));
}

RequestId Client::stream(Request request, StreamHandlers handlers, Millis idle) {
  auto transfer = std::make_unique<Transfer>();
  transfer->request = std::move(request);
  transfer->handlers = std::move(handlers);
  transfer->is_stream = true;
  transfer->request.has_own_connection = true;
  transfer->idle = idle;
  return loop_->enqueue(std::move(transfer));
}

void Client::cancel(RequestId id) {
  std::erase_if(loop_->refused, [&](const Loop::Refusal& refusal) { return refusal.id == id; });
  const auto found = loop_->transfers.find(id);
  if (found == loop_->transfers.end()) return;
  found->second->is_cancelled = true;
  if (found->second->easy)
    loop_->cancelled.push_back(id);
  else
    loop_->transfers.erase(found);
}

void Client::reset_connections() {
  loop_->drop_cancelled();
  std::vector<Transfer*> ended;
  for (auto& [id, t] : loop_->transfers)
    if (t->easy && !t->request.has_own_connection) ended.push_back(t.get());
  std::sort(ended.begin(), ended.end(), [](const Transfer* a, const Transfer* b) { return a->id < b->id; });
  for (Transfer* t : ended) {
    std::snprintf(t->error_text, sizeof t->error_text, "its connection was reset by the client");
    loop_->finish(*t, CURLE_ABORTED_BY_CALLBACK);
  }
  loop_->drop_cancelled();
  CURLM* fresh = make_pool_of_short_exchanges();
  if (fresh == nullptr) return;
  CURLM* old = nullptr;
  {
    const std::lock_guard lock(loop_->multi_mutex);
    old = std::exchange(loop_->multi, fresh);
    loop_->is_plain_server = false;
  }
  curl_multi_cleanup(old);
}

void Client::poll(Millis timeout) {
  if (loop_->round() || timeout.value <= 0) return;
  loop_->wait(std::chrono::milliseconds(std::clamp<std::int64_t>(timeout.value, 0, 500)));
  loop_->round();
}

void Client::wakeup() {
  const std::lock_guard lock(loop_->multi_mutex);
  curl_multi_wakeup(loop_->multi);
}

void Client::post(std::function<void()> work) {
  {
    const std::lock_guard lock(loop_->posted_mutex);
    loop_->posted.push_back(std::move(work));
  }
  wakeup();
}

void Client::set_bearer_token(std::string token) { loop_->header_lists.set_token(std::move(token)); }

void Client::set_client_certificate(std::string cert_pem, std::string key_pem) {
  loop_->options.tls.cert_pem = std::move(cert_pem);
  loop_->options.tls.key_pem = std::move(key_pem);
  ++loop_->certificate;
  loop_->pool.clear();  // libcurl opens a new connection if the certificate of a handle differs from the connection's
}

std::size_t Client::in_flight() const { return loop_->transfers.size(); }
const ClientCounters& Client::counters() const { return loop_->counters; }

}  // namespace ashlar::http
