#include "live/write/commit/commit_table.h"

#include <array>

namespace ashlar::kube {
namespace {

/// Re-reads that find it not done, until it is given up.
constexpr int kUndoneReadsMax = 3;
/// The server requests a pause, and other pods may use the place meanwhile.
constexpr Millis kThrottledPlaceKept{30'000};
/// What was written for the last place is being taken back: if that takes long, the pod may as well wait elsewhere.
constexpr Millis kBusyPlaceKept{30'000};

/// An object cannot be read before the binding was sent: the pod is known to be unbound, and its place may go.
constexpr Millis kUnreadablePlaceKept{30'000};
/// Of an object to be taken back; with the delays of re-reads some three minutes, in which its pod has no other place.
constexpr int kUnreadableUndoMax = 20;

constexpr CommitRule to(CommitMove move) { return {move, 0, Millis(0)}; }

struct Row {
  CommitOutcome outcome;
  std::array<CommitRule, kCommitSteps> by_step;
};

constexpr std::array<Row, kCommitOutcomes> make_rows() {
  using enum CommitMove;
  using enum CommitOutcome;
  constexpr CommitRule kNever{kImpossible}, kPaced{kResend, 0, kThrottledPlaceKept}, kAgain{kResend, kUndoneReadsMax},
      kBusyWait{kResend, 0, kBusyPlaceKept}, kBlindWrite{kReread, 0, kUnreadablePlaceKept},
      kBlindUndo{kReread, kUnreadableUndoMax, Millis(0)};
  // clang-format off
  return {{
    //                reserve         write           wait            bind            confirm      undo
    {kDone,        {kNever,         to(kAdvance),   kNever,         to(kAdvance),   kNever,      to(kAdvance)}},
    {kRefused,     {kNever,         to(kGiveUp),    kNever,         to(kGiveUp),    kNever,      to(kEnd)}},
    {kConflict,    {kNever,         to(kReread),    kNever,         to(kReread),    kNever,      to(kReread)}},
    {kMissing,     {kNever,         to(kReread),    kNever,         to(kReread),    kNever,      to(kReread)}},
    {kThrottled,   {kNever,         kPaced,         kNever,         kPaced,         kNever,      to(kResend)}},
    {kFailed,      {kNever,         to(kReread),    kNever,         to(kReread),    kNever,      to(kReread)}},
    {kUnknown,     {kNever,         to(kReread),    kNever,         to(kReread),    kNever,      to(kReread)}},
    {kFoundDone,   {kNever,         to(kAdvance),   kNever,         to(kAdopt),     to(kAdopt),  kAgain}},
    {kFoundUndone, {kNever,         kAgain,         kNever,         kAgain,         to(kTakeBack), to(kAdvance)}},
    {kFoundOther,  {kNever,         to(kGiveUp),    kNever,         to(kAdopt),     to(kAdopt),  to(kAdvance)}},
    {kFoundGone,   {kNever,         to(kGiveUp),    kNever,         to(kForget),    to(kForget), to(kAdvance)}},
    {kUnreadable,  {kNever,         kBlindWrite,    kNever,         to(kReread),    to(kReread), kBlindUndo}},
    {kHolds,       {kNever,         kNever,         to(kAdvance),   kNever,         kNever,      kNever}},
    {kBroken,      {to(kGiveUp),    kNever,         to(kGiveUp),    kNever,         kNever,      kNever}},
    {kTimeOut,     {to(kGiveUp),    to(kGiveUp),    to(kGiveUp),    to(kGiveUp),    kNever,      kNever}},
    {kOutdated,    {to(kChooseAnew), to(kChooseAnew), to(kChooseAnew), to(kChooseAnew), kNever,      kNever}},
    {kPlaceLost,   {to(kRelease),   to(kRelease),   to(kRelease),   to(kRelease),   to(kEnd),    kNever}},
    {kBusy,        {kBusyWait,      kNever,         kNever,         kNever,         kNever,      kNever}},
  }};
  // clang-format on
}
constexpr std::array<Row, kCommitOutcomes> kRows = make_rows();

constexpr bool is_complete() {
  for (std::size_t row = 0; row < kRows.size(); ++row) {
    if (static_cast<std::size_t>(kRows[row].outcome) != row) return false;
    for (const CommitRule& rule : kRows[row].by_step)
      if (rule.move == CommitMove::kUnstated) return false;
  }
  return true;
}
static_assert(is_complete(), "each pair of outcome and step has one rule, in the order of the outcomes");

constexpr std::array<std::string_view, kCommitSteps> kSteps{"reserve", "write", "wait", "bind", "confirm", "undo"};
constexpr std::array<std::string_view, kCommitOutcomes> kOutcomes{
    "done",    "refused",    "conflict",     "missing",     "throttled",  "failed",
    "unknown", "found done", "found undone", "found other", "found gone", "unreadable",
    "holds",   "broken",     "time-out",     "outdated",    "place lost", "busy"};

}  // namespace

const CommitRule& rule_of(CommitOutcome outcome, CommitStep step) {
  return kRows[static_cast<std::size_t>(outcome)].by_step[static_cast<std::size_t>(step)];
}

static_assert(static_cast<int>(CommitOutcome::kUnknown) == static_cast<int>(BindOutcome::kUnknown) &&
              static_cast<int>(CommitOutcome::kDone) == static_cast<int>(BindOutcome::kBound));
CommitOutcome outcome_of(BindOutcome answer) { return static_cast<CommitOutcome>(answer); }

std::string_view name_of(CommitStep step) { return kSteps[static_cast<std::size_t>(step)]; }
std::string_view name_of(CommitOutcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }

}  // namespace ashlar::kube
