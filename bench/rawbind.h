// How fast can any scheduler bind on this machine? The plain raw-bind client: it decides nothing and writes bindings as
// fast as the API server takes them, on one HTTP/2 connection with a window of requests in flight, while one pod watch
// is open. Used alone (rawbind.cpp) and beside schedulers, whose rates are given as shares of this one.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "kubeclient/api.h"
#include "kubeclient/reflector.h"
#include "kubeclient/writes.h"

namespace ashlar::bench {

using std::chrono::steady_clock;

inline double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

/// User and system seconds of this process.
inline double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Sends `count` requests with at most `window` unanswered; returns how many failed. `send(i, on_answer)` must send the
/// i-th.
inline std::size_t pump(kube::Api& api, std::size_t count, std::size_t window,
                        const std::function<void(std::size_t, kube::OnAnswer)>& send) {
  std::size_t sent = 0, answered = 0, failed = 0;
  std::string first_failure;
  const auto on_answer = [&](kube::Answer answer) {
    ++answered;
    if (answer.ok()) return;
    if (failed++ == 0) std::fprintf(stderr, "first failure: %s\n", answer.result.error().message.c_str());
  };
  while (answered < count) {
    while (sent < count && sent - answered < window) send(sent++, on_answer);
    api.poll(Millis(100));
  }
  return failed;
}

struct RawBindOptions {
  std::string prefix = "raw";  ///< of pod names; pods are PREFIX-0 ...
  std::string ns = "default";
  std::size_t pods = 10'000, nodes = 5'000;  ///< nodes are called node-0 ...
  std::size_t in_flight = 64;
  int gpus = 0;  ///< nvidia.com/gpu of each pod; nodes have 8
  bool with_watch = true;
  kube::Encoding bind_encoding = kube::Encoding::kJson;
};

struct RawBindReport {
  double seconds = 0, client_cpu_seconds = 0, server_cpu_seconds = 0;
  std::size_t failed = 0;
  double rate(const RawBindOptions& options) const { return static_cast<double>(options.pods) / seconds; }
  double cpu_per_10k(const RawBindOptions& options) const {
    return client_cpu_seconds * 1e4 / static_cast<double>(options.pods);
  }
};

/// CPU seconds of the API server so far, from its own metrics; 0 where they cannot be read. Costs it some 20 ms.
inline double server_cpu_seconds(kube::Api& api) {
  const std::string text = kube::call(api, {.path = "/metrics", .accept = "text/plain"}).body;
  const std::size_t at = text.find("\nprocess_cpu_seconds_total ");
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + 27, nullptr);
}

inline std::string node_name(std::size_t i) { return "node-" + std::to_string(i); }
inline std::string pod_name(const RawBindOptions& options, std::size_t i) {
  return options.prefix + "-" + std::to_string(i);
}

inline std::size_t create_nodes(kube::Api& api, std::size_t count) {
  return pump(api, count, 64, [&](std::size_t i, kube::OnAnswer on_answer) {
    kube::post_node(api,
                    {.name = node_name(i),
                     .labels = {{"rack", "rack-" + std::to_string(i / 16)}, {"kubernetes.io/hostname", node_name(i)}},
                     .allocatable = {{"cpu", "64"}, {"memory", "512Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}}},
                    api.now(), std::move(on_answer));
  });
}

inline std::size_t create_pods(kube::Api& api, const RawBindOptions& options) {
  return pump(api, options.pods, options.in_flight, [&](std::size_t i, kube::OnAnswer on_answer) {
    kube::PodSpec spec{.ns = options.ns,
                       .name = pod_name(options, i),
                       .scheduler_name = "raw-bind",
                       .requests = {{"cpu", "100m"}, {"memory", "128Mi"}}};
    if (options.gpus > 0) spec.requests.emplace_back("nvidia.com/gpu", std::to_string(options.gpus));
    kube::create_pod(api, spec, std::move(on_answer));
  });
}

/// Binds the pre-created pods of `options` to nodes in turn.
inline RawBindReport bind_all(kube::Api& api, const RawBindOptions& options) {
  std::size_t changes = 0;
  kube::Reflector<kube::Pod> watch(api, {}, [&](kube::Change<kube::Pod>&&) { ++changes; });
  if (options.with_watch) {
    watch.start();
    while (!watch.is_synced()) api.poll(Millis(100));
  }
  RawBindReport report;
  report.server_cpu_seconds = -server_cpu_seconds(api);
  const auto start = steady_clock::now();
  const double cpu_start = cpu_seconds();
  report.failed = pump(api, options.pods, options.in_flight, [&](std::size_t i, kube::OnAnswer on_answer) {
    kube::bind(api, {.ns = options.ns, .pod = pod_name(options, i), .node = node_name(i % options.nodes)},
               std::move(on_answer), options.bind_encoding);
  });
  report.seconds = seconds_since(start);
  report.client_cpu_seconds = cpu_seconds() - cpu_start;
  report.server_cpu_seconds += server_cpu_seconds(api);
  return report;
}

/// Time from nothing to a synced reflector, with the pods kept as a scheduler would keep them.
struct ListReport {
  double seconds = 0, client_cpu_seconds = 0, server_cpu_seconds = 0;
  std::size_t pods = 0;
  std::uint64_t bytes = 0;
};
inline ListReport list_all(kube::Api& api, std::size_t page_items) {
  std::vector<kube::Pod> pods;
  ListReport report;
  report.server_cpu_seconds = -server_cpu_seconds(api);
  const auto start = steady_clock::now();
  const double cpu_start = cpu_seconds();
  const std::uint64_t bytes_start = api.counters().bytes_received;
  kube::Reflector<kube::Pod> watch(api, {.page_items = page_items}, [&](kube::Change<kube::Pod>&& change) {
    if (change.kind == kube::Change<kube::Pod>::Kind::kAdded) pods.push_back(std::move(change.object));
  });
  watch.start();
  while (!watch.is_synced()) api.poll(Millis(100));
  report.seconds = seconds_since(start);
  report.client_cpu_seconds = cpu_seconds() - cpu_start;
  report.bytes = api.counters().bytes_received - bytes_start;
  report.pods = pods.size();
  watch.stop();
  report.server_cpu_seconds += server_cpu_seconds(api);
  return report;
}

/// The same fed by the watch: pods are created while others are bound, each as soon as the watch shows it.
inline RawBindReport create_and_bind(kube::Api& api, const RawBindOptions& options) {
  std::deque<kube::Binding> due;
  std::size_t seen = 0;
  kube::Reflector<kube::Pod> watch(api, {}, [&](kube::Change<kube::Pod>&& change) {
    if (change.kind != kube::Change<kube::Pod>::Kind::kAdded || !change.object.node_name.empty()) return;
    due.push_back({.ns = change.object.ns,
                   .pod = change.object.name,
                   .uid = change.object.uid,
                   .node = node_name(seen++ % options.nodes)});
  });
  watch.start();
  while (!watch.is_synced()) api.poll(Millis(100));
  RawBindReport report;
  report.server_cpu_seconds = -server_cpu_seconds(api);
  const auto start = steady_clock::now();
  const double cpu_start = cpu_seconds();
  std::size_t created = 0, creating = 0, binding = 0, bound = 0;
  while (bound < options.pods) {
    for (; created < options.pods && creating < options.in_flight; ++created, ++creating) {
      kube::PodSpec spec{.ns = options.ns,
                         .name = pod_name(options, created),
                         .scheduler_name = "raw-bind",
                         .requests = {{"cpu", "100m"}, {"memory", "128Mi"}}};
      if (options.gpus > 0) spec.requests.emplace_back("nvidia.com/gpu", std::to_string(options.gpus));
      kube::create_pod(api, spec, [&](kube::Answer answer) {
        --creating;
        report.failed += !answer.ok();
        bound += !answer.ok();
      });
    }
    for (; !due.empty() && binding < options.in_flight; due.pop_front(), ++binding)
      kube::bind(api, due.front(), [&](kube::Answer answer) {
        --binding;
        ++bound;
        report.failed += !answer.ok();
      });
    api.poll(Millis(100));
  }
  report.seconds = seconds_since(start);
  report.client_cpu_seconds = cpu_seconds() - cpu_start;
  report.server_cpu_seconds += server_cpu_seconds(api);
  return report;
}

}  // namespace ashlar::bench
