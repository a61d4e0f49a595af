// progress: a progress bar on stderr, for work that takes longer than a second. Draws only if stderr is a terminal, at
// most ten times a second, without colour if NO_COLOR is set, and erases itself at the end, so that logs and pipes
// never contain it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace ashlar::cli {

class ProgressBar {
 public:
  /// `total` units of work; 0 = not known (draws a count).
  ProgressBar(std::string label, std::int64_t total);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// One clock read (25 ns); in tight loops call it every hundredth time.
  void update(std::int64_t done);
  void finish();

 private:
  void draw(std::int64_t done);

  std::string label_;
  std::int64_t total_;
  bool is_shown_ = false;
  bool was_drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

/// The line that update() draws, without control characters: "label  ████░░░░  42 %  12,000 of 28,000  3 s left".
struct ProgressLine {
  std::string_view label;
  std::int64_t done = 0, total = 0;
  double elapsed_seconds = 0;
  int width = 80;  ///< columns of the terminal
  bool has_colour = false;
};
std::string progress_line(const ProgressLine& line);  // for tests

}  // namespace ashlar::cli
