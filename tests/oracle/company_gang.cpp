#include "company_gang.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "chances.h"

namespace ashlar::oracle::company_gang {
namespace {

constexpr int kNodesMax = 6, kPodsMax = 8, kMembersMax = 6, kKindsMax = 3, kChangesMax = 3;

class Drawing : Chances {
 public:
  explicit Drawing(Rng& rng) : Chances(rng) {}

  World draw() {
    zones_ = 1 + below(3);
    racks_ = 1 + below(4);
    world_.profile = any_of<const char*>({"ashlar", "ashlar", "spread", "ashlar score=pack-tight"});
    for (int n = one_in(4) ? 1 + below(kNodesMax) : kNodesMax - below(3); n > 0; --n) now_.nodes.push_back(node());
    for (int p = below(kPodsMax + 1); p > 0; --p) pod();
    gang();
    world_.start = now_;
    for (int c = below(kChangesMax + 1); c > 0; --c) change();
    return std::move(world_);
  }
  void add_groups_and_wishes(World& world);

 private:
  Key key() { return any_of({kZone, kZone, kRack, kHost}); }

  Node node() {
    Node node{.id = nodes_++, .cpu = any_of({4, 8, 8}), .gpus = any_of({0, 1, 2, 4, 4})};
    if (!one_in(6)) node.label[kZone] = below(zones_);
    if (!one_in(6)) node.label[kRack] = below(racks_);
    if (!one_in(10)) node.label[kHost] = node.id;
    node.arch = below(2);
    if (!one_in(8)) node.cell = below(2);
    node.is_tainted = one_in(6);
    return node;
  }

  Labels labels() {
    Labels labels{.value = {below(3), kNone}};
    if (one_in(2)) labels.value[kTier] = below(2);
    return labels;
  }
  /// Often one that matches these labels.
  Selector selector(const Labels& like) {
    Selector selector;
    const Labels meant = one_in(4) ? labels() : like;
    const int what = below(8);
    if (what < 5) selector.push_back({.op = Rule::kIn, .key = kApp, .values = {meant.value[kApp]}});
    if (what == 5) selector.push_back({.op = Rule::kIn, .key = kApp, .values = {meant.value[kApp], 3}});
    if (what == 6) selector.push_back({.op = Rule::kNotIn, .key = kApp, .values = {(meant.value[kApp] + 1) % 3}});
    if (what == 7 || one_in(4)) {
      const bool has_tier = meant.value[kTier] != kNone;
      if (one_in(2))
        selector.push_back({.op = has_tier ? Rule::kExists : Rule::kDoesNotExist, .key = kTier, .values = {}});
      else
        selector.push_back({.op = Rule::kIn, .key = kTier, .values = {has_tier ? meant.value[kTier] : 0}});
    }
    return selector;
  }
  Term term(const Labels& like) { return {selector(like), key()}; }

  /// On a node that has room for it; it may break rules of others, which another scheduler does not know.
  bool pod() {
    Pod pod{.id = pods_, .cpu = below(3), .gpus = any_of({0, 0, 1, 2})};
    if (now_.nodes.empty()) return false;
    const Node& node = now_.nodes[static_cast<std::size_t>(below(static_cast<int>(now_.nodes.size())))];
    int cpu = node.cpu, gpus = node.gpus;
    for (const Pod& other : now_.pods)
      if (other.node == node.id) cpu -= other.cpu, gpus -= other.gpus;
    if (one_in(8)) pod.cpu = cpu, pod.gpus = gpus;
    pod.cpu = std::min(pod.cpu, cpu);
    pod.gpus = std::min(pod.gpus, gpus);
    pod.node = node.id;
    pod.labels = labels();
    if (one_in(6)) pod.away.push_back(term(labels()));
    if (one_in(16)) pod.away.push_back(term(labels()));
    pod.is_leaving = one_in(3);
    now_.pods.push_back(pod);
    ++pods_;
    return true;
  }

  /// Labels that its rules may ask for: of its own kind, of another, or of a pod.
  Labels some_labels(std::size_t kind) {
    const int whose = below(5);
    if (whose < 3) return now_.kinds[kind].labels;
    if (whose == 3) return now_.kinds[static_cast<std::size_t>(below(static_cast<int>(now_.kinds.size())))].labels;
    if (now_.pods.empty()) return labels();
    return now_.pods[static_cast<std::size_t>(below(static_cast<int>(now_.pods.size())))].labels;
  }
  void rules(std::size_t k) {
    Kind& kind = now_.kinds[k];
    if (one_in(3)) {
      const Labels of = some_labels(k);
      for (int t = one_in(3) ? 2 : 1; t > 0; --t) kind.near.push_back(term(of));
    }
    if (one_in(3))
      for (int t = one_in(4) ? 2 : 1; t > 0; --t) kind.away.push_back(term(some_labels(k)));
    if (one_in(2))
      for (int t = one_in(2) ? 2 : 1; t > 0; --t) {
        const Spread spread{.pods = selector(some_labels(k)),
                            .by = key(),
                            .skew = any_of({1, 1, 1, 2, 3}),
                            .domains_min = any_of({1, 1, 2, 3}),
                            .ignores_affinity = one_in(3),
                            .honors_taints = one_in(2)};
        kind.spread.push_back(spread);
      }
    if (one_in(4)) kind.arch = below(2);
    kind.tolerates = one_in(3);
  }
  void gang() {
    int left = 2 + below(kMembersMax - 1);
    const int kinds = std::min(one_in(2) ? 1 : 2 + below(kKindsMax - 1), left);
    for (int k = 0; k < kinds; ++k) {
      const int members = k + 1 == kinds ? left : 1 + below(left - (kinds - k - 1));
      left -= members;
      now_.kinds.push_back({.members = members, .cpu = below(3), .gpus = any_of({0, 0, 1, 1, 2}), .labels = labels()});
    }
    for (std::size_t k = 0; k < now_.kinds.size(); ++k) rules(k);
    now_.is_in_one_cell = one_in(5);
    if (one_in(20)) now_.gpus_of_queue = below(6);
  }

  void change() {
    Change change{.what = static_cast<Change::What>(below(6))};
    const bool is_of_pod = change.what == Change::kEnd || change.what == Change::kLeave;
    const auto some_pod = [&] {
      return now_.pods[static_cast<std::size_t>(below(static_cast<int>(now_.pods.size())))];
    };
    const auto some_node = [&] {
      return now_.nodes[static_cast<std::size_t>(below(static_cast<int>(now_.nodes.size())))];
    };
    if (is_of_pod && now_.pods.empty()) return;
    if (is_of_pod) change.id = some_pod().id;
    if (change.what == Change::kCome) {
      if (!pod()) return;
      change.pod = now_.pods.back();
      change.pod.is_leaving = false;
      now_.pods.pop_back();
    }
    if (change.what == Change::kAdd) change.node = node();
    if (change.what == Change::kUntaint) change.id = some_node().id;
    if (change.what == Change::kRelabel) {
      change.node = some_node();
      change.id = change.node.id;
      change.node.label[kZone] = below(zones_);
      change.node.label[kRack] = below(racks_);
    }
    carry_out(change, now_);
    world_.changes.push_back(change);
  }

  /// Preferences of one pod or kind.
  std::vector<std::string> wishes();

  World world_;
  Situation now_;
  int zones_ = 1, racks_ = 1, nodes_ = 0, pods_ = 0;
};

// ---- text ---------------------------------------------------------------------------------------------------------

std::string text_of(const Selector& selector) {
  std::string text;
  for (const Rule& rule : selector) {
    if (!text.empty()) text += ",";
    if (rule.op == Rule::kDoesNotExist) text += "!";
    text += kPodKeyNames[rule.key];
    if (rule.op == Rule::kIn || rule.op == Rule::kNotIn) text += rule.op == Rule::kIn ? "=" : "!=";
    for (std::size_t v = 0; v < rule.values.size(); ++v) text += (v == 0 ? "" : "|") + std::to_string(rule.values[v]);
  }
  return text;
}
std::string text_of(const Term& term) { return text_of(term.pods) + " per " + kKeyNames[term.by]; }

std::string text_of(const Labels& labels) {
  std::string text;
  for (int key = 0; key < kPodKeys; ++key)
    if (labels.value[key] != kNone)
      text +=
          (text.empty() ? " labels " : ",") + std::string(kPodKeyNames[key]) + "=" + std::to_string(labels.value[key]);
  return text;
}
std::string text_of_amounts(int cpu, int gpus) {
  return (gpus > 0 ? " " + std::to_string(gpus) + " gpu" : "") + (cpu > 0 ? " cpu=" + std::to_string(cpu) : "");
}
std::string text_of_away(const std::vector<Term>& away) {
  std::string text;
  for (const Term& term : away) text += " pod-anti-affinity " + text_of(term);
  return text;
}

std::string text_of(const std::vector<std::string>& wishes) {
  std::string text;
  for (const std::string& wish : wishes) text += " wish " + wish;
  return text;
}

std::string text_of(const Node& node) {
  std::string text =
      "node n" + std::to_string(node.id) + (node.gpus > 0 ? " h100x" + std::to_string(node.gpus) : " cpu");
  text += " cpu=" + std::to_string(node.cpu) + " labels arch=" + std::to_string(node.arch);
  for (int key = 0; key < kKeys; ++key)
    if (node.label[key] != kNone) text += "," + std::string(kKeyNames[key]) + "=" + std::to_string(node.label[key]);
  if (node.is_tainted) text += " taint kept=yes:NoSchedule";
  if (node.cell != kNone) text += " in cell=c" + std::to_string(node.cell);
  return text;
}
std::string text_of(const Pod& pod) {
  return "job p" + std::to_string(pod.id) + text_of_amounts(pod.cpu, pod.gpus) + text_of(pod.labels) +
         text_of_away(pod.away) + text_of(pod.wishes) + " on n" + std::to_string(pod.node);
}
std::string text_of(const Kind& kind) {
  std::string text = std::to_string(kind.members) + " x" + text_of_amounts(kind.cpu, kind.gpus) + text_of(kind.labels);
  for (const Term& term : kind.near) text += " pod-affinity " + text_of(term);
  text += text_of_away(kind.away);
  for (const Spread& spread : kind.spread) {
    text += " max-skew " + std::to_string(spread.skew) + " per " + kKeyNames[spread.by] + " " + text_of(spread.pods);
    if (spread.domains_min > 1) text += " min-domains " + std::to_string(spread.domains_min);
    if (spread.ignores_affinity) text += " ignores-node-affinity";
    if (spread.honors_taints) text += " honors-taints";
  }
  if (kind.arch != kNone) text += " selector arch=" + std::to_string(kind.arch);
  if (kind.tolerates) text += " tolerates kept=yes";
  return text + text_of(kind.wishes);
}
std::string text_of(const Change& change) {
  const std::string id = std::to_string(change.id);
  switch (change.what) {
    case Change::kEnd:
      return "end p" + id;
    case Change::kLeave:
      return "leaving p" + id;
    case Change::kCome:
      return text_of(change.pod);
    case Change::kAdd:
      return "add " + text_of(change.node);
    case Change::kUntaint:
      return "change n" + id + " untainted";
    case Change::kRelabel:
      return "change n" + id + " labels zone=" + std::to_string(change.node.label[kZone]) +
             ",rack=" + std::to_string(change.node.label[kRack]);
  }
  return {};
}

// ---- smaller worlds -----------------------------------------------------------------------------------------------

/// Calls `visit(copy)` with each element of `list` left out in turn.
template <class T, class Visit>
void each_left_out(std::vector<T>& list, Visit&& visit) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const T left_out = list[i];
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    visit();
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), left_out);
  }
}
/// Calls `visit()` while the value is the plainer one, if it is not so already.
template <class T, class U, class Visit>
void plainer(T& value, U plain, Visit&& visit) {
  if (value == static_cast<T>(plain)) return;
  const T before = std::exchange(value, static_cast<T>(plain));
  visit();
  value = before;
}
template <class Visit>
void each_plainer_kind(Kind& kind, Visit&& visit) {
  each_left_out(kind.near, visit);
  each_left_out(kind.away, visit);
  each_left_out(kind.spread, visit);
  each_left_out(kind.wishes, visit);
  plainer(kind.is_group_in_one_cell, false, visit);
  plainer(kind.arch, kNone, visit);
  plainer(kind.tolerates, false, visit);
  plainer(kind.cpu, 0, visit);
  plainer(kind.gpus, 0, visit);
  plainer(kind.labels.value[kTier], kNone, visit);
  if (kind.members > 1) plainer(kind.members, kind.members - 1, visit);
  for (std::vector<Term>* terms : {&kind.near, &kind.away})
    for (Term& term : *terms)
      if (term.pods.size() > 1) each_left_out(term.pods, visit);
  for (Spread& spread : kind.spread) {
    if (spread.pods.size() > 1) each_left_out(spread.pods, visit);
    plainer(spread.domains_min, 1, visit);
    plainer(spread.ignores_affinity, false, visit);
    plainer(spread.honors_taints, false, visit);
  }
}

/// What happens to pods and nodes that are not there is left out.
World without_dangling(World world) {
  Situation now = world.start;
  const auto has_node = [&](int id) {
    return std::any_of(now.nodes.begin(), now.nodes.end(), [&](const Node& n) { return n.id == id; });
  };
  const auto has_pod = [&](int id) {
    return std::any_of(now.pods.begin(), now.pods.end(), [&](const Pod& p) { return p.id == id; });
  };
  std::erase_if(now.pods, [&](const Pod& pod) { return !has_node(pod.node); });
  world.start.pods = now.pods;
  std::erase_if(world.changes, [&](const Change& change) {
    const bool is_of_pod = change.what == Change::kEnd || change.what == Change::kLeave;
    const bool is_of_node = change.what == Change::kUntaint || change.what == Change::kRelabel;
    if ((is_of_pod && !has_pod(change.id)) || (is_of_node && !has_node(change.id))) return true;
    if (change.what == Change::kCome && !has_node(change.pod.node)) return true;
    carry_out(change, now);
    return false;
  });
  return world;
}

std::vector<std::string> Drawing::wishes() {
  std::vector<std::string> wishes;
  for (int left = one_in(2) ? 1 + below(2) : 0; left > 0; --left) {
    const int what = below(4);
    const std::string weight = std::to_string(1 + below(100));
    if (what == 0) wishes.push_back(weight + " pod-affinity " + text_of(term(labels())));
    if (what == 1) wishes.push_back(weight + " pod-anti-affinity " + text_of(term(labels())));
    if (what == 2)
      wishes.push_back("max-skew " + std::to_string(1 + below(2)) + " per " + kKeyNames[key()] + " " +
                       text_of(selector(labels())));
    if (what == 3) wishes.push_back(weight + " arch=" + std::to_string(below(2)));
  }
  return wishes;
}

void Drawing::add_groups_and_wishes(World& world) {
  for (Pod& pod : world.start.pods) pod.wishes = wishes();
  for (Change& change : world.changes)
    if (change.what == Change::kCome) change.pod.wishes = wishes();
  std::vector<Kind>& kinds = world.start.kinds;
  for (Kind& kind : kinds) kind.wishes = wishes();
  if (kinds.size() < 2 && one_in(2)) {
    kinds.push_back(kinds.front());
    kinds.front().members = std::max(1, kinds.front().members / 2);
    kinds.back().members = std::max(1, kinds.back().members - kinds.front().members);
  }
  if (kinds.size() < 2) return;
  int group = 0;
  for (Kind& kind : kinds) {
    kind.group = group;
    kind.is_group_in_one_cell = one_in(2);
    if (!one_in(4)) ++group;
  }
}

}  // namespace

World draw(Rng& rng) { return Drawing(rng).draw(); }

void add_groups_and_wishes(Rng& rng, World& world) { Drawing(rng).add_groups_and_wishes(world); }

void carry_out(const Change& change, Situation& situation) {
  const auto is_it = [&](const auto& it) { return it.id == change.id; };
  switch (change.what) {
    case Change::kEnd:
      std::erase_if(situation.pods, is_it);
      break;
    case Change::kLeave:
      std::find_if(situation.pods.begin(), situation.pods.end(), is_it)->is_leaving = true;
      break;
    case Change::kCome:
      situation.pods.push_back(change.pod);
      break;
    case Change::kAdd:
      situation.nodes.push_back(change.node);
      break;
    case Change::kUntaint:
      std::find_if(situation.nodes.begin(), situation.nodes.end(), is_it)->is_tainted = false;
      break;
    case Change::kRelabel: {
      Node& node = *std::find_if(situation.nodes.begin(), situation.nodes.end(), is_it);
      node.label[kZone] = change.node.label[kZone];
      node.label[kRack] = change.node.label[kRack];
    }
  }
}

bool is_group_in_one_cell(const Situation& situation, int group) {
  return std::any_of(situation.kinds.begin(), situation.kinds.end(),
                     [&](const Kind& kind) { return kind.group == group && kind.is_group_in_one_cell; });
}

std::string case_text(const World& world) {
  const Situation& s = world.start;
  std::string text = "profile " + world.profile + "\nlevels cell\n";
  if (s.gpus_of_queue != kNone) text += "queue q quota gpu=" + std::to_string(s.gpus_of_queue) + "\n";
  for (const Node& node : s.nodes) text += text_of(node) + "\n";
  for (const Pod& pod : s.pods) text += text_of(pod) + " at 0s\n";
  for (const Pod& pod : s.pods)
    if (pod.is_leaving) text += "leaving p" + std::to_string(pod.id) + " at 0s\n";
  text += "gang g  ";
  for (std::size_t k = 0; k < s.kinds.size(); ++k) {
    const bool has_group = s.kinds[k].group != kNone;
    const bool is_first = has_group && (k == 0 || s.kinds[k - 1].group != s.kinds[k].group);
    const bool is_last = has_group && (k + 1 == s.kinds.size() || s.kinds[k + 1].group != s.kinds[k].group);
    text += std::string(k == 0 ? "" : " + ") + (is_first ? "(" : "") + text_of(s.kinds[k]);
    if (is_last) text += std::string(is_group_in_one_cell(s, s.kinds[k].group) ? " within cell" : "") + ")";
  }
  if (s.gpus_of_queue != kNone) text += " queue q";
  if (s.is_in_one_cell) text += " within cell";
  if (s.members_min != kNone) text += " min " + std::to_string(s.members_min);
  text += " at 1s\n";
  for (std::size_t c = 0; c < world.changes.size(); ++c)
    text += text_of(world.changes[c]) + " at " + std::to_string(2 + c) + "s\n";
  return text + "---- at " + std::to_string(1 + world.changes.size()) + "s\n";
}

std::vector<World> smaller(const World& world) {
  std::vector<World> found;
  World w = world;
  const auto note = [&] { found.push_back(without_dangling(w)); };
  if (!w.changes.empty()) {
    const Situation before = w.start;
    const Change first = w.changes.front();
    carry_out(first, w.start);
    w.changes.erase(w.changes.begin());
    note();
    w.changes.insert(w.changes.begin(), first);
    w.start = before;
  }
  each_left_out(w.changes, note);
  each_left_out(w.start.nodes, note);
  each_left_out(w.start.pods, note);
  if (w.start.kinds.size() > 1) each_left_out(w.start.kinds, note);
  plainer(w.profile, "ashlar", note);
  plainer(w.start.is_in_one_cell, false, note);
  plainer(w.start.gpus_of_queue, kNone, note);
  for (Kind& kind : w.start.kinds) each_plainer_kind(kind, note);
  for (Pod& pod : w.start.pods) {
    each_left_out(pod.away, note);
    each_left_out(pod.wishes, note);
    plainer(pod.is_leaving, false, note);
    plainer(pod.labels.value[kTier], kNone, note);
    plainer(pod.cpu, 0, note);
    plainer(pod.gpus, 0, note);
  }
  for (Node& node : w.start.nodes) {
    plainer(node.is_tainted, false, note);
    plainer(node.cell, kNone, note);
    plainer(node.arch, 0, note);
    for (int& label : node.label) plainer(label, kNone, note);
    plainer(node.cpu, 8, note);
  }
  return found;
}

}  // namespace ashlar::oracle::company_gang
