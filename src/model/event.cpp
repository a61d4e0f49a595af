// Names of the kinds of events, in the order of EventBody. They appear in logs and recordings, so they never change.
#include "model/event.h"

#include <iterator>

namespace ashlar {
namespace {

constexpr std::string_view kKinds[] = {"Tick",         "LevelsDefined", "DemandDefined",   "ConstraintDefined", "QueueDefined",    "NodeSeen",
                                       "NodeGone",     "Submitted",     "MembersAdded",    "MemberGone",        "Ended",           "Bound",
                                       "BindRejected", "Evicted",       "EstimateChanged", "ConstraintChanged", "PriorityChanged", "Nominated"};
static_assert(std::size(kKinds) == std::variant_size_v<EventBody>, "every kind of event has a name");

}  // namespace

std::string_view kind_name(const EventBody& body) { return kKinds[body.index()]; }

}  // namespace ashlar
