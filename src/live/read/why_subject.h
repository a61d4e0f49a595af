// why_subject: what a question of `why` is about: a pod, or a gang or PodGroup and through it one of its pods. A pod, a
// PodGroup and a gang may have one name: the question may say which it means, and else is about the first of these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "live/track/tables.h"

namespace ashlar::kube {

/// In the order in which they are looked for.
enum class WhyKind : std::uint8_t { kPod, kGang, kPodGroup };
/// "pod", "gang", "podgroup", as a question writes it.
std::string_view why_kind_name(WhyKind kind);

struct WhySubject {
  PodSlot pod = kNoPod;
  GangSlot gang = kNoGang;
  GangSlot named = kNoGang;  ///< the query was for this gang, or group of the gang, not for one of its pods
  WhyKind kind = WhyKind::kPod;
  std::vector<WhyKind> namesakes;  ///< the other kinds that have an object of that name
  bool is_found() const { return pod != kNoPod || gang != kNoGang; }
};
/// `name`: NAMESPACE/NAME. `kind`: one of the names above, empty: the first of them that there is. Nothing is found for
/// another text.
WhySubject find_subject(const Tables& tables, const std::string& name, std::string_view kind);
/// Why the PodGroup of the subject is not, or not yet, in the gang that it names; empty if it is, or names none.
std::string apart_text(const Tables& tables, const WhySubject& subject);

}  // namespace ashlar::kube
