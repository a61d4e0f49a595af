// Provisioner: imitates what provides volumes for claims that wait for their first pod, the same for all schedulers: a
// claim that a scheduler annotated with a node gets a volume for that node and is bound to it. Three writes a claim.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubeclient/api.h"
#include "kubeclient/decode/decode.h"

namespace ashlar::bench::perf {

class Provisioner {
 public:
  explicit Provisioner(kube::Api& api) : api_(api) {}
  ~Provisioner() { api_.cancel(stream_); }
  Provisioner(const Provisioner&) = delete;
  Provisioner& operator=(const Provisioner&) = delete;

  /// Opens a watch of all claims; works inside Api::poll().
  void start();
  /// Paths of the volumes made so far.
  const std::vector<std::string>& volumes() const { return volumes_; }
  /// Why the first write that failed did; empty: none did.
  const std::string& trouble() const { return trouble_; }

 private:
  void take(std::string_view event);
  void provide(const std::string& ns, const std::string& claim, const std::string& uid, const std::string& node);
  void send(http::Request request);

  kube::Api& api_;
  kube::FrameSplitter frames_{kube::Encoding::kJson};
  http::RequestId stream_ = 0;
  std::set<std::string> served_;  ///< uids of claims
  std::vector<std::string> volumes_;
  std::string trouble_;
};

}  // namespace ashlar::bench::perf
