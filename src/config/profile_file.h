// profile_file: a profile from YAML (docs/reference/configuration.md), or a built-in one by name. A profile may start
// from a built-in one (`base`) and change the keys it has; policies have the names of docs/reference/policies.md.
// Errors read FILE:LINE:COLUMN: what is wrong, and what was probably meant.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/profile.h"

namespace ashlar::config {

/// The values of `placement` and `victim`, by PlacementRule and VictimRule.
inline constexpr std::string_view kPlacementNames[] = {"scored", "consolidate"};
inline constexpr std::string_view kVictimNames[] = {"none", "by-quota-unverified", "priority", "lost-work", "kai",
                                                    "kueue"};

/// A profile and the pods from which its FGD mix is made. Accelerator models are still names, since their ids belong to
/// the caller that runs the engine.
struct ProfileSpec {
  Profile profile;
  std::vector<FgdSample> sample;   ///< models_text filled, models empty
  bool has_seed = false;           ///< the file states `seed`
  std::vector<std::string> files;  ///< what was read: the profile's file, its pod list; none of a built-in one

  /// Nothing, or an Error if one of its policies needs a mix (fgd) and there is none, or one that is too large.
  Result<void> check_mix() const;
};

/// The id of an accelerator model by name; called once per name and class.
using ModelOf = std::function<DeviceClassId(std::string_view model)>;
/// The profile with its mix made.
Profile resolved(ProfileSpec spec, const ModelOf& model_of);

/// `text` is the file's content; `file` is its name for errors and the base for relative names (podList).
Result<ProfileSpec> parse_profile(std::string_view text, const std::string& file);  // for tests
Result<ProfileSpec> read_profile(const std::string& file);
/// A built-in name, or a file if it names one (contains a slash or ends in .yaml or .yml). Relative to `folder` unless
/// empty.
Result<ProfileSpec> find_profile(const std::string& name_or_file, const std::string& folder = {});
/// The same, with check_mix().
Result<ProfileSpec> find_whole_profile(const std::string& name_or_file, const std::string& folder = {});

/// A pod list in openb columns (name,cpu_milli,memory_mib,num_gpu,gpu_milli and optionally gpu_spec, others ignored) as
/// a sample for make_mix. gpu_milli above 1000 counts as 1000. Plain text; errors name file, line and column.
Result<std::vector<FgdSample>> parse_pod_list(std::string_view text, const std::string& file);
Result<std::vector<FgdSample>> read_pod_list(const std::string& file);

}  // namespace ashlar::config
