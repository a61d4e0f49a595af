// Quarantine: the pods that stopped this scheduler, in a file of uids that outlives the process. They are kept out of
// the engine, so that a bug triggered by one job stops a replica at most once for that job; a recreated pod has a new
// uid and is tried again. Example of a line: `0f3c... team-a/train-0 2026-11-22T04:30:00Z`.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "kubeclient/pooled_string.h"

namespace ashlar::kube {

class Quarantine {
 public:
  struct Entry {
    PooledString uid, ns, name;
    std::string since;  ///< as in the file
  };
  static constexpr std::size_t kEntriesMax = 4096;    ///< beyond it the oldest are dropped; the file stays below 2 MiB
  static constexpr std::size_t kEntriesAJobMax = 64;  ///< of a gang; one quarantined member holds all of it

  /// Reads the file; a missing one is empty, and lines without a uid are skipped and counted. kInvalid if the folder
  /// does not exist or cannot be written, or if the name is that of something else than a file; kUnavailable if the
  /// file cannot be read.
  static Result<Quarantine> open(std::string path);

  bool holds(const PooledString& uid) const { return !uids_.empty() && uids_.contains(uid); }
  /// The text for the pod's condition, with what its owner can do.
  std::string text_for(const PooledString& uid) const;
  /// Adds the pods, at most the first kEntriesAJobMax of them, and writes the file to disk, whole or not at all. `now`
  /// is wall time.
  Result<void> add(std::span<const Entry> pods, Millis now);

  std::size_t size() const { return entries_.size(); }
  std::size_t skipped_lines() const { return skipped_lines_; }
  const std::string& path() const { return path_; }

 private:
  void insert(Entry entry);

  std::string path_;
  std::vector<Entry> entries_;  ///< oldest first
  boost::unordered_flat_set<PooledString, std::hash<PooledString>> uids_;
  std::size_t skipped_lines_ = 0;
};

}  // namespace ashlar::kube
