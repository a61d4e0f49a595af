// What follows each outcome of each step of a commit: every pair has one rule, written down here once more.
#include "live/write/commit/commit_table.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace ashlar::kube {
namespace {

std::string move_word(CommitMove move) {
  static const std::map<CommitMove, std::string> kWords{
      {CommitMove::kUnstated, "?"},      {CommitMove::kImpossible, "-"},  {CommitMove::kAdvance, "advance"},
      {CommitMove::kResend, "resend"},   {CommitMove::kReread, "reread"}, {CommitMove::kGiveUp, "give-up"},
      {CommitMove::kChooseAnew, "anew"}, {CommitMove::kTakeBack, "back"}, {CommitMove::kAdopt, "adopt"},
      {CommitMove::kForget, "forget"},   {CommitMove::kRelease, "free"},  {CommitMove::kEnd, "end"}};
  return kWords.at(move);
}

std::string rule_row(CommitOutcome outcome) {
  std::string row(name_of(outcome));
  row += ":";
  for (std::size_t s = 0; s < kCommitSteps; ++s) {
    const CommitRule& rule = rule_of(outcome, static_cast<CommitStep>(s));
    row += " " + move_word(rule.move);
    if (rule.times_max > 0) row += "x" + std::to_string(rule.times_max);
    if (rule.place_kept_max.value > 0) row += "<" + std::to_string(rule.place_kept_max.value / 1000) + "s";
  }
  return row;
}

TEST(CommitTable, HasARuleForEachPairOfOutcomeAndStep) {
  const std::vector<std::string> rows{// reserve, write, wait, bind, confirm, undo
                                      "done: - advance - advance - advance",
                                      "refused: - give-up - give-up - end",
                                      "conflict: - reread - reread - reread",
                                      "missing: - reread - reread - reread",
                                      "throttled: - resend<30s - resend<30s - resend",
                                      "failed: - reread - reread - reread",
                                      "unknown: - reread - reread - reread",
                                      "found done: - advance - adopt adopt resendx3",
                                      "found undone: - resendx3 - resendx3 back advance",
                                      "found other: - give-up - adopt adopt advance",
                                      "found gone: - give-up - forget forget advance",
                                      "unreadable: - reread<30s - reread reread rereadx20",
                                      "holds: - - advance - - -",
                                      "broken: give-up - give-up - - -",
                                      "time-out: give-up give-up give-up give-up - -",
                                      "outdated: anew anew anew anew - -",
                                      "place lost: free free free free end -",
                                      "busy: resend<30s - - - - -"};
  ASSERT_EQ(rows.size(), kCommitOutcomes);
  for (std::size_t o = 0; o < kCommitOutcomes; ++o) EXPECT_EQ(rule_row(static_cast<CommitOutcome>(o)), rows[o]);
}

TEST(CommitTable, NamesTheSteps) {
  std::string names;
  for (std::size_t s = 0; s < kCommitSteps; ++s) names += " " + std::string(name_of(static_cast<CommitStep>(s)));
  EXPECT_EQ(names, " reserve write wait bind confirm undo");
}

/// A place that was promised to an answer is never free before the answer: only a rule about a place that nobody may
/// have used gives it away at once.
TEST(CommitTable, AnUnknownResultNeverFreesAPlace) {
  for (const CommitOutcome unknown : {CommitOutcome::kConflict, CommitOutcome::kMissing, CommitOutcome::kFailed,
                                      CommitOutcome::kUnknown, CommitOutcome::kUnreadable})
    for (const CommitStep step : {CommitStep::kWrite, CommitStep::kBind, CommitStep::kConfirm, CommitStep::kUndo}) {
      const CommitMove move = rule_of(unknown, step).move;
      EXPECT_TRUE(move == CommitMove::kReread || move == CommitMove::kImpossible) << name_of(unknown) << name_of(step);
    }
}

TEST(CommitTable, AnswersToBindingsAreOutcomesOfTheSameName) {
  EXPECT_EQ(outcome_of(BindOutcome::kBound), CommitOutcome::kDone);
  EXPECT_EQ(outcome_of(BindOutcome::kRefused), CommitOutcome::kRefused);
  EXPECT_EQ(outcome_of(BindOutcome::kConflict), CommitOutcome::kConflict);
  EXPECT_EQ(outcome_of(BindOutcome::kMissing), CommitOutcome::kMissing);
  EXPECT_EQ(outcome_of(BindOutcome::kThrottled), CommitOutcome::kThrottled);
  EXPECT_EQ(outcome_of(BindOutcome::kFailed), CommitOutcome::kFailed);
  EXPECT_EQ(outcome_of(BindOutcome::kUnknown), CommitOutcome::kUnknown);
}

}  // namespace
}  // namespace ashlar::kube
