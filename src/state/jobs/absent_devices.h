// AbsentDevices: what placed members were given of their nodes' devices, where the node does not report some of them
// now: its device plugin starts again, or the pod was bound by others to devices that the node never had. Members are
// owed these; when the node reports them again, each has its own, and as much of each as before.
#pragma once

#include <map>

#include "base/id.h"
#include "model/device_grant.h"

namespace ashlar {

class AbsentDevices {
 public:
  struct Given {
    NodeId node;
    GivenDevices given;
  };

  bool are_none() const { return rows_.empty(); }
  /// Nullptr if the node has all that the member was given.
  const Given* find(MemberId member) const {
    const auto it = rows_.find(member);
    return it == rows_.end() ? nullptr : &it->second;
  }
  void note(MemberId member, const Given& given) { rows_[member] = given; }
  void forget(MemberId member) { rows_.erase(member); }

 private:
  friend struct StateFields;
  std::map<MemberId, Given> rows_;
};

}  // namespace ashlar
