// BoundPods: when each pod of a run was bound, as a watch of all bound pods shows it, in protobuf, which the API server
// encodes once for all who watch so. Pods are told apart by their names, OPERATION-NUMBER (see pod_name()).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kubeclient/api.h"
#include "kubeclient/decode/decode.h"

namespace ashlar::bench::perf {

using Instant = std::chrono::steady_clock::time_point;

inline double seconds_between(Instant from, Instant to) { return std::chrono::duration<double>(to - from).count(); }

/// Names begin with this; the plain client binds those that are measured only.
inline constexpr std::string_view kMeasuredPrefix = "measured-", kOtherPrefix = "other-";
/// One pod that shows that a scheduler stands; it does not count.
inline constexpr std::string_view kProbe = "measured-probe";

/// "measured-3-17": the 17th pod of operation 3.
std::string pod_name(bool is_measured, std::size_t operation, std::size_t i);

class BoundPods {
 public:
  explicit BoundPods(kube::Api& api) : api_(api) {}
  ~BoundPods() { api_.cancel(stream_); }
  BoundPods(const BoundPods&) = delete;
  BoundPods& operator=(const BoundPods&) = delete;

  void start();
  /// To be called between polls: a watch that has ended is opened again. One that cannot be is a failure of the run.
  void go_on();
  bool has_failed() const { return has_failed_; }

  std::size_t measured() const { return at_.size(); }
  /// Bound pods of one operation.
  std::size_t of_operation(std::size_t operation) const;
  /// Bound pods whose names are `start` and a number: "measured-probe-0".
  std::size_t of_name(const std::string& start) const;
  Instant first() const { return first_; }  ///< of the measured ones
  Instant last() const { return last_; }
  const std::unordered_map<std::string, Instant>& times() const { return at_; }  ///< of the measured ones, by name

 private:
  static constexpr int kReopenedMax = 20;
  void open();
  bool read(std::string_view chunk);
  void take(const std::string& name);

  kube::Api& api_;
  kube::FrameSplitter frames_{kube::Encoding::kProtobuf};
  http::RequestId stream_ = 0;
  std::uint64_t version_ = 0;  ///< the last one seen
  int reopened_ = 0;
  bool is_open_ = false, has_ended_ = false, has_failed_ = false;
  std::unordered_map<std::string, Instant> at_;
  std::unordered_map<std::string, std::size_t> by_start_;  ///< "other-3" → count
  Instant first_{}, last_{};
};

}  // namespace ashlar::bench::perf
