// unknown_fields: what a newer API server says that this release does not know. A message that was generated from the
// pinned release skips it; a pod may depend on it. Private to the folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ashlar::kube::proto {

/// "PodSpec.44": message and number; each once, in the order of the bytes, at most kMost of each list.
struct UnknownFields {
  static constexpr std::size_t kMost = 16;
  std::vector<std::string> in_spec;    ///< below the object's field `spec`
  std::vector<std::string> elsewhere;  ///< in its metadata, its status or itself
  bool empty() const { return in_spec.empty() && elsewhere.empty(); }
  std::vector<std::string> all() const;
};

/// "PodStatus.22, ObjectMeta.18"
std::string joined(const std::vector<std::string>& names);

/// Walks the raw bytes of a message of this name at all depths. Of bytes that are no such message: those before the
/// error. O(bytes) at most; texts and amounts are skipped.
UnknownFields find_unknown_fields(std::string_view raw, std::string_view message);
/// Whether there is any; ends at the first.
bool has_unknown_fields(std::string_view raw, std::string_view message);

}  // namespace ashlar::kube::proto
