#include "live/track/unknown_fields.h"

namespace ashlar::kube {
namespace {

/// Further ones are not remembered: a server has a handful.
constexpr std::size_t kRememberedMax = 64;

void note(TrackerData& t, const PooledString& names) {
  if (names.empty() || t.unknown_fields.size() >= kRememberedMax || !t.unknown_fields.insert(names).second) return;
  if (t.listeners.log)
    t.listeners.log(LogLevel::kInfo, {"the API server is newer than this release: it sends " + names.str() +
                                      " (message and field), which is not read"});
}

}  // namespace

std::string refused_unknown_fields(const std::set<std::string>& accepted, std::span<const PooledString> fields) {
  std::string text;
  for (const PooledString& field : fields)
    if (!accepted.contains(field.str())) text += (text.empty() ? "" : ", ") + field.str();
  return text;
}

void note_unknown_fields(TrackerData& t, const PooledString& elsewhere, std::span<const PooledString> in_spec) {
  note(t, elsewhere);
  for (const PooledString& field : in_spec) note(t, field);
}

void note_unknown_fields(TrackerData& t, const Pod& pod) {
  note_unknown_fields(t, pod.unknown_fields);
  if (pod.rules) note_unknown_fields(t, PooledString(), pod.rules->unknown_fields);
}

}  // namespace ashlar::kube
