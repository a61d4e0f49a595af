#include "live/track/volumes/volume_rooms.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"

namespace ashlar::kube {
namespace {

constexpr std::string_view kRoomPrefix = "volumes left ";

}  // namespace

bool is_room_resource(std::string_view name) { return name.starts_with(kRoomPrefix); }

bool VolumeRoom::is_taken_by(const PersistentVolumeClaim& claim) const {
  const bool is_alike = claim.class_name == request.class_name && claim.volume_mode == request.volume_mode &&
                        claim.attributes_class == request.attributes_class &&
                        claim.request.value_or(0) >= request.request.value_or(0);
  if (!is_alike || (request.selector.present && !(claim.selector == request.selector))) return false;
  return std::ranges::all_of(request.access_modes, [&](const PooledString& mode) {
    return std::ranges::find(claim.access_modes, mode) != claim.access_modes.end();
  });
}

const VolumeRoom* VolumeRooms::find(const PersistentVolumeClaim& request) const {
  const auto found = std::ranges::find(rooms_, request, &VolumeRoom::request);
  return found == rooms_.end() ? nullptr : &*found;
}

PooledString VolumeRooms::next_resource() const { return std::string(kRoomPrefix) + std::to_string(rooms_.size()); }

VolumeRoom& VolumeRooms::add(PersistentVolumeClaim request) {
  ASHLAR_CHECK(rooms_.size() < kRoomsMax);
  return rooms_.emplace_back(std::move(request), next_resource(), std::nullopt, ++needs_);
}

void VolumeRooms::replace(VolumeRoom& room, PersistentVolumeClaim request) {
  room.request = std::move(request);
  room.counted.reset();
  note_needed(room);
}

}  // namespace ashlar::kube
