// scheduler_config: the settings of `ashlar scheduler` (ashlar.yaml; docs/reference/configuration.md) as plain values,
// with their defaults. Every key is known or refused: a misspelt setting that is silently ignored would only be noticed
// in production.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "config/profile_file.h"
#include "model/event.h"
#include "text/stated_classes.h"

namespace ashlar::config {

/// For a queue of the name that the whole tree has.
inline constexpr std::string_view kRootIsNoQueue =
    "\"root\" is the name of the whole tree and cannot be a queue; to limit all queues together, give them a parent of "
    "another name";

inline constexpr std::string_view kApiVersion = "config.ashlar.dev/v1alpha1";

/// A limit of a resource by its name, on all nodes or on those whose GPUs are of one device class.
struct NamedLimit {
  std::string resource;
  std::string model;  ///< the name of the class; empty: on all nodes
  std::int64_t limit = kUnlimited;
  friend bool operator==(const NamedLimit&, const NamedLimit&) = default;
};

/// What a queue is sure to get of a resource, named as in NamedLimit, and how much more it may use.
struct NamedShare {
  std::string resource;
  std::string model;
  std::int64_t guarantee = QuotaShare::kNotNamed;
  std::int64_t borrows = kUnlimited;
  std::int64_t lends = kUnlimited;
  friend bool operator==(const NamedShare&, const NamedShare&) = default;
};

/// One queue of the tree. Parents come before their children.
struct QueueConfig {
  std::string name;          ///< unique in the whole tree
  std::int32_t parent = -1;  ///< index into SchedulerConfig::queues; -1 = the root
  QuotaVector quota{kUnlimited, kUnlimited, kUnlimited};
  std::vector<NamedLimit> limits = {};  ///< further ones
  std::vector<NamedShare> shares = {};
  QueueRank rank = {};
  StopRules stops = {};
  QueueGate gate = {};
  /// whose pods may use it; empty: those of every namespace. A queue that lists none has its parent's
  std::vector<std::string> namespaces = {};
};

struct NamespaceQueue {
  std::string name_space;
  std::string queue;
};

struct LeaderElectionConfig {
  bool is_enabled = true;
  std::string lease_name = "ashlar-scheduler";
  std::string lease_namespace = "kube-system";
  Millis lease_duration{8000};  ///< a standby takes over this long after the last renewal
  Millis renew_deadline{5000};  ///< a leader that could not renew for this long sends nothing more
  Millis retry_period{1000};
};

struct DecisionLogConfig {
  std::string path;  ///< folder; empty = no log
  std::int64_t file_bytes_max = 64 << 20;
  std::int32_t files_max = 8;  ///< the oldest is removed
};

struct LoggingConfig {
  enum class Format : std::uint8_t { kText, kJson };
  enum class Level : std::uint8_t { kDebug, kInfo, kWarning, kError };
  Format format = Format::kText;
  Level level = Level::kInfo;
};

struct ListenConfig {
  std::string host = "127.0.0.1";  ///< empty = every address
  std::uint16_t port = 10451;      ///< 0 = any free one
  bool is_enabled = true;

  /// Whether other machines or users may connect, rather than only this machine's own users.
  bool is_public() const;
};

/// How much is decided and sent before the scheduler looks at new events again.
struct BatchConfig {
  std::int32_t binds_per_step = 512;  ///< binds of one decision (a gang is never cut)
  std::int32_t binds_in_flight = 64;  ///< unanswered binds at the API server
  std::int32_t events_per_step = 10000;
  Millis window{2};  ///< how long events are gathered before a decision
};

/// A topology spread of pods that state none; its selector is that of what selects the pod.
struct DefaultConstraint {
  std::string topology_key;
  std::int32_t skew_max = 1;
  std::int32_t domains_min = 1;
  bool is_hard = false;  ///< DoNotSchedule rather than ScheduleAnyway
  bool honors_affinity = true, honors_taints = false;
};

struct DefaultConstraints {
  bool are_of_system = true;            ///< those of kube-scheduler
  std::vector<DefaultConstraint> list;  ///< else these; none: pods get nothing
};

struct SchedulerConfig {
  std::vector<std::string> scheduler_names{"ashlar"};
  ProfileSpec profile;              ///< `ashlar` by default
  std::vector<QueueConfig> queues;  ///< always has `default`, first unless it is configured
  std::vector<NamespaceQueue> namespaces;
  std::vector<StatedClass> device_classes;
  std::vector<std::string> topology_levels;  ///< node label keys, outermost first
  LeaderElectionConfig leader_election;
  ListenConfig listen;                                   ///< the read API, with health and metrics
  ListenConfig health_probe_bind_address{{}, 0, false};  ///< health, and metrics without names of tenants
  DecisionLogConfig decision_log;
  LoggingConfig logging;
  BatchConfig batch;
  std::vector<std::string> accepted_fields;  ///< of newer releases of Kubernetes: "PodSpec.44", message and field
  DefaultConstraints default_constraints;
  std::string quarantine_file;  ///< pods for which the scheduler stopped; empty = no file
};

inline constexpr std::string_view kDefaultQueue = "default";

/// The name that users write for a topology level: the label key's last part ("topology.example.com/rack" is "rack").
std::string_view level_name(std::string_view label);

/// The settings without a file.
SchedulerConfig default_config();
Result<SchedulerConfig> parse_config(std::string_view text, const std::string& file);  // for tests
Result<SchedulerConfig> read_config(const std::string& file);

struct StatedQueue {
  QueueConfig queue;   ///< without its place in the tree
  std::string parent;  ///< empty: the root
};
/// The spec of a Queue, as JSON: the keys of a queue of ashlar.yaml, and `parent`. Empty: nothing is stated. kInvalid
/// says what is wrong in it.
Result<StatedQueue> read_queue_object(const std::string& name, std::string_view spec, const SchedulerConfig& config);

/// "127.0.0.1:PORT", "[::1]:PORT" or ":PORT"; "off" switches it off.
Result<ListenConfig> parse_listen(std::string_view text);

}  // namespace ashlar::config
