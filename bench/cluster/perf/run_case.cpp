#include "run_case.h"

#include <algorithm>

#include "config/yaml/reader.h"
#include "text/text_file.h"

namespace ashlar::bench::perf {
namespace {

constexpr std::size_t kInFlight = 64;
constexpr std::string_view kProbeNamespace = "perf-probe";
constexpr const char* kPlainNode =
    "apiVersion: v1\nkind: Node\nmetadata: {generateName: node-}\nstatus:\n"
    "  allocatable: {cpu: '4', memory: 32Gi, pods: '110'}\n  capacity: {cpu: '4', memory: 32Gi, pods: '110'}\n";

Instant now() { return std::chrono::steady_clock::now(); }

std::string namespace_of(const Operation& op, std::size_t index) {
  return op.name_space.empty() ? "perf-" + std::to_string(index) : op.name_space;
}

std::size_t total_of(const Operation& op) { return static_cast<std::size_t>(op.count.value * op.multiplier.value); }

TemplateValues values_of(const Operation& op, std::size_t i) {
  TemplateValues values{{"Index", std::to_string(i)}, {"Count", std::to_string(total_of(op))}};
  for (const auto& [name, value] : op.template_params) values[name] = value;
  return values;
}

Result<std::string> node_template(const Operation& op) {
  if (op.template_path.empty()) return std::string(kPlainNode);
  return read_text_file(op.template_path, config::YamlReader::kBytesMax);
}

/// What makes the nodes of two cases the same.
Result<std::string> recipe_of(const std::vector<Operation>& operations) {
  std::string recipe;
  for (const Operation& op : operations) {
    if (op.opcode != Opcode::kCreateNodes) continue;
    const Result<std::string> text = node_template(op);
    if (!text) return text.error();
    recipe += std::to_string(total_of(op)) + *text + op.label_key + op.unique_label_key;
    for (const std::string& value : op.label_values) recipe += value + ",";
    for (const Texts* pairs : {&op.allocatable, &op.template_params})
      for (const auto& [name, value] : *pairs) recipe.append(name).append("=").append(value).append(",");
  }
  return recipe;
}

NodeEdits edits_of(const Operation& op, std::size_t i, const std::string& name) {
  NodeEdits edits{.labels = {{"kubernetes.io/hostname", name}}, .allocatable = op.allocatable};
  if (!op.label_key.empty()) edits.labels.emplace_back(op.label_key, op.label_values[i % op.label_values.size()]);
  if (!op.unique_label_key.empty()) edits.labels.emplace_back(op.unique_label_key, name);
  return edits;
}

}  // namespace

void CaseRun::step(Millis timeout) {
  api_.poll(timeout);
  bound_.go_on();
  if (!is_measuring_) return;
  for (Churn& churn : churns_)
    if (now() >= churn.next) tick_churn(churn);
}

Result<void> CaseRun::wait_until(const std::function<bool()>& is_done, double seconds, bool must) {
  const Instant start = now();
  while (!is_done() && !bound_.has_failed() && seconds_between(start, now()) < seconds) step(Millis(20));
  if (bound_.has_failed()) return Error{Error::Kind::kUnavailable, "the watch of bound pods ended during the run"};
  if (must && !is_done())
    return Error{Error::Kind::kTimeout,
                 "the scheduler did not bind the pods within " + std::to_string(static_cast<int>(seconds)) + " s"};
  return {};
}

Result<void> CaseRun::send(Requests requests, double per_second, const std::vector<std::string>* names) {
  std::size_t sent = 0, answered = 0;
  std::optional<Error> failure;
  const Instant start = now();
  const auto is_due = [&] {
    return per_second <= 0 || seconds_between(start, now()) * per_second >= static_cast<double>(sent);
  };
  while (answered < requests.size()) {
    while (sent < requests.size() && sent - answered < kInFlight && is_due()) {
      const std::string path = requests[sent].path;
      const std::string* name = names != nullptr ? &(*names)[sent] : nullptr;
      const Instant at = now();
      api_.send(std::move(requests[sent++]), [&, path, name, at](const kube::Answer& answer) {
        ++answered;
        if (name != nullptr) sent_[*name] = {at, now()};
        // a pod of that name is one of another run
        const bool is_there = answer.status == 409 && name == nullptr;
        if (!answer.ok() && !is_there && answer.status != 404 && !failure)
          failure = Error{answer.result.error().kind, path + ": " + answer.result.error().message};
      });
    }
    step(Millis(per_second > 0 ? 1 : 50));
  }
  if (failure) return *failure;
  return {};
}

Result<RunResult> CaseRun::run(const std::vector<Operation>& operations) {
  if (Result<void> made = create_nodes(operations); !made) return made.error();
  bound_.start();
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (Result<void> done = perform(i, operations[i]); !done)
      return Error{done.error().kind, operations[i].place + done.error().message};
  if (measured_ == 0) return invalid("no createPods of the case has collectMetrics");
  if (options_.mode == RunOptions::Mode::kDrained) {
    round_start_ = now();
    if (Result<void> begun = begin_measuring(); !begun) return begun.error();
  }
  const double left = options_.patience_seconds - seconds_between(round_start_, now());
  if (Result<void> waited = wait_until([this] { return bound_.measured() >= measured_; }, left, false); !waited)
    return waited.error();
  return result();
}

std::string CaseRun::why_unbound() const {
  if (provisioner_ && !provisioner_->trouble().empty()) return "volumes: " + provisioner_->trouble();
  for (const auto& [ns, paths] : pods_by_namespace_)
    for (const std::string& path : paths) {
      const std::string name = path.substr(path.rfind('/') + 1);
      if (name.rfind(kMeasuredPrefix, 0) != 0 || bound_.times().count(name) > 0) continue;
      const std::string body = kube::call(api_, {.path = path, .timeout = Millis(5000)}).body;
      const std::size_t at = body.find("\"message\":\"");
      if (at == std::string::npos) return name + " has no condition";
      std::size_t end = at + 11;
      while (end < body.size() && body[end] != '"') end += body[end] == '\\' ? 2 : 1;
      return name + ": " + body.substr(at + 11, end - at - 11);
    }
  return {};
}

RunResult CaseRun::result() const {
  RunResult result{.pods = measured_, .bound = bound_.measured()};
  if (!result.is_complete()) result.why_unbound = why_unbound();
  result.seconds = result.is_complete() ? seconds_between(bound_.first(), bound_.last()) : options_.patience_seconds;
  for (const auto& [name, at] : bound_.times()) {
    const auto found = sent_.find(name);
    if (found == sent_.end()) continue;
    result.millis_from_sent.push_back(1000 * seconds_between(found->second.first, at));
    result.millis_from_answer.push_back(1000 * std::max(0.0, seconds_between(found->second.second, at)));
  }
  return result;
}

Result<void> CaseRun::perform(std::size_t index, const Operation& op) {
  switch (op.opcode) {
    case Opcode::kCreateNodes:
    case Opcode::kCreatePodSets:
      return {};  // nodes exist by now; sets were written out
    case Opcode::kCreateNamespaces:
      return create_namespaces(op);
    case Opcode::kCreatePods:
      return create_pods(index, op);
    case Opcode::kCreatePodGroups:
    case Opcode::kCreateAny:
      return create_objects(op);
    case Opcode::kChurn:
      if (is_measuring_) return begin_churn(op);
      waiting_churns_.push_back(&op);
      return {};
    case Opcode::kBarrier:
      if (options_.mode == RunOptions::Mode::kDrained) return {};  // nobody schedules yet
      return wait_until([this] { return bound_.measured() >= measured_; }, options_.patience_seconds, false);
    case Opcode::kSleep:
      if (options_.mode == RunOptions::Mode::kDrained) return {};
      return wait_until([] { return false; }, static_cast<double>(op.duration.value) / 1000, false);
    case Opcode::kDeletePods:
      return delete_pods(op);
  }
  return {};
}

Result<void> CaseRun::begin_measuring() {
  if (bound_.measured() > 0)
    return Error{Error::Kind::kConflict, std::to_string(bound_.measured()) +
                                             " of the measured pods were bound before the scheduler started: they are "
                                             "left from another run, or another scheduler runs"};
  is_measuring_ = true;
  if (options_.start_scheduler)
    if (Result<void> started = options_.start_scheduler(); !started) return started;
  for (const Operation* op : waiting_churns_)
    if (Result<void> begun = begin_churn(*op); !begun) return begun;
  waiting_churns_.clear();
  return {};
}

/// A scheduler that has bound a pod stands: its own first watch cannot be seen from outside.
Result<void> CaseRun::warm_up() {
  const std::string ns(kProbeNamespace);
  if (Result<void> made = ensure_namespace(ns); !made) return made;
  const std::string body =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"measured-probe-0"},"spec":{"schedulerName":")" +
      options_.scheduler_name +
      R"(","containers":[{"name":"c","image":"pause","resources":{"requests":{"cpu":"1m"}}}]}})";
  Requests create;
  create.push_back({.method = http::Method::kPost, .path = "/api/v1/namespaces/" + ns + "/pods", .body = body});
  if (Result<void> made = send(std::move(create)); !made) return made;
  return wait_until([&] { return bound_.of_name(std::string(kProbe)) > 0; }, 60, true);
}

Result<void> CaseRun::create_nodes(const std::vector<Operation>& operations) {
  const Result<std::string> recipe = recipe_of(operations);
  if (!recipe) return recipe.error();
  if (*recipe == nodes_.recipe && !nodes_.recipe.empty()) return {};
  if (options_.mode != RunOptions::Mode::kForeign)
    kube::call(api_, {.method = http::Method::kDelete, .path = "/api/v1/nodes", .timeout = Millis(300'000)});
  nodes_ = {};
  Requests creations, patches;
  for (const Operation& op : operations) {
    if (op.opcode != Opcode::kCreateNodes) continue;
    const Result<std::string> text = node_template(op);
    if (!text) return text.error();
    for (std::size_t i = 0; i < total_of(op); ++i) {
      const std::string name = "node-" + std::to_string(nodes_.names.size());
      Result<RenderedNode> node = rendered_node(*text, op.template_path, values_of(op, i), name, edits_of(op, i, name));
      if (!node) return node.error();
      nodes_.names.push_back(node->object.name);
      patches.push_back({.method = http::Method::kPatch,
                         .path = node->object.path(),
                         .body = std::move(node->taints_patch),
                         .content_type = "application/merge-patch+json"});
      creations.push_back(
          {.method = http::Method::kPost, .path = node->object.collection, .body = std::move(node->object.body)});
    }
  }
  if (Result<void> made = send(std::move(creations)); !made) return made;
  if (Result<void> untainted = send(std::move(patches)); !untainted) return untainted;
  nodes_.recipe = *recipe;
  return {};
}

Result<void> CaseRun::ensure_namespace(const std::string& name) {
  if (!namespaces_.insert(name).second) return {};
  Requests requests;
  requests.push_back({.method = http::Method::kPost,
                      .path = "/api/v1/namespaces",
                      .body = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name + "\"}}"});
  return send(std::move(requests));
}

Result<void> CaseRun::create_namespaces(const Operation& op) {
  for (std::size_t i = 0; i < total_of(op); ++i) {
    const std::string name = op.prefix + "-" + std::to_string(i);
    if (op.template_path.empty()) {
      if (Result<void> made = ensure_namespace(name); !made) return made;
      continue;
    }
    Result<ObjectTemplate> object = ObjectTemplate::read(op.template_path, {.is_named = true});
    if (!object) return object.error();
    Result<RenderedObject> rendered = object->render(values_of(op, i), name);
    if (!rendered) return rendered.error();
    namespaces_.insert(name);
    Requests requests;
    requests.push_back({.method = http::Method::kPost, .path = rendered->collection, .body = rendered->body});
    if (Result<void> made = send(std::move(requests)); !made) return made;
  }
  return {};
}

Result<CaseRun::Claims> CaseRun::claims_of(const Operation& op) {
  Claims claims;
  for (const std::string& path : {op.claim_path, op.volume_path}) {
    if (path.empty()) continue;
    Result<ObjectTemplate> object = ObjectTemplate::read(path, {.name_space = op.name_space, .is_named = true});
    if (!object) return object.error();
    claims.push_back(std::move(object).value());
  }
  return claims;
}

Result<void> CaseRun::add_claim(const std::string& ns, const std::string& pod, TemplateValues values, Claims& claims,
                                Requests& requests) {
  const std::string names[] = {pod + "-claim", pod + "-volume"};
  values["Namespace"] = ns;
  values["Claim"] = names[0];
  values["Volume"] = names[1];
  for (std::size_t i = 0; i < claims.size(); ++i) {
    Result<RenderedObject> rendered = claims[i].render(values, names[i]);
    if (!rendered) return rendered.error();
    created_.push_back(rendered->path());
    requests.push_back({.method = http::Method::kPost, .path = rendered->collection, .body = rendered->body});
  }
  return {};
}

Result<void> CaseRun::create_pods(std::size_t index, const Operation& op) {
  Operation here = op;
  here.name_space = namespace_of(op, index);
  if (Result<void> made = ensure_namespace(here.name_space); !made) return made;
  Result<ObjectTemplate> pod = ObjectTemplate::read(op.template_path, {.name_space = here.name_space,
                                                                       .scheduler_name = options_.scheduler_name,
                                                                       .has_claim = !op.claim_path.empty(),
                                                                       .has_node = places(op),
                                                                       .is_named = true});
  if (!pod) return pod.error();
  if (places(op) && nodes_.names.empty()) return invalid("pods without nodes: createNodes must come first");
  std::size_t count = total_of(op);
  if (op.collects_metrics && options_.pods_max > 0) count = std::min(count, options_.pods_max);
  Result<Claims> claim_templates = claims_of(here);
  if (!claim_templates) return claim_templates.error();
  Requests claims, pods;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = pod_name(op.collects_metrics, index, i);
    const TemplateValues values = values_of(op, i);
    Result<RenderedObject> rendered =
        pod->render(values, name, places(op) ? nodes_.names[placed_++ % nodes_.names.size()] : "");
    if (!rendered) return rendered.error();
    if (Result<void> added = add_claim(here.name_space, name, values, *claim_templates, claims); !added) return added;
    pods.push_back({.method = http::Method::kPost, .path = rendered->collection, .body = std::move(rendered->body)});
    pods_by_namespace_[here.name_space].push_back(rendered->path());
    names.push_back(name);
  }
  if (!op.claim_path.empty() && op.volume_path.empty() && options_.mode != RunOptions::Mode::kForeign && !provisioner_)
    provisioner_.emplace(api_).start();
  if (Result<void> made = send(std::move(claims)); !made) return made;
  if (!op.collects_metrics) {
    if (Result<void> made = send(std::move(pods), 0, &names); !made) return made;
    if (options_.mode != RunOptions::Mode::kForeign || op.skips_wait) return {};
    return wait_until([&] { return bound_.of_operation(index) >= count; }, 600, true);
  }
  measured_ += count;
  if (options_.mode == RunOptions::Mode::kDrained) return send(std::move(pods), 0, &names);
  if (!is_measuring_) {
    if (Result<void> begun = begin_measuring(); !begun) return begun;
    if (options_.mode == RunOptions::Mode::kArriving)
      if (Result<void> up = warm_up(); !up) return up;
    round_start_ = now();
  }
  return send(std::move(pods), options_.pods_per_second, &names);
}

Result<void> CaseRun::create_objects(const Operation& op) {
  if (!op.name_space.empty())
    if (Result<void> made = ensure_namespace(op.name_space); !made) return made;
  Result<ObjectTemplate> object = ObjectTemplate::read(op.template_path, {.name_space = op.name_space});
  if (!object) return object.error();
  Requests requests;
  for (std::size_t i = 0; i < total_of(op); ++i) {
    Result<RenderedObject> rendered = object->render(values_of(op, i), "object-" + std::to_string(objects_++));
    if (!rendered) return rendered.error();
    created_.push_back(rendered->path());
    requests.push_back({.method = http::Method::kPost, .path = rendered->collection, .body = rendered->body});
  }
  return send(std::move(requests));
}

Result<void> CaseRun::delete_pods(const Operation& op) {
  Requests requests;
  for (const std::string& path : pods_by_namespace_[op.name_space])
    requests.push_back({.method = http::Method::kDelete, .path = path + "?gracePeriodSeconds=0"});
  pods_by_namespace_.erase(op.name_space);
  return send(std::move(requests), static_cast<double>(op.deletions_per_second));
}

Result<void> CaseRun::begin_churn(const Operation& op) {
  Churn churn{.op = &op, .next = now()};
  const std::string ns = op.name_space.empty() ? "perf-churn" : op.name_space;
  if (Result<void> made = ensure_namespace(ns); !made) return made;
  for (const std::string& path : op.template_paths) {
    Result<ObjectTemplate> object =
        ObjectTemplate::read(path, {.name_space = ns, .scheduler_name = options_.scheduler_name, .is_named = true});
    if (!object) return object.error();
    if (const Result<RenderedObject> probe = object->render({{"Index", "0"}}, "probe"); !probe) return probe.error();
    churn.templates.push_back(std::move(object).value());
  }
  churns_.push_back(std::move(churn));
  return {};
}

void CaseRun::tick_churn(Churn& churn) {
  const Operation& op = *churn.op;
  churn.next = now() + std::chrono::milliseconds(op.interval.value);
  const auto number = static_cast<std::size_t>(op.number);
  if (!op.recreates && number > 0 && churn.ticks >= number) return;
  const std::size_t slot = op.recreates ? churn.ticks % number : churn.ticks;
  if (slot >= churn.alive.size()) churn.alive.resize(slot + 1);
  const auto ignored = [](const kube::Answer&) {};
  for (const std::string& path : churn.alive[slot])
    api_.send({.method = http::Method::kDelete, .path = path + "?gracePeriodSeconds=0"}, ignored);
  churn.alive[slot].clear();
  for (ObjectTemplate& object : churn.templates) {
    const std::string tick = std::to_string(churn.ticks);
    Result<RenderedObject> rendered = object.render({{"Index", tick}}, "churn-" + std::to_string(objects_++));
    if (!rendered) continue;  // begin_churn has tried it
    churn.alive[slot].push_back(rendered->path());
    api_.send({.method = http::Method::kPost, .path = rendered->collection, .body = rendered->body}, ignored);
  }
  ++churn.ticks;
}

/// A server gives up after a minute, when a part of many pods is gone: until nothing is left.
void CaseRun::remove_pods(const std::string& ns) {
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i)
    if (kube::call(api_, {.method = http::Method::kDelete,
                          .path = "/api/v1/namespaces/" + ns + "/pods?gracePeriodSeconds=0",
                          .timeout = Millis(300'000)})
            .ok())
      return;
}

void CaseRun::clean() {
  is_measuring_ = false;
  Requests finalizers, deletions;
  const auto add = [&](const std::string& path) {
    if (path.find("/podgroups/") != std::string::npos || path.find("/persistentvolume") != std::string::npos)
      finalizers.push_back({.method = http::Method::kPatch,
                            .path = path,
                            .body = R"({"metadata":{"finalizers":null}})",
                            .content_type = "application/merge-patch+json"});
    deletions.push_back({.method = http::Method::kDelete, .path = path + "?gracePeriodSeconds=0"});
  };
  for (const Churn& churn : churns_)
    for (const auto& slot : churn.alive)
      for (const std::string& path : slot) add(path);
  for (const std::string& ns : namespaces_) remove_pods(ns);
  for (const std::string& path : created_) add(path);
  if (provisioner_)
    for (const std::string& path : provisioner_->volumes()) add(path);
  (void)send(std::move(deletions));
  (void)send(std::move(finalizers));
}

}  // namespace ashlar::bench::perf
