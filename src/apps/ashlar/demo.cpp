// `ashlar demo`: a real API server, fake nodes by kwok, Ashlar as scheduler, and two minutes of jobs to watch; then a
// contended script on kube-scheduler and on Ashlar. Until the control plane is built, the jobs are shown on the
// simulator. Everything runs on loopback in one temporary folder and is removed afterwards, whatever part fails.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "apps/ashlar/shared/usage.h"
#include "apps/ashlar/verbs.h"
#include "apps/demo/play.h"
#include "apps/demo/rehearsal.h"
#include "apps/demo/view.h"
#include "cli/terminal.h"
#include "envtest/control_plane.h"
#include "kubeclient/writes.h"

namespace ashlar {
namespace {

constexpr Millis kYardstickPatience{420'000};  ///< building kube-scheduler takes some minutes on a small machine

struct DemoOptions {
  bool is_short = false, has_no_wait = false, has_no_comparison = false, is_only_comparison = false;
  bool is_simulated = false;
  std::string color = "auto", output = "text";
  demo::ControlPlaneBuild build;
  bool is_json() const { return output == "json"; }
};

std::atomic<bool> is_interrupted{false};
void on_interrupt(int) { is_interrupted = true; }

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "ashlar demo: %s\n", message.c_str());
  throw CLI::RuntimeError(kFailed);
}

void say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

/// While it lives, what is printed for people goes to stderr, and stdout is left for a document.
class PeopleOnStderr {
 public:
  PeopleOnStderr() : stdout_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) {
    std::fflush(stdout);
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~PeopleOnStderr() {
    std::fflush(stdout);
    dup2(stdout_, STDOUT_FILENO);
    close(stdout_);
  }
  PeopleOnStderr(const PeopleOnStderr&) = delete;
  PeopleOnStderr& operator=(const PeopleOnStderr&) = delete;

 private:
  int stdout_;
};

/// The control plane, kwok and our scheduler; all stop with this object.
struct Stage {
  std::unique_ptr<envtest::ControlPlane> plane;
  std::unique_ptr<kube::Api> api;
  envtest::ChildProcess* kwok = nullptr;
  envtest::ChildProcess ashlar;
  std::string program;
  std::uint16_t port = 0;

  /// Names the part that died, or returns nothing.
  std::string dead_part() {
    if (!plane->etcd().is_running()) return "etcd";
    if (!plane->api_server().is_running()) return "kube-apiserver";
    if (!kwok->is_running()) return "kwok";
    if (ashlar.pid() > 0 && !ashlar.is_running()) return "ashlar scheduler";
    return "";
  }
};

std::string scheduler_config() {
  std::string text =
      "apiVersion: config.ashlar.dev/v1alpha1\nkind: SchedulerConfiguration\ntopology:\n  levels: [block, "
      "rack]\nleaderElection:\n  enabled: "
      "false\nqueues:\n";
  for (const demo::Team& team : demo::teams()) {
    text += "  - name: " + team.name + "\n";
    if (team.quota_gpus > 0) text += "    quota:\n      nvidia.com/gpu: " + std::to_string(team.quota_gpus) + "\n";
  }
  return text + "  - name: default\n";
}

void start_ashlar(Stage& stage) {
  const std::string config = stage.plane->folder() + "/ashlar.yaml";
  std::ofstream(config) << scheduler_config();
  stage.port = envtest::free_port();
  auto process =
      envtest::ChildProcess::start({stage.program, "scheduler", "--kubeconfig", stage.plane->kubeconfig(), "--config",
                                    config, "--listen", "127.0.0.1:" + std::to_string(stage.port)},
                                   stage.plane->folder() + "/ashlar.log");
  if (!process) fail("cannot start the scheduler: " + process.error().message);
  stage.ashlar = std::move(*process);
}

/// Urgent jobs come first in the queue but stop nobody: Ashlar does not preempt, and in the comparison both have the
/// same rules.
void create_priority_class(kube::Api& api) {
  kube::call(
      api, {.method = http::Method::kPost,
            .path = "/apis/scheduling.k8s.io/v1/priorityclasses",
            .body = std::string(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")") +
                    demo::kCriticalClass + R"("},"preemptionPolicy":"Never","value":)" +
                    std::to_string(demo::kCriticalPriority) + "}"});
}

Stage set_up() {
  Stage stage;
  stage.program = std::filesystem::canonical("/proc/self/exe").string();
  std::printf("starting etcd and kube-apiserver on loopback ...\n");
  std::fflush(stdout);
  auto plane = envtest::ControlPlane::start({});
  if (!plane)
    fail(plane.error().message +
         (plane.error().kind == Error::Kind::kNotFound ? "\n  ./dev demo builds what is missing" : ""));
  stage.plane = std::move(*plane);
  auto api = stage.plane->connect();
  if (!api) fail(api.error().message);
  stage.api = std::move(*api);
  const std::string stages = stage.plane->folder() + "/kwok.yaml";
  std::ofstream(stages) << demo::file("kwok-stages.yaml");
  auto kwok = stage.plane->run_kwok(stages);
  if (!kwok) fail(kwok.error().message);
  stage.kwok = *kwok;
  create_priority_class(*stage.api);
  std::printf("posting %d nodes of %d GPUs in %d racks ...\n", demo::kNodes, demo::kGpusPerNode, demo::kRacks);
  std::fflush(stdout);
  if (const Result<void> posted = demo::post_nodes(*stage.api); !posted)
    fail("cannot post the nodes: " + posted.error().message);
  return stage;
}

void create_namespace(kube::Api& api, const std::string& name) {
  bool is_done = false;
  kube::create_namespace(api, name, [&](const kube::Answer&) { is_done = true; });
  while (!is_done) api.poll(Millis(50));
}

/// Plays a script in its own namespace and shows it.
demo::Score play(Stage& stage, const demo::Script& script, demo::PlayOptions options, demo::Screen* screen) {
  create_namespace(*stage.api, options.ns);
  const Millis start = stage.api->now();
  std::string dead;
  options.on_frame = [&](const demo::Scene& scene) {
    if (screen != nullptr) screen->show(scene, stage.api->now() - start, script.length);
    dead = stage.dead_part();
    return dead.empty() && !is_interrupted;
  };
  demo::Score score = demo::Play(*stage.api, script, options).run();
  if (!dead.empty())
    fail(dead + " exited; the end of its log:\n" +
         envtest::tail_of(stage.plane->folder() + "/" + (dead == "ashlar scheduler" ? "ashlar" : dead) + ".log", 12));
  return score;
}

/// Waits for the yardstick's binary while it is being built.
bool has_yardstick(pid_t builder) {
  if (envtest::ControlPlane::find_binary("kube-scheduler").ok()) return true;
  if (builder <= 0) return false;
  std::printf("waiting for the build of kube-scheduler ...\n");
  std::fflush(stdout);
  return envtest::ControlPlane::await_binary("kube-scheduler", builder, kYardstickPatience,
                                             [] { return !is_interrupted; });
}

/// Nodes are filled one by one, as the documentation of kube-scheduler proposes under "resource bin packing": its
/// default spreads pods, and so leaves no node whole for the gangs.
std::string yardstick_config(const std::string& kubeconfig) {
  return "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nclientConnection:\n"
         "  kubeconfig: " +
         kubeconfig +
         "\n  qps: 1000\n  burst: 1000\nleaderElection:\n  leaderElect: false\n"
         "profiles:\n- schedulerName: default-scheduler\n  pluginConfig:\n  - name: NodeResourcesFit\n    args:\n"
         "      scoringStrategy:\n        type: MostAllocated\n        resources:\n"
         "        - name: nvidia.com/gpu\n          weight: 1\n        - name: ashlar.dev/gpu-milli\n          "
         "weight: 1\n";
}

/// One score for each scheduler; none if kube-scheduler is missing, fewer if interrupted.
std::vector<demo::Score> compare(Stage& stage, const demo::Script& script, pid_t builder) {
  if (!has_yardstick(builder)) {
    std::printf(
        "kube-scheduler is missing: no comparison. ./dev demo builds it (if that fails, see "
        "build/controlplane.log).\n");
    return {};
  }
  say("\n" + demo::comparison_head(script));
  const std::string config = stage.plane->folder() + "/kube-scheduler.yaml";
  std::ofstream(config) << yardstick_config(stage.plane->kubeconfig());
  auto yardstick =
      stage.plane->run("kube-scheduler", {"--config=" + config, "--secure-port=0",
                                          "--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true"});
  if (!yardstick) fail(yardstick.error().message);
  std::vector<demo::Score> scores;
  const auto row = [&](const std::string& label, demo::PlayOptions options) {
    if (is_interrupted) return;
    say("  " + label + "\n");
    demo::Score score = play(stage, script, std::move(options), nullptr);
    score.label = label;
    if (is_interrupted) return;
    say(demo::comparison_row(score));
    scores.push_back(std::move(score));
  };
  row("kube-scheduler, PodGroups with topology", {.ns = "compare-kube",
                                                  .scheduler_name = "default-scheduler",
                                                  .has_groups = true,
                                                  .has_queues = false,
                                                  .on_frame = {}});
  row("kube-scheduler, plain pods", {.ns = "compare-kube-plain",
                                     .scheduler_name = "default-scheduler",
                                     .has_groups = false,
                                     .has_queues = false,
                                     .on_frame = {}});
  (*yardstick)->stop();
  row("Ashlar",
      {.ns = "compare-ashlar", .scheduler_name = "ashlar", .has_groups = true, .has_queues = false, .on_frame = {}});
  if (!scores.empty()) say("\n" + demo::comparison_legend());
  return scores;
}

void say_goodbye(const Stage& stage) {
  const char* program = stage.program.c_str();
  std::printf(
      "\nThe cluster keeps running. In another terminal:\n\n  export KUBECONFIG=%s ASHLAR_SERVER=http://127.0.0.1:%d\n "
      " %s nodes\n  %s queue\n  %s "
      "why %s/impossible\n\n"
      "Ctrl-C ends it and removes everything.\n",
      stage.plane->kubeconfig().c_str(), static_cast<int>(stage.port), program, program, program,
      demo::kStoryNamespace);
  std::fflush(stdout);
}

/// A binary that the demo needs and that is not there; empty if there is none.
std::string lacking_binary() {
  for (const char* name : {"etcd", "kube-apiserver", "kwok"})
    if (!envtest::ControlPlane::find_binary(name)) return name;
  return {};
}

/// While the control plane is being built: the script on the simulator.
void await_control_plane(const DemoOptions& options, const demo::Script& script, bool has_colour) {
  if (options.build.process <= 0 || lacking_binary().empty()) return;
  const bool is_screen = cli::is_screen(STDOUT_FILENO);
  Result<void> built;
  {
    demo::Screen screen(is_screen, has_colour);
    built = demo::rehearse({.script = script,
                            .build = options.build,
                            .lacking = lacking_binary,
                            .repeats = is_screen,
                            .goes_on = [] { return !is_interrupted; }},
                           screen);
  }
  if (!built) fail(built.error().message);
  if (!is_interrupted) std::printf("Kubernetes is built: now the same jobs on a real control plane\n");
}

void print_summary(const demo::Score& score) {
  std::printf("%d of %d gangs started, %d split across racks without need;\n%.0f GPU-seconds idle while work waited\n",
              score.gangs_started, score.gangs, score.gangs_split, score.idle_gpu_seconds);
}

void play_story(Stage& stage, const demo::Script& script, bool has_colour) {
  demo::Score score;
  {
    demo::Screen screen(cli::is_screen(STDOUT_FILENO), has_colour);
    score = play(stage, script, {.keeps_waiting_jobs = true, .on_frame = {}}, &screen);
  }
  print_summary(score);
  if (score.gangs_started == 0 && !is_interrupted)
    fail("no gang started; the end of the scheduler's log:\n" +
         envtest::tail_of(stage.plane->folder() + "/ashlar.log", 12));
}

void play_simulated(const demo::Script& script, bool has_colour) {
  demo::Score score;
  {
    demo::Screen screen(cli::is_screen(STDOUT_FILENO), has_colour);
    score = demo::play_simulated(script, screen, [] { return !is_interrupted; });
  }
  print_summary(score);
}

/// Only the comparison, with its document on stdout; ends without waiting for Ctrl-C.
void print_comparison(const DemoOptions& options, bool has_colour) {
  const demo::Script script = demo::contended();
  std::vector<demo::Score> scores;
  {
    const PeopleOnStderr people;
    await_control_plane(options, demo::two_minutes(), has_colour);
    if (!is_interrupted) {
      Stage stage = set_up();
      start_ashlar(stage);
      scores = compare(stage, script, options.build.process);
    }
  }
  if (is_interrupted) fail("interrupted before the comparison was over");
  if (scores.empty()) fail("no comparison without kube-scheduler");
  std::printf("%s", demo::comparison_json(script, scores).c_str());
}

void run_demo(const DemoOptions& options) {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // under nohup it continues
  const demo::Script script = options.is_short ? demo::short_story() : demo::two_minutes();
  const bool has_colour = options.color == "always" || (options.color == "auto" && cli::wants_colour(STDOUT_FILENO));
  if (options.is_simulated) return play_simulated(script, has_colour);
  if (options.is_json()) return print_comparison(options, has_colour);
  await_control_plane(options, script, has_colour);
  if (is_interrupted) return;
  Stage stage = set_up();
  start_ashlar(stage);
  if (!options.is_only_comparison) play_story(stage, script, has_colour);
  const bool is_compared = options.is_only_comparison || (!options.is_short && !options.has_no_comparison);
  if (is_compared && !is_interrupted) compare(stage, demo::contended(), options.build.process);
  if (options.has_no_wait || is_interrupted) return;
  say_goodbye(stage);
  while (!is_interrupted) {
    stage.api->poll(Millis(200));
    if (const std::string dead = stage.dead_part(); !dead.empty()) fail(dead + " died");
  }
}

}  // namespace

void add_demo(CLI::App& app) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* verb = app.add_subcommand(
      "demo",
      "Run two minutes of jobs on a real API server with 64 fake nodes, then compare Ashlar with kube-scheduler for "
      "about four minutes");
  CLI::Option* brief =
      verb->add_flag("--short", options->is_short, "Run a few seconds, one job of each kind, without the comparison");
  verb->add_flag("--no-wait", options->has_no_wait, "Exit at the end of the script instead of waiting for Ctrl-C");
  CLI::Option* none =
      verb->add_flag("--no-comparison", options->has_no_comparison, "Skip the comparison with kube-scheduler");
  CLI::Option* only =
      verb->add_flag("--only-comparison", options->is_only_comparison, "Run only the comparison with kube-scheduler")
          ->excludes(none)
          ->excludes(brief);
  verb->add_flag("--simulated", options->is_simulated,
                 "Show the same jobs on the simulator only: needs no control plane")
      ->excludes(only);
  verb->add_option("--color", options->color, "Colours: auto, always or never")
      ->type_name("WHEN")
      ->check(one_of({"auto", "always", "never"}))
      ->capture_default_str();
  add_format_option(*verb, options->output, {"text", "json"});
  // For ./dev demo, which builds the control plane meanwhile; not in the help.
  verb->add_option("--building", options->build.process, "Process that builds the control plane")->group("");
  verb->add_option("--building-takes", options->build.usually.value, "Usual time of that build in milliseconds")
      ->group("");
  verb->add_option("--building-log", options->build.log, "Log of that build")->group("");
  verb->callback([options] {
    if (options->is_json() && !options->is_only_comparison)
      throw VerbError(kBadInput, "--output: json shows the comparison: add --only-comparison");
    run_demo(*options);
  });
}

}  // namespace ashlar
