#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/terminal.h"

namespace ashlar::cli {
namespace {

constexpr auto kBetweenDraws = std::chrono::milliseconds(100);
constexpr int kBarWidth = 24;
constexpr std::string_view kFull = "█";
constexpr std::string_view kEmpty = "░";

std::string grouped(std::int64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > (value < 0 ? 4u : 3u);) text.insert(at -= 3, 1, ',');
  return text;
}

std::string short_time(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

/// As many code points as fit.
std::string cut(const std::string& text, int width) {
  int points = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80 && ++points > width) return text.substr(0, i);
  }
  return text;
}

int terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string progress_line(const ProgressLine& line) {
  std::string text(line.label);
  const std::int64_t done = std::max<std::int64_t>(line.done, 0);
  if (line.total <= 0) {
    text += "  " + grouped(done) + "  " + short_time(line.elapsed_seconds);
    return cut(text, line.width);
  }
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(line.total));
  const int full = static_cast<int>(share * kBarWidth);
  std::string bar;
  for (int i = 0; i < kBarWidth; ++i) bar += i < full ? kFull : kEmpty;
  const std::string plain_bar = bar;
  text += fmt::format("  {}  {:3.0f} %  {} of {}", bar, share * 100, grouped(std::min(done, line.total)),
                      grouped(line.total));
  if (share > 0 && share < 1 && line.elapsed_seconds >= 1)
    text += "  " + short_time(line.elapsed_seconds * (1 - share) / share) + " left";
  text = cut(text, line.width);
  const std::size_t at = text.find(plain_bar);
  if (line.has_colour && at != std::string::npos)
    text.replace(at, plain_bar.size(), "\x1b[36m" + plain_bar + "\x1b[0m");
  return text;
}

ProgressBar::ProgressBar(std::string label, std::int64_t total)
    : label_(std::move(label)),
      total_(total),
      is_shown_(is_screen(STDERR_FILENO)),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

ProgressBar::~ProgressBar() { finish(); }

void ProgressBar::update(std::int64_t done) {
  if (!is_shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kBetweenDraws) return;
  last_ = now;
  draw(done);
}

void ProgressBar::draw(std::int64_t done) {
  const double elapsed = std::chrono::duration<double>(last_ - start_).count();
  // One column stays free: terminals wrap when the last one is written.
  const std::string line = progress_line({.label = label_,
                                          .done = done,
                                          .total = total_,
                                          .elapsed_seconds = elapsed,
                                          .width = terminal_width() - 1,
                                          .has_colour = wants_colour(STDERR_FILENO)});
  std::fputs(("\r\x1b[K" + line).c_str(), stderr);
  was_drawn_ = true;
}

void ProgressBar::finish() {
  if (was_drawn_) std::fputs("\r\x1b[K", stderr);
  was_drawn_ = false;
}

}  // namespace ashlar::cli
