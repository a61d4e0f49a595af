#include "text/device_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "text/amount_text.h"

namespace ashlar {
namespace {

/// The numbers behind the devices of a part: thousandths, MiB, slices; at most three, those that are missing are 0.
bool read_numbers(std::string_view text, std::array<std::int64_t, 3>& numbers) {
  const std::array<std::int64_t, 3> most = {kWholeDevice, kDeviceMemoryMaxMib, UINT32_MAX};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || numbers[i] < 0 || numbers[i] > most[i]) return false;
    if (next == end) return true;
    if (*next != ':') return false;
    at = next + 1;
  }
  return false;
}

std::string quoted(std::string_view part) {
  constexpr std::size_t kQuotedMax = 60;
  return "'" + std::string(part.substr(0, kQuotedMax)) + "'";
}

Error not_a_grant(std::string_view part) {
  return invalid(quoted(part) + " is not a GPU with what is held of it, such as " +
                 "0-7:1000 (thousandths) or 3:500:40960 (thousandths and MiB)");
}

}  // namespace

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

Result<DeviceGrants> parse_grants(std::string_view text) {
  DeviceGrants grants;
  DeviceMask seen;
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = text.find(',');
    is_last = comma == std::string_view::npos;
    const std::string_view part = text.substr(0, comma);
    if (!is_last) text.remove_prefix(comma + 1);
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos) return not_a_grant(part);
    const DeviceMask devices = parse_devices(part.substr(0, colon));
    std::array<std::int64_t, 3> numbers{};
    if (devices.is_empty() || !read_numbers(part.substr(colon + 1), numbers)) return not_a_grant(part);
    const DeviceShare share{.milli = MilliGpu(static_cast<std::int32_t>(numbers[0])),
                            .slices = static_cast<std::uint32_t>(numbers[2]),
                            .memory = MiB(numbers[1])};
    if (share == DeviceShare{}) return invalid(quoted(part) + " holds nothing of a GPU");
    if (share.slices > 0 && share.milli.value == 0)
      return invalid(quoted(part) + " holds slices of a GPU and no thousandths, by which they are counted");
    bool is_twice = false;
    devices.each([&](int i) {
      is_twice = is_twice || seen.test(i);
      seen.set(i);
      grants.push_back({i, share});
    });
    if (is_twice) return invalid(quoted(part) + " names a GPU a second time");
  }
  std::sort(grants.begin(), grants.end());
  return grants;
}

std::string grants_text(std::span<const DeviceGrant> grants) {
  std::string text;
  for (std::size_t i = 0; i < grants.size();) {
    std::size_t last = i;
    while (last + 1 < grants.size() && grants[last + 1].device == grants[last].device + 1 &&
           grants[last + 1].share == grants[i].share)
      ++last;
    const DeviceShare& share = grants[i].share;
    text += (text.empty() ? "" : ",") + std::to_string(grants[i].device);
    if (last > i) text += "-" + std::to_string(grants[last].device);
    text += ":" + std::to_string(share.milli.value);
    if (share.memory.value > 0 || share.slices > 0) text += ":" + std::to_string(share.memory.value);
    if (share.slices > 0) text += ":" + std::to_string(share.slices);
    i = last + 1;
  }
  return text;
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
