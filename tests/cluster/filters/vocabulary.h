// vocabulary: the keys and values that drawn nodes and pods share, few enough that they often meet; and what nodes and
// pods have in common as JSON.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/filters/draw.h"
#include "kubeclient/json_writer.h"

namespace ashlar::filters {

using Pairs = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::string_view kHostname = "kubernetes.io/hostname";
inline constexpr std::string_view kZone = "topology.kubernetes.io/zone";
inline constexpr std::string_view kRack = "example.com/rack";
inline constexpr std::string_view kFeatures[] = {"RestartAllContainersOnContainerExits",
                                                 "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"};

/// A value that nodes have for this label key, or one like it.
std::string draw_label_value(Draw& draw, std::string_view key);
/// A key of node labels.
std::string draw_label_key(Draw& draw);
std::string draw_taint_key(Draw& draw);
std::string draw_taint_value(Draw& draw);

void write_pairs(kube::JsonWriter& w, std::string_view key, const Pairs& pairs);
void write_strings(kube::JsonWriter& w, std::string_view key, const std::vector<std::string>& values);

}  // namespace ashlar::filters
