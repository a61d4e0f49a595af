#include "bound_pods.h"

#include <algorithm>
#include <utility>

namespace ashlar::bench::perf {

std::string pod_name(bool is_measured, std::size_t operation, std::size_t i) {
  return std::string(is_measured ? kMeasuredPrefix : kOtherPrefix) + std::to_string(operation) + "-" +
         std::to_string(i);
}

void BoundPods::start() {
  open();
  const Instant start = std::chrono::steady_clock::now();
  // the headers may come only with the first event
  while (!is_open_ && seconds_between(start, std::chrono::steady_clock::now()) < 2) api_.poll(Millis(20));
}

void BoundPods::open() {
  is_open_ = false;
  frames_ = kube::FrameSplitter(kube::Encoding::kProtobuf);
  std::string path = "/api/v1/pods?watch=1&fieldSelector=spec.nodeName%21%3D&allowWatchBookmarks=false";
  if (version_ > 0) path += "&resourceVersion=" + std::to_string(version_);
  stream_ = api_.stream({.path = path + "&timeoutSeconds=3600",
                         .accept = "application/vnd.kubernetes.protobuf;stream=watch",
                         .timeout = Millis(0)},
                        {.on_open = [this](const http::Response&) { is_open_ = true; },
                         .on_chunk = [this](std::string_view chunk) { return read(chunk); },
                         .on_done = [this](const Result<http::Response>&) { has_ended_ = true; }},
                        Millis(0));
}

/// A server that thinks that we read too slowly ends the watch: it goes on where it ended.
void BoundPods::go_on() {
  if (!std::exchange(has_ended_, false)) return;
  if (version_ == 0 || reopened_++ == kReopenedMax)
    has_failed_ = true;
  else
    open();
}

std::size_t BoundPods::of_operation(std::size_t operation) const {
  const std::string number = std::to_string(operation);
  return of_name(std::string(kMeasuredPrefix) + number) + of_name(std::string(kOtherPrefix) + number);
}

std::size_t BoundPods::of_name(const std::string& start) const {
  const auto found = by_start_.find(start);
  return found == by_start_.end() ? 0 : found->second;
}

bool BoundPods::read(std::string_view chunk) {
  return frames_
      .feed(chunk,
            [this](std::string_view frame) {
              const auto event = kube::decode_watch_event<kube::Pod>(frame);
              if (!event || event->kind == kube::WatchEventKind::kError) return false;
              version_ = std::max(version_, event->object.resource_version);
              if (event->kind == kube::WatchEventKind::kAdded) take(event->object.name.str());
              return true;
            })
      .ok();
}

void BoundPods::take(const std::string& name) {
  const std::size_t end = name.rfind('-');
  if (end == std::string::npos) return;
  ++by_start_[name.substr(0, end)];
  if (name.rfind(kMeasuredPrefix, 0) != 0 || name.rfind(kProbe, 0) == 0) return;
  last_ = std::chrono::steady_clock::now();
  if (at_.empty()) first_ = last_;
  at_.emplace(name, last_);
}

}  // namespace ashlar::bench::perf
