#include "live/track/gangs/group_settings.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

#include "kubeclient/bind_outcome.h"
#include "kubeclient/pod_builder.h"
#include "live/track/gang_table.h"
#include "model/gang.h"
#include "text/nearest_name.h"

namespace ashlar::kube {
namespace {

constexpr std::string_view kKeys[] = {kGangLabel, kGangSizeLabel, kGangRankAnnotation, kGangWithinAnnotation};
constexpr std::string_view kGangKeys = "ashlar.dev/gang-";
constexpr std::size_t kLabelKeyMax = 253 + 1 + 63;  ///< prefix, slash and name
constexpr std::uint32_t kRankMax = 1'000'000;       ///< a larger number is a typing error

/// A whole number of these bounds. False, and `problem` says why, if it is none.
bool read_number(std::string_view key, std::string_view text, std::uint32_t least, std::uint32_t most,
                 GroupSettings& into, std::uint32_t& number) {
  std::uint32_t read = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error == std::errc() && end == text.data() + text.size() && read >= least && read <= most) {
    number = read;
    return true;
  }
  into.problem =
      PooledString("annotation " + std::string(key) + " is '" + std::string(text.substr(0, 64)) +
                   "'; it must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return false;
}

bool is_one_of_ours(std::string_view key) { return std::ranges::find(kKeys, key) != std::end(kKeys); }

/// What is wrong with an annotation of ours; empty if nothing is, or if it is another's business.
std::string problem_of_annotation(std::string_view key) {
  const std::string start = "annotation " + std::string(key);
  if (key == kWithinLabel)
    return start + " belongs on the pods; for the PodGroup use spec.schedulingConstraints, for all groups of a gang " +
           std::string(kGangWithinAnnotation);
  if (key == kPreferLabel) return start + " belongs on the pods";
  if (const std::string_view meant = meant_key(key, kKeys); !meant.empty())
    return start + " is not a known key" + meant_text(meant);
  const bool is_unknown = key.starts_with(kGangKeys) && !is_one_of_ours(key);
  return is_unknown ? start + " is not a known key" : std::string();
}

/// The first key of ours that is not known, or is in the wrong place.
std::string misplaced_key(const PodGroup& group) {
  constexpr std::size_t kLooksMax = 32;  // a tenant may write thousands
  std::size_t looks = 0;
  for (const auto& [key, value] : group.annotations) {
    if (!is_our_annotation(key.view())) continue;
    if (++looks > kLooksMax) break;
    if (std::string problem = problem_of_annotation(key.view()); !problem.empty()) return problem;
  }
  for (const auto& [key, value] : group.labels)
    if (is_one_of_ours(key.view()) || key == PooledString(kWithinLabel) || key == PooledString(kPreferLabel))
      return "label " + key.str() + " of a PodGroup has no effect; " +
             (is_one_of_ours(key.view()) ? "write it as an annotation" : "it belongs on the pods");
  return {};
}

std::string problem_of_name(const PooledString& name) {
  if (bounded_words(name.view(), kDetailMax) != name.view())
    return "annotation ashlar.dev/gang is not a valid name: it has control characters, or is too long";
  if (name.view().find('/') != std::string_view::npos)
    return "annotation ashlar.dev/gang is not a valid name: it has a slash";
  return {};
}

}  // namespace

GroupSettings read_group_settings(const PodGroup& group) {
  GroupSettings s;
  const auto find = [&](std::string_view key) { return find_label(group.annotations, key); };
  if (const std::string misplaced = misplaced_key(group); !misplaced.empty()) s.problem = PooledString(misplaced);
  const PooledString* name = find(kGangLabel);
  if (name == nullptr || name->empty()) {
    for (const std::string_view key : kKeys)
      if (s.problem.empty() && find(key) != nullptr)
        s.problem =
            PooledString("annotation " + std::string(key) +
                         (key == kGangLabel ? " is empty; name the gang, or remove the annotation"
                                            : " needs ashlar.dev/gang; name the gang, or remove the annotation"));
    return s;
  }
  if (const std::string problem = problem_of_name(*name); !problem.empty()) {
    s.problem = PooledString(problem);
    return s;
  }
  s.gang = *name;
  if (const PooledString* within = find(kGangWithinAnnotation)) {
    s.within = *within;
    if (within->view().size() > kLabelKeyMax) {
      s.within = PooledString();
      s.problem = PooledString("annotation " + std::string(kGangWithinAnnotation) + " is longer than a label key");
    }
  }
  if (const PooledString* rank = find(kGangRankAnnotation))
    read_number(kGangRankAnnotation, rank->view(), 0, kRankMax, s, s.rank);
  if (const PooledString* size = find(kGangSizeLabel))
    read_number(kGangSizeLabel, size->view(), 1, GangSpec::kGroupsMax, s, s.size);
  else if (s.problem.empty())
    s.problem = PooledString("annotation ashlar.dev/gang-size is missing; state how many PodGroups gang " +
                             s.gang.str() + " has");
  return s;
}

}  // namespace ashlar::kube
