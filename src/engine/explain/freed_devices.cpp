#include "engine/explain/freed_devices.h"

#include <algorithm>
#include <utility>

#include "state/ledger.h"

namespace ashlar {

FreedDevices::FreedDevices(State& state, const std::vector<NodeId>& nodes, JobId own) : state_(state) {
  std::map<NodeId, DeviceMask> of_job;
  state.each_member(own, [&](MemberId, const Member& m) {
    if (m.is_placed()) m.devices.each([&](int i) { of_job[m.node].set(i); });
  });
  for (const NodeId n : nodes) {
    const auto milli = state.cluster().device_free_milli(n);
    const auto mib = state.cluster().device_free_mib(n);
    DeviceMask closed = state.cluster().unhealthy_devices(n);
    if (const auto its = of_job.find(n); its != of_job.end()) its->second.each([&](int i) { closed.set(i); });
    for (const MemberId id : state.holds().empty() ? std::vector<MemberId>() : state.members_on(n))
      if (state.job(state.member(id).job).is_hold && !state.is_lifted(id))
        state.member(id).devices.each([&](int i) { closed.set(i); });
    const DeviceMemories full = state.cluster().device_memories(n);
    for (std::size_t c = milli.size(); c-- > 0;)
      if (!closed.test(static_cast<int>(c)) && (milli[c] != kWholeDevice || mib[c] != full[c]))
        in_use_[n].push_back(static_cast<int>(c));
  }
}

FreedDevices::~FreedDevices() {
  for (auto it = freed_.rbegin(); it != freed_.rend(); ++it) Ledger(state_).allocate(it->node, it->demand, it->devices);
}

bool FreedDevices::free(NodeId n, const Wanted& wanted) {
  auto [among, devices, counted, counts_devices] = wanted;
  const DeviceMemories full = state_.cluster().device_memories(n);
  std::vector<int>& in_use = in_use_[n];
  for (std::size_t at = in_use.size(); devices > 0 && at-- > 0;) {
    if (!among.test(in_use[at])) continue;
    const auto i = static_cast<std::size_t>(in_use[at]);
    const auto milli = state_.cluster().device_free_milli(n);
    const auto mib = state_.cluster().device_free_mib(n);
    DeviceMask one;
    one.set(in_use[at]);
    give({n, {{}, {1, MilliGpu(kWholeDevice - milli[i]), MiB(full[i] - mib[i])}, {}}, one});
    in_use.erase(in_use.begin() + static_cast<std::ptrdiff_t>(at));
    --devices;
    ++count_;
  }
  if (counted > 0) give({n, {.amounts = {{counts_devices, counted}}, .devices = {}, .ports = {}}, {}});
  return devices == 0;
}

std::int64_t FreedDevices::in_use(NodeId n, const DeviceMask& among) const {
  const auto it = in_use_.find(n);
  if (it == in_use_.end()) return 0;
  return std::count_if(it->second.begin(), it->second.end(), [&](int i) { return among.test(i); });
}

void FreedDevices::give(Freed freed) {
  Ledger(state_).release(freed.node, freed.demand, freed.devices);
  freed_.push_back(std::move(freed));
}

}  // namespace ashlar
