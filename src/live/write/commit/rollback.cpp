#include "live/write/commit/rollback.h"

#include <utility>

#include "base/check.h"
#include "kubeclient/bind_outcome.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/writes.h"

namespace ashlar::kube {
namespace {

constexpr Millis kTimeout{10'000};

}  // namespace

Rollback::Rollback(Api& api, const CommitOptions& options, CommitCounters& counters, Hooks hooks)
    : api_(api),
      options_(options),
      counters_(counters),
      hooks_(std::move(hooks)),
      lane_(api, hooks_.after_answer),
      window_(options.rereads) {}

void Rollback::take(CommitTicket ticket, std::string pod) {
  CommitProgress& progress = *ticket.progress;
  progress.work->note_given_up();
  if (!progress.work->is_taken_back() || (!progress.is_sent && progress.next-- == 0)) return;
  ticket.step = CommitStep::kUndo;
  ticket.undone_reads = ticket.failed_reads = 0;
  progress.object.clear();
  later({std::move(ticket), std::move(pod)}, Millis(0));
}

void Rollback::pump(Millis now) {
  while (!due_.empty() && due_.begin()->first <= now && lane_.size() < window_.size() && api_.budget().may_send(now) &&
         hooks_.may_write()) {
    Undo undo = std::move(due_.begin()->second);
    due_.erase(due_.begin());
    if (undo.ticket.progress->object.empty())
      read(std::move(undo));
    else
      write(std::move(undo));
  }
}

void Rollback::send(Undo undo, http::Request request, void (Rollback::*then)(Undo, const Answer&)) {
  const AdaptiveWindow::Pass pass = window_.begin(lane_.size(), api_.monotonic());
  request.accept = kJsonType;
  request.timeout = kTimeout;
  request.may_send = hooks_.may_write;
  lane_.send([&](OnAnswer on_answer) { return api_.send(std::move(request), std::move(on_answer)); },
             [this, pass, then, undo = std::move(undo)](const Answer& answer) {
               window_.end(pass, health_of(answer), api_.monotonic());
               (this->*then)(undo, answer);
             });
}

void Rollback::read(Undo undo) {
  const CommitProgress& progress = *undo.ticket.progress;
  http::Request request{.path = progress.work->path(progress.next)};
  send(std::move(undo), std::move(request), &Rollback::take_read);
}

void Rollback::take_read(Undo undo, const Answer& answer) {
  CommitProgress& progress = *undo.ticket.progress;
  if (!answer.ok()) {
    undo.ticket.words = bounded_words(answer.result.error().message);
    return follow(std::move(undo), says_gone(answer) ? CommitOutcome::kFoundGone : CommitOutcome::kUnreadable);
  }
  switch (progress.work->look_at(progress.next, answer.body)) {
    case WriteFinding::kUnreadable:
      return follow(std::move(undo), CommitOutcome::kUnreadable);
    case WriteFinding::kOther:
      return follow(std::move(undo), CommitOutcome::kFoundOther);
    case WriteFinding::kUndone:
      return follow(std::move(undo), CommitOutcome::kFoundUndone);
    case WriteFinding::kDone:
      break;
  }
  progress.object = answer.body;
  follow(std::move(undo), CommitOutcome::kFoundDone);
}

void Rollback::write(Undo undo) {
  const CommitProgress& progress = *undo.ticket.progress;
  std::string patch = progress.work->undo_patch(progress.next, progress.object);
  if (patch.empty()) return advance(std::move(undo));
  http::Request request{.method = http::Method::kPatch,
                        .path = progress.work->path(progress.next),
                        .body = std::move(patch),
                        .content_type = kMergePatch};
  send(std::move(undo), std::move(request), &Rollback::take_answer);
}

void Rollback::take_answer(Undo undo, const Answer& answer) {
  const CommitProgress& progress = *undo.ticket.progress;
  // any other 2xx answer (a proxy's page) does not say that it is taken back
  const bool is_done = answer.ok() && progress.work->look_at(progress.next, answer.body) == WriteFinding::kUndone;
  if (is_done) ++counters_.writes_taken_back;
  if (!answer.ok()) undo.ticket.words = bounded_words(answer.result.error().message);
  const CommitOutcome failure = answer.ok() ? CommitOutcome::kUnknown : outcome_of(bind_outcome(answer));
  follow(std::move(undo), is_done ? CommitOutcome::kDone : failure);
}

void Rollback::follow(Undo undo, CommitOutcome outcome) {
  CommitTicket& ticket = undo.ticket;
  const CommitRule& rule = rule_of(outcome, CommitStep::kUndo);
  ASHLAR_CHECK(rule.move != CommitMove::kImpossible);
  switch (rule.move) {
    case CommitMove::kAdvance:
      return advance(std::move(undo));
    case CommitMove::kReread: {
      ticket.progress->object.clear();
      if (outcome != CommitOutcome::kUnreadable) return later(std::move(undo), Millis(0));
      if (++ticket.failed_reads < rule.times_max)
        return later(std::move(undo), hold_time(options_.reread_min, options_.reread_max, ticket.failed_reads));
      leave(undo);
      return advance(std::move(undo));
    }
    case CommitMove::kResend:
      if (rule.times_max == 0) return later(std::move(undo), options_.retry_min);
      ticket.failed_reads = 0;
      if (++ticket.undone_reads <= rule.times_max) return later(std::move(undo), Millis(0));
      [[fallthrough]];
    case CommitMove::kEnd:
      leave(undo);
      return advance(std::move(undo));
    default:
      return;  // no undo has such an outcome
  }
}

void Rollback::leave(const Undo& undo) {
  ++counters_.writes_left;
  const CommitProgress& progress = *undo.ticket.progress;
  if (hooks_.log)
    hooks_.log(LogLevel::kWarning, {"what was written to " + progress.work->subject(progress.next) + " for pod " +
                                    undo.pod + " cannot be taken back: " + undo.ticket.words});
}

void Rollback::advance(Undo undo) {
  CommitTicket& ticket = undo.ticket;
  CommitProgress& progress = *ticket.progress;
  progress.object.clear();
  ticket.undone_reads = ticket.failed_reads = 0;
  if (progress.next-- > 0) later(std::move(undo), Millis(0));
}

}  // namespace ashlar::kube
