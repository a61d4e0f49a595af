// transfer: what one request of the Client holds while it is queued or under way (private to the folder): the
// callbacks, the answer so far and, once started, a pooled libcurl easy handle. Options are set here, so that
// client.cpp only deals with order and limits.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "http/client.h"

namespace ashlar::http {

using SteadyTime = std::chrono::steady_clock::time_point;

struct EasyDelete {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using Easy = std::unique_ptr<CURL, EasyDelete>;
using HeaderList = std::shared_ptr<curl_slist>;

struct Transfer {
  RequestId id = 0;
  Request request;
  Response response;
  OnDone on_done;
  StreamHandlers handlers;
  bool is_stream = false, is_open = false, ended_by_reader = false, too_long = false, is_cancelled = false,
       is_held_back = false;
  Millis idle;              ///< longest silence of a stream; 0: any
  SteadyTime last_bytes{};  ///< of a stream
  std::size_t body_bytes_max = 0;
  std::uint64_t* bytes_received = nullptr;
  std::uint64_t certificate = 0;  ///< which of the client's certificates, counted, the handle was made with
  Easy easy;
  HeaderList headers;
  char error_text[CURL_ERROR_SIZE] = {};
};

/// Options that never change between requests of one client: TLS, HTTP/2, TCP. Called once for each pooled handle.
void configure_connection(CURL* easy, const ClientOptions& options);
/// Options of this request; `url` and the body must outlive the transfer's run.
void configure_request(Transfer& transfer, const std::string& base_url);
/// The meaning of libcurl's result to callers.
Result<Response> conclude(Transfer& transfer, CURLcode code);

/// Header lists by (content type, accept), built once for each token; running transfers keep theirs alive.
class HeaderLists {
 public:
  explicit HeaderLists(std::string token) : token_(std::move(token)) {}
  HeaderList get(const Request& request);
  void set_token(std::string token) {
    token_ = std::move(token);
    lists_.clear();
  }

 private:
  std::string token_;
  std::map<std::pair<const char*, const char*>, HeaderList> lists_;
};

}  // namespace ashlar::http
