// scarce_volumes: pods that were placed on a node where no volume was left for them. The engine knows where volumes are
// left, not how many, and may place as many pods there as fit otherwise. From then on such pods keep each other off a
// node while they wait: a decision places one of them on a node, and the next one may place another there.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/bounded_map.h"
#include "kubeclient/objects.h"
#include "live/track/pod_table.h"

namespace ashlar::kube {

class ScarceVolumes {
 public:
  using Classes = std::vector<PooledString>;
  /// The node had no volumes left of one of these classes.
  void note_lost(PodSlot slot, Classes classes) { lost_[slot] = std::move(classes); }
  /// The pod needs none any more. True: it had lost some.
  bool forget(PodSlot slot) { return !lost_.empty() && lost_.erase(slot) > 0; }
  /// Null: the pod has lost none.
  const Classes* lost_by(PodSlot slot) const;

  /// Its labels as one that lost these: no user can give them.
  static Labels labels(const Labels& own, const Classes& classes);
  /// Its rules as one that lost these: others that did keep it off their node. Mostly the same object for pods of one
  /// template.
  std::shared_ptr<const PodRules> rules(const std::shared_ptr<const PodRules>& own, const Classes& classes);

 private:
  static constexpr std::size_t kTemplatesMax = 1024;
  struct Template {
    std::shared_ptr<const PodRules> own;
    Classes classes;
    friend bool operator==(const Template& a, const Template& b) {
      return a.classes == b.classes && (a.own == b.own || (a.own && b.own && *a.own == *b.own));
    }
  };
  struct TemplateHash {
    std::size_t operator()(const Template& t) const;
  };

  boost::unordered_flat_map<PodSlot, Classes> lost_;
  BoundedMap<Template, std::shared_ptr<const PodRules>, TemplateHash> made_{kTemplatesMax};
};

}  // namespace ashlar::kube
