#include "engine/reserve/put_off_ends.h"

namespace ashlar {

void PutOffEnds::start_anew(const Timeline& timeline, Millis now) {
  ends_.clear();
  move_base_ = move_count() + 1;
  moved_.clear();
  for (const Timeline::End& end : timeline.ends()) {
    if (end.at > now) break;
    add(end, now);
  }
  is_started_ = true;
}

void PutOffEnds::add(const Timeline::End& in_timeline, Millis now) {
  const Timeline::End end{put_off(in_timeline.at, now), in_timeline.devices, in_timeline.job};
  insert_into(ends_, PutOffEnd{end, in_timeline.at}, kBlockMax);
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
  if (change.is_new) return add(change.end, now_);
  const Timeline::End end{put_off(change.end.at, now_), change.end.devices, change.end.job};
  erase_from(ends_, PutOffEnd{end, change.end.at}, kBlockMax);
}

void PutOffEnds::bring_up(const Timeline& timeline, Millis now) {
  if (!is_started_ || now < now_ || !timeline.remembers(cursor_)) {
    start_anew(timeline, now);
  } else {
    for (const Timeline::Change& change : timeline.changes_since(cursor_)) follow(change);
    for (const PutOffEnd& passed : take_front(ends_, [&](const PutOffEnd& p) { return p.end.at <= now; })) {
      add({passed.was, passed.end.devices, passed.end.job}, now);
      note_move(passed.end.job);
    }
    const Timeline::Ends all = timeline.ends();
    for (auto it = all.after(now_); it != all.end() && it->at <= now; ++it) {
      add(*it, now);
      note_move(it->job);
    }
  }
  cursor_ = timeline.change_count();
  now_ = now;
}

}  // namespace ashlar
