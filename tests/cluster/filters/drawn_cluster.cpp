#include "cluster/filters/drawn_cluster.h"

#include "cluster/filters/draw.h"
#include "cluster/filters/draw_node.h"
#include "cluster/filters/draw_pod.h"

namespace ashlar::filters {

const std::vector<DrawnNamespace>& drawn_namespaces() {
  static const std::vector<DrawnNamespace> kAll = {
      {"team-a", {{"team", "red"}}}, {"team-b", {{"team", "blue"}, {"guest", "yes"}}}, {"team-c", {}}};
  return kAll;
}

DrawnCluster draw_cluster(std::uint64_t run_seed, std::size_t number, const DrawOptions& options) {
  Draw draw(mix64(run_seed * 0x9e3779b97f4a7c15ull + number));
  const std::string prefix = "c" + std::to_string(number) + "-";
  DrawnCluster cluster{.run_seed = run_seed, .number = number};
  std::vector<std::string> names;
  for (std::size_t i = 0, count = draw.between(5, 12); i < count; ++i) {
    cluster.nodes.push_back(draw_node(draw, prefix + "n" + std::to_string(i)));
    names.push_back(cluster.nodes.back().name);
  }
  for (const std::string& node : names)
    for (std::size_t left = draw.between(0, 4); left > 0; --left)
      cluster.bound.push_back(draw_bound_pod(draw, prefix + "b" + std::to_string(cluster.bound.size()), node, options));
  for (std::size_t i = 0; i < options.waiting; ++i)
    cluster.waiting.push_back(draw_waiting_pod(draw, prefix + "w" + std::to_string(i), names, options));
  cluster.nodes.push_back(beacon_node(prefix + "beacon"));
  cluster.beacon = pod_for(prefix + "beacon", cluster.nodes.back().name, options);
  return cluster;
}

}  // namespace ashlar::filters
