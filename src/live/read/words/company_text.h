// company_text: what rules about other pods keep a pod off nodes, term by term, in words: how many domains are closed
// to it, and where such pods are.
#pragma once

#include <string>

#include "live/read/pod_text.h"

namespace ashlar::kube {

/// ": 2 of 3 domains of topology.kubernetes.io/zone have pods with app=web, e.g. web-0 on n0"; empty for other reasons.
/// Cost: that of company_terms(), and O(pods) for the examples.
std::string company_text(const TextContext& context, JobId job, const Reason& reason);

}  // namespace ashlar::kube
