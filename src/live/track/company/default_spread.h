// DefaultSpread: the topology spread of pods that state none, as kube-scheduler's PodTopologySpread adds it to those
// that Services or a controller select. Off without constraints. Cost: one lookup for a pod of a template that was seen
// lately, else that of SelectingBook and a copy of the pod's rules.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "live/track/company/selecting_book.h"
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

  // ---- pods whose rules may change with those that select them ------------------------------------------------------
  /// The pod waits. Those that wait no longer stay until is_sweep_due().
  void note_waiting(const PooledString& ns, PodSlot slot);
  /// Of the namespace, ascending, each once, and among them some that wait no longer. They are no longer noted.
  std::vector<PodSlot> take_waiting(const PooledString& ns);
  /// More are noted than twice those that waited last time.
  bool is_sweep_due() const { return noted_ > 2 * kept_ + kFew; }
  /// Keeps those of which `waits(ns, slot)` says so.
  template <class Waits>
  void sweep(Waits&& waits) {
    noted_ = 0;
    boost::unordered::erase_if(waiting_, [&](auto& of_namespace) {
      auto& [ns, slots] = of_namespace;
      sort_once(slots);
      std::erase_if(slots, [&](PodSlot slot) { return !waits(ns, slot); });
      noted_ += slots.size();
      return slots.empty();
    });
    kept_ = noted_;
  }
  std::size_t noted() const { return noted_; }  // for tests
  std::uint64_t made() const { return made_; }  // for tests

 private:
  static constexpr std::size_t kFew = 1024, kTemplatesMax = 1024;
  /// By address: those of a template share both.
  struct Template {
    std::shared_ptr<const PodRules> rules;
    std::shared_ptr<const Labels> labels;
    PooledString ns, controller;
    SelectingKind controller_kind = SelectingKind::kNone;
    friend bool operator==(const Template&, const Template&) = default;
  };
  struct TemplateHash {
    std::size_t operator()(const Template& t) const;
  };
  struct Made {
    std::uint64_t edition = 0;  ///< of the namespace
    std::shared_ptr<const PodRules> rules;
  };

  static void sort_once(std::vector<PodSlot>& slots);
  std::shared_ptr<const PodRules> make(const PodRecord& pod);

  SpreadDefaults defaults_;
  SelectingBook book_;
  boost::unordered_flat_map<Template, Made, TemplateHash> seen_;
  boost::unordered_flat_map<PooledString, std::vector<PodSlot>, std::hash<PooledString>> waiting_;
  std::size_t noted_ = 0, kept_ = 0;
  std::uint64_t made_ = 0;
};

}  // namespace ashlar::kube
