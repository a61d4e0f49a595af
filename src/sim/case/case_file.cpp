#include "sim/case/case_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "base/grown.h"
#include "config/profile_file.h"
#include "sim/case/reading.h"
#include "sim/scenario/units.h"
#include "state/cluster/topology.h"
#include "state/queues/queue_tree.h"
#include "text/amount_text.h"
#include "text/duration_text.h"
#include "text/nearest_name.h"

namespace ashlar::sim {
namespace {

template <class Policy>
const Policy* take_policy(Words& words, const KeyValue& setting, std::span<const Policy> table) {
  std::vector<std::string_view> names;
  for (const Policy& policy : table) names.push_back(policy.name);
  return &table[take_choice(words, setting, names)];
}

void take_tiers(Words& words, const KeyValue& setting, Profile& profile) {
  profile.tiers.clear();
  for (const std::string_view tier : split(setting.value, '/')) {
    profile.tiers.emplace_back();
    for (const std::string_view policy : split(tier, '+'))
      profile.tiers.back().push_back(take_policy(words, {"score policy", policy, true}, score_policies()));
  }
}

void take_profile_setting(Words& words, Profile& profile) {
  constexpr std::string_view kSettings[] = {"blocking", "placement", "victim",      "order", "card",
                                            "score",    "cadence",   "queue-order", "grace", "seed",
                                            "shares",   "half-life", "ageing"};
  const KeyValue setting = key_value(words.take("a setting such as blocking=strict"));
  const std::string_view value = setting.value;
  switch (take_choice(words, {"profile setting", setting.key, true}, kSettings)) {
    case 0:
      profile.blocking = static_cast<Blocking>(take_choice(words, setting, kBlockingNames));
      break;
    case 1:
      profile.placement = static_cast<PlacementRule>(take_choice(words, setting, config::kPlacementNames));
      break;
    case 2:
      profile.victim = static_cast<VictimRule>(take_choice(words, setting, config::kVictimNames));
      break;
    case 3:
      profile.order = take_policy(words, setting, order_policies());
      break;
    case 4:
      profile.device = take_policy(words, setting, device_policies());
      break;
    case 5:
      take_tiers(words, setting, profile);
      break;
    case 6:
      profile.cadence = take_duration(words, value);
      break;
    case 7:
      profile.queue_order = take_policy(words, setting, queue_order_policies());
      break;
    case 8:
      profile.grace = take_duration(words, value);
      break;
    case 11:
      profile.half_life = take_duration(words, value);
      if (profile.half_life > Profile::kHalfLifeMax) words.fail("a half-life is at most 366 days", "half-life=1d");
      break;
    case 12:
      profile.ageing = take_duration(words, value);
      if (profile.ageing > Profile::kAgeingMax) words.fail("ageing is at most 366 days", "ageing=10m");
      break;
    case 10:
      profile.queue_order =
          value == "off" ? &default_queue_order() : take_policy(words, setting, queue_order_policies());
      break;
    default:
      if (value.empty() || value.find_first_not_of("0123456789") != std::string_view::npos || value.size() > 18)
        words.fail(fmt::format("\"{}\" is not a seed", value), "a whole number of at most 18 digits");
      std::from_chars(value.data(), value.data() + value.size(), profile.seed);
  }
}

void read_profile(CaseReading& c, Words& words) {
  Result<Profile> profile = builtin_profile(words.take("the name of a profile"));
  if (!profile) return words.fail(profile.error().message);
  const Millis grace = c.file.profile.grace;  // of a statement before it
  c.file.profile = *profile;
  c.file.profile.grace = grace;
  while (!words.is_at_end()) take_profile_setting(words, c.file.profile);
  if (words.has_failed()) return;
  if (const std::optional<ProfileProblem> problem = validate(c.file.profile)) words.fail(problem->text);
  if (c.file.profile.needs_mix())
    words.fail("fgd needs a mix of expected pods, which a case cannot give", "another score and card policy");
  if (c.has_profile) words.fail("the profile is given twice; it applies to the whole case");
  if (c.file.names.jobs.size() > 0)
    words.fail("the profile must come before the first job; it applies to the whole case");
  c.has_profile = true;
}

void read_binding(CaseReading& c, Words& words) { c.file.binding = words.take_time(); }

/// The same as the profile's setting `grace`.
void read_stopping(CaseReading& c, Words& words) {
  c.file.profile.grace = words.take_time();
  if (words.has_failed()) return;
  if (const std::optional<ProfileProblem> problem = validate(c.file.profile)) words.fail(problem->text);
}

void read_show(CaseReading& c, Words& words) {
  constexpr std::string_view kShown[] = {"reasons", "queues", "nodes", "examined", "stops"};
  do {
    const std::string_view what = words.take(or_list(kShown));
    switch (take_choice(words, {"word", what, true}, kShown)) {
      case 0:
        c.file.shows.reasons = true;
        break;
      case 1:
        c.file.shows.queues = true;
        break;
      case 2:
        c.file.shows.nodes = true;
        break;
      case 3:
        c.file.shows.examined = true;
        break;
      default:
        c.file.shows.stops = true;
    }
  } while (!words.is_at_end());
}

void read_tick(CaseReading& c, Words& words) {
  const Millis at = take_at(c, words);
  if (!words.has_failed()) add_event(c, at, EventBody(Tick{}));
}

struct Statement {
  std::string_view word;
  void (*read)(CaseReading& c, Words& words);
  std::string_view form;
};

constexpr Statement kStatements[] = {
    {"cluster", read_cluster, "cluster 4 x h100x8"},
    {"node", read_node, "node NAME h100x8"},
    {"class", read_class, "class NAME models h100-sxm,h100-pcie capabilities fp8,nvlink"},
    {"levels", read_levels, "levels block rack"},
    {"queue", read_queue, "queue NAME quota gpu=16"},
    {"profile", read_profile, "profile ashlar"},
    {"binding", read_binding, "binding 1s"},
    {"stopping", read_stopping, "stopping 30s"},
    {"show", read_show, "show reasons"},
    {"job", read_job, "job NAME 4 gpu at 0s"},
    {"gang", read_gang, "gang NAME 2 x 4 gpu within rack at 0s"},
    {"foreign", read_foreign, "foreign NAME 4 gpu on node0 at 0s"},
    {"grow", read_grow, "grow NAME 2 x 4 gpu at 1s"},
    {"leaving", read_leaving, "leaving NAME at 5s"},
    {"end", read_end, "end NAME at 5s"},
    {"reject", read_reject, "reject NAME/0 at 1s"},
    {"bind", read_bind, "bind NAME node0 at 1s"},
    {"evict", read_evict, "evict NAME at 1s"},
    {"priority", read_priority, "priority NAME 100 at 1s"},
    {"estimate", read_estimate, "estimate NAME 60s p90 90s at 1s"},
    {"checkpoint", read_checkpoint, "checkpoint NAME at 1s"},
    {"nominate", read_nominate, "nominate NAME node0 at 1s"},
    {"reserve", read_reserve, "reserve NAME 4 gpu on node0 until 60s at 1s"},
    {"maintenance", read_maintenance, "maintenance node0 until 60s at 1s"},
    {"add", read_add, "add node h100x8 at 4s"},
    {"change", read_change, "change node0 labels zone=a at 1s"},
    {"cordon", read_cordon, "cordon node0 at 1s"},
    {"uncordon", read_uncordon, "uncordon node0 at 1s"},
    {"device-health", read_device_health, "device-health node0 2 unhealthy at 1s"},
    {"lose", read_lose, "lose node0 at 1s"},
    {"drain", read_drain, "drain node0 at 1s"},
    {"quota", read_quota, "quota NAME gpu=16 at 1s"},
    {"guarantee", read_guarantee, "guarantee NAME gpu=8 at 1s"},
    {"weight", read_weight, "weight NAME 2 at 1s"},
    {"usage", read_usage, "usage NAME gpu=10h at 1s"},
    {"hold", read_hold, "hold queue NAME at 1s"},
    {"stop", read_stop, "stop queue NAME at 1s"},
    {"release", read_release, "release queue NAME at 1s"},
    {"tick", read_tick, "tick at 1s"},
};

/// One statement; false and an error in `words` if it is none.
void read_statement(CaseReading& c, Words& words) {
  const std::string_view first = words.take("a statement");
  std::vector<std::string_view> known;
  for (const Statement& statement : kStatements) {
    known.push_back(statement.word);
    if (statement.word != first) continue;
    statement.read(c, words);
    if (!words.has_failed() && !words.is_at_end()) {
      const std::string_view word = words.take("the end of the line");
      words.fail(fmt::format("unexpected word \"{}\" after the statement", word),
                 fmt::format("a line such as \"{}\"", statement.form));
    }
    return;
  }
  words.fail(fmt::format("unknown statement \"{}\"{}", first, did_you_mean(first, known)));
}

/// Whether the line could be one of a block: "queue NAME  unused", "node NAME  idle=8/8".
bool is_of_queue_or_node(const Words& words) {
  const std::string_view third = words.peek(2);
  if (words.peek() == "node") return third.empty() || third == "gone" || third.starts_with("idle=");
  return words.peek() == "queue" && (third == "unused" || third.find('=') != std::string_view::npos);
}

/// What stands directly after a block would be taken for its last lines, and be overwritten by `case --update`.
void check_line_of_block(const CaseReading& c, Words& words) {
  const bool is_statement = std::ranges::find(kStatements, words.peek(), &Statement::word) != std::end(kStatements);
  if (!is_statement || is_of_queue_or_node(words) || !c.file.names.jobs.find(words.peek()).is_none()) return;
  const std::string_view word = words.take("a line of the block");
  words.fail(fmt::format("the statement \"{}\" stands directly after a block", word), "an empty line before it");
}

/// The clock of the blocks: statements after a block must not be earlier.
void open_block(CaseReading& c, Words& words) {
  words.take("----");
  if (!words.accept("at")) {
    words.take("at");
    words.fail("a block needs a time", "\"---- at 1s\"");
  }
  const Millis at = words.take_time();
  if (words.has_failed()) return;
  if (at < c.latest || at <= c.block_at)
    words.fail("blocks must be in order of time, after the statements that they show");
  c.block_at = c.latest = at;
  c.file.blocks.push_back({at, words.number(), words.number() + 1, words.number() + 1});
}

}  // namespace

Result<CaseFile> read_case(std::string_view text, std::string_view where) {
  CaseFile file;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
  for (const std::string_view line : split(text, '\n')) file.lines.emplace_back(line);
  if (!file.lines.empty() && file.lines.back().empty()) file.lines.pop_back();
  Result<Profile> profile = builtin_profile("ashlar");
  if (!profile) return profile.error();
  file.profile = *profile;
  CaseReading reading{.file = file};
  find_levels(reading);
  reading.keeps_pods_away = std::ranges::any_of(
      file.lines, [](const std::string& line) { return line.find("pod-anti-affinity") != std::string::npos; });
  const auto located = [&](const CaseError& e) {
    return invalid(fmt::format("{}:{}:{}: {}", where, e.line, e.column, e.message));
  };
  bool is_in_block = false;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    Words words(file.lines[i], number);
    const bool is_header = words.peek().starts_with("--");
    if (is_header) {
      open_block(reading, words);
      is_in_block = true;
    } else if (is_in_block && file.lines[i].find_first_not_of(" \t\r") == std::string::npos) {
      is_in_block = false;
    } else if (is_in_block) {
      file.blocks.back().end_line = number + 1;
      check_line_of_block(reading, words);
    } else if (!words.is_at_end()) {
      read_statement(reading, words);
    }
    if (words.error()) return located(*words.error());
  }
  if (const std::optional<CaseError> error = missing_parent(reading)) return located(*error);
  if (file.names.levels.size() > Topology::kLevelsMax)
    return located(
        {1, 1,
         fmt::format("the case has {} levels; expected at most {}", file.names.levels.size(), Topology::kLevelsMax)});
  if (file.blocks.empty())
    return located({static_cast<int>(file.lines.size()) + 1, 1,
                    "the case has no block; expected one such as \"---- at 1s\" with a line per job"});
  if (reading.facts.empty())
    return located({1, 1, "the case has no nodes; expected \"cluster 2 x h100x8\" or \"node NAME h100x8\""});
  return file;
}

}  // namespace ashlar::sim
