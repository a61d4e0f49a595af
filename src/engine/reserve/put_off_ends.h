// PutOffEnds: when jobs that have outlasted their late ends are expected to end instead. Kept from one search for an
// earliest start to the next; can be made anew from the timeline at any time. Cost: O(log of those jobs) for each end
// that goes, passes or is put off again.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "base/sorted_blocks.h"
#include "state/jobs/jobs.h"
#include "state/time/timeline.h"

namespace ashlar {

/// Which of the two ends of each job a start time rests on.
enum class EndsBy : std::uint8_t {
  kLate,    ///< p90: what is promised, so that it can be kept
  kMedian,  ///< p50: what is to be expected, for reports
};

/// When running jobs are expected to end, at one time.
struct EndsAt {
  EndsBy by = EndsBy::kLate;
  Millis now;
  Millis of(const Job& started) const {
    return by == EndsBy::kLate ? started.late_end(now) : started.expected_end(now);
  }
};

/// An end that is expected later than the timeline has it.
struct PutOffEnd {
  Timeline::End end;  ///< as it is expected
  Millis was;         ///< in the timeline
  friend auto operator<=>(const PutOffEnd&, const PutOffEnd&) = default;
};

class PutOffEnds {
 public:
  /// Follows the timeline up to now. If `now` runs backwards, all is made anew.
  void bring_up(const Timeline& timeline, Millis now);
  Millis now() const { return now_; }
  using Iterator = BlockIterator<PutOffEnd>;
  /// By their new times, all of them after now. Void after the next change.
  Iterator begin() const { return begin_of(ends_); }
  Iterator end() const { return end_of(ends_); }

  static constexpr std::size_t kBlockMax = Timeline::kBlockMax;
  static constexpr std::size_t kMovesMax = 1 << 13;  ///< older ones are forgotten
  /// How often an end has passed and was put off; the jobs since `since` are moved_since(since), or any if that is too
  /// long ago or all was made anew since.
  std::uint64_t move_count() const { return move_base_ + moved_.size(); }
  bool remembers(std::uint64_t since) const { return since >= move_base_ && since <= move_count(); }
  std::span<const JobId> moved_since(std::uint64_t since) const {
    return std::span(moved_).subspan(since - move_base_);
  }

 private:
  void start_anew(const Timeline& timeline, Millis now);
  void follow(const Timeline::Change& change);
  void add(const Timeline::End& in_timeline, Millis now);
  void note_move(JobId job);

  bool is_started_ = false;
  std::uint64_t cursor_ = 0;  ///< Timeline::change_count() up to which this is current
  Millis now_;
  Blocks<PutOffEnd> ends_;
  std::vector<JobId> moved_;
  std::uint64_t move_base_ = 0;
};

}  // namespace ashlar
