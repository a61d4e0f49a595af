// DecisionLog: the Recorder that keeps every step in a folder of bounded, rotated files `decisions-000001.alog`, ...;
// each opens with the profile, the names and a snapshot, so that it replays alone (replay.h). It never blocks
// scheduling: a separate thread writes behind a bounded buffer, and steps that do not fit are dropped and counted.
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
  std::string folder;                         ///< created if missing
  std::uint64_t file_bytes_max = 64u << 20;   ///< a new file begins when this is passed
  std::uint64_t files_max = 16;               ///< the oldest are removed: at most about 1 GiB by default
  std::size_t waiting_bytes_max = 64u << 20;  ///< memory for data not yet written
  std::string written_by = "ashlar";
  std::string profile_text;  ///< the YAML of the profile, for people; the log also holds the profile itself
  std::string note;
  /// called from record, once when recording stops and once when it resumes
  std::function<void(const std::string&)> on_trouble;
};

/// After dropped steps, a new file begins with a snapshot once the disk has caught up. If writing fails (e.g. the disk
/// is full), the error is reported and a new file is tried after a pause of 1 s that grows to a minute.
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
    std::uint64_t steps_lost = 0;  ///< dropped, because the disk was too slow or failed
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;
  };

  /// Starts a new file, numbered after the existing ones, with a snapshot of the present state. An Error if the folder
  /// cannot be used. Waits for the disk.
  static Result<std::unique_ptr<DecisionLog>> open(DecisionLogOptions options, Subject subject);
  /// The same with an existing writer, whose folder and bounds apply; never waits for the disk, and errors are reported
  /// like later ones.
  DecisionLog(DecisionLogOptions options, Subject subject, std::shared_ptr<FileWriter> writer);
  ~DecisionLog() override;

  void record(std::span<const Event> batch, const Plan& plan, std::uint64_t digest) override;
  /// Waits until everything recorded is handed to the operating system.
  void flush() { writer_->flush(); }
  /// Closes the current file properly and begins another one.
  void rotate();

  const Counts& counts() const { return counts_; }
  bool has_stopped() const { return writer_->has_stopped(); }
  /// Why it stopped; empty if it has not.
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
  /// it ends here: never less than two snapshots, so that snapshots stay the smaller part
  std::uint64_t file_bytes_end_ = 0;
  std::uint64_t file_records_ = 0;
  std::uint64_t file_steps_ = 0;
  EngineOptions engine_options_;  ///< as last written
  bool has_gap_ = false;          ///< steps were dropped: nothing is written before the next snapshot
  bool has_reported_trouble_ = false;
  std::string payload_, framed_;  ///< scratch
};

}  // namespace ashlar::store
