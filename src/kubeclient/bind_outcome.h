// BindOutcome: what the answer to a binding, or to a write before it, means. Pure functions, no state.
//
//   const BindOutcome outcome = bind_outcome(answer);              // 429 -> kThrottled
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kubeclient/api.h"

namespace ashlar::kube {

enum class BindOutcome : std::uint8_t {
  kBound,  ///< 2xx with a Status of Success
  /// 4xx without those below: policy, permissions or form; the same request would be answered the same. 401: after
  /// renewed credentials
  kRefused,
  kConflict,   ///< 409: bound already, being deleted, gated, or another pod of that name
  kMissing,    ///< 404, 410
  kThrottled,  ///< 429: not done
  kFailed,     ///< 5xx, and answers that no API server gives: whether it was done is not known
  kUnknown,    ///< 408, 504, no answer, or a 2xx without Success
};
inline constexpr std::size_t kBindOutcomes = 7;

BindOutcome bind_outcome(const Answer& answer);
/// That the object does not exist, in the API server's own words: any proxy can return 404.
bool says_gone(const Answer& answer);
/// Of the metric's label: "Denied", "ServerError".
std::string_view name_of(BindOutcome outcome);

/// How long a pod waits outside the engine after it was given up `times` times (1, 2, ...): `first`, doubling up to
/// `longest`.
Millis hold_time(Millis first, Millis longest, int times);

/// bytes; annotations may have 256 KiB
inline constexpr std::size_t kServerWordsMax = 400, kDetailMax = 2'000, kLogLineMax = 8'000;

/// Text of others (the server, tenants) in a form fit for conditions, events, logs and terminals: at most this many
/// bytes, whole characters, and a space for each control character (C0, DEL, C1, Bidi_Control), so that it is one line,
/// moves no cursor and is shown in its own order.
std::string bounded_words(std::string_view words, std::size_t bytes_max = kServerWordsMax);
/// A name that a tenant writes, whole if Kubernetes could have it (label keys have at most 317 characters), so that the
/// rest of a sentence about it is not cut off.
inline std::string bounded_name(std::string_view name) { return bounded_words(name, 320); }

}  // namespace ashlar::kube
