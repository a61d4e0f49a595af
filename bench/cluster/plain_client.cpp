#include "plain_client.h"

#include <cstdio>
#include <deque>
#include <vector>

#include "kubeclient/reflector.h"
#include "kubeclient/writes.h"
#include "perf/bound_pods.h"

namespace ashlar::bench {
namespace {

bool is_ours(const kube::Pod& pod) {
  return pod.node_name.empty() && pod.scheduling_gates == 0 && pod.scheduler_name.str() == "plain-client" &&
         pod.name.str().rfind(perf::kMeasuredPrefix, 0) == 0;
}

}  // namespace

int run_plain_client(const std::string& kubeconfig) {
  constexpr std::size_t kInFlight = 64;
  Result<kube::Access> access = kube::load_access({.kubeconfig = kubeconfig});
  if (!access) return std::fprintf(stderr, "plain client: %s\n", access.error().message.c_str()), 1;
  auto api = kube::Api::create({.access = *access, .requests_in_flight_max = 2 * kInFlight});
  if (!api) return std::fprintf(stderr, "plain client: %s\n", api.error().message.c_str()), 1;
  std::vector<kube::PooledString> nodes;
  {
    kube::Reflector<kube::Node> list(**api, {}, [&](kube::Change<kube::Node>&& change) {
      if (change.kind == kube::Change<kube::Node>::Kind::kAdded) nodes.push_back(change.object.name);
    });
    list.start();
    while (!list.is_synced()) (*api)->poll(Millis(100));
    list.stop();
  }
  std::deque<kube::Binding> due;
  std::size_t seen = 0, binding = 0, failed = 0;
  kube::Reflector<kube::Pod> pods(**api, {}, [&](kube::Change<kube::Pod>&& change) {
    const kube::Pod& pod = change.object;
    if (change.kind != kube::Change<kube::Pod>::Kind::kAdded || nodes.empty() || !is_ours(pod)) return;
    due.push_back({.ns = pod.ns, .pod = pod.name, .uid = pod.uid, .node = nodes[seen++ % nodes.size()]});
  });
  pods.start();
  for (;;) {
    if (pods.is_synced())
      for (; !due.empty() && binding < kInFlight; due.pop_front(), ++binding)
        kube::bind(**api, due.front(), [&](const kube::Answer& answer) {
          --binding;
          if (!answer.ok() && failed++ == 0)
            std::fprintf(stderr, "plain client: %s\n", answer.result.error().message.c_str());
        });
    (*api)->poll(Millis(100));
  }
}

}  // namespace ashlar::bench
