// Files that tests write for themselves, and the folder of published traces.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "folders.h"

namespace ashlar::sim::testing {

/// A folder of its own that goes away with the test.
class Folder {
 public:
  Folder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ =
        std::filesystem::temp_directory_path() / ("ashlar-readers-" + std::to_string(::getpid()) + "-" + test->name());
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return (path_ / name).string();
  }
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

enum class Packed { kPlain, kGzip, kXz, kZstd };
inline constexpr std::array kPackings = {Packed::kPlain, Packed::kGzip, Packed::kXz, Packed::kZstd};

inline std::string pack(const std::string& text, Packed packed) {
  namespace io = boost::iostreams;
  io::filtering_istreambuf in;
  if (packed == Packed::kGzip) in.push(io::gzip_compressor());
  if (packed == Packed::kXz) in.push(io::lzma_compressor());
  if (packed == Packed::kZstd) in.push(io::zstd_compressor());
  in.push(io::array_source(text.data(), text.size()));
  std::string out;
  io::copy(in, io::back_inserter(out));
  return out;
}

/// The folder of published traces (ASHLAR_TRACES, else ../shared/traces beside the source), or empty.
inline std::string traces() {
  const char* named = std::getenv("ASHLAR_TRACES");
  const std::filesystem::path path =
      named != nullptr && *named != 0 ? named : std::filesystem::path(ASHLAR_SOURCE_DIR) / "../shared/traces";
  return std::filesystem::exists(path / "packing") ? path.string() : "";
}

#define ASHLAR_NEEDS_TRACES()                                                                                  \
  if (::ashlar::sim::testing::traces().empty()) {                                                              \
    GTEST_SKIP()                                                                                               \
        << "the published traces are not there: set ASHLAR_TRACES to their folder (docs/reference/traces.md)"; \
  }                                                                                                            \
  const std::string traces = ::ashlar::sim::testing::traces()

}  // namespace ashlar::sim::testing
