#include "http/transfer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>

#include "http/url.h"

namespace ashlar::http {
namespace {

// Sent data not acknowledged for this long means a dead path (a vanished node, a silent firewall); without this, TCP
// waits about 15 minutes.
constexpr unsigned kUnacknowledgedMs = 20'000;
constexpr long kKeepIdleSeconds = 15, kKeepIntervalSeconds = 5;
// Lists and watches arrive in large pieces; small answers must not pay for large buffers at every request.
constexpr long kReadBufferBytes = 128 << 10, kSmallBufferBytes = 16 << 10;

/// `user`: how long data of short requests may be in flight; null for lists and streams. When a connection of short
/// requests is closed, by us or with the process, its undelivered data is dropped: a write must not arrive long after
/// its writer has given it up.
int tune_socket(void* user, curl_socket_t socket, curlsocktype) {
  const auto* most = static_cast<const Millis*>(user);
  const unsigned unacknowledged_ms = most != nullptr ? static_cast<unsigned>(most->value) : kUnacknowledgedMs;
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof unacknowledged_ms);
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  if (most != nullptr) setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  return CURL_SOCKOPT_OK;
}

void read_answer_head(Transfer& t) {
  long status = 0;
  curl_easy_getinfo(t.easy.get(), CURLINFO_RESPONSE_CODE, &status);
  t.response.status = static_cast<int>(status);
  const char* type = nullptr;
  curl_easy_getinfo(t.easy.get(), CURLINFO_CONTENT_TYPE, &type);
  if (type != nullptr) t.response.content_type = type;
  curl_off_t retry_after_seconds = 0;
  curl_easy_getinfo(t.easy.get(), CURLINFO_RETRY_AFTER, &retry_after_seconds);
  t.response.retry_after = Millis(std::clamp<curl_off_t>(retry_after_seconds, 0, 3600) * 1000);
}

void open_stream(Transfer& t) {
  if (t.is_open) return;
  t.is_open = true;
  read_answer_head(t);
  if (t.handlers.on_open && !t.is_cancelled) t.handlers.on_open(t.response);
}

/// The connection exists and the request would be written to it next; also called again if libcurl repeats a request.
int on_leaving(void* user, char*, char*, int, int) {
  Transfer& t = *static_cast<Transfer*>(user);
  t.is_held_back = t.is_cancelled || !t.request.may_send();
  return t.is_held_back ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

std::size_t on_body(char* bytes, std::size_t, std::size_t size, void* user) {
  Transfer& t = *static_cast<Transfer*>(user);
  *t.bytes_received += size;
  if (t.is_cancelled) return 0;
  if (t.is_stream) {
    t.last_bytes = std::chrono::steady_clock::now();
    if (t.response.status < 400) {
      if (t.handlers.on_chunk({bytes, size})) return size;
      t.ended_by_reader = true;
      return 0;
    }
  }
  if (t.response.body.size() + size > t.body_bytes_max) {
    t.too_long = true;
    return 0;
  }
  t.response.body.append(bytes, size);
  return size;
}

std::size_t on_header(char* bytes, std::size_t, std::size_t size, void* user) {
  Transfer& t = *static_cast<Transfer*>(user);
  // The empty line ends the headers; 1xx answers have one too and are not what we wait for.
  if (size <= 2 && (bytes[0] == '\r' || bytes[0] == '\n')) {
    long status = 0;
    curl_easy_getinfo(t.easy.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200) open_stream(t);
  }
  return size;
}

void set_blob(CURL* easy, CURLoption option, const std::string& pem) {
  curl_blob blob{const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_COPY};
  curl_easy_setopt(easy, option, &blob);
}

void configure_tls(CURL* easy, const Tls& tls) {
  if (!tls.ca_pem.empty())
    set_blob(easy, CURLOPT_CAINFO_BLOB, tls.ca_pem);
  else if (!tls.ca_file.empty())
    curl_easy_setopt(easy, CURLOPT_CAINFO, tls.ca_file.c_str());
  curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
  if (!tls.cert_pem.empty())
    set_blob(easy, CURLOPT_SSLCERT_BLOB, tls.cert_pem);
  else if (!tls.cert_file.empty())
    curl_easy_setopt(easy, CURLOPT_SSLCERT, tls.cert_file.c_str());
  if (!tls.key_pem.empty())
    set_blob(easy, CURLOPT_SSLKEY_BLOB, tls.key_pem);
  else if (!tls.key_file.empty())
    curl_easy_setopt(easy, CURLOPT_SSLKEY, tls.key_file.c_str());
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, tls.insecure_skip_verify ? 0L : 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, tls.insecure_skip_verify ? 0L : 2L);
}

const char* method_text(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kPatch:
      return "PATCH";
    case Method::kDelete:
      return "DELETE";
  }
  return "GET";
}

bool is_tls_refusal(CURLcode code) {
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CERTPROBLEM || code == CURLE_SSL_CACERT_BADFILE ||
         code == CURLE_SSL_ISSUER_ERROR || code == CURLE_SSL_CIPHER || code == CURLE_URL_MALFORMAT;
}

}  // namespace

void configure_connection(CURL* easy, const ClientOptions& options) {
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, kKeepIdleSeconds);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, kKeepIntervalSeconds);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, tune_socket);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.value));
  curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
  curl_easy_setopt(easy, CURLOPT_PROXY, options.proxy.c_str());
  curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, kSmallBufferBytes);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  if (!options.basic_user.empty()) {
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    curl_easy_setopt(easy, CURLOPT_USERNAME, options.basic_user.c_str());
    curl_easy_setopt(easy, CURLOPT_PASSWORD, options.basic_password.c_str());
  }
  configure_tls(easy, options.tls);
}

void configure_request(Transfer& t, const std::string& base_url) {
  CURL* easy = t.easy.get();
  // libcurl 7.88 can stall a long answer that shares its HTTP/2 connection with other open streams until the server
  // sends something else: a list then waits for the next bookmark of a watch, up to a minute. Requests with their own
  // connection use HTTP/1.1.
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                   static_cast<long>(t.request.has_own_connection ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS));
  // wait for the one connection instead of opening more
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, t.request.has_own_connection ? 0L : 1L);
  curl_easy_setopt(easy, CURLOPT_URL, (base_url + t.request.path).c_str());
  const bool has_body =
      t.request.method != Method::kGet && (!t.request.body.empty() || t.request.method != Method::kDelete);
  if (has_body) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(t.request.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, t.request.body.data());
  } else {
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  }
  const bool is_plain = t.request.method == Method::kGet || t.request.method == Method::kPost;
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, is_plain ? nullptr : method_text(t.request.method));
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, t.headers.get());
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(t.request.timeout.value));
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, t.request.method == Method::kGet ? kReadBufferBytes : kSmallBufferBytes);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &t);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, &t);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t.error_text);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, t.request.may_send ? on_leaving : nullptr);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, &t);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, t.is_stream ? on_header : nullptr);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, t.is_stream ? &t : nullptr);
}

Result<Response> conclude(Transfer& t, CURLcode code) {
  if (code == CURLE_OK || t.ended_by_reader) {
    read_answer_head(t);
    return std::move(t.response);
  }
  if (t.too_long)
    return Error{Error::Kind::kTooLong,
                 "the answer to " + t.request.path + " is longer than " + std::to_string(t.body_bytes_max) + " bytes"};
  if (t.is_held_back)
    return Error{Error::Kind::kUnavailable,
                 std::string(method_text(t.request.method)) + " " + t.request.path + ": not sent before its timeout"};
  const std::string why = t.error_text[0] != '\0' ? t.error_text : curl_easy_strerror(code);
  const std::string what = std::string(method_text(t.request.method)) + " " + t.request.path + ": " + why;
  if (code == CURLE_OPERATION_TIMEDOUT) return Error{Error::Kind::kTimeout, what};
  if (is_tls_refusal(code)) return Error{Error::Kind::kInvalid, what};
  // the server ended this exchange alone; the connection and the others on it go on
  if (code == CURLE_HTTP2_STREAM) return Error{Error::Kind::kInternal, what};
  return Error{Error::Kind::kUnavailable, what};
}

HeaderList HeaderLists::get(const Request& request) {
  HeaderList& list = lists_[{request.content_type, request.accept}];
  if (list) return list;
  curl_slist* chain = curl_slist_append(nullptr, (std::string("Accept: ") + request.accept).c_str());
  chain = curl_slist_append(chain, (std::string("Content-Type: ") + request.content_type).c_str());
  chain = curl_slist_append(chain, "Expect:");  // no 100-continue round trip
  if (!token_.empty()) chain = curl_slist_append(chain, ("Authorization: Bearer " + token_).c_str());
  list = HeaderList(chain, &curl_slist_free_all);
  return list;
}

}  // namespace ashlar::http
