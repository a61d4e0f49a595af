#include "live/track/volumes/room_counts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kubeclient/bind_outcome.h"
#include "live/track/nodes/csi_nodes.h"
#include "live/track/nodes/node_changes.h"
#include "text/amount_text.h"

namespace ashlar::kube {
namespace {

/// Columns that are left to resources of nodes, whatever volumes are too few.
constexpr std::size_t kColumnsLeft = 16;

std::int64_t requested(const Demand& demand, ResourceId column) {
  const auto found = std::ranges::find(demand.amounts, column, &ResourceAmount::resource);
  return found == demand.amounts.end() ? 0 : found->amount;
}

bool is_requested(const TrackerData& t, const VolumeRoom& room) {
  const ResourceId column = t.names.find_resource(room.resource);
  return t.translator.has_demand([&](const Demand& demand) { return requested(demand, column) > 0; });
}

/// The room that nobody has needed for the longest time; null: all are needed.
VolumeRoom* unneeded(TrackerData& t) {
  VolumeRoom* found = nullptr;
  for (VolumeRoom& room : t.volume_rooms.all())
    if ((found == nullptr || room.needed_at < found->needed_at) && !is_requested(t, room)) found = &room;
  return found;
}

/// "volumes (class "fast", at least 10 GiB, ReadWriteOnce)".
std::string words_of(const PersistentVolumeClaim& request) {
  std::string text = "volumes (class \"" + bounded_name(request.class_name.view()) + "\", at least " +
                     amount_text(resource::kMemory, request.request.value_or(0));
  for (const PooledString& mode : request.access_modes) text += ", " + mode.str();
  if (request.volume_mode == "Block") text += ", Block";
  return text + (request.selector.present ? ", with the labels that the claim selects)" : ")");
}

/// Of the room's class as it is now; without a choice: the class is gone.
LateClaim claim_of(TrackerData& t, const VolumeRoom& room) {
  const StorageClass* storage_class = t.volumes.storage_class(room.request.class_name);
  return storage_class == nullptr ? LateClaim{} : t.late_choices.of(room.request, *storage_class);
}

std::int64_t taken(const TrackerData& t, const NodeRecord& node, ResourceId column) {
  std::int64_t sum = 0;
  for (const PodSlot slot : node.mounters)
    if (const DemandId demand = t.pods[slot].demand; !demand.is_none())
      sum += requested(t.translator.demand_of(demand), column);
  return sum;
}

std::int64_t volumes_of(TrackerData& t, NodeId node, const LateClaim& claim, ResourceId column) {
  const NodeRecord& record = t.nodes[node.row()];
  const std::int64_t left = claim.choice == nullptr ? 0 : t.late_choices.left_at(claim, record.labels);
  return left + taken(t, record, column);
}

std::int64_t reported(const NodeFacts& facts, ResourceId column) {
  return column.row() < facts.allocatable.size() ? facts.allocatable[column.row()] : 0;
}

void count(TrackerData& t, const VolumeRoom& room) {
  const ResourceId column = t.names.find_resource(room.resource);
  const LateClaim claim = claim_of(t, room);
  for (std::size_t row = 0; row < t.nodes.size(); ++row) {
    const NodeId node(row);
    if (t.names.nodes.name(node).empty()) continue;
    const std::int64_t volumes = volumes_of(t, node, claim, column);
    if (reported(t.nodes[row].facts, column) == volumes) continue;
    NodeFacts facts = t.nodes[row].facts;
    set_allocatable(facts, column, volumes);
    report_node(t, node, std::move(facts));
  }
}

/// Null: there is none to have.
VolumeRoom* add(TrackerData& t, const PersistentVolumeClaim& request) {
  VolumeRooms& rooms = t.volume_rooms;
  VolumeRoom* room = nullptr;
  if (rooms.all().size() == VolumeRooms::kRoomsMax) {
    room = unneeded(t);
    if (room != nullptr) rooms.replace(*room, request);
  } else if (t.names.column_count() + kColumnsLeft < resource::kColumnsMax) {
    t.names.resource(rooms.next_resource());
    room = &rooms.add(request);
  }
  if (room == nullptr) return nullptr;
  t.names.say_resource(t.names.find_resource(room->resource), words_of(request));
  t.volumes.touch({VolumeTopic::Kind::kClass, {}, request.class_name});
  return room;
}

/// Whether the pod was placed without the room of this request, which there is from now on.
bool is_uncounted(TrackerData& t, PodSlot slot, const PersistentVolumeClaim& request) {
  const VolumeRoom* room = t.volume_rooms.find(request);
  if (room == nullptr) room = add(t, request);
  if (room == nullptr) return false;
  return requested(t.translator.demand_of(t.pods[slot].demand), t.names.find_resource(room->resource)) == 0;
}

}  // namespace

bool lacks_room(TrackerData& t, PodSlot slot, const LateClaim& unmet) {
  if (!unmet.choice->request) return false;
  if (is_uncounted(t, slot, request_of(*unmet.claim))) return true;
  for (const PodSlot other : t.gangs[t.pods[slot].gang].pods)
    if (const auto chosen = t.chosen_volumes.find(other); chosen != t.chosen_volumes.end())
      for (const ChosenVolumes::Item& item : chosen->second.items)
        if (!item.is_new() && item.claim.class_name == unmet.claim->class_name &&
            is_uncounted(t, other, request_of(item.claim)))
          return true;
  return false;
}

std::vector<Amount> room_amounts(TrackerData& t, std::span<const LateClaim> claims) {
  std::vector<Amount> amounts;
  for (VolumeRoom& room : t.volume_rooms.all()) {
    const auto count = std::ranges::count_if(
        claims, [&](const LateClaim& late) { return late.choice->request && room.is_taken_by(*late.claim); });
    if (count == 0) continue;
    t.volume_rooms.note_needed(room);
    amounts.push_back({room.resource, count});
  }
  return amounts;
}

void add_rooms(TrackerData& t, NodeId node, NodeFacts& facts) {
  for (const VolumeRoom& room : t.volume_rooms.all()) {
    const ResourceId column = t.names.find_resource(room.resource);
    set_allocatable(facts, column, volumes_of(t, node, claim_of(t, room), column));
  }
}

bool has_room_news(const TrackerData& t) {
  return std::ranges::any_of(t.volume_rooms.all(), [&](const VolumeRoom& room) {
    return room.counted != t.volumes.editions(room.request.class_name) && is_requested(t, room);
  });
}

void settle_rooms(TrackerData& t) {
  for (VolumeRoom& room : t.volume_rooms.all()) {
    const VolumeBook::ClassEditions editions = t.volumes.editions(room.request.class_name);
    if (room.counted == editions || !is_requested(t, room)) continue;
    count(t, room);
    room.counted = editions;
  }
}

}  // namespace ashlar::kube
