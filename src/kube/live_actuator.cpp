#include "kube/live_actuator.h"

#include <algorithm>
#include <variant>

#include "base/check.h"
#include "kube/decode.h"

namespace ashlar::kube {
namespace {

constexpr Millis kReadTimeout{10'000};

}  // namespace

LiveActuator::LiveActuator(Api& api, LiveIntake& intake, ActuatorOptions options, Hooks hooks)
    : api_(api), intake_(intake), options_(options), hooks_(std::move(hooks)), life_(std::make_shared<char>()) {}

LiveActuator::~LiveActuator() {
  for (const auto& [request, id] : under_way_) api_.cancel(id);
}

void LiveActuator::submit(const Plan& plan) {
  for (const Action& action : plan.actions) {
    const Bind* bind = std::get_if<Bind>(&action);
    if (bind == nullptr) continue;  // the profiles that the live scheduler accepts evict nothing; reservations live in the engine
    const PodSlot slot = intake_.pods().of_member(bind->member);
    ASHLAR_CHECK(slot != kNoPod);
    intake_.note_assumed(slot, bind->node, bind->cards);
    const PodRecord& pod = intake_.pods()[slot];
    queue_.push_back({slot, pod.generation, pod.bind_turn});
  }
  if (hooks_.on_plan) hooks_.on_plan(plan);
  pump();
}

void LiveActuator::pump() {
  while (!queue_.empty() && under_way_.size() < options_.in_flight_max) {
    if (!hooks_.may_write()) return;
    const Ticket ticket = queue_.front();
    queue_.pop_front();
    send(ticket);
  }
}

PodRecord* LiveActuator::find(const Ticket& ticket) {
  if (!intake_.pods().is_current(ticket.slot, ticket.generation)) return nullptr;
  return &intake_.pods()[ticket.slot];
}

void LiveActuator::send(const Ticket& ticket) {
  PodRecord* pod = find(ticket);
  if (pod == nullptr || pod->phase != PodRecord::Phase::kAssumed || pod->bind_turn != ticket.turn) return;
  Binding binding{pod->ns, pod->name, pod->uid, intake_.names().nodes.name(pod->node), {}};
  if (!pod->cards.is_empty()) binding.annotations.emplace_back(std::string(kCardsAnnotation), cards_text(pod->cards));
  pod->is_bind_under_way = true;
  ++counters_.sent;
  const std::uint64_t request = ++last_request_;
  const auto on_answer = [this, request, ticket, node = binding.node](Answer answer) {
    under_way_.erase(request);
    take_answer(ticket, node, std::move(answer));
    pump();
  };
  under_way_[request] = kube::bind(api_, binding, on_answer, Encoding::kJson, hooks_.may_write);
}

void LiveActuator::count(const Answer& answer) {
  switch (answer.result.error().kind) {
    case Error::Kind::kConflict:
      ++counters_.conflicts;
      break;
    case Error::Kind::kNotFound:
      ++counters_.not_found;
      break;
    case Error::Kind::kTimeout:
      ++counters_.timeouts;
      break;
    case Error::Kind::kUnavailable:
      ++counters_.unavailable;
      break;
    case Error::Kind::kDenied:
      ++counters_.denied;
      break;
    default:
      ++counters_.other;
      break;
  }
}

void LiveActuator::take_answer(const Ticket& ticket, const Text& node, Answer answer) {
  PodRecord* pod = find(ticket);
  if (pod != nullptr) pod->is_bind_under_way = false;
  if (answer.ok()) {
    ++counters_.bound;
    last_bind_ = api_.now();
    if (first_bind_.value == 0) first_bind_ = last_bind_;
    if (pod == nullptr) return;
    pod->bind_failures = 0;
    if (hooks_.log) hooks_.log(LogLevel::kDebug, {"bound " + pod->ns.str() + "/" + pod->name.str() + " to " + node.str(), "pod", pod->ns, pod->name});
    intake_.note_bound(ticket.slot, node, pod->cards);
    return;
  }
  count(answer);
  if (pod == nullptr) return;
  if (hooks_.log)
    hooks_.log(LogLevel::kWarning, {"binding " + pod->ns.str() + "/" + pod->name.str() + " to " + node.str() + ": " + answer.result.error().message,
                                    "pod", pod->ns, pod->name});
  const Error::Kind kind = answer.result.error().kind;
  const bool is_refused_outright = kind == Error::Kind::kDenied || kind == Error::Kind::kInvalid;
  if (is_refused_outright)
    reject_later(ticket);
  else
    read_again(ticket);
}

void LiveActuator::read_again(const Ticket& ticket) {
  const PodRecord* pod = find(ticket);
  if (pod == nullptr) return;
  // Reading needs no lease. Were it left out while the lease's renewal is late, nothing would ever ask again and the place would stay taken.
  ++counters_.reread;
  const std::uint64_t request = ++last_request_;
  const auto on_answer = [this, request, ticket](Answer answer) {
    under_way_.erase(request);
    take_pod(ticket, std::move(answer));
    pump();
  };
  under_way_[request] = api_.send({.path = pod_path(pod->ns, pod->name), .timeout = kReadTimeout}, on_answer);
}

void LiveActuator::read_again_later(const Ticket& ticket) {
  api_.after(options_.retry_min * 5, [this, life = std::weak_ptr<char>(life_), ticket] {
    if (!life.expired()) read_again(ticket);
  });
}

void LiveActuator::take_pod(const Ticket& ticket, Answer answer) {
  PodRecord* pod = find(ticket);
  if (pod == nullptr) return;
  if (!answer.ok()) {
    if (answer.result.error().kind == Error::Kind::kNotFound) return intake_.note_gone(ticket.slot);
    return read_again_later(ticket);
  }
  Result<Pod> read = decode_object<Pod>(answer.body, Encoding::kJson);
  if (!read) return read_again_later(ticket);
  if (read->uid != pod->uid) return intake_.note_gone(ticket.slot);  // another pod of that name; the watch brings it
  const bool is_free = read->node_name.empty() && !read->is_terminal() && read->deletion_requested.value == 0 && read->scheduling_gates == 0;
  if (is_free) return reject_later(ticket);
  intake_.take({Change<Pod>::Kind::kModified, std::move(read).value()});
}

void LiveActuator::reject_later(const Ticket& ticket) {
  PodRecord* pod = find(ticket);
  if (pod == nullptr || pod->bind_turn != ticket.turn) return;
  const int failures = std::min<int>(pod->bind_failures, 16);
  if (pod->bind_failures < 255) ++pod->bind_failures;
  const Millis delay(std::min(options_.retry_max.value, options_.retry_min.value << failures));
  api_.after(delay, [this, life = std::weak_ptr<char>(life_), ticket] {
    if (life.expired()) return;
    const PodRecord* still = find(ticket);
    if (still != nullptr && still->bind_turn == ticket.turn) intake_.note_rejected(ticket.slot);
  });
}

}  // namespace ashlar::kube
