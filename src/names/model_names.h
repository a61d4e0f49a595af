// ModelNames: the names of accelerator models that device classes list, and of which class each is; in order of first
// appearance. A model that no class lists is a class of its own and not here. Cost: one hash per lookup.
#pragma once

#include <string>
#include <vector>

#include "base/id.h"
#include "names/interned.h"

namespace ashlar {

template <class Name = std::string>
class ModelNames {
 public:
  /// The class that lists it; none if none does.
  template <class Text>
  DeviceClassId class_of(const Text& model) const {
    const DeviceModelId id = names_.find(model);
    return id.is_none() ? DeviceClassId::none() : classes_[id.row()];
  }
  /// The row of a model; from now on it is of this class.
  DeviceModelId list(const Name& model, DeviceClassId of) {
    const DeviceModelId id = names_.of(model);
    if (id.row() == classes_.size()) classes_.push_back(of);
    classes_[id.row()] = of;
    return id;
  }
  /// Empty for a row that is not known.
  Name name(DeviceModelId id) const { return names_.name(id); }

 private:
  Interned<DeviceModelId, Name> names_;
  std::vector<DeviceClassId> classes_;  ///< by model
};

}  // namespace ashlar
