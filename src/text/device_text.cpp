#include "text/device_text.h"

#include <charconv>

namespace ashlar {

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

std::string device_ranges(const DeviceMask& devices) {
  std::string text;
  for (int i = 0; i < kDevicesPerNodeMax; ++i) {
    if (!devices.test(i)) continue;
    int last = i;
    while (last + 1 < kDevicesPerNodeMax && devices.test(last + 1)) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(i);
    if (last > i) text += "-" + std::to_string(last);
    i = last;
  }
  return text;
}

}  // namespace ashlar
