// What tenants write on their pods, a line each: "key=value" is a label, "@key=value" an annotation. Read word by word,
// and by the tracker as a pod that waits and as one that is bound.
#include <algorithm>
#include <memory>

#include "fuzz/fuzz.h"
#include "live/track/gang_table.h"
#include "live/track/tracker.h"
#include "live/track/translate.h"
#include "text/duration_text.h"

namespace {

using namespace ashlar::kube;

constexpr std::size_t kLinesMax = 64;

Pod pod_of(std::string_view bytes) {
  Labels labels, annotations;
  for (std::size_t lines = 0; !bytes.empty() && lines < kLinesMax; ++lines) {
    std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
    const bool is_annotation = line.starts_with('@');
    if (is_annotation) line.remove_prefix(1);
    const std::size_t split = std::min(line.find('='), line.size());
    (is_annotation ? annotations : labels)
        .push_back({PooledString(line.substr(0, split)), PooledString(line.substr(std::min(line.size(), split + 1)))});
  }
  for (Labels* all : {&labels, &annotations})
    std::sort(all->begin(), all->end(), [](const KeyValue& a, const KeyValue& b) { return a.key < b.key; });
  Pod pod;
  pod.ns = PooledString("ns");
  pod.name = PooledString("p");
  pod.uid = PooledString("uid");
  pod.scheduler_name = PooledString("ashlar");
  pod.requests.extended = {{PooledString("nvidia.com/gpu"), 2}};
  pod.labels = std::make_shared<const Labels>(std::move(labels));
  pod.annotations = std::make_shared<const Labels>(std::move(annotations));
  return pod;
}

void take(const Pod& pod, bool is_bound) {
  WallClock clock([] { return ashlar::Millis(1000); });
  EventBuffer source(clock);
  Tracker tracker({.levels = {{PooledString("rack"), PooledString("l/rack")}}}, source, {});
  tracker.open();
  Node node;
  node.name = PooledString("n");
  node.ready = ConditionStatus::kTrue;
  node.pods_max = 10;
  node.allocatable.extended = {{PooledString("nvidia.com/gpu"), 8}};
  tracker.take(Change<Node>{Change<Node>::Kind::kModified, node});
  Pod seen = pod;
  if (is_bound) seen.node_name = node.name;
  tracker.take(Change<Pod>{Change<Pod>::Kind::kModified, seen});
  tracker.settle();
  static_cast<void>(tracker.tick(ashlar::Millis(1000)));
  tracker.take(Change<Pod>{Change<Pod>::Kind::kDeleted, seen});
  tracker.settle();
}

void run(std::string_view bytes) {
  static_cast<void>(ashlar::parse_devices(bytes));
  static_cast<void>(ashlar::parse_duration(bytes).ok());
  const Pod pod = pod_of(bytes);
  static_cast<void>(read_gang_settings(pod).ok());
  static_cast<void>(mistyped_setting(pod));
  take(pod, false);
  take(pod, true);
}

}  // namespace

ASHLAR_FUZZ_TARGET(tenant_text)
