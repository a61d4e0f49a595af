#include "engine/reserve/put_off_ends.h"

#include <utility>

#include "base/check.h"

namespace ashlar {

void PutOffEnds::start_anew(const Timeline& timeline, Millis now) {
  ends_.clear();
  move_base_ = move_count() + 1;
  moved_.clear();
  for (const Timeline::End& end : timeline.ends()) {
    if (end.at > now) break;
    ends_.emplace(Timeline::End{put_off(end.at, now), end.devices, end.job}, end.at);
  }
  is_started_ = true;
}

void PutOffEnds::note_move(JobId job) {
  if (moved_.size() >= kMovesMax) {
    moved_.erase(moved_.begin(), moved_.begin() + kMovesMax / 2);
    move_base_ += kMovesMax / 2;
  }
  moved_.push_back(job);
}

void PutOffEnds::follow(const Timeline::Change& change) {
  if (change.end.at > now_) return;
  const Timeline::End end{put_off(change.end.at, now_), change.end.devices, change.end.job};
  if (change.is_new)
    ends_.emplace(end, change.end.at);
  else
    ASHLAR_CHECK(ends_.erase(end) == 1);
}

void PutOffEnds::bring_up(const Timeline& timeline, Millis now) {
  if (!is_started_ || now < now_ || !timeline.remembers(cursor_)) {
    start_anew(timeline, now);
  } else {
    for (const Timeline::Change& change : timeline.changes_since(cursor_)) follow(change);
    while (!ends_.empty() && ends_.begin()->first.at <= now) {
      auto end = ends_.extract(ends_.begin());
      end.key().at = put_off(end.mapped(), now);
      note_move(end.key().job);
      ends_.insert(std::move(end));
    }
    const Timeline::Ends all = timeline.ends();
    for (auto it = all.after(now_); it != all.end() && it->at <= now; ++it) {
      ends_.emplace(Timeline::End{put_off(it->at, now), it->devices, it->job}, it->at);
      note_move(it->job);
    }
  }
  cursor_ = timeline.change_count();
  now_ = now;
}

}  // namespace ashlar
