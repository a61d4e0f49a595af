// script: what the demo plays: two minutes of a small company's day on 64 nodes of 8 GPUs in 8 racks and 2 blocks, and
// a busier minute for the comparison. Each act is a job that is created at a given time, runs for a while once it is
// bound, and then ends; the story covers single pods, shared devices, gangs, gangs that must stay in one rack, one that
// has to wait and then runs, one over its team's quota, and one that can never fit.
#pragma once

#include <string>
#include <vector>

#include "base/quantity.h"

namespace ashlar::demo {

inline constexpr int kBlocks = 2, kRacksPerBlock = 4, kNodesPerRack = 8, kGpusPerNode = 8;
inline constexpr int kRacks = kBlocks * kRacksPerBlock;
inline constexpr int kNodes = kRacks * kNodesPerRack;
/// Of each node, and of each pod besides its GPUs.
inline constexpr int kCoresPerNode = 192, kMemoryGibPerNode = 2048, kPodsPerNode = 110, kGpuMemoryMib = 81'559;
inline constexpr int kCoresPerPod = 2, kMemoryGibPerPod = 8;
/// The priority class of urgent jobs.
inline constexpr const char* kCriticalClass = "demo-critical";
inline constexpr int kCriticalPriority = 1'000'000;
/// Where the story plays; the comparison has other namespaces.
inline constexpr const char* kStoryNamespace = "demo";

struct Team {
  std::string name;
  int quota_gpus = 0;  ///< 0 = none
};
const std::vector<Team>& teams();

struct Act {
  Millis at;  ///< from the start of the play
  std::string name;
  std::string team;
  int members = 1;
  int gpus = 0;        ///< whole devices of each member
  int milli_gpu = 0;   ///< or a share of one device
  std::string within;  ///< node label that all members must share; empty = none
  Millis runs_for;     ///< from its last bind
  std::string priority_class;
  bool is_gang() const { return members > 1; }
  bool can_ever_run() const { return within != "rack" || members * gpus <= kNodesPerRack * kGpusPerNode; }
  int gpus_total() const { return members * gpus + (milli_gpu > 0 ? 1 : 0); }
};

struct Script {
  std::vector<Act> acts;     ///< ascending by time
  Millis length;             ///< when the play ends, whatever still waits
  double gpu_hours() const;  ///< of all its jobs if each runs once
};
Script two_minutes();
/// A few seconds with one act of each kind, for tests.
Script short_story();
/// For the comparison of schedulers: more work than the cluster holds at once, so that gangs, racks and shares of a GPU
/// matter. Large gangs come at the same instant, racks fill, and small jobs keep coming while large ones wait. Every
/// job could run on the empty cluster, and none has a quota.
Script contended();

}  // namespace ashlar::demo
