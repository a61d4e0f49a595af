#include "live/read/words/company_text.h"

#include <algorithm>
#include <vector>

#include "engine/explain/company_terms.h"
#include "live/read/words/selector_text.h"
#include "text/amount_text.h"
#include "text/short_list.h"

namespace ashlar::kube {
namespace {

/// The words about one reason of a job.
class CompanyWords {
 public:
  CompanyWords(const TextContext& context, JobId job, ReasonCode rule)
      : c_(context), names_(context.tables.names), rule_(rule) {
    c_.state.each_waiting(job, [&](MemberId, const Member& m) {
      if (m.labels.is_none()) return true;
      ns_ = c_.state.cluster().counts().index().label_set(m.labels).ns;
      return false;
    });
  }

  std::string of(const CompanyTerm& term) const {
    if (!term.is_on_nodes) return "no node has the label " + label(term) + probable_label(c_.tables, label(term));
    std::string text = term.closed > 0 || rule_ == ReasonCode::kPodAffinity ? of_domains(term) : std::string();
    if (term.nodes_without > 0)
      text += (text.empty() ? "" : "; ") + node_count_text(term.nodes_without) +
              (term.nodes_without == 1 ? " lacks" : " lack") + " the label" + (text.empty() ? " " + label(term) : "");
    return text;
  }

 private:
  std::string label(const CompanyTerm& term) const { return names_.label_keys.name(term.topology).str(); }

  /// "2 of 3 domains of topology.kubernetes.io/zone".
  std::string share_of(std::uint32_t part, const CompanyTerm& term) const {
    return std::to_string(part) + " of " + std::to_string(term.domains) + (term.domains == 1 ? " domain" : " domains") +
           " of " + label(term);
  }

  std::string of_domains(const CompanyTerm& term) const {
    const bool is_one = term.closed == 1;
    if (rule_ == ReasonCode::kOwnAntiAffinity)
      return share_of(term.closed, term) + (is_one ? " has " : " have ") + such_pods(term) + example(term);
    if (rule_ == ReasonCode::kPodAntiAffinity)
      return share_of(term.closed, term) + (is_one ? " has" : " have") + " pods that keep it away" + example(term);
    return rule_ == ReasonCode::kPodAffinity ? of_affinity(term) : of_spread(term);
  }

  std::string of_affinity(const CompanyTerm& term) const {
    const std::string pods = such_pods(term);
    if (pods == kNoPods)
      return "it names no pods: a term has no labelSelector, or its terms have no namespace in common";
    if (term.named.empty()) return "no domain of " + label(term) + " has " + pods;
    if (term.are_named_usable)
      return pods + " are in " + share_of(static_cast<std::uint32_t>(term.named.size()), term) + " (" + named(term) +
             ")";
    return pods + " are only in domains of " + label(term) + " whose nodes other rules exclude (" + named(term) + ")";
  }

  std::string of_spread(const CompanyTerm& term) const {
    std::string text = share_of(term.closed, term) + " would exceed maxSkew " + std::to_string(term.skew_max);
    if (term.domains_counted < static_cast<std::uint32_t>(std::max(term.domains_min, 0)))
      return text + " of " + such_pods(term) + ": the fewest count as 0, since there are fewer than minDomains " +
             std::to_string(term.domains_min);
    text += "; the fewest (" + std::to_string(term.fewest) + ") of " + such_pods(term) + " are in " + named(term);
    return term.are_named_usable ? text : text + ", whose nodes other rules exclude";
  }

  /// "a, b, c and 2 more".
  std::string named(const CompanyTerm& term) const {
    return short_list(term.named.size(), [&](std::size_t i) { return value_text(names_, term.named[i]); });
  }

  /// "pods with app=web", "pods".
  std::string such_pods(const CompanyTerm& term) const {
    const std::string text = selector_text(names_, c_.state.cluster().counts().index(), term.selector, ns_);
    if (text.starts_with("all pods")) return text.substr(4);
    return text == kNoPods ? text : "pods with " + text;
  }

  /// ", e.g. ns/web-0 on n0".
  std::string example(const CompanyTerm& term) const {
    if (term.example.is_none()) return {};
    const std::string node = names_.nodes.name(term.example).str();
    const PodTable& pods = c_.tables.pods;
    for (PodSlot slot = 0; slot < pods.slots(); ++slot)
      if (is_meant(pods[slot], term))
        return ", e.g. " + pods[slot].ns.str() + "/" + pods[slot].name.str() + " on " + node;
    return ", e.g. on " + node;
  }

  bool is_meant(const PodRecord& pod, const CompanyTerm& term) const {
    if (pod.node != term.example || !pod.is_in_engine() || !c_.state.is_live(pod.member)) return false;
    const Member& member = c_.state.member(pod.member);
    if (!member.is_placed()) return false;
    if (rule_ == ReasonCode::kOwnAntiAffinity)
      return !member.labels.is_none() && c_.state.cluster().counts().index().matches(term.selector, member.labels);
    const std::vector<PodTerm>& rules = c_.state.cluster().constraint(member.constraint).keeps_away;
    return std::ranges::count(rules, PodTerm{term.selector, term.topology}) > 0;
  }

  const TextContext& c_;
  const ObjectNames& names_;
  ReasonCode rule_;
  NamespaceId ns_;  ///< of the job's pods
};

}  // namespace

std::string company_text(const TextContext& context, JobId job, const Reason& reason) {
  const CompanyWords words(context, job, reason.code);
  std::string text;
  for (const CompanyTerm& term : company_terms(context.state, ConstraintId(reason.subject), reason.code))
    text += (text.empty() ? ": " : ", and ") + words.of(term);
  return text;
}

}  // namespace ashlar::kube
