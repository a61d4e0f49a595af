// The table of reasons. Names are part of what users see in status, metrics, logs and cases: they never change.
#include "model/reason.h"

#include <cstddef>
#include <iterator>

namespace ashlar {
namespace {

using enum ReasonUnit;
using Subject = ReasonSubject;
constexpr ReasonNumber kOfNodes{"nodes", kNodes};

constexpr ReasonRow kRows[] = {
    {.code = ReasonCode::kNone, .name = "None"},
    {.code = ReasonCode::kInsufficientResource,
     .name = "InsufficientResource",
     .subject = Subject::kResource,
     .numbers = {kOfNodes, {"best-free", kAmount}, {"needs", kAmount}},
     .is_about_nodes = true,
     .english = "{0} {0|has|have} insufficient {subject}: at most {1} free on one node, {2} requested",
     .per_node = "Insufficient {subject}"},
    {.code = ReasonCode::kInsufficientGpu,
     .name = "InsufficientGPU",
     .subject = Subject::kDemand,
     .numbers = {kOfNodes, {"best-free", kMilliGpu}, {"needs", kMilliGpu}},
     .is_about_nodes = true,
     .english = "{0} {0|has|have} insufficient GPUs: at most {1} free on one node, {2} requested",
     .per_node = "Insufficient {subject}"},
    {.code = ReasonCode::kModelMismatch,
     .name = "NoMatchingDevice",
     .numbers = {kOfNodes},
     .is_about_nodes = true,
     .english = "{0} {0|has|have} GPUs of another model",
     .per_node = "node(s) didn't match Pod's node affinity/selector"},
    {.code = ReasonCode::kSelectorMismatch,
     .name = "SelectorMismatch",
     .subject = Subject::kConstraint,
     .numbers = {kOfNodes},
     .is_about_nodes = true,
     .english = "{0} {0|does|do} not match the node selector or affinity",
     .per_node = "node(s) didn't match Pod's node affinity/selector"},
    {.code = ReasonCode::kTaintNotTolerated,
     .name = "TaintNotTolerated",
     .subject = Subject::kConstraint,
     .numbers = {kOfNodes},
     .is_about_nodes = true,
     .english = "{0} {0|has a taint that is|have taints that are} not tolerated"},
    {.code = ReasonCode::kNotReady,
     .name = "NodesNotReady",
     .numbers = {kOfNodes},
     .is_about_nodes = true,
     .english = "{0} {0|is|are} closed: {detail}",
     .per_node = "node(s) were closed by the scheduler"},  // nodes that report it themselves have a taint
    {.code = ReasonCode::kPortTaken,
     .name = "PortTaken",
     .numbers = {kOfNodes},
     .is_about_nodes = true,
     .english = "{0} {0|has|have} the host port in use",
     .per_node = "node(s) didn't have free ports for the requested pod ports"},
    {.code = ReasonCode::kNominatedElsewhere,
     .name = "NominatedElsewhere",
     .numbers = {kOfNodes},
     .is_about_nodes = true,
     .english = "{0} {0|is|are} held for pods that other schedulers nominated",
     .per_node = "node(s) are held for nominated pods"},
    {.code = ReasonCode::kTopologyFragmented,
     .name = "TopologyFragmented",
     .subject = Subject::kLevel,
     .numbers = {{{"members", kMembers}, {"needs-members", kMembers}, {{}, kDomain}}},
     .is_about_nodes = true,
     .english = "the best {subject} ({2}) has capacity for {0} of {1} {1|member|members}"},
    {.code = ReasonCode::kGangPartial,
     .name = "GangPartial",
     .numbers = {{{"members", kMembers}, {"needs-members", kMembers}}},
     .is_about_nodes = true,
     .english = "all nodes together have capacity for {0} of {1} {1|member|members}"},
    {.code = ReasonCode::kNoSuchDomain,
     .name = "NoSuchDomain",
     .subject = Subject::kLevel,
     .is_about_nodes = true,
     .english = "no node has the label {detail}"},
    {.code = ReasonCode::kExceedsCluster,
     .name = "ExceedsClusterMax",
     .is_about_nodes = true,
     .english = "it would not fit this cluster even if it were empty"},
    {.code = ReasonCode::kQuotaExhausted,
     .name = "QuotaExhausted",
     .subject = Subject::kQueue,
     .numbers = {{{{}, kDimension}, {"%-used", kQuota}, {"limit", kQuota}}},
     .english = "queue {subject} uses {1#} of its {2}"},
    {.code = ReasonCode::kExceedsQuota,
     .name = "ExceedsMaxQuota",
     .subject = Subject::kQueue,
     .numbers = {{{{}, kDimension}, {"%-asked", kQuota}, {"limit", kQuota}}},
     .english = "it requests {1}, but the quota of queue {subject} is {2}"},
    {.code = ReasonCode::kQueueUnknown,
     .name = "QueueNotFound",
     .subject = Subject::kQueue,
     .english = "its queue is not configured"},
    {.code = ReasonCode::kBehindHead,
     .name = "BehindHead",
     .english = "a job ahead of it in its queue must start first"},
    {.code = ReasonCode::kReservationHeld,
     .name = "ReservationHeld",
     .numbers = {{{"until", kInstant}}},
     .english = "it may fit, but starting it now would delay a job ahead of it{detail}"},
    {.code = ReasonCode::kMembersMissing,
     .name = "MembersMissing",
     .numbers = {{{"members", kMembers}, {"needs-members", kMembers}}},
     .english = "{0} of {1} {1|member|members} {0|exists|exist}"},
    {.code = ReasonCode::kNoNodes, .name = "NoNodes", .is_about_nodes = true, .english = "there are no nodes"},
    {.code = ReasonCode::kLimitReached,
     .name = "LimitReached",
     .subject = Subject::kBudget,
     .numbers = {{{"budget", kCount}}},
     .is_about_nodes = true,
     .english = "{detail}"},
    {.code = ReasonCode::kInsufficientGpuMemory,
     .name = "InsufficientGPUMemory",
     .numbers = {kOfNodes, {"best-free", kMiB}, {"needs", kMiB}},
     .is_about_nodes = true,
     .english = "{0} {0|has|have} no GPU with enough memory: at most {1} free on one GPU, {2} requested",
     .per_node = "Insufficient GPU memory"},
    {.code = ReasonCode::kPodAntiAffinity,
     .name = "PodAntiAffinity",
     .subject = Subject::kConstraint,
     .numbers = {kOfNodes},
     .is_about_nodes = true,
     .english = "{0} {0|is|are} excluded by the anti-affinity of existing pods",
     .per_node = "node(s) didn't satisfy existing pods anti-affinity rules"},
};

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < std::size(kRows); ++i)
    if (static_cast<std::size_t>(kRows[i].code) != i) return false;
  return true;
}
static_assert(are_in_order() && std::size(kRows) == static_cast<std::size_t>(kLastReason) + 1);

}  // namespace

const ReasonRow& row_of(ReasonCode code) { return kRows[static_cast<std::size_t>(code)]; }

}  // namespace ashlar
