#include "sim/case/case.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/case/case_run.h"

namespace ashlar::sim {
namespace {

/// Words separated by one space, without comments.
std::string squeezed(std::string_view line) {
  std::string text;
  Words words(line, 1);
  while (!words.is_at_end()) text += (text.empty() ? "" : " ") + std::string(words.take("a word"));
  return text;
}

/// Longest common subsequence; blocks have a few dozen lines.
std::vector<CaseDiffLine> diff_of(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
  const std::size_t n = expected.size(), m = actual.size();
  std::vector<std::vector<std::size_t>> common(n + 1, std::vector<std::size_t>(m + 1, 0));
  const auto same = [&](std::size_t i, std::size_t k) { return squeezed(expected[i]) == squeezed(actual[k]); };
  for (std::size_t i = n; i-- > 0;)
    for (std::size_t k = m; k-- > 0;)
      common[i][k] = same(i, k) ? common[i + 1][k + 1] + 1 : std::max(common[i + 1][k], common[i][k + 1]);
  std::vector<CaseDiffLine> lines;
  std::size_t i = 0, k = 0;
  while (i < n || k < m) {
    if (i < n && k < m && same(i, k)) {
      lines.push_back({CaseDiffLine::Kind::kSame, actual[k]});
      ++i, ++k;
    } else if (i < n && (k == m || common[i + 1][k] >= common[i][k + 1])) {
      lines.push_back({CaseDiffLine::Kind::kExpected, expected[i++]});
    } else {
      lines.push_back({CaseDiffLine::Kind::kActual, actual[k++]});
    }
  }
  return lines;
}

}  // namespace

Result<CaseOutcome> run_case(std::string_view text, std::string_view where) {
  const Result<CaseFile> file = read_case(text, where);
  if (!file) return file.error();
  const auto shown = play_case(*file);
  if (!shown) return Error{shown.error().kind, fmt::format("{}: {}", where, shown.error().message)};
  CaseOutcome outcome;
  std::size_t written = 0;
  const auto write = [&](std::string_view line) { outcome.updated += fmt::format("{}\n", line); };
  for (std::size_t b = 0; b < file->blocks.size(); ++b) {
    const CaseBlock& block = file->blocks[b];
    while (written + 1 < static_cast<std::size_t>(block.first_line)) write(file->lines[written++]);
    std::vector<std::string> expected;
    for (; written + 1 < static_cast<std::size_t>(block.end_line); ++written) {
      const std::string& line = file->lines[written];
      if (squeezed(line).empty())
        write(line);
      else
        expected.push_back(line);
    }
    for (const std::string& line : shown.value()[b]) write(line);
    std::vector<CaseDiffLine> lines = diff_of(expected, shown.value()[b]);
    const bool is_same = std::all_of(lines.begin(), lines.end(),
                                     [](const CaseDiffLine& l) { return l.kind == CaseDiffLine::Kind::kSame; });
    if (!is_same)
      outcome.differences.push_back(
          {block.header_line, file->lines[static_cast<std::size_t>(block.header_line) - 1], std::move(lines)});
  }
  while (written < file->lines.size()) write(file->lines[written++]);
  return outcome;
}

std::string diff_text(const CaseOutcome& outcome, std::string_view where, bool has_colour) {
  const auto painted = [&](std::string_view colour, std::string line) {
    return has_colour ? fmt::format("\x1b[{}m{}\x1b[0m\n", colour, line) : line + "\n";
  };
  std::string text;
  for (const CaseDiffBlock& block : outcome.differences) {
    text += painted("1", fmt::format("{}:{}: {}", where, block.line, block.header));
    for (const CaseDiffLine& line : block.lines) {
      if (line.kind == CaseDiffLine::Kind::kSame)
        text += fmt::format("    {}\n", line.text);
      else if (line.kind == CaseDiffLine::Kind::kExpected)
        text += painted("31", "  - " + line.text);
      else
        text += painted("32", "  + " + line.text);
    }
    text += painted("2", "  (- expected, + actual)");
  }
  return text;
}

}  // namespace ashlar::sim
