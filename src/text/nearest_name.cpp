#include "text/nearest_name.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ashlar {
namespace {

constexpr std::size_t kLengthMax = 64;  ///< longer names are truncated before they are compared
constexpr std::size_t kListedMax = 30;  ///< names that fit a message
constexpr std::size_t kPrefixMin = 3;   ///< a prefix of this length identifies a name

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> above(b.size() + 1), row(b.size() + 1), below(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    below[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      below[j] = std::min({row[j] + 1, below[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) below[j] = std::min(below[j], above[j - 2] + 1);
    }
    std::swap(above, row);
    std::swap(row, below);
  }
  return row[b.size()];
}

std::string meant_text(std::string_view meant) { return "; did you mean \"" + std::string(meant) + "\"?"; }

std::string suggestion(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view cut = name.substr(0, kLengthMax);
  if (cut.empty()) return {};
  std::string_view nearest;
  // short names are near to anything
  const std::size_t most = cut.size() < 2 ? 0 : cut.size() <= 4 ? 1 : std::max<std::size_t>(2, cut.size() / 3);
  std::size_t least = 2 * (most + 1);
  for (const std::string_view k : known) {
    const bool is_cut_short = cut.size() >= kPrefixMin && k.starts_with(cut);
    const std::string_view last = k.substr(k.rfind('/') + 1);  // "gpu" means "nvidia.com/gpu"
    const std::size_t distance = is_cut_short ? 1 : std::min(edit_distance(cut, k), edit_distance(cut, last));
    // Among equally near names the one with the same beginning: "gpu" means "gpus" rather than "cpu".
    const std::size_t cost = 2 * distance + (k.starts_with(cut.front()) || last.starts_with(cut.front()) ? 0 : 1);
    if (cost >= least) continue;
    least = cost;
    nearest = k;
  }
  return nearest.empty() ? std::string() : meant_text(nearest);
}

std::string suggestion(std::string_view name, const std::vector<std::string>& known) {
  return suggestion(name, std::vector<std::string_view>(known.begin(), known.end()));
}

std::string or_list(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += std::string(i == 0 ? "" : i + 1 < words.size() ? ", " : " or ").append(words[i]);
  return text;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  if (std::string near = suggestion(name, known); !near.empty()) return near;
  std::string list;
  for (const std::string_view k : known.first(std::min(known.size(), kListedMax)))
    list += (list.empty() ? "; known: " : ", ") + std::string(k);
  if (known.size() > kListedMax) list += " and " + std::to_string(known.size() - kListedMax) + " more";
  return list;
}

}  // namespace ashlar
