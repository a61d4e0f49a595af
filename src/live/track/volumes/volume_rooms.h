// VolumeRooms: the requests of claims for which a gang found too few volumes on a node. The engine knows where volumes
// are left, not how many; of these requests it is given that, too: as a resource of nodes that pods request. At most 8
// at a time, since columns of resources are few.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kubeclient/volumes/volume_objects.h"
#include "live/track/volumes/volume_book.h"

namespace ashlar::kube {

/// Volumes of one class that are large enough and of the right kind for a claim, as a resource.
struct VolumeRoom {
  PersistentVolumeClaim request;  ///< see request_of
  PooledString resource;
  std::optional<VolumeBook::ClassEditions> counted;  ///< of the class, as nodes were last counted; absent: never
  std::uint64_t needed_at = 0;
  /// Whether each volume that the claim could be bound to is one of these.
  bool is_taken_by(const PersistentVolumeClaim& claim) const;
};

class VolumeRooms {
 public:
  static constexpr std::size_t kRoomsMax = 8;
  bool is_empty() const { return rooms_.empty(); }
  std::vector<VolumeRoom>& all() { return rooms_; }
  const std::vector<VolumeRoom>& all() const { return rooms_; }
  /// Null: there is none for it.
  const VolumeRoom* find(const PersistentVolumeClaim& request) const;
  void note_needed(VolumeRoom& room) { room.needed_at = ++needs_; }
  VolumeRoom& add(PersistentVolumeClaim request);
  /// The room is that of another request from now on.
  void replace(VolumeRoom& room, PersistentVolumeClaim request);
  /// The resource of the next room that is added.
  PooledString next_resource() const;

 private:
  std::vector<VolumeRoom> rooms_;
  std::uint64_t needs_ = 0;
};

/// No user can request it: it is no name of a resource.
bool is_room_resource(std::string_view name);

}  // namespace ashlar::kube
