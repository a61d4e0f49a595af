#include "live/track/device_request.h"

#include <algorithm>
#include <cstdint>

#include "live/track/names.h"
#include "text/amount_text.h"

namespace ashlar::kube {
namespace {

Result<MiB> memory_each(const PooledString& request) {
  const Result<MiB> memory = parse_gpu_memory(request);
  return memory ? memory : invalid("ashlar.dev/gpu-memory " + memory.error().message);
}

}  // namespace

Result<DeviceRequest> device_request(const Pod& pod, const PooledString* memory_request) {
  const std::int64_t whole = amount_of(pod.requests, kGpuResource);
  const std::int64_t milli = amount_of(pod.requests, kGpuMilliResource);
  DeviceRequest request;
  if (whole != 0 && milli != 0)
    return invalid("requests both nvidia.com/gpu and ashlar.dev/gpu-milli; use only one of the two");
  if (milli > kWholeDevice && milli % kWholeDevice != 0)
    return invalid("ashlar.dev/gpu-milli must be at most 1000 (a fraction of one GPU) or a multiple of 1000");
  if (whole > kDevicesPerNodeMax || milli > std::int64_t{kDevicesPerNodeMax} * kWholeDevice)
    return invalid("requests more than 128 GPUs of one node");
  if (whole > 0)
    request.count = static_cast<std::int32_t>(whole);
  else if (milli >= kWholeDevice)
    request.count = static_cast<std::int32_t>(milli / kWholeDevice);
  else if (milli > 0)
    request = {1, MilliGpu(static_cast<std::int32_t>(milli)), MiB(0)};
  if (memory_request == nullptr) return request;
  if (request.count == 0)
    return invalid(
        "requests ashlar.dev/gpu-memory but no GPU; add nvidia.com/gpu or ashlar.dev/gpu-milli to resources.limits");
  const Result<MiB> memory = memory_each(*memory_request);
  if (!memory) return memory.error();
  request.memory_each = *memory;
  return request;
}

DeviceRequest devices_held(const Pod& pod, const PooledString* memory_request) {
  const std::int64_t most = kDevicesPerNodeMax;
  const std::int64_t whole = std::clamp<std::int64_t>(amount_of(pod.requests, kGpuResource), 0, most);
  const std::int64_t milli =
      std::clamp<std::int64_t>(amount_of(pod.requests, kGpuMilliResource), 0, most * kWholeDevice);
  DeviceRequest request;
  if (whole == 0 && milli > 0 && milli < kWholeDevice)
    request = {1, MilliGpu(static_cast<std::int32_t>(milli)), MiB(0)};
  else
    request.count = static_cast<std::int32_t>(std::min(most, whole + (milli + kWholeDevice - 1) / kWholeDevice));
  if (memory_request == nullptr || request.count == 0) return request;
  if (const Result<MiB> memory = memory_each(*memory_request); memory) request.memory_each = *memory;
  return request;
}

}  // namespace ashlar::kube
