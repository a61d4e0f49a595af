#include "live/track/watches.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "live/lead/leader_term.h"

namespace ashlar::kube {

Watches::Watches(Api& api, WatchesOptions options) : api_(api), options_(std::move(options)), discovery_delay_(options_.discovery_min) {}

Watches::~Watches() { stop(); }

template <class T>
void Watches::follow(Kind<T>& kind, ReflectorOptions options) {
  options.pace = pace_;
  options.silence_max = options_.silence_max;
  options.on_error = [this, &kind](const Error& error) { note_trouble(kind, error); };
  kind.reflector = std::make_unique<Reflector<T>>(api_, std::move(options), [this, &kind](Change<T>&& change) { take(kind, std::move(change)); });
}

template <class T>
void Watches::forget(Kind<T>& kind) {
  kind.reflector.reset();
  kind.cache = {};
  kind.said.clear();
  kind.has_settled = false;
}

template <class T>
void Watches::take(Kind<T>& kind, Change<T>&& change) {
  const T& object = change.object;
  if (change.kind == Change<T>::Kind::kSynced) {
    note_listed(kind);
  } else if (!object.problem.empty() && change.kind != Change<T>::Kind::kDeleted) {  // a reflector reports no version twice
    const std::string name = object.ns.empty() ? object.name.str() : object.ns.str() + "/" + object.name.str();
    log(LogLevel::kWarning,
        {std::string(kind.object) + " " + name + " cannot be read whole: " + object.problem.str(), kind.object, object.ns, object.name});
  }
  if (leader_term_ != nullptr)
    leader_term_->take(std::move(change));
  else
    kind.cache.take(std::move(change));
}

/// What keeps a kind from being listed is said once; anything else that went wrong each time.
template <class T>
void Watches::note_trouble(Kind<T>& kind, const Error& error) {
  const std::string& trouble = kind.reflector->list_trouble();
  const bool is_said = !trouble.empty() && trouble == kind.said;
  if (!is_said) log(LogLevel::kWarning, error.message);
  if (trouble.empty()) return;
  kind.said = trouble;
  kind.has_settled = true;
  if constexpr (std::is_same_v<T, PriorityClass>) tell_priority_classes();
  if constexpr (std::is_same_v<T, PodGroup>) {
    if (!is_said) tell_pod_groups();
    if (kind.reflector->is_path_gone()) find_pod_groups_later();
  }
}

template <class T>
void Watches::note_listed(Kind<T>& kind) {
  const bool was_in_trouble = !kind.said.empty();
  kind.said.clear();
  kind.has_settled = true;
  if (was_in_trouble) log(LogLevel::kInfo, std::string(kind.resource) + " can be listed again");
  if constexpr (std::is_same_v<T, PriorityClass>) tell_priority_classes();
  if constexpr (std::is_same_v<T, PodGroup>) {
    discovery_delay_ = options_.discovery_min;
    tell_pod_groups();
  }
}

void Watches::start() {
  if (is_running_) return;
  is_running_ = true;
  follow<Node>(nodes_, {.encoding = options_.encoding});
  follow<Namespace>(namespaces_, {});
  follow<PriorityClass>(classes_, {});
  follow<Pod>(pods_, {.field_selector = "status.phase!=Succeeded,status.phase!=Failed", .encoding = options_.encoding});
  nodes_.reflector->start();
  namespaces_.reflector->start();
  classes_.reflector->start();
  if (version_ == PodGroupVersion::kNone) return find_pod_groups();
  follow<PodGroup>(groups_, {.path = pod_groups_path(version_)});
  groups_.reflector->start();
}

void Watches::stop() {
  leader_term_ = nullptr;
  forget(pods_);
  forget(groups_);
  forget(classes_);
  forget(namespaces_);
  forget(nodes_);
  is_running_ = are_pods_started_ = false;
}

/// Pods come last: what their queues, gangs and nodes are must be known when they are read.
void Watches::advance() {
  if (!is_running_ || are_pods_started_) return;
  if (!nodes_.is_synced() || !namespaces_.is_synced() || !classes_.has_settled || !groups_.has_settled) return;
  are_pods_started_ = true;
  pods_.reflector->start();
}

void Watches::feed(LeaderTerm* leader_term) {
  leader_term_ = leader_term;
  if (leader_term_ == nullptr) return;
  tell_pod_groups();
  tell_priority_classes();
  const auto hand_over = [this](auto&& change) { leader_term_->take(std::forward<decltype(change)>(change)); };
  namespaces_.cache.drain(hand_over);
  classes_.cache.drain(hand_over);
  groups_.cache.drain(hand_over);
  nodes_.cache.drain(hand_over);
  pods_.cache.drain(hand_over);
  if (are_pods_started_) pods_.reflector->relist();
}

bool Watches::is_synced() const {
  return nodes_.is_synced() && namespaces_.is_synced() && classes_.has_settled && groups_.has_settled && pods_.is_synced();
}

std::size_t Watches::known_nodes() const { return nodes_.reflector ? nodes_.reflector->known_objects() : 0; }
std::size_t Watches::known_pods() const { return pods_.reflector ? pods_.reflector->known_objects() : 0; }

template <class T>
void Watches::add_fact(std::map<std::string_view, ProcessFacts::Watch>& facts, const Kind<T>& kind) const {
  ProcessFacts::Watch fact{.resource = kind.resource};
  if (kind.reflector) {
    const ReflectorCounters& c = kind.reflector->counters();
    fact = {.resource = kind.resource,
            .lists = c.lists,
            .watches = c.watches,
            .events = c.events,
            .errors = c.errors,
            .objects = kind.reflector->known_objects(),
            .unreadable = c.unreadable,
            .silent = api_.now() - kind.reflector->last_contact(),
            .is_listed = kind.is_synced(),
            .expired = c.expired};
  }
  facts[kind.resource] = fact;
}

void Watches::add_facts(std::map<std::string_view, ProcessFacts::Watch>& facts) const {
  if (!is_running_) return;
  add_fact(facts, pods_);
  add_fact(facts, nodes_);
  add_fact(facts, namespaces_);
  add_fact(facts, classes_);
  add_fact(facts, groups_);
}

// ---- which PodGroups are there? ----------------------------------------------------------------------------------------------------------

void Watches::find_pod_groups() {
  if (is_finding_) return;
  is_finding_ = true;
  discover_pod_groups(api_, [this, life = std::weak_ptr<char>(life_)](Result<PodGroupVersion> found) {
    if (life.expired()) return;
    is_finding_ = false;
    take_version(std::move(found));
  });
}

void Watches::find_pod_groups_later() {
  if (is_finding_) return;
  is_finding_ = true;
  const Millis delay = discovery_delay_;
  discovery_delay_ = std::min(delay * 2, options_.discovery_max);
  api_.after(delay, [this, life = std::weak_ptr<char>(life_)] {
    if (life.expired()) return;
    is_finding_ = false;
    find_pod_groups();
  });
}

/// A server that is upgraded, or started with other APIs, may serve another version, or none for a while.
void Watches::take_version(Result<PodGroupVersion> found) {
  const std::string before = version_problem_;
  const bool has_none = found.ok() && *found == PodGroupVersion::kNone;
  version_problem_ = !found ? found.error().message : has_none ? "the API server serves none of the versions that Ashlar knows" : "";
  if (!version_problem_.empty()) {
    if (version_problem_ != before) log(LogLevel::kWarning, "PodGroups cannot be read: " + version_problem_);
    groups_.has_settled = true;
    tell_pod_groups();
    return find_pod_groups_later();
  }
  if (*found != version_ || !before.empty()) log(LogLevel::kInfo, "PodGroup API: " + std::string(group_version_text(*found)));
  version_ = *found;
  if (is_running_ && !groups_.reflector) {
    groups_.has_settled = false;
    follow<PodGroup>(groups_, {.path = pod_groups_path(version_)});
    groups_.reflector->start();
  } else if (groups_.reflector && groups_.reflector->is_path_gone()) {
    groups_.reflector->list_from(pod_groups_path(version_));
  }
  tell_pod_groups();
}

std::string Watches::pod_groups_problem() const {
  if (groups_.is_synced()) return {};
  if (!version_problem_.empty()) return version_problem_;
  return groups_.said;
}

void Watches::tell_pod_groups() {
  if (leader_term_ != nullptr) leader_term_->note_pod_groups(version_, pod_groups_problem());
}

void Watches::tell_priority_classes() const {
  if (leader_term_ != nullptr) leader_term_->note_priority_classes(classes_.said);
}

}  // namespace ashlar::kube
