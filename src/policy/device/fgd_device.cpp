// fgd: see device.h.
#include "policy/device/device.h"
#include "policy/score/fgd/mix.h"

namespace ashlar {

DeviceMask choose_fgd_device(const NodeView& view, NodeId node) {
  const DeviceRequest& request = view.demand.devices;
  if (request.count == 0 || request.is_whole()) return first_idle_devices(view, node);
  if (view.mix == nullptr || view.mix->is_empty()) return choose_best_fit_device(view, node);
  const FgdNode facts{view.nodes.free(resource::kCpu)[node.row()], view.nodes.models()[node.row()],
                      view.nodes.device_free_milli(node)};
  const auto answer = view.mix->evaluator().best(facts, amount_of(view.demand, resource::kCpu), request);
  if (answer.device < 0 || !share_fits_device(view, node, static_cast<std::size_t>(answer.device)))
    return choose_best_fit_device(view, node);
  DeviceMask mask;
  mask.set(answer.device);
  return mask;
}

}  // namespace ashlar
