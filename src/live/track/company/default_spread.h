// DefaultSpread: the topology spread of pods that state none, as kube-scheduler's PodTopologySpread adds it to those
// that Services or a controller select. Off without constraints. Cost: one lookup for a pod of a template that was seen
// lately, else that of SelectingBook and a copy of the pod's rules.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/bounded_map.h"
#include "live/track/company/selecting_book.h"
#include "live/track/company/waiting_templates.h"
#include "live/track/pod_table.h"

namespace ashlar::kube {

/// What such pods get: constraints without selectors. None: nothing.
struct SpreadDefaults {
  std::vector<TopologySpread> hard = {}, soft = {};  ///< DoNotSchedule, ScheduleAnyway
  bool spares_gpus = false;                          ///< pods that request GPUs, or are in a gang, get nothing
  bool is_off() const { return hard.empty() && soft.empty(); }
};
/// Those of kube-scheduler: hosts within 3 pods and zones within 5, both as a preference.
SpreadDefaults system_spread_defaults();

class DefaultSpread {
 public:
  explicit DefaultSpread(SpreadDefaults defaults) : defaults_(std::move(defaults)) {}
  bool is_off() const { return defaults_.is_off(); }
  const SpreadDefaults& defaults() const { return defaults_; }
  SelectingBook& book() { return book_; }
  const SelectingBook& book() const { return book_; }

  /// The pod's rules with what it gets; its own ones if that is nothing, as for one that states spreads.
  std::shared_ptr<const PodRules> rules_of(const PodRecord& pod);

  /// Pods whose rules may change with those that select them.
  WaitingTemplates& waiting() { return waiting_; }
  const WaitingTemplates& waiting() const { return waiting_; }  // for tests
  std::uint64_t made() const { return made_; }                  // for tests

 private:
  static constexpr std::size_t kTemplatesMax = 1024;
  /// Pods that were decoded after each other share the objects, others are of the same template by their content.
  struct Template {
    std::shared_ptr<const PodRules> rules;
    std::shared_ptr<const Labels> labels;
    PooledString ns, controller;
    SelectingKind controller_kind = SelectingKind::kNone;
    friend bool operator==(const Template& a, const Template& b) {
      const auto are_alike = [](const auto& one, const auto& other) {
        return one == other || (one && other && *one == *other);
      };
      return a.ns == b.ns && a.controller == b.controller && a.controller_kind == b.controller_kind &&
             are_alike(a.labels, b.labels) && are_alike(a.rules, b.rules);
    }
  };
  struct TemplateHash {
    std::size_t operator()(const Template& t) const;
  };
  struct Made {
    std::uint64_t edition = 0;  ///< of the namespace
    std::shared_ptr<const PodRules> rules;
  };

  std::shared_ptr<const PodRules> make(const PodRecord& pod);

  SpreadDefaults defaults_;
  SelectingBook book_;
  BoundedMap<Template, Made, TemplateHash> seen_{kTemplatesMax};
  WaitingTemplates waiting_;
  std::uint64_t made_ = 0;
};

}  // namespace ashlar::kube
