// retrying_get: a GET to a service of which one replica at a time can answer: repeated on a new connection while the answer is 503, since the address
// may lead to another replica then. Blocks; for command lines.
#pragma once

#include <string>

#include "base/quantity.h"
#include "base/result.h"
#include "http/client.h"

namespace ashlar::http {

struct RetryingGetOptions {
  int tries_max = 12;      ///< of two replicas behind an address that chooses at random, all are the wrong one once in 4,096 questions
  Millis pause{150};       ///< between two tries; all of them take less than two seconds where the answers come at once
  Millis timeout{10'000};  ///< of one try
};

/// The first answer that is not 503, else the last one. Trouble (nobody there, a time-out) is not repeated.
Result<Response> retrying_get(const std::string& base_url, const std::string& path, RetryingGetOptions options = {});

}  // namespace ashlar::http
