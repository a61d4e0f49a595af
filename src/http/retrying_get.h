// retrying_get: a GET to a service of which one replica at a time can answer: repeated on a new connection while the
// answer is 503, since the address may then lead to another replica. Blocks; for command lines.
#pragma once

#include <string>

#include "base/quantity.h"
#include "base/result.h"
#include "http/client.h"

namespace ashlar::http {

struct RetryingGetOptions {
  /// with two replicas behind an address that chooses at random, all tries reach the wrong one once in 4,096 calls
  int tries_max = 12;
  Millis pause{150};       ///< between two tries; all of them take less than two seconds if the answers are immediate
  Millis timeout{10'000};  ///< of one try
};

/// The first answer that is not 503, else the last one. Errors (no listener, a timeout) are not retried.
Result<Response> retrying_get(const std::string& base_url, const std::string& path, RetryingGetOptions options = {});

}  // namespace ashlar::http
