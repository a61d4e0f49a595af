// What API servers of several releases have answered about the same objects: tests/fixtures/versions.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "folders.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/volumes/volume_objects.h"

namespace ashlar::kube {

/// The last one is imitated: a newer server with one more field in many messages.
inline constexpr const char* kReleases[] = {"1.36.3", "1.37.1", "1.38"};

inline std::string recorded(const std::string& release, const std::string& file) {
  const std::string path = std::string(ASHLAR_SOURCE_DIR) + "/tests/fixtures/versions/" + release + "/" + file;
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

template <class T>
std::vector<T> recorded_list(const std::string& release, const std::string& file) {
  Result<ListPage<T>> page = decode_list<T>(recorded(release, file));
  EXPECT_TRUE(page.ok()) << release << " " << file << ": " << page.error().message;
  if (!page) return {};
  EXPECT_TRUE(page->nameless.empty()) << release << " " << file;
  return std::move(page->items);
}

}  // namespace ashlar::kube
