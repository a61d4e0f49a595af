// Random stories of pods that refuse company: after every decision the engine keeps each waiting pod out of what the
// records say, read the stupid way, pod by pod.
#include <map>
#include <set>

#include "base/rng.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class CompanyStory : public TrackerBench {
 protected:
  explicit CompanyStory(std::uint64_t seed) : rng_(seed) {}
  void TestBody() override {}

  int below(int bound) { return static_cast<int>(rng_.below(static_cast<std::uint64_t>(bound))); }
  bool chance(int percent) { return below(100) < percent; }
  std::string one_of(const std::string& stem, int count) { return stem + std::to_string(below(count)); }
  PooledString ns() { return PooledString(one_of("space-", 3)); }
  Labels labels() {
    Labels all;
    if (chance(80)) all.push_back({PooledString("app"), PooledString(one_of("a", 3))});
    if (chance(50)) all.push_back({PooledString("tier"), PooledString(one_of("t", 2))});
    return all;
  }
  LabelSelector selector(const std::string& key, const std::string& stem, int count) {
    LabelSelector s{.present = chance(95), .match_labels = {}, .expressions = {}};
    const int kind = below(6);
    if (kind < 2) s.match_labels = {{PooledString(key), PooledString(one_of(stem, count))}};
    if (kind == 2) s.expressions = {{PooledString(key), SelectorOp::kIn, {PooledString(one_of(stem, count))}}};
    if (kind == 3)
      s.expressions = {{PooledString(key), SelectorOp::kIn, {PooledString(stem + "0"), PooledString(stem + "1")}}};
    if (kind == 4) s.expressions = {{PooledString(key), SelectorOp::kNotIn, {PooledString(one_of(stem, count))}}};
    return s;  // else everything
  }
  PodAffinityTerm term() {
    PodAffinityTerm t;
    t.selector = chance(60) ? selector("app", "a", 3) : selector("tier", "t", 2);
    t.topology_key = PooledString(chance(50) ? "host" : "l/rack");
    if (chance(30)) t.namespaces.push_back(ns());
    if (chance(15)) t.namespaces.push_back(ns());
    if (chance(30)) t.namespace_selector = selector("team", "red", 2);
    return t;
  }
  std::shared_ptr<const PodRules> refusing() {
    PodRules rules;
    for (int i = below(3); i >= 0; --i) rules.required_anti_affinity.push_back(term());
    if (chance(30)) rules.preferred_pod_affinity.push_back({1 + below(100), term()});
    if (chance(30)) rules.preferred_anti_affinity.push_back({1 + below(100), term()});
    if (chance(20)) rules.required_pod_affinity.push_back(term());
    if (chance(20)) rules.required_anti_affinity.clear();
    rules.unsupported = PooledString("spec.affinity.podAntiAffinity.required");
    return std::make_shared<const PodRules>(std::move(rules));
  }
  Pod owner(const std::string& name) {
    Pod p = pod(name, 0, labels(), ns().str());
    if (chance(50)) p.scheduler_name = PooledString("default-scheduler");
    p.rules = chance(30) && kept_ ? kept_ : refusing();
    if (chance(30)) kept_ = p.rules;
    p.node_name = PooledString(one_of("n", 7));  // some never come
    return p;
  }
  Pod waiting(const std::string& name) {
    Pod p = pod(name, chance(70) ? 8 : 1, labels(), ns().str());
    if (chance(20)) p = with(with(p, "ashlar.dev/gang", one_of("g", 2)), "ashlar.dev/gang-size", "2");
    PodRules rules;
    if (chance(40)) rules.node_selector = {{PooledString("pool"), PooledString(one_of("p", 2))}};
    return under(std::move(p), std::move(rules));
  }
  /// A change of a pod that was reported before, or a new one.
  void tell_pod(bool is_owner) {
    const std::string name = one_of(is_owner ? "o" : "w", is_owner ? 12 : 20);
    Pod now = is_owner ? owner(name) : waiting(name);
    const auto had = told_.find(name);
    if (had != told_.end() && chance(75)) {
      Pod& before = had->second;
      if (chance(30)) return forget(name);
      const int what = below(4);
      now.ns = before.ns;  // another namespace is another pod
      now.uid = before.uid;
      now.scheduler_name = before.scheduler_name;
      if (what == 0) now.uid = PooledString("uid-" + std::to_string(rng_.next()));  // made anew, maybe elsewhere
      if (what != 0) now.node_name = before.node_name;
      if (what != 1) now.rules = before.rules;
      if (what != 2 || find_label(*before.labels, "ashlar.dev/gang") != nullptr) now.labels = before.labels;
    } else if (had != told_.end()) {
      forget(name);
    }
    told_.insert_or_assign(name, now);
    see(now);
  }
  void forget(const std::string& name) {
    gone(told_.at(name));
    told_.erase(name);
  }
  void tell_node() {
    const std::string name = one_of("n", 5);
    if (nodes_.contains(name) && chance(15)) {
      gone(node(name, 8));
      nodes_.erase(name);
      return;
    }
    Labels all;
    if (chance(90)) all.push_back({PooledString("host"), PooledString(chance(90) ? name : "other")});
    if (chance(90)) all.push_back({PooledString("l/block"), PooledString("b")});
    if (chance(80)) all.push_back({PooledString("l/rack"), PooledString(one_of("r", 3))});
    if (chance(50)) all.push_back({PooledString("pool"), PooledString(one_of("p", 2))});
    nodes_[name] = all;
    see(node(name, 8, std::move(all)));
  }
  void tell_namespace() {
    Namespace n;
    n.name = ns();
    if (chance(60)) n.labels = {{PooledString("team"), PooledString(one_of("red", 2))}};
    namespaces_.erase(n.name);
    if (chance(30)) return tracker.take(Change<Namespace>{Change<Namespace>::Kind::kDeleted, n});
    namespaces_[n.name] = n.labels;
    see(std::move(n));
  }
  /// What becomes of a binding that was asked for.
  void answer() {
    for (PodSlot slot = 0; slot < tracker.pods().slots(); ++slot) {
      const PodRecord& r = tracker.pods()[slot];
      if (r.phase != PodRecord::Phase::kAssumed || !chance(40)) continue;
      const int what = below(3);
      if (what == 0) tracker.note_bound(slot, tracker.names().nodes.name(r.node), r.devices);
      if (what == 1) tracker.note_rejected(slot);
      if (what == 2) holds_.push_back(tracker.note_bind_failed(slot, "no"));
    }
    if (!holds_.empty() && chance(50)) {
      tracker.end_bind_hold(holds_.back());
      holds_.pop_back();
    }
  }
  void turn() {
    const int what = below(20);
    if (what < 6)
      tell_pod(true);
    else if (what < 12)
      tell_pod(false);
    else if (what < 14)
      tell_node();
    else if (what < 16)
      tell_namespace();
    else if (what < 18)
      answer();
    else
      settle();
  }

  // ---- the stupid way -----------------------------------------------------------------------------------------------
  bool means(const PodAffinityTerm& t, const PooledString& owner_ns, const PodRecord& r) const {
    bool is_meant = t.namespaces.empty() && !t.namespace_selector.present && r.ns == owner_ns;
    for (const PooledString& name : t.namespaces) is_meant = is_meant || name == r.ns;
    if (t.namespace_selector.present) {
      const auto known = namespaces_.find(r.ns);
      is_meant = is_meant || known == namespaces_.end() || matches(t.namespace_selector, known->second);
    }
    return is_meant && matches(t.selector, *r.labels);
  }
  std::set<std::string> excluded(const PodRecord& r) const {
    std::set<std::string> all;
    for (PodSlot slot = 0; slot < tracker.pods().slots(); ++slot) {
      const PodRecord& o = tracker.pods()[slot];
      if (o.phase != PodRecord::Phase::kBound) continue;
      for (const PodAffinityTerm& t : o.rules->required_anti_affinity) {
        const PooledString* value = find_label(nodes_.at(o.node_name.str()), t.topology_key);
        if (value != nullptr && means(t, o.ns, r)) all.insert("not " + t.topology_key.str() + "=" + value->str());
      }
    }
    return all;
  }
  std::set<std::string> expected(const PodRecord& r) const {
    std::set<std::string> all;
    for (const auto& [key, value] : r.rules->node_selector) all.insert("in " + key.str() + "=" + value.str());
    return all;
  }
  std::set<std::string> actual(const PodRecord& r) const {
    std::set<std::string> all;
    const Constraint& constraint = tracker.translator().constraint_of(r.constraint);
    for (const LabelExpression& e : constraint.selector.all)
      for (const LabelId id : e.values) all.insert("in " + tracker.names().label_text(id));
    return all;
  }
  bool is_excluded(const PodRecord& r, const std::string& node) const {
    const std::set<std::string> all = excluded(r);
    return std::any_of(nodes_.at(node).begin(), nodes_.at(node).end(), [&](const KeyValue& label) {
      return all.contains("not " + label.key.str() + "=" + label.value.str());
    });
  }
  /// What preferences and affinity of bound pods weigh for the pod on a node.
  std::int64_t drawn(const PodRecord& r, const std::string& node) const {
    std::int64_t sum = 0;
    for (PodSlot slot = 0; slot < tracker.pods().slots(); ++slot) {
      const PodRecord& o = tracker.pods()[slot];
      if (o.phase != PodRecord::Phase::kBound) continue;
      const auto add = [&](const PodAffinityTerm& t, int weight) {
        const PooledString* there = find_label(nodes_.at(o.node_name.str()), t.topology_key);
        const PooledString* here = find_label(nodes_.at(node), t.topology_key);
        if (there != nullptr && here != nullptr && *there == *here && means(t, o.ns, r)) sum += weight;
      };
      for (const PreferredPodTerm& p : o.rules->preferred_pod_affinity) add(p.term, p.weight);
      for (const PreferredPodTerm& p : o.rules->preferred_anti_affinity) add(p.term, -p.weight);
      for (const PodAffinityTerm& t : o.rules->required_pod_affinity) add(t, 1);
    }
    return sum;
  }
  void check_draws(const PodRecord& r) const {
    const LabelSetId seen_as = tracker.translator().constraint_of(r.constraint).seen_as;
    for (const auto& [node, labels] : nodes_) {
      const NodeFacts& facts = state.cluster().facts(tracker.names().nodes.find(PooledString(node)));
      std::int64_t sum = 0;
      if (!seen_as.is_none())
        for (const Drawn::To& to : state.cluster().counts().drawn_to(seen_as))
          if (value_of(facts, to.topology) == to.value) sum += to.weight;
      EXPECT_EQ(sum, drawn(r, node)) << r.ns.str() << "/" << r.name.str() << " on " << node;
    }
  }
  /// By the engine's counts, on each node.
  void check_counts(const PodRecord& r) const {
    const LabelSetId seen_as = tracker.translator().constraint_of(r.constraint).seen_as;
    for (const auto& [node, labels] : nodes_) {
      const NodeId id = tracker.names().nodes.find(PooledString(node));
      const bool is_kept_away =
          !seen_as.is_none() && state.cluster().counts().keeps_away(seen_as, state.cluster().facts(id));
      EXPECT_EQ(is_kept_away, is_excluded(r, node)) << r.ns.str() << "/" << r.name.str() << " on " << node;
    }
  }
  /// Would the place be chosen again? Where something there refuses the pod it must be.
  void check_places() {
    for (PodSlot slot = 0; slot < tracker.pods().slots(); ++slot) {
      const PodRecord& r = tracker.pods()[slot];
      if (r.phase != PodRecord::Phase::kAssumed) continue;
      const bool is_refused = is_excluded(r, tracker.names().nodes.name(r.node).str());
      EXPECT_TRUE(!is_refused || tracker.is_place_outdated(slot, nullptr)) << r.name.str();
    }
  }
  void settle() {
    check_places();
    tracker.settle();
    EXPECT_FALSE(tracker.has_unsettled());
    for (PodSlot slot = 0; slot < tracker.pods().slots(); ++slot) {
      const PodRecord& r = tracker.pods()[slot];
      if (r.phase != PodRecord::Phase::kWaiting) continue;
      EXPECT_EQ(actual(r), expected(r)) << r.ns.str() << "/" << r.name.str();
      ++checked;
      excluding += excluded(r).empty() ? 0 : 1;
    }
    is_answering = chance(30);
    plan = driver.step();
    for (PodSlot slot = 0; slot < tracker.pods().slots(); ++slot) {
      const PodRecord& r = tracker.pods()[slot];
      if (r.phase == PodRecord::Phase::kWaiting) check_counts(r), check_draws(r);
      if (r.phase != PodRecord::Phase::kWaiting || !r.is_in_engine()) continue;
      EXPECT_EQ(state.member(r.member).constraint, r.constraint) << "as reported to the engine";
    }
    for (const Action& action : plan.actions)
      if (const auto* bind = std::get_if<Bind>(&action)) {
        const PodSlot slot = tracker.pods().of_member(bind->member);
        const std::string node = tracker.names().nodes.name(bind->node).str();
        EXPECT_FALSE(slot != kNoPod && is_excluded(tracker.pods()[slot], node)) << "bound to " << node;
      }
    tracker.note_taken();
    EXPECT_TRUE(state.is_consistent());
  }

 public:
  std::size_t checked = 0, excluding = 0;  ///< waiting pods
  void live(int turns) {
    for (int i = 0; i < turns && !HasFailure(); ++i) {
      time = time + Millis(10);
      turn();
    }
    settle();
  }
  static std::pair<std::size_t, std::size_t> life(std::uint64_t seed, int turns) {
    CompanyStory story(seed);
    story.live(turns);
    return {story.checked, story.excluding};
  }

 private:
  Rng rng_;
  std::map<std::string, Pod> told_;
  std::map<std::string, Labels> nodes_;
  std::map<PooledString, Labels> namespaces_;
  std::shared_ptr<const PodRules> kept_;
  std::vector<BindHold> holds_;
};

TEST(CompanyStories, NobodyWaitsUnderAListOfYesterday) {
  std::size_t checked = 0, excluding = 0;
  for (std::uint64_t seed = 1; seed <= 300 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto [all, some] = CompanyStory::life(seed, 400);
    checked += all;
    excluding += some;
  }
  EXPECT_GT(excluding, checked / 4) << "of " << checked;
  EXPECT_LT(excluding, checked) << "of " << checked;
}

}  // namespace
}  // namespace ashlar::kube
