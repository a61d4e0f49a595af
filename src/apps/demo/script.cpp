#include "apps/demo/script.h"

#include <algorithm>

namespace ashlar::demo {
namespace {

Millis at(double seconds) { return Millis(static_cast<std::int64_t>(seconds * 1000)); }

/// A light background of single pods: small jobs of one and two devices that start and end all the time.
void add_background(std::vector<Act>& acts) {
  for (int i = 0; i < 40; ++i)
    acts.push_back({.at = at(0.5 + 2.3 * i),
                    .name = "notebook-" + std::to_string(i),
                    .team = i % 3 == 0 ? "vision" : "research",
                    .gpus = 1 + i % 2,
                    .runs_for = at(14 + i % 7)});
  for (int i = 0; i < 10; ++i)
    acts.push_back({.at = at(3 + 0.4 * i),
                    .name = "chat-" + std::to_string(i),
                    .team = "serving",
                    .milli_gpu = i % 2 == 0 ? 500 : 250,
                    .runs_for = at(60)});
}

void add_gangs(std::vector<Act>& acts) {
  const std::string rack = "rack", block = "block";
  acts.push_back({.at = at(4), .name = "detector", .team = "vision", .members = 4, .gpus = 8, .runs_for = at(45)});
  acts.push_back({.at = at(7),
                  .name = "translate",
                  .team = "language",
                  .members = 8,
                  .gpus = 8,
                  .within = rack,
                  .runs_for = at(40)});
  acts.push_back({.at = at(10),
                  .name = "summarise",
                  .team = "language",
                  .members = 8,
                  .gpus = 8,
                  .within = rack,
                  .runs_for = at(46)});
  acts.push_back(
      {.at = at(13), .name = "segment", .team = "vision", .members = 6, .gpus = 8, .within = rack, .runs_for = at(38)});
  acts.push_back({.at = at(16),
                  .name = "protein",
                  .team = "research",
                  .members = 16,
                  .gpus = 4,
                  .within = block,
                  .runs_for = at(34)});
  acts.push_back({.at = at(19),
                  .name = "weather",
                  .team = "research",
                  .members = 8,
                  .gpus = 8,
                  .within = rack,
                  .runs_for = at(36)});
  acts.push_back({.at = at(22),
                  .name = "climate",
                  .team = "research",
                  .members = 8,
                  .gpus = 8,
                  .within = rack,
                  .runs_for = at(30)});
  acts.push_back({.at = at(25),
                  .name = "speech",
                  .team = "language",
                  .members = 4,
                  .gpus = 8,
                  .within = rack,
                  .runs_for = at(34)});
  // No rack is wholly free now: this one waits for a rack, while smaller jobs continue.
  acts.push_back({.at = at(29),
                  .name = "foundation",
                  .team = "language",
                  .members = 8,
                  .gpus = 8,
                  .within = rack,
                  .runs_for = at(30)});
  // A rack has eight nodes: this can never run, and is reported at once.
  acts.push_back({.at = at(33),
                  .name = "impossible",
                  .team = "serving",
                  .members = 12,
                  .gpus = 8,
                  .within = rack,
                  .runs_for = at(10)});
  acts.push_back({.at = at(36), .name = "video", .team = "vision", .members = 12, .gpus = 8, .runs_for = at(26)});
}

void add_later_gangs(std::vector<Act>& acts) {
  const std::string rack = "rack";
  acts.push_back({.at = at(40),
                  .name = "rerank",
                  .team = "serving",
                  .members = 2,
                  .gpus = 4,
                  .within = rack,
                  .runs_for = at(40),
                  .priority_class = kCriticalClass});
  for (int i = 0; i < 6; ++i)
    acts.push_back({.at = at(44 + 4 * i),
                    .name = "sweep-" + std::to_string(i),
                    .team = i % 2 == 0 ? "research" : "vision",
                    .members = 4,
                    .gpus = 8,
                    .within = rack,
                    .runs_for = at(18 + i)});
  acts.push_back({.at = at(62),
                  .name = "finetune",
                  .team = "language",
                  .members = 8,
                  .gpus = 8,
                  .within = rack,
                  .runs_for = at(22)});
  acts.push_back(
      {.at = at(66), .name = "align", .team = "language", .members = 4, .gpus = 8, .within = rack, .runs_for = at(20)});
  acts.push_back(
      {.at = at(74), .name = "render", .team = "vision", .members = 8, .gpus = 8, .within = rack, .runs_for = at(16)});
}

Script sorted(std::vector<Act> acts, Millis length) {
  std::stable_sort(acts.begin(), acts.end(), [](const Act& a, const Act& b) { return a.at < b.at; });
  return {std::move(acts), length};
}

}  // namespace

const std::vector<Team>& teams() {
  static const std::vector<Team> all = {{"language", 224}, {"vision", 192}, {"research", 224}, {"serving", 0}};
  return all;
}

Script two_minutes() {
  std::vector<Act> acts;
  add_background(acts);
  add_gangs(acts);
  add_later_gangs(acts);
  return sorted(std::move(acts), at(118));
}

Script short_story() {
  std::vector<Act> acts;
  acts.reserve(64);
  for (int i = 0; i < 6; ++i)
    acts.push_back(
        {.at = at(0.2 * i), .name = "notebook-" + std::to_string(i), .team = "research", .gpus = 1, .runs_for = at(4)});
  for (int r = 0; r < kRacks; ++r)
    acts.push_back({.at = at(1 + 0.1 * r),
                    .name = "fill-" + std::to_string(r),
                    .team = r % 2 == 0 ? "vision" : "research",
                    .members = kNodesPerRack,
                    .gpus = 6,
                    .within = "rack",
                    .runs_for = at(3)});
  acts.push_back({.at = at(1), .name = "chat", .team = "serving", .milli_gpu = 500, .runs_for = at(5)});
  acts.push_back({.at = at(2.5),
                  .name = "foundation",
                  .team = "language",
                  .members = 8,
                  .gpus = 8,
                  .within = "rack",
                  .runs_for = at(2)});
  acts.push_back({.at = at(3),
                  .name = "impossible",
                  .team = "serving",
                  .members = 12,
                  .gpus = 8,
                  .within = "rack",
                  .runs_for = at(1)});
  return sorted(std::move(acts), at(14));
}

double Script::gpu_hours() const {
  double seconds = 0;
  for (const Act& act : acts)
    seconds += act.members * (act.gpus + act.milli_gpu / 1000.0) * static_cast<double>(act.runs_for.value) / 1000;
  return seconds / 3600;
}

Script contended() {
  constexpr int kNotebooks = 120;
  const std::string rack = "rack", block = "block";
  std::vector<Act> acts;
  acts.reserve(kNotebooks);
  // Interactive work, which alone would keep a few GPUs of every node busy, all the time.
  for (int i = 0; i < kNotebooks; ++i)
    acts.push_back({.at = at(0.3 * i),
                    .name = "notebook-" + std::to_string(i),
                    .team = i % 3 == 0 ? "vision" : "research",
                    .gpus = 1 + i % 2,
                    .runs_for = at(10 + i % 5)});
  for (int i = 0; i < 32; ++i)
    acts.push_back({.at = at(0.5 + 0.2 * i),
                    .name = "chat-" + std::to_string(i),
                    .team = "serving",
                    .milli_gpu = i % 2 == 0 ? 500 : 250,
                    .runs_for = at(35)});
  const auto gang = [&](double when, const std::string& name, const std::string& team, int members, double runs) {
    acts.push_back({.at = at(when), .name = name, .team = team, .members = members, .gpus = 8, .runs_for = at(runs)});
    return &acts.back();
  };
  // Trainings that fill a rack each.
  for (int i = 0; i < 3; ++i) gang(3 + i, "pretrain-" + std::to_string(i), "language", 8, 12)->within = rack;
  // Two large ones at the same instant: there is room for one at a time.
  gang(6, "segment", "vision", 24, 12);
  gang(6, "summarise", "language", 24, 12);
  for (int i = 0; i < 4; ++i) gang(9 + i, "finetune-" + std::to_string(i), "research", 4, 10)->within = rack;
  gang(13, "weather", "research", 16, 10)->within = block;
  gang(13, "protein", "research", 16, 10)->within = block;
  for (int i = 0; i < 2; ++i) gang(16 + i, "translate-" + std::to_string(i), "language", 8, 10)->within = rack;
  // More than half of the cluster, while small jobs keep coming.
  gang(18, "foundation", "language", 36, 8);
  for (int i = 0; i < 4; ++i) gang(22 + i, "sweep-" + std::to_string(i), "vision", 4, 8)->within = rack;
  for (int i = 0; i < 3; ++i) {
    Act* urgent = gang(10 + 6 * i, "rerank-" + std::to_string(i), "serving", 2, 6);
    urgent->within = rack;
    urgent->priority_class = kCriticalClass;
  }
  return sorted(std::move(acts), at(75));
}

}  // namespace ashlar::demo
