#include "sim/scenario/stop_rules.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "text/nearest_name.h"
#include "text/stop_words.h"

namespace ashlar::sim {
namespace {

/// The index of the key's value among the names; `otherwise` if it is absent.
std::size_t read_choice(YamlMap& map, const std::string& key, std::span<const std::string_view> names,
                        std::size_t otherwise) {
  const std::optional<std::string> text = map.text(key);
  if (!text) return otherwise;
  const auto it = std::ranges::find(names, *text);
  if (it == names.end()) map.reject(key, YamlMap::expected(or_list(names), *text));
  return it == names.end() ? otherwise : static_cast<std::size_t>(it - names.begin());
}

void read_stops(YamlMap& map, StopRules& rules) {
  rules.own = static_cast<StopRules::Own>(read_choice(map, "own", kOwnWords, static_cast<std::size_t>(rules.own)));
  rules.reclaims = static_cast<StopRules::Reclaims>(
      read_choice(map, "reclaims", kReclaimsWords, static_cast<std::size_t>(rules.reclaims)));
  const std::size_t while_borrowing = read_choice(map, "whileBorrowing", kWhileBorrowingWords, 0);
  constexpr IntegerForm kPriority{INT32_MIN + std::int64_t{1}, INT32_MAX, "a priority such as 100"};
  const std::optional<std::int64_t> most = map.integer("whileBorrowingMost", kPriority);
  if (most && while_borrowing == 0)
    map.reject("whileBorrowingMost", "expected it only with whileBorrowing: lower or lower-or-longer");
  set_while_borrowing(rules, while_borrowing, static_cast<std::int32_t>(most.value_or(INT32_MAX)));
}

void read_protected(YamlMap& map, const std::string& key, Millis& time) {
  const std::optional<Millis> stated = map.duration(key);
  if (!stated) return;
  if (*stated > StopRules::kProtectedMax) map.reject(key, "expected at most 366 days");
  time = *stated;
}

}  // namespace

StopRules read_stop_rules(YamlMap& queue, YamlMistake& mistake) {
  StopRules rules;
  if (const YAML::Node* node = queue.find("stops")) {
    YamlMap map(mistake, *node, queue.path("stops"));
    read_stops(map, rules);
    map.finish();
  }
  if (const YAML::Node* node = queue.find("protected")) {
    YamlMap map(mistake, *node, queue.path("protected"));
    read_protected(map, "preempt", rules.protected_from_own);
    read_protected(map, "reclaim", rules.protected_from_others);
    map.finish();
  }
  return rules;
}

}  // namespace ashlar::sim
