// ClassNames: the device classes of a case or a simulated run by name, or by the name of a model that one lists; a name
// that is neither gets a class of its own. Also the capabilities by name. Cost: two hashes per lookup.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "names/interned.h"
#include "names/model_names.h"
#include "text/stated_classes.h"

namespace ashlar::sim {

class ClassNames {
 public:
  DeviceClassId of(std::string_view name) {
    const DeviceClassId listed = models_.class_of(name);
    return listed.is_none() ? classes_.of(name) : listed;
  }
  /// None if the name is not known.
  DeviceClassId find(std::string_view name) const {
    const DeviceClassId listed = models_.class_of(name);
    return listed.is_none() ? classes_.find(name) : listed;
  }
  /// Empty for a row that is not known.
  std::string name(DeviceClassId id) const { return classes_.name(id); }
  std::string capability_name(CapabilityId id) const { return capabilities_.name(id); }

  /// From now on the class has these models and capabilities. A model that is a class of its own already stays one.
  DeviceClassDefined define(const StatedClass& stated) {
    DeviceClassDefined defined{classes_.of(stated.name), {}};
    for (const std::string& model : stated.models)
      if (model != stated.name) defined.device_class.models.push_back(models_.list(model, defined.id));
    defined.device_class.capabilities = capabilities(stated.capabilities);
    return defined;
  }
  /// Ascending, each once.
  std::vector<CapabilityId> capabilities(const std::vector<std::string>& names) {
    std::vector<CapabilityId> ids;
    for (const std::string& name : names) ids.push_back(capabilities_.of(name));
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }

 private:
  Interned<DeviceClassId> classes_;
  ModelNames<> models_;
  Interned<CapabilityId> capabilities_;
};

}  // namespace ashlar::sim
