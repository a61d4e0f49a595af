#include "live/track/gangs/group_settings.h"

#include <charconv>
#include <string>

#include "kubeclient/bind_outcome.h"
#include "kubeclient/pod_builder.h"
#include "live/track/gang_table.h"
#include "model/gang.h"
#include "text/nearest_name.h"

namespace ashlar::kube {
namespace {

constexpr std::string_view kGangRankAnnotation = "ashlar.dev/gang-rank";
constexpr std::string_view kKeys[] = {kGangLabel, kGangSizeLabel, kGangRankAnnotation, kGangWithinAnnotation};
constexpr std::uint32_t kRankMax = 1'000'000;  ///< a larger number is a typing error

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

/// The first key of ours that is nearly one of those above; empty if there is none.
std::string mistyped_key(const PodGroup& group) {
  constexpr std::size_t kLooksMax = 32;  // a tenant may write thousands
  std::size_t looks = 0;
  for (const auto& [key, value] : group.annotations) {
    if (!is_our_annotation(key.view())) continue;
    if (++looks > kLooksMax) break;
    if (const std::string_view meant = meant_key(key.view(), kKeys); !meant.empty())
      return "annotation " + key.str() + " is not a known key" + meant_text(meant);
  }
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
  if (const std::string mistyped = mistyped_key(group); !mistyped.empty()) s.problem = PooledString(mistyped);
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
  if (const PooledString* within = find(kGangWithinAnnotation)) s.within = *within;
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
