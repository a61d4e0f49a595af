// ask: one request, and the client is driven until it is answered.
#pragma once

#include <optional>
#include <utility>

#include "http/client.h"

namespace ashlar::http {

inline Result<Response> ask(Client& client, Request request) {
  std::optional<Result<Response>> answer;
  client.send(std::move(request), [&](Result<Response> r) { answer = std::move(r); });
  while (!answer) client.poll(Millis(50));
  return std::move(*answer);
}

}  // namespace ashlar::http
