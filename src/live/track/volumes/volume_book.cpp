#include "live/track/volumes/volume_book.h"

#include <algorithm>
#include <optional>

namespace ashlar::kube {
namespace {

using Kind = VolumeTopic::Kind;

/// Brings the row of the changed object up to date. True if what matters of it is another than before; `before`: as it
/// was, if it was there. Of an object that cannot be read whole what was last read stays.
template <class Map, class Key, class T>
bool replace(Map& map, const Key& key, Change<T>&& change, std::optional<T>& before) {
  const auto known = map.find(key);
  if (known != map.end()) before = known->second;
  if (change.kind == Change<T>::Kind::kDeleted) {
    if (known == map.end()) return false;
    map.erase(known);
    return true;
  }
  if (before) {
    T as_before = *before;
    as_before.resource_version = change.object.resource_version;
    const bool is_other = !(as_before == change.object);
    map[key] = std::move(change.object);
    return is_other;
  }
  map.emplace(key, std::move(change.object));
  return true;
}

/// Keeps an index of keys by a name.
template <class Index, class Key>
void move_entry(Index& index, const std::optional<PooledString>& from, const std::optional<PooledString>& to,
                const Key& key) {
  if (from == to) return;
  if (from)
    if (const auto row = index.find(*from); row != index.end()) {
      row->second.erase(key);
      if (row->second.empty()) index.erase(row);
    }
  if (to) index[*to].insert(key);
}

template <class T, class Member>
std::optional<PooledString> name_of(const T* object, Member member) {
  return object == nullptr ? std::nullopt : std::optional(object->*member);
}
template <class T, class Member>
std::optional<PooledString> name_of(const std::optional<T>& object, Member member) {
  return name_of(object ? &*object : nullptr, member);
}

PooledString claim_key(const PooledString& ns, const PooledString& name) { return ns.str() + "/" + name.str(); }

std::optional<PooledString> claim_named_by(const PersistentVolume* volume) {
  if (volume == nullptr || !volume->has_claim) return std::nullopt;
  return claim_key(volume->claim_ns, volume->claim_name);
}

template <class Names>
std::vector<PooledString> take_sorted(Names& names) {
  std::vector<PooledString> out(names.begin(), names.end());
  names.clear();
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

void VolumeBook::take(Change<PersistentVolumeClaim>&& change) {
  if (change.kind == Change<PersistentVolumeClaim>::Kind::kSynced) return;
  const FullName key(change.object.ns, change.object.name);
  std::optional<PersistentVolumeClaim> before;
  const bool was_assumed = assumed_claims_.erase(key) > 0;  // a reflector reports no version twice
  if (replace(claims_, key, std::move(change), before) || was_assumed) touch({Kind::kClaim, key.first, key.second});
}

void VolumeBook::take(Change<PersistentVolume>&& change) {
  if (change.kind == Change<PersistentVolume>::Kind::kSynced) return;
  const PooledString name = change.object.name;
  std::optional<PersistentVolume> before, assumed;
  if (const auto* known = find(assumed_volumes_, name); known != nullptr) assumed = known->object;
  forget_assumed(name);
  const bool has_changed = replace(volumes_, name, std::move(change), before);
  if (!has_changed && !assumed) return;
  const PersistentVolume *had = before ? &*before : nullptr, *has = served_volume(name);
  const auto was_served = offered_class(had), is = offered_class(has);
  move_entry(offered_by_class_, was_served, is, name);
  move_entry(volumes_by_claim_, claim_named_by(had), claim_named_by(has), name);
  if (is && has_changed) ++editions_[*is].offers;
  touch({Kind::kVolume, {}, name});
  // what an assumed volume said was known to all already
  const PersistentVolume* known = assumed ? &*assumed : had;
  const auto was = offered_class(known);
  if (assumed && is) ++editions_[*is].removals;
  if (!assumed && was_served && was_served != is) ++editions_[*was_served].removals;
  if (was) touch_volumes(*was);
  if (is && is != was) touch_volumes(*is);
  touch_named_claim(known);
  if (claim_named_by(known) != claim_named_by(has)) touch_named_claim(has);
}

std::optional<PooledString> VolumeBook::offered_class(const PersistentVolume* volume) {
  const bool is_offered = volume != nullptr && !volume->has_claim && volume->is_available;
  return is_offered ? std::optional(volume->class_name) : std::nullopt;
}

void VolumeBook::touch_named_claim(const PersistentVolume* volume) {
  if (volume != nullptr && volume->has_claim) touch({Kind::kClaim, volume->claim_ns, volume->claim_name});
}

void VolumeBook::forget_assumed(const PooledString& name) {
  const auto assumed = assumed_volumes_.find(name);
  if (assumed == assumed_volumes_.end()) return;
  move_entry(assumed_by_claim_, claim_named_by(&assumed->second.object), {}, name);
  assumed_volumes_.erase(assumed);
}

VolumeBook::ClassEditions VolumeBook::editions(const PooledString& class_name) const {
  const ClassEditions* known = find(editions_, class_name);
  ClassEditions editions = known == nullptr ? ClassEditions() : *known;
  editions.makes += driver_edition_;
  return editions;
}

void VolumeBook::touch_volumes(const PooledString& class_name) {
  if (requested_.contains(class_name)) class_news_.insert(class_name);
  touch({Kind::kVolumes, {}, class_name});
}

void VolumeBook::touch_makes(const std::optional<PooledString>& class_name) {
  if (!class_name) return;
  ++editions_[*class_name].makes;
  touch_volumes(*class_name);
}

void VolumeBook::take(Change<StorageClass>&& change) {
  if (change.kind == Change<StorageClass>::Kind::kSynced) return;
  const PooledString name = change.object.name;
  std::optional<StorageClass> before;
  if (!replace(classes_, name, std::move(change), before)) return;
  touch_makes(name);
  touch({Kind::kClass, {}, name});
}

void VolumeBook::take(Change<CsiNode>&& change) {
  if (change.kind == Change<CsiNode>::Kind::kSynced) return;
  const PooledString name = change.object.name;
  std::optional<CsiNode> before;
  if (!replace(csi_nodes_, name, std::move(change), before)) return;
  node_news_.insert(name);
  if (const CsiNode* now = csi_node(name); now != nullptr) note_limits(*now);
}

void VolumeBook::note_limits(const CsiNode& node) {
  const std::size_t known = limited_drivers_.size();
  for (const CsiNode::Driver& driver : node.drivers) {
    if (!driver.volumes_max || std::ranges::find(limited_drivers_, driver.name) != limited_drivers_.end()) continue;
    if (limited_drivers_.size() < kLimitedDriversMax)
      limited_drivers_.push_back(driver.name);
    else if (first_unlimited_.empty())
      first_unlimited_ = driver.name;
  }
  if (limited_drivers_.size() != known) touch({Kind::kAll, {}, {}});
}

void VolumeBook::take(Change<CsiDriver>&& change) {
  if (change.kind == Change<CsiDriver>::Kind::kSynced) return;
  const PooledString name = change.object.name;
  std::optional<CsiDriver> before;
  if (!replace(drivers_, name, std::move(change), before)) return;
  ++driver_edition_;
  touch({Kind::kDriver, {}, name});
}

void VolumeBook::take(Change<CsiStorageCapacity>&& change) {
  if (change.kind == Change<CsiStorageCapacity>::Kind::kSynced) return;
  const FullName key(change.object.ns, change.object.name);
  std::optional<CsiStorageCapacity> before;
  if (!replace(capacities_, key, std::move(change), before)) return;
  const auto was = name_of(before, &CsiStorageCapacity::class_name);
  const auto is = name_of(find(capacities_, key), &CsiStorageCapacity::class_name);
  move_entry(capacities_by_class_, was, is, key);
  touch_makes(was);
  if (is != was) touch_makes(is);
}

void VolumeBook::take(Change<VolumeAttachment>&& change) {
  if (change.kind == Change<VolumeAttachment>::Kind::kSynced) return;
  const PooledString name = change.object.name;
  std::optional<VolumeAttachment> before;
  if (!replace(attachments_, name, std::move(change), before)) return;
  const auto was = name_of(before, &VolumeAttachment::node_name);
  const auto is = name_of(find(attachments_, name), &VolumeAttachment::node_name);
  move_entry(attachments_by_node_, was, is, name);
  if (limited_drivers_.empty()) return;
  if (was) node_news_.insert(*was);
  if (is) node_news_.insert(*is);
}

std::uint64_t VolumeBook::assume(const PooledString& name, const PersistentVolumeClaim& claim) {
  const PersistentVolume* served = served_volume(name);
  if (served == nullptr || assumed_volumes_.contains(name)) return 0;
  PersistentVolume assumed = *served;
  assumed.has_claim = true;
  assumed.claim_ns = claim.ns;
  assumed.claim_name = claim.name;
  assumed.claim_uid = claim.uid;
  if (const auto class_name = offered_class(served)) {
    ++editions_[*class_name].removals;
    touch_volumes(*class_name);
  }
  touch_named_claim(&assumed);
  move_entry(assumed_by_claim_, {}, claim_named_by(&assumed), name);
  assumed_volumes_[name] = {std::move(assumed), ++assumptions_};
  return assumptions_;
}

std::uint64_t VolumeBook::assume_node(const PersistentVolumeClaim& claim, const PooledString& node) {
  if (assumed_claims_.contains({claim.ns, claim.name})) return 0;
  PersistentVolumeClaim assumed = claim;
  assumed.has_selected_node = true;
  assumed.selected_node = node;
  touch({Kind::kClaim, claim.ns, claim.name});
  assumed_claims_[{claim.ns, claim.name}] = {std::move(assumed), ++assumptions_};
  return assumptions_;
}

void VolumeBook::restore_volume(const PooledString& name, std::uint64_t taken_as) {
  const auto assumed = assumed_volumes_.find(name);
  if (assumed == assumed_volumes_.end() || assumed->second.number != taken_as) return;
  touch_named_claim(&assumed->second.object);
  forget_assumed(name);
  if (const auto class_name = offered_class(served_volume(name))) {
    ++editions_[*class_name].removals;
    touch_volumes(*class_name);
  }
}

void VolumeBook::restore_claim(const PooledString& ns, const PooledString& name, std::uint64_t taken_as) {
  const auto assumed = assumed_claims_.find({ns, name});
  if (assumed == assumed_claims_.end() || assumed->second.number != taken_as) return;
  assumed_claims_.erase(assumed);
  touch({Kind::kClaim, ns, name});
}

void VolumeBook::note_problem(std::string_view resource, const std::string& problem) {
  std::string& known = problems_[std::string(resource)];
  if (known == problem) return;
  known = problem;
  touch({Kind::kAll, {}, {}});
}

std::string VolumeBook::problem() const {
  for (const auto& [resource, problem] : problems_)
    if (!problem.empty()) return resource + " cannot be listed: " + problem;
  return {};
}

std::vector<const PersistentVolume*> VolumeBook::offered_volumes(const PooledString& class_name) const {
  std::vector<const PersistentVolume*> out;
  if (const Names* names = find(offered_by_class_, class_name); names != nullptr)
    for (const PooledString& one : *names) out.push_back(served_volume(one));
  std::ranges::sort(out, {}, [](const PersistentVolume* v) { return v->name.view(); });
  return out;
}

std::vector<const PersistentVolume*> VolumeBook::volumes_of_claim(const PersistentVolumeClaim& claim) const {
  std::vector<const PersistentVolume*> out;
  const PooledString key = claim_key(claim.ns, claim.name);
  if (const Names* names = find(volumes_by_claim_, key); names != nullptr)
    for (const PooledString& one : *names) out.push_back(volume(one));
  if (const Names* names = find(assumed_by_claim_, key); names != nullptr)
    for (const PooledString& one : *names)
      if (std::ranges::find(out, volume(one)) == out.end()) out.push_back(volume(one));
  std::ranges::sort(out, {}, [](const PersistentVolume* v) { return v->name.view(); });
  return out;
}

std::vector<const CsiStorageCapacity*> VolumeBook::capacities_of_class(const PooledString& name) const {
  std::vector<const CsiStorageCapacity*> out;
  if (const auto* keys = find(capacities_by_class_, name); keys != nullptr)
    for (const FullName& key : *keys) out.push_back(find(capacities_, key));
  std::ranges::sort(out, {}, [](const CsiStorageCapacity* c) { return std::pair(c->ns.view(), c->name.view()); });
  return out;
}

std::vector<const VolumeAttachment*> VolumeBook::attachments_on(const PooledString& node) const {
  std::vector<const VolumeAttachment*> out;
  if (const Names* names = find(attachments_by_node_, node); names != nullptr)
    for (const PooledString& one : *names) out.push_back(find(attachments_, one));
  return out;
}

void VolumeBook::depend(PodSlot slot, std::vector<VolumeTopic> topics) {
  const auto known = topics_.find(slot);
  if (known != topics_.end()) {
    if (known->second == topics) return;
    for (const VolumeTopic& topic : known->second) {
      count_request(topic, false);
      const auto row = dependents_.find(topic);
      std::erase(row->second, slot);
      if (row->second.empty()) dependents_.erase(row);
    }
  }
  if (topics.empty()) {
    if (known != topics_.end()) topics_.erase(known);
    news_.erase(slot);
    return;
  }
  for (const VolumeTopic& topic : topics) {
    count_request(topic, true);
    dependents_[topic].push_back(slot);
    touched_.erase(topic);  // the pod has not heard of what comes from now on
  }
  topics_[slot] = std::move(topics);
}

void VolumeBook::count_request(const VolumeTopic& topic, bool is_added) {
  if (topic.kind != Kind::kRequest) return;
  std::size_t& pods = requested_[topic.name];
  pods = is_added ? pods + 1 : pods - 1;
  if (pods == 0) requested_.erase(topic.name);
}

const std::vector<PodSlot>& VolumeBook::dependents(const VolumeTopic& topic) const {
  static const std::vector<PodSlot> kNone;
  const std::vector<PodSlot>* found = find(dependents_, topic);
  return found == nullptr ? kNone : *found;
}

void VolumeBook::touch(const VolumeTopic& topic) {
  nodes_edition_ += topic.kind == Kind::kNodes ? 1 : 0;
  if (topic.kind == Kind::kAll) {
    for (const auto& [slot, topics] : topics_) news_.insert(slot);
    return;
  }
  if (!touched_.insert(topic).second) return;
  for (const PodSlot slot : dependents(topic)) news_.insert(slot);
  pods_touched_ += dependents(topic).size();
}

std::vector<PodSlot> VolumeBook::take_pods() {
  std::vector<PodSlot> pods(news_.begin(), news_.end());
  news_.clear();
  touched_.clear();
  std::ranges::sort(pods);
  return pods;
}

std::vector<PooledString> VolumeBook::take_nodes() { return take_sorted(node_news_); }

std::vector<PooledString> VolumeBook::take_classes() { return take_sorted(class_news_); }

}  // namespace ashlar::kube
