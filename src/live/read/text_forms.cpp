// The small texts of Ashlar's labels and annotations: lists of devices and durations.
#include <charconv>

#include "live/track/translate.h"

namespace ashlar::kube {

DeviceMask parse_devices(std::string_view text) {
  DeviceMask mask;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](int& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value >= kDevicesPerNodeMax) return false;
    at = next;
    return true;
  };
  while (at < end) {
    int first = 0;
    if (!number(first)) return {};
    int last = first;
    if (at < end && *at == '-') {
      ++at;
      if (!number(last) || last < first) return {};
    }
    for (int i = first; i <= last; ++i) mask.set(i);
    if (at == end) break;
    if (*at++ != ',' || at == end) return {};
  }
  return mask;
}

std::string devices_text(const DeviceMask& devices) {
  std::string text;
  devices.each([&](int i) {
    if (!text.empty()) text += ',';
    text += std::to_string(i);
  });
  return text;
}

constexpr std::int64_t kDurationMax = std::int64_t{36'500} * 86'400'000;  ///< milliseconds; the decision log takes no number beyond 2^60

Result<Millis> parse_duration(std::string_view text) {
  const auto refusal = [&] { return invalid("'" + std::string(text) + "' is not a duration; write it like 90s, 30m, 1h30m or as seconds"); };
  std::int64_t total = 0;
  std::string_view rest = text;
  if (rest.empty()) return refusal();
  while (!rest.empty()) {
    std::int64_t amount = 0;
    const auto [next, error] = std::from_chars(rest.data(), rest.data() + rest.size(), amount);
    if (error != std::errc() || amount < 0 || amount > 1'000'000'000'000) return refusal();
    rest.remove_prefix(static_cast<std::size_t>(next - rest.data()));
    std::int64_t unit = 1000;
    std::size_t width = 1;
    if (rest.empty())
      width = 0;
    else if (rest.starts_with("ms")) {
      unit = 1;
      width = 2;
    } else if (rest.front() == 's')
      unit = 1000;
    else if (rest.front() == 'm')
      unit = 60'000;
    else if (rest.front() == 'h')
      unit = 3'600'000;
    else if (rest.front() == 'd')
      unit = 86'400'000;
    else
      return refusal();
    if (width == 0 && total != 0) return refusal();  // a bare number stands alone
    rest.remove_prefix(width);
    if (amount > (kDurationMax - total) / unit)
      return invalid("'" + std::string(text) + "' is longer than 100 years; leave the duration out where it is not known");
    total += amount * unit;
  }
  return Millis(total);
}

}  // namespace ashlar::kube
