#include "config/profile_file.h"

#include <algorithm>
#include <array>

#include "config/yaml/profile.h"
#include "policy/score/fgd/mix_limit.h"
#include "text/nearest_name.h"
#include "text/text_file.h"

namespace ashlar::config {
namespace {

constexpr std::string_view kRanks[] = {"duration", "estimate"};
constexpr Millis kEndLagMax{3'600'000};

template <class Policy>
std::vector<std::string_view> names_of(std::span<const Policy> table) {
  std::vector<std::string_view> names;
  for (const Policy& p : table) names.push_back(p.name);
  return names;
}

template <class Policy>
const Policy* policy_of(YamlReader& reader, const YAML::Node& node, std::span<const Policy> table,
                        std::string_view kind) {
  const std::string name = reader.scalar(node, kind);
  for (const Policy& p : table)
    if (p.name == name) return &p;
  if (reader.is_ok())
    reader.fail(node,
                "unknown " + std::string(kind) + " policy \"" + name + "\"" + did_you_mean(name, names_of(table)));
  return nullptr;
}

void read_feasible(YamlReader& reader, const YAML::Node& node, Profile& profile) {
  if (!node.IsDefined() || !reader.is_list(node, "feasible")) return;
  profile.feasible.clear();
  for (const auto& item : node) {
    const FeasiblePolicy* policy = policy_of(reader, item, feasible_policies(), "feasible");
    if (policy == nullptr) return;
    if (std::find(profile.feasible.begin(), profile.feasible.end(), policy) != profile.feasible.end())
      return reader.fail(item, "\"" + std::string(policy->name) + "\" is listed twice in feasible");
    profile.feasible.push_back(policy);
  }
}

void read_tiers(YamlReader& reader, const YAML::Node& node, Profile& profile) {
  if (!node.IsDefined() || !reader.is_list(node, "tiers")) return;
  profile.tiers.clear();
  if (node.size() > Profile::kTiersMax)
    return reader.fail(node, "at most " + std::to_string(Profile::kTiersMax) + " tiers are compared, not " +
                                 std::to_string(node.size()));
  for (const auto& item : node) {
    if (!reader.is_list(item, "a tier")) return reader.fail(item, "a tier must be a list of score policies");
    std::vector<const ScorePolicy*> tier;
    for (const auto& entry : item) {
      const ScorePolicy* policy = policy_of(reader, entry, score_policies(), "score");
      if (policy == nullptr) return;
      if (std::find(tier.begin(), tier.end(), policy) != tier.end())
        return reader.fail(entry, "\"" + std::string(policy->name) + "\" is listed twice in one tier");
      tier.push_back(policy);
      if (tier.size() > 1 && (is_exclusive(*policy) || is_exclusive(*tier[0])))
        return reader.fail(entry, must_be_alone(is_exclusive(*policy) ? *policy : *tier[0]));
    }
    profile.tiers.push_back(std::move(tier));
  }
}

FgdSample mix_class_of(YamlReader& reader, const YAML::Node& node) {
  FgdSample sample;
  if (!reader.is_map(node, "a class of the mix", {"cpu", "cards", "gpuMilli", "models", "count"})) {
    reader.fail(node, "a class of the mix must be a map");
    return sample;
  }
  sample.cpu_milli = reader.amount(node, "cpu", 0, 1000);
  sample.devices = static_cast<std::int32_t>(reader.integer(node, "cards", 0, 0, kDevicesPerNodeMax));
  sample.milli_each = static_cast<std::int32_t>(
      reader.integer(node, "gpuMilli", sample.devices > 0 ? kWholeDevice : 0, 0, kWholeDevice));
  for (const std::string& model : reader.texts(node, "models"))
    sample.models_text += (sample.models_text.empty() ? "" : "|") + model;
  sample.count = reader.integer(node, "count", 1, 1, INT32_MAX);
  if (sample.devices > 1 && sample.milli_each != kWholeDevice)
    reader.fail(node, "a fractional GPU (gpuMilli below 1000) requires cards: 1");
  if (sample.devices > 0 && sample.milli_each == 0)
    reader.fail(node, "gpuMilli must be 1 to 1000 where cards is not 0");
  return sample;
}

void read_mix(YamlReader& reader, const YAML::Node& node, ProfileSpec& spec) {
  if (!node.IsDefined() || !reader.is_map(node, "mix", {"podList", "classes"})) return;
  if (node["podList"].IsDefined() == node["classes"].IsDefined())
    return reader.fail(node, "mix takes either podList or classes");
  if (node["podList"].IsDefined()) {
    const std::string file = path_beside(reader.file(), reader.text(node, "podList", ""));
    Result<std::vector<FgdSample>> sample = reader.is_ok() ? read_pod_list(file) : std::vector<FgdSample>{};
    if (!sample) return reader.fail(node["podList"], sample.error().message);
    spec.files.push_back(file);
    spec.sample = std::move(*sample);
    return;
  }
  if (reader.is_list(node["classes"], "classes"))
    for (const auto& item : node["classes"]) spec.sample.push_back(mix_class_of(reader, item));
}

void read_replay(YamlReader& reader, const YAML::Node& node, ReplayRules& replay) {
  if (!node.IsDefined() || !reader.is_map(node, "replay", {"rank", "endLag"})) return;
  replay.ranks_by_estimate = reader.choice(node, "rank", replay.ranks_by_estimate ? 1 : 0, kRanks) == 1;
  replay.end_lag = reader.duration(node, "endLag", replay.end_lag);
  if (reader.is_ok() && replay.end_lag > kEndLagMax) reader.fail(node["endLag"], "endLag must be at most 1h");
}

void check(YamlReader& reader, const YAML::Node& node, const Profile& profile) {
  const std::optional<ProfileProblem> problem = validate(profile);
  if (!reader.is_ok() || !problem) return;
  const YAML::Node part = node[std::string(problem->key)];
  reader.fail(part.IsDefined() ? part : node, problem->text);
}

}  // namespace

ProfileSpec profile_of(YamlReader& reader, const YAML::Node& node, bool needs_kind) {
  ProfileSpec spec;
  if (needs_kind) reader.refuse_other_kind(node, "Profile");
  if (!reader.is_map(node, "the profile",
                     {"apiVersion", "kind",       "name",     "base",         "feasible", "tiers", "card",
                      "order",      "queueOrder", "blocking", "placement",    "victim",   "grace", "ageing",
                      "halfLife",   "cadence",    "seed",     "domainSearch", "mix",      "replay"})) {
    reader.fail(node, "the profile must be a map");
    return spec;
  }
  if (needs_kind) reader.expect_kind(node, "Profile");
  Profile& p = spec.profile;
  if (const std::string base = reader.text(node, "base", ""); !base.empty()) {
    Result<Profile> built_in = builtin_profile(base);
    if (!built_in)
      reader.fail(node["base"], "base must be a built-in profile; " + built_in.error().message);
    else
      p = std::move(*built_in);
  }
  p.name = reader.text(node, "name", p.name.empty() ? "custom" : p.name);
  read_feasible(reader, node["feasible"], p);
  add_mandatory_rules(p.feasible);
  read_tiers(reader, node["tiers"], p);
  if (node["card"].IsDefined()) p.device = policy_of(reader, node["card"], device_policies(), "card");
  if (node["order"].IsDefined()) p.order = policy_of(reader, node["order"], order_policies(), "order");
  if (node["queueOrder"].IsDefined())
    p.queue_order = policy_of(reader, node["queueOrder"], queue_order_policies(), "queue order");
  p.blocking =
      static_cast<Blocking>(reader.choice(node, "blocking", static_cast<std::size_t>(p.blocking), kBlockingNames));
  p.placement = static_cast<PlacementRule>(
      reader.choice(node, "placement", static_cast<std::size_t>(p.placement), kPlacementNames));
  p.victim = static_cast<VictimRule>(reader.choice(node, "victim", static_cast<std::size_t>(p.victim), kVictimNames));
  p.grace = reader.duration(node, "grace", p.grace);
  p.ageing = reader.duration(node, "ageing", p.ageing);
  if (p.ageing > Profile::kAgeingMax) reader.fail(node["ageing"], "ageing: at most 366 days");
  p.half_life = reader.duration(node, "halfLife", p.half_life);
  if (p.half_life > Profile::kHalfLifeMax) reader.fail(node["halfLife"], "halfLife: at most 366 days");
  p.cadence = reader.duration(node, "cadence", p.cadence);
  p.seed = static_cast<std::uint64_t>(reader.integer(node, "seed", static_cast<std::int64_t>(p.seed), 0, INT64_MAX));
  spec.has_seed = node["seed"].IsDefined();
  p.is_default_domain_search = reader.boolean(node, "domainSearch", p.is_default_domain_search);
  read_mix(reader, node["mix"], spec);
  read_replay(reader, node["replay"], p.replay);
  check(reader, node, p);
  return spec;
}

Result<void> ProfileSpec::check_mix() const {
  if (!profile.needs_mix()) return {};
  if (const std::string problem = mix_problem(make_mix(sample)); !problem.empty())
    return invalid("profile \"" + profile.name + "\": " + problem);
  if (!sample.empty() || !profile.mix.is_empty()) return {};
  return invalid(
      "profile \"" + profile.name +
      "\" scores by fgd, which needs a mix of expected pods: use a profile file with mix.podList or mix.classes");
}

Profile resolved(ProfileSpec spec, const ModelOf& model_of) {
  if (spec.sample.empty()) return std::move(spec.profile);
  for (FgdSample& sample : spec.sample) {
    std::string_view rest = sample.models_text;
    while (!rest.empty()) {
      const std::size_t bar = std::min(rest.find('|'), rest.size());
      if (bar > 0) sample.models.push_back(model_of(rest.substr(0, bar)));
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
  }
  spec.profile.mix = make_mix(std::move(spec.sample));
  return std::move(spec.profile);
}

Result<ProfileSpec> parse_profile(std::string_view text, const std::string& file) {
  YamlReader reader(file);
  const YAML::Node node = reader.document(text);
  ProfileSpec spec = profile_of(reader, node, true);
  if (!reader.is_ok()) return reader.error();
  return spec;
}

Result<ProfileSpec> read_profile(const std::string& file) {
  const Result<std::string> text = read_text_file(file, YamlReader::kBytesMax);
  if (!text) return text.error();
  Result<ProfileSpec> spec = parse_profile(*text, file);
  if (spec) spec->files.push_back(file);
  return spec;
}

Result<ProfileSpec> find_profile(const std::string& name_or_file, const std::string& folder) {
  const bool is_file =
      name_or_file.find('/') != std::string::npos || name_or_file.ends_with(".yaml") || name_or_file.ends_with(".yml");
  if (is_file) return read_profile(folder.empty() ? name_or_file : path_beside(folder + "/x", name_or_file));
  Result<Profile> built_in = builtin_profile(name_or_file);
  if (!built_in) return built_in.error();
  return ProfileSpec{.profile = std::move(*built_in), .sample = {}, .files = {}};
}

Result<ProfileSpec> find_whole_profile(const std::string& name_or_file, const std::string& folder) {
  Result<ProfileSpec> spec = find_profile(name_or_file, folder);
  if (!spec) return spec;
  if (const Result<void> checked = spec->check_mix(); !checked) return checked.error();
  return spec;
}

}  // namespace ashlar::config
