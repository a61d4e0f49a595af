#include "kubeclient/api.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/rng.h"
#include "kubeclient/bind_outcome.h"
#include "kubeclient/decode/decode.h"
#include "text/text_file.h"

namespace ashlar::kube {
namespace {

using std::chrono::steady_clock;

// kubelet rotates tokens well before they expire; client-go reads once a minute too
constexpr Millis kTokenFileAge{60'000};
constexpr std::size_t kTokenBytesMax = 1 << 20;
constexpr Millis kExecTimeout{30'000};
// An exec credential is renewed in the background this long before its expiry, or in the last fifth of its life if that
// is shorter.
constexpr Millis kRenewBeforeExpiry{120'000};
constexpr std::int64_t kRenewFraction = 5;
constexpr Millis kExecRetry{10'000};  // after a failed run, while the old credential stays in use

Error::Kind kind_of(int status) {
  switch (status) {
    case 400:
    case 405:
    case 406:
    case 413:
    case 415:
    case 422:
      return Error::Kind::kInvalid;
    case 401:
    case 403:
      return Error::Kind::kDenied;
    case 404:
      return Error::Kind::kNotFound;
    case 409:
      return Error::Kind::kConflict;
    case 410:
      return Error::Kind::kExpired;
    case 408:
    case 504:
      return Error::Kind::kTimeout;
    default:
      return status == 429 || status >= 500 ? Error::Kind::kUnavailable : Error::Kind::kInternal;
  }
}

constexpr std::string_view kWebhookRefusal = "admission webhook \"";  // of k8s.io/apiserver's webhook errors

void ignore_broken_pipes() {
  struct sigaction present {};
  if (sigaction(SIGPIPE, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

Result<std::string> read_token(const std::string& file) {
  const Result<std::string> text = read_text_file(file, kTokenBytesMax);
  if (!text) return Error{Error::Kind::kDenied, "token: " + text.error().message};
  std::string token = trimmed(*text);
  if (token.empty()) return Error{Error::Kind::kDenied, "token: " + file + ": is empty"};
  return token;
}

}  // namespace

Answer to_answer(Result<http::Response> response) {
  Answer answer;
  if (!response) {
    answer.result = response.error();
    return answer;
  }
  answer.status = response->status;
  answer.retry_after = response->retry_after;
  answer.is_protobuf = response->content_type.find("protobuf") != std::string::npos;
  if (response->status >= 200 && response->status < 300) {
    answer.body = std::move(response->body);
    return answer;
  }
  std::string message = "HTTP " + std::to_string(response->status);
  Result<StatusText> status = decode_status(response->body, answer.is_protobuf ? Encoding::kProtobuf : Encoding::kJson);
  if (status && !status->message.empty()) {
    answer.reason = status->reason;
    message += ": " + status->message;
    answer.is_of_webhook = status->message.starts_with(kWebhookRefusal);
    if (answer.is_of_webhook)
      answer.retry_after = Millis(0);
    else if (answer.retry_after.value == 0)
      answer.retry_after = Millis(std::clamp(status->retry_after_seconds, 0, 3600) * 1000ll);
  } else if (!response->body.empty()) {
    message += ": " + trimmed(response->body.substr(0, 200));
  }
  answer.result = Error{kind_of(response->status), bounded_words(message, kDetailMax)};
  return answer;
}

ServerHealth health_of(const Answer& answer) {
  if (answer.is_of_webhook) return ServerHealth::kSound;
  switch (answer.status) {
    case 429:
    case 502:
    case 503:
      return ServerHealth::kTrouble;
    case 408:
    case 500:
    case 504:
      return ServerHealth::kUnclear;
    case 0:
      if (answer.ok()) return ServerHealth::kSound;
      // kInternal: it ended this exchange alone, as a kube-apiserver does whose handler has panicked
      return answer.result.error().kind == Error::Kind::kTimeout || answer.result.error().kind == Error::Kind::kInternal
                 ? ServerHealth::kUnclear
                 : ServerHealth::kTrouble;
    default:
      return ServerHealth::kSound;
  }
}

struct Api::Session {
  struct Waiting {  ///< refused with 401, to be sent again with fresh credentials
    http::RequestId id;
    http::Request request;
    OnAnswer on_answer;
    Answer refusal;
  };

  ApiOptions options;
  std::unique_ptr<http::Client> client;
  Rng rng;
  RequestBudget budget;
  std::multimap<Millis, std::pair<std::uint64_t, std::function<void()>>> timers;  ///< by options.monotonic
  std::uint64_t last_timer = 0;
  Millis token_read;                   ///< by options.monotonic
  Millis exec_due;                     ///< wall clock; when the plugin runs next; 0: only after a refusal
  std::optional<Millis> exec_started;  ///< by options.monotonic, of the last run but the first
  bool has_exec_failed = false;        ///< the last run brought nothing
  std::optional<std::thread> exec_run;
  std::vector<Waiting> waiting;
  /// first id → id of the second sending, while under way
  std::unordered_map<http::RequestId, http::RequestId> resent;

  ~Session() {
    if (exec_run) exec_run->join();  // it posts to the client, which must still be there; bounded by kExecTimeout
    client.reset();
  }
  bool renews() const { return options.access.exec.has_value() || !options.access.token_file.empty(); }
  http::RequestId send(http::Request request, OnAnswer on_answer);
  void on_refused(Waiting refused);
  void renew();  ///< fresh credentials now, or soon from the plugin
  void resend_waiting(bool renewed);
  void start_exec();
  bool may_start_exec() const {
    return !exec_run && (!exec_started || options.monotonic() - *exec_started >= options.exec_interval_min);
  }
  void plan_exec(const ExecCredential& credential);
  void take_exec(Result<ExecCredential> credential);
  bool reread_token();
  void renew_if_due();
  void run_due_timers();
};

http::RequestId Api::Session::send(http::Request request, OnAnswer on_answer) {
  if (!renews())
    return client->send(std::move(request), [on_answer = std::move(on_answer)](Result<http::Response> r) {
      on_answer(to_answer(std::move(r)));
    });
  http::Request copy = request;
  auto id = std::make_shared<http::RequestId>(0);
  *id = client->send(std::move(request), [this, id, copy = std::move(copy),
                                          on_answer = std::move(on_answer)](Result<http::Response> r) mutable {
    const bool refused = r.ok() && r->status == 401;
    Answer answer = to_answer(std::move(r));
    if (refused)
      on_refused({*id, std::move(copy), std::move(on_answer), std::move(answer)});
    else
      on_answer(std::move(answer));
  });
  return *id;
}

void Api::Session::on_refused(Waiting refused) {
  waiting.push_back(std::move(refused));
  renew();
}

void Api::Session::renew() {
  if (!options.access.exec) return resend_waiting(reread_token());
  if (exec_run) return;  // its end sends them
  if (may_start_exec()) return start_exec();
  // The plugin has just run, so it would return the same: what was sent before its answer is sent again with that, the
  // rest fails here.
  resend_waiting(!has_exec_failed);
}

void Api::Session::resend_waiting(bool renewed) {
  std::vector<Waiting> again;
  again.swap(waiting);
  for (Waiting& one : again) {
    if (!renewed) {
      one.on_answer(std::move(one.refusal));
      continue;
    }
    const http::RequestId first = one.id;
    resent[first] = client->send(std::move(one.request),
                                 [this, first, on_answer = std::move(one.on_answer)](Result<http::Response> r) {
                                   resent.erase(first);
                                   on_answer(to_answer(std::move(r)));
                                 });
  }
}

void Api::Session::start_exec() {
  exec_started = options.monotonic();
  exec_run.emplace([this, plugin = *options.access.exec, access = options.access] {
    Result<ExecCredential> credential = run_exec_plugin(plugin, access, kExecTimeout);
    client->post([this, credential = std::move(credential)] { take_exec(credential); });
  });
}

void Api::Session::take_exec(Result<ExecCredential> credential) {
  if (exec_run) exec_run->join();
  exec_run.reset();
  has_exec_failed = !credential.ok();
  if (!credential) {
    exec_due = options.now() + kExecRetry;
    for (Waiting& one : waiting) one.refusal.result = credential.error();
    resend_waiting(false);
    return;
  }
  plan_exec(*credential);
  client->set_bearer_token(credential->token);
  if (!credential->cert_pem.empty()) client->set_client_certificate(credential->cert_pem, credential->key_pem);
  resend_waiting(true);
}

void Api::Session::plan_exec(const ExecCredential& credential) {
  exec_due = Millis(0);
  if (credential.expires.value == 0) return;
  // 0: expired already, by clocks that differ
  const std::int64_t life = std::max<std::int64_t>(0, (credential.expires - options.now()).value);
  exec_due = credential.expires - Millis(std::min(kRenewBeforeExpiry.value, life / kRenewFraction));
}

bool Api::Session::reread_token() {
  token_read = options.monotonic();
  Result<std::string> token = read_token(options.access.token_file);
  if (token) client->set_bearer_token(*token);  // else: keep the old one, it may still be good
  return token.ok();
}

void Api::Session::renew_if_due() {
  if (options.access.exec) {
    if (exec_due.value != 0 && may_start_exec() && options.now() >= exec_due) start_exec();
  } else if (!options.access.token_file.empty() && options.monotonic() - token_read > kTokenFileAge) {
    reread_token();
  }
}

void Api::Session::run_due_timers() {
  const Millis now = options.monotonic();
  while (!timers.empty() && timers.begin()->first <= now) {
    const std::function<void()> work = std::move(timers.begin()->second.second);
    timers.erase(timers.begin());
    work();
  }
}

Api::Api(std::unique_ptr<Session> session) : session_(std::move(session)) {}
Api::~Api() = default;

Result<std::unique_ptr<Api>> Api::create(ApiOptions options) {
  ignore_broken_pipes();
  auto session = std::make_unique<Session>();
  if (!options.now)
    options.now = [] {
      return Millis(
          std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
              .count());
    };
  if (!options.monotonic)
    options.monotonic = [] {
      return Millis(
          std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now().time_since_epoch()).count());
    };
  session->rng = Rng(options.seed != 0 ? options.seed : std::random_device{}());
  session->options = std::move(options);
  const Access& access = session->options.access;
  http::ClientOptions http_options{.base_url = access.server,
                                   .tls = access.tls,
                                   .bearer_token = access.token,
                                   .basic_user = access.basic_user,
                                   .basic_password = access.basic_password,
                                   .user_agent = session->options.user_agent,
                                   .proxy = access.proxy,
                                   .unacknowledged_max = session->options.unacknowledged_max,
                                   .requests_in_flight_max = session->options.requests_in_flight_max};
  if (access.exec) {
    Result<ExecCredential> credential = run_exec_plugin(*access.exec, access, kExecTimeout);
    if (!credential) return credential.error();
    session->plan_exec(*credential);
    http_options.bearer_token = credential->token;
    if (!credential->cert_pem.empty()) {
      http_options.tls.cert_pem = credential->cert_pem;
      http_options.tls.key_pem = credential->key_pem;
    }
  } else if (!access.token_file.empty()) {
    Result<std::string> token = read_token(access.token_file);
    if (!token) return token.error();
    http_options.bearer_token = *token;
    session->token_read = session->options.monotonic();
  }
  Result<std::unique_ptr<http::Client>> client = http::Client::create(std::move(http_options));
  if (!client) return Error{client.error().kind, access.origin + ": " + client.error().message};
  session->client = std::move(client).value();
  return std::unique_ptr<Api>(new Api(std::move(session)));
}

http::RequestId Api::send(http::Request request, OnAnswer on_answer) {
  return session_->send(std::move(request), std::move(on_answer));
}

http::RequestId Api::stream(http::Request request, http::StreamHandlers handlers, Millis idle) {
  if (session_->renews()) {
    handlers.on_done = [session = session_.get(), on_done = std::move(handlers.on_done)](Result<http::Response> end) {
      if (end.ok() && end->status == 401) session->renew();
      if (on_done) on_done(std::move(end));
    };
  }
  return session_->client->stream(std::move(request), std::move(handlers), idle);
}

void Api::cancel(http::RequestId id) {
  std::erase_if(session_->waiting, [&](const Session::Waiting& one) { return one.id == id; });
  if (const auto found = session_->resent.find(id); found != session_->resent.end()) {
    session_->client->cancel(found->second);
    session_->resent.erase(found);
    return;
  }
  session_->client->cancel(id);
}

void Api::reset_connections() { session_->client->reset_connections(); }

void Api::poll(Millis timeout) {
  session_->renew_if_due();
  session_->run_due_timers();
  if (!session_->timers.empty()) {
    const Millis until = session_->timers.begin()->first - session_->options.monotonic();
    timeout = std::clamp(until, Millis(0), timeout);
  }
  session_->client->poll(timeout);
  session_->run_due_timers();
}

void Api::wakeup() { session_->client->wakeup(); }
void Api::post(std::function<void()> work) { session_->client->post(std::move(work)); }

std::uint64_t Api::after(Millis delay, std::function<void()> work) {
  const std::uint64_t id = ++session_->last_timer;
  session_->timers.emplace(session_->options.monotonic() + delay, std::pair(id, std::move(work)));
  return id;
}

void Api::cancel_timer(std::uint64_t id) {
  std::erase_if(session_->timers, [&](const auto& timer) { return timer.second.first == id; });
}

Millis Api::now() const { return session_->options.now(); }
Millis Api::monotonic() const { return session_->options.monotonic(); }
RequestBudget& Api::budget() { return session_->budget; }
double Api::jitter() { return session_->rng.uniform(); }
const Access& Api::access() const { return session_->options.access; }
std::size_t Api::in_flight() const { return session_->client->in_flight(); }
const http::ClientCounters& Api::counters() const { return session_->client->counters(); }

Answer call(Api& api, http::Request request) {
  std::optional<Answer> answer;
  api.send(std::move(request), [&](Answer a) { answer = std::move(a); });
  while (!answer) api.poll(Millis(100));
  return std::move(*answer);
}

}  // namespace ashlar::kube
