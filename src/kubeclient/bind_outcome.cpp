#include "kubeclient/bind_outcome.h"

#include <algorithm>
#include <array>

#include "kubeclient/decode/decode.h"
#include "kubeclient/json_writer.h"

namespace ashlar::kube {
namespace {

constexpr std::array<std::string_view, kBindOutcomes> kNames{"Bound",     "Denied",      "Conflict", "NotFound",
                                                             "Throttled", "ServerError", "Unknown"};

/// Any other 2xx answer (a proxy's page, an empty answer) does not confirm that the pod is bound.
bool says_bound(const Answer& answer) {
  const Result<StatusText> status = decode_status(answer.body, Encoding::kJson);
  return status.ok() && status->is_success;
}

/// Length in bytes of the control character that `text` begins with, 0 if there is none: C0, DEL, C1 and characters
/// that change the writing direction (Unicode's Bidi_Control), so that text is shown in the order in which it was
/// written.
std::size_t control_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) <= 0x9f) return 2;  // U+0080 to U+009F
  if (byte(0) == 0xd8 && byte(1) == 0x9c) return 2;                     // U+061C
  if (byte(0) != 0xe2) return 0;
  const bool is_mark = byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f);     // U+200E, U+200F
  const bool is_embedding = byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae;  // U+202A to U+202E
  const bool is_isolate = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;    // U+2066 to U+2069
  return is_mark || is_embedding || is_isolate ? 3 : 0;
}

}  // namespace

BindOutcome bind_outcome(const Answer& answer) {
  if (answer.ok()) return says_bound(answer) ? BindOutcome::kBound : BindOutcome::kUnknown;
  if (answer.is_of_webhook) return BindOutcome::kRefused;
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

bool says_gone(const Answer& answer) {
  constexpr std::string_view kNotFound = "NotFound";  // metav1.StatusReasonNotFound
  return answer.status == 404 && answer.reason == kNotFound && !answer.is_of_webhook;
}

std::string_view name_of(BindOutcome outcome) { return kNames[static_cast<std::size_t>(outcome)]; }

Millis hold_time(Millis first, Millis longest, int times) {
  const int doublings = std::clamp(times - 1, 0, 30);
  return std::min(longest, Millis(first.value << doublings));
}

std::string bounded_words(std::string_view words, std::size_t bytes_max) {
  constexpr std::string_view kCut = "...";
  std::size_t end = words.size();
  if (end > bytes_max) {
    end = bytes_max - kCut.size();
    while (end > 0 && (static_cast<unsigned char>(words[end]) & 0xc0) == 0x80) --end;  // 10xxxxxx continues a character
  }
  std::string text;
  text.reserve(std::min(words.size(), bytes_max));
  for (std::size_t i = 0; i < end;) {
    const std::string_view rest = words.substr(i, end - i);
    const std::size_t control = control_size(rest), character = utf8_length(rest);
    if (control > 0)
      text += ' ';
    else if (character > 0)
      text += rest.substr(0, character);
    else
      text += static_cast<unsigned char>(rest[0]) < 0x80 ? rest[0] : '?';
    i += std::max({control, character, std::size_t{1}});
  }
  return end < words.size() ? text.append(kCut) : text;
}

}  // namespace ashlar::kube
