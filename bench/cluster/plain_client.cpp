#include "plain_client.h"

#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kubeclient/reflector.h"
#include "kubeclient/volumes/binding_writes.h"
#include "kubeclient/writes.h"
#include "perf/bound_pods.h"

namespace ashlar::bench {
namespace {

constexpr std::size_t kInFlight = 64;

bool is_ours(const kube::Pod& pod) {
  return pod.node_name.empty() && pod.scheduling_gates == 0 && pod.scheduler_name.str() == "plain-client" &&
         pod.name.str().rfind(perf::kMeasuredPrefix, 0) == 0;
}

std::string name_of(const kube::PooledString& ns, const kube::PooledString& claim) {
  return ns.str() + "/" + claim.str();
}

class PlainClient {
 public:
  explicit PlainClient(kube::Api& api) : api_(api) {}

  void list_nodes() {
    kube::Reflector<kube::Node> list(api_, {}, [&](kube::Change<kube::Node>&& change) {
      if (change.kind == kube::Change<kube::Node>::Kind::kAdded) nodes_.push_back(change.object.name);
    });
    list.start();
    while (!list.is_synced()) api_.poll(Millis(100));
    list.stop();
  }

  [[noreturn]] void run() {
    kube::Reflector<kube::PersistentVolumeClaim> claims(
        api_, {}, [&](kube::Change<kube::PersistentVolumeClaim>&& change) { take(std::move(change)); });
    claims.start();
    while (!claims.is_synced()) api_.poll(Millis(100));
    kube::Reflector<kube::Pod> pods(api_, {}, [&](kube::Change<kube::Pod>&& change) {
      if (change.kind == kube::Change<kube::Pod>::Kind::kAdded && !nodes_.empty() && is_ours(change.object))
        take(change.object);
    });
    pods.start();
    for (;;) {
      if (pods.is_synced()) send_due();
      api_.poll(Millis(100));
    }
  }

 private:
  struct Waiting {
    kube::Binding binding;
    std::size_t unbound = 0;  ///< claims
  };

  void take(const kube::Pod& pod) {
    const kube::PooledString node = nodes_[seen_++ % nodes_.size()];
    auto waiting = std::make_shared<Waiting>(
        Waiting{.binding = {.ns = pod.ns, .pod = pod.name, .uid = pod.uid, .node = node}, .unbound = 0});
    if (pod.volumes)
      for (const kube::ClaimUse& use : pod.volumes->claims) {
        const std::string name = name_of(pod.ns, use.name);
        const auto claim = claims_.find(name);
        if (claim != claims_.end() && claim->second.is_bound()) continue;
        ++waiting->unbound;
        waits_for_[name] = waiting;
        if (claim != claims_.end()) selections_.push_back({name, node});
      }
    if (waiting->unbound == 0) due_.push_back(waiting->binding);
  }

  void take(kube::Change<kube::PersistentVolumeClaim>&& change) {
    if (change.kind == kube::Change<kube::PersistentVolumeClaim>::Kind::kSynced) return;
    const std::string name = name_of(change.object.ns, change.object.name);
    if (change.kind == kube::Change<kube::PersistentVolumeClaim>::Kind::kDeleted) {
      claims_.erase(name);
      waits_for_.erase(name);
      return;
    }
    if (const auto waiting = waits_for_.find(name); waiting != waits_for_.end()) {
      if (change.object.is_bound()) {
        if (--waiting->second->unbound == 0) due_.push_back(waiting->second->binding);
        waits_for_.erase(waiting);
      } else if (!claims_.contains(name)) {
        selections_.push_back({name, waiting->second->binding.node});
      }
    }
    claims_[name] = std::move(change.object);
  }

  void send_due() {
    for (; !due_.empty() && in_flight_ < kInFlight; due_.pop_front(), ++in_flight_)
      kube::bind(api_, due_.front(), [&](const kube::Answer& answer) { note(answer); });
    for (; !selections_.empty() && in_flight_ < kInFlight; selections_.pop_front()) {
      const auto claim = claims_.find(selections_.front().claim);
      if (claim == claims_.end()) continue;
      ++in_flight_;
      const kube::PersistentVolumeClaim& c = claim->second;
      api_.send({.method = http::Method::kPatch,
                 .path = kube::claim_path(c.ns, c.name),
                 .body = kube::select_node_patch({c.uid, std::to_string(c.resource_version)}, selections_.front().node),
                 .content_type = "application/merge-patch+json"},
                [&](const kube::Answer& answer) { note(answer); });
    }
  }

  void note(const kube::Answer& answer) {
    --in_flight_;
    if (!answer.ok() && failed_++ == 0)
      std::fprintf(stderr, "plain client: %s\n", answer.result.error().message.c_str());
  }

  struct Selection {
    std::string claim;
    kube::PooledString node;
  };

  kube::Api& api_;
  std::vector<kube::PooledString> nodes_;
  std::unordered_map<std::string, kube::PersistentVolumeClaim> claims_;
  std::unordered_map<std::string, std::shared_ptr<Waiting>> waits_for_;  ///< by claim
  std::deque<Selection> selections_;
  std::deque<kube::Binding> due_;
  std::size_t seen_ = 0, in_flight_ = 0, failed_ = 0;
};

}  // namespace

int run_plain_client(const std::string& kubeconfig) {
  Result<kube::Access> access = kube::load_access({.kubeconfig = kubeconfig});
  if (!access) return std::fprintf(stderr, "plain client: %s\n", access.error().message.c_str()), 1;
  auto api = kube::Api::create({.access = *access, .requests_in_flight_max = 2 * kInFlight});
  if (!api) return std::fprintf(stderr, "plain client: %s\n", api.error().message.c_str()), 1;
  PlainClient client(**api);
  client.list_nodes();
  client.run();
}

}  // namespace ashlar::bench
