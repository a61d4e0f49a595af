// A folder for log files that is gone with the test, and lives recorded into it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "random_world.h"
#include "store/decision_log.h"

namespace ashlar::store {

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ashlar-log-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string str() const { return path.string(); }
  std::string file(std::string_view name) const { return (path / name).string(); }
};

struct Names final : NameSource {
  void append_name(const NameKey& key, std::string& out) const override {
    if (key.kind == NameKind::kMember) return;
    const char* kinds[] = {"node-",   "team/job-", "",       "queue-",      "level-",
                           "domain-", "resource-", "model-", "capability-", "listed-"};
    out += kinds[static_cast<int>(key.kind)] + std::to_string(key.row);
  }
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Records a life in `folder`; returns its number of recorded steps.
inline std::uint64_t record_life(const std::string& folder, std::string_view profile, std::uint64_t seed, int steps,
                                 DecisionLogOptions options = {}) {
  const Names names;
  Life life(profile, seed);
  options.folder = folder;
  auto log = DecisionLog::open(options, {life.state, life.engine, &names});
  EXPECT_TRUE(log.ok()) << (log.ok() ? "" : log.error().message);
  life.recorder = log->get();
  life.open();
  life.run(steps);
  return (*log)->counts().steps;
}

inline std::string first_file(const Folder& folder) { return folder.file("decisions-000001.alog"); }

}  // namespace ashlar::store
