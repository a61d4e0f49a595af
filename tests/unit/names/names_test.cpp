// Tables of names and values: which row each gets, and what becomes of rows that are given back.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "names/interned.h"
#include "names/model_names.h"
#include "names/row_names.h"
#include "names/rows.h"
#include "names/value_rows.h"

namespace ashlar {
namespace {

TEST(Interned, RowsAreInOrderOfFirstAppearance) {
  Interned<NodeId> names;
  EXPECT_EQ(names.of("b"), NodeId(0u));
  EXPECT_EQ(names.of(std::string("a")), NodeId(1u));
  EXPECT_EQ(names.of(std::string_view("b")), NodeId(0u)) << "the same name, however it is given";
  EXPECT_EQ(names.find("a"), NodeId(1u));
  EXPECT_TRUE(names.find("c").is_none());
  EXPECT_EQ(names.size(), 2u) << "asking adds nothing";
  EXPECT_EQ(names.name(NodeId(1u)), "a");
  EXPECT_EQ(names.name(NodeId(2u)), "") << "no such row";
  EXPECT_EQ(names.all(), (std::vector<std::string>{"b", "a"}));
}

TEST(ModelNames, EachIsOfTheClassThatListedItLast) {
  ModelNames<> names;
  EXPECT_TRUE(names.class_of("a").is_none());
  EXPECT_EQ(names.list("a", DeviceClassId(7u)), DeviceModelId(0u));
  EXPECT_EQ(names.list("b", DeviceClassId(7u)), DeviceModelId(1u));
  EXPECT_EQ(names.class_of(std::string_view("b")), DeviceClassId(7u));
  EXPECT_EQ(names.list("a", DeviceClassId(3u)), DeviceModelId(0u));
  EXPECT_EQ(names.class_of("a"), DeviceClassId(3u));
  EXPECT_EQ(names.name(DeviceModelId(1u)), "b");
}

TEST(RowNames, TheLowestRowGivenBackIsUsedNext) {
  RowNames<NodeId, std::string> names;
  for (const char* name : {"a", "b", "c", "d"}) names.of(name);
  names.remove(NodeId(2u));
  names.remove(NodeId(0u));
  EXPECT_EQ(names.size(), 2u);
  EXPECT_TRUE(names.find("a").is_none());
  EXPECT_EQ(names.name(NodeId(0u)), "");
  EXPECT_EQ(names.of("e"), NodeId(0u));
  EXPECT_EQ(names.of("f"), NodeId(2u));
  EXPECT_EQ(names.of("g"), NodeId(4u));
  EXPECT_EQ(names.of("b"), NodeId(1u));
}

TEST(RowNames, OnlyMarkedRowsAreKeptAndTheEndIsGivenUp) {
  RowNames<NodeId, std::string> names;
  for (const char* name : {"a", "b", "c", "d"}) names.of(name);
  Marks marks;
  marks.set(NodeId(1u));
  marks.set(NodeId::none());
  names.keep_only(marks);
  EXPECT_EQ(names.rows(), 2u);
  EXPECT_EQ(names.size(), 1u);
  EXPECT_EQ(names.find("b"), NodeId(1u));
  EXPECT_EQ(names.of("c"), NodeId(0u));
  EXPECT_EQ(names.of("d"), NodeId(2u));
}

TEST(Rows, ARowIsNotReusedBeforeTheNextSettling) {
  Rows<JobId> rows;
  EXPECT_EQ(rows.add(), JobId(0u));
  EXPECT_EQ(rows.add(), JobId(1u));
  rows.remove(JobId(0u));
  EXPECT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.add(), JobId(2u));
  rows.settle();
  EXPECT_EQ(rows.add(), JobId(0u));
  EXPECT_EQ(rows.size(), 3u);
}

TEST(ValueRows, ARowWithoutUsersIsGivenBackAndTheLowestIsUsedNext) {
  ValueRows<DemandId, int> rows;
  std::vector<std::uint32_t> gone;
  const auto note = [&](DemandId id) { gone.push_back(id.value); };
  // One hash for all, so that rows are told apart by their values.
  for (const int value : {10, 11, 12, 13}) {
    const auto [id, is_new] = rows.of(value, 7);
    EXPECT_TRUE(is_new);
    EXPECT_EQ(id.value, static_cast<std::uint32_t>(value - 10));
    rows.use(id);
  }
  EXPECT_EQ(rows.of(12, 7), (std::pair{DemandId(2u), false}));
  rows.leave(DemandId(1u));
  EXPECT_EQ(rows.of(11, 7), (std::pair{DemandId(1u), false})) << "known until the next settling";
  rows.settle(note);
  EXPECT_EQ(gone, std::vector<std::uint32_t>{1});
  EXPECT_EQ(rows.size(), 3u);
  std::vector<int> values;
  rows.each([&](DemandId, int value) { values.push_back(value); });
  EXPECT_EQ(values, (std::vector<int>{10, 12, 13}));
  EXPECT_EQ(rows.of(14, 7), (std::pair{DemandId(1u), true}));
  EXPECT_EQ(rows[DemandId(1u)], 14);
  rows.settle(note);
  EXPECT_EQ(gone, (std::vector<std::uint32_t>{1, 1})) << "nobody began to use it";
  rows.leave(DemandId(3u));
  rows.settle(note);
  EXPECT_EQ(rows.of(15, 8), (std::pair{DemandId(1u), true})) << "the lowest one";
  EXPECT_EQ(rows.of(16, 8), (std::pair{DemandId(3u), true})) << "the end was given up";
}

}  // namespace
}  // namespace ashlar
