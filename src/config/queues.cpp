#include "config/queues.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "state/queues/queue_tree.h"
#include "text/amount_text.h"
#include "text/moment_text.h"
#include "text/nearest_name.h"
#include "text/stop_words.h"

namespace ashlar::config {
namespace {

constexpr std::string_view kRootQueue = "root";  ///< name of the whole tree; no queue may have it
constexpr std::size_t kQueuesMax = 10000;        ///< limit that keeps a faulty generator from filling memory
constexpr std::string_view kQuotaNames[kQuotaDimensions] = {"nvidia.com/gpu", "cpu", "memory"};  // by QuotaDimension
constexpr std::size_t kLimitsMax = 64;                                                           ///< of one queue

/// The unit of a resource's amounts, as that of a quota's number.
std::int64_t quota_unit(std::string_view resource) {
  const auto dimension = std::find(std::begin(kQuotaNames), std::end(kQuotaNames), resource) - std::begin(kQuotaNames);
  if (dimension < std::ssize(kQuotaNames)) return dimension;
  return quota_number({resource == "ephemeral-storage" ? resource::kEphemeralStorage : resource::kPods, {}});
}

/// The class that has the name or lists the model; the name itself where none does.
std::string class_called(const std::vector<StatedClass>& classes, const std::string& name) {
  for (const StatedClass& stated : classes)
    if (std::ranges::find(stated.models, name) != stated.models.end()) return stated.name;
  return name;
}

/// One line of a map of amounts.
struct StatedAmount {
  std::string key, resource;
  std::string model;  ///< the name of the class; empty: on all nodes
  std::int64_t amount = 0;
  YAML::Node at;  ///< the key

  std::size_t dimension() const {
    return static_cast<std::size_t>(std::ranges::find(kQuotaNames, resource) - std::begin(kQuotaNames));
  }
};

/// "RESOURCE: amount", or "RESOURCE@MODEL: amount" for nodes with GPUs of that model's class; `take(stated)` of each
/// returns whether the key is new.
template <class Take>
void read_amounts(YamlReader& reader, const YAML::Node& node, const std::string& what,
                  const std::vector<StatedClass>& classes, Take&& take) {
  if (!reader.is_ok() || !node.IsDefined()) return;
  if (!node.IsMap()) return reader.fail(node, what + " must be a map of resource: amount");
  std::size_t lines = 0;
  for (const auto& entry : node) {
    StatedAmount stated{.key = reader.scalar(entry.first, "a resource of " + what), .at = entry.first};
    const std::size_t at = stated.key.rfind('@');
    stated.resource = stated.key.substr(0, at);
    if (at != std::string::npos) stated.model = class_called(classes, stated.key.substr(at + 1));
    const std::string near = suggestion(stated.resource, kQuotaNames);
    const bool is_known = stated.dimension() < kQuotaDimensions || stated.resource == "ephemeral-storage" ||
                          stated.resource == "pods" || (stated.resource.find('/') != std::string::npos && near.empty());
    if (!reader.is_ok()) return;
    if (!is_known)
      return reader.fail(entry.first,
                         "unknown key \"" + stated.key + "\" in " + what + did_you_mean(stated.resource, kQuotaNames));
    if (at != std::string::npos && stated.model.empty())
      return reader.fail(entry.first, "\"" + stated.key + "\" names no GPU model after the @");
    const Result<std::int64_t> amount =
        parse_quota(quota_unit(stated.resource), reader.scalar(entry.second, stated.key));
    if (!reader.is_ok()) return;
    if (!amount) return reader.fail(entry.second, stated.key + ": " + amount.error().message);
    stated.amount = *amount;
    if (!take(stated)) return reader.fail(entry.first, "\"" + stated.key + "\" is given twice");
    if (++lines > kLimitsMax) return reader.fail(entry.first, "more than " + std::to_string(kLimitsMax) + " limits");
  }
}

std::vector<NamedLimit>::const_iterator find_limit(const QueueConfig& queue, const StatedAmount& stated) {
  return std::ranges::find_if(queue.limits, [&](const NamedLimit& other) {
    return other.resource == stated.resource && other.model == stated.model;
  });
}

void read_quota(YamlReader& reader, const YAML::Node& node, const std::vector<StatedClass>& classes,
                QueueConfig& queue) {
  read_amounts(reader, node, "quota", classes, [&](const StatedAmount& stated) {
    const std::size_t dimension = stated.dimension();
    if (stated.model.empty() && dimension < kQuotaDimensions)
      return std::exchange(queue.quota[dimension], stated.amount) == kUnlimited;
    if (find_limit(queue, stated) != queue.limits.end()) return false;
    queue.limits.push_back({stated.resource, stated.model, stated.amount});
    return true;
  });
}

NamedShare& share_of(QueueConfig& queue, const StatedAmount& stated) {
  for (NamedShare& share : queue.shares)
    if (share.resource == stated.resource && share.model == stated.model) return share;
  return queue.shares.emplace_back(NamedShare{.resource = stated.resource, .model = stated.model});
}

std::int64_t quota_for(const QueueConfig& queue, const StatedAmount& stated) {
  if (stated.model.empty() && stated.dimension() < kQuotaDimensions) return queue.quota[stated.dimension()];
  const auto limit = find_limit(queue, stated);
  return limit == queue.limits.end() ? kUnlimited : limit->limit;
}

void read_shares(YamlReader& reader, const YAML::Node& item, const std::vector<StatedClass>& classes,
                 QueueConfig& queue) {
  read_amounts(reader, item["guarantee"], "guarantee", classes, [&](const StatedAmount& stated) {
    if (stated.amount > quota_for(queue, stated))
      reader.fail(stated.at, "the guarantee of \"" + stated.key +
                                 "\" is more than the queue's quota of it, beyond which nothing of it could be used");
    return std::exchange(share_of(queue, stated).guarantee, stated.amount) == QuotaShare::kNotNamed;
  });
  read_amounts(reader, item["borrowLimit"], "borrowLimit", classes, [&](const StatedAmount& stated) {
    return std::exchange(share_of(queue, stated).borrows, stated.amount) == kUnlimited;
  });
  read_amounts(reader, item["lendLimit"], "lendLimit", classes, [&](const StatedAmount& stated) {
    return std::exchange(share_of(queue, stated).lends, stated.amount) == kUnlimited;
  });
}

void read_rank(YamlReader& reader, const YAML::Node& item, QueueRank& rank) {
  if (const YAML::Node weight = item["weight"]; reader.is_ok() && weight.IsDefined()) {
    const Result<std::int64_t> stated = parse_quota(0, reader.scalar(weight, "weight"));  // thousandths, as of GPUs
    if (!reader.is_ok()) return;
    if (!stated || *stated < 1 || *stated > QueueRank::kWeightMax)
      return reader.fail(weight, "weight: expected a number from 0.001 to 1000000");
    rank.weight = *stated;
  }
  rank.priority = static_cast<std::int32_t>(reader.integer(item, "priority", 0, INT32_MIN, INT32_MAX));
}

/// At most one of "hold: true", "stop: true" and "drain: MOMENT".
void read_gate(YamlReader& reader, const YAML::Node& item, QueueGate& gate) {
  int stated = 0;
  const auto set = [&](QueueGate::Is is) { gate.is = is, ++stated; };
  if (reader.boolean(item, "hold", false)) set(QueueGate::Is::kHeld);
  if (reader.boolean(item, "stop", false)) set(QueueGate::Is::kStopped);
  if (const YAML::Node drain = item["drain"]; reader.is_ok() && drain.IsDefined()) {
    const Result<Millis> since = parse_moment(reader.scalar(drain, "drain"));
    if (!reader.is_ok()) return;
    if (!since) return reader.fail(drain, "drain: " + since.error().message + ": pods created later are refused");
    set(QueueGate::Is::kDraining);
    gate.drained_since = *since;
  }
  if (stated > 1) reader.fail(item, "a queue may state one of hold, drain and stop");
}

/// Whom its jobs stop, with a profile whose victim rule asks for it.
void read_stops(YamlReader& reader, const YAML::Node& item, StopRules& rules) {
  if (const YAML::Node stops = item["stops"]; reader.is_ok() && stops.IsDefined()) {
    if (!reader.is_map(stops, "stops", {"own", "reclaims", "whileBorrowing", "whileBorrowingMost"}))
      return reader.fail(stops, "stops must be a map");
    const auto choose = [&](const char* key, auto fallback, std::span<const std::string_view> names) {
      return static_cast<decltype(fallback)>(reader.choice(stops, key, static_cast<std::size_t>(fallback), names));
    };
    rules.own = choose("own", rules.own, kOwnWords);
    rules.reclaims = choose("reclaims", rules.reclaims, kReclaimsWords);
    const std::size_t while_borrowing = reader.choice(stops, "whileBorrowing", 0, kWhileBorrowingWords);
    const bool has_most = stops["whileBorrowingMost"].IsDefined();
    if (reader.is_ok() && has_most && while_borrowing == 0)
      return reader.fail(stops["whileBorrowingMost"],
                         "whileBorrowingMost goes only with whileBorrowing: lower or lower-or-longer");
    const std::int64_t most = reader.integer(stops, "whileBorrowingMost", INT32_MAX, INT32_MIN + 1, INT32_MAX);
    set_while_borrowing(rules, while_borrowing, static_cast<std::int32_t>(most));
  }
  const YAML::Node times = item["protected"];
  if (!reader.is_ok() || !times.IsDefined()) return;
  if (!reader.is_map(times, "protected", {"preempt", "reclaim"})) return reader.fail(times, "protected must be a map");
  const auto read_time = [&](const char* key, Millis& time) {
    if (!times[key].IsDefined()) return;
    const Millis stated = reader.duration(times, key, Millis(0));
    if (stated > StopRules::kProtectedMax) return reader.fail(times[key], std::string(key) + ": at most 366 days");
    time = stated;
  };
  read_time("preempt", rules.protected_from_own);
  read_time("reclaim", rules.protected_from_others);
}

/// What a queue states of itself, wherever it is stated.
void read_queue(YamlReader& reader, const YAML::Node& item, const std::vector<StatedClass>& classes,
                QueueConfig& queue) {
  read_quota(reader, item["quota"], classes, queue);
  read_shares(reader, item, classes, queue);
  read_rank(reader, item, queue.rank);
  read_stops(reader, item, queue.stops);
  read_gate(reader, item, queue.gate);
  queue.namespaces = reader.texts(item, "namespaces");
  if (reader.is_ok() && item["namespaces"].IsDefined() && queue.namespaces.empty())
    reader.fail(item["namespaces"],
                "namespaces must not be empty; without the key, pods of every namespace may use the queue");
}

void read_below(YamlReader& reader, const YAML::Node& list, std::int32_t parent, int depth, SchedulerConfig& config) {
  if (!reader.is_list(list, "queues")) return;
  // The root is one level of QueueTree, the deepest queue's own level another.
  if (depth >= QueueTree::kDepthMax - 1)
    return reader.fail(list, "queues are nested more than " + std::to_string(QueueTree::kDepthMax - 1) + " deep");
  for (const auto& item : list) {
    if (!reader.is_map(item, "a queue",
                       {"name", "quota", "guarantee", "borrowLimit", "lendLimit", "weight", "priority", "stops",
                        "protected", "hold", "drain", "stop", "namespaces", "queues"}))
      return reader.fail(item, "a queue must be a map with a name");
    QueueConfig queue{.name = reader.text(item, "name", ""), .parent = parent};
    read_queue(reader, item, config.device_classes, queue);
    if (queue.namespaces.empty() && parent >= 0)
      queue.namespaces = config.queues[static_cast<std::size_t>(parent)].namespaces;
    if (queue.name.empty()) return reader.fail(item, "a queue needs a name");
    if (queue.name == kRootQueue) return reader.fail(item["name"], std::string(kRootIsNoQueue));
    if (has_queue(config, queue.name))
      return reader.fail(item["name"],
                         "there are two queues \"" + queue.name + "\"; names are unique in the whole tree");
    if (config.queues.size() >= kQueuesMax)
      return reader.fail(item, "more than " + std::to_string(kQueuesMax) + " queues");
    config.queues.push_back(std::move(queue));
    read_below(reader, item["queues"], static_cast<std::int32_t>(config.queues.size()) - 1, depth + 1, config);
  }
}

}  // namespace

std::string stops_problem(const QueueConfig& queue, const Profile& profile) {
  if (!profile.stops_for_a_place() || profile.order->gives_way_to != nullptr) return {};
  if (queue.stops.own != StopRules::Own::kLowerOrLonger && !queue.stops.longer_while_borrowing) return {};
  return "queue \"" + queue.name + "\": lower-or-longer needs a profile with order: priority-remaining; with " +
         std::string(profile.order->name) + " write lower";
}

bool has_queue(const SchedulerConfig& config, std::string_view name) {
  return std::any_of(config.queues.begin(), config.queues.end(), [&](const QueueConfig& q) { return q.name == name; });
}

void read_queues(YamlReader& reader, const YAML::Node& list, SchedulerConfig& config) {
  read_below(reader, list, -1, 0, config);
}

Result<StatedQueue> read_queue_object(const std::string& name, std::string_view spec, const SchedulerConfig& config) {
  YamlReader reader("spec");
  StatedQueue stated{.queue = {.name = name}, .parent = {}};
  if (spec.empty()) return stated;
  const YAML::Node document = reader.document(spec);  // JSON is YAML
  const bool is_map = reader.is_map(document, "spec",
                                    {"parent", "quota", "guarantee", "borrowLimit", "lendLimit", "weight", "priority",
                                     "stops", "protected", "hold", "drain", "stop", "namespaces"});
  if (reader.is_ok() && is_map) {
    stated.parent = reader.text(document, "parent", "");
    read_queue(reader, document, config.device_classes, stated.queue);
  }
  if (reader.is_ok() && name == kRootQueue) return invalid(std::string(kRootIsNoQueue));
  if (!reader.is_ok()) {  // its place in a line of JSON tells nobody anything
    const std::string& words = reader.error().message;
    return invalid("spec: " + words.substr(std::min(words.size(), words.find(' ') + 1)));
  }
  if (std::string problem = stops_problem(stated.queue, config.profile.profile); !problem.empty())
    return invalid(std::move(problem));
  return stated;
}

}  // namespace ashlar::config
