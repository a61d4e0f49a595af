// read_api: the read API behind `ashlar why|queue|nodes`: JSON documents with apiVersion and kind, made from the
// readers' copy of the state. GET /api/v1/why?name=NS/NAME, /api/v1/queue[?all=1], /api/v1/nodes[?name=NODE]. Cost: why
// O(nodes), queue O(waiting jobs; a microsecond for each shown), nodes O(nodes).
#pragma once

#include <string>

#include "http/server.h"
#include "live/read/read_replica.h"

namespace ashlar::kube {

/// in one answer about queues; the counts are always complete. For tests
inline constexpr std::size_t kJobsShownMax = 500;

http::ServerResponse answer_why(ReadReplica& replica, const http::ServerRequest& request);
http::ServerResponse answer_queue(ReadReplica& replica, const http::ServerRequest& request);
http::ServerResponse answer_nodes(ReadReplica& replica, const http::ServerRequest& request);
/// This process stands by; the answer names the leader: its identity is HOST_NUMBER, in a cluster the host is its pod's
/// name.
http::ServerResponse standby_answer(const std::string& holder, const std::string& trouble = {});
http::ServerResponse not_ready_answer(const std::string& trouble = {});
/// The readers' copy of the state was given up: see ReadersFault.
http::ServerResponse differing_answer();
http::ServerResponse behind_answer();

}  // namespace ashlar::kube
