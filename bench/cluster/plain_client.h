// plain_client: a scheduler without thought, as a process of its own like the others: binds each pod of the name
// `plain-client` that is to be measured to the next node in turn, 64 writes in flight, one pod watch open. A claim that
// is not bound gets that node as its selected one first, and the pod waits until it is.
#pragma once

#include <string>

namespace ashlar::bench {

/// Until it is killed. The exit status, if it cannot start.
int run_plain_client(const std::string& kubeconfig);

}  // namespace ashlar::bench
