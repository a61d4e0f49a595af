// Every fuzz target on its seeds, whole, cut, spliced and bit by bit, the same every time. What it finds is a crash, a
// hang or a sanitizer's word.
#include "fuzz/fuzz.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/rng.h"
#include "folders.h"

namespace ashlar::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int kMutants = 2000;
constexpr std::size_t kSeedBytesMax = 64u << 10;  ///< larger ones are cut: a mutant shall cost a millisecond at most

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  bytes.resize(std::min(bytes.size(), kSeedBytesMax));
  return bytes;
}

std::vector<std::string> seeds_of(const std::string& target) {
  const std::string root = std::string(ASHLAR_SOURCE_DIR) + "/";
  std::vector<std::string> places{"tests/fuzz/seeds/" + target};
  std::ifstream list(root + "tests/fuzz/seeds.txt");
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string name, place;
    if (words >> name >> place && name == target) places.push_back(place);
  }
  std::vector<fs::path> files;
  for (const std::string& place : places) {
    EXPECT_TRUE(place == places.front() || fs::exists(root + place)) << "seeds.txt names " << place;
    if (fs::is_regular_file(root + place)) files.emplace_back(root + place);
    if (!fs::is_directory(root + place)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root + place))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const fs::path& file : files) seeds.push_back(bytes_of(file));
  return seeds;
}

/// A piece of `text`, replaced by a piece of `other`, and a few bytes changed.
std::string mutant_of(const std::string& text, const std::string& other, Rng& rng) {
  const auto below = [&](std::size_t bound) {
    return bound == 0 ? std::size_t{0} : static_cast<std::size_t>(rng.below(bound));
  };
  const std::size_t from = below(text.size() + 1), length = below(text.size() - from + 1),
                    taken = below(other.size() + 1);
  std::string mutant = text.substr(0, from);
  if (below(2) == 0) mutant += other.substr(taken, below(64));
  if (below(4) != 0) mutant += text.substr(from + (below(2) == 0 ? length : 0));
  for (std::size_t i = below(4); i > 0 && !mutant.empty(); --i)
    mutant[below(mutant.size())] = static_cast<char>(rng.below(256));
  return mutant;
}

class Parser : public testing::TestWithParam<std::size_t> {};

TEST_P(Parser, TakesAnyBytes) {
  const Target& target = targets()[GetParam()];
  std::vector<std::string> seeds = seeds_of(target.name);
  ASSERT_FALSE(seeds.empty()) << "without seeds no mutant gets past the first byte";
  seeds.emplace_back();
  for (const std::string& seed : seeds) target.run(seed);
  Rng rng(GetParam() + 1);
  for (int i = 0; i < kMutants; ++i) {
    const std::string& seed = seeds[static_cast<std::size_t>(rng.below(seeds.size()))];
    target.run(mutant_of(seed, seeds[static_cast<std::size_t>(rng.below(seeds.size()))], rng));
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Parser, testing::Range(std::size_t{0}, targets().size()),
                         [](const auto& info) { return targets()[info.param].name; });

}  // namespace
}  // namespace ashlar::fuzz
