// Readers: the thread that answers questions, from the replica of the present leadership. The thread that decides hands
// over what is new and waits for nothing; a question is answered at the state of the last decision handed over before
// it was asked, or a later one.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http/server.h"
#include "live/read/metrics.h"
#include "live/read/read_replica.h"

namespace ashlar::kube {

/// What readers see of the process, as of the last turn of its loop.
struct Standing {
  ProcessFacts process;
  std::string leader, trouble;  ///< who leads, and why this process does not
  bool is_in_term = false;      ///< it does, or did a moment ago; stated by Readers
};

class Readers {
 public:
  /// Runs on the readers' thread. `replica`: null while this process does not lead, or its caches are not synced (yet).
  using Question = std::function<http::ServerResponse(ReadReplica* replica, const Standing& standing)>;

  Readers();
  /// Waits for the answer under way; further questions are not answered.
  ~Readers();
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  // ---- on the loop's thread -----------------------------------------------------------------------------------------
  /// A leadership begins, and everything handed over from now on is of it.
  void begin(std::unique_ptr<ReadReplica> replica);
  void take(HandOver&& news);
  /// It has ended: questions that wait are answered as on standby.
  void end();
  void note(Standing standing);

  // ---- on any thread ------------------------------------------------------------------------------------------------
  void ask(Question question, http::Reply reply);

 private:
  struct Asked {
    Question question;
    http::Reply reply;
  };
  void run();

  std::mutex lock_;
  std::condition_variable changed_;
  bool is_ending_ = false, has_other_replica_ = false;
  std::unique_ptr<ReadReplica> next_replica_;  ///< with has_other_replica_
  std::vector<HandOver> news_;                 ///< for the last replica begun
  std::deque<Asked> asked_;
  Standing standing_;
  std::thread thread_;  ///< last: begins when everything else is there
};

}  // namespace ashlar::kube
