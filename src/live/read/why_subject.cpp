#include "live/read/why_subject.h"

#include <algorithm>

#include "live/track/gangs/groups.h"

namespace ashlar::kube {
namespace {

/// The record of that kind; kNoGang: none.
GangSlot find_gang(const Tables& tables, const PooledString& ns, const PooledString& own, WhyKind kind) {
  if (kind == WhyKind::kPodGroup) return tables.gangs.find(ns, own, GangKind::kPodGroup);
  const GangSlot of_groups = tables.gangs.find(ns, own, GangKind::kGroups);
  return of_groups != kNoGang ? of_groups : tables.gangs.find(ns, own, GangKind::kLabelled);
}

/// One of its pods, if possible one that waits.
PodSlot pod_of(const Tables& tables, const GangRecord& named) {
  const auto waits = [&](PodSlot p) { return tables.pods[p].phase != PodRecord::Phase::kBound; };
  const auto waiting = std::ranges::find_if(named.pods, waits);
  if (waiting != named.pods.end()) return *waiting;
  return named.pods.empty() ? kNoPod : named.pods.front();
}

}  // namespace

std::string_view why_kind_name(WhyKind kind) {
  constexpr std::string_view kNames[] = {"pod", "gang", "podgroup"};
  return kNames[static_cast<std::size_t>(kind)];
}

WhySubject find_subject(const Tables& tables, const std::string& name, std::string_view kind) {
  const std::size_t slash = name.find('/');
  const PooledString ns(slash == std::string::npos ? std::string("default") : name.substr(0, slash));
  const PooledString own(slash == std::string::npos ? name : name.substr(slash + 1));
  WhySubject s;
  for (const WhyKind k : {WhyKind::kPod, WhyKind::kGang, WhyKind::kPodGroup}) {
    const PodSlot pod = k == WhyKind::kPod ? tables.pods.find(ns, own) : kNoPod;
    const GangSlot named = k == WhyKind::kPod ? kNoGang : find_gang(tables, ns, own, k);
    if (pod == kNoPod && named == kNoGang) continue;
    if (s.is_found() || (!kind.empty() && kind != why_kind_name(k))) {
      s.namesakes.push_back(k);
      continue;
    }
    s.kind = k;
    s.named = named;
    s.pod = named == kNoGang ? pod : pod_of(tables, tables.gangs[named]);
    s.gang = named == kNoGang                 ? tables.pods[pod].gang
             : tables.gangs[named].is_group() ? tables.gangs[named].whole
                                              : named;
  }
  return s;
}

std::string apart_text(const Tables& tables, const WhySubject& subject) {
  if (subject.pod == kNoPod && subject.named == kNoGang) return {};
  const GangSlot own = subject.kind == WhyKind::kPod ? tables.pods[subject.pod].named_gang() : subject.named;
  return own == kNoGang ? std::string() : kube::apart_text(tables, tables.gangs[own]);
}

}  // namespace ashlar::kube
