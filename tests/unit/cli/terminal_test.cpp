#include "cli/terminal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

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
  const std::string line = progress_line({.label = "fgd, seed 42", .done = 2500, .total = 10000, .elapsed_seconds = 10});
  EXPECT_THAT(line, AllOf(StartsWith("fgd, seed 42  ██████░░"), HasSubstr("25 %"), HasSubstr("2,500 of 10,000"), HasSubstr("30 s left")));
}

TEST(Progress, ACountWithoutATotal) { EXPECT_EQ(progress_line({.label = "jobs", .done = 1234567, .elapsed_seconds = 4}), "jobs  1,234,567  4 s"); }

TEST(Progress, NeverExceedsTheTerminalOrTheTotal) {
  const std::string line = progress_line({.label = "a long label of a run", .done = 50, .total = 10, .elapsed_seconds = 1, .width = 20});
  EXPECT_EQ(line, "a long label of a ru");
  EXPECT_THAT(progress_line({.label = "x", .done = 50, .total = 10}), HasSubstr("10 of 10"));
}

TEST(Progress, ColoursOnlyWhereAsked) {
  EXPECT_THAT(progress_line({.label = "x", .done = 5, .total = 10}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(progress_line({.label = "x", .done = 5, .total = 10, .has_colour = true}), HasSubstr("\x1b[36m"));
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
