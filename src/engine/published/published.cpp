#include "engine/published/published.h"

namespace ashlar {
namespace {

template <class T>
void copy(std::span<const T> from, std::vector<T>& to) {
  to.assign(from.begin(), from.end());
}

}  // namespace

void publish(const State& state, Published& spare) {
  const Cluster& c = state.cluster;
  spare.revision = state.revision();
  spare.at = state.now();
  spare.digest = state.digest();
  spare.free.resize(c.resource_count());
  spare.allocatable.resize(c.resource_count());
  for (std::size_t r = 0; r < c.resource_count(); ++r) {
    copy(c.free(ResourceId(r)), spare.free[r]);
    copy(c.allocatable(ResourceId(r)), spare.allocatable[r]);
  }
  copy(c.idle_devices(), spare.idle_devices);
  copy(c.free_milli(), spare.free_milli);
  copy(c.devices(), spare.devices);
  copy(c.first_device(), spare.first_device);
  copy(c.device_free_milli(), spare.device_free_milli);
  spare.queue_used.resize(state.queues.rows());
  spare.queue_quota.resize(state.queues.rows());
  for (std::size_t q = 0; q < state.queues.rows(); ++q) {
    spare.queue_used[q] = state.queues.used(QueueId(q));
    spare.queue_quota[q] = state.queues.quota(QueueId(q));
  }
}

}  // namespace ashlar
