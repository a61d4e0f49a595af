#include "sim/case/case_file.h"
#include "base/grown.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "sim/case/case_reader.h"
#include "sim/scenario/units.h"
#include "text/nearest_name.h"

namespace ashlar::sim {
namespace {

constexpr std::string_view kQuotaForm = "limits such as gpu=16, cpu=64 or memory=512GiB";

/// Row of "#99", none where the word is not of that form.
std::uint32_t row_in(std::string_view word) {
  std::uint32_t row = 0;
  if (!word.starts_with('#')) return Id<void>::kNoneValue;
  const auto [end, failure] = std::from_chars(word.data() + 1, word.data() + word.size(), row);
  return failure == std::errc() && end == word.data() + word.size() && row <= 1'000'000 ? row : Id<void>::kNoneValue;
}

std::string hint(std::string_view name, const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  return known.empty() ? std::string() : did_you_mean(name, names);
}

}  // namespace

std::span<const CaseReader::Statement> CaseReader::statements() {
  static constexpr Statement kTable[] = {
      {"cluster", &CaseReader::read_cluster, "cluster 4 x h100x8"},
      {"node", &CaseReader::read_node, "node NAME h100x8"},
      {"levels", &CaseReader::read_levels, "levels block rack"},
      {"queue", &CaseReader::read_queue, "queue NAME quota gpu=16"},
      {"profile", &CaseReader::read_profile, "profile ashlar"},
      {"binding", &CaseReader::read_binding, "binding 1s"},
      {"show", &CaseReader::read_show, "show reasons"},
      {"job", &CaseReader::read_job, "job NAME 4 gpu at 0s"},
      {"gang", &CaseReader::read_gang, "gang NAME 2 x 4 gpu within rack at 0s"},
      {"foreign", &CaseReader::read_foreign, "foreign NAME 4 gpu on node0 at 0s"},
      {"grow", &CaseReader::read_grow, "grow NAME 2 x 4 gpu at 1s"},
      {"end", &CaseReader::read_end, "end NAME at 5s"},
      {"reject", &CaseReader::read_reject, "reject NAME/0 at 1s"},
      {"bind", &CaseReader::read_bind, "bind NAME node0 at 1s"},
      {"evict", &CaseReader::read_evict, "evict NAME at 1s"},
      {"priority", &CaseReader::read_priority, "priority NAME 100 at 1s"},
      {"estimate", &CaseReader::read_estimate, "estimate NAME 60s at 1s"},
      {"nominate", &CaseReader::read_nominate, "nominate NAME node0 at 1s"},
      {"add", &CaseReader::read_add, "add node h100x8 at 4s"},
      {"change", &CaseReader::read_change, "change node0 labels zone=a at 1s"},
      {"cordon", &CaseReader::read_cordon, "cordon node0 at 1s"},
      {"uncordon", &CaseReader::read_uncordon, "uncordon node0 at 1s"},
      {"lose", &CaseReader::read_lose, "lose node0 at 1s"},
      {"drain", &CaseReader::read_drain, "drain node0 at 1s"},
      {"quota", &CaseReader::read_quota, "quota NAME gpu=16 at 1s"},
      {"tick", &CaseReader::read_tick, "tick at 1s"},
  };
  return kTable;
}

void CaseReader::read_statement(Words& words) {
  const std::string_view first = words.take("a statement");
  std::vector<std::string_view> known;
  for (const Statement& statement : statements()) {
    known.push_back(statement.word);
    if (statement.word != first) continue;
    (this->*statement.read)(words);
    if (!words.has_failed() && !words.is_at_end()) {
      words.take("nothing");
      words.fail("nothing is left to say here", fmt::format("a line such as \"{}\"", statement.form));
    }
    return;
  }
  words.fail(fmt::format("no statement begins with \"{}\"{}", first, did_you_mean(first, known)));
}

Millis CaseReader::take_at(Words& words) {
  Millis at = latest_;
  if (words.accept("at"))
    at = words.take_time();
  else if (!words.is_at_end()) {
    words.take("at");
    words.fail("the statement should be over", "\"at TIME\" or the end of the line");
  }
  if (words.has_failed()) return latest_;
  if (at < latest_)
    words.fail("statements stand in the order of time", fmt::format("at least {} ms, as above", latest_.value));
  else if (at <= block_at_)
    words.fail("this would have happened before the block above", fmt::format("a time after {} ms", block_at_.value));
  latest_ = std::max(latest_, at);
  return at;
}

void CaseReader::open_block(Words& words) {
  words.take("----");
  if (!words.accept("at")) {
    words.take("at");
    words.fail("a block says for which time it is", "\"---- at 1s\"");
  }
  const Millis at = words.take_time();
  if (words.has_failed()) return;
  if (at < latest_ || at <= block_at_) words.fail("blocks stand in the order of time, after what they show");
  block_at_ = latest_ = at;
  file_.blocks.push_back({at, words.number(), words.number() + 1, words.number() + 1});
}

NodeId CaseReader::take_node(Words& words, bool may_be_unknown) {
  const std::string_view name = words.take("the name of a node");
  if (may_be_unknown && row_in(name) != Id<void>::kNoneValue) return NodeId(row_in(name));
  const NodeId node = file_.names.nodes.find(name);
  if (node.is_none()) words.fail(fmt::format("there is no node \"{}\" at this point{}", name, hint(name, file_.names.nodes.all())));
  return node;
}

JobId CaseReader::take_job(Words& words, bool may_be_unknown) {
  const std::string_view name = words.take("the name of a job");
  if (may_be_unknown && row_in(name) != Id<void>::kNoneValue) return JobId(row_in(name));
  const JobId job = file_.names.jobs.find(name);
  if (job.is_none()) words.fail(fmt::format("there is no job \"{}\" at this point{}", name, hint(name, file_.names.jobs.all())));
  return job;
}

CaseReader::JobOrMember CaseReader::take_member(Words& words) {
  const KeyValue name = key_value(words.take("a job, or a member as \"NAME/0\""), '/');
  if (row_in(name.key) != Id<void>::kNoneValue) {  // rows that may never have existed
    const std::uint32_t row = row_in(name.key);
    return name.has_value ? JobOrMember{JobId::none(), MemberId(row)} : JobOrMember{JobId(row), MemberId::none()};
  }
  JobOrMember which{file_.names.jobs.find(name.key), MemberId::none()};
  if (which.job.is_none()) {
    words.fail(fmt::format("there is no job \"{}\" at this point{}", name.key, hint(name.key, file_.names.jobs.all())));
    return which;
  }
  if (!name.has_value) return which;
  const auto& members = file_.names.members[which.job.row()];
  std::size_t rank = members.size();
  std::from_chars(name.value.data(), name.value.data() + name.value.size(), rank);
  if (rank >= members.size())
    words.fail(fmt::format("\"{}\" is not a member of {}", name.value, name.key), fmt::format("0 to {}", members.size() - 1));
  else
    which.member = members[rank];
  return which;
}

LevelId CaseReader::take_level(Words& words) {
  const std::string_view name = words.take("the name of a level");
  const LevelId level = file_.names.levels.find(name);
  if (level.is_none())
    words.fail(fmt::format("this cluster has no level \"{}\"{}", name, hint(name, file_.names.levels.all())),
               "a level such as \"rack\" of \"cluster 8 x h100x8 racks of 4\"");
  return level;
}

QueueId CaseReader::take_queue(Words& words) {
  const std::string_view name = words.take("the name of a queue");
  const QueueId queue = file_.names.queues.find(name);
  if (queue.is_none()) words.fail(fmt::format("there is no queue \"{}\"{}", name, hint(name, file_.names.queues.all())));
  return queue;
}

void CaseReader::take_quota(Words& words, QuotaVector& quota) {
  while (!words.is_at_end() && words.peek() != "parent" && words.peek() != "at") {
    const KeyValue limit = key_value(words.take(kQuotaForm));
    const bool is_unlimited = limit.value == "unlimited";
    if (limit.key == "gpu") {
      const std::optional<MilliGpu> gpus = parse_gpus(limit.value);
      if (!gpus && !is_unlimited) words.fail(fmt::format("\"{}\" is not a limit", limit.value), kQuotaForm);
      quota[static_cast<std::size_t>(QuotaDimension::kMilliGpu)] = gpus ? gpus->value : kUnlimited;
    } else if (limit.key == "cpu") {
      const std::optional<MilliCores> cores = parse_cores(limit.value);
      if (!cores && !is_unlimited) words.fail(fmt::format("\"{}\" is not a limit", limit.value), kQuotaForm);
      quota[static_cast<std::size_t>(QuotaDimension::kMilliCores)] = cores ? cores->value : kUnlimited;
    } else if (limit.key == "memory") {
      quota[static_cast<std::size_t>(QuotaDimension::kMemoryBytes)] = is_unlimited ? kUnlimited : bytes_of(words, limit.value);
    } else {
      words.fail(fmt::format("\"{}\" is not a limit", limit.key), kQuotaForm);
    }
    if (words.has_failed()) return;
  }
}

/// A parent that has no statement yet is a queue without limits below the root.
void CaseReader::read_queue(Words& words) {
  const QueueId queue = file_.names.queues.intern(words.take("the name of a queue"));
  QuotaVector quota{kUnlimited, kUnlimited, kUnlimited};
  QueueId parent = queue == QueueId(0u) ? QueueId::none() : QueueId(0u);
  if (words.accept("quota")) take_quota(words, quota);
  if (words.accept("parent")) parent = take_queue(words);
  const Millis at = take_at(words);
  if (words.has_failed()) return;
  quotas_.emplace_back(queue, quota);
  parents_.resize(std::max(parents_.size(), queue.row() + 1), QueueId(0u));
  parents_[queue.row()] = parent;
  int depth = 1;
  for (QueueId above = parent; !above.is_none() && above != QueueId(0u) && depth < QueueTree::kDepthMax; ++depth)
    above = value_at(parents_, above.row(), QueueId(0u));
  if (depth >= QueueTree::kDepthMax)
    return words.fail("queues are nested too deep", fmt::format("at most {} below one another", QueueTree::kDepthMax - 1));
  happen(at, EventBody(QueueDefined{queue, parent, quota}));
}

void CaseReader::read_quota(Words& words) {
  const QueueId queue = take_queue(words);
  QuotaVector quota{kUnlimited, kUnlimited, kUnlimited};
  for (const auto& [known, limits] : quotas_)
    if (known == queue) quota = limits;
  take_quota(words, quota);
  const Millis at = take_at(words);
  if (words.has_failed()) return;
  quotas_.emplace_back(queue, quota);
  const QueueId parent = value_at(parents_, queue.row(), QueueId(0u));
  happen(at, EventBody(QueueDefined{queue, queue == QueueId(0u) ? QueueId::none() : parent, quota}));
}

void CaseReader::read_profile(Words& words) {
  Result<Profile> profile = builtin_profile(words.take("the name of a profile"));
  if (!profile) return words.fail(profile.error().message);
  file_.profile = *profile;
  while (!words.is_at_end()) {
    const KeyValue setting = key_value(words.take("a setting such as blocking=strict"));
    const std::string_view value = setting.value;
    if (const auto blocking = std::ranges::find(kBlockingNames, value); setting.key == "blocking" && blocking != std::end(kBlockingNames)) {
      file_.profile.blocking = static_cast<Blocking>(blocking - std::begin(kBlockingNames));
    } else if (setting.key == "placement" && (value == "scored" || value == "consolidate")) {
      file_.profile.placement = value == "scored" ? PlacementRule::kScored : PlacementRule::kConsolidate;
    } else if (setting.key == "victim" && (value == "none" || value == "by-quota-unverified")) {
      file_.profile.victim = value == "none" ? VictimRule::kNone : VictimRule::kByQuotaUnverified;
    } else if (setting.key == "order" && find_order(value) != nullptr) {
      file_.profile.order = find_order(value);
    } else if (setting.key == "card" && find_device(value) != nullptr) {
      file_.profile.device = find_device(value);
    } else if (setting.key == "cadence" && parse_duration(value)) {
      file_.profile.cadence = *parse_duration(value);
    } else if (setting.key == "seed" && !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos && value.size() < 19) {
      std::from_chars(value.data(), value.data() + value.size(), file_.profile.seed);
    } else if (setting.key == "score") {
      file_.profile.tiers.clear();
      for (const std::string_view tier : split(value, '/')) {
        file_.profile.tiers.emplace_back();
        for (const std::string_view policy : split(tier, '+')) {
          if (find_score(policy) == nullptr) return words.fail(fmt::format("there is no score policy \"{}\"", policy));
          file_.profile.tiers.back().push_back(find_score(policy));
        }
      }
    } else {
      words.fail(fmt::format("\"{}\" is not a setting of profiles, or its value is unknown", setting.key),
                 "blocking=strict|skip|easy|easy-by-count, order=, card=, score=A/B+C, placement=scored|consolidate, "
                 "victim=none|by-quota-unverified, cadence=, seed=");
    }
  }
  if (const std::optional<ProfileProblem> problem = validate(file_.profile)) words.fail(problem->text);
  if (file_.profile.needs_mix()) words.fail("fgd needs a mix of expected pods, which a case cannot give", "another score and card policy");
}

void CaseReader::read_binding(Words& words) { file_.binding = words.take_time(); }

void CaseReader::read_show(Words& words) {
  do {
    const std::string_view what = words.take("reasons, queues, nodes or examined");
    if (what == "reasons")
      file_.shows.reasons = true;
    else if (what == "queues")
      file_.shows.queues = true;
    else if (what == "nodes")
      file_.shows.nodes = true;
    else if (what == "examined")
      file_.shows.examined = true;
    else
      words.fail(fmt::format("\"{}\" cannot be shown", what), "reasons, queues, nodes or examined");
  } while (!words.is_at_end());
}

void CaseReader::read_tick(Words& words) {
  const Millis at = take_at(words);
  if (!words.has_failed()) happen(at, EventBody(Tick{}));
}

Result<CaseFile> read_case(std::string_view text, std::string_view where) {
  CaseFile file;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
  for (const std::string_view line : split(text, '\n')) file.lines.emplace_back(line);
  if (!file.lines.empty() && file.lines.back().empty()) file.lines.pop_back();
  Result<Profile> profile = builtin_profile("ashlar");
  if (!profile) return profile.error();
  file.profile = *profile;
  CaseReader reader(file);
  reader.find_levels();
  const auto located = [&](const CaseError& e) { return invalid(fmt::format("{}:{}:{}: {}", where, e.line, e.column, e.message)); };
  bool is_in_block = false;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    Words words(file.lines[i], number);
    const bool is_header = words.peek().starts_with("--");
    if (is_header) {
      reader.open_block(words);
      is_in_block = true;
    } else if (is_in_block && file.lines[i].find_first_not_of(" \t\r") == std::string::npos) {
      is_in_block = false;
    } else if (is_in_block) {
      file.blocks.back().end_line = number + 1;
    } else if (!words.is_at_end()) {
      reader.read_statement(words);
    }
    if (words.error()) return located(*words.error());
  }
  if (file.names.levels.size() > Topology::kLevelsMax)
    return located({1, 1, fmt::format("the case has {} levels; expected at most {}", file.names.levels.size(), Topology::kLevelsMax)});
  if (file.blocks.empty())
    return located(
        {static_cast<int>(file.lines.size()) + 1, 1, "the case expects nothing; expected a block such as \"---- at 1s\" with a line per job"});
  if (!reader.has_nodes()) return located({1, 1, "the case has no nodes; expected \"cluster 2 x h100x8\" or \"node NAME h100x8\""});
  return file;
}

}  // namespace ashlar::sim
