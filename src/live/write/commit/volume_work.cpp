#include "live/write/commit/volume_work.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "kubeclient/volumes/binding_writes.h"
#include "live/track/volumes/chosen_volumes.h"
#include "live/track/volumes/node_terms.h"

namespace ashlar::kube {
namespace {

CommitWait broken(std::string words) { return {WaitState::kBroken, std::move(words)}; }
CommitWait not_yet(std::string words) { return {WaitState::kNotYet, std::move(words)}; }

std::string full_name(const PersistentVolumeClaim& claim) { return claim.ns.str() + "/" + claim.name.str(); }

/// Nothing is to be written: the object says so already.
bool is_written(const ChosenVolumes::Item& item, const PooledString& node) {
  if (item.is_new()) return item.claim.has_selected_node && item.claim.selected_node == node;
  return item.volume.has_claim && item.volume.claim_uid == item.claim.uid;
}

std::uint64_t number_of(const std::string& version) {
  std::uint64_t number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

class VolumeWork final : public CommitWork {
 public:
  VolumeWork(const Tracker& tracker, NodeId node, ChosenVolumes chosen);

  std::string problem() const override { return chosen_.problem; }
  std::size_t writes() const override { return writes_.size(); }
  std::string subject(std::size_t write) const override;
  std::string path(std::size_t write) const override;
  std::string patch(std::size_t write, std::string_view object) const override;
  WriteFinding look_at(std::size_t write, std::string_view object) const override;
  bool is_taken_back() const override { return false; }
  std::string undo_patch(std::size_t, std::string_view) const override { return {}; }
  CommitWait wait() const override;

 private:
  using Item = ChosenVolumes::Item;
  const Item& item(std::size_t write) const { return chosen_.items[writes_[write]]; }
  CommitWait look_at_volume(std::size_t number) const;
  CommitWait look_at_new(std::size_t number) const;
  bool is_written_by_other(std::size_t number) const;
  CommitWait look_at_node(const PersistentVolume& volume) const;

  const Tracker& tracker_;
  NodeId node_;
  ChosenVolumes chosen_;
  std::vector<std::size_t> writes_;  ///< items that are not as they should be yet
  /// by item: its version once it was written; what is older is not looked at
  mutable std::vector<std::uint64_t> written_;
};

VolumeWork::VolumeWork(const Tracker& tracker, NodeId node, ChosenVolumes chosen)
    : tracker_(tracker), node_(node), chosen_(std::move(chosen)), written_(chosen_.items.size(), 0) {
  for (std::size_t i = 0; i < chosen_.items.size(); ++i)
    if (!is_written(chosen_.items[i], chosen_.node)) writes_.push_back(i);
  // volumes first, as upstream
  std::ranges::stable_sort(writes_, {}, [this](std::size_t i) { return chosen_.items[i].is_new(); });
}

std::string VolumeWork::subject(std::size_t write) const {
  const Item& of = item(write);
  return of.is_new() ? "persistentvolumeclaim " + full_name(of.claim) : "persistentvolume " + of.volume.name.str();
}

std::string VolumeWork::path(std::size_t write) const {
  const Item& of = item(write);
  return of.is_new() ? claim_path(of.claim.ns, of.claim.name) : volume_path(of.volume.name);
}

std::string VolumeWork::patch(std::size_t write, std::string_view object) const {
  const Item& of = item(write);
  ObjectVersion version{of.is_new() ? of.claim.uid : of.volume.uid,
                        std::to_string(of.is_new() ? of.claim.resource_version : of.volume.resource_version)};
  if (const Result<BindingShown> shown = object.empty() ? invalid("") : read_binding(object); shown)
    version.version = shown->object.version;
  return of.is_new() ? select_node_patch(version, chosen_.node)
                     : bind_volume_patch(version, of.claim, !of.volume.has_claim);
}

WriteFinding VolumeWork::look_at(std::size_t write, std::string_view object) const {
  const Item& of = item(write);
  const Result<BindingShown> shown = read_binding(object);
  if (!shown) return WriteFinding::kUnreadable;
  if (shown->object.uid != (of.is_new() ? of.claim.uid : of.volume.uid)) return WriteFinding::kOther;
  const bool is_done = of.is_new() ? shown->has_node && chosen_.node == PooledString(shown->node)
                                   : shown->has_claim && of.claim.uid == PooledString(shown->claim_uid);
  if (is_done) {
    written_[writes_[write]] = number_of(shown->object.version);
    return WriteFinding::kDone;
  }
  if (of.is_new()) return shown->has_node ? WriteFinding::kOther : WriteFinding::kUndone;
  const bool is_for_it = shown->claim_uid.empty() && of.claim.ns == PooledString(shown->claim_ns) &&
                         of.claim.name == PooledString(shown->claim_name);
  return !shown->has_claim || is_for_it ? WriteFinding::kUndone : WriteFinding::kOther;
}

CommitWait VolumeWork::wait() const {
  for (std::size_t i = 0; i < chosen_.items.size(); ++i) {
    CommitWait one = chosen_.items[i].is_new() ? look_at_new(i) : look_at_volume(i);
    if (one.state != WaitState::kHolds) return one;
  }
  return {};
}

/// Another pod with the claim has taken the same, and has not written it yet.
bool VolumeWork::is_written_by_other(std::size_t number) const {
  const Item& of = chosen_.items[number];
  if (of.is_own() || written_[number] != 0) return false;
  if (of.is_new()) {
    const PersistentVolumeClaim* claim = tracker_.volumes().claim(of.claim.ns, of.claim.name);
    return claim != nullptr && claim->has_selected_node && claim->selected_node == chosen_.node;
  }
  const PersistentVolume* volume = tracker_.volumes().volume(of.volume.name);
  return volume != nullptr && volume->has_claim && volume->claim_uid == of.claim.uid;
}

CommitWait VolumeWork::look_at_node(const PersistentVolume& volume) const {
  if (holds(affinity_terms(volume), tracker_.node_labels(node_))) return {};
  return broken("pv \"" + volume.name.str() + "\" node affinity doesn't match node \"" + chosen_.node.str() + "\"");
}

CommitWait VolumeWork::look_at_volume(std::size_t number) const {
  const Item& of = chosen_.items[number];
  const PersistentVolume* volume = tracker_.volumes().served_volume(of.volume.name);
  const PersistentVolumeClaim* claim = tracker_.volumes().served_claim(of.claim.ns, of.claim.name);
  if (volume == nullptr || volume->uid != of.volume.uid)
    return broken("persistentvolume \"" + of.volume.name.str() + "\" not found");
  if (claim == nullptr || claim->uid != of.claim.uid)
    return broken("persistentvolumeclaim \"" + of.claim.name.str() + "\" not found");
  const std::string words = "persistentvolumeclaim " + full_name(of.claim) + " is not bound yet";
  if (volume->resource_version < written_[number]) return not_yet(words);
  if (CommitWait at_node = look_at_node(*volume); at_node.state != WaitState::kHolds) return at_node;
  if (!volume->has_claim || volume->claim_uid.empty())
    return is_written_by_other(number) ? not_yet(words)
                                       : broken("ClaimRef got reset for pv \"" + of.volume.name.str() + "\"");
  return claim->is_bound() ? CommitWait{} : not_yet(words);
}

CommitWait VolumeWork::look_at_new(std::size_t number) const {
  const Item& of = chosen_.items[number];
  const PersistentVolumeClaim* claim = tracker_.volumes().served_claim(of.claim.ns, of.claim.name);
  if (claim == nullptr || claim->uid != of.claim.uid)
    return broken("persistentvolumeclaim \"" + of.claim.name.str() + "\" not found");
  const std::string words = "no volume has been made yet for persistentvolumeclaim " + full_name(of.claim);
  if (claim->resource_version < written_[number]) return not_yet(words);
  if (!claim->has_selected_node || claim->selected_node != chosen_.node)
    return is_written_by_other(number) ? not_yet(words)
                                       : broken("provisioning failed for PVC \"" + of.claim.name.str() + "\"");
  if (!claim->volume_name.empty()) {
    const PersistentVolume* volume = tracker_.volumes().served_volume(claim->volume_name);
    if (volume == nullptr) return not_yet(words);
    if (CommitWait at_node = look_at_node(*volume); at_node.state != WaitState::kHolds) return at_node;
  }
  return claim->is_bound() ? CommitWait{} : not_yet(words);
}

}  // namespace

std::shared_ptr<CommitWork> volume_work_of(const Tracker& tracker, PodSlot slot) {
  const ChosenVolumes* chosen = tracker.chosen_volumes(slot);
  if (chosen == nullptr) return nullptr;
  return std::make_shared<VolumeWork>(tracker, tracker.pods()[slot].node, *chosen);
}

}  // namespace ashlar::kube
