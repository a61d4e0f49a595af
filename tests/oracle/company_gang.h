// CompanyGang: a small world in which a gang waits whose members have rules about other pods and about each other, as
// plain numbers: what it looks like, what changes in it later, its text as a case, and whether the gang has a place by
// Kubernetes' own rules, tried by brute force. Nothing is shared with the engine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"

namespace ashlar::oracle::company_gang {

inline constexpr int kNone = -1;
/// Labels of nodes that make domains.
enum Key : std::uint8_t { kZone, kRack, kHost, kKeys };
inline constexpr const char* kKeyNames[kKeys] = {"zone", "rack", "host"};
/// Labels of pods.
enum PodKey : std::uint8_t { kApp, kTier, kPodKeys };
inline constexpr const char* kPodKeyNames[kPodKeys] = {"app", "tier"};

/// Values by PodKey; kNone: the pod does not have the label.
struct Labels {
  int value[kPodKeys] = {0, kNone};
};
/// One rule on a label; `values` is used by kIn and kNotIn.
struct Rule {
  enum Op : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist } op = kIn;
  PodKey key = kApp;
  std::vector<int> values;
};
/// All must hold.
using Selector = std::vector<Rule>;

struct Term {
  Selector pods;
  Key by = kZone;
};
struct Spread {
  Selector pods;
  Key by = kZone;
  int skew = 1, domains_min = 1;
  bool ignores_affinity = false, honors_taints = false;
};
struct Node {
  int id = 0, cpu = 0, gpus = 0;
  int label[kKeys] = {kNone, kNone, kNone};
  int arch = 0, cell = kNone;  ///< the cell is a domain of a level
  bool is_tainted = false;
};
/// A pod that is placed.
struct Pod {
  int id = 0, node = 0, cpu = 0, gpus = 0;
  Labels labels;
  std::vector<Term> away;
  bool is_leaving = false;
  std::vector<std::string> wishes = {};  ///< preferences, which refuse no node, as words of a case
};
/// Like members of the gang.
struct Kind {
  int members = 1, cpu = 0, gpus = 0;
  Labels labels;
  std::vector<Term> near, away;
  std::vector<Spread> spread;
  int arch = kNone;  ///< of its nodes
  bool tolerates = false;
  std::vector<std::string> wishes = {};  ///< as those of a pod
  int group = kNone;                     ///< of a gang of groups; kinds of one group follow each other
  bool is_group_in_one_cell = false;     ///< if it is so of one kind of the group
};
struct Situation {
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::vector<Kind> kinds;
  bool is_in_one_cell = false;
  int gpus_of_queue = kNone;  ///< its limit
  int members_min = kNone;    ///< may start without the others; none: all start together
};
struct Change {
  enum What : std::uint8_t { kEnd, kLeave, kCome, kAdd, kUntaint, kRelabel } what = kEnd;
  int id = 0;  ///< of the pod or node
  Pod pod;     ///< kCome
  Node node;   ///< kAdd; kRelabel: with its new zone and rack
};
struct World {
  std::string profile = "ashlar";
  Situation start;
  std::vector<Change> changes;  ///< one a second, from 2 s on
};

/// The same for the same numbers.
World draw(Rng& rng);
/// Adds preferences, and makes groups of the gang's kinds, some of them in one cell each.
void add_groups_and_wishes(Rng& rng, World& world);
/// The world as a case. The gang `g` comes at 1 s.
std::string case_text(const World& world);
bool is_group_in_one_cell(const Situation& situation, int group);
/// What the change makes of the situation.
void carry_out(const Change& change, Situation& situation);
/// Worlds with one thing less.
std::vector<World> smaller(const World& world);

/// A kind of rule, or the lack of it, that may decide alone whether a gang has a place.
enum Law : std::uint8_t {
  kCapacity,
  kTaints,
  kNodeSelector,
  kAffinity,
  kOwnAntiAffinity,
  kOthersAntiAffinity,
  kSpread,
  kCell,
  kQuota,
  kRules,               ///< above: kinds of rules; below: details of them
  kAllLabels = kRules,  ///< domains of a spread only on nodes with the labels of all spreads
  kMinDomains,
  kNodeAffinityPolicy,
  kTaintPolicy,
  kLeaving,      ///< a spread does not count pods that are being deleted
  kFirstPod,     ///< the first of pods with affinity to themselves may go anywhere
  kMembersSeen,  ///< members count for each other
  kTurns,        ///< members of unlike kinds may take turns: not one kind after the other
  kLaws
};
inline constexpr std::string_view kLawNames[kLaws] = {"capacity",
                                                      "taints",
                                                      "node selector",
                                                      "affinity",
                                                      "own anti-affinity",
                                                      "others' anti-affinity",
                                                      "spread",
                                                      "cell",
                                                      "quota",
                                                      "all labels",
                                                      "minDomains",
                                                      "nodeAffinityPolicy",
                                                      "nodeTaintsPolicy",
                                                      "leaving pods",
                                                      "first pod",
                                                      "members see each other",
                                                      "kinds take turns"};

/// Members on each node: [kind][index of the node].
using Seats = std::vector<std::vector<int>>;

/// Whether the members can be placed one after the other, in some order, each on a node that Kubernetes' filters let
/// pass with those before it placed. A law that is given is not in force. With `seats`, each must go where these say.
bool has_place(const Situation& situation, Law without = kLaws, const Seats* seats = nullptr);

}  // namespace ashlar::oracle::company_gang
