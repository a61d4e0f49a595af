// case: whether the engine does what a .case file expects. Reads the text, plays it, compares block by block, and can
// write the actual result into the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ashlar::sim {

/// One line of the comparison of a block.
struct CaseDiffLine {
  enum class Kind : unsigned char { kSame, kExpected, kActual };
  Kind kind = Kind::kSame;
  std::string text;
};
struct CaseDiffBlock {
  int line = 0;  ///< of the block's header
  std::string header;
  std::vector<CaseDiffLine> lines;
};

struct CaseOutcome {
  std::vector<CaseDiffBlock> differences;  ///< blocks that differ; empty: as expected
  std::string updated;                     ///< the text with actual results in place of expected ones; comments stay
  bool is_as_expected() const { return differences.empty(); }
};

/// `where` names the text in messages. An Error for a text that is no case ("where:line:column: ..."). Spacing does not
/// count in the comparison.
Result<CaseOutcome> run_case(std::string_view text, std::string_view where);

/// "where:line: at 1s" and the lines, "-" expected and "+" actual; with colours if requested.
std::string diff_text(const CaseOutcome& outcome, std::string_view where, bool has_colour);

}  // namespace ashlar::sim
