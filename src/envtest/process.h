// ChildProcess: one program in its own process group whose output goes to a log file. It dies with the thread that
// started it (PR_SET_PDEATHSIG), even if the test crashes.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"

namespace ashlar::envtest {

class ChildProcess {
 public:
  /// Starts `command` (path and arguments); stdout and stderr are appended to `log_file`.
  static Result<ChildProcess> start(std::vector<std::string> command, const std::string& log_file);
  ChildProcess() = default;
  ChildProcess(ChildProcess&& other) noexcept { *this = std::move(other); }
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  bool is_running();
  /// Waits for the program to end: its exit status (128 + number if a signal ended it); nullopt if it still runs after
  /// `patience`.
  std::optional<int> wait(Millis patience);
  pid_t pid() const { return pid_; }
  /// SIGTERM, then SIGKILL for the whole group after `patience`. No effect if it has ended.
  void stop(Millis patience = Millis(5'000));
  /// SIGKILL for the whole group.
  void kill();
  /// Sends a signal such as SIGSTOP to the program.
  void signal(int number);
  /// User and system time so far; 0 if it cannot be read.
  Millis cpu_time() const;
  /// Resident memory in bytes; 0 if it cannot be read.
  Bytes resident() const;

 private:
  pid_t pid_ = -1;
};

/// The last lines of a file, for messages.
std::string tail_of(const std::string& file, int lines);

}  // namespace ashlar::envtest
