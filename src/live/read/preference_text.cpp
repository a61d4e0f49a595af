#include "live/read/preference_text.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "engine/explain/preferences_met.h"
#include "live/read/pod_text.h"
#include "live/read/words/selector_text.h"
#include "text/amount_text.h"

namespace ashlar::kube {
namespace {

constexpr std::array<std::string_view, 6> kKinds = {"NodeAffinity", "SoftTaints", "PodAffinity",
                                                    "OtherPods",    "Spread",     "Images"};

/// The words about one pod's preferences.
class Words {
 public:
  Words(const TextContext& context, const Profile& profile, const Member& member, const PreferencesMet& met)
      : c_(context),
        names_(context.tables.names),
        profile_(profile),
        member_(member),
        constraint_(context.state.cluster().constraint(member.constraint)),
        met_(met) {}

  /// "node affinity (weight 80) disktype in (ssd)".
  std::string subject(const PreferenceMet& one) const {
    switch (one.kind) {
      case PreferenceKind::kNodeAffinity: {
        const ashlar::PreferredTerm& term = constraint_.preferred[one.index];
        return "node affinity (weight " + std::to_string(term.weight) + ") " + expressions_text(names_, term.term.all);
      }
      case PreferenceKind::kSoftTaints:
        return "PreferNoSchedule taints";
      case PreferenceKind::kPods: {
        const PodPreference& term = preference(one.index);
        return std::string(term.weight > 0 ? "pod affinity" : "pod anti-affinity") + " (weight " +
               std::to_string(std::abs(term.weight)) + ") to " + pods_text(term.selector) + " by " +
               names_.label_keys.name(term.topology).str();
      }
      case PreferenceKind::kDrawn:
        return "what affinity of placed pods says of it";
      case PreferenceKind::kImages:
        return "images that the node has";
      case PreferenceKind::kSpread:
        break;
    }
    const SpreadTerm& term = constraint_.prefers_spread[one.index];
    return std::string(term.requires_all_labels ? "" : "default ") + "spread (maxSkew " +
           std::to_string(term.skew_max) + ") of " + pods_text(term.selector) + " by " +
           names_.label_keys.name(term.topology).str();
  }

  /// "not met", "2 pods in its domain, 3 in the best".
  std::string amount(const PreferenceMet& one) const {
    switch (one.kind) {
      case PreferenceKind::kNodeAffinity:
        return one.here > 0 ? "met" : "not met";
      case PreferenceKind::kSoftTaints:
        return beside(-one.here, -one.most, one, " not tolerated", " on the best node");
      case PreferenceKind::kPods: {
        const std::int64_t weight = preference(one.index).weight;
        return beside(one.here / weight, one.most / weight, one, such_pods(one.here / weight), " in the best");
      }
      case PreferenceKind::kImages:
        return beside(one.here, one.most, one, " of 100 points", " on the best node");
      case PreferenceKind::kDrawn:
        return "weights add up to " + beside(one.here, one.most, one, "", " on the best node");
      case PreferenceKind::kSpread:
        break;
    }
    if (one.here == PreferenceMet::kNoDomain) return "its node does not have the label";
    return beside(-one.here, -one.most, one, such_pods(-one.here), " in the emptiest");
  }

  /// What a node that is better in it would have cost; empty: there is none.
  std::string cost(const PreferenceMet& one) const {
    if (one.better == 0) return {};
    if (one.best.is_none()) {
      std::string refused = refused_text(c_, member_.job, one.refused_by);
      if (one.outside > 0)
        refused += (refused.empty() ? "" : ", ") + std::to_string(one.outside) + " outside the domain of its gang";
      return node_count_text(one.better) + (one.better == 1 ? " is" : " are") +
             " better in this and would not take it (" + refused + ")";
    }
    const std::string node = names_.nodes.name(one.best).str();
    if (!met_.is_open) return node + " is better in this and would take it now, unlike its own node";
    if (!one.decided_by) return node + " is better in this and ranks alike";
    const PreferenceMet::Tier& by = *one.decided_by;
    const std::string points = std::to_string(by.there) + " points against " + std::to_string(by.here) + " here";
    if (by.there > by.here)
      return node + " is better in this and would rank first now: " + tier_text(by.number) + " " + points;
    return node + " is better in this, at the cost of " +
           (by.number == met_.tier ? "all preferences together" : tier_text(by.number)) + ": " + points;
  }

 private:
  const PodPreference& preference(std::uint32_t index) const {
    for (const PodPreference& term : constraint_.prefers_pods)
      if (!term.is_required && index-- == 0) return term;
    return constraint_.prefers_pods.front();
  }
  static std::string such_pods(std::int64_t count) {
    return count == 1 ? " such pod in its domain" : " such pods in its domain";
  }
  static std::string beside(std::int64_t here, std::int64_t best, const PreferenceMet& one, const std::string& what,
                            const std::string& of_best) {
    return std::to_string(here) + what + (one.here == one.most ? "" : ", " + std::to_string(best) + of_best);
  }
  std::string tier_text(std::size_t number) const {
    std::string text;
    for (const ScorePolicy* policy : profile_.tiers[number])
      text += (text.empty() ? "" : " + ") + std::string(policy->name);
    return text;
  }
  std::string pods_text(PodSelectorId id) const {
    const SelectorIndex& index = c_.state.cluster().counts().index();
    return selector_text(names_, index, id,
                         member_.labels.is_none() ? NamespaceId::none() : index.label_set(member_.labels).ns);
  }

  const TextContext& c_;
  const ObjectNames& names_;
  const Profile& profile_;
  const Member& member_;
  const Constraint& constraint_;
  const PreferencesMet& met_;
};

bool has_preferences(const PodRules& rules) {
  return !rules.preferred_affinity.empty() || !rules.preferred_pod_affinity.empty() ||
         !rules.preferred_anti_affinity.empty() || !rules.preferred_spread.empty();
}

}  // namespace

void write_preferences(JsonWriter& w, ReadReplica& replica, const PodRecord& pod) {
  if (!pod.is_ours || !pod.is_in_engine() || !replica.state().is_live(pod.member)) return;
  // a pod that another leader has placed stands under a constraint without its preferences
  if (pod.bind_attempt == 0) {
    if (pod.rules && has_preferences(*pod.rules))
      w.key("preferences")
          .begin_object()
          .member("unknown", "it was placed before this scheduler was the leader")
          .end_object();
    return;
  }
  const Profile& profile = replica.engine().profile();
  const std::optional<PreferencesMet> met = preferences_met(replica.state(), profile, pod.member);
  if (!met || met->terms.empty()) return;
  const TextContext context = replica.text_context();
  const Member member = replica.state().member(pod.member);
  const Words words(context, profile, member, *met);
  w.key("preferences").begin_object();
  if (met->is_open) w.member("points", std::int64_t{met->here}).member("pointsMost", std::int64_t{met->most});
  w.key("terms").begin_array();
  for (const PreferenceMet& one : met->terms) {
    w.begin_object().member("kind", kKinds[static_cast<std::size_t>(one.kind)]);
    w.member("message", words.subject(one) + ": " + words.amount(one)).member_bool("best", one.better == 0);
    if (const std::string cost = words.cost(one); !cost.empty()) w.member("cost", cost);
    w.end_object();
  }
  w.end_array().end_object();
}

}  // namespace ashlar::kube
