// Which nodes rules about other pods leave open: affinity, anti-affinity and topology spread of one constraint.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "small_state.h"
#include "state/state_fields.h"
#include "state/trial.h"

namespace ashlar {
namespace {

using Op = LabelExpression::Op;

constexpr LabelKeyId kZoneOf{1u}, kNameOf{2u}, kAppOf{50u};
constexpr LabelId kZones[] = {LabelId(10u), LabelId(11u), LabelId(12u)};
constexpr LabelId kWebApp{500u};
constexpr PodSelectorId kWebApps{0u}, kStayingWebApps{1u};
constexpr ConstraintId kRule{1u};
constexpr LabelSetId kWebSet{0u}, kOtherSet{1u}, kLeavingWebSet{2u};

bool is_in_its_zone(const Constraint& constraint, const NodeFacts& facts) {
  return constraint.selector.all.empty() || facts.labels[0].id == constraint.selector.all[0].values[0];
}
bool allows_its_zone(const Constraint& constraint, const NodeFacts& facts, const NodeContext&) {
  return is_in_its_zone(constraint, facts);
}
bool has_no_taint(const Constraint&, const NodeFacts& facts) { return facts.taints.empty(); }
const NodeRules kRules{allows_its_zone, is_in_its_zone, has_no_taint};

/// Nodes 0 and 1 in zone a, 2 and 3 in zone b, 4 in zone c, 5 without a zone.
class CompanyTest : public ::testing::Test {
 protected:
  State s = small_state(0);
  std::uint32_t members = 0;
  Constraint rule;

  CompanyTest() {
    for (std::uint32_t n = 0; n < 6; ++n) see(n, n < 5 ? kZones[n / 2] : LabelId::none());
    tell(s, LabelSetDefined{kWebSet, {.ns = NamespaceId(0u), .labels = {{kAppOf, kWebApp}}}});
    tell(s, LabelSetDefined{kOtherSet, {.ns = NamespaceId(0u), .labels = {{kAppOf, LabelId(501u)}}}});
    tell(s,
         LabelSetDefined{kLeavingWebSet, {.ns = NamespaceId(0u), .labels = {{kAppOf, kWebApp}}, .is_leaving = true}});
    PodSelector web;
    web.namespaces = {NamespaceId(0u)};
    web.all = {{kAppOf, Op::kIn, {kWebApp}, 0}};
    tell(s, PodSelectorDefined{kWebApps, web});
    web.skips_leaving = true;
    tell(s, PodSelectorDefined{kStayingWebApps, web});
  }
  void see(std::uint32_t n, LabelId zone, bool is_tainted = false) {
    NodeFacts f = eight_devices();
    if (!zone.is_none()) f.labels.push_back({kZoneOf, zone, NodeLabel::kNotANumber});
    f.labels.push_back({kNameOf, LabelId(100 + n), NodeLabel::kNotANumber});
    if (is_tainted) f.taints.push_back({kNameOf, LabelId(900u), TaintEffect::kNoSchedule});
    tell(s, NodeSeen{NodeId(n), f});
  }
  MemberId submit(LabelSetId labels) {
    Workload w;
    w.job = JobId(members);
    w.members = {{MemberId(members), kNoDevices, kAnywhere, labels}};
    tell(s, Submitted{w});
    return MemberId(members++);
  }
  MemberId run(std::uint32_t node, LabelSetId labels = kWebSet) {
    const MemberId member = submit(labels);
    tell(s, Bound{member, NodeId(node), {}});
    return member;
  }
  void define() { tell(s, ConstraintDefined{kRule, rule}); }
  /// "0 1 4": the nodes that the rule leaves open.
  std::string open() const {
    std::string nodes;
    s.cluster().allowed(kRule, kRules).each([&](std::size_t n) {
      nodes += (nodes.empty() ? "" : " ") + std::to_string(n);
    });
    return nodes;
  }
  void spread_over_zones(std::int32_t skew_max) {
    rule.spread = {{.selector = kStayingWebApps, .topology = kZoneOf, .skew_max = skew_max}};
    define();
  }
};

TEST_F(CompanyTest, AntiAffinityClosesDomainsWithSuchAPod) {
  rule.keeps_away = {{kWebApps, kZoneOf}};
  define();
  EXPECT_EQ(open(), "0 1 2 3 4 5");
  const MemberId first = run(0), second = run(1);
  run(2, kOtherSet), run(5);
  EXPECT_EQ(open(), "2 3 4 5") << "a node without the label has no domain";
  tell(s, MemberGone{first});
  EXPECT_EQ(open(), "2 3 4 5");
  tell(s, MemberGone{second});
  EXPECT_EQ(open(), "0 1 2 3 4 5");
}

TEST_F(CompanyTest, ANodeThatManyRulesRefuseStaysClosed) {
  for (std::uint32_t i = 0; i < 256; ++i) {
    PodSelector one;
    one.namespaces = {NamespaceId(0u)};
    one.all = {{kAppOf, Op::kIn, {kWebApp, LabelId(1000 + i)}, 0}};
    tell(s, PodSelectorDefined{PodSelectorId(10 + i), one});
    rule.keeps_away.push_back({PodSelectorId(10 + i), kNameOf});
  }
  define();
  EXPECT_EQ(open(), "0 1 2 3 4 5");
  const MemberId web = run(0);
  EXPECT_EQ(open(), "1 2 3 4 5") << "by steps";
  define();
  EXPECT_EQ(open(), "1 2 3 4 5") << "anew";
  tell(s, MemberGone{web});
  EXPECT_EQ(open(), "0 1 2 3 4 5");
}

TEST_F(CompanyTest, AffinityOpensDomainsWithSuchAPod) {
  rule.near = {.selector = kWebApps, .topologies = {kZoneOf}};
  define();
  EXPECT_EQ(open(), "");
  const MemberId first = run(3);
  EXPECT_EQ(open(), "2 3");
  run(4);
  EXPECT_EQ(open(), "2 3 4");
  tell(s, MemberGone{first});
  EXPECT_EQ(open(), "4");
}

TEST_F(CompanyTest, TheFirstPodOfAnAffinityToItselfMayGoToAnyDomain) {
  rule.near = {.selector = kWebApps, .topologies = {kZoneOf, kNameOf}, .matches_itself = true};
  define();
  EXPECT_EQ(open(), "0 1 2 3 4");
  const MemberId first = run(3);
  EXPECT_EQ(open(), "3") << "by both labels";
  tell(s, MemberGone{first});
  EXPECT_EQ(open(), "0 1 2 3 4");
  run(5);
  EXPECT_EQ(open(), "") << "it is in a domain of the name, though in no zone";
}

TEST_F(CompanyTest, SpreadKeepsDomainsWithinItsSkew) {
  spread_over_zones(1);
  EXPECT_EQ(open(), "0 1 2 3 4");
  const MemberId first = run(0);
  EXPECT_EQ(open(), "2 3 4");
  run(2), run(4);
  EXPECT_EQ(open(), "0 1 2 3 4") << "one in each";
  tell(s, MemberGone{first});
  EXPECT_EQ(open(), "0 1");
  spread_over_zones(2);
  EXPECT_EQ(open(), "0 1 2 3 4");
  run(2);
  EXPECT_EQ(open(), "0 1 4");
}

TEST_F(CompanyTest, PodsThatAreLeavingDoNotCountForASpread) {
  spread_over_zones(1);
  const MemberId leaving = run(0);
  tell(s, LabelsChanged{leaving, kLeavingWebSet});
  EXPECT_EQ(open(), "0 1 2 3 4");
  rule = {};
  rule.keeps_away = {{kWebApps, kZoneOf}};
  define();
  EXPECT_EQ(open(), "2 3 4 5") << "it still keeps others away";
}

TEST_F(CompanyTest, FewerDomainsThanTheLeastCountAsIfOneWereEmpty) {
  rule.spread = {{.selector = kWebApps, .topology = kZoneOf, .domains_min = 4}};
  define();
  run(0), run(2), run(4);
  EXPECT_EQ(open(), "");
  rule.spread[0].domains_min = 3;
  define();
  EXPECT_EQ(open(), "0 1 2 3 4");
}

TEST_F(CompanyTest, OnlyNodesThatTheMemberMayUseHaveDomains) {
  rule.selector.all = {{kZoneOf, Op::kIn, {kZones[1]}, 0}};
  spread_over_zones(1);
  run(2);
  EXPECT_EQ(open(), "2 3") << "the only zone has one and may have another";
  rule.spread[0].honors_affinity = false;
  define();
  EXPECT_EQ(open(), "") << "all zones count";
}

TEST_F(CompanyTest, TaintsMatterToASpreadThatHonorsThem) {
  see(4, kZones[2], true);
  spread_over_zones(1);
  run(0), run(2);
  EXPECT_EQ(open(), "4");
  rule.spread[0].honors_taints = true;
  define();
  EXPECT_EQ(open(), "0 1 2 3 4") << "the tainted zone has no node that counts";
  see(4, kZones[2]);
  EXPECT_EQ(open(), "4");
}

TEST_F(CompanyTest, ASpreadThatThePodIsNotOfCountsItNot) {
  spread_over_zones(1);
  run(0);
  rule.spread[0].matches_itself = false;
  define();
  EXPECT_EQ(open(), "0 1 2 3 4");
  run(0);
  EXPECT_EQ(open(), "2 3 4");
}

TEST_F(CompanyTest, NodesThatComeAndGoAndChangeTheirLabelsAreFollowed) {
  spread_over_zones(1);
  run(0), run(2);
  EXPECT_EQ(open(), "4");
  tell(s, NodeGone{NodeId(4u)});
  EXPECT_EQ(open(), "0 1 2 3");
  see(1, kZones[2]);
  EXPECT_EQ(open(), "1");
  see(1, LabelId::none());
  EXPECT_EQ(open(), "0 2 3");
}

TEST_F(CompanyTest, ATrialSeesItsOwnPlacementsAndLeavesNoTrace) {
  spread_over_zones(1);
  const MemberId waiting = submit(kWebSet), other = submit(kWebSet);
  EXPECT_EQ(open(), "0 1 2 3 4");
  const std::uint64_t digest = s.digest();
  {
    Trial trial(s);
    trial.place(waiting, NodeId(0u), {});
    EXPECT_EQ(open(), "2 3 4");
    trial.place(other, NodeId(4u), {});
    EXPECT_EQ(open(), "2 3");
  }
  EXPECT_EQ(open(), "0 1 2 3 4");
  EXPECT_EQ(s.digest(), digest);
}

TEST_F(CompanyTest, MoreStepsThanAreRememberedAreCountedAnew) {
  spread_over_zones(1);
  EXPECT_EQ(open(), "0 1 2 3 4");
  for (int i = 0; i < 200; ++i) tell(s, MemberGone{run(0)});
  run(0);
  EXPECT_EQ(open(), "2 3 4");
  State again = s;
  StateFields::forget_caches(again);
  EXPECT_EQ(again.cluster().allowed(kRule, kRules), s.cluster().allowed(kRule, kRules));
}

/// The steps that are forgotten are not those after them.
TEST_F(CompanyTest, WhatIsForgottenOfTheStepsIsNotTakenForOther) {
  rule.keeps_away = {{kWebApps, kZoneOf}};
  define();
  EXPECT_EQ(open(), "0 1 2 3 4 5");
  run(0);
  for (int i = 0; i < 128; ++i) run(5);  // as many as are remembered
  EXPECT_EQ(open(), "2 3 4 5");
}

TEST_F(CompanyTest, PodsThatAreKeptAwayAreNoneOfThoseToBeNear) {
  PodSelector others;
  others.namespaces = {NamespaceId(0u)};
  others.all = {{kAppOf, Op::kIn, {LabelId(501u)}, 0}};
  tell(s, PodSelectorDefined{PodSelectorId(2u), others});
  run(0, kOtherSet);
  rule.near = {.selector = kWebApps, .topologies = {kZoneOf}, .matches_itself = true};
  rule.keeps_away = {{PodSelectorId(2u), kNameOf}};
  define();
  EXPECT_EQ(open(), "1 2 3 4") << "it is the first of its kind";
}

TEST_F(CompanyTest, ASpreadThatNeedsNoOtherLabelCountsNodesWithoutThem) {
  for (std::uint32_t n = 0; n < 5; ++n) run(n);
  rule.spread = {{.selector = kWebApps, .topology = kNameOf, .skew_max = 1},
                 {.selector = kWebApps, .topology = kZoneOf, .skew_max = 1}};
  define();
  EXPECT_EQ(open(), "4") << "the node without a zone does not count, though it has no such pod";
  rule.spread[0].requires_all_labels = false;
  define();
  EXPECT_EQ(open(), "") << "it counts";
}

TEST_F(CompanyTest, TheRuleThatRefusesANodeIsNamed) {
  rule.near = {.selector = kWebApps, .topologies = {kZoneOf}};
  rule.keeps_away = {{kWebApps, kNameOf}};
  spread_over_zones(1);
  run(0);
  const auto refuses = [&](CompanyRule of, std::uint32_t node) {
    return s.cluster().is_refused(kRule, kRules, NodeId(node), of);
  };
  EXPECT_TRUE(refuses(CompanyRule::kSpread, 0) && refuses(CompanyRule::kAntiAffinity, 0));
  EXPECT_FALSE(refuses(CompanyRule::kAffinity, 0) || refuses(CompanyRule::kAntiAffinity, 1));
  EXPECT_TRUE(refuses(CompanyRule::kSpread, 5) && refuses(CompanyRule::kAffinity, 5));
  EXPECT_FALSE(s.cluster().is_refused(kAnywhere, kRules, NodeId(0u), CompanyRule::kSpread));
}

TEST_F(CompanyTest, ItsBytesGrowWithTheNodesAndTheirDomains) {
  rule.keeps_away = {{kWebApps, kNameOf}};
  rule.prefers_pods = {{.selector = kWebApps, .topology = kNameOf, .weight = 1}};
  define();
  const auto bytes_now = [&] {
    LabelDomains domains;
    const Company::World world{rule, kRules, s.cluster().counts(), s.cluster(), domains, s.cluster().images(), 1};
    Company company(1);
    company.refresh(world);
    PodPreferences preferences(1);
    preferences.refresh(world);
    return std::pair(company.bytes(), preferences.bytes());
  };
  run(0);
  const auto [of_six, preferred_of_six] = bytes_now();
  for (std::uint32_t n = 6; n < 106; ++n) see(n, kZones[0]);
  const auto [of_more, preferred_of_more] = bytes_now();
  EXPECT_GE(of_more, of_six + std::size_t{100} * (4 + 5)) << "a counter for each node, pods and a flag for each domain";
  EXPECT_GE(preferred_of_more, preferred_of_six + std::size_t{100} * 8) << "a sum of weights for each node";
}

// ---- preferences ----------------------------------------------------------------------------------------------------

constexpr ConstraintId kFriendOfWeb{2u};
constexpr ImageId kImageOfApp{0u}, kOther{1u};
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class PodPreferencesTest : public CompanyTest {
 protected:
  using Sums = std::vector<std::int64_t>;

  const PodPreferences& preferences() const { return s.cluster().pod_preferences(kRule, kRules); }
  Sums affinity() const {
    const auto sums = preferences().affinity();
    return {sums.begin(), sums.end()};
  }
  /// By node, what the first spread counts in its domain; -1: it has none.
  Sums spread() const {
    const PodPreferences::Spread& of = preferences().spreads().front();
    Sums pods;
    for (const std::uint32_t domain : of.domains_of->of_node)
      pods.push_back(domain == LabelDomains::kNone ? -1 : std::int64_t{of.pods[domain]});
    return pods;
  }
  MemberId run_under(std::uint32_t node, ConstraintId constraint) {
    Workload w;
    w.job = JobId(members);
    w.members = {{MemberId(members), kNoDevices, constraint, kOtherSet}};
    tell(s, Submitted{w});
    tell(s, Bound{MemberId(members), NodeId(node), {}});
    return MemberId(members++);
  }
  /// As it is made anew, with these rules about nodes.
  std::size_t bytes_of(const Constraint& constraint, const NodeRules& rules) const {
    LabelDomains domains;
    PodPreferences made(1);
    made.refresh({constraint, rules, s.cluster().counts(), s.cluster(), domains, s.cluster().images(), 1});
    return made.bytes();
  }
  static constexpr int kMoreThanAreRemembered = 200;
};

TEST_F(PodPreferencesTest, EachTermFollowsItsOwnPods) {
  rule.prefers_pods = {{.selector = kWebApps, .topology = kZoneOf, .weight = 10},
                       {.selector = kStayingWebApps, .topology = kNameOf, .weight = -3}};
  define();
  EXPECT_EQ(affinity(), Sums());
  run(0), run(3, kLeavingWebSet);
  EXPECT_EQ(affinity(), (Sums{7, 10, 10, 10, 0, 0}));
  run(1), run(4);
  EXPECT_EQ(affinity(), (Sums{17, 17, 10, 10, 7, 0}));
}

TEST_F(PodPreferencesTest, RequiredTermsAreNoWishesOfTheMember) {
  rule.prefers_pods = {{.selector = kWebApps, .topology = kZoneOf, .weight = 10},
                       {.selector = kWebApps, .topology = kNameOf, .weight = 1, .is_required = true}};
  define();
  run(0);
  EXPECT_EQ(affinity(), (Sums{10, 10, 0, 0, 0, 0}));
}

TEST_F(PodPreferencesTest, PodsOfNodesThatDoNotCountForASoftSpreadStayOut) {
  see(1, kZones[0], true);
  rule.prefers_spread = {{.selector = kWebApps, .topology = kZoneOf, .honors_taints = true}};
  define();
  EXPECT_EQ(spread(), (Sums{0, 0, 0, 0, 0, -1}));
  run(0), run(1);
  EXPECT_EQ(spread(), (Sums{1, 1, 0, 0, 0, -1}));
}

TEST_F(PodPreferencesTest, AfterMorePodsThanAreRememberedTheirSumsAreMadeAnew) {
  rule.prefers_pods = {{.selector = kWebApps, .topology = kZoneOf, .weight = 10}};
  define();
  EXPECT_EQ(affinity(), Sums());
  for (int i = 0; i < kMoreThanAreRemembered; ++i) tell(s, MemberGone{run(0)});
  run(2);
  EXPECT_EQ(affinity(), (Sums{0, 0, 10, 10, 0, 0}));
}

TEST_F(PodPreferencesTest, SoAreTheCountsOfASoftSpread) {
  rule.prefers_spread = {{.selector = kWebApps, .topology = kZoneOf}};
  define();
  EXPECT_EQ(spread(), (Sums{0, 0, 0, 0, 0, -1}));
  for (int i = 0; i < kMoreThanAreRemembered; ++i) tell(s, MemberGone{run(0)});
  run(2);
  EXPECT_EQ(spread(), (Sums{0, 0, 1, 1, 0, -1}));
}

TEST_F(PodPreferencesTest, SoIsWhatPlacedPodsPrefer) {
  Constraint friend_of_web;
  friend_of_web.prefers_pods = {{.selector = kWebApps, .topology = kZoneOf, .weight = 5}};
  tell(s, ConstraintDefined{kFriendOfWeb, friend_of_web});
  rule.seen_as = kWebSet;
  define();
  run_under(4, kFriendOfWeb);
  EXPECT_EQ(affinity(), (Sums{0, 0, 0, 0, 5, 0}));
  for (int i = 0; i < kMoreThanAreRemembered; ++i) tell(s, MemberGone{run_under(0, kFriendOfWeb)});
  run_under(2, kFriendOfWeb);
  EXPECT_EQ(affinity(), (Sums{0, 0, 5, 5, 5, 0}));
}

TEST_F(PodPreferencesTest, TheirVersionIsAnotherWhenTheyAreAndOnlyThen) {
  rule.prefers_pods = {{.selector = kWebApps, .topology = kZoneOf, .weight = 10}};
  rule.images = {{kImageOfApp}, 1};
  define();
  std::uint64_t version = preferences().version();
  const auto is_another = [&] {
    const std::uint64_t before = version;
    version = preferences().version();
    return version > before;
  };
  run(0, kOtherSet);
  tell(s, ImageSeen{kOther, 100 * kMiB, {NodeId(0u)}, {}});
  EXPECT_FALSE(is_another());
  run(0);
  EXPECT_TRUE(is_another());
  EXPECT_FALSE(is_another());
  tell(s, ImageSeen{kImageOfApp, 100 * kMiB, {NodeId(0u)}, {}});
  EXPECT_TRUE(is_another());
  tell(s, ImageSeen{kImageOfApp, 200 * kMiB, {}, {}});
  EXPECT_TRUE(is_another()) << "it is larger";
  EXPECT_FALSE(is_another());
  see(1, kZones[2]);
  EXPECT_TRUE(is_another());
}

TEST_F(PodPreferencesTest, OfAnotherValueOfTheRowTheyHaveAVersionThatNoFormerOneHad) {
  Companies companies;
  rule.prefers_pods = {{.selector = kWebApps, .topology = kZoneOf, .weight = 10}};
  std::set<std::uint64_t> versions;
  for (std::uint64_t definition = 1; definition <= 3; ++definition)
    for (int pods = 0; pods < 10; ++pods) {
      run(0);
      const Companies::Asked asked{kRule, definition, rule, kRules, s.cluster().images()};
      EXPECT_TRUE(versions.insert(companies.preferences_of(asked, s.cluster().counts(), s.cluster()).version()).second);
    }
}

TEST_F(PodPreferencesTest, ImagesCountByTheNodesThatAreThere) {
  rule.images = {{kImageOfApp}, 1};
  define();
  tell(s, ImageSeen{kImageOfApp, 600 * kMiB, {NodeId(0u)}, {}});
  EXPECT_EQ(preferences().images()[0], 7) << "600 MiB on one of six nodes: 100 x (100 - 23) / 977";
  tell(s, NodeGone{NodeId(5u)});
  EXPECT_EQ(preferences().images()[0], 9) << "of five: 100 x (120 - 23) / 977";
}

TEST_F(PodPreferencesTest, TheirBytesAreOfAllThatTheyHaveByNode) {
  tell(s, ImageSeen{kImageOfApp, kMiB, {NodeId(0u)}, {}});
  const NodeRules::Amount one = [](const Constraint&, const NodeFacts&) { return 1; };
  const NodeRules with_facts(allows_its_zone, is_in_its_zone, has_no_taint, one, one);
  Constraint spreading, of_images, by_facts;
  spreading.prefers_spread = {{.selector = kWebApps, .topology = kNameOf}};
  of_images.images = {{kImageOfApp}, 1};
  by_facts.preferred = {{1, NodeTerm{}}};
  const std::vector<std::size_t> before{bytes_of(spreading, kRules), bytes_of(of_images, kRules),
                                        bytes_of(by_facts, with_facts)};
  for (std::uint32_t n = 6; n < 106; ++n) see(n, kZones[0]);
  EXPECT_GE(bytes_of(spreading, kRules), before[0] + 100 * 4 + 100 / 8) << "pods by name, and a bit for each node";
  EXPECT_GE(bytes_of(of_images, kRules), before[1] + 100);
  EXPECT_GE(bytes_of(by_facts, with_facts), before[2] + std::size_t{100} * 8) << "weights and taints";
}

}  // namespace
}  // namespace ashlar
