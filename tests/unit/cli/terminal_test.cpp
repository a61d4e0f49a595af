#include "cli/terminal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/progress.h"
#include "cli/table.h"

namespace ashlar::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Terminal, IsAScreenByItsKindAndNotByBeingATerminal) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(::grantpt(master) | ::unlockpt(master), 0);
  const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "xterm", 1);
  EXPECT_TRUE(is_screen(terminal));
  EXPECT_TRUE(wants_colour(terminal));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(is_screen(terminal));
  EXPECT_FALSE(wants_colour(terminal));
  ::unsetenv("NO_COLOR");
  for (const char* kind : {"dumb", ""}) {
    ::setenv("TERM", kind, 1);
    EXPECT_FALSE(is_screen(terminal)) << kind;
    EXPECT_FALSE(wants_colour(terminal)) << kind;
  }
  ::unsetenv("TERM");
  EXPECT_FALSE(is_screen(terminal));
  ::setenv("TERM", "xterm", 1);
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  EXPECT_FALSE(is_screen(null));
  for (const int fd : {null, terminal, master}) ::close(fd);
}

TEST(Table, PutsNumbersRightAndWordsLeft) {
  EXPECT_EQ(render_table({{"policy", "jobs", "state"}, {"fifo", "12,345", "done"}, {"sjf-skip", "7", ""}}),
            "policy      jobs  state\n"
            "fifo      12,345  done\n"
            "sjf-skip       7\n");
}

TEST(Table, CountsLettersAndNotBytes) {
  EXPECT_EQ(render_table({{"name", "x"}, {"größe", "a"}, {"b", "c"}}),
            "name   x\n"
            "größe  a\n"
            "b      c\n");
}

TEST(Table, FillsShortRowsAndTakesNone) {
  EXPECT_EQ(render_table({{"a", "b"}, {"1"}}), "a  b\n1\n");
  EXPECT_EQ(render_table({}), "");
}

TEST(Progress, ShowsShareCountAndTimeLeft) {
  const std::string line =
      progress_line({.label = "fgd, seed 42", .done = 2500, .total = 10000, .elapsed_seconds = 10});
  EXPECT_THAT(line, AllOf(StartsWith("fgd, seed 42  ██████░░"), HasSubstr("25 %"), HasSubstr("2,500 of 10,000"),
                          HasSubstr("30 s left")));
}

TEST(Progress, ACountWithoutATotal) {
  EXPECT_EQ(progress_line({.label = "jobs", .done = 1234567, .elapsed_seconds = 4}), "jobs  1,234,567  4 s");
}

TEST(Progress, NeverExceedsTheTerminalOrTheTotal) {
  const std::string line =
      progress_line({.label = "a long label of a run", .done = 50, .total = 10, .elapsed_seconds = 1, .width = 20});
  EXPECT_EQ(line, "a long label of a ru");
  EXPECT_THAT(progress_line({.label = "x", .done = 50, .total = 10}), HasSubstr("10 of 10"));
}

TEST(Progress, ColoursOnlyWhereAsked) {
  EXPECT_THAT(progress_line({.label = "x", .done = 5, .total = 10}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(progress_line({.label = "x", .done = 5, .total = 10, .has_colour = true}), HasSubstr("\x1b[36m"));
}

TEST(Table, KnowsNumbersByEveryCellBelowTheHead) {
  const std::pair<const char*, bool> cells[] = {
      {"5", true},      {"-5", true},     {"+5", true},  {"12,345.6", true}, {"95.4 %", true}, {"-", true},
      {"\u2013", true}, {"\u2014", true}, {"", true},    {"+", false},       {"--5", false},   {"5x", false},
      {"x5", false},    {".5", false},    {"5-", false}, {"1/2", false},     {"5:", false}};
  for (const auto& [cell, is_number] : cells) {
    const std::string table = render_table({{"a long head", "|"}, {"1", "|"}, {cell, "|"}});
    EXPECT_EQ(table.substr(table.find('\n') + 1).starts_with("          1  |\n"), is_number) << cell;
  }
}

TEST(Progress, LinesAreExact) {
  const auto bar = [](int full) {
    std::string text;
    for (int i = 0; i < 24; ++i) text += i < full ? "█" : "░";
    return text;
  };
  const auto line = [](std::int64_t done, std::int64_t total, double seconds) {
    return progress_line({.label = "x", .done = done, .total = total, .elapsed_seconds = seconds, .width = 80});
  };
  EXPECT_EQ(line(0, 24, 5), "x  " + bar(0) + "    0 %  0 of 24");
  EXPECT_EQ(line(-3, 24, 5), "x  " + bar(0) + "    0 %  0 of 24");
  EXPECT_EQ(line(1, 24, 0.9), "x  " + bar(1) + "    4 %  1 of 24") << "too early to say";
  EXPECT_EQ(line(12, 24, 1), "x  " + bar(12) + "   50 %  12 of 24  1 s left");
  EXPECT_EQ(line(12, 24, 89.4), "x  " + bar(12) + "   50 %  12 of 24  89 s left");
  EXPECT_EQ(line(12, 24, 90), "x  " + bar(12) + "   50 %  12 of 24  2 min left");
  EXPECT_EQ(line(12, 24, 5399), "x  " + bar(12) + "   50 %  12 of 24  90 min left");
  EXPECT_EQ(line(12, 24, 5400), "x  " + bar(12) + "   50 %  12 of 24  1.5 h left");
  EXPECT_EQ(line(12, 24, 3'600'000), "x  " + bar(12) + "   50 %  12 of 24  1000.0 h left");
  EXPECT_EQ(line(24, 24, 5), "x  " + bar(24) + "  100 %  24 of 24");
  EXPECT_EQ(line(999, 1'000, 0), "x  " + bar(23) + "  100 %  999 of 1,000");
  EXPECT_EQ(line(999'999, 0, 0), "x  999,999  0 s");
  EXPECT_EQ(line(1'000'000, -1, 0), "x  1,000,000  0 s");
  EXPECT_EQ(progress_line({.label = "grün", .done = 1, .elapsed_seconds = 1, .width = 4}), "grün");
  EXPECT_EQ(progress_line({.label = "grün", .done = 1, .elapsed_seconds = 1, .width = 3}), "grü");
  EXPECT_EQ(progress_line({.label = "x", .done = 1, .total = 24, .width = 80, .has_colour = true}),
            "x  \x1b[36m" + bar(1) + "\x1b[0m    4 %  1 of 24");
  EXPECT_EQ(progress_line({.label = "x", .done = 1, .total = 24, .width = 10, .has_colour = true}), "x  █░░░░░░")
      << "a bar that is cut has no colour";
}

// What a terminal was given, at least `length` bytes of it: the kernel hands writes over in pieces and later.
std::string read_from(int master, std::size_t length) {
  std::string text;
  char piece[200];
  pollfd has_more{.fd = master, .events = POLLIN, .revents = 0};
  while (text.size() < length && ::poll(&has_more, 1, 60'000) == 1) {
    const ssize_t count = ::read(master, piece, sizeof piece);
    if (count <= 0) break;
    text.append(piece, static_cast<std::size_t>(count));
  }
  return text;
}

TEST(Progress, IsDrawnOnATerminalAndTakenBackAtItsEnd) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(::grantpt(master) | ::unlockpt(master), 0);
  const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  winsize size{.ws_row = 5, .ws_col = 13, .ws_xpixel = 0, .ws_ypixel = 0};
  ::ioctl(terminal, TIOCSWINSZ, &size);
  ::setenv("TERM", "xterm", 1);
  ::setenv("NO_COLOR", "1", 1);
  const int kept = ::dup(STDERR_FILENO);
  ::fflush(stderr);
  ::dup2(terminal, STDERR_FILENO);
  {
    ProgressBar bar("a label", 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(110));
    bar.update(7);
    bar.finish();
  }
  ::fflush(stderr);
  ::dup2(kept, STDERR_FILENO);
  ::unsetenv("NO_COLOR");
  EXPECT_EQ(read_from(master, 20), "\r\x1b[Ka label  7  \r\x1b[K");
  for (const int fd : {kept, terminal, master}) ::close(fd);
}

TEST(Progress, IsSilentWhereStderrIsNoTerminal) {
  ::testing::internal::CaptureStderr();
  {
    ProgressBar bar("x", 10);
    for (int i = 0; i < 10; ++i) bar.update(i);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace ashlar::cli
