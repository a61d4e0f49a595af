// Company: the nodes that the rules of one constraint about other pods leave open: required affinity, anti-affinity and
// topology spread, by the counts of placed pods. Brought up to date when asked. Cost: O(steps of its selectors since it
// was asked last + nodes of the domains that opened or closed since); anew O(nodes x rules) when the labels of nodes
// have changed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bitset.h"
#include "model/constraint.h"
#include "state/counts/counts.h"
#include "state/counts/images.h"
#include "state/counts/label_domains.h"

namespace ashlar {

/// A rule about other pods, in the order in which a node is counted under one.
enum class CompanyRule : std::uint8_t { kNone, kSpread, kAffinity, kAntiAffinity };

/// Whether the node's pods and its domain count for one of the constraint's spreads, `together`: the member's own rules
/// that it honors allow the node, which has the labels of all of them.
bool counts_for_spread(const Constraint& constraint, const NodeRules& rules, const SpreadTerm& term,
                       std::span<const SpreadTerm> together, const NodeFacts& facts);
/// The same of several nodes: what the member's rules allow is compared once for all spreads.
class SpreadNodes {
 public:
  SpreadNodes(const Constraint& constraint, const NodeRules& rules, std::span<const SpreadTerm> together)
      : constraint_(constraint), rules_(rules), together_(together) {}
  bool count(const SpreadTerm& term, NodeId node, const NodeFacts& facts);

 private:
  const Constraint& constraint_;
  const NodeRules& rules_;
  std::span<const SpreadTerm> together_;
  std::vector<std::int8_t> is_selected_;  ///< by node: -1, or not known yet
};

class Company {
 public:
  /// Flips are numbered from that one on.
  explicit Company(std::uint64_t first_flip) : flips_before_(first_flip) {}

  struct World {
    const Constraint& constraint;
    const NodeRules& rules;
    const Counts& counts;
    const NodeColumns& nodes;
    LabelDomains& domains;
    const Images& images;
    std::uint64_t nodes_edition = 0;  ///< see LabelDomains::of
  };
  void refresh(const World& world);

  // ---- as of the last refresh ---------------------------------------------------------------------------------------
  const BitSet& open() const { return open_; }
  /// Whether a rule of that kind refuses the node.
  bool refuses(CompanyRule rule, NodeId node) const;
  /// Memory, of labels' domains aside.
  std::size_t bytes() const;
  /// Number of times that a node opened or closed; grows by more when all were looked at anew.
  std::uint64_t flip_count() const { return flips_before_ + flips_.size(); }
  bool remembers(std::uint64_t since) const { return since >= flips_before_; }
  std::span<const NodeId> flips_since(std::uint64_t since) const {
    return std::span(flips_).subspan(since - flips_before_);
  }

 private:
  /// A rule by one topology label.
  struct Term {
    CompanyRule rule = CompanyRule::kNone;
    PodSelectorId selector;
    LabelKeyId topology;
    SpreadTerm spread = {};   ///< for kSpread
    std::uint64_t steps = 0;  ///< of the selector that are counted
    std::shared_ptr<const LabelDomains::Domains> domains_of = {};
    std::vector<std::uint32_t> pods;      ///< by domain; on nodes that count
    std::vector<std::uint8_t> is_closed;  ///< by domain
    // of kSpread
    BitSet counted;                           ///< nodes that count
    std::vector<std::uint32_t> with_so_many;  ///< by number of pods: domains with a node that counts
    std::uint32_t fewest = 0, domains = 0;    ///< pods of the domain with fewest; domains with a node that counts
  };

  void start_anew(const World& world);
  void list_terms(const Constraint& constraint);
  void count_nodes(const World& world, SpreadNodes& spread_nodes, Term& term) const;
  void step(Term& term, const Counts::Step& step);
  static void move_count(Term& term, std::uint32_t before, std::uint32_t after);
  static std::int64_t pods_allowed(const Term& term);
  bool should_close(const Term& term, std::size_t domain) const;
  /// `domain` as LabelDomains has it: kNone for a node without the label.
  static bool refuses(const Term& term, std::uint32_t domain);
  void close_again(Term& term);
  void set_closed(Term& term, std::size_t domain, bool is_closed);
  /// Whether no pod of the affinity is anywhere, so that the member may be the first.
  bool may_be_first() const { return is_first_allowed_ && near_pods_ == 0; }

  std::vector<Term> terms_;
  std::vector<std::uint32_t> closed_by_;  ///< by node: terms that refuse it
  BitSet open_;
  bool is_first_allowed_ = false;
  std::uint64_t near_pods_ = 0;  ///< pods of the affinity, by each of its labels
  std::uint64_t nodes_edition_ = 0;
  bool is_started_ = false;
  std::uint64_t flips_before_ = 0;
  std::vector<NodeId> flips_;
};

}  // namespace ashlar
