// Timeline: by when capacity is freed: the late ends (p90) of running jobs in order. They lie in short sorted blocks,
// so that an end comes or goes at O(log n) plus a move within one block, wherever it lies (40,000 running jobs: 0.1
// us); a walk costs O(ends until enough).
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"

namespace ashlar {

/// When a job that has outlasted its late end is expected to end instead: 1 s after that end, then 2 s, 4 s and so on,
/// the first of these times that has not come. Expired predictions are put off in growing steps, as in Tsafrir, Etsion,
/// Feitelson, Backfilling using system-generated predictions, TPDS 2007.
inline Millis put_off(Millis late_end, Millis now) {
  const auto steps = std::bit_width(static_cast<std::uint64_t>((now - late_end).value / 1000));
  if (steps > 53) return Millis::max();  // more than any step can make up at the end of time
  const Millis more(std::int64_t{1000} << steps);
  return more > Millis::max() - late_end ? Millis::max() : late_end + more;
}

class Timeline {
 public:
  /// A running job frees `devices` (milli-GPU / 1000, rounded up) at `at`; unknown durations end at Millis::max(). The
  /// entry of one that outlasts its estimate is in the past: Job::late_end has its end then.
  struct End {
    Millis at;
    std::int64_t devices = 0;
    JobId job;
    friend auto operator<=>(const End&, const End&) = default;
  };
  using Block = std::vector<End>;
  /// 3 kB: moving half of one costs about as much as finding it.
  static constexpr std::size_t kBlockMax = 128;

  /// The ends in ascending order by (at, devices, job). Void after the next change.
  class Ends {
   public:
    class Iterator {
     public:
      explicit Iterator(const Block* block, std::size_t at = 0) : block_(block), at_(at) {}
      const End& operator*() const { return (*block_)[at_]; }
      const End* operator->() const { return &(*block_)[at_]; }
      void operator++() {
        if (++at_ == block_->size()) ++block_, at_ = 0;
      }
      friend bool operator==(const Iterator&, const Iterator&) = default;

     private:
      const Block* block_;
      std::size_t at_ = 0;
    };

    explicit Ends(const std::vector<Block>& blocks) : blocks_(&blocks) {}
    Iterator begin() const { return Iterator(blocks_->data()); }
    Iterator end() const { return Iterator(blocks_->data() + blocks_->size()); }
    bool empty() const { return blocks_->empty(); }
    const End& front() const { return blocks_->front().front(); }
    /// Cost: O(blocks).
    std::size_t size() const;
    /// Those after that time, up to end().
    Iterator after(Millis at) const;

   private:
    const std::vector<Block>* blocks_;
  };

  void add_end(const End& end);
  /// The entry must exist.
  void remove_end(const End& end);
  Ends ends() const { return Ends(blocks_); }

  /// An end came, or went.
  struct Change {
    End end;
    bool is_new = false;
  };
  static constexpr std::size_t kChangesMax = 1 << 13;  ///< older changes are forgotten
  /// Number of changes so far; those since `since` are changes_since(since), or everything if that is too long ago.
  std::uint64_t change_count() const { return change_base_ + changes_.size(); }
  bool remembers(std::uint64_t since) const { return since >= change_base_ && since <= change_count(); }
  std::span<const Change> changes_since(std::uint64_t since) const {
    return std::span(changes_).subspan(since - change_base_);
  }

  /// First time at which free_now plus all ends up to then reach `devices`; Millis::max() if never. `extra` is what is
  /// left over then.
  struct Window {
    Millis at;
    std::int64_t extra = 0;
  };
  Window earliest(std::int64_t free_now, std::int64_t devices) const { return earliest(ends(), free_now, devices); }
  template <class Ascending>
  static Window earliest(const Ascending& ends, std::int64_t free_now, std::int64_t devices) {
    std::int64_t free = free_now;
    if (free >= devices) return {Millis(0), free - devices};
    for (const End& end : ends) {
      if (end.at == Millis::max()) break;
      free += end.devices;
      if (free >= devices) return {end.at, free - devices};
    }
    return {Millis::max(), 0};
  }

 private:
  friend struct StateFields;
  void note(const End& end, bool is_new);

  std::vector<Block> blocks_;  ///< none is empty
  std::vector<Change> changes_;
  std::uint64_t change_base_ = 0;
};

}  // namespace ashlar
