// When was each pod bound? Observer: a watch of the bound pods of one namespace, in protobuf, which the API server
// encodes once for all who watch in it (schedulers, kubelets, controllers), so that watching costs every scheduler the
// same little. Times are those at which the watch showed the pod. Runs inside Api::poll().
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>

#include "../rawbind.h"
#include "kubeclient/api.h"
#include "kubeclient/decode/decode.h"

namespace ashlar::bench {

class Observer {
 public:
  Observer(kube::Api& api, const std::string& ns) : api_(api), ns_(ns) {}
  ~Observer() { api_.cancel(stream_); }

  /// Opens the watch and waits until it stands. The namespace must hold no bound pods yet.
  void start() {
    bool is_open = false;
    const std::string path =
        "/api/v1/namespaces/" + ns_ +
        "/pods?watch=1&fieldSelector=spec.nodeName%21%3D&allowWatchBookmarks=false&timeoutSeconds=3600";
    stream_ =
        api_.stream({.path = path, .accept = "application/vnd.kubernetes.protobuf;stream=watch", .timeout = Millis(0)},
                    {.on_open = [&is_open](const http::Response&) { is_open = true; },
                     .on_chunk = [this](std::string_view chunk) { return read(chunk); },
                     .on_done = [](Result<http::Response>) {}},
                    Millis(0));
    const auto start = steady_clock::now();
    while (!is_open && seconds_since(start) < 2) api_.poll(Millis(20));  // headers may come only with the first event
  }
  std::size_t bound() const { return bound_at_.size(); }
  /// Waits until this many pods are bound or `patience` seconds passed; true if they are.
  bool wait_for(std::size_t count, double patience) {
    const auto start = steady_clock::now();
    while (bound() < count && seconds_since(start) < patience) api_.poll(Millis(20));
    return bound() >= count;
  }
  steady_clock::time_point first() const { return first_; }
  steady_clock::time_point last() const { return last_; }
  /// Pods per second between the first bind and the last.
  double rate() const {
    const double span = std::chrono::duration<double>(last_ - first_).count();
    return span > 0 ? static_cast<double>(bound()) / span : 0;
  }
  /// Last bind among pods whose name starts with `prefix`.
  steady_clock::time_point last_of(const std::string& prefix) const {
    steady_clock::time_point last{};
    for (const auto& [name, at] : bound_at_)
      if (name.rfind(prefix, 0) == 0) last = std::max(last, at);
    return last;
  }
  std::size_t bound_of(const std::string& prefix) const {
    return static_cast<std::size_t>(std::count_if(bound_at_.begin(), bound_at_.end(),
                                                  [&](const auto& p) { return p.first.rfind(prefix, 0) == 0; }));
  }

 private:
  bool read(std::string_view chunk) {
    return frames_.feed(chunk, [this](std::string_view frame) { return take(frame); }).ok();
  }
  bool take(std::string_view frame) {
    const auto event = kube::decode_watch_event<kube::Pod>(frame);
    if (!event || event->kind != kube::WatchEventKind::kAdded) return true;
    const auto now = steady_clock::now();
    if (!bound_at_.emplace(event->object.name.str(), now).second) return true;
    if (bound_at_.size() == 1) first_ = now;
    last_ = now;
    return true;
  }

  kube::Api& api_;
  std::string ns_;
  kube::FrameSplitter frames_{kube::Encoding::kProtobuf};
  http::RequestId stream_ = 0;
  std::unordered_map<std::string, steady_clock::time_point> bound_at_;
  steady_clock::time_point first_{}, last_{};
};

}  // namespace ashlar::bench
