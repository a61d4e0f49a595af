// group_settings: what the annotations of a PodGroup say of the gang that it forms with others: a leader and its
// workers, prefill and decode.
#pragma once

#include <cstdint>
#include <string_view>

#include "kubeclient/objects.h"

namespace ashlar::kube {

inline constexpr std::string_view kGangLabel = "ashlar.dev/gang";  ///< also a label or annotation of pods
inline constexpr std::string_view kGangSizeLabel = "ashlar.dev/gang-size";
inline constexpr std::string_view kGangRankAnnotation = "ashlar.dev/gang-rank";
inline constexpr std::string_view kGangWithinAnnotation = "ashlar.dev/gang-within";

/// Annotations of a PodGroup about its gang.
struct GroupSettings {
  static constexpr std::uint32_t kUnranked = 0xffffffffu;
  PooledString gang;               ///< name; empty: the PodGroup is a gang by itself
  PooledString within;             ///< hard: level that the whole gang shares a domain of; empty: not stated
  std::uint32_t size = 0;          ///< PodGroups of the gang; 0: it cannot be read
  std::uint32_t rank = kUnranked;  ///< place of its pods in the gang
  PooledString problem;            ///< what is wrong with the annotations and what to do; empty: nothing
  friend bool operator==(const GroupSettings&, const GroupSettings&) = default;
};

GroupSettings read_group_settings(const PodGroup& group);

}  // namespace ashlar::kube
