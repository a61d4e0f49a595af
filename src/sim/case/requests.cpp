#include "sim/case/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "model/pod_labels.h"
#include "sim/scenario/units.h"
#include "text/amount_text.h"
#include "text/device_text.h"
#include "text/duration_text.h"
#include "text/nearest_name.h"

namespace ashlar::sim {
namespace {

constexpr std::int64_t kSpreadMax = INT32_MAX;
constexpr std::string_view kAmountForm =
    "an amount such as cpu=4, memory=8GiB, storage=10GiB, pods=110 or vendor.com/thing=2";

constexpr std::string_view kOneAmount = "one amount of each resource";
constexpr std::string_view kExpressionForm =
    "a label rule such as zone=a, zone=a|b, zone!=a, zone, !zone, cores>8 or cores<8";

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size() && !text.empty() ? number : NodeLabel::kNotANumber;
}

LabelExpression expression_of(Words& words, CaseNames& names, std::string_view text) {
  using Op = LabelExpression::Op;
  LabelExpression e;
  const std::size_t at = text.find_first_of("!=<>", 1);
  const bool is_absent = text.starts_with('!') && at == std::string_view::npos;
  const std::string_view key = is_absent ? text.substr(1) : text.substr(0, at);
  if (key.empty()) words.fail(fmt::format("\"{}\" names no label", text), kExpressionForm);
  e.key = names.label_keys.of(key);
  if (is_absent)
    e.op = Op::kDoesNotExist;
  else if (at == std::string_view::npos)
    e.op = Op::kExists;
  if (is_absent || at == std::string_view::npos) return e;
  const bool is_not = text[at] == '!';
  if (is_not && (at + 1 >= text.size() || text[at + 1] != '='))
    words.fail(fmt::format("\"{}\" is not a label rule", text), kExpressionForm);
  const std::string_view value = text.substr(std::min(at + (is_not ? 2 : 1), text.size()));
  if (text[at] == '<' || text[at] == '>') {
    e.op = text[at] == '<' ? Op::kLess : Op::kGreater;
    e.number = number_in(value);
    if (e.number == NodeLabel::kNotANumber)
      words.fail(fmt::format("\"{}\" does not compare with a number", text), kExpressionForm);
    return e;
  }
  e.op = is_not ? Op::kNotIn : Op::kIn;
  for (const std::string_view v : split(value, '|')) e.values.push_back(names.labels.of(fmt::format("{}={}", key, v)));
  return e;
}

NodeTerm term_of(Words& words, CaseNames& names, std::string_view text) {
  NodeTerm term;
  for (const std::string_view part : split(text, ',')) term.all.push_back(expression_of(words, names, part));
  return term;
}

void take_devices(Words& words, MemberRequest& request) {
  const std::int64_t number = words.take_count("a number of GPUs, \"4 gpu\", or a fraction of one, \"500 milli\"");
  const bool is_share = words.peek() == "milli";
  if (!is_share && words.peek() != "gpu") {
    const std::string_view unit = words.take("gpu or milli");
    return words.fail(fmt::format("\"{}\" is not a unit", unit), "\"4 gpu\" or \"500 milli\"");
  }
  words.take("gpu or milli");
  if (request.demand.devices.count != 0) words.fail("GPUs are requested twice", kOneAmount);
  if (is_share && number >= kWholeDevice)
    words.fail(fmt::format("{} milli is not a fraction of one GPU", number),
               "1 to 999 milli, or whole GPUs as \"2 gpu\"");
  if (!is_share && number > kDevicesPerNodeMax)
    words.fail(fmt::format("no node has {} GPUs", number), fmt::format("at most {} gpu", kDevicesPerNodeMax));
  if (is_share)
    request.demand.devices = {1, MilliGpu(static_cast<std::int32_t>(number)), request.demand.devices.memory_each};
  else
    request.demand.devices = {static_cast<std::int32_t>(number), MilliGpu(kWholeDevice),
                              request.demand.devices.memory_each};
}

void take_port(Words& words, MemberRequest& request) {
  const KeyValue port = key_value(words.take("a port such as 8080 or 53/udp"), '/');
  std::int64_t number = number_in(port.key);
  if (number < 1 || number > 65535)
    words.fail(fmt::format("\"{}\" is not a port", port.key), "a port such as 8080 or 53/udp");
  const bool is_udp = port.value == "udp";
  if (port.has_value && !is_udp && port.value != "tcp")
    words.fail(fmt::format("\"{}\" is not a protocol", port.value), "tcp or udp");
  request.demand.ports.push_back(
      {static_cast<std::uint8_t>(is_udp ? 17 : 6), 0, static_cast<std::uint16_t>(words.has_failed() ? 0 : number)});
}

void take_tolerations(Words& words, CaseNames& names, MemberRequest& request) {
  constexpr std::string_view kForm = "tolerated taints such as key=value, key, key<5, key=value:NoSchedule or *";
  for (const std::string_view text : split(words.take(kForm), ',')) {
    const KeyValue effect = key_value(text, ':');
    const std::size_t compares = effect.key.find_first_of("<>");
    const KeyValue taint =
        compares == std::string_view::npos ? key_value(effect.key) : key_value(effect.key, effect.key[compares]);
    Toleration t;
    if (taint.key.empty()) words.fail("an empty toleration", kForm);
    if (taint.key != "*") t.key = names.label_keys.of(taint.key);
    if (compares != std::string_view::npos) {
      t.op = effect.key[compares] == '<' ? Toleration::Op::kLess : Toleration::Op::kGreater;
      t.number = number_in(taint.value);
      if (t.number == NodeLabel::kNotANumber)
        words.fail(fmt::format("\"{}\" does not compare with a number", effect.key), kForm);
    } else if (taint.has_value)
      t.value = names.labels.of(taint.key == "*" ? taint.value : effect.key);
    if (effect.has_value) t.effect = effect_of(words, effect.value);
    request.constraint.tolerations.push_back(t);
  }
}

void take_labels(Words& words, CaseNames& names, MemberRequest& request) {
  constexpr std::string_view kForm = "labels of the pod such as app=web,tier=front";
  for (const std::string_view part : split(words.take(kForm), ',')) {
    const KeyValue label = key_value(part);
    if (!label.has_value || label.key.empty()) words.fail(fmt::format("\"{}\" is not a label", part), kForm);
    request.labels.push_back({names.label_keys.of(label.key), names.labels.of(part)});
  }
  std::sort(request.labels.begin(), request.labels.end(),
            [](const PodLabel& a, const PodLabel& b) { return a.key < b.key; });
}

/// "min-domains N", "ignores-node-affinity", "honors-taints" and, of a wish, "by-default", in any order.
void take_spread_options(Words& words, PodRule& rule) {
  while (!words.is_at_end()) {
    if (words.accept("min-domains"))
      rule.domains_min = static_cast<std::int32_t>(words.take_count("a number of domains", kSpreadMax));
    else if (words.accept("ignores-node-affinity"))
      rule.honors_affinity = false;
    else if (words.accept("honors-taints"))
      rule.honors_taints = true;
    else if (rule.is_wish && words.accept("by-default"))
      rule.requires_all_labels = false;
    else
      return;
  }
}

/// "pod-affinity RULE per LABEL", "pod-anti-affinity RULE per LABEL" or "max-skew N per LABEL RULE" with its options;
/// `rule` says whether it is a wish.
bool take_rule(Words& words, CaseNames& names, MemberRequest& request, PodRule rule = {}) {
  constexpr std::string_view kForm = "\"per LABEL\", a label of nodes";
  const auto take_topology = [&] {
    if (!words.accept("per")) {
      words.take(kForm);
      words.fail("a rule about pods needs the label of its domains", kForm);
    }
    rule.topology = names.label_keys.of(words.take(kForm));
  };
  if (words.accept("max-skew")) {
    rule.kind = PodRule::Kind::kSpread;
    rule.skew_max = static_cast<std::int32_t>(words.take_count("a number of pods", kSpreadMax));
    take_topology();
    rule.pods = term_of(words, names, words.take(kExpressionForm)).all;
    take_spread_options(words, rule);
  } else if (words.peek() == "pod-affinity" || words.peek() == "pod-anti-affinity") {
    rule.kind = words.accept("pod-affinity") ? PodRule::Kind::kAffinity : PodRule::Kind::kAntiAffinity;
    words.accept("pod-anti-affinity");
    rule.pods = term_of(words, names, words.take(kExpressionForm)).all;
    take_topology();
  } else {
    return false;
  }
  request.rules.push_back(std::move(rule));
  return true;
}

/// "wish WEIGHT RULE" about nodes, "wish WEIGHT pod-affinity ..." about pods, or "wish max-skew ...".
void take_wish(Words& words, CaseNames& names, MemberRequest& request) {
  PodRule rule{.is_wish = true};
  if (words.peek() != "max-skew") rule.weight = static_cast<std::int32_t>(words.take_count("a weight", kPodWeightMax));
  if (take_rule(words, names, request, rule)) return;
  request.constraint.preferred.push_back({rule.weight, term_of(words, names, words.take(kExpressionForm))});
}

void take_needs(Words& words, CaseNames& names, MemberRequest& request) {
  if (words.accept("capability")) {
    const std::vector<std::string> more = take_names(words, "names of capabilities such as fp8,nvlink");
    std::vector<CapabilityId>& needed = request.constraint.capabilities;
    const std::vector<CapabilityId> ids = names.models.capabilities(more);
    needed.insert(needed.end(), ids.begin(), ids.end());
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    return;
  }
  if (words.accept("feature")) {
    for (const std::string_view key : split(words.take("keys of labels such as user-namespaces"), ','))
      request.constraint.features.push_back(names.label_keys.of(key));
    return;
  }
  if (!words.accept("model")) {
    words.take("model");
    words.fail("\"needs\" takes models, capabilities or features",
               "\"needs model h100,a100\", \"needs capability fp8\" or \"needs feature user-namespaces\"");
  }
  for (const std::string_view model : split(words.take("model names such as h100,a100"), ','))
    request.constraint.models.push_back(names.models.of(model));
}

/// False: it is stated already. Of pods each member has one unless it says otherwise.
bool add_amount(Demand& demand, NamedAmount added) {
  const auto at = std::lower_bound(demand.amounts.begin(), demand.amounts.end(), added.resource,
                                   [](const ResourceAmount& a, ResourceId r) { return a.resource < r; });
  const bool is_there = at != demand.amounts.end() && at->resource == added.resource;
  if (is_there && added.resource == resource::kPods)
    at->amount = added.amount;
  else if (!is_there)
    demand.amounts.insert(at, {added.resource, added.amount});
  return !is_there || added.resource == resource::kPods;
}

}  // namespace

std::vector<std::string> take_names(Words& words, std::string_view form) {
  Result<std::vector<std::string>> names = parse_names(words.take(form));
  if (names || words.has_failed()) return names ? *std::move(names) : std::vector<std::string>();
  words.fail(names.error().message, form);
  return {};
}

std::int64_t bytes_of(Words& words, std::string_view text) {
  const std::optional<Bytes> bytes = parse_bytes(text);
  if (!bytes) words.fail(fmt::format("\"{}\" is not an amount of memory", text), "bytes such as 64GiB, 512MiB or 1TiB");
  return bytes ? bytes->value : 0;
}

NodeLabel label_of(CaseNames& names, std::string_view key, std::string_view value) {
  return {names.label_keys.of(key), names.labels.of(fmt::format("{}={}", key, value)), number_in(value)};
}

TaintEffect effect_of(Words& words, std::string_view name) {
  constexpr std::string_view kEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};  // by TaintEffect
  const auto effect = std::ranges::find(kEffects, name);
  if (effect != std::end(kEffects)) return static_cast<TaintEffect>(effect - std::begin(kEffects));
  words.fail(fmt::format("unknown effect \"{}\"; expected {}{}", name, or_list(kEffects), suggestion(name, kEffects)));
  return TaintEffect::kAny;
}

NamedAmount take_amount(Words& words, CaseNames& names) {
  const KeyValue pair = key_value(words.peek());
  const bool is_extended = pair.key.find('/') != std::string_view::npos;
  if (!pair.has_value ||
      (!is_extended && pair.key != "cpu" && pair.key != "memory" && pair.key != "storage" && pair.key != "pods"))
    return {};
  words.take(kAmountForm);
  NamedAmount named{names.resources.of(pair.key), 0};
  if (named.resource == resource::kCpu) {
    const std::optional<MilliCores> cores = parse_cores(pair.value);
    if (!cores) words.fail(fmt::format("\"{}\" is not a number of cores", pair.value), kCoresForm);
    named.amount = cores ? cores->value : 0;
  } else if (named.resource == resource::kMemory || named.resource == resource::kEphemeralStorage) {
    named.amount = bytes_of(words, pair.value);
  } else {
    named.amount = number_in(pair.value);
    if (named.amount < 0) words.fail(fmt::format("\"{}\" is not an amount", pair.value), kAmountForm);
  }
  if (named.resource.row() >= resource::kColumnsMax)
    words.fail("too many kinds of resources", fmt::format("at most {}", resource::kColumnsMax));
  return named;
}

DeviceMask take_devices_of_node(Words& words) {
  constexpr std::string_view kForm = "GPUs of the node such as 0-3 or 0,2,5";
  const std::string_view word = words.take(kForm);
  const DeviceMask mask = parse_devices(word);
  if (mask.is_empty() && !words.has_failed()) words.fail(fmt::format("\"{}\" is not a list of GPUs", word), kForm);
  return mask;
}

GivenDevices take_given_devices(Words& words) {
  if (words.peek().find(':') == std::string_view::npos) return {take_devices_of_node(words), {}};
  constexpr std::string_view kForm = "GPUs with what is held of each such as 0-3:1000 or 3:500:40960";
  Result<DeviceGrants> grants = parse_grants(words.take(kForm));
  if (grants) return {devices_of(*grants), *grants};
  words.fail(grants.error().message, kForm);
  return {};
}

void refuse_early_p90(Words& words, const Estimate& stated) {
  if (stated.is_known() && stated.p90 < stated.p50)
    words.fail("nine of ten jobs cannot end earlier than half of them",
               fmt::format("a \"p90\" of at least {}", seconds_text(stated.p50)));
}

void take_request(Words& words, CaseNames& names, MemberRequest& request) {
  if (request.demand.amounts.empty()) add_amount(request.demand, {resource::kPods, 1});
  while (!words.is_at_end()) {
    const std::string_view word = words.peek();
    const bool is_negative = word[0] == '-' && word.size() > 1;
    if (is_negative || (word[0] >= '0' && word[0] <= '9')) {
      take_devices(words, request);
    } else if (const NamedAmount named = take_amount(words, names); !named.resource.is_none()) {
      if (named.amount <= 0) words.fail("no resources requested", "an amount above 0");
      if (!add_amount(request.demand, named))
        words.fail(fmt::format("{} is stated twice", key_value(word).key), kOneAmount);
    } else if (key_value(word).key == "card-memory" && key_value(word).has_value) {
      words.take(kAmountForm);
      const Result<MiB> memory = parse_gpu_memory(key_value(word).value);
      if (!memory) words.fail("card-memory " + memory.error().message);
      if (request.demand.devices.memory_each.value > 0) words.fail("card-memory is stated twice", kOneAmount);
      request.demand.devices.memory_each = memory ? *memory : MiB(0);
    } else if (words.accept("needs")) {
      take_needs(words, names, request);
    } else if (words.accept("selector")) {
      for (auto& e : term_of(words, names, words.take(kExpressionForm)).all)
        request.constraint.selector.all.push_back(std::move(e));
    } else if (words.accept("affinity")) {
      for (const std::string_view term : split(words.take(kExpressionForm), ';'))
        request.constraint.any_of.push_back(term_of(words, names, term));
    } else if (words.accept("volume-on")) {
      std::vector<NodeTerm>& any_of = request.constraint.volumes.emplace_back();
      for (const std::string_view term : split(words.take(kExpressionForm), ';'))
        any_of.push_back(term_of(words, names, term));
    } else if (words.accept("wish")) {
      take_wish(words, names, request);
    } else if (words.accept("tolerates")) {
      take_tolerations(words, names, request);
    } else if (words.accept("labels")) {
      take_labels(words, names, request);
    } else if (take_rule(words, names, request)) {
    } else if (words.accept("port")) {
      take_port(words, request);
    } else {
      return;
    }
  }
}

}  // namespace ashlar::sim
