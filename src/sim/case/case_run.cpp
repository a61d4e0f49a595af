#include "sim/case/case_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/grown.h"
#include "engine/driver.h"
#include "sim/case/render.h"
#include "sim/world/world.h"
#include "text/duration_text.h"

namespace ashlar::sim {
namespace {

constexpr int kStepsPerInstantMax = 10'000;  ///< a case never needs more; a loop of the engine does

class CasePlay {
 public:
  explicit CasePlay(const CaseFile& file, bool are_all_asked = false)
      : file_(file),
        are_all_asked_(are_all_asked),
        engine_(file.profile),
        world_(clock_, file.scripted_events, [&file](const Action&) { return Fate{.after = file.binding}; },
               {.keeps_going = true}),
        driver_(state_, engine_, {clock_, world_, world_, nullptr}),
        ended_at_(file.names.jobs.size(), Millis::max()) {}

  Result<std::vector<std::vector<std::string>>> run() {
    std::vector<std::vector<std::string>> shown;
    for (const CaseBlock& block : file_.blocks) {
      while (next_at() <= block.at) {
        clock_.advance_to(std::max(next_at(), clock_.now()));
        if (!settle())
          return Error{Error::Kind::kInternal, "the engine does not become idle at " + seconds_text(clock_.now())};
      }
      clock_.advance_to(block.at);
      shown.push_back(show());
    }
    return shown;
  }

  std::uint64_t digest() const { return digest_; }

 private:
  void ask_about_all() {
    for (const JobId job : submitted_)
      if (state_.is_live(job)) engine_.verdict_with_numbers_of_now(state_, job);
  }
  Millis next_at() { return std::min(world_.next_event(), look_again_at_); }

  /// Steps until nothing more happens at this instant.
  bool settle() {
    for (int steps = 0; steps < kStepsPerInstantMax; ++steps) {
      const Plan& plan = driver_.step();
      look_again_at_ = plan.look_again_at;
      examined_ += plan.examined;
      note_stops(plan);
      digest_ = hash_combine(digest_, digest_of(plan));
      note_jobs(driver_.batch());
      if (are_all_asked_) ask_about_all();
      if (next_at() > clock_.now()) return true;
    }
    return false;
  }

  void note_stops(const Plan& plan) {
    for (const Action& action : plan.actions) {
      const Bind* bind = std::get_if<Bind>(&action);
      const JobId job = bind != nullptr ? bind->job : std::get<Evict>(action).job;
      CaseStop& stop = grown(stops_, job.row());
      stop = {};
      if (bind != nullptr) continue;
      const Evict& evict = std::get<Evict>(action);
      stop = {evict.for_job, evict.reason, !evict.member.is_none()};
      ++stops_shown_;
    }
  }
  bool is_leaving(JobId job) const {
    bool is_any = false;
    if (job.row() < stops_.size() && stops_[job.row()].reason != StopReason::kNone && !stops_[job.row()].is_shrunk)
      state_.each_member(
          job, [&](MemberId id, const Member&) { is_any = is_any || !world_.leaving(job, id).node.is_none(); });
    return is_any;
  }
  CaseLine line_of(JobId job) const {
    const CaseStop stop = job.row() < stops_.size() ? stops_[job.row()] : CaseStop{};
    return is_leaving(job) ? render_leaving(file_, state_, world_, job, stop)
                           : render_job(file_, state_, job, engine_.verdict_of(job), stop);
  }

  void note_jobs(const std::vector<Event>& batch) {
    for (const Event& event : batch) {
      if (const auto* submitted = std::get_if<Submitted>(&event.body)) submitted_.push_back(submitted->workload.job);
      if (const auto* placed = std::get_if<HoldPlaced>(&event.body)) {
        submitted_.push_back(placed->hold.job);
        ended_at_[placed->hold.job.row()] = placed->hold.until;
        if (!placed->hold.owner.job.is_none()) held_for_.emplace_back(placed->hold.owner.job, placed->hold.job);
      }
      const auto* ended = std::get_if<Ended>(&event.body);
      if (ended == nullptr) continue;
      note_end(ended->job);
      for (const auto& [owner, hold] : held_for_)
        if (owner == ended->job) note_end(hold);
    }
  }
  void note_end(JobId job) {
    if (job.row() < ended_at_.size()) ended_at_[job.row()] = std::min(ended_at_[job.row()], clock_.now());
  }

  std::vector<std::string> show() {
    std::vector<CaseLine> lines;
    for (const JobId job : submitted_) {
      if (state_.is_live(job))
        lines.push_back(line_of(job));
      else if (ended_at_[job.row()] > shown_at_)
        lines.push_back({file_.names.jobs.name(job), "ended"});
    }
    if (file_.shows.queues)
      for (std::size_t q = 0; q < file_.names.queues.size(); ++q)
        if (state_.queues().is_known(QueueId(q))) lines.push_back(render_queue(file_, state_, QueueId(q)));
    if (file_.shows.nodes)
      for (std::size_t n = 0; n < state_.cluster().rows(); ++n) lines.push_back(render_node(file_, state_, NodeId(n)));
    if (file_.shows.examined) lines.push_back({"examined", fmt::format("{}", examined_)});
    if (file_.shows.stops) lines.push_back({"stops", fmt::format("{}", stops_shown_)});
    examined_ = stops_shown_ = 0;
    shown_at_ = clock_.now();
    return join_lines(lines);
  }

  const CaseFile& file_;
  bool are_all_asked_;
  std::uint64_t digest_ = 0;
  State state_;
  SimClock clock_;
  Engine engine_;
  World world_;
  Driver driver_;
  std::vector<JobId> submitted_;                   ///< in order
  std::vector<Millis> ended_at_;                   ///< by JobId
  std::vector<std::pair<JobId, JobId>> held_for_;  ///< a job, and what is held for it alone
  Millis look_again_at_ = Millis::max();
  Millis shown_at_{-1};
  std::vector<CaseStop> stops_;  ///< by JobId, of those that have not started again
  std::uint64_t examined_ = 0, stops_shown_ = 0;
};

}  // namespace

Result<std::vector<std::vector<std::string>>> play_case(const CaseFile& file) { return CasePlay(file).run(); }

Result<std::uint64_t> digest_of_case(const CaseFile& file, bool are_all_asked) {
  CasePlay play(file, are_all_asked);
  const auto shown = play.run();
  if (!shown) return shown.error();
  return play.digest();
}

}  // namespace ashlar::sim
