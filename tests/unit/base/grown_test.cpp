#include "base/grown.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ashlar {
namespace {

TEST(Grown, AColumnReachesTheRowThatIsWritten) {
  std::vector<int> column{1};
  grown(column, 2) = 3;
  EXPECT_EQ(column, (std::vector<int>{1, 0, 3}));
  EXPECT_EQ(grown(column, 0), 1);
  EXPECT_EQ(column.size(), 3u);
}

TEST(Grown, RowsBehindTheEndReadAsTheDefault) {
  const std::vector<std::string> column{"a", "b"};
  EXPECT_EQ(value_at(column, 1), "b");
  EXPECT_EQ(value_at(column, 2), "");
  EXPECT_EQ(value_at(column, 2, std::string("none")), "none");
  EXPECT_EQ(value_at(column, 1, std::string("none")), "b");
}

}  // namespace
}  // namespace ashlar
