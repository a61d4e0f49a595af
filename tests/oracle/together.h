// Together: a small cluster as bare numbers in which everything occurs at once: holds for a queue, a job or nobody, now
// or later; gangs of groups; levels; unlike devices and shares of them; surplus; limits of queues by class; nominations;
// nodes that fail. Rules and searches are written down again here, and share nothing with the engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.h"

namespace ashlar::oracle::together {

inline constexpr std::int64_t kForever = INT64_MAX / 4;
inline constexpr int kNone = -1;
inline constexpr int kLevels = 2;  ///< racks of two nodes, and zones that cross them
inline constexpr int kSeconds = 50;

struct Device {
  int model = 0;
  std::int64_t mib = 0;  ///< 0 = not checked
  bool is_sliced = false, is_unhealthy = false;
};
struct Node {
  std::vector<Device> devices;
  std::int64_t cores = 0, slots = 0;
  int domain[kLevels] = {0, 0};
  bool is_mixed = false, is_there = true, is_ready = true;
};
struct Needs {
  std::int64_t cores = 0;
  int devices = 0;
  std::int64_t milli = 1000, mib = 0;
};
/// A member of a job, or a part of a hold.
struct Member {
  int needs = 0, model = kNone, group = 0, node = kNone;
  std::uint64_t devices = 0;
  bool is_bound = false;
};
struct Group {
  int min = 0, within = kNone, prefer = kNone;
};
struct Job {
  std::vector<Member> members;
  std::vector<Group> groups;
  int min = 1, within = kNone, prefer = kNone, queue = 0, priority = 0;
  std::int64_t arrives = 0, p50 = kForever, p90 = kForever, runs = kForever;
  bool is_foreign = false, is_nominated = false, has_come = false, is_over = false, is_running = false;
  std::int64_t started = 0, served = 0, late_end = kForever;

  bool is_waiting() const;
  int placed(int group = kNone) const;
  /// To its minimum, or to those of its groups.
  int lacking() const;
  /// Ranks of the members that must be placed together next.
  std::vector<int> needed() const;
};
struct Hold {
  std::vector<Member> parts;
  int queue = kNone, job = kNone;
  std::int64_t placed = 0, from = 0, until = kForever, ended = kForever;
  bool has_come = false;
  bool is_over(std::int64_t now) const { return until <= now || ended <= now; }
};
struct Queue {
  int parent = kNone;
  std::int64_t milli = kForever, cores = kForever;
  std::vector<std::int64_t> by_model = {kForever, kForever};
};
struct Trouble {
  std::int64_t at = 0;
  int node = 0;
  enum Kind : std::uint8_t { kGone, kBack, kCordoned, kReady, kSick, kWell } kind = kGone;
  std::uint64_t devices = 0;
};

struct World {
  std::vector<Node> nodes;
  std::vector<Needs> needs;
  std::vector<Queue> queues;
  std::vector<Job> jobs;
  std::vector<Hold> holds;
  std::vector<Trouble> troubles;  ///< ascending
  std::int64_t now = 0;

  bool is_below(int queue, int ancestor) const;
  /// Whether it is held for this job, whenever that is.
  bool is_held_for(const Hold& hold, int job) const;
  /// The same, or the job will have ended when it begins.
  bool may_use(const Hold& hold, int job) const;
};

World draw(Rng& rng);

struct Start {
  int job = 0, rank = 0;
};
/// Empty, or the law that these starts break; the world is as it is after them.
///
/// Whatever holds are chosen: what they keep, and what those use who may use none of them, fits together; on each
/// device and node, now and whenever a hold begins.
std::string broken_law(const World& world, const std::vector<Start>& starts);

enum class Found : std::uint8_t { kNo, kYes, kUnknown };
/// Whether the members that the job needs next surely have a place together: what is held for others is counted as kept
/// unless it is certain who uses it.
Found find_place(const World& world, int job);

}  // namespace ashlar::oracle::together
