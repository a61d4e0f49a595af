#include "kube/bind_outcome.h"

#include <algorithm>
#include <array>

#include "kube/decode.h"

namespace ashlar::kube {
namespace {

constexpr int kUnboundReadsMax = 3;
/// The server asks for patience, and others may use the place meanwhile.
constexpr Millis kThrottledPlaceKept{30'000};

constexpr std::array<BindRule, kBindOutcomes> kRules{{
    {BindOutcome::kBound, "Bound", BindStep::kConfirm, 0, Millis(0)},
    {BindOutcome::kRefused, "Denied", BindStep::kGiveUp, 0, Millis(0)},
    {BindOutcome::kConflict, "Conflict", BindStep::kReread, kUnboundReadsMax, Millis(0)},
    {BindOutcome::kMissing, "NotFound", BindStep::kReread, kUnboundReadsMax, Millis(0)},
    {BindOutcome::kThrottled, "Throttled", BindStep::kResend, 0, kThrottledPlaceKept},
    {BindOutcome::kFailed, "ServerError", BindStep::kReread, kUnboundReadsMax, Millis(0)},
    {BindOutcome::kUnknown, "Unknown", BindStep::kReread, kUnboundReadsMax, Millis(0)},
}};

/// Whatever else answers with 2xx (a proxy's page, an empty answer) has not said that the pod is bound.
bool says_bound(const Answer& answer) {
  const Result<StatusText> status = decode_status(answer.body, Encoding::kJson);
  return status.ok() && status->is_success;
}

}  // namespace

BindOutcome bind_outcome(const Answer& answer) {
  if (answer.ok()) return says_bound(answer) ? BindOutcome::kBound : BindOutcome::kUnknown;
  switch (answer.status) {
    case 0:
    case 408:
    case 504:
      return BindOutcome::kUnknown;
    case 404:
    case 410:
      return BindOutcome::kMissing;
    case 409:
      return BindOutcome::kConflict;
    case 429:
      return BindOutcome::kThrottled;
    default:
      return answer.status >= 400 && answer.status < 500 ? BindOutcome::kRefused : BindOutcome::kFailed;
  }
}

const BindRule& rule_of(BindOutcome outcome) { return kRules[static_cast<std::size_t>(outcome)]; }

Millis hold_time(Millis first, Millis longest, int times) {
  const int doublings = std::clamp(times - 1, 0, 30);
  return std::min(longest, Millis(first.value << doublings));
}

std::string bounded_words(std::string_view words, std::size_t bytes_max) {
  constexpr std::string_view kCut = "...";
  std::size_t end = words.size();
  if (end > bytes_max) {
    end = bytes_max - kCut.size();
    while (end > 0 && (static_cast<unsigned char>(words[end]) & 0xc0) == 0x80) --end;  // 10xxxxxx goes on with a character
  }
  std::string text;
  text.reserve(std::min(words.size(), bytes_max));
  for (std::size_t i = 0; i < end; ++i) {
    const auto c = static_cast<unsigned char>(words[i]);
    const auto next = static_cast<unsigned char>(i + 1 < end ? words[i + 1] : 0);
    const bool is_c1 = c == 0xc2 && next >= 0x80 && next <= 0x9f;  // U+0080 to U+009F
    text += is_c1 || c < 0x20 || c == 0x7f ? ' ' : words[i];
    i += is_c1 ? 1 : 0;
  }
  return end < words.size() ? text.append(kCut) : text;
}

}  // namespace ashlar::kube
