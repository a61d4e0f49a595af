// Provisioner: imitates what provides volumes for claims that wait for their first pod, the same for all schedulers: a
// claim that a scheduler annotated with a node gets a volume for that node and is bound to it. Three writes a claim.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "kubeclient/api.h"
#include "kubeclient/reflector.h"

namespace ashlar::bench::perf {

class Provisioner {
 public:
  explicit Provisioner(kube::Api& api);

  /// Follows all claims; works inside Api::poll().
  void start() { claims_.start(); }
  /// Paths of the volumes made so far.
  const std::vector<std::string>& volumes() const { return volumes_; }
  /// Why the first write that failed did; empty: none did.
  const std::string& trouble() const { return trouble_; }

 private:
  void provide(const kube::PersistentVolumeClaim& claim);
  void send(http::Request request);

  kube::Api& api_;
  kube::Reflector<kube::PersistentVolumeClaim> claims_;
  std::set<std::string> served_;  ///< uids of claims
  std::vector<std::string> volumes_;
  std::string trouble_;
};

}  // namespace ashlar::bench::perf
