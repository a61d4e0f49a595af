#include "config/scheduler_config.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "config/queues.h"
#include "config/yaml/profile.h"
#include "config/yaml/reader.h"
#include "state/cluster/topology.h"
#include "state/queues/queue_tree.h"
#include "text/amount_text.h"
#include "text/duration_text.h"
#include "text/nearest_name.h"
#include "text/text_file.h"

namespace ashlar::config {
namespace {

constexpr std::string_view kFormats[] = {"text", "json"};
constexpr std::string_view kLevels[] = {"debug", "info", "warning", "error"};
constexpr Millis kLeaseDurationMax{std::int64_t{INT32_MAX} * 1000};

void read_device_classes(YamlReader& reader, const YAML::Node& list, std::vector<StatedClass>& classes) {
  if (!list.IsDefined() || !reader.is_list(list, "deviceClasses")) return;
  for (const auto& item : list) {
    if (!reader.is_map(item, "a device class", {"name", "models", "capabilities"}))
      return reader.fail(item, "a device class must be a map with a name");
    const StatedClass stated{.name = reader.text(item, "name", ""),
                             .models = reader.texts(item, "models"),
                             .capabilities = reader.texts(item, "capabilities")};
    if (!reader.is_ok()) return;
    if (const std::optional<ClassProblem> problem = validate(stated, classes)) {
      constexpr const char* kKeys[] = {"name", "models", "capabilities"};  // by Part
      const YAML::Node part = item[kKeys[static_cast<std::size_t>(problem->part)]];
      const YAML::Node at = !part.IsDefined() ? item : problem->index ? part[*problem->index] : part;
      return reader.fail(at, problem->message);
    }
    classes.push_back(stated);
  }
}

/// `default` takes every job that names no queue, so it always exists; it comes first if it is not configured.
void add_default_queue(SchedulerConfig& config) {
  if (has_queue(config, kDefaultQueue)) return;
  for (QueueConfig& q : config.queues) q.parent += q.parent >= 0 ? 1 : 0;
  config.queues.insert(config.queues.begin(), QueueConfig{std::string(kDefaultQueue)});
}

void read_namespaces(YamlReader& reader, const YAML::Node& node, SchedulerConfig& config) {
  if (!reader.is_ok() || !node.IsDefined() || node.IsNull()) return;
  if (!node.IsMap()) return reader.fail(node, "namespaces must be a map of namespace: queue");
  std::vector<std::string_view> known;
  for (const QueueConfig& q : config.queues) known.push_back(q.name);
  for (const auto& entry : node) {
    NamespaceQueue mapping{reader.scalar(entry.first, "a namespace"),
                           reader.scalar(entry.second, "the queue of a namespace")};
    if (!reader.is_ok()) return;
    for (const NamespaceQueue& other : config.namespaces)
      if (other.name_space == mapping.name_space)
        return reader.fail(entry.first, "\"" + mapping.name_space + "\" is given twice");
    if (!has_queue(config, mapping.queue))
      return reader.fail(entry.second, "unknown queue \"" + mapping.queue + "\"" + did_you_mean(mapping.queue, known));
    const auto& open_to = std::ranges::find(config.queues, mapping.queue, &QueueConfig::name)->namespaces;
    if (!open_to.empty() && std::ranges::find(open_to, mapping.name_space) == open_to.end())
      return reader.fail(entry.second, "queue \"" + mapping.queue + "\" is not open to namespace \"" +
                                           mapping.name_space + "\"; add it to the queue's namespaces");
    config.namespaces.push_back(std::move(mapping));
  }
}

void read_profile_setting(YamlReader& reader, const YAML::Node& root, SchedulerConfig& config) {
  const YAML::Node node = root["profile"];
  if (!reader.is_ok() || !node.IsDefined()) return;
  if (node.IsScalar()) {
    const std::string folder = path_beside(reader.file(), "");
    Result<ProfileSpec> spec = find_profile(node.Scalar(), folder);
    if (!spec) return reader.fail(node, spec.error().message);
    config.profile = std::move(*spec);
  } else {
    config.profile = profile_of(reader, node, false);
  }
  if (!reader.is_ok()) return;
  if (const Result<void> checked = config.profile.check_mix(); !checked) reader.fail(node, checked.error().message);
  if (!config.profile.profile.is_allowed_live())
    reader.fail(node, "profile \"" + config.profile.profile.name +
                          "\" stops running jobs before a place is known, which the live scheduler does not do; "
                          "choose one with victim none, priority, lost-work, kai or kueue");
}

void check_stops(YamlReader& reader, const YAML::Node& node, const SchedulerConfig& config) {
  for (const QueueConfig& queue : config.queues)
    if (const std::string problem = stops_problem(queue, config.profile.profile); reader.is_ok() && !problem.empty())
      reader.fail(node, problem);
}

/// The names that Kubernetes gives to a Lease (a DNS-1123 subdomain) and to a namespace (one label of it).
bool is_object_name(std::string_view name, std::size_t bytes_max, bool may_have_dots) {
  const auto is_inner = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > bytes_max) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_edge = i == 0 || i + 1 == name.size() || name[i - 1] == '.' || name[i + 1] == '.';
    const bool joins = !is_edge && (name[i] == '-' || (may_have_dots && name[i] == '.'));
    if (!is_inner(name[i]) && !joins) return false;
  }
  return true;
}

/// What Kubernetes accepts as the key of a label: [prefix/]name of letters, digits, '-', '_' and '.'.
bool is_label_key(std::string_view key) {
  const auto is_edge = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const std::size_t slash = key.find('/');
  const std::string_view prefix = slash == std::string_view::npos ? "a" : key.substr(0, slash);
  const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  return is_object_name(prefix, 253, true) && !name.empty() && name.size() <= 63 && is_edge(name.front()) &&
         is_edge(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_edge(c) || c == '-' || c == '_' || c == '.'; });
}

/// Users name a level by the last part of its label key, or by the whole key.
void check_level_names(YamlReader& reader, const YAML::Node& list, const std::vector<std::string>& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const std::string_view name = level_name(labels[i]), other = level_name(labels[k]);
      const bool is_clear = name != other && name != labels[k] && other != labels[i];
      if (!is_clear)
        return reader.fail(list[i], "\"" + labels[k] + "\" and \"" + labels[i] + "\" would both be the level \"" +
                                        std::string(name) + "\"; the last parts of the label keys must differ");
    }
  }
}

void read_topology(YamlReader& reader, const YAML::Node& node, SchedulerConfig& config) {
  if (!node.IsDefined() || !reader.is_map(node, "topology", {"levels"})) return;
  config.topology_levels = reader.texts(node, "levels");
  if (config.topology_levels.size() > Topology::kLevelsMax)
    reader.fail(node["levels"], "at most " + std::to_string(Topology::kLevelsMax) + " levels");
  for (std::size_t i = 0; reader.is_ok() && i < config.topology_levels.size(); ++i)
    if (!is_label_key(config.topology_levels[i]))
      reader.fail(node["levels"][i], "\"" + config.topology_levels[i] +
                                         "\" is not a label key; expected one such as topology.example.com/rack");
  if (reader.is_ok()) check_level_names(reader, node["levels"], config.topology_levels);
}

void check_lease(YamlReader& reader, const YAML::Node& node, const LeaderElectionConfig& lease) {
  if (!is_object_name(lease.lease_name, 253, true))
    reader.fail(node["leaseName"],
                "\"" + lease.lease_name + "\" cannot be the name of a Lease; use small letters, digits, '-' and '.'");
  if (!is_object_name(lease.lease_namespace, 63, false))
    reader.fail(node["namespace"],
                "\"" + lease.lease_namespace + "\" cannot be a namespace; use small letters, digits and '-'");
  if (lease.lease_duration.value % 1000 != 0)
    reader.fail(node["leaseDuration"], "leaseDuration must be whole seconds, as a Lease states it");
  if (lease.lease_duration > kLeaseDurationMax)
    reader.fail(node["leaseDuration"], "leaseDuration must be at most " +
                                           std::to_string(kLeaseDurationMax.value / 1000) + "s, as a Lease states it");
  if (lease.retry_period.value <= 0 || lease.renew_deadline <= lease.retry_period ||
      lease.lease_duration <= lease.renew_deadline)
    reader.fail(node,
                "leaseDuration must be longer than renewDeadline, and that longer than retryPeriod; two leaders could "
                "act at once otherwise");
}

void read_leader_election(YamlReader& reader, const YAML::Node& node, LeaderElectionConfig& out) {
  if (!node.IsDefined() ||
      !reader.is_map(node, "leaderElection",
                     {"enabled", "leaseName", "namespace", "leaseDuration", "renewDeadline", "retryPeriod"}))
    return;
  out.is_enabled = reader.boolean(node, "enabled", out.is_enabled);
  out.lease_name = reader.text(node, "leaseName", out.lease_name);
  out.lease_namespace = reader.text(node, "namespace", out.lease_namespace);
  out.lease_duration = reader.duration(node, "leaseDuration", out.lease_duration);
  out.renew_deadline = reader.duration(node, "renewDeadline", out.renew_deadline);
  out.retry_period = reader.duration(node, "retryPeriod", out.retry_period);
  if (reader.is_ok()) check_lease(reader, node, out);
}

void read_operation(YamlReader& reader, const YAML::Node& root, SchedulerConfig& config) {
  if (const YAML::Node log = root["decisionLog"];
      log.IsDefined() && reader.is_map(log, "decisionLog", {"path", "maxFileBytes", "maxFiles"})) {
    config.decision_log.path = reader.text(log, "path", "");
    config.decision_log.file_bytes_max = reader.amount(log, "maxFileBytes", config.decision_log.file_bytes_max, 1);
    config.decision_log.files_max =
        static_cast<std::int32_t>(reader.integer(log, "maxFiles", config.decision_log.files_max, 1, 10000));
    if (reader.is_ok() && config.decision_log.path.empty()) reader.fail(log, "decisionLog needs a path");
    if (reader.is_ok() && config.decision_log.file_bytes_max < (1 << 16))
      reader.fail(log["maxFileBytes"], "maxFileBytes must be at least 64Ki");
  }
  if (const YAML::Node logging = root["logging"];
      logging.IsDefined() && reader.is_map(logging, "logging", {"format", "level"})) {
    config.logging.format = static_cast<LoggingConfig::Format>(
        reader.choice(logging, "format", static_cast<std::size_t>(config.logging.format), kFormats));
    config.logging.level = static_cast<LoggingConfig::Level>(
        reader.choice(logging, "level", static_cast<std::size_t>(config.logging.level), kLevels));
  }
  if (const YAML::Node batch = root["batch"];
      batch.IsDefined() &&
      reader.is_map(batch, "batch", {"bindsPerStep", "bindsInFlight", "eventsPerStep", "window"})) {
    config.batch.binds_per_step =
        static_cast<std::int32_t>(reader.integer(batch, "bindsPerStep", config.batch.binds_per_step, 1, 1'000'000));
    config.batch.binds_in_flight =
        static_cast<std::int32_t>(reader.integer(batch, "bindsInFlight", config.batch.binds_in_flight, 1, 4096));
    config.batch.events_per_step =
        static_cast<std::int32_t>(reader.integer(batch, "eventsPerStep", config.batch.events_per_step, 1, 10'000'000));
    config.batch.window = reader.duration(batch, "window", config.batch.window);
    if (config.batch.window > Millis(10'000)) reader.fail(batch["window"], "window must be at most 10s");
  }
}

void read_listen(YamlReader& reader, const YAML::Node& root, const char* key, ListenConfig& out) {
  if (!root[key].IsDefined()) return;
  Result<ListenConfig> listen = parse_listen(reader.text(root, key, ""));
  if (!listen)
    reader.fail(root[key], listen.error().message);
  else
    out = std::move(*listen);
}

void read_quarantine(YamlReader& reader, const YAML::Node& root, SchedulerConfig& config) {
  if (!root["quarantineFile"].IsDefined()) return;
  config.quarantine_file = reader.text(root, "quarantineFile", "");
  if (reader.is_ok() && !config.quarantine_file.starts_with('/'))
    reader.fail(root["quarantineFile"],
                "quarantineFile must be the full path of a file, such as /var/lib/ashlar/quarantine");
}

/// Whether it is a message of PodGroups, whose fields have names where others have numbers.
bool is_group_message(std::string_view message) {
  constexpr std::string_view kParts[] = {"PodGroup", "SchedulingPolicy", "DisruptionMode", "TopologyConstraint",
                                         "WorkloadReference"};
  return std::ranges::any_of(kParts,
                             [&](std::string_view part) { return message.find(part) != std::string_view::npos; });
}

/// "PodSpec.44": a message and the number of a field; "PodGroupSpec.newField": its name.
bool is_field_name(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == text.size()) return false;
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const std::string_view message = text.substr(0, dot), field = text.substr(dot + 1);
  const bool is_name = is_group_message(message) && std::ranges::all_of(field, is_letter);
  return std::ranges::all_of(message, is_letter) && (is_name || std::ranges::all_of(field, is_digit));
}

void read_accepted_fields(YamlReader& reader, const YAML::Node& root, SchedulerConfig& config) {
  if (!root["acceptUnknownFields"].IsDefined()) return;
  config.accepted_fields = reader.texts(root, "acceptUnknownFields");
  for (std::size_t i = 0; reader.is_ok() && i < config.accepted_fields.size(); ++i)
    if (!is_field_name(config.accepted_fields[i]))
      reader.fail(
          root["acceptUnknownFields"][i],
          "acceptUnknownFields: expected a message and a field, as the pod's condition names them (PodSpec.45), "
          "got \"" +
              config.accepted_fields[i] + "\"");
}

DefaultConstraint default_constraint_of(YamlReader& reader, const YAML::Node& item) {
  constexpr std::string_view kPolicies[] = {"Honor", "Ignore"}, kActions[] = {"ScheduleAnyway", "DoNotSchedule"};
  DefaultConstraint constraint;
  constraint.topology_key = reader.text(item, "topologyKey", "");
  constraint.skew_max = static_cast<std::int32_t>(reader.integer(item, "maxSkew", 0, 1, INT32_MAX));
  constraint.domains_min = static_cast<std::int32_t>(reader.integer(item, "minDomains", 1, 1, INT32_MAX));
  constraint.is_hard = reader.choice(item, "whenUnsatisfiable", 0, kActions) == 1;
  constraint.honors_affinity = reader.choice(item, "nodeAffinityPolicy", 0, kPolicies) == 0;
  constraint.honors_taints = reader.choice(item, "nodeTaintsPolicy", 1, kPolicies) == 0;
  if (!reader.is_ok()) return constraint;
  for (const char* key : {"topologyKey", "maxSkew", "whenUnsatisfiable"})
    if (!item[key].IsDefined()) reader.fail(item, std::string("a default constraint needs ") + key);
  if (reader.is_ok() && !is_label_key(constraint.topology_key))
    reader.fail(item["topologyKey"], "\"" + constraint.topology_key +
                                         "\" is not a label key; expected one such as topology.kubernetes.io/zone");
  if (reader.is_ok() && item["minDomains"].IsDefined() && !constraint.is_hard)
    reader.fail(item["minDomains"], "minDomains has a meaning with DoNotSchedule only");
  return constraint;
}

/// "system", "none" or a list, as defaultConstraints of kube-scheduler's PodTopologySpreadArgs.
void read_default_constraints(YamlReader& reader, const YAML::Node& node, DefaultConstraints& out) {
  constexpr std::size_t kMost = 16;
  if (!reader.is_ok() || !node.IsDefined() || node.IsNull()) return;
  if (node.IsScalar()) {
    constexpr std::string_view kWords[] = {"system", "none"};
    const std::string word = node.Scalar();
    if (std::ranges::find(kWords, word) == std::end(kWords))
      return reader.fail(node, "defaultConstraints: expected system, none or a list, got \"" + word + "\"" +
                                   did_you_mean(word, kWords));
    out.are_of_system = word == "system";
    return;
  }
  if (!reader.is_list(node, "defaultConstraints")) return;
  out.are_of_system = false;
  for (const auto& item : node) {
    if (!reader.is_map(
            item, "a default constraint",
            {"topologyKey", "maxSkew", "whenUnsatisfiable", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy"}))
      return reader.fail(item, "a default constraint must be a map");
    const DefaultConstraint constraint = default_constraint_of(reader, item);
    if (!reader.is_ok()) return;
    if (std::ranges::any_of(out.list, [&](const DefaultConstraint& other) {
          return other.topology_key == constraint.topology_key && other.is_hard == constraint.is_hard;
        }))
      return reader.fail(item, "there are two default constraints by " + constraint.topology_key + " with " +
                                   (constraint.is_hard ? "DoNotSchedule" : "ScheduleAnyway"));
    if (out.list.size() >= kMost)
      return reader.fail(item, "more than " + std::to_string(kMost) + " default constraints");
    out.list.push_back(constraint);
  }
}

SchedulerConfig config_of(YamlReader& reader, const YAML::Node& root) {
  SchedulerConfig config = default_config();
  reader.refuse_other_kind(root, "SchedulerConfiguration");
  if (!reader.is_map(root, "the configuration",
                     {"apiVersion", "kind", "schedulerNames", "profile", "deviceClasses", "queues", "namespaces",
                      "topology", "leaderElection", "listen", "healthProbeBindAddress", "decisionLog", "logging",
                      "batch", "quarantineFile", "acceptUnknownFields", "defaultConstraints"}))
    return config;
  reader.expect_kind(root, "SchedulerConfiguration");
  if (root["schedulerNames"].IsDefined()) {
    config.scheduler_names = reader.texts(root, "schedulerNames");
    if (config.scheduler_names.empty()) reader.fail(root["schedulerNames"], "schedulerNames must not be empty");
    for (std::size_t i = 0; reader.is_ok() && i < config.scheduler_names.size(); ++i)
      if (config.scheduler_names[i].find_first_of(", \t") != std::string::npos)
        reader.fail(root["schedulerNames"][i], "schedulerNames: expected one name without commas and spaces, got \"" +
                                                   config.scheduler_names[i] + "\"; give each name by itself");
  }
  read_profile_setting(reader, root, config);
  read_device_classes(reader, root["deviceClasses"], config.device_classes);
  config.queues.clear();
  read_queues(reader, root["queues"], config);
  check_stops(reader, root["queues"], config);
  add_default_queue(config);
  read_namespaces(reader, root["namespaces"], config);
  read_topology(reader, root["topology"], config);
  read_leader_election(reader, root["leaderElection"], config.leader_election);
  read_listen(reader, root, "listen", config.listen);
  read_listen(reader, root, "healthProbeBindAddress", config.health_probe_bind_address);
  const ListenConfig& probes = config.health_probe_bind_address;
  if (reader.is_ok() && probes.is_enabled && config.listen.is_enabled && probes.port != 0 &&
      probes.port == config.listen.port)
    reader.fail(root["healthProbeBindAddress"], "healthProbeBindAddress needs a port of its own, not that of listen");
  read_operation(reader, root, config);
  read_quarantine(reader, root, config);
  read_accepted_fields(reader, root, config);
  read_default_constraints(reader, root["defaultConstraints"], config.default_constraints);
  return config;
}

}  // namespace

SchedulerConfig default_config() {
  SchedulerConfig config;
  config.profile.profile = builtin_profile("ashlar").value();
  add_default_queue(config);
  return config;
}

Result<SchedulerConfig> parse_config(std::string_view text, const std::string& file) {
  YamlReader reader(file);
  const YAML::Node root = reader.document(text);
  SchedulerConfig config = config_of(reader, root);
  if (!reader.is_ok()) return reader.error();
  return config;
}

Result<SchedulerConfig> read_config(const std::string& file) {
  const Result<std::string> text = read_text_file(file, YamlReader::kBytesMax);
  if (!text) return text.error();
  return parse_config(*text, file);
}

std::string_view level_name(std::string_view label) { return label.substr(label.rfind('/') + 1); }

bool ListenConfig::is_public() const { return is_enabled && host != "::1" && !host.starts_with("127."); }

Result<ListenConfig> parse_listen(std::string_view text) {
  ListenConfig listen;
  if (text == "off") {
    listen.is_enabled = false;
    return listen;
  }
  const auto bad = [&] {
    return invalid("\"" + std::string(text) + "\" is not an address; use IP:PORT, :PORT for all addresses, or off");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad();
  std::string_view host = text.substr(0, colon), port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return bad();
  const auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), listen.port);
  if (code != std::errc() || end != port.data() + port.size()) return bad();
  listen.host = host;
  unsigned char address[sizeof(in6_addr)];
  if (!host.empty() && inet_pton(AF_INET, listen.host.c_str(), address) != 1 &&
      inet_pton(AF_INET6, listen.host.c_str(), address) != 1)
    return invalid("\"" + listen.host +
                   "\" is not an IP address; use one such as 127.0.0.1, or leave it out for all addresses");
  return listen;
}

}  // namespace ashlar::config
