// Requests: the part of a line with what members need (devices, amounts, ports) and which nodes they accept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/constraint.h"
#include "model/demand.h"
#include "model/device_grant.h"
#include "model/workload.h"
#include "sim/case/names.h"
#include "sim/case/words.h"

namespace ashlar::sim {

/// A rule about other pods: one of these by the word that begins it.
struct PodRule {
  enum class Kind : std::uint8_t { kAffinity, kAntiAffinity, kSpread };
  Kind kind = Kind::kAffinity;
  std::vector<LabelExpression> pods;  ///< all must hold on a pod's labels
  LabelKeyId topology;
  // of kSpread, as SpreadTerm has them
  std::int32_t skew_max = 1;
  std::int32_t domains_min = 1;
  bool honors_affinity = true;
  bool honors_taints = false;
  bool requires_all_labels = true;
  bool is_wish = false;
  std::int32_t weight = 0;  ///< of a wish for or against pods
};

/// What the members of one group need from their nodes.
struct MemberRequest {
  std::uint32_t count = 1;
  Demand demand;
  Constraint constraint;
  std::uint32_t group = 0;  ///< of the gang, see GangSpec
  std::vector<PodLabel> labels;
  std::vector<PodRule> rules;
};

/// Takes the words that belong to a member's requests from the front: "4 gpu", "500 milli", "cpu=4", "needs model a,b",
/// "selector x=y", ... Stops at the first word that does not.
void take_request(Words& words, CaseNames& names, MemberRequest& request);
/// Takes "NAME=AMOUNT" if the next word is one of a resource: its row and amount in the smallest unit; kNone if it is
/// not one.
struct NamedAmount {
  ResourceId resource;
  std::int64_t amount = 0;
};
NamedAmount take_amount(Words& words, CaseNames& names);
/// The names of "fp8,nvlink", each once.
std::vector<std::string> take_names(Words& words, std::string_view form);
/// "64GiB" in bytes.
std::int64_t bytes_of(Words& words, std::string_view text);
/// "0-3" or "0,2,5".
DeviceMask take_devices_of_node(Words& words);
/// "0-3", or with what is held of each "0-3:1000" or "3:500:40960".
GivenDevices take_given_devices(Words& words);
/// An error where nine of ten jobs would end earlier than half of them. What is not stated yet is Millis::max().
void refuse_early_p90(Words& words, const Estimate& stated);
/// A label of a node, number included.
NodeLabel label_of(CaseNames& names, std::string_view key, std::string_view value);
TaintEffect effect_of(Words& words, std::string_view name);
/// All pods of a case are in one namespace.
inline constexpr NamespaceId kCaseNamespace{0u};

}  // namespace ashlar::sim
