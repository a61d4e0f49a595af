// `ashlar scheduler`: follows a Kubernetes API server, decides and binds, until SIGTERM or SIGINT.
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "apps/ashlar/shared/live_setup.h"
#include "apps/ashlar/shared/usage.h"
#include "apps/ashlar/verbs.h"
#include "config/scheduler_config.h"
#include "kubeclient/credentials/kubeconfig.h"

namespace ashlar {
namespace {

struct SchedulerFlags {
  std::string kubeconfig, context, config_file, profile, listen, probes, decision_log;
  std::vector<std::string> scheduler_names;
  bool has_no_election = false, is_validate_only = false;
};

kube::Scheduler* running = nullptr;

/// The members of the JSON object that state what happened: "msg", and the line's object, e.g.
/// "pod":{"namespace":"a","name":"b"}.
class JsonText final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    std::string_view parts[4];  // message, kind, namespace, name
    std::string_view rest(message.payload.data(), message.payload.size());
    for (std::string_view& part : parts) {
      part = rest.substr(0, rest.find(kLogFieldMark));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    }
    append_member("msg", parts[0], out);
    if (parts[1].empty()) return;
    append(",\"", out);
    append_text(parts[1], out);
    append("\":{", out);
    if (!parts[2].empty()) {
      append_member("namespace", parts[2], out);
      append(",", out);
    }
    append_member("name", parts[3], out);
    append("}", out);
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<JsonText>(); }

 private:
  static void append(std::string_view text, spdlog::memory_buf_t& out) {
    out.append(text.data(), text.data() + text.size());
  }
  static void append_text(std::string_view text, spdlog::memory_buf_t& out) {
    for (const char c : text) {
      const bool is_control = static_cast<unsigned char>(c) < 0x20;
      if (c == '"' || c == '\\') out.push_back('\\');
      out.push_back(is_control ? ' ' : c);
    }
  }
  static void append_member(std::string_view key, std::string_view value, spdlog::memory_buf_t& out) {
    append("\"", out);
    append(key, out);
    append("\":\"", out);
    append_text(value, out);
    append("\"", out);
  }
};

/// Only sets a flag and wakes the loop, which is all that a signal handler may do.
void on_signal(int) {
  if (running != nullptr) running->stop();
}

[[noreturn]] void refuse(int status, const std::string& message) {
  std::cerr << "ashlar scheduler: " << message << '\n';
  throw CLI::RuntimeError(status);
}

int status_of(const Error& error) { return error.kind == Error::Kind::kInvalid ? kBadInput : kFailed; }

void set_address(const std::string& text, const std::string& option, config::ListenConfig& out) {
  if (text.empty()) return;
  Result<config::ListenConfig> listen = config::parse_listen(text);
  if (!listen) refuse(kBadInput, option + ": " + listen.error().message);
  out = *listen;
}

config::SchedulerConfig settings(const SchedulerFlags& options) {
  Result<config::SchedulerConfig> config =
      options.config_file.empty() ? Result(config::default_config()) : config::read_config(options.config_file);
  if (!config) refuse(kBadInput, config.error().message);
  if (!options.scheduler_names.empty()) config->scheduler_names = options.scheduler_names;
  const std::string source =
      options.scheduler_names.empty() ? options.config_file + ": schedulerNames" : "--scheduler-name";
  const std::string expected = source + ": expected one name without commas and spaces, got \"";
  for (const std::string& name : config->scheduler_names) {
    if (name.empty()) refuse(kBadInput, "--scheduler-name: expected a name, got \"\"");
    if (const std::string problem = option_as_value("--scheduler-name", name); !problem.empty())
      refuse(kBadInput, problem);
    if (name.find_first_of(", \t") != std::string::npos)
      refuse(kBadInput, (expected + name).append("\"; give each name by itself"));
  }
  if (!options.profile.empty()) {
    Result<config::ProfileSpec> profile = config::find_whole_profile(options.profile);
    if (!profile) refuse(kBadInput, "--profile: " + profile.error().message);
    config->profile = std::move(profile).value();
  }
  set_address(options.listen, "--listen", config->listen);
  set_address(options.probes, "--health-probe-bind-address", config->health_probe_bind_address);
  if (!options.decision_log.empty()) config->decision_log.path = options.decision_log;
  if (options.has_no_election) config->leader_election.is_enabled = false;
  return std::move(config).value();
}

void set_up_logging(const config::LoggingConfig& logging) {
  auto logger = spdlog::stderr_logger_st("ashlar");
  spdlog::set_default_logger(logger);
  using Level = config::LoggingConfig::Level;
  spdlog::set_level(logging.level == Level::kDebug     ? spdlog::level::debug
                    : logging.level == Level::kInfo    ? spdlog::level::info
                    : logging.level == Level::kWarning ? spdlog::level::warn
                                                       : spdlog::level::err);
  if (logging.format == config::LoggingConfig::Format::kText) {
    spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
    return;
  }
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<JsonText>('*').set_pattern(R"({"ts":%E.%F,"level":"%l",%*})");
  spdlog::set_formatter(std::move(formatter));
}

/// The host of an address, as in a URL.
std::string shown(const config::ListenConfig& listen) {
  if (listen.host.empty()) return "0.0.0.0";
  return listen.host.find(':') == std::string::npos ? listen.host : "[" + listen.host + "]";
}

kube::Quarantine open_quarantine(const std::string& path) {
  Result<kube::Quarantine> opened = kube::Quarantine::open(path);
  if (!opened) refuse(status_of(opened.error()), "quarantineFile: " + opened.error().message);
  if (opened->skipped_lines() > 0)
    spdlog::warn("{}: lines skipped, without a uid or too long: {}", path, opened->skipped_lines());
  if (opened->size() > 0)
    spdlog::warn("{}: quarantined pods (a decision about them stopped the scheduler): {}", path, opened->size());
  return std::move(opened).value();
}

void run_scheduler(const SchedulerFlags& options) {
  const config::SchedulerConfig config = settings(options);
  set_up_logging(config.logging);
  Result<kube::Access> access =
      kube::load_access({.kubeconfig = options.kubeconfig, .context = options.context, .environment = {}});
  if (!access && !options.is_validate_only) refuse(status_of(access.error()), access.error().message);
  if (options.is_validate_only) {
    const Result<Profile> profile = kube::live_profile(config.profile.profile);
    if (!profile) refuse(kBadInput, profile.error().message);
    std::cout << "the configuration is valid\n";
    return;
  }
  Result<std::shared_ptr<store::FileWriter>> log = log_writer(config.decision_log);
  if (!log) refuse(status_of(log.error()), log.error().message);
  std::signal(SIGXFSZ, SIG_IGN);  // to the decision log a file size limit is a full disk, and no reason to die
  kube::SchedulerOptions live = live_options(config, std::move(access).value(), std::move(log).value());
  live.version = ASHLAR_VERSION;
  kube::Quarantine quarantine;
  if (!config.quarantine_file.empty()) {
    quarantine = open_quarantine(config.quarantine_file);
    live.leader_term.tracker.quarantine = &quarantine;
  }
  const std::string identity = live.leader.identity;
  Result<std::unique_ptr<kube::Scheduler>> scheduler = kube::Scheduler::create(std::move(live));
  if (!scheduler) refuse(status_of(scheduler.error()), scheduler.error().message);
  std::string names;
  for (const std::string& name : config.scheduler_names) names += (names.empty() ? "" : ", ") + name;
  spdlog::info("ashlar {} serves {} with profile {} as {}", ASHLAR_VERSION, names, config.profile.profile.name,
               identity);
  if ((*scheduler)->port() != 0)
    spdlog::info("read API, health and metrics: http://{}:{}", shown(config.listen), (*scheduler)->port());
  if ((*scheduler)->probe_port() != 0)
    spdlog::info("health and metrics: http://{}:{}", shown(config.health_probe_bind_address),
                 (*scheduler)->probe_port());
  if (config.listen.is_public())
    spdlog::warn(
        "the read API answers without authentication on {}; anyone who can reach it can read the names of all tenants",
        shown(config.listen));
  running = scheduler->get();
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  struct sigaction before {};
  // The terminal was closed; under nohup that is no reason to end.
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  (*scheduler)->run();
  running = nullptr;
  spdlog::info("stopped");
}

}  // namespace

void add_scheduler(CLI::App& app) {
  auto options = std::make_shared<SchedulerFlags>();
  CLI::App* verb = app.add_subcommand("scheduler", "Schedule the pods of a Kubernetes cluster");
  verb->add_option("--kubeconfig", options->kubeconfig,
                   "Kubeconfig file; else $KUBECONFIG, ~/.kube/config, or the service account of the pod")
      ->type_name("FILE")
      ->check(any_file());
  verb->add_option("--context", options->context, "Context of the kubeconfig")->type_name("NAME");
  verb->add_option("--config", options->config_file,
                   "Configuration file (ashlar.yaml, docs/reference/configuration.md)")
      ->type_name("FILE")
      ->check(any_file());
  verb->add_option("--scheduler-name", options->scheduler_names,
                   "Value of spec.schedulerName of the pods to place; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  verb->add_option("--profile", options->profile, "Built-in profile or profile file; overrides the configuration file")
      ->type_name("NAME|FILE")
      ->check(profile_or_file());
  verb->add_option("--listen", options->listen,
                   "Address of the read API (ashlar why, queue, nodes), health and metrics: IP:PORT, :PORT or off")
      ->type_name("ADDRESS");
  verb->add_option("--health-probe-bind-address", options->probes,
                   "Address of health and metrics without tenant names: IP:PORT, :PORT or off")
      ->type_name("ADDRESS");
  verb->add_option("--decision-log", options->decision_log, "Directory of the decision log")
      ->type_name("DIR")
      ->check(any_file());
  verb->add_flag("--no-leader-election", options->has_no_election,
                 "Run as leader without a Lease; for a single replica");
  verb->add_flag("--validate-only", options->is_validate_only, "Check the configuration and exit");
  verb->callback([options] { run_scheduler(*options); });
}

}  // namespace ashlar
