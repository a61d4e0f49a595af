// Readers: the thread that answers questions, from the replica of the present leadership. The thread that decides hands
// over what is new and waits for nothing; a question is answered at the state of the last decision handed over before
// it was asked, or a later one. A replica that differs from the leader's state, or falls too far behind, is given up.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "http/server.h"
#include "live/lead/pulse.h"
#include "live/read/metrics.h"
#include "live/read/read_replica.h"

namespace ashlar::kube {

struct ReadersOptions {
  /// Of those who ask. A question that has waited for half of it is dropped: its answer would be late, and those behind
  /// it later still.
  Millis patience{5'000};
  std::size_t news_max = 50'000;           ///< waiting hand-overs at which the replica is given up: some 75 MB
  std::function<Millis()> monotonic = {};  ///< default: the system's. Called from any thread
};

/// Why a replica is of no use.
enum class ReadersFault : std::uint8_t {
  kNone,
  kDiffers,  ///< its state is not the leader's own: see ReadReplica::is_faithful()
  kBehind,   ///< too much of what was handed over was not taken
};

/// What readers see of the process, as of the last turn of its loop.
struct Standing {
  ProcessFacts process;
  std::string leader, trouble;  ///< who leads, and why this process does not, or knows too little to
  // Stated by Readers:
  bool is_in_term = false;  ///< it does, or did a moment ago
  ReadersFault fault = ReadersFault::kNone;
};

/// The answer to who may not read now; none: the replica may be read.
std::optional<http::ServerResponse> refusal(const Standing& standing, const ReadReplica* replica);

class Readers {
 public:
  /// Runs on the readers' thread. `replica`: null while this process does not lead, its caches are not synced (yet), or
  /// the replica was given up.
  using Question = std::function<http::ServerResponse(ReadReplica* replica, const Standing& standing)>;
  enum class Rank : std::uint8_t { kInTurn, kFirst };

  explicit Readers(ReadersOptions options = {});
  /// Waits for the answer under way; further questions are not answered.
  ~Readers();
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  // ---- on the loop's thread -----------------------------------------------------------------------------------------
  /// A leadership begins, or its readers begin anew; everything handed over from now on is for this replica.
  void begin(std::unique_ptr<ReadReplica> replica);
  void take(HandOver&& news);
  /// It has ended: questions that wait are answered as on standby.
  void end();
  void note(Standing standing);
  /// No further question is answered. Returns at once.
  void stop();

  struct Fault {
    ReadersFault kind = ReadersFault::kNone;
    Millis decided_at;        ///< of the first decision that differs
    std::uint64_t steps = 0;  ///< up to that one
    bool is_let_go = false;   ///< the replica is gone, and another may begin
  };
  /// Of the present replica.
  Fault fault();
  /// Whether the thread has run since the last call, or has nothing to do.
  bool has_moved() { return pulse_.has_moved(); }

  // ---- on any thread ------------------------------------------------------------------------------------------------
  void ask(Question question, http::Reply reply, Rank rank = Rank::kInTurn);

 private:
  struct Asked {
    Question question;
    http::Reply reply;
    Millis at;
  };
  using Line = std::deque<Asked>;
  void run();
  void take(std::unique_ptr<ReadReplica>& replica, std::vector<HandOver>& news);
  bool has_question() const { return !first_.empty() || !asked_.empty(); }
  bool is_late(const Asked& asked, Millis now) const { return now - asked.at > Millis(options_.patience.value / 2); }

  ReadersOptions options_;
  Pulse pulse_;
  std::mutex lock_;
  std::condition_variable changed_;
  bool is_ending_ = false, has_other_replica_ = false;
  std::unique_ptr<ReadReplica> next_replica_;  ///< with has_other_replica_
  std::vector<HandOver> news_;                 ///< for the last replica begun
  Fault fault_;                                ///< the same
  Line first_, asked_;
  Standing standing_;
  std::thread thread_;  ///< last: begins when everything else is there
};

}  // namespace ashlar::kube
