// PodPreferences: what the preferences of one constraint amount to on each node, where some are about other pods or
// about images: sums of weights, pods by domain of each soft spread, weights and taints by facts, images. Brought up to
// date when asked. Cost: O(steps of its selectors since it was asked last + nodes of their domains), O(nodes) when an
// image of it has come or gone; anew O(nodes x terms) when the labels of nodes have changed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bitset.h"
#include "state/counts/company.h"

namespace ashlar {

class PodPreferences {
 public:
  /// Versions are numbered from that one on.
  explicit PodPreferences(std::uint64_t first_version) : version_(first_version) {}
  void refresh(const Company::World& world);

  /// A soft spread: pods by domain, on nodes that count.
  struct Spread {
    SpreadTerm term;
    std::uint64_t steps = 0;  ///< of the selector that are counted
    std::shared_ptr<const LabelDomains::Domains> domains_of = {};
    BitSet counted = {};
    std::vector<std::uint32_t> pods = {};
  };

  // ---- as of the last refresh ---------------------------------------------------------------------------------------
  /// Memory, of labels' domains aside.
  std::size_t bytes() const;
  /// Another number when anything is another.
  std::uint64_t version() const { return version_; }
  /// By node: weights of pods in its domains, of preferred affinity less anti-affinity, of both sides. Empty: 0 on all.
  std::span<const std::int64_t> affinity() const { return affinity_; }
  std::span<const Spread> spreads() const { return spreads_; }
  /// By node; empty: the same on all.
  std::span<const std::int32_t> weights_held() const { return weights_held_; }
  std::span<const std::int32_t> soft_taints() const { return soft_taints_; }
  /// By node, 0..100, see Images::score; empty: 0 on all.
  std::span<const std::uint8_t> images() const { return images_; }
  /// Nodes are compared with others on which the member fits.
  bool depends_on_what_fits() const {
    return !affinity_.empty() || !spreads_.empty() || !weights_held_.empty() || !soft_taints_.empty();
  }

 private:
  struct Term {
    PodPreference preference;
    std::uint64_t steps = 0;
    std::shared_ptr<const LabelDomains::Domains> domains_of = {};
  };

  void start_anew(const Company::World& world);
  void start_spread(const Company::World& world, SpreadNodes& spread_nodes, const SpreadTerm& term);
  void start_facts(const Company::World& world);
  void score_images(const Company::World& world);
  void add_in_domain(const LabelDomains::Domains& domains, std::uint32_t domain, std::int64_t weight);
  void add_drawn(const Company::World& world, const Drawn::To& to);
  bool is_known(const Company::World& world) const;

  LabelSetId seen_as_;
  std::vector<Term> terms_;
  std::vector<Spread> spreads_;
  std::vector<std::int64_t> affinity_;
  std::vector<std::int32_t> weights_held_, soft_taints_;
  std::vector<std::uint8_t> images_;
  std::uint64_t images_version_ = 0;
  std::uint64_t drawn_seen_ = 0;
  std::uint64_t nodes_edition_ = 0;
  bool is_started_ = false;
  std::uint64_t version_ = 0;
};

}  // namespace ashlar
