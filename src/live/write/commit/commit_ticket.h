// CommitTicket: one pod's commit, from the plan until it is confirmed or given up: which step it is at, and what is
// known of that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/quantity.h"
#include "live/track/pod_table.h"
#include "live/write/commit/commit_table.h"
#include "live/write/commit/commit_work.h"

namespace ashlar::kube {

/// What a pod with writes before its binding has done of them.
struct CommitProgress {
  std::shared_ptr<CommitWork> work;
  std::size_t next = 0;  ///< the write under way or due; those before it are done (kUndo: those after it are undone)
  bool is_sent = false;  ///< that write was sent, and may have been carried out
  std::string object;    ///< of that write, as it was read again; empty: not yet
  std::shared_ptr<void> turn;  ///< at the pod's objects: from the first write until it is bound or taken back
};

struct CommitTicket {
  PodSlot slot = kNoPod;
  std::uint32_t generation = 0, turn = 0;
  CommitStep step = CommitStep::kReserve;
  int undone_reads = 0, failed_reads = 0;    ///< of this step
  Millis first_sent;                         ///< of this step, monotonic
  Millis gives_up_at = Millis::max();        ///< while it waits to be sent again, monotonic
  PooledString node;                         ///< that its binding named; empty: none was sent
  std::string words;                         ///< message of the last answer that was no success
  std::shared_ptr<CommitProgress> progress;  ///< null: no writes before the binding
  std::shared_ptr<void> later;               ///< while it is to be sent or re-read again, see BindQueue::note_later
};

/// The pod of the ticket if the slot still holds the same pod.
inline const PodRecord* find_pod(const PodTable& pods, const CommitTicket& ticket) {
  return pods.is_current(ticket.slot, ticket.generation) ? &pods[ticket.slot] : nullptr;
}
/// The same if the ticket's place is the one that the engine still assumes.
inline const PodRecord* find_assumed(const PodTable& pods, const CommitTicket& ticket) {
  const PodRecord* pod = find_pod(pods, ticket);
  return pod != nullptr && pod->phase == PodRecord::Phase::kAssumed && pod->bind_attempt == ticket.turn ? pod : nullptr;
}

}  // namespace ashlar::kube
