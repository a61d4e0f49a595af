// The brute force: written from the semantics of kube-scheduler 1.37 (plugins noderesources, tainttoleration,
// nodeaffinity, interpodaffinity, podtopologyspread), which counts everything again for each pod and node.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "company_gang.h"

namespace ashlar::oracle::company_gang {
namespace {

bool matches(const Selector& selector, const Labels& labels) {
  return std::all_of(selector.begin(), selector.end(), [&](const Rule& rule) {
    const int value = labels.value[rule.key];
    const bool is_named = std::find(rule.values.begin(), rule.values.end(), value) != rule.values.end();
    switch (rule.op) {
      case Rule::kIn:
        return value != kNone && is_named;
      case Rule::kNotIn:
        return value == kNone || !is_named;
      case Rule::kExists:
        return value != kNone;
      case Rule::kDoesNotExist:
        return value == kNone;
    }
    return false;
  });
}

bool match_all(const std::vector<Term>& terms, const Labels& labels) {
  return std::all_of(terms.begin(), terms.end(), [&](const Term& term) { return matches(term.pods, labels); });
}

class Search {
 public:
  Search(const Situation& situation, Law without, const Seats* seats)
      : s_(situation), without_(without), target_(seats) {
    for (const Pod& pod : s_.pods) {
      const auto at = std::find_if(s_.nodes.begin(), s_.nodes.end(), [&](const Node& n) { return n.id == pod.node; });
      placed_.push_back(
          {&pod.labels, &pod.away, static_cast<int>(at - s_.nodes.begin()), pod.is_leaving, pod.cpu, pod.gpus});
    }
    seats_.assign(s_.kinds.size(), std::vector<int>(s_.nodes.size(), 0));
  }

  bool run() {
    if (is_on(kQuota) && s_.gpus_of_queue != kNone) {
      int gpus = 0;
      for (const Kind& kind : s_.kinds) gpus += kind.members * kind.gpus;
      if (gpus > s_.gpus_of_queue) return false;
    }
    cells_.assign(s_.kinds.size(), kNone);
    if (!is_on(kCell)) return go_on();
    for (const Node& node : s_.nodes)
      if (node.cell != kNone) all_cells_.insert(node.cell);
    if (s_.is_in_one_cell)
      return std::any_of(all_cells_.begin(), all_cells_.end(), [&](int cell) {
        cells_.assign(s_.kinds.size(), cell);
        tried_.clear();
        return go_on();
      });
    return choose_cells(0);
  }

 private:
  /// A pod, or a member that is placed.
  struct Placed {
    const Labels* labels;
    const std::vector<Term>* away;
    int node;
    bool is_leaving;
    int cpu, gpus;
  };
  bool is_on(Law law) const { return without_ != law; }

  /// Of the groups that must be in one cell, from this kind on.
  bool choose_cells(std::size_t from) {
    if (from == s_.kinds.size()) {
      tried_.clear();
      return go_on();
    }
    const int group = s_.kinds[from].group;
    if (group == kNone || !is_group_in_one_cell(s_, group)) return choose_cells(from + 1);
    std::size_t end = from;
    while (end < s_.kinds.size() && s_.kinds[end].group == group) ++end;
    return std::any_of(all_cells_.begin(), all_cells_.end(), [&](int cell) {
      std::fill(cells_.begin() + static_cast<std::ptrdiff_t>(from), cells_.begin() + static_cast<std::ptrdiff_t>(end),
                cell);
      return choose_cells(end);
    });
  }
  /// Whether the members that are left find a place.
  bool go_on() {
    bool is_complete = true;
    const std::size_t begun = begun_kind();
    for (std::size_t k = 0; k < s_.kinds.size(); ++k) {
      if (members_of(k) == s_.kinds[k].members) continue;
      is_complete = false;
      if (!is_on(kTurns) && begun < s_.kinds.size() && k != begun) continue;
      for (std::size_t n = 0; n < s_.nodes.size(); ++n)
        if (place(k, n)) return true;
    }
    return is_complete;
  }
  bool place(std::size_t k, std::size_t n) {
    const Kind& kind = s_.kinds[k];
    if (target_ != nullptr && seats_[k][n] == (*target_)[k][n]) return false;
    if (!passes(kind, static_cast<int>(n))) return false;
    ++seats_[k][n];
    if (tried_.insert(key()).second) {
      placed_.push_back({&kind.labels, &kind.away, static_cast<int>(n), false, kind.cpu, kind.gpus});
      if (go_on()) return true;
      placed_.pop_back();
    }
    --seats_[k][n];
    return false;
  }
  int members_of(std::size_t kind) const {
    int members = 0;
    for (const int seats : seats_[kind]) members += seats;
    return members;
  }
  /// The kind of which some are placed and some are not.
  std::size_t begun_kind() const {
    std::size_t k = 0;
    while (k < s_.kinds.size() && (members_of(k) == 0 || members_of(k) == s_.kinds[k].members)) ++k;
    return k;
  }
  std::string key() const {
    std::string key;
    for (const std::vector<int>& of_kind : seats_)
      for (const int seats : of_kind) key += static_cast<char>('0' + seats);
    return key;
  }

  bool is_member(const Placed& p) const { return static_cast<std::size_t>(&p - placed_.data()) >= s_.pods.size(); }
  /// Whether rules about pods see it.
  bool is_seen(const Placed& p) const { return is_on(kMembersSeen) || !is_member(p); }
  int value(int node, Key key) const { return s_.nodes[static_cast<std::size_t>(node)].label[key]; }

  bool passes(const Kind& pod, int n) const {
    const Node& node = s_.nodes[static_cast<std::size_t>(n)];
    const int cell = cells_[static_cast<std::size_t>(&pod - s_.kinds.data())];
    if (cell != kNone && node.cell != cell) return false;
    if (is_on(kTaints) && node.is_tainted && !pod.tolerates) return false;
    if (is_on(kNodeSelector) && pod.arch != kNone && node.arch != pod.arch) return false;
    if (is_on(kCapacity) && !has_room(pod, n)) return false;
    if (is_on(kOthersAntiAffinity) && is_kept_away(pod, n)) return false;
    if (is_on(kOwnAntiAffinity) && keeps_away(pod, n)) return false;
    if (is_on(kAffinity) && !is_near(pod, n)) return false;
    return !is_on(kSpread) || is_spread(pod, n);
  }

  bool has_room(const Kind& pod, int n) const {
    int cpu = s_.nodes[static_cast<std::size_t>(n)].cpu, gpus = s_.nodes[static_cast<std::size_t>(n)].gpus;
    for (const Placed& p : placed_)
      if (p.node == n) cpu -= p.cpu, gpus -= p.gpus;
    return (pod.cpu == 0 || pod.cpu <= cpu) && (pod.gpus == 0 || pod.gpus <= gpus);
  }

  /// interpodaffinity, satisfyExistingPodsAntiAffinity.
  bool is_kept_away(const Kind& pod, int n) const {
    return std::any_of(placed_.begin(), placed_.end(), [&](const Placed& p) {
      return is_seen(p) && std::any_of(p.away->begin(), p.away->end(), [&](const Term& term) {
               const int theirs = value(p.node, term.by);
               return theirs != kNone && theirs == value(n, term.by) && matches(term.pods, pod.labels);
             });
    });
  }
  /// satisfyPodAntiAffinity.
  bool keeps_away(const Kind& pod, int n) const {
    return std::any_of(pod.away.begin(), pod.away.end(), [&](const Term& term) {
      const int here = value(n, term.by);
      return here != kNone && std::any_of(placed_.begin(), placed_.end(), [&](const Placed& p) {
               return is_seen(p) && value(p.node, term.by) == here && matches(term.pods, *p.labels);
             });
    });
  }
  /// satisfyPodAffinity: a pod counts that matches all terms, for each of them in its own domain.
  bool is_near(const Kind& pod, int n) const {
    if (pod.near.empty()) return true;
    bool are_there = true, is_any_anywhere = false;
    for (const Term& term : pod.near)
      if (value(n, term.by) == kNone) return false;
    for (const Term& term : pod.near) {
      bool is_there = false;
      for (const Placed& p : placed_) {
        const int theirs = value(p.node, term.by);
        if (theirs == kNone || !is_seen(p) || !match_all(pod.near, *p.labels)) continue;
        is_any_anywhere = true;
        is_there = is_there || theirs == value(n, term.by);
      }
      are_there = are_there && is_there;
    }
    return are_there || (is_on(kFirstPod) && !is_any_anywhere && match_all(pod.near, pod.labels));
  }
  /// podtopologyspread: counts over nodes that have all labels and that the policies of each constraint let in.
  bool is_spread(const Kind& pod, int n) const {
    return std::all_of(pod.spread.begin(), pod.spread.end(), [&](const Spread& spread) {
      const int here = value(n, spread.by);
      if (here == kNone) return false;
      std::map<int, int> pods;
      for (std::size_t other = 0; other < s_.nodes.size(); ++other)
        if (is_counted(pod, spread, s_.nodes[other])) pods[s_.nodes[other].label[spread.by]] += 0;
      for (const Placed& p : placed_) {
        if (!is_counted(pod, spread, s_.nodes[static_cast<std::size_t>(p.node)])) continue;
        if (!is_seen(p) || (p.is_leaving && is_on(kLeaving)) || !matches(spread.pods, *p.labels)) continue;
        ++pods[value(p.node, spread.by)];
      }
      int fewest = INT32_MAX;
      for (const auto& [domain, count] : pods) fewest = std::min(fewest, count);
      if (is_on(kMinDomains) && static_cast<int>(pods.size()) < spread.domains_min) fewest = 0;
      const auto found = pods.find(here);
      const int own = matches(spread.pods, pod.labels) ? 1 : 0;
      return (found == pods.end() ? 0 : found->second) + own - fewest <= spread.skew;
    });
  }
  bool is_counted(const Kind& pod, const Spread& spread, const Node& node) const {
    if (node.label[spread.by] == kNone) return false;
    for (const Spread& other : pod.spread)
      if (is_on(kAllLabels) && node.label[other.by] == kNone) return false;
    const bool honors_affinity = spread.ignores_affinity != is_on(kNodeAffinityPolicy);
    const bool honors_taints = spread.honors_taints == is_on(kTaintPolicy);
    if (honors_affinity && pod.arch != kNone && pod.arch != node.arch) return false;
    return !honors_taints || pod.tolerates || !node.is_tainted;
  }

  const Situation& s_;
  Law without_;
  const Seats* target_;
  std::vector<int> cells_;  ///< by kind, where its members must be
  std::set<int> all_cells_;
  std::vector<Placed> placed_;  ///< pods, then members
  Seats seats_;
  std::unordered_set<std::string> tried_;  ///< seats that were reached before
};

}  // namespace

bool has_place(const Situation& situation, Law without, const Seats* seats) {
  return Search(situation, without, seats).run();
}

}  // namespace ashlar::oracle::company_gang
