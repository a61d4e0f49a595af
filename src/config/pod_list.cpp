// Pod lists in openb columns: see profile_file.h. One pass over the text, O(its size); pods of one class become one row
// with their count.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>

#include "config/profile_file.h"
#include "text/text_file.h"

namespace ashlar::config {
namespace {

constexpr std::size_t kPodListBytesMax = 256 << 20;
constexpr std::size_t kColumnsMax = 64;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (cells.size() < kColumnsMax) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) break;
    line.remove_prefix(comma + 1);
  }
  return cells;
}

class PodListReader {
 public:
  explicit PodListReader(const std::string& file) : file_(file) {}

  Result<std::vector<FgdSample>> read(std::string_view text) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    while (!text.empty()) {
      std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      ++line_number_;
      if (line.empty()) continue;
      const Result<void> taken = columns_.empty() ? take_header(line) : take_row(line);
      if (!taken) return taken.error();
    }
    if (columns_.empty())
      return invalid(
          file_ + ":1:1: the header is missing; expected name,cpu_milli,memory_mib,num_gpu,gpu_milli[,gpu_spec,...]");
    std::vector<FgdSample> samples;
    for (auto& [key, count] : counts_) {
      auto& [cpu, milli, devices, models] = key;
      samples.push_back({cpu, devices, milli, models, {}, count});
    }
    return samples;
  }

 private:
  enum Wanted : std::size_t { kCpu, kDevices, kMilli, kModels, kWanted };
  static constexpr std::string_view kNames[kWanted] = {"cpu_milli", "num_gpu", "gpu_milli", "gpu_spec"};

  Error at(std::string_view line, std::string_view cell, const std::string& message) const {
    return invalid(file_ + ":" + std::to_string(line_number_) + ":" + std::to_string(cell.data() - line.data() + 1) +
                   ": " + message);
  }

  Result<void> take_header(std::string_view line) {
    columns_ = cells_of(line);
    for (std::size_t w = 0; w < kWanted; ++w) {
      where_[w] = static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), kNames[w]) - columns_.begin());
      if (where_[w] == columns_.size() && w != kModels)
        return at(line, line,
                  "column " + std::string(kNames[w]) +
                      " is missing; expected name,cpu_milli,memory_mib,num_gpu,gpu_milli[,gpu_spec,...]");
    }
    return {};
  }

  Result<void> take_row(std::string_view line) {
    const std::vector<std::string_view> cells = cells_of(line);
    if (cells.size() != columns_.size())
      return at(line, line,
                std::to_string(cells.size()) + " columns where the header has " + std::to_string(columns_.size()));
    std::array<std::int64_t, kModels> numbers{};
    for (std::size_t w = 0; w < kModels; ++w) {
      const std::string_view cell = cells[where_[w]];
      const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), numbers[w]);
      if (code != std::errc() || end != cell.data() + cell.size() || numbers[w] < 0)
        return at(line, cell,
                  std::string(kNames[w]) + " must be an integer of at least 0, not \"" + std::string(cell) + "\"");
    }
    if (numbers[kDevices] > kDevicesPerNodeMax)
      return at(line, cells[where_[kDevices]],
                "num_gpu must be at most " + std::to_string(kDevicesPerNodeMax) + ", not " +
                    std::to_string(numbers[kDevices]));
    const auto devices = static_cast<std::int32_t>(numbers[kDevices]);
    const auto milli =
        devices == 0 ? 0 : static_cast<std::int32_t>(std::min<std::int64_t>(numbers[kMilli], kWholeDevice));
    if (devices > 1 && milli < kWholeDevice)
      return at(line, cells[where_[kMilli]],
                "gpu_milli must be 1000 where num_gpu is above 1: only a single GPU can be requested in part");
    if (devices == 0 && numbers[kMilli] != 0)
      return at(line, cells[where_[kMilli]], "gpu_milli must be 0 where num_gpu is 0");
    if (devices > 0 && milli == 0)
      return at(line, cells[where_[kMilli]], "gpu_milli must be at least 1 where num_gpu is not 0");
    const std::string models = where_[kModels] < cells.size() ? std::string(cells[where_[kModels]]) : std::string();
    ++counts_[{numbers[kCpu], milli, devices, models}];
    return {};
  }

  const std::string& file_;
  std::size_t line_number_ = 0;
  std::vector<std::string_view> columns_;
  std::array<std::size_t, kWanted> where_{};
  std::map<std::tuple<std::int64_t, std::int32_t, std::int32_t, std::string>, std::int64_t> counts_;
};

}  // namespace

Result<std::vector<FgdSample>> parse_pod_list(std::string_view text, const std::string& file) {
  return PodListReader(file).read(text);
}

Result<std::vector<FgdSample>> read_pod_list(const std::string& file) {
  const Result<std::string> text = read_text_file(file, kPodListBytesMax);
  if (!text) return text.error();
  return parse_pod_list(*text, file);
}

}  // namespace ashlar::config
