#include "oracle/binding_oracle.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "cluster/filters/posting.h"
#include "cluster/filters/vocabulary.h"
#include "oracle/binding_programs.h"
#include "oracle/binding_provisioner.h"
#include "oracle/binding_rules.h"

namespace ashlar::binding {
namespace {

using std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(90);
/// kube-scheduler looks once a second whether claims are bound, and tries a pod again a second after it failed.
constexpr auto kQuiet = std::chrono::milliseconds(3200);
constexpr Millis kPause{250};

using Worlds = std::vector<World>;
/// Which steps of each world were done: those that would wake several pods at once are not.
using Done = std::vector<std::vector<bool>>;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

class BindingOracle {
 public:
  BindingOracle(cluster::ControlPlane& plane, const BindingOptions& options) : plane_(plane), options_(options) {}
  Result<void> start();
  /// Worlds of these numbers.
  Result<void> compare(std::size_t first, std::size_t count);
  BindingReport report;

 private:
  Worlds draw(std::size_t first, std::size_t count, const char* manner, const std::string& scheduler) const;
  Result<void> post(const Worlds& worlds);
  Result<Seen> settle(const Worlds& worlds);
  Result<Seen> in_order(const Worlds& worlds, Done& done, bool decides);
  Result<void> at_once(const Worlds& worlds);
  Result<void> ask_twins(const Worlds& worlds, const Seen& seen);
  void step(const Worlds& worlds, std::size_t number, const Done& done);
  void keep_rules(const Worlds& worlds, const Seen& seen, const char* who);
  void compare_outcomes(const Worlds& theirs, const Seen& their_end, const Worlds& ours, const Seen& our_end);
  void count_theirs(const Worlds& worlds, const Seen& seen);
  void differ(const World& world, const std::string& what);
  Result<void> clean();

  cluster::ControlPlane& plane_;
  const BindingOptions& options_;
  std::unique_ptr<kube::Api> api_;
  std::unique_ptr<BindingPrograms> programs_;
  std::unique_ptr<BindingProvisioner> provisioner_;
  std::map<std::string, std::string> node_of_;  ///< of each pod that was ever bound, one after the other
};

Result<void> BindingOracle::start() {
  Result<std::unique_ptr<kube::Api>> api = plane_.connect();
  if (!api) return api.error();
  api_ = std::move(api).value();
  if (Result<void> done = filters::post_namespaces(*api_); !done) return done;
  if (Result<void> done = filters::post_drivers(*api_); !done) return done;
  Result<std::unique_ptr<BindingPrograms>> programs = BindingPrograms::start(plane_);
  if (!programs) return programs.error();
  programs_ = std::move(programs).value();
  provisioner_ = std::make_unique<BindingProvisioner>(*api_);
  return {};
}

Worlds BindingOracle::draw(std::size_t first, std::size_t count, const char* manner,
                           const std::string& scheduler) const {
  Worlds worlds;
  for (std::size_t number = first; number < first + count; ++number)
    worlds.push_back(draw_world({.seed = options_.seed,
                                 .number = number,
                                 .prefix = "w" + std::to_string(number) + manner + "-",
                                 .scheduler_name = scheduler}));
  return worlds;
}

Result<void> BindingOracle::post(const Worlds& worlds) {
  filters::Posting posting(*api_);
  std::vector<DrawnObject> objects;
  std::vector<DrawnNode> nodes;
  for (const World& world : worlds) {
    objects.insert(objects.end(), world.objects.begin(), world.objects.end());
    nodes.insert(nodes.end(), world.nodes.begin(), world.nodes.end());
  }
  if (Result<void> done = posting.create_nodes(nodes); !done) return done;
  posting.create_objects(objects);
  if (posting.refused() > 0) return Error{Error::Kind::kInvalid, posting.first_refusal()};
  Result<Seen> seen = settle(worlds);
  return seen ? Result<void>{} : seen.error();
}

/// Until nothing has changed for a while, each pod is bound or refused, and the controller has seen all volumes; the provisioner works meanwhile.
Result<Seen> BindingOracle::settle(const Worlds& worlds) {
  const auto began = steady_clock::now();
  auto changed = began;
  std::string digest;
  for (;;) {
    Result<Seen> seen = look(*api_);
    if (!seen) return seen;
    if (std::string now = seen->digest(); now != digest) {
      digest = std::move(now);
      changed = steady_clock::now();
    }
    for (const World& world : worlds) provisioner_->act(*seen, world);
    if (!provisioner_->trouble().empty()) return Error{Error::Kind::kInvalid, provisioner_->trouble()};
    const auto unanswered = std::ranges::find_if(
        seen->pods, [](const auto& named) { return named.second.node.empty() && named.second.refusal.empty(); });
    const bool are_answered = unanswered == seen->pods.end();
    const bool are_offered =
        std::ranges::none_of(seen->volumes, [](const auto& named) { return named.second.phase == "Pending"; });
    if (are_answered && are_offered && steady_clock::now() - changed >= kQuiet) return seen;
    if (const std::string ended = programs_->ended(); !ended.empty())
      return Error{Error::Kind::kInternal, ended + " has ended"};
    if (steady_clock::now() - began > kPatience)
      return Error{Error::Kind::kTimeout, are_answered ? "the worlds do not come to rest"
                                                       : "pod " + unanswered->first + " is neither bound nor refused"};
    const auto until = steady_clock::now() + std::chrono::milliseconds(kPause.value);
    while (steady_clock::now() < until) api_->poll(Millis(20));
  }
}

void BindingOracle::step(const Worlds& worlds, std::size_t number, const Done& done) {
  filters::Posting posting(*api_);
  std::vector<DrawnObject> objects;
  std::vector<DrawnPod> pods, removed;
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    const Step& now = worlds[i].steps[number];
    if (!done[i][number]) continue;
    objects.insert(objects.end(), now.claims.begin(), now.claims.end());
    if (now.kind == Step::Kind::kPod) pods.push_back(now.pod);
    if (now.kind == Step::Kind::kVolume) objects.push_back(now.volume);
    if (now.kind == Step::Kind::kRemoval) removed.push_back(worlds[i].steps[now.removed].pod);
  }
  posting.create_objects(objects);
  posting.create_pods(pods);
  posting.remove_pods(removed);
  if (posting.refused() > 0 && report.manifests.size() < options_.manifests_max)
    report.manifests.push_back("the server refuses: " + posting.first_refusal());
  report.different += posting.refused();
}

/// `decides`: which steps are done is decided here, else it is as given.
Result<Seen> BindingOracle::in_order(const Worlds& worlds, Done& done, bool decides) {
  if (Result<void> posted = post(worlds); !posted) return posted.error();
  Result<Seen> seen = look(*api_);
  for (std::size_t number = 0; seen && number < worlds.front().steps.size(); ++number) {
    for (std::size_t i = 0; decides && i < worlds.size(); ++i) {
      const auto waiting = std::ranges::count_if(seen->pods, [&](const auto& named) {
        return named.first.starts_with(worlds[i].prefix) && named.second.node.empty();
      });
      done[i][number] = worlds[i].steps[number].kind == Step::Kind::kPod || waiting <= 1;
    }
    step(worlds, number, done);
    seen = settle(worlds);
    for (const auto& [pod, is] : seen ? seen->pods : std::map<std::string, SeenPod>())
      if (!is.node.empty()) node_of_[pod] = is.node;
  }
  return seen;
}

void BindingOracle::differ(const World& world, const std::string& what) {
  ++report.different;
  if (report.manifests.size() < options_.manifests_max)
    report.manifests.push_back("# seed " + std::to_string(options_.seed) + ", world " + world.prefix + "\n# " + what +
                               "\n" + manifest_of(world));
}

void BindingOracle::keep_rules(const Worlds& worlds, const Seen& seen, const char* who) {
  for (const World& world : worlds)
    for (const std::string& broken : broken_rules(world, seen, provisioner_->made()))
      differ(world, std::string(who) + ": " + broken);
}

void BindingOracle::count_theirs(const Worlds& worlds, const Seen& seen) {
  for (const World& world : worlds)
    for (const Step& step : world.steps) {
      const auto is = seen.pods.find(step.pod.name);
      if (step.kind != Step::Kind::kPod || is == seen.pods.end()) continue;
      ++report.pods;
      const auto count = [&](BindingReport::Outcome& to) { ++(is->second.node.empty() ? to.waiting : to.bound); };
      count(report.kube);
      for (const std::string& feature : step.pod.features) count(report.features[feature]);
      if (is->second.node.empty())
        ++report.refusals[is->second.refusal.substr(0, is->second.refusal.find(". preempt"))];
    }
  for (const auto& [name, claim] : seen.claims) {
    ++report.claims;
    if (claim.volume.empty()) continue;
    ++(claim.volume.starts_with("made-") ? report.made_volumes : report.static_volumes);
  }
}

void BindingOracle::compare_outcomes(const Worlds& theirs, const Seen& their_end, const Worlds& ours,
                                     const Seen& our_end) {
  for (std::size_t i = 0; i < ours.size(); ++i)
    for (std::size_t number = 0; number < ours[i].steps.size(); ++number) {
      const Step& step = ours[i].steps[number];
      if (step.kind != Step::Kind::kPod) continue;
      const std::string& pod = theirs[i].steps[number].pod.name;
      const std::string expected = outcome_of(theirs[i], their_end, pod);
      const std::string found = outcome_of(ours[i], our_end, step.pod.name);
      if (const auto is = our_end.pods.find(step.pod.name); is != our_end.pods.end())
        ++(is->second.node.empty() ? report.ashlar.waiting : report.ashlar.bound);
      if (expected == found) continue;
      const auto words = [](const Seen& seen, const std::string& name) {
        const auto is = seen.pods.find(name);
        return is == seen.pods.end() ? std::string() : is->second.refusal;
      };
      differ(ours[i], "pod " + step.pod.name + "\n# kube-scheduler: " + expected + " " + words(their_end, pod) +
                          "\n# Ashlar, tied to the same node: " + found + " " + words(our_end, step.pod.name));
    }
}

/// For each pod that waits a copy is posted, and kube-scheduler is asked for its nodes.
Result<void> BindingOracle::ask_twins(const Worlds& worlds, const Seen& seen) {
  std::vector<DrawnPod> twins;
  std::vector<std::pair<const World*, std::string>> asked;
  for (const World& world : worlds)
    for (const Step& step : world.steps) {
      const auto is = seen.pods.find(step.pod.name);
      if (step.kind != Step::Kind::kPod || is == seen.pods.end()) continue;
      ++(is->second.node.empty() ? report.ashlar_at_once.waiting : report.ashlar_at_once.bound);
      if (!is->second.node.empty()) continue;
      DrawnPod twin = step.pod;
      twin.name += "-twin";
      twin.body =
          replaced(replaced(twin.body, "\"" + step.pod.name + "\"", "\"" + twin.name + "\""), kAshlarName, kTwinName);
      twins.push_back(std::move(twin));
      asked.emplace_back(&world, step.pod.name);
    }
  filters::Posting posting(*api_);
  posting.create_pods(twins);
  Result<Seen> later = settle(worlds);
  if (!later) return later.error();
  for (const auto& [world, pod] : asked) {
    const auto passed = programs_->twins().passed("team-a", pod + "-twin");
    if (!passed || passed->empty() || !later->pods[pod].node.empty()) continue;
    std::string nodes;
    for (const std::string& node : *passed) nodes += " " + node;
    differ(*world, "pod " + pod + " waits (" + later->pods[pod].refusal + "), though kube-scheduler finds" + nodes);
  }
  return {};
}

Result<void> BindingOracle::at_once(const Worlds& worlds) {
  if (Result<void> posted = post(worlds); !posted) return posted;
  const Done all(worlds.size(), std::vector<bool>(worlds.front().steps.size(), true));
  Done pods = all, volumes = all;
  for (std::size_t i = 0; i < worlds.size(); ++i)
    for (std::size_t number = 0; number < worlds[i].steps.size(); ++number) {
      pods[i][number] = worlds[i].steps[number].kind == Step::Kind::kPod;
      volumes[i][number] = worlds[i].steps[number].kind == Step::Kind::kVolume;
    }
  for (const Done* part : {&pods, &volumes}) {
    for (std::size_t number = 0; number < worlds.front().steps.size(); ++number) step(worlds, number, *part);
    if (Result<Seen> seen = settle(worlds); !seen) return seen.error();
  }
  Result<Seen> seen = settle(worlds);
  if (!seen) return seen.error();
  keep_rules(worlds, *seen, "Ashlar, all pods at once");
  return ask_twins(worlds, *seen);
}

Result<void> BindingOracle::clean() {
  report.failed_provisionings = provisioner_->failed();
  provisioner_->forget();
  programs_->twins().forget();
  return filters::remove_everything(*api_);
}

/// Each pod of `ours` may go only where kube-scheduler has put it, however long it was there.
Worlds tied(Worlds ours, const Worlds& theirs, const std::map<std::string, std::string>& node_of) {
  for (std::size_t i = 0; i < ours.size(); ++i)
    for (std::size_t number = 0; number < ours[i].steps.size(); ++number) {
      const auto is = node_of.find(theirs[i].steps[number].pod.name);
      if (is == node_of.end()) continue;
      const std::string node = ours[i].prefix + plain_name(theirs[i], is->second);
      const std::string begin = R"("nodeSelector":{)";
      std::string& body = ours[i].steps[number].pod.body;
      body = replaced(body, begin, begin + "\"" + std::string(filters::kHostname) + "\":\"" + node + "\",");
    }
  return ours;
}

Result<void> BindingOracle::compare(std::size_t first, std::size_t count) {
  const Worlds theirs = draw(first, count, "k", kKubeName);
  Done done(count, std::vector<bool>(theirs.front().steps.size(), true));
  Result<Seen> their_end = in_order(theirs, done, true);
  if (!their_end) return their_end.error();
  keep_rules(theirs, *their_end, "kube-scheduler");
  count_theirs(theirs, *their_end);
  if (Result<void> cleaned = clean(); !cleaned) return cleaned;

  const Worlds ours = tied(draw(first, count, "a", kAshlarName), theirs, node_of_);
  Result<Seen> our_end = in_order(ours, done, false);
  if (!our_end) return our_end.error();
  keep_rules(ours, *our_end, "Ashlar");
  compare_outcomes(theirs, *their_end, ours, *our_end);
  if (Result<void> cleaned = clean(); !cleaned) return cleaned;

  if (Result<void> compared = at_once(draw(first, count, "f", kAshlarName)); !compared) return compared;
  report.worlds += count;
  return clean();
}

}  // namespace

std::string BindingReport::text() const {
  std::string text;
  const auto line = [&](const std::string& what, const std::string& value) {
    text += "  " + what + std::string(what.size() < 72 ? 72 - what.size() : 1, ' ') + value + "\n";
  };
  const auto both = [](const Outcome& of) {
    return std::to_string(of.bound) + " bound, " + std::to_string(of.waiting) + " wait";
  };
  line("worlds", std::to_string(worlds));
  line("pods at the end, one after the other, by kube-scheduler", both(kube));
  line("  by Ashlar", both(ashlar));
  line("all at once, by Ashlar", both(ashlar_at_once));
  line("claims", std::to_string(claims));
  line("  bound to a volume that was offered", std::to_string(static_volumes));
  line("  bound to one that was made for it", std::to_string(made_volumes));
  line("provisionings that failed once, of all", std::to_string(failed_provisionings));
  text += "  pods with\n";
  for (const auto& [feature, outcome] : features) line("  " + feature, both(outcome));
  line("differences", std::to_string(different));
  return text;
}

Result<BindingReport> compare_bindings(cluster::ControlPlane& plane, const BindingOptions& options,
                                       const std::function<void(const BindingReport&)>& on_batch) {
  BindingOracle oracle(plane, options);
  if (Result<void> done = oracle.start(); !done) return done.error();
  const auto began = steady_clock::now();
  for (std::size_t first = options.only.value_or(0); oracle.report.pods < options.pods;) {
    const std::size_t count = options.only ? 1 : options.worlds_at_once;
    if (Result<void> done = oracle.compare(first, count); !done)
      return Error{done.error().kind, "worlds from " + std::to_string(first) + ": " + done.error().message};
    first += count;
    oracle.report.seconds = std::chrono::duration<double>(steady_clock::now() - began).count();
    if (on_batch) on_batch(oracle.report);
    if (options.only) break;
  }
  return std::move(oracle.report);
}

}  // namespace ashlar::binding
