// DecisionLog: the Recorder that keeps every step in a folder of bounded, rotated files `decisions-000001.alog`, ...;
// each opens with the profile, the names and a snapshot, so that it replays alone (replay.h). It never holds up
// scheduling: a thread of its own writes behind a bounded buffer, and steps that do not fit are left out and counted.
// Cost: about 0.2 us on the loop's thread and some 120 bytes for a pod's life, and a snapshot per file (about 6 ms for
// 5,000 nodes and 50,000 pods, every 64 MiB of log).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/ports.h"
#include "state/state.h"
#include "store/file_writer.h"
#include "store/names.h"

namespace ashlar::store {

struct DecisionLogOptions {
  std::string folder;                         ///< made if it is not there
  std::uint64_t file_bytes_max = 64u << 20;   ///< a new file begins when this is passed
  std::uint64_t files_max = 16;               ///< the oldest are removed: at most about 1 GiB by default
  std::size_t waiting_bytes_max = 64u << 20;  ///< memory for what is not yet written
  std::string written_by = "ashlar";
  std::string profile_text;  ///< the YAML of the profile, for people; the log holds the profile itself besides
  std::string note;
  std::function<void(const std::string&)> on_trouble;  ///< called from record, once when recording stops and once when it goes on
};

/// Where steps were left out, a new file begins with a snapshot once the disk has caught up. Where writing fails (the
/// disk is full, say), the trouble is reported and a new file is tried after a pause of 1 s that grows to a minute.
class DecisionLog final : public Recorder {
 public:
  /// What is recorded; must outlive the log. `names` may be null.
  struct Subject {
    const State& state;
    const Engine& engine;
    const NameSource* names = nullptr;
  };
  struct Counts {
    std::uint64_t steps = 0;       ///< recorded
    std::uint64_t steps_lost = 0;  ///< left out, because the disk was too slow or failed
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;
  };

  /// Starts a new file, numbered after those that are there, with a snapshot of the state as it is now. An Error if the folder cannot be used.
  /// Waits for the disk.
  static Result<std::unique_ptr<DecisionLog>> open(DecisionLogOptions options, Subject subject);
  /// The same with a writer that is there already, whose folder and bounds hold; never waits for the disk, and trouble is reported as any later one.
  DecisionLog(DecisionLogOptions options, Subject subject, std::shared_ptr<FileWriter> writer);
  ~DecisionLog() override;

  void record(std::span<const Event> batch, const Plan& plan, std::uint64_t digest) override;
  /// Waits until everything recorded is with the operating system.
  void flush() { writer_->flush(); }
  /// Ends the current file in order and begins another one.
  void rotate();

  const Counts& counts() const { return counts_; }
  bool has_stopped() const { return writer_->has_stopped(); }
  /// Why it stopped; empty while all is well.
  std::string trouble() const { return writer_->trouble(); }

 private:
  bool begin_file();
  void end_file();
  void lose_step();
  void tell_trouble();

  const DecisionLogOptions options_;
  const Subject subject_;
  std::shared_ptr<FileWriter> writer_;
  NameLedger names_;
  Counts counts_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t file_bytes_end_ = 0;  ///< it ends here: never less than two snapshots, so that snapshots stay the smaller part
  std::uint64_t file_records_ = 0;
  std::uint64_t file_steps_ = 0;
  EngineOptions engine_options_;  ///< as last written
  bool has_gap_ = false;          ///< steps were left out: nothing is written before the next snapshot
  bool has_told_trouble_ = false;
  std::string payload_, framed_;  ///< scratch
};

}  // namespace ashlar::store
