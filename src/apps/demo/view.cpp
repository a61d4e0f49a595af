#include "apps/demo/view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace ashlar::demo {
namespace {

struct Cell {
  int team = -1;  ///< index into teams(); -1 = idle
  int milli = 0;  ///< taken
};
using Devices = std::array<std::array<Cell, kGpusPerNode>, kNodes>;

constexpr const char* kTeamColours[] = {"\x1b[38;5;75m", "\x1b[38;5;214m", "\x1b[38;5;114m", "\x1b[38;5;176m"};
constexpr const char* kIdleColour = "\x1b[38;5;238m";
constexpr const char* kNoteColour = "\x1b[38;5;222m";
constexpr const char* kReset = "\x1b[0m";
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDim = "\x1b[2m";
constexpr char kTeamLetters[] = {'L', 'V', 'R', 'S'};

int team_index(const std::string& name) {
  for (std::size_t t = 0; t < teams().size(); ++t)
    if (teams()[t].name == name) return static_cast<int>(t);
  return -1;
}

/// Puts a member on its node: the devices that the scheduler named, else the first idle ones (the kubelet would
/// choose).
void occupy(std::array<Cell, kGpusPerNode>& node, const Job& job, std::size_t member) {
  const int team = team_index(job.act.team);
  int left = job.act.gpus;
  if (job.act.milli_gpu > 0) {
    const std::string& devices = job.devices_of_member[member];
    const std::size_t device =
        devices.empty() ? 0 : static_cast<std::size_t>(std::clamp(std::atoi(devices.c_str()), 0, kGpusPerNode - 1));
    node[device].team = team;
    node[device].milli += job.act.milli_gpu;
  }
  for (Cell& c : node)
    if (left > 0 && c.milli == 0) {
      c = {team, 1000};
      --left;
    }
}

Devices occupied(const Scene& scene) {
  Devices devices{};
  for (const bool shares_first : {true, false})
    for (const Job& job : scene.jobs()) {
      if (job.is_over || (job.act.milli_gpu > 0) != shares_first) continue;
      for (std::size_t m = 0; m < job.node_of_member.size(); ++m)
        if (job.node_of_member[m] >= 0 && job.node_of_member[m] < kNodes)
          occupy(devices[static_cast<std::size_t>(job.node_of_member[m])], job, m);
    }
  return devices;
}

/// Squares in use: a shared device counts once, in its present colour.
int devices_used(const Devices& devices, int team) {
  int used = 0;
  for (const auto& node : devices)
    for (const Cell& cell : node) used += cell.milli > 0 && (team < 0 || cell.team == team) ? 1 : 0;
  return used;
}

std::string square(const Cell& cell, bool has_colour) {
  if (!has_colour) return cell.team < 0 ? "." : std::string(1, kTeamLetters[cell.team]);
  if (cell.team < 0) return std::string(kIdleColour) + "□" + kReset;
  return std::string(kTeamColours[cell.team]) + (cell.milli < 1000 ? "◧" : "■") + kReset;
}

std::string coloured(const std::string& text, const char* colour, bool has_colour) {
  return has_colour ? colour + text + kReset : text;
}

constexpr int kBarMax = 32;  ///< columns
constexpr int kBarMin = 8;
constexpr int kBesideBar = 43;  ///< columns of a team's line without its bar, with three digits for each number

std::string bar(int used, int limit, int width, bool has_colour, int team) {
  const int whole = limit > 0 ? limit : kNodes * kGpusPerNode;
  const int full = std::clamp(used * width / whole, used > 0 ? 1 : 0, width);
  std::string filled, empty;
  for (int i = 0; i < full; ++i) filled += has_colour ? "█" : "#";
  for (int i = full; i < width; ++i) empty += has_colour ? "░" : "-";
  return coloured(filled, kTeamColours[team], has_colour) + coloured(empty, kIdleColour, has_colour);
}

/// Cuts to at most this many printed columns, the last one an ellipsis; escape sequences and continuation bytes take
/// none.
std::string cut(const std::string& line, int width) {
  std::string out, up_to_ellipsis;
  int columns = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      const std::size_t end = line.find('m', i);
      out += line.substr(i, end - i + 1);
      i = end;
      continue;
    }
    const bool is_continuation = (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80;
    if (!is_continuation && ++columns == width) up_to_ellipsis = out;
    if (columns > width) return up_to_ellipsis + "…" + (line.find('\x1b') == std::string::npos ? "" : kReset);
    out += line[i];
  }
  return out;
}

void draw_racks(const Devices& devices, const ViewOptions& o, std::string& out) {
  for (int rack = 0; rack < kRacks; ++rack) {
    if (rack % kRacksPerBlock == 0)
      out += coloured("block " + std::to_string(rack / kRacksPerBlock), kDim, o.has_colour) + "\n";
    // 79 columns: a terminal of 80, of which Screen leaves the last one free, shows every device.
    std::string line = " rack " + std::to_string(rack);
    for (int n = 0; n < kNodesPerRack; ++n) {
      line += " ";
      for (const Cell& c : devices[static_cast<std::size_t>(rack) * kNodesPerRack + static_cast<std::size_t>(n)])
        line += square(c, o.has_colour);
    }
    out += cut(line, o.width) + "\n";
  }
}

void draw_teams(const Scene& scene, const Devices& devices, const ViewOptions& o, std::string& out) {
  for (std::size_t t = 0; t < teams().size(); ++t) {
    const Team& team = teams()[t];
    int waiting = 0;
    for (const Job& j : scene.jobs()) waiting += j.act.team == team.name && !j.is_over && !j.is_bound() ? 1 : 0;
    const int used = devices_used(devices, static_cast<int>(t));
    char text[160];
    std::snprintf(text, sizeof text, "  %-10s ", team.name.c_str());
    std::string line = coloured(text, kTeamColours[t], o.has_colour) +
                       bar(used, team.quota_gpus, std::clamp(o.width - kBesideBar, kBarMin, kBarMax), o.has_colour,
                           static_cast<int>(t));
    const std::string quota = team.quota_gpus > 0 ? "of " + std::to_string(team.quota_gpus) + " GPUs" : "GPUs";
    std::snprintf(text, sizeof text, "  %3d %-11s   %d waiting", used, quota.c_str(), waiting);
    out += cut(line += text, o.width) + "\n";
  }
}

}  // namespace

std::string draw(const Scene& scene, Millis elapsed, Millis length, const ViewOptions& o) {
  const Devices devices = occupied(scene);
  int waiting = 0;
  for (const Job& j : scene.jobs()) waiting += !j.is_over && !j.is_bound() ? 1 : 0;
  char head[200];
  std::snprintf(head, sizeof head, "Ashlar   %3lld s of %lld   %d of %d GPUs busy   %d %s waiting",
                static_cast<long long>(elapsed.value / 1000), static_cast<long long>(length.value / 1000),
                devices_used(devices, -1), kNodes * kGpusPerNode, waiting, waiting == 1 ? "job" : "jobs");
  std::string out = cut(coloured(head, kBold, o.has_colour), o.width) + "\n";
  if (!o.note.empty()) out += cut(coloured(o.note, kNoteColour, o.has_colour), o.width) + "\n";
  out += "\n";
  draw_racks(devices, o, out);
  out += "\n";
  draw_teams(scene, devices, o, out);
  out += "\n" + cut(coloured("latest decisions", kBold, o.has_colour), o.width) + "\n";
  const auto& news = scene.news();
  const std::size_t count = std::min<std::size_t>(news.size(), static_cast<std::size_t>(o.news_lines));
  for (std::size_t i = news.size() - count; i < news.size(); ++i)
    out +=
        cut("  " + coloured(news[i], news[i][0] == '+' ? "\x1b[38;5;151m" : kNoteColour, o.has_colour), o.width) + "\n";
  return out;
}

Screen::Screen(bool is_terminal, bool has_colour) : is_terminal_(is_terminal) {
  options_.has_colour = has_colour && is_terminal;
  if (is_terminal_) std::fputs("\x1b[?25l\x1b[2J", stdout);
}

Screen::~Screen() {
  if (is_terminal_) std::fputs("\x1b[?25h\n", stdout);
  std::fflush(stdout);
}

void Screen::show(const Scene& scene, Millis elapsed, Millis length, const std::string& note) {
  if (!is_terminal_) {
    if (noted_ != note) std::printf("%s\n", note.c_str());
    noted_ = note;
    const auto& news = scene.news();
    const std::size_t dropped = scene.reported() - news.size();
    for (reported_ = std::max(reported_, dropped); reported_ < scene.reported(); ++reported_)
      std::printf("%4lld s  %s\n", static_cast<long long>(elapsed.value / 1000), news[reported_ - dropped].c_str());
    std::fflush(stdout);
    return;
  }
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    options_.width = size.ws_col - 1;
    options_.news_lines = std::max(3, static_cast<int>(size.ws_row) - 21 - (note.empty() ? 0 : 1));
  }
  options_.note = note;
  std::string frame = "\x1b[H";
  for (const char c : draw(scene, elapsed, length, options_))
    frame += c == '\n' ? std::string("\x1b[K\n") : std::string(1, c);
  frame += "\x1b[J";
  std::fwrite(frame.data(), 1, frame.size(), stdout);
  std::fflush(stdout);
}

}  // namespace ashlar::demo
