// binding_oracle: do pods with claims end where kube-scheduler would put them, with the real persistent volume
// controller? Random worlds are scheduled by kube-scheduler and by Ashlar. One pod after the other, each tied to the node
// that kube-scheduler chose: the same pods must be bound, and each claim to the same volume. All pods at once: what is
// bound must keep all rules, and for what waits kube-scheduler must find no node either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/fixture/control_plane.h"

namespace ashlar::binding {

struct BindingOptions {
  std::size_t pods = 500;
  std::uint64_t seed = 1;
  std::optional<std::size_t> only;  ///< the world of this number alone
  std::size_t worlds_at_once = 40;
  std::size_t manifests_max = 5;
};

struct BindingReport {
  /// Of one manner: how many pods were bound, and how many were left.
  struct Outcome {
    std::size_t bound = 0, waiting = 0;
  };
  std::size_t worlds = 0, pods = 0, claims = 0, different = 0;
  Outcome kube, ashlar, ashlar_at_once;
  std::size_t static_volumes = 0, made_volumes = 0;  ///< that claims were bound to, by kube-scheduler
  std::size_t failed_provisionings = 0;
  std::map<std::string, Outcome> features;      ///< pods of kube-scheduler by what they have
  std::map<std::string, std::size_t> refusals;  ///< pods that it left, by its words
  std::vector<std::string> manifests;           ///< of what differs
  double seconds = 0;
  std::string text() const;
};

/// kNotFound: a program is absent. `on_batch` is called after each batch of worlds.
Result<BindingReport> compare_bindings(cluster::ControlPlane& plane, const BindingOptions& options,
                                       const std::function<void(const BindingReport&)>& on_batch = {});

}  // namespace ashlar::binding
