#include "http/retrying_get.h"

#include <chrono>
#include <optional>
#include <thread>

namespace ashlar::http {

Result<Response> retrying_get(const std::string& base_url, const std::string& path, RetryingGetOptions options) {
  ClientOptions to_server;
  to_server.base_url = base_url;
  for (int left = options.tries_max;; --left) {
    Result<std::unique_ptr<Client>> client = Client::create(to_server);
    if (!client) return client.error();
    std::optional<Result<Response>> answer;
    (*client)->send({.path = path, .timeout = options.timeout}, [&](Result<Response> a) { answer = std::move(a); });
    while (!answer) (*client)->poll(Millis(100));
    if (left <= 1 || !answer->ok() || (*answer)->status != 503) return std::move(*answer);
    std::this_thread::sleep_for(std::chrono::milliseconds(options.pause.value));
  }
}

}  // namespace ashlar::http
