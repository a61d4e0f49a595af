#include "live/write/commit/rereads.h"

#include <algorithm>
#include <utility>

#include "kubeclient/decode/decode.h"

namespace ashlar::kube {
namespace {

constexpr Millis kReadTimeout{10'000};

}  // namespace

Rereads::Rereads(Api& api, RequestLane& lane, AdaptiveWindow::Limits limits, Hooks hooks)
    : api_(api), lane_(lane), hooks_(std::move(hooks)), window_(limits) {}

void Rereads::pump(Millis now) {
  while (!due_.empty() && due_.begin()->first <= now && may_send(now)) {
    CommitTicket ticket = std::move(due_.begin()->second);
    due_.erase(due_.begin());
    read(std::move(ticket));
  }
  // Of an answer given in the API server's place nothing would be heard again: the pod would wait for ever, while its
  // capacity is counted as used.
  while (!confirmed_.empty() && confirmed_.front().due <= now && may_send(now)) {
    const Confirmed one = confirmed_.front();
    confirmed_.pop_front();
    CommitTicket ticket;
    ticket.slot = one.slot;
    ticket.generation = one.generation;
    ticket.turn = one.turn;
    ticket.step = CommitStep::kConfirm;
    read(std::move(ticket));
  }
}

Millis Rereads::next_due() const {
  const Millis due = due_.empty() ? Millis::max() : due_.begin()->first;
  return confirmed_.empty() ? due : std::min(due, confirmed_.front().due);
}

void Rereads::read(CommitTicket ticket) {
  const std::string path = hooks_.begin(ticket);
  if (path.empty()) return;
  // an object that a write is about is read as JSON, for its CommitWork
  const bool is_pod = ticket.step != CommitStep::kWrite;
  const AdaptiveWindow::Pass pass = window_.begin(under_way_++, api_.monotonic());
  lane_.send(
      [&](OnAnswer on_answer) {
        return api_.send({.path = path, .accept = is_pod ? kProtobufType : kJsonType, .timeout = kReadTimeout},
                         std::move(on_answer));
      },
      [this, pass, ticket = std::move(ticket)](const Answer& answer) {
        --under_way_;
        window_.end(pass, health_of(answer), api_.monotonic());
        hooks_.take(ticket, answer);
      },
      true);
}

}  // namespace ashlar::kube
