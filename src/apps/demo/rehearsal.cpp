#include "apps/demo/rehearsal.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include "apps/demo/simulated_play.h"
#include "envtest/process.h"

namespace ashlar::demo {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFrame{100};
constexpr Millis kPause{3'000};  ///< between the end of the script and its next beginning
constexpr int kLogLines = 15;

Millis since(steady_clock::time_point start) {
  return Millis(std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - start).count());
}

Error build_failed(const std::string& lacking, const std::string& log) {
  std::string message = "the build of the control plane has ended without " + lacking;
  if (!log.empty()) message += "; the whole log is " + log + ", its end:\n" + envtest::tail_of(log, kLogLines);
  return {Error::Kind::kNotFound, message};
}

}  // namespace

std::string build_note(Millis elapsed, Millis usually) {
  constexpr std::int64_t kMinute = 60'000;
  const std::string minutes = std::to_string(elapsed.value / kMinute);
  const std::string about = std::to_string((usually.value + kMinute - 1) / kMinute);
  const bool is_late = elapsed > usually;
  return "same engine, simulated; Kubernetes is being built: " +
         (is_late ? minutes + " min so far" : minutes + " of about " + about + " min");
}

ProcessWatch::ProcessWatch(pid_t process)
    : descriptor_(process > 0 ? static_cast<int>(syscall(SYS_pidfd_open, process, 0)) : -1) {}

ProcessWatch::~ProcessWatch() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool ProcessWatch::is_running() const {
  pollfd end{descriptor_, POLLIN, 0};
  return descriptor_ >= 0 && poll(&end, 1, 0) == 0;
}

Result<void> rehearse(const Rehearsal& rehearsal, Screen& screen) {
  const ProcessWatch builder(rehearsal.build.process);
  const auto begin = steady_clock::now();
  auto start = begin;
  auto play = std::make_unique<SimulatedPlay>(rehearsal.script);
  while (rehearsal.goes_on()) {
    const bool is_building = builder.is_running();  // before the look at what is there: the build ends after that
    const std::string lacking = rehearsal.lacking();
    if (lacking.empty()) return {};
    if (!is_building) return build_failed(lacking, rehearsal.build.log);
    const Millis elapsed = since(start);
    const bool is_at_end = play->is_over();
    if (is_at_end && rehearsal.repeats && elapsed > play->now() + kPause) {
      play = std::make_unique<SimulatedPlay>(rehearsal.script);
      start = steady_clock::now();
      continue;
    }
    if (!is_at_end) play->advance_to(elapsed);
    screen.show(play->scene(), play->now(), rehearsal.script.length, build_note(since(begin), rehearsal.build.usually));
    std::this_thread::sleep_for(kFrame);
  }
  return {};
}

Score play_simulated(const Script& script, Screen& screen, const std::function<bool()>& goes_on) {
  SimulatedPlay play(script);
  ScoreKeeper keeper;
  const auto start = steady_clock::now();
  while (goes_on() && !play.is_over()) {
    play.advance_to(since(start));
    keeper.look(play.scene(), play.now());
    screen.show(play.scene(), play.now(), script.length, "same engine, simulated");
    std::this_thread::sleep_for(kFrame);
  }
  return keeper.finish(play.scene(), Millis(0), play.now());
}

}  // namespace ashlar::demo
