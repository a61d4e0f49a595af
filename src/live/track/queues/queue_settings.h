// QueueSettings: one queue, as the configuration or an object of the API server states it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/quota.h"
#include "model/stop_rules.h"

namespace ashlar::kube {

inline constexpr std::string_view kDefaultQueue = "default";

struct QueueSettings {
  std::string name;
  std::string parent;  ///< empty: the root
  QuotaVector quota{kUnlimited, kUnlimited, kUnlimited};
  /// A limit of a resource, on all nodes or on those whose GPUs are of one model (empty: all).
  struct Limit {
    std::string resource, model;
    std::int64_t limit = kUnlimited;
    friend bool operator==(const Limit&, const Limit&) = default;
  };
  std::vector<Limit> limits = {};  ///< further ones
  /// What it is sure to get of a resource, and how much more it may use.
  struct Share {
    std::string resource, model;
    std::int64_t guarantee = QuotaShare::kNotNamed;
    std::int64_t borrows = kUnlimited;
    std::int64_t lends = kUnlimited;
    friend bool operator==(const Share&, const Share&) = default;
  };
  std::vector<Share> shares = {};
  QueueRank rank = {};
  StopRules stops = {};
  QueueGate gate = {};
  std::vector<std::string> namespaces = {};  ///< whose pods may use it; empty: those of every namespace
  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

}  // namespace ashlar::kube
