#include "live/track/unknown_fields.h"

namespace ashlar::kube {
namespace {

/// Further ones are not remembered: a server has a handful.
constexpr std::size_t kRememberedMax = 64;

void note(TrackerData& t, const PooledString& names) {
  if (names.empty() || t.unknown_fields.size() >= kRememberedMax || !t.unknown_fields.insert(names).second) return;
  if (t.listeners.log)
    t.listeners.log(LogLevel::kInfo, {"the API server is newer than this release: it sends " + names.str() +
                                      " (message and number of a field), which is not read"});
}

}  // namespace

std::string refused_unknown_fields(const TrackerOptions& options, const Pod& pod) {
  std::string text;
  if (!pod.rules) return text;
  for (const PooledString& field : pod.rules->unknown_fields)
    if (!options.accepted_fields.contains(field.str())) text += (text.empty() ? "" : ", ") + field.str();
  return text;
}

void note_unknown_fields(TrackerData& t, const Pod& pod) {
  note(t, pod.unknown_fields);
  if (!pod.rules) return;
  for (const PooledString& field : pod.rules->unknown_fields) note(t, field);
}

void note_unknown_fields(TrackerData& t, const Node& node) { note(t, node.unknown_fields); }

}  // namespace ashlar::kube
