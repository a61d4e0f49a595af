#include "cluster/filters/vocabulary.h"

namespace ashlar::filters {

std::string draw_label_value(Draw& draw, std::string_view key) {
  if (key == kZone || key == kOldZone) return draw.one_of({"eu-w-a", "eu-w-b", "eu-w-c"});
  if (key == kRegion || key == kOldRegion) return draw.one_of({"r-a", "r-b"});
  if (key == kGceZone || key == kEbsZone) return draw.one_of({"eu-w-a", "eu-w-b", "eu-w-c"});
  if (key == kRack) return draw.one_of({"r0", "r1", "r2", "r3"});
  if (key == "disk") return draw.one_of({"ssd", "hdd", ""});
  if (key == "size") return draw.one_of({"1", "2", "3", "007", "10", "large"});
  if (key == "nvidia.com/gpu.product") return draw.one_of({"NVIDIA-H100", "NVIDIA-A100"});
  return draw.one_of({"", "yes"});
}

std::string draw_label_key(Draw& draw) {
  return draw.one_of({kZone, kRack, "disk", "disk", "size", "size", "nvidia.com/gpu.product", "spare"});
}

std::string draw_taint_key(Draw& draw) { return draw.one_of({"dedicated", "dedicated", "example.com/team", "flaky"}); }

std::string draw_taint_value(Draw& draw) { return draw.one_of({"", "a", "b"}); }

std::string draw_tier(Draw& draw, bool is_sound) {
  if (!is_sound && draw.chance(15)) return draw.one_of({"", "high", "07", "1.5"});
  if (is_sound && draw.chance(10)) return "-3";
  return draw.one_of({"0", "1", "5", "5", "950", "9223372036854775807"});
}

void write_pairs(kube::JsonWriter& w, std::string_view key, const Pairs& pairs) {
  if (pairs.empty()) return;
  w.key(key).begin_object();
  for (const auto& [name, value] : pairs) w.member(name, value);
  w.end_object();
}

void write_strings(kube::JsonWriter& w, std::string_view key, const std::vector<std::string>& values) {
  w.key(key).begin_array();
  for (const std::string& value : values) w.string(value);
  w.end_array();
}

}  // namespace ashlar::filters
