#include "text/reason_text.h"

#include "model/event.h"
#include "text/amount_text.h"

namespace ashlar {
namespace {

std::string number_text(const Reason& reason, std::size_t index, const ReasonNames& names) {
  const std::int64_t number = reason.numbers[index];
  switch (row_of(reason.code).numbers[index].unit) {
    case ReasonUnit::kNodes:
      return node_count_text(number);
    case ReasonUnit::kAmount:
      return names.amount(reason, number);
    case ReasonUnit::kMilliGpu:
      return quota_text(static_cast<std::int64_t>(QuotaDimension::kMilliGpu), number);
    case ReasonUnit::kMiB:
      return std::to_string(number) + " MiB";
    case ReasonUnit::kDomain:
      return names.domain(reason, number);
    case ReasonUnit::kQuota:
      return names.quota(reason, number);
    case ReasonUnit::kGroup:
      return names.group(number);
    case ReasonUnit::kNone:
    case ReasonUnit::kMembers:
    case ReasonUnit::kDimension:
    case ReasonUnit::kInstant:
    case ReasonUnit::kOwner:
    case ReasonUnit::kCount:
      break;
  }
  return std::to_string(number);
}

/// The value between braces: subject, detail, a number, an amount of a quota without its unit ("1#"), or a word
/// depending on whether a number is one ("0|is|are").
std::string value_of(std::string_view field, const Reason& reason, const ReasonNames& names) {
  if (field == "subject") return names.subject(reason);
  if (field == "detail") return names.detail(reason);
  const auto index = static_cast<std::size_t>(field.front() - '0');
  if (field.ends_with('#')) return bare_quota_text(reason.numbers[0], reason.numbers[index]);
  const std::size_t first = field.find('|');
  if (first == std::string_view::npos) return number_text(reason, index, names);
  const std::size_t second = field.find('|', first + 1);
  return std::string(reason.numbers[index] == 1 ? field.substr(first + 1, second - first - 1)
                                                : field.substr(second + 1));
}

}  // namespace

std::string filled_in(std::string_view sentence, const Reason& reason, const ReasonNames& names) {
  std::string text;
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t open = sentence.find('{', at);
    text += sentence.substr(at, open - at);
    if (open == std::string_view::npos) break;
    const std::size_t close = sentence.find('}', open);
    if (close == std::string_view::npos) break;
    text += value_of(sentence.substr(open + 1, close - open - 1), reason, names);
    at = close + 1;
  }
  return text;
}

std::string reason_text(const Reason& reason, const ReasonNames& names) {
  return filled_in(row_of(reason.code).english, reason, names);
}

}  // namespace ashlar
