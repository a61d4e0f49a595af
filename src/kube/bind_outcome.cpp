#include "kube/bind_outcome.h"

#include <algorithm>
#include <array>

#include "kube/decode.h"

namespace ashlar::kube {
namespace {

constexpr int kUnboundReadsMax = 3;
/// The server asks for patience, and others may use the place meanwhile.
constexpr Millis kThrottledPlaceKept{30'000};
constexpr std::size_t kWordsBytesMax = 400;

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

std::string bounded_words(std::string_view words) {
  std::string text(words);
  if (text.size() > kWordsBytesMax) {
    constexpr std::string_view kCut = "...";
    std::size_t end = kWordsBytesMax - kCut.size();
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // 10xxxxxx goes on with a character
    text.resize(end);
    text += kCut;
  }
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

}  // namespace ashlar::kube
