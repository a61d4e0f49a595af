// WaitingTemplates: waiting pods by what Services and controllers select them by, so that a change of one is compared
// with the templates that share a label with it, not with each pod. Cost: a pod a hash lookup; a template, and a
// change, one for each label; some 100 bytes for each label of a template.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "live/track/company/selecting_book.h"
#include "live/track/pod_table.h"

namespace ashlar::kube {

class WaitingTemplates {
 public:
  WaitingTemplates() = default;
  WaitingTemplates(const WaitingTemplates&) = delete;
  WaitingTemplates& operator=(const WaitingTemplates&) = delete;

  /// The pod waits. Those that wait no longer stay until is_sweep_due().
  void note(const PodRecord& pod, PodSlot slot);
  /// Those of the namespace that one of the news concerns, ascending, each once, and among them some that wait no
  /// longer. They are no longer noted.
  std::vector<PodSlot> take(const PooledString& ns, std::span<const SelectingBook::News> news);
  /// More is noted than twice what was kept last time.
  bool is_sweep_due() const { return noted_ + templates_.size() > 2 * kept_ + kFew; }
  /// Keeps those of which `waits(ns, slot)` says so, and templates that have some.
  template <class Waits>
  void sweep(Waits&& waits) {
    noted_ = 0;
    for (auto it = templates_.begin(); it != templates_.end();) {
      auto& [one, slots] = *it;
      sort_once(slots);
      std::erase_if(slots, [&one = one, &waits](PodSlot slot) { return !waits(one.ns, slot); });
      noted_ += slots.size();
      it = slots.empty() ? templates_.erase(it) : std::next(it);
    }
    list_all();
    kept_ = noted_ + templates_.size();
  }
  std::size_t noted() const { return noted_; }                 // for tests
  std::size_t templates() const { return templates_.size(); }  // for tests
  std::uint64_t compared() const { return compared_; }         // for tests: templates with changes

 private:
  static constexpr std::size_t kFew = 1024;
  struct Template {
    PooledString ns, controller;
    std::shared_ptr<const Labels> labels;
    SelectingKind controller_kind = SelectingKind::kNone;
    const Labels& its_labels() const;
    friend bool operator==(const Template& a, const Template& b) {
      return a.ns == b.ns && a.controller == b.controller && a.controller_kind == b.controller_kind &&
             (a.labels == b.labels || a.its_labels() == b.its_labels());
    }
  };
  struct Hash {
    std::size_t operator()(const Template& t) const;
  };
  /// What templates are found by: a label, or a controller as its kind and its name.
  struct Mark {
    PooledString ns, key, value;
    SelectingKind controller_kind = SelectingKind::kNone;  ///< of a label: none
    friend bool operator==(const Mark&, const Mark&) = default;
  };
  struct MarkHash {
    std::size_t operator()(const Mark& m) const;
  };
  using Slots = std::vector<PodSlot>;
  using Entry = std::pair<const Template, Slots>;
  using Listed = std::vector<Entry*>;  ///< of templates_, where they stay

  static void sort_once(Slots& slots);
  void list(Entry& entry);
  void list_all();
  const Listed& listed(const Mark& mark) const;
  /// Those under the label of the selector that has fewest.
  const Listed& candidates(const PooledString& ns, const LabelSelector& selector) const;
  void take_of(const Listed& candidates, const SelectingBook::News& news, Slots& taken);

  std::unordered_map<Template, Slots, Hash> templates_;
  boost::unordered_flat_map<Mark, Listed, MarkHash> by_mark_;
  std::size_t noted_ = 0, kept_ = 0;
  std::uint64_t compared_ = 0;
};

}  // namespace ashlar::kube
