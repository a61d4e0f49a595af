#include "live/watch/watches.h"

#include <algorithm>
#include <utility>

#include "kubeclient/bind_outcome.h"

namespace ashlar::kube {

template <class T>
WatchedKind* Watches::add(WatchedKindRow row) {
  row.options.pace = pace_;
  row.options.silence_max = options_.silence_max;
  return kinds_.emplace_back(std::make_unique<WatchedKindOf<T>>(shared_, std::move(row))).get();
}

/// In the order in which a leader is given the cache: queues, gangs and nodes come before the pods that name them.
Watches::Watches(Api& api, WatchesOptions options)
    : api_(api),
      options_(std::move(options)),
      shared_{.api = api, .on_log = options_.log, .on_path_gone = [this](WatchedKind&) { find_pod_groups_later(); }},
      discovery_delay_(options_.discovery_min) {
  add<Namespace>({.resource = "namespaces", .object = "namespace", .is_required = true});
  add<PriorityClass>({.resource = "priorityclasses", .object = "priorityclass", .note = [](const std::string& problem) {
                        return PriorityClassesNote{problem};
                      }});
  if (options_.follows_queues)
    add<QueueObject>(
        {.resource = "queues",
         .object = "queue",
         .keeps_known = true,
         .absent =
             "the server has no Queue objects (deploy/queue-crd.yaml): the queues are those of the configuration"});
  add<DeviceClassObject>({.resource = "deviceclasses", .object = "deviceclass", .keeps_known = true});
  groups_ = add<PodGroup>({.resource = "podgroups",
                           .object = "podgroup",
                           .has_many_versions = true,
                           .note =
                               [this](const std::string& problem) {
                                 return PodGroupsNote{version_, problem};
                               },
                           .on_listed = [this] { discovery_delay_ = options_.discovery_min; }});
  add_volumes();
  if (options_.follows_selecting) add_selecting();
  nodes_ = add<Node>({.resource = "nodes", .object = "node", .is_required = true});
  pods_ = add<Pod>({.resource = "pods",
                    .object = "pod",
                    .is_required = true,
                    .waits_for_others = true,
                    .options = {.field_selector = "status.phase!=Succeeded,status.phase!=Failed"}});
}

template <class T>
void Watches::add_of_volumes(std::string_view resource, std::string_view object) {
  add<T>({.resource = resource, .object = object, .keeps_known = true, .note = [resource](const std::string& problem) {
            return VolumesNote{resource, problem};
          }});
}

void Watches::add_volumes() {
  add_of_volumes<StorageClass>("storageclasses", "storageclass");
  add_of_volumes<CsiDriver>("csidrivers", "csidriver");
  add_of_volumes<CsiNode>("csinodes", "csinode");
  add_of_volumes<CsiStorageCapacity>("csistoragecapacities", "csistoragecapacity");
  add_of_volumes<VolumeAttachment>("volumeattachments", "volumeattachment");
  add_of_volumes<PersistentVolume>("persistentvolumes", "persistentvolume");
  add_of_volumes<PersistentVolumeClaim>("persistentvolumeclaims", "persistentvolumeclaim");
}

void Watches::add_selecting() {
  add<Service>({.resource = "services", .object = "service", .keeps_known = true});
  add<ReplicationController>(
      {.resource = "replicationcontrollers", .object = "replicationcontroller", .keeps_known = true});
  add<ReplicaSet>({.resource = "replicasets", .object = "replicaset", .keeps_known = true});
  add<StatefulSet>({.resource = "statefulsets", .object = "statefulset", .keeps_known = true});
}

Watches::~Watches() { stop(); }

void Watches::start() {
  if (is_running_) return;
  is_running_ = true;
  for (const auto& kind : kinds_)
    if (!kind->row().waits_for_others && !kind->row().has_many_versions) kind->follow({});
  if (version_ == PodGroupVersion::kNone) return find_pod_groups();
  groups_->follow(pod_groups_path(version_));
}

void Watches::stop() {
  shared_.to_leader = {};
  for (auto kind = kinds_.rbegin(); kind != kinds_.rend(); ++kind) (*kind)->forget();
  is_running_ = false;
}

void Watches::advance() {
  if (!is_running_) return;
  const auto is_known = [](const auto& kind) { return kind->row().waits_for_others || kind->is_known(); };
  if (!std::all_of(kinds_.begin(), kinds_.end(), is_known)) return;
  for (const auto& kind : kinds_)
    if (kind->row().waits_for_others && !kind->is_followed()) kind->follow({});
}

void Watches::feed(OnWatched to_leader) {
  shared_.to_leader = std::move(to_leader);
  if (!shared_.to_leader) return;
  for (const auto& kind : kinds_) kind->tell();
  for (const auto& kind : kinds_) kind->hand_over(kind->row().waits_for_others);
}

bool Watches::is_synced() const {
  return std::all_of(kinds_.begin(), kinds_.end(), [](const auto& kind) { return kind->is_known(); });
}

std::string Watches::trouble() const {
  for (const auto& kind : kinds_)
    if (const std::string problem = kind->row().is_required ? kind->problem() : std::string(); !problem.empty())
      return std::string(kind->row().resource) + " cannot be listed: " + bounded_words(problem);
  return {};
}

void Watches::add_facts(std::map<std::string_view, ProcessFacts::Watch>& facts) const {
  if (!is_running_) return;
  for (const auto& kind : kinds_) kind->add_fact(facts);
}

// ---- which PodGroups exist ------------------------------------------------------------------------------------------

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
  version_problem_ = !found     ? found.error().message
                     : has_none ? "the API server serves none of the versions that Ashlar knows"
                                : "";
  if (!version_problem_.empty()) {
    if (version_problem_ != before) shared_.log(LogLevel::kWarning, {"PodGroups cannot be read: " + version_problem_});
    groups_->note_no_path(version_problem_);
    return find_pod_groups_later();
  }
  if (*found != version_ || !before.empty())
    shared_.log(LogLevel::kInfo, {"PodGroup API: " + std::string(group_version_text(*found))});
  version_ = *found;
  if (is_running_) groups_->follow(pod_groups_path(version_));
  groups_->note_no_path({});
}

}  // namespace ashlar::kube
