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
inline constexpr std::string_view kRegion = "topology.kubernetes.io/region";
inline constexpr std::string_view kOldZone = "failure-domain.beta.kubernetes.io/zone";
inline constexpr std::string_view kOldRegion = "failure-domain.beta.kubernetes.io/region";
inline constexpr std::string_view kRack = "example.com/rack";
/// What drivers of disks call zones.
inline constexpr std::string_view kGceZone = "topology.gke.io/zone", kEbsZone = "topology.ebs.csi.aws.com/zone";
/// A taint whose values are numbers.
inline constexpr std::string_view kTier = "example.com/tier";
inline constexpr std::string_view kFeatures[] = {"RestartAllContainersOnContainerExits",
                                                 "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"};

/// A value that nodes have for this label key, or one like it.
std::string draw_label_value(Draw& draw, std::string_view key);
/// A key of node labels.
std::string draw_label_key(Draw& draw);
std::string draw_taint_key(Draw& draw);
std::string draw_taint_value(Draw& draw);
/// Of kTier; `is_sound`: an integer, as tolerations need it.
std::string draw_tier(Draw& draw, bool is_sound);

void write_pairs(kube::JsonWriter& w, std::string_view key, const Pairs& pairs);
void write_strings(kube::JsonWriter& w, std::string_view key, const std::vector<std::string>& values);

}  // namespace ashlar::filters
