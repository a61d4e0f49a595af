// queue_statements: the statements of a case about queues: what they are sure of, lend and borrow, which jobs
// theirs stop, and that they are held.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "sim/case/reading.h"
#include "state/queues/queue_tree.h"
#include "text/amount_text.h"
#include "text/nearest_name.h"
#include "text/stop_words.h"

namespace ashlar::sim {
namespace {

constexpr std::string_view kQuotaNames[kQuotaDimensions] = {"gpu", "cpu", "memory"};  // by QuotaDimension
constexpr std::string_view kQuotaForm = "limits such as gpu=16, cpu=64 or memory=512GiB";
constexpr std::string_view kGuaranteeForm = "guarantees such as gpu=8 or cpu=64";
constexpr std::string_view kBorrowsForm = "limits such as gpu=4 or gpu=0";
constexpr std::string_view kModelLimitForm = "a limit such as gpu:h100=8";

/// "gpu", "cpu", or a resource that the case has named, alone or of the nodes of one model: "gpu:h100". None and an
/// error in `words` if it is none of these.
std::optional<QuotaKey> quota_key_of(const CaseReading& c, Words& words, std::string_view text) {
  const KeyValue name = key_value(text, ':');
  QuotaKey key;
  const auto dimension = std::ranges::find(kQuotaNames, name.key) - std::begin(kQuotaNames);
  if (dimension < std::ssize(kQuotaNames))
    key = quota_key(dimension);
  else
    key.resource = c.file.names.resources.find(name.key);
  if (dimension == std::ssize(kQuotaNames) && key.resource.is_none()) {
    words.fail(fmt::format("unknown limit \"{}\"{}", name.key, suggestion(name.key, kQuotaNames)),
               name.key.find('@') == std::string_view::npos ? kQuotaForm : kModelLimitForm);
    return std::nullopt;
  }
  if (!name.has_value) return key;
  key.device_class = c.file.names.models.find(name.value);
  if (!key.device_class.is_none()) return key;
  words.fail(fmt::format("no node of this case has the model \"{}\"", name.value), kModelLimitForm);
  return std::nullopt;
}

constexpr std::string_view kQueueWords[] = {"guarantee", "quota", "weight",    "lends",  "borrows",
                                            "priority",  "stops", "protected", "parent", "at"};

/// Whether the next word begins another part of the statement.
bool is_over(const Words& words) {
  return words.is_at_end() || std::ranges::find(kQueueWords, words.peek()) != std::end(kQueueWords);
}

/// Amounts such as gpu=16 up to the next word of the statement; `take(key, amount)` for each.
template <class Take>
void take_amounts(const CaseReading& c, Words& words, std::string_view form, Take&& take) {
  if (is_over(words)) {
    words.take(form);
    return words.fail("no limit is given", form);
  }
  while (!is_over(words)) {
    const KeyValue stated = key_value(words.take(form));
    const std::optional<QuotaKey> key = quota_key_of(c, words, stated.key);
    if (!key) return;
    const Result<std::int64_t> amount =
        stated.value == "unlimited" ? Result<std::int64_t>(kUnlimited) : parse_quota(quota_number(*key), stated.value);
    if (!amount) return words.fail(amount.error().message);
    take(*key, *amount);
  }
}

void take_quota(const CaseReading& c, Words& words, QueueDefined& queue) {
  take_amounts(c, words, kQuotaForm, [&](const QuotaKey& key, std::int64_t amount) {
    const std::int64_t number = quota_number(key);
    if (number < static_cast<std::int64_t>(kQuotaDimensions)) {
      queue.quota[static_cast<std::size_t>(number)] = amount;
      return;
    }
    std::erase_if(queue.limits, [&](const QuotaLimit& l) { return l.of == key; });
    if (amount != kUnlimited) queue.limits.push_back({key, amount});
  });
}

QuotaShare& share_of(QueueDefined& queue, const QuotaKey& key) {
  const auto found = std::ranges::find(queue.shares, key, &QuotaShare::of);
  return found != queue.shares.end() ? *found : queue.shares.emplace_back(QuotaShare{.of = key});
}

void take_guarantee(const CaseReading& c, Words& words, QueueDefined& queue) {
  take_amounts(c, words, kGuaranteeForm, [&](const QuotaKey& key, std::int64_t amount) {
    if (amount == kUnlimited) return words.fail("a guarantee is an amount", kGuaranteeForm);
    share_of(queue, key).guarantee = amount;
  });
}

void take_borrows(const CaseReading& c, Words& words, QueueDefined& queue) {
  take_amounts(c, words, kBorrowsForm,
               [&](const QuotaKey& key, std::int64_t amount) { share_of(queue, key).borrows = amount; });
}

void take_lends(const CaseReading& c, Words& words, QueueDefined& queue) {
  take_amounts(c, words, kBorrowsForm,
               [&](const QuotaKey& key, std::int64_t amount) { share_of(queue, key).lends = amount; });
}

void take_weight(const CaseReading&, Words& words, QueueDefined& queue) {
  constexpr std::string_view kForm = "a weight such as 2 or 0.5";
  const Result<std::int64_t> weight = parse_quota(0, words.take(kForm));  // in thousandths, as GPUs are
  if (!weight || *weight < 1 || *weight > QueueRank::kWeightMax)
    return words.fail("a weight is from 0.001 to 1000000", kForm);
  queue.rank.weight = *weight;
}

constexpr std::string_view kStopsForm = "whom its jobs stop, such as own=lower, reclaims=any or while-borrowing=lower";
constexpr std::string_view kProtectedForm = "a time such as preempt=5m or reclaim=10m";

/// "never", "lower", "lower<=100" or "lower-or-longer".
void take_while_borrowing(Words& words, std::string_view value, StopRules& stops) {
  constexpr std::string_view kForm = "never, lower, lower-or-longer or, with a highest priority, lower<=100";
  const auto word = std::ranges::find(kWhileBorrowingWords, value);
  if (word != std::end(kWhileBorrowingWords))
    return set_while_borrowing(stops, static_cast<std::size_t>(word - std::begin(kWhileBorrowingWords)));
  constexpr std::string_view kLower = "lower<=";
  std::int32_t most = 0;
  const std::string_view digits = value.starts_with(kLower) ? value.substr(kLower.size()) : std::string_view();
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), most);
  if (failure != std::errc() || end != digits.data() + digits.size() || most == StopRules::kNobody)
    return words.fail(fmt::format("\"{}\" does not say whom jobs stop that borrow", value), kForm);
  set_while_borrowing(stops, 1, most);
}

void take_stops(Words& words, StopRules& stops) {
  constexpr std::string_view kSettings[] = {"own", "reclaims", "while-borrowing"};
  do {
    const KeyValue setting = key_value(words.take(kStopsForm));
    switch (take_choice(words, {"rule", setting.key, true}, kSettings)) {
      case 0:
        stops.own = static_cast<StopRules::Own>(take_choice(words, setting, kOwnWords));
        break;
      case 1:
        stops.reclaims = static_cast<StopRules::Reclaims>(take_choice(words, setting, kReclaimsWords));
        break;
      default:
        take_while_borrowing(words, setting.value, stops);
    }
  } while (!is_over(words));
}

void take_protected(Words& words, StopRules& stops) {
  constexpr std::string_view kSettings[] = {"preempt", "reclaim"};
  do {
    const KeyValue setting = key_value(words.take(kProtectedForm));
    const std::size_t which = take_choice(words, {"time", setting.key, true}, kSettings);
    const Millis time = take_duration(words, setting.value);
    if (words.has_failed()) return;
    if (time > StopRules::kProtectedMax) return words.fail("a job is protected for 366 days at most", kProtectedForm);
    (which == 0 ? stops.protected_from_own : stops.protected_from_others) = time;
  } while (!is_over(words));
}

/// The statement of the queue so far; without limits below the root if there is none.
QueueDefined& stated(CaseReading& c, QueueId queue) {
  for (QueueDefined& known : c.queues)
    if (known.id == queue) return known;
  const QueueId parent = queue == QueueId(0u) ? QueueId::none() : QueueId(0u);
  return c.queues.emplace_back(QueueDefined{queue, parent, {kUnlimited, kUnlimited, kUnlimited}});
}

/// A parent may have its statement later, and an event at a later time: until then its children are below the root.
QueueId take_parent(CaseReading& c, Words& words) {
  const QueueId known = c.file.names.queues.find(words.peek());
  if (!known.is_none() || words.is_at_end()) return take_queue(c, words);
  Words missing = words;
  take_queue(c, missing);
  const QueueId parent = c.file.names.queues.of(words.take("the name of a queue"));
  c.later_parents.emplace_back(parent, *missing.error());
  return parent;
}

bool is_too_deep(const CaseReading& c) {
  const auto parent_of = [&](QueueId queue) {
    const auto it = std::ranges::find(c.queues, queue, &QueueDefined::id);
    return it == c.queues.end() ? QueueId(0u) : it->parent;
  };
  return std::ranges::any_of(c.queues, [&](const QueueDefined& queue) {
    int depth = 1;
    for (QueueId above = queue.parent; !above.is_none() && above != QueueId(0u) && depth < QueueTree::kDepthMax;
         ++depth)
      above = parent_of(above);
    return depth >= QueueTree::kDepthMax;
  });
}

void take_nothing(const CaseReading& /*c*/, Words& /*words*/, QueueDefined& /*queue*/) {}

/// One statement that changes what a queue stated: by what it says, and by when.
void read_queue_change(CaseReading& c, Words& words, void (*take)(const CaseReading&, Words&, QueueDefined&),
                       void (*change_at)(QueueDefined&, Millis) = nullptr) {
  const QueueId queue = take_queue(c, words);
  if (words.has_failed()) return;
  QueueDefined defined = stated(c, queue);
  take(c, words, defined);
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  if (change_at != nullptr) change_at(defined, at);
  stated(c, queue) = defined;
  add_event(c, at, EventBody(defined));
}

/// "hold queue NAME", and the like.
template <QueueGate::Is is>
void read_gate(CaseReading& c, Words& words) {
  if (!words.accept("queue")) {
    words.take("queue");
    return words.fail("only queues can be held, stopped and released", "hold queue NAME at 1s");
  }
  read_queue_change(c, words, take_nothing, [](QueueDefined& queue, Millis at) { queue.gate = {is, at}; });
}

}  // namespace

std::optional<CaseError> missing_parent(const CaseReading& c) {
  for (const auto& [parent, error] : c.later_parents)
    if (std::ranges::find(c.queues, parent, &QueueDefined::id) == c.queues.end()) return error;
  return std::nullopt;
}

void read_queue(CaseReading& c, Words& words) {
  const QueueId queue = c.file.names.queues.of(words.take("the name of a queue"));
  const bool says_more = words.peek() == "stops" || words.peek() == "protected";  // of one that may be stated before
  QueueDefined defined = says_more ? stated(c, queue)
                                   : QueueDefined{queue,
                                                  queue == QueueId(0u) ? QueueId::none() : QueueId(0u),
                                                  {kUnlimited, kUnlimited, kUnlimited}};
  if (words.accept("guarantee")) take_guarantee(c, words, defined);
  if (words.accept("quota")) take_quota(c, words, defined);
  if (words.accept("weight")) take_weight(c, words, defined);
  if (words.accept("lends")) take_lends(c, words, defined);
  if (words.accept("borrows")) take_borrows(c, words, defined);
  if (words.accept("priority")) defined.rank.priority = static_cast<std::int32_t>(words.take_number("a priority"));
  if (words.accept("stops")) take_stops(words, defined.stops);
  if (words.accept("protected")) take_protected(words, defined.stops);
  if (words.accept("parent")) defined.parent = take_parent(c, words);
  if (defined.parent == queue) return words.fail("a queue cannot be its own parent", "another queue, or no parent");
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  stated(c, queue) = defined;
  if (is_too_deep(c))
    return words.fail("queues are nested too deep",
                      fmt::format("at most {} below one another", QueueTree::kDepthMax - 1));
  add_event(c, at, EventBody(defined));
}

void read_quota(CaseReading& c, Words& words) { read_queue_change(c, words, take_quota); }
void read_guarantee(CaseReading& c, Words& words) { read_queue_change(c, words, take_guarantee); }
void read_weight(CaseReading& c, Words& words) { read_queue_change(c, words, take_weight); }

void read_hold(CaseReading& c, Words& words) { read_gate<QueueGate::Is::kHeld>(c, words); }
void read_drain_queue(CaseReading& c, Words& words) { read_gate<QueueGate::Is::kDraining>(c, words); }
void read_stop(CaseReading& c, Words& words) { read_gate<QueueGate::Is::kStopped>(c, words); }
void read_release(CaseReading& c, Words& words) { read_gate<QueueGate::Is::kOpen>(c, words); }

/// "usage NAME gpu=10h cpu=640h": GPU-hours and core-hours that count today.
void read_usage(CaseReading& c, Words& words) {
  constexpr std::string_view kForm = "times such as gpu=10h or cpu=640h";
  const QueueId queue = take_queue(c, words);
  if (words.has_failed()) return;
  QueueDefined defined = stated(c, queue);
  do {
    const KeyValue used = key_value(words.take(kForm));
    const std::optional<QuotaKey> key = quota_key_of(c, words, used.key);
    if (!key) return;
    if (!key->resource.is_none() && key->resource != resource::kCpu)
      return words.fail(fmt::format("the usage of {} is not recorded", used.key), kForm);
    const Millis time = take_duration(words, used.value);
    if (words.has_failed()) return;
    if (time.value > QueueUsage::kAmountMax / kWholeDevice) return words.fail("as much time cannot be counted", kForm);
    defined.usage.push_back({*key, time.value * kWholeDevice});
  } while (!words.is_at_end() && words.peek() != "at");
  const Millis at = take_at(c, words);
  if (!words.has_failed()) add_event(c, at, EventBody(defined));
}

}  // namespace ashlar::sim
